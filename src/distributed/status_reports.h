#pragma once

#include <memory>
#include <thread>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

/// Writes a report about this process into the store about once a second, on a thread of its own.
class StatusReports {
 public:
  StatusReports(Store& store, int rank, int size);
  /// Ends the thread. If it waits for the store, it ends later by itself.
  ~StatusReports();
  StatusReports(const StatusReports&) = delete;
  StatusReports& operator=(const StatusReports&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace hearth::distributed

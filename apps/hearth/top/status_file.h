#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report_ages.h"

namespace hearth::app {

/// The file in a run's folder with the reports of all processes; it exists while they train.
std::string status_file_in(const std::string& run_folder);

/// Writes a run's status file about once a second, on a thread of its own, and removes it at the
/// end. Errors are ignored: the training does not need the file.
class StatusFile {
 public:
  /// `reports` returns the newest report of each process; it is called on the thread, and may
  /// throw.
  StatusFile(std::string path, std::function<std::vector<std::string>()> reports);
  ~StatusFile();
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// The content of a status file. Throws if the file is missing or damaged.
std::vector<RankReport> read_status_file(const std::string& path);

}  // namespace hearth::app

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/status_reports.h"
#include "hearth/distributed/init.h"

namespace hearth::distributed {

/// The default group of this process, with its store, membership and other groups.
struct World {
  std::shared_ptr<Store> store;
  std::shared_ptr<Store> own_store;  // `store` if Hearth created it, else null
  std::shared_ptr<Membership> membership;
  std::string backend;
  milliseconds timeout{0};
  ProcessGroupPtr group;
  std::vector<ProcessGroupPtr> others;     // of new_group and split_group
  int created = 0;                         // the number of calls of new_group
  std::unique_ptr<StatusReports> reports;  // null without a TCP store
};

/// The group, or the default group if it is null.
ProcessGroupPtr resolve(const ProcessGroupPtr& group);
/// Throws if a rank occurs twice.
void check_disjoint(const std::vector<std::vector<int>>& parts);

}  // namespace hearth::distributed

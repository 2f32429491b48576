#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

/// The store in which the processes of the default group have met; throws if there is no group.
/// Keys of a program should have a prefix of their own (PrefixStore).
HEARTH_API std::shared_ptr<Store> get_default_store();

/// No ranks report to a store: no job has met in it, or it is not a TCPStore.
class HEARTH_API NoRankReportsError : public DistStoreError {
 public:
  explicit NoRankReportsError(const std::string& message);
  ~NoRankReportsError() override;
};

/// The newest report of each rank, as JSON (docs/cli.md, `hearth top`); empty if the rank has not
/// reported yet. Only the ranks of a job that met in a TCPStore report, about once a second until
/// their group is destroyed; for other stores, and before a job has met, throws NoRankReportsError.
/// A TCPStore needs one request for all ranks.
HEARTH_API std::vector<std::string> get_rank_reports(Store& store);

}  // namespace hearth::distributed

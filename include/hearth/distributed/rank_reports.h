#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

/// The store in which the processes of the default group have met; throws if there is no group.
/// Keys of a program should have a prefix of their own (PrefixStore).
HEARTH_API std::shared_ptr<Store> get_default_store();

/// No ranks report to a store, because no job has met in it.
class HEARTH_API NoRankReportsError : public DistStoreError {
 public:
  explicit NoRankReportsError(const std::string& message);
  ~NoRankReportsError() override;
};

/// The newest report of each rank, as JSON (docs/cli.md, `hearth top`); empty if the rank has not
/// reported yet. With a TCP store, ranks report about once a second until their group is destroyed.
/// A TCP store needs one request for all ranks. Throws NoRankReportsError if no job has met in the
/// store.
HEARTH_API std::vector<std::string> get_rank_reports(Store& store);

}  // namespace hearth::distributed

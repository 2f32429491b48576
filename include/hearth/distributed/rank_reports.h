#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/distributed/store.h"

namespace hearth::distributed {

/// The store in which the processes of the default group have met; throws if there is no group.
/// Keys of a program should have a prefix of their own (PrefixStore).
HEARTH_API std::shared_ptr<Store> get_default_store();

/// The newest report of each rank, as JSON (docs/cli.md, `hearth top`); empty if the rank has not
/// reported yet. With a TCP store, ranks report about once a second until their group is destroyed.
/// Throws DistStoreError if no job has met in the store.
HEARTH_API std::vector<std::string> get_rank_reports(Store& store);

}  // namespace hearth::distributed

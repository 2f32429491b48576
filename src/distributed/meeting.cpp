// How the ranks of a group find each other.

#include "distributed/communicator.h"
#include "hearth/about.h"

namespace hearth::distributed {

namespace {

/// The address of this machine in its connection to a TCPStore; empty for other stores.
std::string address_in(Store& store) {
  auto base = &store;
  std::shared_ptr<Store> owner;
  if (auto* const prefixed = dynamic_cast<PrefixStore*>(base)) {
    owner = prefixed->getUnderlyingNonPrefixStore();
    base = owner.get();
  }
  auto* const tcp = dynamic_cast<TCPStore*>(base);
  return tcp ? tcp->local_address() : "";
}

}  // namespace

/// Checks that this is the only process with its rank.
void Communicator::take_rank() {
  const std::string key = detail::str("rank/", options_.rank);
  if (store_->add(key + "/processes", 1) != 1)
    throw_rank_is_taken(options_.rank, describe_process(), store_->get_to_str(key));
  store_->set(key, describe_process());
}

/// Throws if another rank has published a failure, perhaps before this one came.
void Communicator::throw_published_cause() {
  if (control_store_->check({"cause"}))
    detail::fail<DistBackendError>(control_store_->get_to_str("cause"));
}

/// Waits for the other ranks; throws if their version, group size, backend or debugging differs.
void Communicator::meet() {
  throw_published_cause();
  const std::string mine =
      detail::str(about().version, ", ", options_.size, " ranks, backend ", options_.backend,
                  compares_calls() ? ", HEARTH_DISTRIBUTED_DEBUG=detail" : "");
  const std::string theirs = store_->compareSet("job", "", mine);
  HEARTH_CHECK_AS(DistStoreError, mine == theirs, "rank ", options_.rank, " of ", title(),
                  " has Hearth ", mine, ", but another rank has Hearth ", theirs,
                  "; start all ranks with the same program and environment");
  std::vector<std::string> keys;
  for (int rank = 0; rank < options_.size; ++rank) keys.push_back(detail::str("rank/", rank));
  try {
    store_->wait(keys, options_.timeout);
  } catch (const DistStoreError&) {
    std::string missing;
    for (int rank = 0; rank < options_.size; ++rank)
      if (!control_store_->check({keys[size_t(rank)]}))
        missing += detail::str(missing.empty() ? "" : ", ", rank);
    detail::fail<DistStoreError>("these ranks of ", title(), " have not come within ",
                                 options_.timeout.count(), " ms: ", missing, "; ", options_.size,
                                 " ranks are expected");
  }
}

/// Connects the backend with the other ranks.
void Communicator::connect() {
  BackendOptions connection;
  connection.rank = options_.rank;
  connection.size = options_.size;
  connection.store = std::make_shared<PrefixStore>(options_.backend, store_);
  connection.timeout = options_.timeout;
  connection.address = address_in(*options_.store);
  connection.throw_if_aborted = [this] { throw_if_failed_elsewhere(); };
  std::shared_ptr<Backend> connected = create_backend(options_.backend, connection);
  const std::lock_guard lock(mutex_);
  backend_ = std::move(connected);
}

}  // namespace hearth::distributed

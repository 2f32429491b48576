#include "hearth/distributed/process_group.h"

#include "distributed/communicator.h"

namespace hearth::distributed {

namespace {

Communicator::Options options_for(std::shared_ptr<Store> store, int rank, int size,
                                  const std::string& backend, milliseconds timeout) {
  HEARTH_CHECK_AS(ValueError, store, "ProcessGroup: the store is null");
  HEARTH_CHECK_AS(ValueError, size > 0 && 0 <= rank && rank < size, "ProcessGroup: rank ", rank,
                  " of ", size, " does not exist");
  Communicator::Options options;
  options.store = std::move(store);
  options.name = "unnamed";
  options.rank = rank;
  options.size = size;
  options.backend = backend;
  options.timeout = timeout;
  for (int i = 0; i < size; ++i) options.global_ranks.push_back(i);
  return options;
}

}  // namespace

ProcessGroup::ProcessGroup(std::shared_ptr<Store> store, int rank, int size,
                           const std::string& backend, std::chrono::milliseconds timeout)
    : communicator_(std::make_shared<Communicator>(
          options_for(std::move(store), rank, size, backend, timeout))) {}
ProcessGroup::ProcessGroup(std::shared_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)) {}
ProcessGroup::~ProcessGroup() = default;

Communicator& ProcessGroup::member() const {
  HEARTH_CHECK_AS(ValueError, communicator_,
                  "Invalid process group specified: this process does not belong to the group");
  return *communicator_;
}

int ProcessGroup::getRank() const { return communicator_ ? communicator_->options().rank : -1; }
int ProcessGroup::getSize() const { return communicator_ ? communicator_->options().size : -1; }
const std::string& ProcessGroup::getBackendName() const { return member().options().backend; }
const std::string& ProcessGroup::getGroupName() const { return member().options().name; }
std::shared_ptr<Store> ProcessGroup::getStore() const { return member().options().store; }
std::chrono::milliseconds ProcessGroup::getTimeout() const { return member().timeout(); }
void ProcessGroup::setTimeout(std::chrono::milliseconds timeout) { member().set_timeout(timeout); }
void ProcessGroup::abort() { member().abort_everywhere("abort() was called"); }
void ProcessGroup::shutdown() { member().shutdown(); }

}  // namespace hearth::distributed

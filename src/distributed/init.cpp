#include "hearth/distributed/init.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/process_end.h"
#include "distributed/environment.h"
#include "distributed/world.h"
#include "hearth/distributed/rank_reports.h"

namespace hearth::distributed {

namespace {

struct WorldOwner {
  std::mutex mutex;
  std::unique_ptr<World> world;
};

/// Never destroyed, because threads of groups may run until the process ends.
WorldOwner& owner() {
  static WorldOwner* const only = new WorldOwner;
  return *only;
}

/// Leaves the job; rank 0 also closes the store's server.
void leave(World& world) {
  constexpr milliseconds kPatience{1000};
  const bool serves = world.group->getRank() == 0;
  world.reports.reset();
  if (world.membership) world.membership->leave(serves ? milliseconds(0) : kPatience);
  if (auto* const tcp = dynamic_cast<TCPStore*>(world.own_store.get())) tcp->stop_server();
}

/// Tells the other ranks that this process ends without a failure.
void leave_at_process_end() {
  // A thread that connects a group holds the lock.
  const std::unique_lock lock(owner().mutex, std::try_to_lock);
  if (lock && owner().world) leave(*owner().world);
}

std::shared_ptr<Store> create_store(const Rendezvous& place, const InitOptions& options) {
  if (!place.file.empty()) return std::make_shared<FileStore>(place.file, place.world_size);
  TCPStoreOptions tcp;
  tcp.port = static_cast<uint16_t>(place.port);
  tcp.isServer = place.rank == 0;
  tcp.timeout = options.timeout();
  tcp.launch_id = get_launch_id();
  tcp.round = get_launched_round();
  return std::make_shared<TCPStore>(place.host, tcp);
}

Communicator::Options describe_group(const World& world, std::string name,
                                     const std::vector<int>& ranks, int global_rank) {
  Communicator::Options group;
  group.name = std::move(name);
  group.store = std::make_shared<PrefixStore>("group/" + group.name, world.store);
  group.rank = static_cast<int>(std::find(ranks.begin(), ranks.end(), global_rank) - ranks.begin());
  group.size = static_cast<int>(ranks.size());
  group.backend = world.backend;
  group.timeout = world.timeout;
  group.global_ranks = ranks;
  group.membership = world.membership;
  return group;
}

ProcessGroupPtr connect_group(Communicator::Options group) {
  return std::make_shared<ProcessGroup>(std::make_shared<Communicator>(std::move(group)));
}

Rendezvous place_of(const InitOptions& options) {
  if (!options.store())
    return find_rendezvous(options.init_method(), options.rank(), options.world_size());
  HEARTH_CHECK_AS(ValueError, options.init_method().empty(),
                  "Cannot specify both init_method and store.");
  HEARTH_CHECK_AS(
      ValueError,
      options.world_size() > 0 && options.rank() >= 0 && options.rank() < options.world_size(),
      "with a store, a rank below world_size must be given, but rank is ", options.rank(),
      " and world_size is ", options.world_size());
  Rendezvous place;
  place.rank = options.rank();
  place.world_size = options.world_size();
  return place;
}

/// Throws unless the parts consist of different ranks of a group with `size` ranks.
void check_parts(const std::vector<std::vector<int>>& parts, int size) {
  HEARTH_CHECK_AS(ValueError, !parts.empty(), "split_group: split_ranks must not be empty");
  for (const std::vector<int>& part : parts) {
    HEARTH_CHECK_AS(ValueError, !part.empty(), "the split group cannot be empty");
    for (const int rank : part)
      HEARTH_CHECK_AS(ValueError, 0 <= rank && rank < size, "split_group: rank ", rank,
                      " does not belong to the parent group, which has ", size, " ranks");
    HEARTH_CHECK_AS(ValueError, std::set<int>(part.begin(), part.end()).size() == part.size(),
                    "the split group cannot have duplicate ranks");
  }
  check_disjoint(parts);
}

/// The options of the subgroup of the ranks in `part`, in this order; `number` is that of the call
/// of split_group.
Communicator::Options describe_part(const Communicator& parent, const std::vector<int>& part,
                                    int number) {
  const Communicator::Options& whole = parent.options();
  Communicator::Options group = whole;
  const std::string name = detail::str(number, "/", part.front());
  group.name = detail::str(whole.name, "/", name);
  group.store = std::make_shared<PrefixStore>("split/" + name, whole.store);
  group.rank = static_cast<int>(std::find(part.begin(), part.end(), whole.rank) - part.begin());
  group.size = static_cast<int>(part.size());
  group.timeout = parent.timeout();
  group.global_ranks.clear();
  for (const int rank : part)
    group.global_ranks.push_back(whole.global_ranks[static_cast<size_t>(rank)]);
  return group;
}

/// The running world; the lock is held.
World& running_world() {
  HEARTH_CHECK_AS(ValueError, owner().world,
                  "Default process group has not been initialized, please make sure to call "
                  "init_process_group.");
  return *owner().world;
}

/// The group object for a process that is not a member.
ProcessGroupPtr no_member() {
  return std::make_shared<ProcessGroup>(std::shared_ptr<Communicator>());
}

/// Connects a group other than the default one.
ProcessGroupPtr connect_subgroup(Communicator::Options options,
                                 std::optional<std::chrono::milliseconds> timeout) {
  if (timeout) options.timeout = *timeout;
  ProcessGroupPtr group = connect_group(std::move(options));
  const std::lock_guard lock(owner().mutex);
  running_world().others.push_back(group);
  return group;
}

}  // namespace

void init_process_group(const std::string& backend, const InitOptions& options) {
  const std::lock_guard lock(owner().mutex);
  HEARTH_CHECK_AS(ValueError, !owner().world,
                  "trying to initialize the default process group twice!");
  compares_calls();  // checks its variable
  checked_timeout(options.timeout());
  const Rendezvous place = place_of(options);
  auto world = std::make_unique<World>();
  world->backend = backend.empty() ? "gloo" : backend;
  world->timeout = options.timeout();
  world->store = options.store();
  if (!world->store) world->store = world->own_store = create_store(place, options);
  if (auto* const tcp = dynamic_cast<TCPStore*>(world->store.get())) {
    world->membership = std::make_shared<Membership>(*tcp, place.rank, describe_process());
    world->reports = std::make_unique<StatusReports>(*tcp, place.rank, place.world_size);
  }
  std::vector<int> ranks;
  for (int rank = 0; rank < place.world_size; ++rank) ranks.push_back(rank);
  world->group = connect_group(describe_group(*world, "default", ranks, place.rank));
  static const bool registered = (stop_at_process_end(leave_at_process_end), true);
  (void)registered;
  owner().world = std::move(world);
}

void destroy_process_group(const ProcessGroupPtr& group) {
  std::unique_ptr<World> ended;
  {
    const std::lock_guard lock(owner().mutex);
    World& world = running_world();
    if (group && group != world.group)
      std::erase(world.others, group);
    else
      ended = std::move(owner().world);
  }
  if (!ended) {
    if (group->communicator()) group->shutdown();
    return;
  }
  for (const ProcessGroupPtr& other : ended->others) other->shutdown();
  ended->group->shutdown();
  leave(*ended);
}

bool is_initialized() {
  const std::lock_guard lock(owner().mutex);
  return owner().world != nullptr;
}

ProcessGroupPtr default_group() {
  const std::lock_guard lock(owner().mutex);
  return running_world().group;
}

std::shared_ptr<Store> get_default_store() {
  const std::lock_guard lock(owner().mutex);
  return running_world().store;
}

ProcessGroupPtr resolve(const ProcessGroupPtr& group) { return group ? group : default_group(); }

ProcessGroupPtr new_group(const std::vector<int>& wanted,
                          std::optional<std::chrono::milliseconds> timeout,
                          const std::string& backend) {
  std::optional<Communicator::Options> options;
  {
    const std::lock_guard lock(owner().mutex);
    World& world = running_world();
    const Communicator::Options& all = world.group->communicator()->options();
    std::vector<int> ranks = wanted.empty() ? all.global_ranks : wanted;
    std::sort(ranks.begin(), ranks.end());
    HEARTH_CHECK_AS(ValueError, ranks.front() >= 0 && ranks.back() < all.size,
                    "new_group: the new group's ranks must lie between 0 and ", all.size - 1);
    HEARTH_CHECK_AS(ValueError, std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end(),
                    "new_group: a rank occurs twice");
    options = describe_group(world, std::to_string(++world.created), ranks, all.rank);
    if (!backend.empty()) options->backend = backend;
  }
  if (options->rank == options->size) return no_member();
  return connect_subgroup(std::move(*options), timeout);
}

ProcessGroupPtr split_group(const ProcessGroupPtr& parent_pg,
                            const std::vector<std::vector<int>>& split_ranks,
                            std::optional<std::chrono::milliseconds> timeout) {
  const ProcessGroupPtr resolved = resolve(parent_pg);
  HEARTH_CHECK_AS(ValueError, resolved->communicator(),
                  "split_group: this process does not belong to the parent group");
  Communicator& parent = *resolved->communicator();
  check_parts(split_ranks, parent.options().size);
  const int number = parent.count_split();
  for (const std::vector<int>& part : split_ranks)
    if (std::find(part.begin(), part.end(), parent.options().rank) != part.end())
      return connect_subgroup(describe_part(parent, part, number), timeout);
  return no_member();
}

}  // namespace hearth::distributed

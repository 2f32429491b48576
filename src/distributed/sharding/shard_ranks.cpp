#include "distributed/sharding/shard_ranks.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "distributed/sharding/plain_mode.h"
#include "distributed/world.h"
#include "hearth/distributed/collectives.h"

namespace hearth::distributed {

namespace {

class GroupRanks : public ShardRanks {
 public:
  explicit GroupRanks(ProcessGroupPtr group) : group_(std::move(group)) {}
  void sum(const Tensor& tensor) override { reduce_plain(tensor, ReduceOp::SUM); }
  void max(const Tensor& tensor) override { reduce_plain(tensor, ReduceOp::MAX); }

 private:
  void reduce_plain(const Tensor& tensor, ReduceOp operation) const {
    const PlainMode plain;
    all_reduce(tensor, operation, group_);
  }

  ProcessGroupPtr group_;
};

}  // namespace

ShardRanksPtr shard_ranks(const ProcessGroupPtr& given) {
  const ProcessGroupPtr group = resolve(given);
  static std::mutex mutex;
  static std::unordered_map<const ProcessGroup*, std::weak_ptr<ShardRanks>> known;
  const std::lock_guard lock(mutex);
  std::weak_ptr<ShardRanks>& entry = known[group.get()];
  ShardRanksPtr ranks = entry.lock();
  if (!ranks) entry = ranks = std::make_shared<GroupRanks>(group);
  return ranks;
}

}  // namespace hearth::distributed

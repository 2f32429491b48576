#include "hearth/shards.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace hearth {

namespace {

struct Shards {
  std::mutex mutex;
  std::unordered_map<const void*, ShardRanksPtr> ranks;  // by parameter
  std::atomic<size_t> count = 0;                         // without shards no lock is needed
};

Shards& shards() {
  static auto* const all = new Shards;  // parameters may be destroyed after static objects
  return *all;
}

}  // namespace

ShardRegistration::ShardRegistration(const Tensor& parameter, ShardRanksPtr ranks)
    : parameter_(parameter) {
  const std::lock_guard lock(shards().mutex);
  shards().ranks[parameter_.unsafeGetTensorImpl()] = std::move(ranks);
  shards().count = shards().ranks.size();
}

ShardRegistration::~ShardRegistration() {
  const std::lock_guard lock(shards().mutex);
  shards().ranks.erase(parameter_.unsafeGetTensorImpl());
  shards().count = shards().ranks.size();
}

ShardRanksPtr shard_ranks_of(const Tensor& parameter) {
  if (shards().count == 0) return nullptr;
  const std::lock_guard lock(shards().mutex);
  const auto found = shards().ranks.find(parameter.unsafeGetTensorImpl());
  return found == shards().ranks.end() ? nullptr : found->second;
}

std::vector<ShardRanksPtr> shard_ranks_of(const std::vector<Tensor>& parameters) {
  std::vector<ShardRanksPtr> all;
  for (const Tensor& parameter : parameters) {
    ShardRanksPtr ranks = shard_ranks_of(parameter);
    if (ranks && std::find(all.begin(), all.end(), ranks) == all.end())
      all.push_back(std::move(ranks));
  }
  return all;
}

void check_whole(const char* user, const std::vector<Tensor>& parameters) {
  for (size_t i = 0; i < parameters.size(); ++i)
    HEARTH_CHECK(!shard_ranks_of(parameters[i]), user,
                 " needs whole parameters, but this rank has only a part of parameter ", i,
                 ", because fully_shard was applied to its module; use another optimizer, or "
                 "DistributedDataParallel instead of fully_shard");
}

}  // namespace hearth

#include "distributed/sharding/zero_partition.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "distributed/sharding/plain_mode.h"
#include "hearth/distributed/collectives.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

using Owners = std::unordered_map<const void*, int>;

/// The owners of the parameters of all living optimizers.
struct ZeroRegistry {
  std::mutex mutex;
  std::unordered_set<const Owners*> owners;
};
ZeroRegistry& zero_registry() {
  static ZeroRegistry* const all = new ZeroRegistry;  // optimizers may outlive static objects
  return *all;
}

/// Calls f(parameter, its part of the flat tensor).
template <class F>
void for_each_part(const ZeroBucket& bucket, const F& f) {
  int64_t offset = 0;
  for (const Tensor& param : bucket.params) {
    f(param, bucket.flat.narrow(0, offset, param.numel()).view(param.sizes()));
    offset += param.numel();
  }
}

/// Whether all parameters are still views of the flat tensor: a user may have replaced one.
bool is_flat(const ZeroBucket& bucket) {
  if (!bucket.flat.defined()) return false;
  bool are_all_views = true;
  int64_t numel = 0;
  for (const Tensor& param : bucket.params) numel += param.numel();
  if (numel != bucket.flat.numel()) return false;
  for_each_part(bucket, [&](const Tensor& param, const Tensor& part) {
    are_all_views = are_all_views && param.scalar_type() == part.scalar_type() &&
                    param.is_contiguous() && param.device() == part.device() &&
                    param.data_ptr() == part.data_ptr();
  });
  return are_all_views;
}

void flatten(ZeroBucket& bucket) {
  if (is_flat(bucket)) return;
  std::vector<Tensor> values;
  for (const Tensor& param : bucket.params) values.push_back(param.detach().reshape({-1}));
  bucket.flat = cat(values);
  for_each_part(bucket, [](const Tensor& param, const Tensor& part) { param.set_data(part); });
}

}  // namespace

ZeroRedundancyOptimizer::Partition::Partition() {
  const std::lock_guard lock(zero_registry().mutex);
  zero_registry().owners.insert(&owners_);
}

ZeroRedundancyOptimizer::Partition::~Partition() {
  const std::lock_guard lock(zero_registry().mutex);
  zero_registry().owners.erase(&owners_);
}

bool are_updated_by_zero(const std::vector<Tensor>& params) {
  const std::lock_guard lock(zero_registry().mutex);
  for (const Owners* owners : zero_registry().owners)
    for (const Tensor& param : params)
      if (owners->contains(param.unsafeGetTensorImpl())) return true;
  return false;
}

void ZeroRedundancyOptimizer::Partition::assign(const std::vector<Tensor>& params) {
  std::vector<Tensor> sorted = params;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Tensor& a, const Tensor& b) { return a.numel() > b.numel(); });
  const std::lock_guard lock(zero_registry().mutex);
  for (const Tensor& param : sorted) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += param.numel();
    owners_[param.unsafeGetTensorImpl()] = static_cast<int>(least - loads.begin());
  }
  for (const Tensor& param : params) add_to_buckets(param, owner_of(param));
}

void ZeroRedundancyOptimizer::Partition::add_to_buckets(const Tensor& param, int owner) {
  const bool shares = options.parameters_as_bucket_view();
  const auto fits = [&](const ZeroBucket& bucket) {
    const Tensor& first = bucket.params[0];
    return shares && bucket.owner == owner && first.scalar_type() == param.scalar_type() &&
           first.device() == param.device();
  };
  auto bucket = std::find_if(buckets_.begin(), buckets_.end(), fits);
  if (bucket == buckets_.end()) bucket = buckets_.insert(bucket, ZeroBucket{owner, {}, {}});
  bucket->params.push_back(param);
}

int ZeroRedundancyOptimizer::Partition::owner_of(const Tensor& param) const {
  const auto found = owners_.find(param.unsafeGetTensorImpl());
  HEARTH_CHECK_AS(ValueError, found != owners_.end(),
                  "the tensor is not a parameter of this ZeroRedundancyOptimizer");
  return found->second;
}

std::vector<Tensor> ZeroRedundancyOptimizer::Partition::own(
    const std::vector<Tensor>& params) const {
  std::vector<Tensor> mine;
  for (const Tensor& param : params)
    if (owner_of(param) == rank) mine.push_back(param);
  return mine;
}

void ZeroRedundancyOptimizer::Partition::broadcast_parameters() {
  const PlainMode plain;
  const ProcessGroupPtr& group = options.process_group();
  std::vector<WorkPtr> works;
  for (ZeroBucket& bucket : buckets_) {
    if (options.parameters_as_bucket_view()) flatten(bucket);
    const Tensor values = bucket.flat.defined() ? bucket.flat : bucket.params[0].detach();
    if (values.numel() > 0)
      works.push_back(broadcast(values, get_global_rank(group, bucket.owner), group, true));
  }
  for (const WorkPtr& work : works) work->wait();
}

}  // namespace hearth::distributed

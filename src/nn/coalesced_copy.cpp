#include "nn/coalesced_copy.h"

#include <map>

#include "hearth/operators.h"

namespace hearth::nn::parallel::detail {

namespace {

/// From this size on, a copy of a tensor by itself costs no more than packing it.
constexpr int64_t kLargeBytes = int64_t{1} << 20;

bool is_packed(const Tensor& tensor) {
  return tensor.is_contiguous() && tensor.numel() > 0 &&
         tensor.numel() * static_cast<int64_t>(tensor.itemsize()) < kLargeBytes;
}

}  // namespace

CoalescedCopy::CoalescedCopy(const std::vector<Tensor>& tensors) : tensors_(tensors) {
  std::map<std::pair<std::string, ScalarType>, std::vector<size_t>> groups;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (!tensor.defined()) continue;
    if (is_packed(tensor))
      groups[{tensor.device().str(), tensor.scalar_type()}].push_back(i);
    else
      single_.push_back(i);
  }
  for (auto& [key, members] : groups) {
    if (members.size() == 1) {
      single_.push_back(members[0]);
      continue;
    }
    std::vector<Tensor> flattened;
    flattened.reserve(members.size());
    for (const size_t i : members) flattened.push_back(tensors[i].view({-1}));
    buckets_.push_back({std::move(members), cat(flattened)});
  }
}

std::vector<Tensor> CoalescedCopy::to(Device device) const {
  const TensorOptions target = TensorOptions().device(device);
  std::vector<Tensor> copies(tensors_.size());
  for (const size_t i : single_) copies[i] = tensors_[i].to(target);
  for (const Bucket& bucket : buckets_) {
    const Tensor flat = bucket.flat.to(target);
    int64_t start = 0;
    for (const size_t i : bucket.members) {
      const int64_t length = tensors_[i].numel();
      copies[i] = flat.narrow(0, start, length).view(tensors_[i].sizes());
      start += length;
    }
  }
  return copies;
}

}  // namespace hearth::nn::parallel::detail

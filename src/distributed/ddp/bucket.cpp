#include "distributed/ddp/bucket.h"

#include "hearth/memory_stats.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

FlatTensor new_gradients(const std::vector<Tensor>& parameters) {
  const MemoryTagGuard tag(MemoryTag::Gradient);
  return FlatTensor(parameters);
}

bool is_same_memory(const Tensor& a, const Tensor& b) {
  return a.is_alias_of(b) && a.storage_offset() == b.storage_offset();
}

}  // namespace

Bucket::Bucket(std::vector<size_t> members, const std::vector<Tensor>& parameters)
    : members_(std::move(members)) {
  for (const size_t i : members_) parameters_.push_back(parameters[i]);
  gradients_ = new_gradients(parameters_);
}

void Bucket::put(size_t slot, const Communication& communication) {
  --pending_;
  const Tensor& gradient = parameters_[slot].mutable_grad();
  Tensor view = gradients_.views()[slot];
  if (!gradient.defined()) {
    view.zero_();
    return;
  }
  HEARTH_CHECK(!gradient.requires_grad(),
               "Using DistributedDataParallel with create_graph=True is not supported: the "
               "higher-order gradient would not be synchronized across ranks. Compute it with "
               "autograd::grad() and the module inside DistributedDataParallel");
  if (is_same_memory(gradient, view)) return;
  if (communication.hook || communication.gradients_are_views)
    view.copy_(gradient);
  else
    mul_out(view, gradient, 1 / communication.divisor);  // one pass instead of two
}

void Bucket::launch(size_t index, size_t count, const Communication& communication) {
  Tensor buffer = gradients_.buffer();
  if (communication.hook) {
    GradBucket bucket(index, count, buffer, gradients_.views(), parameters_);
    future_ = communication.hook(bucket);
    return;
  }
  if (communication.gradients_are_views) buffer.mul_(1 / communication.divisor);
  std::vector<Tensor> tensors{buffer};
  work_ = communication.group->allreduce(tensors);
}

void Bucket::wait() {
  if (future_) {
    const Tensor result = future_->wait();
    future_.reset();
    HEARTH_CHECK(result.defined() && result.numel() == gradients_.buffer().numel(),
                 "a communication hook must return a tensor with ", gradients_.buffer().numel(),
                 " elements, as the bucket's buffer has, but returned one with ",
                 result.defined() ? result.numel() : 0);
    if (!is_same_memory(result, gradients_.buffer()))
      Tensor(gradients_.buffer()).copy_(result.reshape({-1}));
  } else {
    std::exchange(work_, nullptr)->wait();
  }
}

void Bucket::store(size_t slot, bool gradients_are_views) const {
  Tensor& gradient = parameters_[slot].mutable_grad();
  const Tensor& view = gradients_.views()[slot];
  if (gradients_are_views)
    gradient = view;
  else if (gradient.defined())
    gradient.copy_(view);
  else
    gradient = view.clone();
}

}  // namespace hearth::distributed

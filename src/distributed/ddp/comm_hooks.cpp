#include "hearth/distributed/collectives.h"
#include "hearth/distributed/ddp_comm_hooks.h"
#include "hearth/operators.h"

namespace hearth::distributed::algorithms::ddp_comm_hooks {

namespace {

/// The future mean of the ranks' tensors, in place.
Future mean_of(const Tensor& tensor, const ProcessGroupPtr& group) {
  Tensor(tensor).div_(get_world_size(group));
  return Future(all_reduce(tensor, ReduceOp::SUM, group, /*async_op=*/true));
}

/// Averages the gradients in another dtype.
CommHook compress_hook(ProcessGroupPtr group, ScalarType dtype) {
  return [group = std::move(group), dtype](GradBucket& bucket) {
    const Tensor buffer = bucket.buffer();
    return mean_of(buffer.to(dtype), group).then([buffer](const Future& mean) {
      return Tensor(buffer).copy_(mean.value());
    });
  };
}

/// Lets `hook` communicate the gradients in another dtype.
CommHook compress_wrapper(CommHook hook, ScalarType dtype) {
  return [hook = std::move(hook), dtype](GradBucket& bucket) {
    const Tensor buffer = bucket.buffer();
    bucket.set_buffer(buffer.to(dtype));
    return hook(bucket).then(
        [buffer](const Future& mean) { return Tensor(buffer).copy_(mean.value()); });
  };
}

}  // namespace

CommHook allreduce_hook(ProcessGroupPtr group) {
  return [group = std::move(group)](GradBucket& bucket) { return mean_of(bucket.buffer(), group); };
}
CommHook fp16_compress_hook(ProcessGroupPtr group) {
  return compress_hook(std::move(group), kHalf);
}
CommHook bf16_compress_hook(ProcessGroupPtr group) {
  return compress_hook(std::move(group), kBFloat16);
}
CommHook fp16_compress_wrapper(CommHook hook) { return compress_wrapper(std::move(hook), kHalf); }
CommHook bf16_compress_wrapper(CommHook hook) {
  return compress_wrapper(std::move(hook), kBFloat16);
}

}  // namespace hearth::distributed::algorithms::ddp_comm_hooks

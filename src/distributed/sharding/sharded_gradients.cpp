// The gradients of ShardedParams. Backward accumulates the gradient of a whole parameter in the
// parameter's grad(). Two hooks exchange it with the gradient of the shard, which is in grad() at
// all other times.

#include "distributed/sharding/plain_mode.h"
#include "distributed/sharding/sharded_params.h"
#include "hearth/autograd_hooks.h"
#include "hearth/memory_stats.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

/// Copies each rank's block of a whole gradient to that rank's row of `blocks`.
void copy_blocks(const ShardedParam& param, const Tensor& blocks, const Tensor& gradient) {
  const Tensor values = gradient.contiguous().view({-1});
  for (int rank = 0; rank < blocks.size(0); ++rank) {
    const int64_t begin = param.numel_of(param.blocks.begin(rank));
    const int64_t count = param.numel_of(param.blocks.size(rank));
    blocks[rank].narrow(0, 0, count).copy_(values.narrow(0, begin, count));
  }
}

}  // namespace

void ShardedParams::watch_gradients(const std::function<void()>& on_gradient) {
  for (size_t i = 0; i < params_.size(); ++i) {
    const Tensor& param = params_[i].param;
    if (!param.requires_grad()) continue;
    // Weak pointers, because the parameters own their hooks.
    const std::weak_ptr<ShardedParams> self = weak_from_this();
    param.register_hook([self, i](const Tensor&) {
      if (const auto params = self.lock()) params->set_gradient_aside(i);
    });
    autograd::register_post_accumulate_grad_hook(param, [self, i, on_gradient](const Tensor&) {
      const auto params = self.lock();
      if (!params) return;
      params->take_gradient(i);
      on_gradient();
    });
  }
}

void ShardedParams::set_gradient_aside(size_t index) {
  ShardedParam& param = params_[index];
  if (Tensor& grad = param.param.mutable_grad(); grad.defined())
    param.set_aside = std::exchange(grad, Tensor());
}

ScalarType ShardedParams::reduce_dtype(const ShardedParam& param) const {
  return policy_.reduce_dtype().value_or(flat_.defined() ? flat_.scalar_type()
                                                         : param.param.scalar_type());
}

void ShardedParams::take_gradient(size_t index) {
  const PlainMode plain;
  ShardedParam& param = params_[index];
  const Tensor gradient = std::exchange(param.param.mutable_grad(), Tensor());
  std::swap(param.param.mutable_grad(), param.set_aside);
  HEARTH_CHECK(gradient.sizes().equals(param.sizes), "rank ", get_rank(group_), ": parameter '",
               name_of(param), "' has a gradient of the sizes ", gradient.sizes(), " instead of ",
               IntArrayRef(param.sizes),
               ", because it was used while it was not gathered; use it in the forward() of its "
               "module, or call unshard() before");
  const Tensor converted = gradient.detach().to(reduce_dtype(param));
  if (param.whole_grad.defined())
    param.whole_grad.add_(converted);
  else
    param.whole_grad = converted;
}

void ShardedParams::start_reduction() {
  const PlainMode plain;
  Reduction started;
  int64_t numel = 0;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!params_[i].whole_grad.defined()) continue;
    started.params.push_back(i);
    numel += params_[i].padded_numel;
  }
  if (started.params.empty()) return;
  finish_reduction();
  const TensorOptions options = params_[started.params[0]].whole_grad.options();
  started.input = zeros({ranks_, numel}, options);
  started.output = empty({numel}, options);
  int64_t offset = 0;
  for (const size_t i : started.params) {
    ShardedParam& param = params_[i];
    copy_blocks(param, started.input.narrow(1, offset, param.padded_numel), param.whole_grad);
    param.whole_grad = Tensor();
    offset += param.padded_numel;
  }
  // A sum of float16 could overflow.
  const bool divides_first = started.input.scalar_type() == kHalf;
  if (divides_first) started.input.div_(ranks_);
  if (numel > 0)
    started.work = reduce_scatter_tensor(
        started.output, started.input, divides_first ? ReduceOp::SUM : ReduceOp::AVG, group_, true);
  reduction_ = std::move(started);
}

void ShardedParams::finish_reduction() {
  if (!reduction_) return;
  const Reduction reduced = *std::exchange(reduction_, std::nullopt);
  if (reduced.work) reduced.work->wait();
  const PlainMode plain;
  int64_t offset = 0;
  for (const size_t i : reduced.params) {
    ShardedParam& param = params_[i];
    const Tensor shard = reduced.output.narrow(0, offset, param.numel_of(param.rows));
    add_gradient(param, shard.view(param.sizes_of(param.rows)));
    offset += param.padded_numel;
  }
}

void ShardedParams::add_gradient(ShardedParam& param, const Tensor& shard) const {
  Tensor& grad = param.param.mutable_grad();
  if (grad.defined())
    grad.add_(shard);
  else
    grad = shard.to(flat_.scalar_type()).detach();  // no view, so that zero_grad can detach it
}

void ShardedParams::restore_gradients() {
  for (ShardedParam& param : params_)
    if (param.set_aside.defined())
      param.param.mutable_grad() = std::exchange(param.set_aside, Tensor());
}

void ShardedParams::drop_unreduced() {
  restore_gradients();
  for (ShardedParam& param : params_) param.whole_grad = Tensor();
  finish_reduction();
}

}  // namespace hearth::distributed

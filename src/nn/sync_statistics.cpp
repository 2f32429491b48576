// Batch normalization over the batches of several processes.

#include "hearth/custom_function.h"
#include "hearth/distributed/collectives.h"
#include "hearth/nn/sync_batch_norm.h"
#include "hearth/operators.h"

namespace hearth::nn::functional {

namespace {

using autograd::AutogradContext;
using autograd::variable_list;
using distributed::ProcessGroupPtr;

/// Mean, biased variance and number of the values of each channel, over all ranks.
struct ChannelStatistics {
  Tensor mean, variance;
  double count = 0;
};

/// All dimensions of [N, C, …] but the channels.
std::vector<int64_t> dims_without_channels(const Tensor& input) {
  std::vector<int64_t> dims{0};
  for (int64_t d = 2; d < input.dim(); ++d) dims.push_back(d);
  return dims;
}

/// A value per channel, shaped so that it is broadcast to `input`.
Tensor per_channel(const Tensor& values, const Tensor& input) {
  std::vector<int64_t> sizes(static_cast<size_t>(input.dim()), 1);
  sizes[1] = -1;
  return values.view(sizes);
}

ScalarType dtype_of_statistics(const Tensor& input) {
  return input.scalar_type() == kDouble ? kDouble : kFloat;
}

/// Combines each rank's mean and sum of squared differences from that mean. Ranks may have
/// different numbers of values, also 0.
ChannelStatistics statistics_over_ranks(const Tensor& input, const ProcessGroupPtr& group) {
  const std::vector<int64_t> dims = dims_without_channels(input);
  int64_t count = 1;
  for (const int64_t dim : dims) count *= input.size(dim);
  const int64_t channels = input.size(1);
  const Tensor mean = input.sum(dims) / double(std::max<int64_t>(count, 1));
  const Tensor squares = (input - per_channel(mean, input)).square().sum(dims);
  const Tensor mine = cat({mean, squares, full({1}, count, input.options())});
  const Tensor all = empty({distributed::get_world_size(group), mine.numel()}, mine.options());
  distributed::all_gather_into_tensor(all, mine, group);
  const Tensor means = all.narrow(1, 0, channels), counts = all.narrow(1, 2 * channels, 1);
  ChannelStatistics result;
  result.count = counts.sum().item<double>();
  HEARTH_CHECK_AS(ValueError, result.count > 1,
                  "Expected more than 1 value per channel when training, got input size ",
                  input.sizes(), " on this rank and ", result.count,
                  " value(s) per channel on all ranks");
  result.mean = (means * counts).sum(0) / result.count;
  const Tensor between = (means - result.mean).square() * counts;
  result.variance = (all.narrow(1, channels, channels) + between).sum(0) / result.count;
  return result;
}

/// Moves the running statistics towards those of the batches.
void update_running(const Tensor& mean, const Tensor& variance, const ChannelStatistics& batch,
                    double momentum) {
  if (mean.defined()) Tensor(mean).lerp_(batch.mean.to(mean.scalar_type()), momentum);
  if (!variance.defined()) return;
  const Tensor unbiased = batch.variance * (batch.count / (batch.count - 1));
  Tensor(variance).lerp_(unbiased.to(variance.scalar_type()), momentum);
}

/// (x - mean) / sqrt(variance + eps) * weight + bias, with statistics over all ranks.
class SyncBatchNormNode final : public autograd::CustomNode {
 public:
  explicit SyncBatchNormNode(ProcessGroupPtr group) : group_(std::move(group)) {}
  std::string name() const override { return "SyncBatchNormBackward"; }

  Tensor forward(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                 const BatchNormFuncOptions& options);

 protected:
  variable_list call_backward(AutogradContext* context, variable_list grads) override;

 private:
  ProcessGroupPtr group_;
  double count_ = 0;
};

Tensor SyncBatchNormNode::forward(const Tensor& input, const Tensor& running_mean,
                                  const Tensor& running_var, const BatchNormFuncOptions& options) {
  const Tensor &weight = options.weight(), &bias = options.bias();
  for (const Tensor* argument : {&input, &weight, &bias}) add_argument(*argument);
  connect();
  variable_list outputs;
  {
    const NoGradGuard no_grad;
    const Tensor x = input.to(dtype_of_statistics(input));
    const ChannelStatistics batch = statistics_over_ranks(x, group_);
    count_ = batch.count;
    update_running(running_mean, running_var, batch, options.momentum());
    const Tensor scale = (batch.variance + options.eps()).rsqrt();
    Tensor y = (x - per_channel(batch.mean, x)) * per_channel(scale, x);
    if (weight.defined()) y = y * per_channel(weight.to(x.scalar_type()), x);
    if (bias.defined()) y = y + per_channel(bias.to(x.scalar_type()), x);
    outputs.push_back(y.to(input.scalar_type()));
    context().save_for_backward({input, weight, batch.mean, scale});
  }
  finish(outputs);
  return outputs[0];
}

variable_list SyncBatchNormNode::call_backward(AutogradContext* context, variable_list grads) {
  HEARTH_CHECK(!GradMode::is_enabled(),
               "SyncBatchNorm has no second derivative: backward() with create_graph=true would "
               "have to communicate again");
  const variable_list saved = context->get_saved_variables();
  const Tensor &input = saved[0], &weight = saved[1], &mean = saved[2], &scale = saved[3];
  const ScalarType dtype = mean.scalar_type();
  const Tensor gy = grads[0].to(dtype), centered = input.to(dtype) - per_channel(mean, input);
  const std::vector<int64_t> dims = dims_without_channels(input);
  const Tensor sums = stack({gy.sum(dims), (gy * centered).sum(dims)});
  variable_list result(3);
  if (weight.defined()) result[1] = (sums[1] * scale).to(weight.scalar_type());
  if (context->needs_input_grad(2)) result[2] = sums[0].clone();
  // All ranks take part, even those whose input needs no gradient.
  distributed::all_reduce(sums, distributed::ReduceOp::SUM, group_);
  if (!context->needs_input_grad(0)) return result;
  const Tensor slope = sums[1] * scale.square() / count_;
  const Tensor centered_gradient =
      gy - per_channel(sums[0] / count_, input) - centered * per_channel(slope, input);
  const Tensor factor = weight.defined() ? scale * weight.to(dtype) : scale;
  result[0] = (centered_gradient * per_channel(factor, input)).to(input.scalar_type());
  return result;
}

}  // namespace

Tensor sync_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                       const BatchNormFuncOptions& options, const ProcessGroupPtr& group) {
  const bool has_group = group || distributed::is_initialized();
  if (!options.training() || !has_group || distributed::get_world_size(group) < 2)
    return batch_norm(input, running_mean, running_var, options);
  HEARTH_CHECK_AS(ValueError, input.dim() >= 2, "expected at least 2D input (got ", input.dim(),
                  "D input)");
  const auto node = IntrusivePtr<SyncBatchNormNode>::adopt(new SyncBatchNormNode(group));
  return node->forward(input, running_mean, running_var, options);
}

}  // namespace hearth::nn::functional

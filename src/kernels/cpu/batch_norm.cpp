// Batch norm and its gradients. This file computes the coefficients of the channels, in double on
// one thread; batch_norm_sweep.cpp runs the passes over whole tensors, which bound the speed.
// Training needs two passes forward and two backward; evaluation needs one forward and, backward,
// one for the gradient of the input and one for those of weight and bias.
#include "seam/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/batch_norm_layout.h"
#include "kernels/cpu/batch_norm_sweep.h"
#include "kernels/cpu/reduce_convert.h"
#include "seam/ctx.h"

namespace hearth::cpu {

namespace {

/// Allocates scratch memory for one double per channel.
double* per_channel(int64_t channels, Ctx& ctx) {
  return static_cast<double*>(ctx.scratch(size_t(channels) * sizeof(double)));
}

/// Returns the view's elements as doubles; if it is undefined, `missing` for every channel.
double* read_channels(const View& view, int64_t channels, double missing, Ctx& ctx) {
  double* const values = per_channel(channels, ctx);
  if (view.defined())
    StridedConvert(view.dtype, kDouble)(view.data, view.strides[0], values, 1, channels);
  else
    for (int64_t c = 0; c < channels; ++c) values[c] = missing;
  return values;
}

void write_channels(const double* values, const View& view, int64_t channels) {
  if (view.defined())
    StridedConvert(kDouble, view.dtype)(values, 1, view.data, view.strides[0], channels);
}

/// running = (1 - momentum) * running + momentum * values * factor.
void update_running(const View& running, const double* values, double factor, double momentum,
                    int64_t channels, Ctx& ctx) {
  if (!running.defined()) return;
  double* const updated = read_channels(running, channels, 0, ctx);
  for (int64_t c = 0; c < channels; ++c)
    updated[c] = (1 - momentum) * updated[c] + momentum * (values[c] * factor);
  write_channels(updated, running, channels);
}

/// Computes the mean and variance of every channel in one pass over x. The channel's first element
/// is subtracted from the others, so that a large mean does not make the variance inaccurate.
void measure(const BatchNormLayout& layout, const BatchNormSweep& sweep, const BatchNormData& x,
             double* mean, double* var, Ctx& ctx) {
  const int64_t channels = layout.channels();
  const double n = double(layout.count());
  double* const shift = per_channel(channels, ctx);
  StridedConvert(x.dtype, kDouble)(x.data, layout.channels_last() ? 1 : layout.plane(), shift, 1,
                                   channels);
  sweep.accumulate(x, {}, shift, mean, var);
  for (int64_t c = 0; c < channels; ++c) {
    const double shifted_mean = mean[c] / n;
    var[c] = std::fmax(var[c] / n - shifted_mean * shifted_mean, 0);
    mean[c] = shift[c] + shifted_mean;
  }
}

/// 1 / sqrt(var + eps) of a batch; as in PyTorch, 0 where that would divide by 0.
double inverse_deviation(double variance, double eps) {
  const double square = variance + eps;
  return square == 0 ? 0 : 1 / std::sqrt(square);
}

}  // namespace

void run(const BatchNormParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  const BatchNormLayout layout(params.out);
  const BatchNormSweep sweep(layout, ctx);
  const int64_t channels = layout.channels();
  const BatchNormData x = layout.read(params.in, ctx), y = layout.prepare_write(params.out, ctx);
  double* const mean =
      read_channels(params.training ? View() : params.running_mean, channels, 0, ctx);
  double* const var =
      read_channels(params.training ? View() : params.running_var, channels, 0, ctx);
  const double* const weight = read_channels(params.weight, channels, 1, ctx);
  if (params.training) {
    const double n = double(layout.count());
    measure(layout, sweep, x, mean, var, ctx);
    update_running(params.running_mean, mean, 1, params.momentum, channels, ctx);
    update_running(params.running_var, var, n / (n - 1), params.momentum, channels, ctx);
  }
  double* const invstd = var;
  double* const slope = per_channel(channels, ctx);
  for (int64_t c = 0; c < channels; ++c) {
    invstd[c] = params.training ? inverse_deviation(var[c], params.eps)
                                : 1 / std::sqrt(var[c] + params.eps);
    slope[c] = invstd[c] * weight[c];
  }
  if (params.training) {
    write_channels(mean, params.save_mean, channels);
    write_channels(invstd, params.save_invstd, channels);
  }
  sweep.apply(x, {}, y, mean, slope, read_channels(params.bias, channels, 0, ctx), nullptr);
  layout.write_back(y, params.out);
}

void run(const BatchNormBackwardParams& params, Ctx& ctx) {
  const BatchNormLayout layout(params.grad_in.defined() ? params.grad_in : params.in);
  const BatchNormSweep sweep(layout, ctx);
  const int64_t channels = layout.channels();
  const bool training = params.training;
  const BatchNormData x = layout.read(params.in, ctx), g = layout.read(params.grad_out, ctx);
  const double* const mean =
      read_channels(training ? params.save_mean : params.running_mean, channels, 0, ctx);
  // In evaluation the variance, until the loop below.
  double* const invstd =
      read_channels(training ? params.save_invstd : params.running_var, channels, 1, ctx);
  const double* const weight = read_channels(params.weight, channels, 1, ctx);
  if (!training)
    for (int64_t c = 0; c < channels; ++c) invstd[c] = 1 / std::sqrt(invstd[c] + params.eps);

  double* const sums = per_channel(channels, ctx);
  double* const dots = per_channel(channels, ctx);
  if (training || params.grad_weight.defined() || params.grad_bias.defined())
    sweep.accumulate(x, g, mean, sums, dots);
  else
    std::fill_n(dots, channels, 0.0);  // the loops below read it, but nothing uses their results
  if (params.grad_in.defined() && params.in.numel > 0) {
    const BatchNormData y = layout.prepare_write(params.grad_in, ctx);
    const double n = double(layout.count());
    double* const gain = per_channel(channels, ctx);
    double* const slope = per_channel(channels, ctx);
    double* const offset = per_channel(channels, ctx);
    for (int64_t c = 0; c < channels; ++c) {
      gain[c] = weight[c] * invstd[c];
      slope[c] = -gain[c] * invstd[c] * invstd[c] * dots[c] / n;
      offset[c] = training ? -gain[c] * sums[c] / n : 0;
    }
    // In evaluation the gradient does not depend on x: infinities in x must not reach it.
    const double* const zeros = offset;  // in evaluation
    if (training)
      sweep.apply(x, g, y, mean, slope, offset, gain);
    else
      sweep.apply(g, {}, y, zeros, gain, zeros, nullptr);
    layout.write_back(y, params.grad_in);
  }
  for (int64_t c = 0; c < channels; ++c) dots[c] *= invstd[c];
  write_channels(dots, params.grad_weight, channels);
  write_channels(sums, params.grad_bias, channels);
}

}  // namespace hearth::cpu

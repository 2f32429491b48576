// Chooses the method of a convolution: conv_small.cpp, onednn_conv.cpp or conv_columns.cpp. The
// loops here, which copy operands into the method's layout or add a bias, are bound by memory.
#include "seam/conv.h"

#include "core/parallel_for.h"
#include "kernels/cpu/conv_columns.h"
#include "kernels/cpu/conv_small.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// Whether the view is contiguous in channels_last order.
bool channels_last(const View& view) {
  if (view.dim < 4 || view.strides[1] != 1) return false;
  int64_t expected = view.sizes[1];
  for (int d = view.dim - 1; d >= 2; --d) {
    if (view.sizes[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.sizes[d];
  }
  return view.sizes[0] == 1 || view.strides[0] == expected;
}

View contiguous_scratch(const View& like, ScalarType dtype, Ctx& ctx) {
  View result = like;
  result.dtype = dtype;
  result.make_contiguous();
  result.data = ctx.scratch(size_t(result.numel) * element_size(dtype));
  return result;
}

/// Returns the parameters with all tensors in `dtype` and an allowed layout. A tensor of another
/// dtype or layout is replaced by a contiguous one in scratch memory, with its elements unless they
/// are to be computed.
template <class Allowed>
ConvParams fitted(const ConvParams& params, ScalarType dtype, const Allowed& allowed, Ctx& ctx) {
  ConvParams result = params;
  for (View* view : {&result.in, &result.weight, &result.out, &result.bias}) {
    if (!view->defined() || (view->dtype == dtype && allowed(*view))) continue;
    const View original = *view;
    *view = contiguous_scratch(original, dtype, ctx);
    if (view != &result.computed()) copy(original, *view, ctx);
  }
  return result;
}

/// Copies the result to the caller's tensor if it is in scratch memory.
void finish(const ConvParams& params, const ConvParams& computed, Ctx& ctx) {
  const View &from = computed.computed(), &to = params.computed();
  if (from.data != to.data) copy(from, to, ctx);
}

/// Adds the channel's bias to each element of a contiguous or channels_last tensor.
void add_bias(const View& to, const View& bias) {
  const int64_t channels = to.sizes[1], plane = to.numel / to.sizes[0] / channels;
  const bool interleaved = !to.contiguous();  // channels_last
  const int64_t step = interleaved ? channels : 1;
  parallel_for(0, to.sizes[0], kMoveGrain / (channels * plane) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin * channels; i < end * channels; ++i) {
                   const int64_t channel = i % channels;
                   const float value = bias.as<float>()[channel];
                   float* const x = to.as<float>() + i / channels * channels * plane +
                                    channel * (interleaved ? 1 : plane);
                   for (int64_t k = 0; k < plane; ++k) x[k * step] += value;
                 }
               });
}

bool runs_as_small(const ConvParams& params) {
  return params.in.contiguous() && params.weight.contiguous() && params.out.contiguous() &&
         (!params.bias.defined() || params.bias.contiguous()) && suits_conv_small(params);
}

/// Runs oneDNN's convolution in `dtype` (float32, or bfloat16 on processors that compute with it).
/// Returns false if oneDNN cannot compute it.
bool run_by_library(const ConvParams& params, ScalarType dtype, Ctx& ctx) {
  if (!onednn::suits_conv(params)) return false;
  // oneDNN adds a bias to the output only; add_bias() is for float32.
  const bool adds_bias = params.bias.defined() && params.part == ConvPart::kIn;
  if (dtype == kBFloat16 && (adds_bias || !onednn::has_matmul(kBFloat16))) return false;
  const auto allowed = [](const View& view) { return view.contiguous() || channels_last(view); };
  const ConvParams fitted_params = fitted(params, dtype, allowed, ctx);
  if (!onednn::conv(fitted_params, ctx)) return false;
  if (adds_bias) add_bias(fitted_params.in, fitted_params.bias);
  finish(params, fitted_params, ctx);
  return true;
}

}  // namespace

void run(const ConvParams& params, Ctx& ctx) {
  const ScalarType dtype = params.in.dtype;
  if (params.computed().numel == 0) return;
  if (dtype == kFloat && runs_as_small(params)) return conv_small(params, ctx);
  if (dtype == kBFloat16 && run_by_library(params, kBFloat16, ctx)) return;
  if (dtype != kDouble && run_by_library(params, kFloat, ctx)) return;
  const ScalarType compute_type = dtype == kDouble ? kDouble : kFloat;
  const ConvParams fitted_params = fitted(
      params, compute_type, [](const View& view) { return view.contiguous(); }, ctx);
  conv_by_columns(fitted_params, ctx);
  finish(params, fitted_params, ctx);
}

}  // namespace hearth::cpu

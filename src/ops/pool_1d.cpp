// Pooling in one dimension, by the ops of two dimensions on planes with one row.
#include "ops/pool.h"

namespace hearth {

namespace {

/// Throws the errors of max_pool1d, which differ from those of max_pool2d.
void check_max_pool1d(const Tensor& self, const PoolArgs& args) {
  const IntArrayRef sizes = self.sizes();
  const size_t dim = sizes.size();
  HEARTH_CHECK((dim == 2 || dim == 3) && sizes[dim - 1] != 0 && sizes[dim - 2] != 0,
               "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size "
               "for input, but got:",
               sizes);
  const int64_t kernel = args.kernel[1], padding = args.padding[1];
  HEARTH_CHECK(kernel > 0, "max_pool1d() kernel_size must be greater than zero, but got ", kernel);
  HEARTH_CHECK(args.stride[1] > 0, "max_pool1d() stride must be greater than zero, but got ",
               args.stride[1]);
  HEARTH_CHECK(padding >= 0, "max_pool1d() padding must be non-negative, but got ", padding);
  HEARTH_CHECK(padding <= kernel / 2,
               "max_pool1d() padding should be at most half of kernel size, but got padding=",
               padding, " and kernel_size=", kernel);
  HEARTH_CHECK(args.dilation[1] > 0, "max_pool1d() dilation must be greater than zero, but got ",
               args.dilation[1]);
  const int64_t room = sizes[dim - 1] + 2 * padding - args.dilation[1] * (kernel - 1) - 1 +
                       (args.ceil_mode ? args.stride[1] - 1 : 0);
  HEARTH_CHECK(room >= 0,
               "max_pool1d() Invalid computed output size: ", window_count(room, args.stride[1]));
}

void check_2d_or_3d(const char* op, const Tensor& self) {
  HEARTH_CHECK(self.dim() == 2 || self.dim() == 3, "Expected 2 to 3 dimensions, but got ",
               self.dim(),
               "-dimensional tensor for argument #1 'self' (while checking arguments "
               "for ",
               op, ")");
}

PoolArgs adaptive_args_1d(const char* op, const Tensor& self, IntArrayRef output_size) {
  check_defined(op, 0, "self", self);
  check_2d_or_3d(op, self);
  HEARTH_CHECK(output_size.size() == 1, op,
               "() argument 'output_size' should contain one int (got ", output_size.size(), ")");
  return adaptive_args({1, output_size[0]});
}

struct MaxPool1d {
  using Args = PoolArgs;
  static constexpr OpInfo info{.name = "max_pool1d"};
  static Tensor compute(const Args& args, const Tensor& self) {
    check_max_pool1d(self, args);
    HEARTH_CHECK_AS(NotImplementedError, self.is_floating_point(),
                    "\"max_pool1d_impl\" not implemented for '",
                    hearth::name_of(self.scalar_type()), "'");
    return invoke<Pool<PoolKind::kMax, 2>>(args, self.unsqueeze(-2)).call().squeeze(-2);
  }
};

/// The ops other than max_pool1d.
template <PoolKind kind, const OpInfo& op_info>
struct Pool1d {
  using Args = PoolArgs;
  static constexpr OpInfo info = op_info;
  static auto compute(const Args& args, const Tensor& self) {
    // PyTorch's error for max_pool1d_with_indices names max_pool1d.
    check_2d_or_3d(kind == PoolKind::kMax ? "max_pool1d" : op_info.name, self);
    const Tensor plane = self.unsqueeze(-2);
    if constexpr (is_max(kind)) {
      const auto [values, indices] = invoke<Pool<kind, 2>>(args, plane).pair();
      return TensorPair(values.squeeze(-2), indices.squeeze(-2));
    } else {
      return invoke<Pool<kind, 2>>(args, plane).call().squeeze(-2);
    }
  }
};
constexpr OpInfo kMaxPool1dWithIndices{.name = "max_pool1d_with_indices"},
    kAvgPool1d{.name = "avg_pool1d"}, kAdaptiveAvgPool1d{.name = "adaptive_avg_pool1d"},
    kAdaptiveMaxPool1d{.name = "adaptive_max_pool1d"};

}  // namespace

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return compose<MaxPool1d>(
      pool_args_1d("max_pool1d", kernel_size, stride, padding, dilation, ceil_mode), self);
}
TensorPair max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return compose<Pool1d<PoolKind::kMax, kMaxPool1dWithIndices>>(
      pool_args_1d("max_pool1d", kernel_size, stride, padding, dilation, ceil_mode), self);
}
Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  PoolArgs args = pool_args_1d("avg_pool1d", kernel_size, stride, padding, 1, ceil_mode);
  args.count_include_pad = count_include_pad;
  return compose<Pool1d<PoolKind::kAverage, kAvgPool1d>>(args, self);
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  return compose<Pool1d<PoolKind::kAdaptiveAverage, kAdaptiveAvgPool1d>>(
      adaptive_args_1d("adaptive_avg_pool1d", self, output_size), self);
}
TensorPair adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  return compose<Pool1d<PoolKind::kAdaptiveMax, kAdaptiveMaxPool1d>>(
      adaptive_args_1d("adaptive_max_pool1d", self, output_size), self);
}

}  // namespace hearth

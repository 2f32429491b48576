#include "ops/pool.h"

#include "ops/composed_out.h"

namespace hearth {

namespace {

/// The maxima without their indices.
template <size_t spatial>
struct MaxPool {
  using Args = PoolArgs;
  static constexpr OpInfo info{.name = spatial == 2 ? "max_pool2d" : "max_pool3d",
                               .amp_cpu = spatial == 2 ? Amp::kKeep : Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self) {
    return invoke<Pool<PoolKind::kMax, spatial>>(args, self).call();
  }
};

template <size_t spatial>
struct AdaptiveAvgPool {
  using Args = PoolArgs;
  static constexpr OpInfo info{.name = spatial == 2 ? "adaptive_avg_pool2d" : "adaptive_avg_pool3d",
                               .amp_cpu = spatial == 2 ? Amp::kKeep : Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self) {
    bool is_global =
        self.numel() > 0 || size_t(self.dim()) == spatial + 1 || size_t(self.dim()) == spatial + 2;
    for (const int64_t size : args.kernel) is_global &= size == 1;
    if (!is_global) return invoke<Pool<PoolKind::kAdaptiveAverage, spatial>>(args, self).call();
    static constexpr int64_t kLastDims[] = {-3, -2, -1};
    return self.mean(IntArrayRef(kLastDims + (3 - spatial), spatial), true);
  }
};

PoolArgs average_args(const char* op, size_t spatial, IntArrayRef kernel, IntArrayRef stride,
                      IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                      std::optional<int64_t> divisor) {
  HEARTH_CHECK(!divisor || *divisor != 0, "divisor must be not zero");
  PoolArgs args = pool_args(op, spatial, kernel, stride, padding, 1, ceil_mode);
  args.count_include_pad = count_include_pad;
  args.divisor = divisor.value_or(0);
  return args;
}

PoolArgs adaptive_average_args(const char* op, size_t spatial, IntArrayRef output_size) {
  HEARTH_CHECK(output_size.size() == spatial, op, ": output_size must be ", spatial);
  return adaptive_args(output_size);
}

PoolArgs adaptive_max_args(const char* op, size_t spatial, IntArrayRef output_size) {
  HEARTH_CHECK(output_size.size() == spatial, op, "(): internal error: output_size.size() must be ",
               spatial);
  return adaptive_args(output_size);
}

}  // namespace

#define HEARTH_POOLS(n)                                                                            \
  Tensor max_pool##n##d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,           \
                        IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {               \
    return compose<MaxPool<n>>(                                                                    \
        pool_args("max_pool" #n "d", n, kernel_size, stride, padding, dilation, ceil_mode), self); \
  }                                                                                                \
  TensorPair max_pool##n##d_with_indices(const Tensor& self, IntArrayRef kernel_size,              \
                                         IntArrayRef stride, IntArrayRef padding,                  \
                                         IntArrayRef dilation, bool ceil_mode) {                   \
    return invoke<Pool<PoolKind::kMax, n>>(                                                        \
               pool_args("max_pool" #n "d", n, kernel_size, stride, padding, dilation, ceil_mode), \
               self)                                                                               \
        .pair();                                                                                   \
  }                                                                                                \
  TensorRefPair max_pool##n##d_with_indices_out(                                                   \
      Tensor& out, Tensor& indices, const Tensor& self, IntArrayRef kernel_size,                   \
      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {             \
    return invoke<Pool<PoolKind::kMax, n>>(                                                        \
               pool_args("max_pool" #n "d", n, kernel_size, stride, padding, dilation, ceil_mode), \
               self)                                                                               \
        .out(out, indices);                                                                        \
  }                                                                                                \
  Tensor adaptive_avg_pool##n##d(const Tensor& self, IntArrayRef output_size) {                    \
    return compose<AdaptiveAvgPool<n>>(                                                            \
        adaptive_average_args("adaptive_avg_pool" #n "d", n, output_size), self);                  \
  }                                                                                                \
  HEARTH_DEFINE_WRITE_OUT(adaptive_avg_pool##n##d, (const Tensor& self, IntArrayRef output_size),  \
                          adaptive_avg_pool##n##d(self, output_size))                              \
  TensorPair adaptive_max_pool##n##d(const Tensor& self, IntArrayRef output_size) {                \
    return invoke<Pool<PoolKind::kAdaptiveMax, n>>(                                                \
               adaptive_max_args("adaptive_max_pool" #n "d", n, output_size), self)                \
        .pair();                                                                                   \
  }                                                                                                \
  TensorRefPair adaptive_max_pool##n##d_out(Tensor& out, Tensor& indices, const Tensor& self,      \
                                            IntArrayRef output_size) {                             \
    return invoke<Pool<PoolKind::kAdaptiveMax, n>>(                                                \
               adaptive_max_args("adaptive_max_pool" #n "d", n, output_size), self)                \
        .out(out, indices);                                                                        \
  }
HEARTH_POOLS(2)
HEARTH_POOLS(3)
#undef HEARTH_POOLS

HEARTH_DEFINE_FUNCTION(
    avg_pool2d,
    (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
     bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override),
    invoke<Pool<PoolKind::kAverage, 2>>(average_args("avg_pool2d", 2, kernel_size, stride, padding,
                                                     ceil_mode, count_include_pad,
                                                     divisor_override),
                                        self))
HEARTH_DEFINE_FUNCTION(
    avg_pool3d,
    (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
     bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override),
    invoke<Pool<PoolKind::kAverage, 3>>(average_args("avg_pool3d", 3, kernel_size, stride, padding,
                                                     ceil_mode, count_include_pad,
                                                     divisor_override),
                                        self))

}  // namespace hearth

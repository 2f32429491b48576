// Special functions (gamma, Bessel, error functions and others), computed in double, one element
// after the other. The threads divide the elements; blocks of 128 are converted at once. Bound by
// the arithmetic of the functions.
#include "seam/special.h"

#include "core/parallel_for.h"
#include "functors/special_value.h"
#include "hearth/half.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kSpecialGrain = 1024;  // elements that are worth another thread
constexpr int64_t kSpecialBlock = 128;   // elements that are converted at once

/// Returns x rounded to this dtype.
double rounded(double x, ScalarType dtype) {
  switch (dtype) {
    case kFloat: return static_cast<float>(x);
    case kHalf: return static_cast<float>(static_cast<Half>(static_cast<float>(x)));
    case kBFloat16: return static_cast<float>(static_cast<BFloat16>(static_cast<float>(x)));
    default: return x;
  }
}

/// Reads n elements of a real dtype, rounded to the dtype `compute`.
void read(const Operand& in, int64_t offset, int64_t stride, int64_t n, ScalarType compute,
          double* to) {
  with_dtype(in.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (requires { static_cast<double>(type); }) {
      const T* const from = static_cast<const T*>(in.address()) + offset;
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<double>(from[i * stride]);
    }
  });
  if (in.dtype == compute) return;
  for (int64_t i = 0; i < n; ++i) to[i] = rounded(to[i], compute);
}

/// Writes n results, rounded to the dtype `compute`.
void write(const Operand& out, int64_t offset, int64_t stride, int64_t n, ScalarType compute,
           double* from) {
  if (out.dtype != compute)
    for (int64_t i = 0; i < n; ++i) from[i] = rounded(from[i], compute);
  with_dtype(out.dtype, [&](auto type) {
    using T = decltype(type);
    T* const to = static_cast<T*>(out.data) + offset;
    for (int64_t i = 0; i < n; ++i) to[i * stride] = static_cast<T>(from[i]);
  });
}

/// The operands' loop; a number has no strides.
StridedLoop<3> loop_of(const PointwiseParams& params) {
  static constexpr int64_t kNone[kMaxDims] = {};
  StridedLoop<3> loop;
  loop.dim = params.dim;
  std::copy_n(params.sizes, params.dim, loop.sizes);
  loop.add(params.out.strides);
  for (int k = 0; k < 2; ++k) {
    const bool moves = k < params.inputs && !params.in[k].is_number;
    loop.add(moves ? params.in[k].strides : kNone);
  }
  return loop;
}

}  // namespace

void run(const SpecialParams& params, Ctx&) {
  const PointwiseParams& p = params.loop;
  const StridedLoop<3> loop = loop_of(p);
  const auto run_line = [&](const int64_t* at, int64_t n) {
    double in[2][kSpecialBlock] = {};
    for (int64_t first = 0; first < n; first += kSpecialBlock) {
      const int64_t count = std::min(kSpecialBlock, n - first);
      for (int k = 0; k < p.inputs; ++k) {
        const int64_t stride = loop.inner_stride(k + 1);
        read(p.in[k], at[k + 1] + first * stride, stride, count, p.compute, in[k]);
      }
      double* const result = in[0];
      for (int64_t i = 0; i < count; ++i)
        result[i] = fn::special_value(params.function, in[0][i], in[1][i]);
      const int64_t stride = loop.inner_stride(0);
      write(p.out, at[0] + first * stride, stride, count, p.compute, result);
    }
  };
  parallel_for(0, p.numel, kSpecialGrain,
               [&](int64_t begin, int64_t end) { loop.walk(begin, end, run_line); });
}

}  // namespace hearth::cpu

// arange and linspace: element i is computed from i alone. The threads divide the elements.
// Integers are bound by a multiplication and a store for each, floating-point numbers by a fused
// multiply-add, which the base instruction set of x86-64 lacks.
#include "seam/range.h"

#include <type_traits>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "kernels/draws.h"

namespace hearth::cpu {

namespace {

/// out[i] = value(i), i in row-major order.
template <class T, class F>
void fill(const View& out, const F& value) {
  const StridedLoop<1> loop({&out});
  const int64_t stride = loop.inner_stride(0);
  parallel_for(0, out.numel, kMoveGrain, [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    loop.walk(begin, end, [&](const int64_t* offset, int64_t count) {
      T* to = out.as<T>() + *offset;
      for (const int64_t last = i + count; i < last; ++i, to += stride) *to = value(i);
    });
  });
}

template <class T>
void arange(const RangeParams& params) {
  if constexpr (is_integral(dtype_of<T>, true)) {
    const auto start = static_cast<uint64_t>(params.istart);
    const auto step = static_cast<uint64_t>(params.istep);
    fill<T>(params.out, [=](int64_t i) {
      return static_cast<T>(static_cast<int64_t>(start + static_cast<uint64_t>(i) * step));
    });
  } else {
    const double start = params.start, step = params.step;
    fill<T>(params.out,
            [=](int64_t i) { return static_cast<T>(fused(step, static_cast<double>(i), start)); });
  }
}

/// Float and the half types are computed in float, all other types in double.
template <class T>
void linspace(const RangeParams& params) {
  using Compute =
      std::conditional_t<is_integral(dtype_of<T>, true), double, typename DrawTypes<T>::Compute>;
  const int64_t last = params.out.numel - 1;
  const Compute start = static_cast<T>(static_cast<Compute>(params.start));
  const Compute end = static_cast<T>(static_cast<Compute>(params.end));
  const Compute step = (end - start) / static_cast<Compute>(last);
  fill<T>(params.out, [=](int64_t i) {
    if (last == 0) return static_cast<T>(start);
    if (i < (last + 1) / 2) return static_cast<T>(fused(step, static_cast<Compute>(i), start));
    return static_cast<T>(fused(-step, static_cast<Compute>(last - i), end));
  });
}

}  // namespace

void run(const RangeParams& params, Ctx&) {
  with_dtype(params.out.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (!is_complex(dtype_of<T>))
      params.kind == RangeParams::Kind::kArange ? arange<T>(params) : linspace<T>(params);
  });
}

}  // namespace hearth::cpu

// arange and linspace: element i is computed from i alone. The threads divide the elements.
// Contiguous float32 and float64 are computed by vectors (range_loops.h), other elements one by
// one: integers are bound by a multiplication and a store for each, half types and strided floats
// by a call of fma, which the base instruction set of x86-64 lacks.
#include "seam/range.h"

#include <algorithm>
#include <type_traits>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/range_kernels.h"
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

const RangeTable& range_loops() { return HEARTH_ISA_TABLE(range_table); }

/// The loop over vectors for elements of type T that are computed in Compute; null if there is
/// none.
template <class T, class Compute>
auto fill_of() {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Compute, float>)
    return range_loops().floats;
  else if constexpr (std::is_same_v<T, float> && std::is_same_v<Compute, double>)
    return range_loops().floats_of_doubles;
  else if constexpr (std::is_same_v<T, double> && std::is_same_v<Compute, double>)
    return range_loops().doubles;
  else
    return nullptr;
}

/// Writes a contiguous range of 2 to kMaxPosition elements with vectors: up to `half` as step * i +
/// start, from there on as end - step * (last - i), where `last` is the last i. Returns false,
/// without an effect, for other ranges and types.
template <class T, class Compute>
bool fill_by_vectors(const View& out, Compute step, Compute start, int64_t half, Compute end) {
  const auto fill = fill_of<T, Compute>();
  if constexpr (!std::is_null_pointer_v<decltype(fill)>) {
    if (!out.contiguous() || out.numel < 2 || out.numel > kMaxPosition) return false;
    parallel_for(0, out.numel, kMoveGrain, [&](int64_t begin, int64_t stop) {
      T* const to = out.as<T>();
      const int64_t middle = std::clamp(half, begin, stop);
      fill(to + begin, {step, start, begin, 1, middle - begin});
      fill(to + middle, {-step, end, out.numel - 1 - middle, -1, stop - middle});
    });
    return true;
  }
  return false;
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
    if (fill_by_vectors<T>(params.out, step, start, params.out.numel, start)) return;
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
  if (fill_by_vectors<T>(params.out, step, start, params.out.numel / 2, end)) return;
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

// Largest or smallest elements along a dimension and their indices, by reduce_tiles.cuh.
#include "seam/minmax_dim.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/reduce_tiles.cuh"

namespace hearth::cuda {

namespace {

/// The largest or smallest element and its first index; the first NaN precedes all numbers.
template <class T>
struct MinMaxOp {
  static constexpr int kInputs = 1, kOutputs = 2, kChains = 1;
  using C = Register<T>;
  struct State {
    C value;
    int64_t index;  // -1: no element yet
  };
  const char* in;
  T* values;         // may be null
  int64_t* indices;  // may be null
  bool largest;

  __device__ State start() const { return {C{}, -1}; }
  __device__ bool precedes(const State& a, const State& b) const {
    if (a.index < 0 || b.index < 0) return b.index < 0;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan;
    if (a_nan || a.value == b.value) return a.index < b.index;
    return largest ? a.value > b.value : a.value < b.value;
  }
  __device__ void add(State& state, const int64_t (&offsets)[1], int64_t r, int64_t) const {
    const State element{to_register(*reinterpret_cast<const T*>(in + offsets[0])), r};
    if (precedes(element, state)) state = element;
  }
  __device__ State merge(const State& a, const State& b) const { return precedes(a, b) ? a : b; }
  __device__ void store(int64_t, const int64_t (&offsets)[3], const State& state) const {
    if (values != nullptr)
      *reinterpret_cast<T*>(reinterpret_cast<char*>(values) + offsets[1]) =
          to_element<T>(state.value);
    if (indices != nullptr)
      *reinterpret_cast<int64_t*>(reinterpret_cast<char*>(indices) + offsets[2]) = state.index;
  }
};

/// Adds an output, which may be undefined, to a loop over the input's sizes.
void add_output(Loop& loop, const View& output) {
  constexpr int64_t kZeroStrides[kMaxDims] = {};
  if (output.defined())
    loop.add(output);
  else
    loop.add(kZeroStrides, 0);
}

template <class T>
void run_typed(const MinMaxDimParams& params, const Loop& kept, const Loop& reduced, Ctx& ctx) {
  const MinMaxOp<T> op{static_cast<const char*>(params.in.data),
                       params.values.defined() ? params.values.as<T>() : nullptr,
                       params.indices.defined() ? params.indices.as<int64_t>() : nullptr,
                       params.largest};
  launch_reduction(op, kept, reduced, ctx);
}

}  // namespace

void run(const MinMaxDimParams& params, Ctx& ctx) {
  Loop whole(params.in.dim, params.in.sizes);
  whole.add(params.in);
  add_output(whole, params.values);
  add_output(whole, params.indices);
  bool keep[kMaxDims];
  for (int d = 0; d < whole.dim; ++d) keep[d] = d != params.dim;
  Loop kept = select_dims(whole, keep, false), reduced = select_dims(whole, keep, true);
  kept.sort();
  reduced.operands = 1;
  switch (params.in.dtype) {
#define HEARTH_MINMAX(T, Name)                                                                    \
  case ScalarType::Name:                                                                          \
    if constexpr (!is_complex(ScalarType::Name)) return run_typed<T>(params, kept, reduced, ctx); \
    break;
    HEARTH_CUDA_DTYPES(HEARTH_MINMAX)
#undef HEARTH_MINMAX
    default: break;
  }
  detail::fail<Error>("\"max_dim\" not implemented for '", name_of(params.in.dtype), "'");
}

}  // namespace hearth::cuda

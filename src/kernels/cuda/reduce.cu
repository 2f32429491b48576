// Sums, norms and other reductions by a functor, with the kernels of reduce_tiles.cuh.
#include "seam/reduce.h"

#include <utility>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/reduce_tiles.cuh"

namespace hearth::cuda {

namespace {

/// Stands for an input dtype that is known at run time only.
struct AnyElement {};

template <class C, int parts>
struct ReduceState {
  C part[parts];
};

/// A reduction functor over elements of type T, computed in C.
template <class F, class C, class T>
struct ReduceOp {
  static constexpr bool kAny = std::is_same_v<T, AnyElement>;
  static constexpr int kInputs = 1, kOutputs = 1, kChains = kAny ? 1 : 4, kParts = fn::parts<F>;
  using State = ReduceState<C, kParts>;
  F f;
  const char* in;
  char* out;
  ScalarType in_dtype, out_dtype;

  __device__ static fn::State<Lane<C>, kParts> lanes(const State& state) {
    fn::State<Lane<C>, kParts> result;
#pragma unroll
    for (int p = 0; p < kParts; ++p) result.part[p] = Lane<C>(state.part[p]);
    return result;
  }
  __device__ static State plain(const fn::State<Lane<C>, kParts>& state) {
    State result;
#pragma unroll
    for (int p = 0; p < kParts; ++p) result.part[p] = state.part[p].v;
    return result;
  }

  template <int... p>
  __device__ static State start(std::integer_sequence<int, p...>) {
    return {{fn::start_value<C>(std::integral_constant<fn::Start, F::start[p]>::value)...}};
  }
  __device__ State start() const { return start(std::make_integer_sequence<int, kParts>{}); }
  __device__ void add(State& state, const int64_t (&offsets)[1], int64_t, int64_t) const {
    C value;
    if constexpr (kAny)
      value = load_as<C>(in + offsets[0], in_dtype);
    else
      value = to_register(*reinterpret_cast<const T*>(in + offsets[0]));
    state = plain(f.combine(lanes(state), Lane<C>(value)));
  }
  __device__ State merge(const State& a, const State& b) const {
    return plain(f.merge(lanes(a), lanes(b)));
  }
  __device__ void store(int64_t, const int64_t (&offsets)[2], const State& state) const {
    store_as<C>(out + offsets[1], out_dtype, f.finish(lanes(state)).v);
  }
};

struct ReduceLoops {
  Loop kept, reduced;
};

ReduceLoops loops_of(const ReduceParams& params) {
  Loop whole(params.in.dim, params.in.sizes);
  whole.add(params.in);
  whole.add(params.out);
  bool keep[kMaxDims];
  for (int d = 0; d < whole.dim; ++d) keep[d] = params.out.sizes[d] == params.in.sizes[d];
  ReduceLoops loops{select_dims(whole, keep, false), select_dims(whole, keep, true)};
  loops.kept.sort();
  loops.reduced.operands = 1;
  loops.reduced.sort();
  return loops;
}

template <class F, class C, class T>
ReduceOp<F, C, T> reduce_op(const ReduceParams& params) {
  ReduceOp<F, C, T> op{F{}, params.in.as<const char>(), params.out.as<char>(), params.in.dtype,
                       params.out.dtype};
  if constexpr (!std::is_empty_v<F>)
    std::memcpy(static_cast<void*>(&op.f), params.parameters, sizeof(F));
  return op;
}

template <class F, class C, class T>
void run_typed(const ReduceParams& params, Ctx& ctx) {
  const ReduceLoops loops = loops_of(params);
  launch_reduction(reduce_op<F, C, T>(params), reduce_op<F, C, AnyElement>(params), loops.kept,
                   loops.reduced, ctx);
}

/// Floating inputs that are computed in float, the most frequent ones, have kernels for their
/// dtypes; all others share a kernel that converts at run time.
template <class F, class C>
void run_computed(const ReduceParams& params, Ctx& ctx) {
  if constexpr (std::is_same_v<C, float>) {
    if (params.in.dtype == kFloat) return run_typed<F, C, float>(params, ctx);
    if (params.in.dtype == kHalf) return run_typed<F, C, Half>(params, ctx);
    if (params.in.dtype == kBFloat16) return run_typed<F, C, BFloat16>(params, ctx);
  }
  run_typed<F, C, AnyElement>(params, ctx);
}

template <class F>
void run_functor(const ReduceParams& params, Ctx& ctx) {
  switch (params.compute) {
#define HEARTH_REDUCE_IN(T, Name)                                                  \
  case ScalarType::Name:                                                           \
    if constexpr ((F::info.dtypes >> static_cast<int>(ScalarType::Name) & 1) != 0) \
      return run_computed<F, T>(params, ctx);                                      \
    break;
    HEARTH_CUDA_DTYPES(HEARTH_REDUCE_IN)
#undef HEARTH_REDUCE_IN
    default: break;
  }
  detail::fail<Error>("\"", F::info.name, "\" not implemented for '", name_of(params.compute), "'");
}

using FunctorFn = void (*)(const ReduceParams&, Ctx&);

template <class... F>
FunctorFn functor_fn(int number, List<F...>) {
  static constexpr FunctorFn functors[] = {&run_functor<F>...};
  return functors[number];
}

}  // namespace

void run(const ReduceParams& params, Ctx& ctx) {
  functor_fn(params.functor, fn::Reductions{})(params, ctx);
}

}  // namespace hearth::cuda

#include "kernels/reduce.h"

#include <utility>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/reduce_tiles.cuh"

namespace hearth::cuda {

namespace {

/// Marks inputs of whatever dtype.
struct AnyElement {};

/// A reduction functor over elements of type T, computed in C.
template <class F, class C, class T>
struct ReduceOp {
  static constexpr int kInputs = 1, kOutputs = 1, kParts = fn::parts<F>;
  struct State {
    C part[kParts];
  };
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
  __device__ void add(State& state, const int64_t (&offsets)[1], int64_t) const {
    C value;
    if constexpr (std::is_same_v<T, AnyElement>)
      value = load_as<C>(in + offsets[0], in_dtype);
    else
      value = to_register(*reinterpret_cast<const T*>(in + offsets[0]));
    state = plain(f.combine(lanes(state), Lane<C>(value)));
  }
  __device__ State merge(const State& a, const State& b) const {
    return plain(f.merge(lanes(a), lanes(b)));
  }
  __device__ void store(int64_t, const int64_t (&offsets)[1], const State& state) const {
    store_as<C>(out + offsets[0], out_dtype, f.finish(lanes(state)).v);
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
  ReduceLoops loops{part_of(whole, keep, false), part_of(whole, keep, true)};
  loops.kept.sort();
  loops.reduced.operands = 1;
  loops.reduced.sort();
  return loops;
}

template <class F, class C, class T>
void run_typed(const ReduceParams& params, Ctx& ctx) {
  ReduceOp<F, C, T> op{F{}, static_cast<const char*>(params.in.data), static_cast<char*>(params.out.data),
                       params.in.dtype, params.out.dtype};
  std::memcpy(static_cast<void*>(&op.f), params.parameters, sizeof(F));
  const ReduceLoops loops = loops_of(params);
  launch_reduction(op, loops.kept, loops.reduced, ctx);
}

/// Elements that are computed in C without a conversion have kernels of their own.
template <class F, class C>
void run_computed(const ReduceParams& params, Ctx& ctx) {
  switch (params.in.dtype) {
#define HEARTH_REDUCE_FROM(T, Name)                                                       \
  case ScalarType::Name:                                                                  \
    if constexpr (std::is_same_v<Register<T>, C>) return run_typed<F, C, T>(params, ctx); \
    break;
    HEARTH_DTYPES(HEARTH_REDUCE_FROM)
#undef HEARTH_REDUCE_FROM
    default: break;
  }
  run_typed<F, C, AnyElement>(params, ctx);
}

template <class F>
void run_functor(const ReduceParams& params, Ctx& ctx) {
  switch (params.compute) {
#define HEARTH_REDUCE_IN(T, Name)                                                     \
  case ScalarType::Name:                                                              \
    if constexpr ((F::info.dtypes >> static_cast<int>(ScalarType::Name) & 1) != 0)    \
      return run_computed<F, T>(params, ctx);                                         \
    break;
    HEARTH_DTYPES(HEARTH_REDUCE_IN)
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

void run(const ReduceParams& params, Ctx& ctx) { functor_fn(params.functor, fn::Reductions{})(params, ctx); }

}  // namespace hearth::cuda

#pragma once

// The two kernels behind every pointwise functor, and the table rows of a family of functors. Each
// thread has 16 bytes of each operand at a time if all are contiguous, aligned and of the compute
// dtype, else one element. Bound by memory traffic, since each operand is read and the result
// written once, and for transcendental functions of doubles by arithmetic.

#include <utility>

#include "functors/traits.h"
#include "kernels/cuda/convert.h"
#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/pointwise.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

/// The plain value of a formula's result: a C, or a bool for a mask.
template <class C>
HEARTH_LANE C value_of(Lane<C> lane) {
  return lane.v;
}
HEARTH_LANE bool value_of(Mask mask) { return mask.v; }

/// Evaluates a formula of f on values in registers.
template <int formula, class F, class C, int n, int... k>
__device__ __forceinline__ auto apply(const F& f, const C (&values)[n],
                                      std::integer_sequence<int, k...>) {
  return value_of(fn::evaluate<formula>(f, Lane<C>(values[k])...));
}

template <class C>
__device__ __forceinline__ C number_of(const KernelInput& in) {
  return *reinterpret_cast<const C*>(in.number);
}

template <class T, int kWide>
__device__ __forceinline__ void load_wide(const KernelInput& in, int64_t start,
                                          Register<T> (&values)[kWide]) {
  if (in.data == nullptr) {
#pragma unroll
    for (int e = 0; e < kWide; ++e) values[e] = number_of<Register<T>>(in);
    return;
  }
  const auto pack =
      *reinterpret_cast<const Pack<T, kWide>*>(reinterpret_cast<const T*>(in.data) + start);
#pragma unroll
  for (int e = 0; e < kWide; ++e) values[e] = to_register(pack.v[e]);
}

/// Computes kWide elements from `start`.
template <class F, int formula, class T, int kWide>
__device__ __forceinline__ void contiguous_step(const F& f, const ContiguousArgs& args,
                                                int64_t start) {
  constexpr int n = fn::operands<F, formula>;
  using C = Register<T>;
  using Sequence = std::make_integer_sequence<int, n>;
  using Result = decltype(apply<formula>(f, std::declval<const C(&)[n]>(), Sequence{}));
  using Out = std::conditional_t<std::is_same_v<Result, C>, T, Result>;
  C values[n][kWide];
#pragma unroll
  for (int k = 0; k < n; ++k) load_wide<T, kWide>(args.in[k], start, values[k]);
  Pack<Out, kWide> results;
#pragma unroll
  for (int e = 0; e < kWide; ++e) {
    C element[n];
#pragma unroll
    for (int k = 0; k < n; ++k) element[k] = values[k][e];
    results.v[e] = to_element<Out>(apply<formula>(f, element, Sequence{}));
  }
  *reinterpret_cast<Pack<Out, kWide>*>(static_cast<Out*>(args.out) + start) = results;
}

/// For contiguous, aligned operands of dtype T; 16 bytes of each operand at a time.
template <class F, int formula, class T>
__global__ void __launch_bounds__(kBlock)
    contiguous_kernel(const __grid_constant__ F f, const __grid_constant__ ContiguousArgs args) {
  constexpr int kWide = kWideBytes / sizeof(T);
  const int64_t first = int64_t{blockIdx.x} * kBlock + threadIdx.x,
                step = int64_t{gridDim.x} * kBlock;
  const int64_t packs = args.numel / kWide;
  for (int64_t i = first; i < packs; i += step)
    contiguous_step<F, formula, T, kWide>(f, args, i * kWide);
  const int64_t tail = packs * kWide + first;
  if (tail < args.numel) contiguous_step<F, formula, T, 1>(f, args, tail);
}

/// For operands of any dtypes and strides; computes in C.
template <class F, int formula, class C>
__global__ void __launch_bounds__(kBlock)
    strided_kernel(const __grid_constant__ F f, const __grid_constant__ StridedArgs args) {
  constexpr int n = fn::operands<F, formula>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[n + 1];
    args.offsets.find(i, offsets);
    C values[n];
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const KernelInput& in = args.in[k];
      values[k] = in.data == nullptr
                      ? number_of<C>(in)
                      : round_to(load_as<C>(in.data + offsets[k + 1], in.dtype), args.compute);
    }
    const auto result = apply<formula>(f, values, std::make_integer_sequence<int, n>{});
    store_as(args.out + offsets[0], args.out_dtype, round_to(result, args.compute));
  }
}

/// Whether a formula of F is computed in a dtype.
template <class F, int formula>
constexpr bool is_computed_in(ScalarType dtype) {
  const DtypeSet set = formula == 0 ? F::info.dtypes : F::info.dtypes & dtypes::kFloating;
  return (set >> static_cast<int>(dtype) & 1) != 0;
}

template <class F, int formula>
FormulaKernels kernels_of() {
  FormulaKernels kernels{};
  if constexpr (fn::has_formula<F, formula>) {
#define HEARTH_FORMULA(T, Name)                                                                  \
  if constexpr (is_computed_in<F, formula>(ScalarType::Name)) {                                  \
    constexpr int type = static_cast<int>(ScalarType::Name);                                     \
    kernels.contiguous[type] = reinterpret_cast<const void*>(&contiguous_kernel<F, formula, T>); \
    kernels.strided[type] =                                                                      \
        reinterpret_cast<const void*>(&strided_kernel<F, formula, Register<T>>);                 \
  }
    HEARTH_CUDA_DTYPES(HEARTH_FORMULA)
#undef HEARTH_FORMULA
  }
  return kernels;
}

template <class F>
FunctorRow row_of() {
  static_assert(sizeof(F) <= kFunctorBytes && std::is_trivially_copyable_v<F>);
  constexpr bool returns_bool = F::info.promote == Promote::kToBool;
  return {F::info.name,
          returns_bool,
          {kernels_of<F, 0>(), kernels_of<F, 1>(), kernels_of<F, 2>(), kernels_of<F, 3>()}};
}

/// The rows of a list of functors.
template <class... F>
const FunctorRow* rows_of(List<F...>) {
  static const FunctorRow rows[] = {row_of<F>()...};
  return rows;
}

}  // namespace hearth::cuda

/// Defines the rows of the functors in fn::Family; each family has a source of its own.
#define HEARTH_POINTWISE_FAMILY(Family)                                  \
  const ::hearth::cuda::FunctorRow* ::hearth::cuda::rows_of_##Family() { \
    return rows_of(::hearth::fn::Family{});                              \
  }

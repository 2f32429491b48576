#pragma once

// The one header functors include: no standard library, so that the same text compiles into every
// per-target SIMD unit, into CUDA kernels and with V = TensorValue.

#if defined(__CUDACC__)
#define HEARTH_FN __host__ __device__ __forceinline__ constexpr
#else
#define HEARTH_FN [[gnu::always_inline]] inline constexpr
#endif

namespace hearth {

using DtypeSet = unsigned;  // bit i: the ScalarType with number i

namespace dtypes {
inline constexpr DtypeSet kIntegers = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4;
inline constexpr DtypeSet kBool = 1u << 11;
inline constexpr DtypeSet kLong = 1u << 4;
inline constexpr DtypeSet kHalfs = 1u << 5 | 1u << 15;
inline constexpr DtypeSet kFloatAndDouble = 1u << 6 | 1u << 7;
inline constexpr DtypeSet kFloating = kHalfs | kFloatAndDouble;
inline constexpr DtypeSet kComplex = 1u << 9 | 1u << 10;
inline constexpr DtypeSet kReal = kIntegers | kFloating;
inline constexpr DtypeSet kRealAndBool = kReal | kBool;
inline constexpr DtypeSet kNumbers = kReal | kComplex;
inline constexpr DtypeSet kAll = kNumbers | kBool;
}  // namespace dtypes

// g++ 12 takes these scoped names for shadows of the ScalarTypes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

/// What autocast does with the op's floating inputs (PyTorch's op lists say which ops get what).
enum class Amp : unsigned char {
  kKeep,     // runs in whatever dtype comes in
  kLower,    // matmul, convolution: casts to the autocast dtype
  kFloat32,  // softmax, norms, losses: casts to float32
  kWidest,   // several inputs of one dtype: casts to the widest of them
};

/// How the dtype of a pointwise op's computation and result follows from its inputs.
enum class Promote : unsigned char {
  kCommon,  // PyTorch's promotion over all inputs
  kFloat,   // as kCommon, then integers become the default float
  kToBool,  // computed as kCommon, the result is bool
};

#pragma GCC diagnostic pop

/// What an op does beyond computing its outputs from its inputs.
enum class Effect : unsigned char {
  kPure,
  kView,          // the outputs are views of input 0; no launch
  kRandom,        // draws from a generator
  kDynamicShape,  // an output's shape depends on data: launch waits for the device
};

/// Sets of an op's inputs and outputs: bits 0 to 47 are inputs, 48 to 63 outputs. The last bit of
/// each stands for the rest of a longer list.
using SlotSet = unsigned long long;
HEARTH_FN SlotSet in_slot(int i) { return SlotSet(1) << (i < 47 ? i : 47); }
HEARTH_FN SlotSet out_slot(int i) { return SlotSet(1) << (i < 15 ? 48 + i : 63); }

/// All facts about an op that others ask for: errors, profiler, grad_fn names, autocast, tests.
struct OpInfo {
  const char* name = "";
  const char* overload = "";   // tells apart the ops behind one function: div, div.trunc, div.floor
  const char* node = "";       // grad_fn is <node>Backward0; empty: the name, capitalised
  const char* arguments = "";  // of the tensor inputs, for errors; empty: self, other, …
  DtypeSet dtypes = dtypes::kAll;
  Promote promote = Promote::kCommon;
  Amp amp = Amp::kKeep;  // on CUDA
  Amp amp_cpu = amp;     // PyTorch's lists differ
  Effect effect = Effect::kPure;
  SlotSet saves = 0;          // of kernel ops; a pointwise functor's are found by running its grad
  SlotSet shapes = 0;         // inputs whose sizes backward reads though they may need no gradient
  SlotSet optional = 0;       // inputs that may be undefined
  unsigned char outputs = 1;  // 0: as many as infer sets
  SlotSet non_differentiable = 0;  // outputs that never require grad
  bool runs_inplace = false;   // launch copes with output 0 being input 0 (pointwise ops always do)
  bool mixes_devices = false;  // inputs may live on different devices (copies)
  bool fills = false;  // in place: one number for all elements, so that they may share memory
  bool always_launches = false;  // launch checks indices, so it runs for empty outputs too
  bool grad_of_output = false;   // pointwise: grad's arguments are (g, y) instead of (g, x...)
  bool piecewise_linear =
      false;  // pointwise: the second derivative is zeros, as in PyTorch, not undefined
};

// What a formula may use. V is a class (a SIMD vector, one CUDA lane, a Tensor, a Probe) with an
// implicit constructor from any arithmetic type, the operators + - * / and comparisons, masks
// combined with & | !, select(mask, a, b), the member constant kIntegral, and these functions,
// found by argument-dependent lookup. Every V implements the whole list.
#define HEARTH_VALUE_UNARY(X) \
  X(abs)                      \
  X(sqrt)                     \
  X(rsqrt)                    \
  X(exp)                      \
  X(exp2)                     \
  X(expm1)                    \
  X(log)                      \
  X(log2)                     \
  X(log10)                    \
  X(log1p)                    \
  X(sigmoid)                  \
  X(sinh)                     \
  X(cosh)                     \
  X(tanh)                     \
  X(erf)                      \
  X(erfc)                     \
  X(special_ndtr)             \
  X(gelu)                     \
  X(sin)                      \
  X(cos)                      \
  X(floor)                    \
  X(ceil)                     \
  X(round)                    \
  X(trunc)
#define HEARTH_VALUE_BINARY(X) \
  X(minimum)                   \
  X(maximum)                   \
  X(pow)                       \
  X(atan2)                     \
  X(fmod)
#define HEARTH_VALUE_TESTS(X) \
  X(isnan)                    \
  X(isinf)                    \
  X(signbit)

/// A factor such as add's alpha, kept both ways so that integers stay exact.
struct Factor {
  double real = 1;
  long long integer = 1;
  template <class V>
  HEARTH_FN V as(V) const {
    if constexpr (V::kIntegral)
      return V(integer);
    else
      return V(real);
  }
};

template <class F, class T, class... Rest>
constexpr void visit_fields(F& visit, const char* names, const T& first, const Rest&... rest) {
  int length = 0;
  while (names[length] != 0 && names[length] != ',') ++length;
  visit(names, length, first);
  if constexpr (sizeof...(Rest) > 0) visit_fields(visit, names + length + 2, rest...);
}

/// Names the members of an op's arguments (or of a functor), for those who print or export a call:
/// fields(f) calls f(name, length, value) for each.
#define HEARTH_FIELDS(...)                                    \
  template <class F>                                          \
  constexpr void fields(F& visit) const {                     \
    ::hearth::visit_fields(visit, #__VA_ARGS__, __VA_ARGS__); \
  }

/// A compile-time list of functor types; its order is the numbering of a kernel table.
template <class... F>
struct List {
  static constexpr int size = sizeof...(F);
};

namespace fn {

namespace detail {

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

template <class F, class L>
struct IndexOf;
template <class F, class... A>
struct IndexOf<F, List<A...>> {
  static constexpr int find() {
    int i = 0;
    const bool found = ((kSame<F, A> ? true : (++i, false)) || ...);
    return found ? i : -1;
  }
};

}  // namespace detail

/// The place of F in the list L; -1 if it is missing there.
template <class F, class L>
inline constexpr int index_of = detail::IndexOf<F, L>::find();

}  // namespace fn

}  // namespace hearth

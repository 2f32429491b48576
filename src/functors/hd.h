#pragma once

// The header that all functors include. It uses no standard library, so that functors compile in
// CUDA kernels and for every instruction set.

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

// g++ 12 warns that these scoped names shadow the ScalarTypes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

/// How autocast treats an op's floating inputs, from PyTorch's op lists.
enum class Amp : unsigned char {
  kKeep,     // keeps their dtypes
  kLower,    // casts to the autocast dtype: matmul, convolution
  kFloat32,  // casts to float32: softmax, norms, losses
  kWidest,   // casts to the widest of their dtypes: ops whose inputs must have one dtype
};

/// How a pointwise op's compute dtype and result dtype follow from its inputs.
enum class Promote : unsigned char {
  kCommon,  // PyTorch's promotion over all inputs
  kFloat,   // as kCommon, but the default float dtype for integers
  kToBool,  // computed as kCommon; the result is bool
};

#pragma GCC diagnostic pop

/// How backward treats calls with complex inputs or results.
enum class ComplexGrad : unsigned char {
  kRefused,
  kAnalytic,  // the formula of the real gradient holds if it reads conjugated inputs and outputs
  kOwn,       // the formula itself is written for complex numbers
};

/// The effect of an op besides computing new outputs from its inputs.
enum class Effect : unsigned char {
  kPure,
  kView,          // the outputs are views of input 0; no launch
  kRandom,        // draws from a generator
  kDynamicShape,  // an output's shape depends on data: launch waits for the device
};

/// The treatment of an input that certainly shares memory with the target of an in-place or out=
/// form, as in PyTorch. Self, input 0, is excepted in in-place forms of ops that are not pointwise.
enum class Sharing : unsigned char {
  kTemporary,    // the result is computed in a temporary
  kElementwise,  // refused, unless the input is the target itself: always so if pointwise
  kAtIndices,    // refused
};

/// A set of inputs and outputs of an op: bits 0 to 47 are inputs, 48 to 63 outputs. In a longer
/// list, the last bit stands for all remaining ones.
using SlotSet = unsigned long long;
inline constexpr int kLastInputSlot = 47;
HEARTH_FN SlotSet in_slot(int i) { return SlotSet(1) << (i < kLastInputSlot ? i : kLastInputSlot); }
HEARTH_FN SlotSet out_slot(int i) { return SlotSet(1) << (i < 15 ? 48 + i : 63); }

/// The properties of an op, for dispatch, autograd, autocast, error texts, profilers and tests.
struct OpInfo {
  const char* name = "";
  const char* overload = "";   // distinguishes ops of one name: div, div.trunc, div.floor
  const char* node = "";       // grad_fn is <node>Backward0; empty: the name, capitalised
  const char* arguments = "";  // names of the tensor inputs, for errors; empty: self, other, …
  DtypeSet dtypes = dtypes::kAll;
  DtypeSet cpu_dtypes = 0;  // further dtypes, which only the CPU's kernels have
  Promote promote = Promote::kCommon;
  Amp amp = Amp::kKeep;  // on CUDA
  Amp amp_cpu = amp;     // on the CPU, where PyTorch's op lists differ
  Effect effect = Effect::kPure;
  SlotSet saves = 0;          // read by backward; pointwise ops find theirs by probing (traits.h)
  SlotSet shapes = 0;         // inputs whose metadata backward reads even if they need no gradient
  SlotSet optional = 0;       // inputs that may be undefined
  unsigned char outputs = 1;  // 0: as many as infer sets
  SlotSet non_differentiable = 0;  // outputs that never require grad
  SlotSet exact_numbers = 0;       // pointwise: inputs whose numbers are not rounded to half types
  SlotSet exact_numbers_cpu = exact_numbers;  // on the CPU, where PyTorch's kernels differ
  // Also HEARTH_STORED_DTYPES: as bytes or, if pointwise, as signed integers or float32 numbers.
  bool accepts_stored = false;
  bool runs_inplace = false;   // launch allows output 0 to be input 0 (always so if pointwise)
  bool linear = false;         // in input 0, although the derivative ignores parts of the gradient
  bool mixes_devices = false;  // inputs may be on different devices: copies, optimizers
  Sharing sharing = Sharing::kTemporary;
  bool accepts_expanded = false;  // the in-place form accepts a self whose elements share memory
  bool always_launches = false;   // reads the inputs' data even if no output has elements
  bool grad_of_output = false;    // pointwise: grad's arguments are (g, y) instead of (g, x...)
  bool piecewise_linear = false;  // pointwise: second derivatives are zeros, not undefined
  ComplexGrad complex_grad = ComplexGrad::kRefused;  // pointwise: counts as kAnalytic
};

// The operations that a formula may use. V is a class (a SIMD vector, one CUDA lane, a complex
// number, a TensorValue, a Probe) with an implicit constructor from any arithmetic type, the
// operators + - * / and comparisons, masks combined with & | !, select(mask, a, b), the member
// constant kIntegral, and these functions, found by argument-dependent lookup. Every V implements
// all of them, except complex numbers: these have no order and only the functions in
// kernels/cpu/complex_math.h, among them conj(a). Integers also have quotient, shift_left,
// shift_right and the operators & | ^ ~.
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

/// Zero, even where g is infinite or NaN: the gradient of a function with steps. TensorValue has
/// its own overload.
template <class V>
HEARTH_FN V zero_like(V) {
  return V(0);
}

/// x as a constant. TensorValue has its own overload, which has no derivative.
template <class V>
HEARTH_FN V constant(V x) {
  return x;
}

/// Whether V is a complex number.
template <class V>
constexpr bool is_complex_value() {
  if constexpr (requires { V::kComplex; })
    return V::kComplex;
  else
    return false;
}

/// A parameter such as threshold's, stored as a real number and as an integer, so that integers
/// stay exact.
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

/// A factor such as add's alpha, which may be complex.
struct ComplexFactor : Factor {
  double imag = 0;
  template <class V>
  HEARTH_FN V as(V v) const {
    if constexpr (requires { V::from_parts(real, imag); })
      return V::from_parts(real, imag);
    else
      return Factor::as(v);
  }
};

/// Calls visit(name, length of the name, value) for each value; `names` lists the values' names,
/// separated by ", ".
template <class F, class T, class... Rest>
constexpr void visit_fields(F& visit, const char* names, const T& first, const Rest&... rest) {
  int length = 0;
  while (names[length] != 0 && names[length] != ',') ++length;
  visit(names, length, first);
  if constexpr (sizeof...(Rest) > 0) visit_fields(visit, names + length + 2, rest...);
}

/// Lists the members of an op's arguments (or of a functor), so that a call can be printed or
/// exported: fields(f) calls f(name, length, value) for each member.
#define HEARTH_FIELDS(...)                                    \
  template <class F>                                          \
  constexpr void fields(F& visit) const {                     \
    ::hearth::visit_fields(visit, #__VA_ARGS__, __VA_ARGS__); \
  }

/// A compile-time list of functor types; their order defines their numbers in a kernel table.
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

/// The position of F in the list L; -1 if L does not contain F.
template <class F, class L>
inline constexpr int index_of = detail::IndexOf<F, L>::find();

}  // namespace fn

}  // namespace hearth

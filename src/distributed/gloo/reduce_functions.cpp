#include "distributed/gloo/reduce_functions.h"

#include <type_traits>

namespace hearth::distributed {

namespace {

template <class T, class F>
void combine(void* out, const void* a, const void* b, size_t n) {
  T* const to = static_cast<T*>(out);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<T>(F()(x[i], y[i]));
}

// The type in which sums and products of T are computed: float for half types; unsigned for bool
// and for integers, so that they wrap around.
template <class T>
struct Computed {
  using type = float;
};
template <class T>
requires std::is_floating_point_v<T>
struct Computed<T> {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct Computed<T> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};

template <class T>
struct Sum {
  using C = typename Computed<T>::type;
  C operator()(T a, T b) const { return static_cast<C>(a) + static_cast<C>(b); }
};
template <>
struct Sum<bool> {
  bool operator()(bool a, bool b) const { return a || b; }
};
template <class T>
struct Product {
  using C = typename Computed<T>::type;
  C operator()(T a, T b) const { return static_cast<C>(a) * static_cast<C>(b); }
};
// NaN wins.
template <class T>
struct Min {
  T operator()(T a, T b) const { return a != a || a < b ? a : b; }
};
template <class T>
struct Max {
  T operator()(T a, T b) const { return a != a || b < a ? a : b; }
};
template <class T>
struct And {
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T>
struct Or {
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T>
struct Xor {
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

template <class T>
ReduceFunction function_for(ReduceOp op) {
  switch (op.op_) {
    case ReduceOp::SUM: return combine<T, Sum<T>>;
    case ReduceOp::PRODUCT: return combine<T, Product<T>>;
    case ReduceOp::MIN: return combine<T, Min<T>>;
    case ReduceOp::MAX: return combine<T, Max<T>>;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op.op_) {
      case ReduceOp::BAND: return combine<T, And<T>>;
      case ReduceOp::BOR: return combine<T, Or<T>>;
      case ReduceOp::BXOR: return combine<T, Xor<T>>;
      default: break;
    }
  }
  return nullptr;
}

}  // namespace

ReduceFunction reduce_function(ReduceOp op, ScalarType dtype) {
  switch (dtype) {
    case kBool: return function_for<bool>(op);
    case kByte: return function_for<uint8_t>(op);
    case kChar: return function_for<int8_t>(op);
    case kShort: return function_for<int16_t>(op);
    case kInt: return function_for<int32_t>(op);
    case kLong: return function_for<int64_t>(op);
    case kHalf: return function_for<Half>(op);
    case kBFloat16: return function_for<BFloat16>(op);
    case kFloat: return function_for<float>(op);
    case kDouble: return function_for<double>(op);
    default: return nullptr;
  }
}

}  // namespace hearth::distributed

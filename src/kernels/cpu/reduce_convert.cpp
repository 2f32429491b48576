#include "kernels/cpu/reduce_convert.h"

#include <type_traits>

namespace hearth::cpu {

namespace {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<complex<T>> = true;

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>)
    return convert<To>(float(x));
  else if constexpr (std::is_same_v<To, bool>)
    return !(x == From(0));
  else if constexpr (kIsComplex<From> && kIsComplex<To>)
    return To(x);
  else if constexpr (kIsComplex<From>)
    return convert<To>(x.real());
  else if constexpr (kIsComplex<To>)
    return To(static_cast<typename To::value_type>(x));
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>)
    return To(static_cast<float>(x));
  else
    return static_cast<To>(x);
}

template <class To, class From>
void convert_all(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t n) {
  const From* x = static_cast<const From*>(from);
  To* y = static_cast<To*>(to);
  if (from_stride == 1 && to_stride == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i * to_stride] = convert<To>(x[i * from_stride]);
  }
}

template <class To>
ConvertFn convert_into(ScalarType from) {
  switch (from) {
#define HEARTH_CONVERT(type, Name) \
  case ScalarType::Name: return convert_all<To, type>;
    HEARTH_DTYPES(HEARTH_CONVERT)
#undef HEARTH_CONVERT
    default: return nullptr;
  }
}

template <class From>
ConvertFn convert_out_of(ScalarType to) {
  switch (to) {
#define HEARTH_CONVERT(type, Name) \
  case ScalarType::Name: return convert_all<type, From>;
    HEARTH_DTYPES(HEARTH_CONVERT)
#undef HEARTH_CONVERT
    default: return nullptr;
  }
}

}  // namespace

#define HEARTH_COMPUTE_TYPES(X, ...) \
  switch (compute) {                 \
    case kFloat: return X<float>(__VA_ARGS__);                    \
    case kDouble: return X<double>(__VA_ARGS__);                  \
    case kLong: return X<int64_t>(__VA_ARGS__);                   \
    case kBool: return X<bool>(__VA_ARGS__);                      \
    case kComplexFloat: return X<complex<float>>(__VA_ARGS__);    \
    case kComplexDouble: return X<complex<double>>(__VA_ARGS__);  \
    default: return nullptr;         \
  }

ConvertFn convert_to_compute(ScalarType from, ScalarType compute) {
  HEARTH_COMPUTE_TYPES(convert_into, from)
}

ConvertFn convert_from_compute(ScalarType compute, ScalarType to) {
  HEARTH_COMPUTE_TYPES(convert_out_of, to)
}

}  // namespace hearth::cpu

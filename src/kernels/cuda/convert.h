#pragma once

// Conversions between elements and values in registers, and between types of values; packs of
// elements that are loaded at once.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

#include "hearth/dtype.h"
#include "kernels/cuda/lane.h"

namespace hearth::cuda {

/// The type in which an element is computed: float for the half types, else its own.
template <class T>
using Register =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

HEARTH_LANE float to_register(Half value) { return __half2float(__ushort_as_half(value.x)); }
HEARTH_LANE float to_register(BFloat16 value) {
  return __bfloat162float(__ushort_as_bfloat16(value.x));
}
template <class T>
HEARTH_LANE T to_register(T value) {
  return value;
}

/// Converts a value in a register to an element.
template <class T>
HEARTH_LANE T to_element(Register<T> value) {
  if constexpr (std::is_same_v<T, Half>)
    return Half::from_bits(__half_as_ushort(__float2half_rn(value)));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return BFloat16::from_bits(__bfloat16_as_ushort(__float2bfloat16_rn(value)));
  else
    return value;
}

/// Converts between register types: to a real number, complex loses its imaginary part (to bool:
/// whether it is not 0); small integers wrap around.
template <class To, class From>
HEARTH_LANE To convert(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (kIsComplex<To> && kIsComplex<From>)
    return To(value);
  else if constexpr (kIsComplex<To>)
    return To(convert<typename To::value_type>(value));
  else if constexpr (std::is_same_v<To, bool>)
    return !(value == From(0));
  else if constexpr (kIsComplex<From>)
    return convert<To>(value.real_);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4)
    // A direct conversion is undefined out of range.
    return static_cast<To>(static_cast<int64_t>(value));
  else
    return static_cast<To>(value);
}

/// Reads one element of any dtype as a C.
template <class C>
HEARTH_LANE C load_as(const void* from, ScalarType dtype) {
  switch (dtype) {
#define HEARTH_LOAD(T, Name) \
  case ScalarType::Name: return convert<C>(to_register(*static_cast<const T*>(from)));
    HEARTH_DTYPES(HEARTH_LOAD)
#undef HEARTH_LOAD
    default: return C{};
  }
}

/// Writes a C as one element of any dtype.
template <class C>
HEARTH_LANE void store_as(void* to, ScalarType dtype, C value) {
  switch (dtype) {
#define HEARTH_STORE(T, Name) \
  case ScalarType::Name: *static_cast<T*>(to) = to_element<T>(convert<Register<T>>(value)); break;
    HEARTH_DTYPES(HEARTH_STORE)
#undef HEARTH_STORE
    default: break;
  }
}

/// Rounds a float to Half or BFloat16 precision; returns other types unchanged.
template <class C>
HEARTH_LANE C round_to(C value, ScalarType dtype) {
  if constexpr (std::is_same_v<C, float>) {
    if (dtype == ScalarType::Half) return to_register(to_element<Half>(value));
    if (dtype == ScalarType::BFloat16) return to_register(to_element<BFloat16>(value));
  }
  return value;
}

inline constexpr int64_t kWideBytes = 16;  // loaded and stored at once

/// kWide elements that are loaded and stored at once.
template <class T, int kWide>
struct alignas(sizeof(T) * kWide) Pack {
  T v[kWide];
};

}  // namespace hearth::cuda

#pragma once

// Loads of indices, the types for copies of elements, and atomic updates of single elements.

#include "kernels/cuda/convert.h"

namespace hearth::cuda {

/// Calls f with a value of the unsigned type that has `bytes` bytes: kernels that only move
/// elements need no more.
template <class F>
void with_bits(size_t bytes, F f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(uint4{});
  }
}

/// Reads an int64 or int32 index.
__device__ __forceinline__ int64_t load_index(const char* from, ScalarType dtype) {
  return dtype == ScalarType::Int ? *reinterpret_cast<const int32_t*>(from)
                                  : *reinterpret_cast<const int64_t*>(from);
}

/// *to += value, atomically, for types that the GPU cannot add atomically: a compare-and-swap loop
/// on the 32-bit word that contains the element.
template <class T>
__device__ __forceinline__ void add_within_word(T* to, T value) {
  const auto address = reinterpret_cast<uintptr_t>(to);
  auto* word = reinterpret_cast<unsigned*>(address & ~uintptr_t{3});
  const unsigned shift = static_cast<unsigned>(address & 3) * 8;
  constexpr unsigned kMask = sizeof(T) == 1 ? 0xffu : 0xffffu;
  for (unsigned old = *word;;) {
    const unsigned sum = (old >> shift) + static_cast<unsigned>(value);
    const unsigned wanted = (old & ~(kMask << shift)) | (sum & kMask) << shift;
    const unsigned seen = atomicCAS(word, old, wanted);
    if (seen == old) return;
    old = seen;
  }
}

/// *to += value, atomically (for complex numbers, each part is); bool adds as "or", integers wrap.
template <class T>
__device__ __forceinline__ void atomic_add(T* to, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value) *to = true;  // all writers write the same
  } else if constexpr (kIsComplex<T>) {
    atomicAdd(&to->real_, value.real_);
    atomicAdd(&to->imag_, value.imag_);
  } else if constexpr (std::is_same_v<T, Half>) {
    atomicAdd(reinterpret_cast<__half*>(to), __ushort_as_half(value.x));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    atomicAdd(reinterpret_cast<__nv_bfloat16*>(to), __ushort_as_bfloat16(value.x));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  } else if constexpr (sizeof(T) < 4) {
    add_within_word(to, value);
  } else {
    atomicAdd(to, value);
  }
}

/// *to = change(*to), atomically: a compare-and-swap loop on the 32- or 64-bit word that contains
/// the element.
template <class T, class F>
__device__ __forceinline__ void atomic_update(T* to, const F& change) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  const auto address = reinterpret_cast<uintptr_t>(to);
  auto* word = reinterpret_cast<Word*>(address & ~uintptr_t{sizeof(Word) - 1});
  const unsigned byte_offset = static_cast<unsigned>(address & (sizeof(Word) - 1));
  for (Word old = *word;;) {
    Word wanted = old;
    T element;
    char* const inside = reinterpret_cast<char*>(&wanted) + byte_offset;
    memcpy(&element, inside, sizeof(T));
    element = change(element);
    memcpy(inside, &element, sizeof(T));
    const Word seen = atomicCAS(word, old, wanted);
    if (seen == old) return;
    old = seen;
  }
}

/// *to *= value, atomically; bool multiplies as "and", integers wrap.
template <class T>
__device__ __forceinline__ void atomic_multiply(T* to, T value) {
  atomic_update(to, [value](T element) -> T {
    if constexpr (std::is_same_v<T, bool>)
      return element && value;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(element) * static_cast<uint64_t>(value));
    else if constexpr (sizeof(T) == 2)
      return static_cast<T>(static_cast<float>(element) * static_cast<float>(value));
    else
      return element * value;
  });
}

/// *to = the larger (or smaller) of *to and value, atomically; NaN wins.
template <bool largest, class T>
__device__ __forceinline__ void atomic_extreme(T* to, T value) {
  using Number = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float, T>;
  const Number wanted = static_cast<Number>(value);
  atomic_update(to, [value, wanted](T element) -> T {
    const Number old = static_cast<Number>(element);
    const bool replaces = !(wanted == wanted) || (largest ? old < wanted : wanted < old);
    return replaces ? value : element;
  });
}

}  // namespace hearth::cuda

// Conversions from and to the dtypes without kernels (HEARTH_STORED_DTYPES), in up to three steps:
// to a type with kernels, between two such types, and from there. Blocks of 256 elements stay in
// the L1 cache between the steps. Bound by arithmetic.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "hearth/float8.h"
#include "kernels/cpu/pointwise_table.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kStepElements = 256;
constexpr int64_t kMaxStoredBytes = 16;

template <class From, class To>
void convert_each(const void* from, void* to, int64_t n) {
  const From* source = static_cast<const From*>(from);
  To* result = static_cast<To*>(to);
  for (int64_t i = 0; i < n; ++i) result[i] = static_cast<To>(source[i]);
}

/// Rounds towards zero; out of range as x86 instructions and PyTorch do.
void double_to_uint64(const void* from, void* to, int64_t n) {
  constexpr double kLimit = 0x1p63;
  constexpr uint64_t kTopBit = uint64_t{1} << 63;
  const auto truncate = [](double x) {
    return x >= -kLimit && x < kLimit ? static_cast<uint64_t>(static_cast<int64_t>(x)) : kTopBit;
  };
  const double* source = static_cast<const double*>(from);
  uint64_t* result = static_cast<uint64_t*>(to);
  for (int64_t i = 0; i < n; ++i)
    result[i] = source[i] >= kLimit ? truncate(source[i] - kLimit) ^ kTopBit : truncate(source[i]);
}

/// The numbers of an 8-bit type, by their codes.
template <class Float8>
constexpr std::array<float, 256> numbers_of() {
  std::array<float, 256> numbers{};
  for (int code = 0; code < 256; ++code)
    numbers[size_t(code)] = Float8(static_cast<uint8_t>(code), Float8::from_bits());
  return numbers;
}

template <class Float8>
void widen_float8(const void* from, void* to, int64_t n) {
  static constexpr std::array<float, 256> kNumbers = numbers_of<Float8>();
  const uint8_t* source = static_cast<const uint8_t*>(from);
  float* result = static_cast<float*>(to);
  for (int64_t i = 0; i < n; ++i) result[i] = kNumbers[source[i]];
}

/// The same with 0 for NaN, as PyTorch converts some of the types to integers.
template <class Float8>
void widen_without_nan(const void* from, void* to, int64_t n) {
  widen_float8<Float8>(from, to, n);
  float* result = static_cast<float*>(to);
  for (int64_t i = 0; i < n; ++i)
    if (std::isnan(result[i])) result[i] = 0;
}

/// A type with kernels that holds the numbers of a type without, and the conversions between them.
struct Carrier {
  ScalarType type;
  ConvertFn widen, narrow;
};

/// How uint64 is converted from or to another type. There is no conversion from float32, which
/// float64 replaces without rounding.
Carrier uint64_carrier(ScalarType other, bool is_source) {
  if (is_integral(other, true))
    return {kLong, convert_each<uint64_t, int64_t>, convert_each<int64_t, uint64_t>};
  if (!is_source || other == kDouble || other == kComplexDouble)
    return {kDouble, convert_each<uint64_t, double>, double_to_uint64};
  return {kFloat, convert_each<uint64_t, float>, nullptr};
}

template <class Float8>
Carrier float8_carrier(bool drops_nan = false) {
  return {kFloat, drops_nan ? widen_without_nan<Float8> : widen_float8<Float8>,
          convert_each<float, Float8>};
}

/// The carrier of `type`, which is converted from (is_source) or to another type.
Carrier carrier_of(ScalarType type, ScalarType other, bool is_source) {
  const bool to_integer = is_source && (other == kInt || other == kLong || other == kUInt64);
  switch (type) {
    // PyTorch's conversion of floating-point numbers to uint16 goes through int32.
    case kUInt16: return {kInt, convert_each<uint16_t, int32_t>, convert_each<int32_t, uint16_t>};
    case kUInt32: return {kLong, convert_each<uint32_t, int64_t>, convert_each<int64_t, uint32_t>};
    case kUInt64: return uint64_carrier(other, is_source);
    case kFloat8_e5m2: return float8_carrier<Float8_e5m2>();
    case kFloat8_e4m3fn: return float8_carrier<Float8_e4m3fn>();
    case kFloat8_e5m2fnuz: return float8_carrier<Float8_e5m2fnuz>(to_integer);
    case kFloat8_e4m3fnuz: return float8_carrier<Float8_e4m3fnuz>(to_integer);
    case kFloat8_e8m0fnu: return float8_carrier<Float8_e8m0fnu>(to_integer);
    default: return {type, nullptr, nullptr};
  }
}

}  // namespace

void Conversion::in_steps(const void* source, void* result, int64_t n) const {
  const Carrier first = carrier_of(from, to, true), last = carrier_of(to, from, false);
  const bool has_middle = first.type != last.type;
  const Conversion middle = pointwise_table().convert(first.type, last.type);
  alignas(64) unsigned char widened[kStepElements * kMaxStoredBytes],
      narrow[kStepElements * kMaxStoredBytes];
  for (int64_t done = 0; done < n; done += kStepElements) {
    const int64_t count = std::min(kStepElements, n - done);
    const void* now = static_cast<const char*>(source) + done * int64_t(element_size(from));
    void* end = static_cast<char*>(result) + done * int64_t(element_size(to));
    if (first.widen) {
      void* target = has_middle || last.narrow ? widened : end;
      first.widen(now, target, count);
      now = target;
    }
    if (has_middle) {
      void* target = last.narrow ? narrow : end;
      middle(now, target, count);
      now = target;
    }
    if (last.narrow) last.narrow(now, end, count);
  }
}

}  // namespace hearth::cpu

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "hearth/ivalue.h"

namespace hearth {

/// LibTorch's type of sizes that may be symbolic. In Hearth it is always a number.
class SymInt {
 public:
  constexpr SymInt(int64_t value = 0) : value_(value) {}
  constexpr bool is_symbolic() const { return false; }
  constexpr bool is_heap_allocated() const { return false; }
  constexpr int64_t guard_int(const char* = "", int64_t = 0) const {
    return value_;
  }  ///< the number
  constexpr int64_t expect_int() const { return value_; }
  constexpr int64_t as_int_unchecked() const { return value_; }
  constexpr std::optional<int64_t> maybe_as_int() const { return value_; }
  constexpr bool expect_size(const char* = "", int64_t = 0) const { return value_ >= 0; }
  constexpr SymInt min(const SymInt& other) const { return value_ < other.value_ ? *this : other; }
  constexpr SymInt max(const SymInt& other) const { return value_ < other.value_ ? other : *this; }
  constexpr SymInt operator-() const { return -value_; }
  constexpr SymInt& operator+=(const SymInt& other) { return *this = value_ + other.value_; }
  constexpr SymInt& operator-=(const SymInt& other) { return *this = value_ - other.value_; }
  constexpr SymInt& operator*=(const SymInt& other) { return *this = value_ * other.value_; }
  constexpr SymInt& operator/=(const SymInt& other) { return *this = value_ / other.value_; }

#define HEARTH_SYM_INT_OPERATOR(Result, op)                               \
  friend constexpr Result operator op(const SymInt& a, const SymInt& b) { \
    return a.value_ op b.value_;                                          \
  }
  HEARTH_SYM_INT_OPERATOR(SymInt, +)
  HEARTH_SYM_INT_OPERATOR(SymInt, -)
  HEARTH_SYM_INT_OPERATOR(SymInt, *)
  HEARTH_SYM_INT_OPERATOR(SymInt, /)
  HEARTH_SYM_INT_OPERATOR(SymInt, %)
  HEARTH_SYM_INT_OPERATOR(bool, ==)
  HEARTH_SYM_INT_OPERATOR(bool, !=)
  HEARTH_SYM_INT_OPERATOR(bool, <)
  HEARTH_SYM_INT_OPERATOR(bool, <=)
  HEARTH_SYM_INT_OPERATOR(bool, >)
  HEARTH_SYM_INT_OPERATOR(bool, >=)
#undef HEARTH_SYM_INT_OPERATOR

 private:
  int64_t value_;
};
static_assert(sizeof(SymInt) == sizeof(int64_t) && std::is_trivially_copyable_v<SymInt>);

inline std::string as_text(const SymInt& value) { return std::to_string(value.expect_int()); }

using SymIntArrayRef = ArrayRef<SymInt>;

/// The same numbers as SymInts.
inline SymIntArrayRef fromIntArrayRefUnchecked(IntArrayRef values) {
  return {reinterpret_cast<const SymInt*>(values.data()), values.size()};
}
inline SymIntArrayRef fromIntArrayRefKnownNonNegative(IntArrayRef values) {
  return fromIntArrayRefUnchecked(values);
}
inline SymIntArrayRef fromIntArrayRefSlow(IntArrayRef values) {
  return fromIntArrayRefUnchecked(values);
}
/// The same numbers as integers.
inline IntArrayRef asIntArrayRefUnchecked(SymIntArrayRef values) {
  return {reinterpret_cast<const int64_t*>(values.data()), values.size()};
}
inline IntArrayRef asIntArrayRefSlow(SymIntArrayRef values, const char* = "", int64_t = 0) {
  return asIntArrayRefUnchecked(values);
}
inline std::optional<IntArrayRef> asIntArrayRefSlowOpt(SymIntArrayRef values) {
  return asIntArrayRefUnchecked(values);
}
inline std::string as_text(SymIntArrayRef values) {
  return as_text(asIntArrayRefUnchecked(values));
}

inline SymInt Tensor::sym_size(int64_t dim) const { return size(dim); }
inline SymInt Tensor::sym_stride(int64_t dim) const { return stride(dim); }
inline SymInt Tensor::sym_numel() const { return numel(); }
inline SymInt Tensor::sym_storage_offset() const { return storage_offset(); }
inline SymIntArrayRef Tensor::sym_sizes() const { return fromIntArrayRefUnchecked(sizes()); }
inline SymIntArrayRef Tensor::sym_strides() const { return fromIntArrayRefUnchecked(strides()); }

inline IValue::IValue(const SymInt& value) : IValue(value.expect_int()) {}
inline SymInt IValue::toSymInt() const { return toInt(); }

namespace detail {
template <>
struct ValueAs<SymInt> {
  static SymInt of(const IValue& value) { return value.toSymInt(); }
};
}  // namespace detail

}  // namespace hearth

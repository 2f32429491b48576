#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <variant>

#include "hearth/error.h"
#include "hearth/reduction.h"

// Values of options, such as kReLU: each has a type of its own, enumtype::kReLU, so that a variant
// lists the values that an option accepts.

/// HEARTH_ENUMS(X) calls X(Name) for each value.
#define HEARTH_ENUMS(X) \
  X(Linear)             \
  X(Conv1D)             \
  X(Conv2D)             \
  X(Conv3D)             \
  X(ConvTranspose1D)    \
  X(ConvTranspose2D)    \
  X(ConvTranspose3D)    \
  X(Sigmoid)            \
  X(Tanh)               \
  X(ReLU)               \
  X(GELU)               \
  X(SiLU)               \
  X(Mish)               \
  X(LeakyReLU)          \
  X(FanIn)              \
  X(FanOut)             \
  X(Constant)           \
  X(Reflect)            \
  X(Replicate)          \
  X(Circular)           \
  X(Nearest)            \
  X(Bilinear)           \
  X(Bicubic)            \
  X(Trilinear)          \
  X(Area)               \
  X(NearestExact)       \
  X(Sum)                \
  X(Mean)               \
  X(Max)                \
  X(None)               \
  X(BatchMean)          \
  X(Zeros)              \
  X(Border)             \
  X(Reflection)         \
  X(RNN_TANH)           \
  X(RNN_RELU)           \
  X(LSTM)               \
  X(GRU)                \
  X(Valid)              \
  X(Same)

namespace hearth {

namespace enumtype {
#define HEARTH_ENUM(Name)                                    \
  struct HEARTH_API k##Name {                                \
    static constexpr std::string_view enum_name = "k" #Name; \
  };
HEARTH_ENUMS(HEARTH_ENUM)
#undef HEARTH_ENUM

/// The name of a variant's value: "kReLU".
template <class Variant>
std::string get_enum_name(const Variant& choice) {
  return std::visit([](const auto& value) { return std::string(value.enum_name); }, choice);
}

/// Converts kNone, kMean or kSum to the Reduction that losses take.
template <class Variant>
Reduction::Reduction reduction_get_enum(const Variant& reduction) {
  if (std::holds_alternative<kNone>(reduction)) return Reduction::None;
  if (std::holds_alternative<kMean>(reduction)) return Reduction::Mean;
  if (std::holds_alternative<kSum>(reduction)) return Reduction::Sum;
  detail::fail<Error>(get_enum_name(reduction), " is not a valid value for reduction");
}
}  // namespace enumtype

#define HEARTH_ENUM(Name) inline constexpr enumtype::k##Name k##Name{};
HEARTH_ENUMS(HEARTH_ENUM)
#undef HEARTH_ENUM

namespace detail {

/// Storage for a trivially copyable std::variant or std::optional. The compiler instantiates that
/// type, which takes longer than a whole module, only where a program uses the value
/// (docs/adr/0006-weight-of-the-umbrella.md). The constructor and set() are defined in the library.
template <class Variant, size_t kBytes = 8>
class HEARTH_API Choice {
 public:
  template <class Alternative>
  Choice(const Alternative& value);
  void set(const Variant& value);
  Variant& get() noexcept { return *std::launder(reinterpret_cast<Variant*>(bytes_)); }
  const Variant& get() const noexcept {
    return *std::launder(reinterpret_cast<const Variant*>(bytes_));
  }

 private:
  alignas(8) unsigned char bytes_[kBytes];
};

}  // namespace detail

}  // namespace hearth

/// HEARTH_ARG for an option that a detail::Choice holds: HEARTH_CHOICE(T, name[, bytes]).
/// src/nn/choice.cpp must list T and its default.
#define HEARTH_CHOICE(T, name, ...)                              \
 public:                                                         \
  auto name(const T& new_##name)->decltype(*this) {              \
    this->name##_.set(new_##name);                               \
    return *this;                                                \
  }                                                              \
  const T& name() const noexcept { return this->name##_.get(); } \
  T& name() noexcept { return this->name##_.get(); }             \
                                                                 \
 private:                                                        \
  ::hearth::detail::Choice<T __VA_OPT__(, ) __VA_ARGS__> name##_

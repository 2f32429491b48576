#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "hearth/error.h"
#include "hearth/reduction.h"

// Choices in options: each is a type of its own, so that a variant lists those an option may take,
// and an object of that type, kReLU.

/// HEARTH_ENUMS(X) calls X(Name) for each of them.
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
  struct k##Name {                                           \
    static constexpr std::string_view enum_name = "k" #Name; \
  };
HEARTH_ENUMS(HEARTH_ENUM)
#undef HEARTH_ENUM

/// "kReLU", for a variant that holds kReLU.
template <class Variant>
std::string get_enum_name(const Variant& choice) {
  return std::visit([](const auto& value) { return std::string(value.enum_name); }, choice);
}

/// The number that losses take for kNone, kMean or kSum.
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

}  // namespace hearth

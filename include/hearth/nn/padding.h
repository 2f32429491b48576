#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "hearth/nn/enum.h"
#include "hearth/nn/expanding_array.h"
#include "hearth/nn/stateless.h"

// Padding of the last D dimensions. Widths are listed from the last dimension to the first, before
// and after: {left, right, top, bottom}; negative widths crop.
namespace hearth::nn {

/// Options of the modules that pad D dimensions without further parameters.
template <size_t D>
struct PadOptions {
  PadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  HEARTH_ARG(ExpandingArray<D * 2>, padding);  ///< widths
};
template <size_t D>
using ReflectionPadOptions = PadOptions<D>;
template <size_t D>
using ReplicationPadOptions = PadOptions<D>;
template <size_t D>
using CircularPadOptions = PadOptions<D>;
template <size_t D>
using ZeroPadOptions = PadOptions<D>;
/// Options of ConstantPad1d, ConstantPad2d and ConstantPad3d.
template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value)
      : padding_(padding), value_(value) {}
  HEARTH_ARG(ExpandingArray<D * 2>, padding);  ///< widths
  HEARTH_ARG(double, value);                   ///< the padding's elements
};

#define HEARTH_PAD_MODULE(Kind, D)                                                                \
  using Kind##D##dOptions = Kind##Options<D>;                                                     \
  class HEARTH_API Kind##D##dImpl : public detail::Stateless<Kind##D##dImpl, Kind##D##dOptions> { \
   public:                                                                                        \
    using detail::Stateless<Kind##D##dImpl, Kind##D##dOptions>::Stateless;                        \
    Kind##D##dImpl(ExpandingArray<D * 2> padding);                                                \
    Tensor forward(const Tensor& input);                                                          \
    void pretty_print(std::ostream& stream) const override;                                       \
  };                                                                                              \
  HEARTH_MODULE(Kind##D##d)

/// Pads with the input's elements, mirrored at its borders.
HEARTH_PAD_MODULE(ReflectionPad, 1);
HEARTH_PAD_MODULE(ReflectionPad, 2);
HEARTH_PAD_MODULE(ReflectionPad, 3);
/// Pads with the input's outermost elements.
HEARTH_PAD_MODULE(ReplicationPad, 1);
HEARTH_PAD_MODULE(ReplicationPad, 2);
HEARTH_PAD_MODULE(ReplicationPad, 3);
/// Pads with the elements at the opposite border.
HEARTH_PAD_MODULE(CircularPad, 1);
HEARTH_PAD_MODULE(CircularPad, 2);
HEARTH_PAD_MODULE(CircularPad, 3);
/// Pads with zeros.
HEARTH_PAD_MODULE(ZeroPad, 1);
HEARTH_PAD_MODULE(ZeroPad, 2);
HEARTH_PAD_MODULE(ZeroPad, 3);
#undef HEARTH_PAD_MODULE

#define HEARTH_PAD_MODULE(D)                                                             \
  using ConstantPad##D##dOptions = ConstantPadOptions<D>;                                \
  class HEARTH_API ConstantPad##D##dImpl                                                 \
      : public detail::Stateless<ConstantPad##D##dImpl, ConstantPad##D##dOptions> {      \
   public:                                                                               \
    using detail::Stateless<ConstantPad##D##dImpl, ConstantPad##D##dOptions>::Stateless; \
    ConstantPad##D##dImpl(ExpandingArray<D * 2> padding, double value);                  \
    Tensor forward(const Tensor& input);                                                 \
    void pretty_print(std::ostream& stream) const override;                              \
  };                                                                                     \
  HEARTH_MODULE(ConstantPad##D##d)

/// Pads with one value.
HEARTH_PAD_MODULE(1);
HEARTH_PAD_MODULE(2);
HEARTH_PAD_MODULE(3);
#undef HEARTH_PAD_MODULE

namespace functional {

/// Options of pad.
struct HEARTH_API PadFuncOptions {
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate,
                              enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  HEARTH_ARG(std::vector<int64_t>, pad);    ///< widths
  HEARTH_CHOICE(mode_t, mode) = kConstant;  ///< or kReflect, kReplicate, kCircular
  HEARTH_ARG(double, value) = 0;            ///< the padding's elements, for kConstant
};

/// Pads the last dimensions.
HEARTH_API Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace functional

}  // namespace hearth::nn

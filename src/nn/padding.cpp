#include "hearth/nn/padding.h"

#include <ostream>

#include "hearth/operators.h"

namespace hearth::nn {

using hearth::detail::str;

namespace {

const char* name_of_mode(const functional::PadFuncOptions::mode_t& mode) {
  constexpr const char* kNames[] = {"constant", "reflect", "replicate", "circular"};
  return kNames[mode.index()];
}

/// Pads D dimensions circularly, with PyTorch's check of the number of dimensions.
template <size_t D>
Tensor circular(const Tensor& x, IntArrayRef padding) {
  HEARTH_CHECK_AS(ValueError, x.dim() == D + 1 || x.dim() == D + 2, "expected ", D + 1, "D or ",
                  D + 2, "D input (got ", x.dim(), "D input)");
  return hearth::pad(x, padding, "circular");
}

}  // namespace

namespace functional {

Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  // 0 counts as no value, because modes other than "constant" take none.
  const std::optional<double> value =
      options.value() == 0 ? std::nullopt : std::optional(options.value());
  return hearth::pad(input, options.pad(), name_of_mode(options.mode()), value);
}

}  // namespace functional

/// Defines a module whose only option is the padding; `computed` is an expression of x and padding.
#define HEARTH_PAD(Kind, D, computed)                              \
  Kind##D##dImpl::Kind##D##dImpl(ExpandingArray<D * 2> padding)    \
      : Kind##D##dImpl(Kind##D##dOptions(padding)) {}              \
  Tensor Kind##D##dImpl::forward(const Tensor& input) {            \
    return run_module(                                             \
        *this,                                                     \
        [this](const Tensor& x) {                                  \
          const IntArrayRef padding = options.padding();           \
          return computed;                                         \
        },                                                         \
        input);                                                    \
  }                                                                \
  void Kind##D##dImpl::pretty_print(std::ostream& stream) const {  \
    stream << str(#Kind, D, "d(padding=", options.padding(), ")"); \
  }

#define HEARTH_PADS(D)                                                                            \
  HEARTH_PAD(ReflectionPad, D, hearth::pad(x, padding, "reflect"))                                \
  HEARTH_PAD(ReplicationPad, D, hearth::pad(x, padding, "replicate"))                             \
  HEARTH_PAD(CircularPad, D, circular<D>(x, padding))                                             \
  HEARTH_PAD(ZeroPad, D, hearth::pad(x, padding))                                                 \
  ConstantPad##D##dImpl::ConstantPad##D##dImpl(ExpandingArray<D * 2> padding, double value)       \
      : ConstantPad##D##dImpl(ConstantPad##D##dOptions(padding, value)) {}                        \
  Tensor ConstantPad##D##dImpl::forward(const Tensor& input) {                                    \
    return run_module(                                                                            \
        *this,                                                                                    \
        [this](const Tensor& x) {                                                                 \
          return hearth::pad(x, options.padding(), "constant", options.value());                  \
        },                                                                                        \
        input);                                                                                   \
  }                                                                                               \
  void ConstantPad##D##dImpl::pretty_print(std::ostream& stream) const {                          \
    stream << str("ConstantPad", D, "d(padding=", options.padding(), ", value=", options.value(), \
                  ")");                                                                           \
  }
HEARTH_PADS(1)
HEARTH_PADS(2)
HEARTH_PADS(3)

}  // namespace hearth::nn

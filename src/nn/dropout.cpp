#include "hearth/nn/dropout.h"

#include <ostream>

namespace hearth::nn {

namespace functional {

Tensor dropout(Tensor input, const DropoutFuncOptions& options) {
  return options.inplace() ? hearth::dropout_(input, options.p(), options.training())
                           : hearth::dropout(input, options.p(), options.training());
}

namespace {
/// Drops whole channels. A batch has `dims` dimensions; an input without a batch has one less.
Tensor drop_channels(const Tensor& input, int64_t dims, const DropoutFuncOptions& options) {
  const bool is_batched = input.dim() == dims;
  Tensor batch = is_batched ? input : input.unsqueeze(0);
  if (options.inplace()) {
    hearth::feature_dropout_(batch, options.p(), options.training());
    return input;
  }
  const Tensor result = hearth::feature_dropout(batch, options.p(), options.training());
  return is_batched ? result : result.squeeze(0);
}
}  // namespace

Tensor dropout1d(Tensor input, const Dropout1dFuncOptions& options) {
  HEARTH_CHECK(input.dim() == 2 || input.dim() == 3,
               "dropout1d: Expected 2D or 3D input, but received a ", input.dim(),
               "D input. Note that dropout1d exists to provide channel-wise dropout on inputs with "
               "1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D "
               "or 3D inputs).");
  return drop_channels(input, 3, options);
}

Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options) {
  return drop_channels(input, 4, options);
}

Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options) {
  return drop_channels(input, 5, options);
}

Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options) {
  return options.inplace() ? hearth::alpha_dropout_(input, options.p(), options.training())
                           : hearth::alpha_dropout(input, options.p(), options.training());
}

Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options) {
  return options.inplace() ? hearth::feature_alpha_dropout_(input, options.p(), options.training())
                           : hearth::feature_alpha_dropout(input, options.p(), options.training());
}

}  // namespace functional

namespace {

template <class FuncOptions>
FuncOptions func_options(const DropoutOptions& options, bool training) {
  return FuncOptions().p(options.p()).training(training).inplace(options.inplace());
}

void print(std::ostream& stream, const char* name, const DropoutOptions& options) {
  stream << hearth::detail::str(name, "(p=", options.p(), ", inplace=", options.inplace(), ")");
}

}  // namespace

#define HEARTH_DROPOUT(Name, function)                                                \
  Tensor Name##Impl::forward(Tensor input) {                                          \
    return run_module(                                                                \
        *this,                                                                        \
        [this](Tensor x) {                                                            \
          using Options = functional::Name##FuncOptions;                              \
          return functional::function(std::move(x),                                   \
                                      func_options<Options>(options, is_training())); \
        },                                                                            \
        std::move(input));                                                            \
  }                                                                                   \
  void Name##Impl::pretty_print(std::ostream& stream) const { print(stream, #Name, options); }

HEARTH_DROPOUT(Dropout, dropout)
HEARTH_DROPOUT(Dropout1d, dropout1d)
HEARTH_DROPOUT(Dropout2d, dropout2d)
HEARTH_DROPOUT(Dropout3d, dropout3d)
HEARTH_DROPOUT(AlphaDropout, alpha_dropout)
HEARTH_DROPOUT(FeatureAlphaDropout, feature_alpha_dropout)
#undef HEARTH_DROPOUT

}  // namespace hearth::nn

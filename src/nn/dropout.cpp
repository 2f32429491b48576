#include "hearth/nn/dropout.h"

#include <ostream>

namespace hearth::nn {

namespace functional {

namespace {
void check_probability(double p) {
  HEARTH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}
}  // namespace

Tensor dropout(Tensor input, const DropoutFuncOptions& options) {
  check_probability(options.p());
  return options.inplace() ? hearth::dropout_(input, options.p(), options.training())
                           : hearth::dropout(input, options.p(), options.training());
}

Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options) {
  check_probability(options.p());
  const bool batched = input.dim() == 4;
  Tensor batch = batched ? input : input.unsqueeze(0);
  if (options.inplace()) {
    hearth::feature_dropout_(batch, options.p(), options.training());
    return input;
  }
  const Tensor result = hearth::feature_dropout(batch, options.p(), options.training());
  return batched ? result : result.squeeze(0);
}

}  // namespace functional

namespace {

functional::DropoutFuncOptions func_options(const DropoutOptions& options, bool training) {
  return functional::DropoutFuncOptions()
      .p(options.p())
      .training(training)
      .inplace(options.inplace());
}

void print(std::ostream& stream, const char* name, const DropoutOptions& options) {
  stream << hearth::detail::str(name, "(p=", options.p(), ", inplace=", options.inplace(), ")");
}

}  // namespace

#define HEARTH_DROPOUT(Name, function)                                                     \
  Tensor Name##Impl::forward(Tensor input) {                                               \
    return run_module(                                                                     \
        *this,                                                                             \
        [this](Tensor x) {                                                                 \
          return functional::function(std::move(x), func_options(options, is_training())); \
        },                                                                                 \
        std::move(input));                                                                 \
  }                                                                                        \
  void Name##Impl::pretty_print(std::ostream& stream) const { print(stream, #Name, options); }

HEARTH_DROPOUT(Dropout, dropout)
HEARTH_DROPOUT(Dropout2d, dropout2d)
#undef HEARTH_DROPOUT

}  // namespace hearth::nn

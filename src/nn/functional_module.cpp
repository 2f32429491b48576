#include "hearth/nn/functional_module.h"

#include <ostream>

namespace hearth::nn {

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {}

void FunctionalImpl::pretty_print(std::ostream& stream) const { stream << "Functional()"; }

Tensor FunctionalImpl::forward(Tensor input) {
  return run_module(*this, function_, std::move(input));
}

}  // namespace hearth::nn

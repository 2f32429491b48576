#include "nn/parameter_uses.h"

#include <algorithm>
#include <unordered_set>

#include "hearth/nn/conv.h"

namespace hearth::nn::detail {

namespace {

template <class... Convs>
bool is_any(const Module& module) {
  return (... || (dynamic_cast<const Convs*>(&module) != nullptr));
}

bool is_convolution(const Module& module) {
  return is_any<Conv1dImpl, Conv2dImpl, Conv3dImpl, ConvTranspose1dImpl, ConvTranspose2dImpl,
                ConvTranspose3dImpl>(module);
}

int64_t positions_of(const BatchSize::Argument& argument, const std::set<int64_t>& widths) {
  if (argument.are_indices) return argument.elements;
  // The last dimension comes first: a length may equal a width by chance.
  for (auto size = argument.row.rbegin(); size != argument.row.rend(); ++size)
    if (*size > 0 && widths.contains(*size)) return argument.elements / *size;
  return argument.rows;
}

}  // namespace

ParameterSizes::ParameterSizes(const Module& module) {
  std::unordered_set<const void*> known;
  module.apply([&](const Module& part) {
    const bool convolves = is_convolution(part);
    // The parameters of a convolution's parametrizations belong to it, too.
    for (const Tensor& parameter : part.parameters(/*recurse=*/convolves)) {
      if (!known.insert(parameter.unsafeGetTensorImpl()).second) continue;
      ++count;
      elements += parameter.numel();
      if (convolves || parameter.dim() > 3)
        convolved += parameter.numel();
      else if (parameter.dim() > 1)
        widths.insert(parameter.size(-1));
    }
  });
}

int64_t uses_of(const ParameterSizes& parameters, const BatchSize& batch) {
  int64_t positions = 0, elements = 0;
  for (const BatchSize::Argument& argument : batch.arguments) {
    positions = std::max(positions, positions_of(argument, parameters.widths));
    elements = std::max(elements, argument.elements);
  }
  const auto convolved = double(parameters.convolved);
  const auto others = double(parameters.elements - parameters.convolved);
  return static_cast<int64_t>((convolved * double(elements) + others * double(positions)) /
                              double(parameters.elements));
}

}  // namespace hearth::nn::detail

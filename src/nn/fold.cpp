#include "hearth/nn/fold.h"

#include <ostream>

#include "hearth/nn/run_module.h"

namespace hearth::nn {

using hearth::detail::str;

namespace functional {

Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  HEARTH_CHECK(input.dim() == 2 || input.dim() == 3,
               "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ",
               input.dim(), "D)");
  return col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  HEARTH_CHECK(input.dim() == 4, "Input Error: Only 4D input Tensors are supported (got ",
               input.dim(), "D)");
  return im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

}  // namespace functional

FoldImpl::FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
    : FoldImpl(FoldOptions(output_size, kernel_size)) {}

Tensor FoldImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return functional::fold(x, options); }, input);
}

void FoldImpl::pretty_print(std::ostream& stream) const {
  stream << str("Fold(output_size=", options.output_size(), ", kernel_size=", options.kernel_size(),
                ", dilation=", options.dilation(), ", padding=", options.padding(),
                ", stride=", options.stride(), ")");
}

UnfoldImpl::UnfoldImpl(ExpandingArray<2> kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}

Tensor UnfoldImpl::forward(const Tensor& input) {
  return run_module(
      *this, [this](const Tensor& x) { return functional::unfold(x, options); }, input);
}

void UnfoldImpl::pretty_print(std::ostream& stream) const {
  stream << str("Unfold(kernel_size=", options.kernel_size(), ", dilation=", options.dilation(),
                ", padding=", options.padding(), ", stride=", options.stride(), ")");
}

}  // namespace hearth::nn

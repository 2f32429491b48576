#pragma once

#include "hearth/nn/expanding_array.h"
#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of Fold and fold.
struct HEARTH_API FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<2>, output_size);   ///< size of the image
  HEARTH_ARG(ExpandingArray<2>, kernel_size);   ///< size of a window
  HEARTH_ARG(ExpandingArray<2>, dilation) = 1;  ///< distance between elements in a window
  HEARTH_ARG(ExpandingArray<2>, padding) = 0;   ///< border of zeros
  HEARTH_ARG(ExpandingArray<2>, stride) = 1;    ///< distance between windows
};
/// Options of Unfold and unfold.
struct HEARTH_API UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
  HEARTH_ARG(ExpandingArray<2>, kernel_size);   ///< size of a window
  HEARTH_ARG(ExpandingArray<2>, dilation) = 1;  ///< distance between elements in a window
  HEARTH_ARG(ExpandingArray<2>, padding) = 0;   ///< border of zeros
  HEARTH_ARG(ExpandingArray<2>, stride) = 1;    ///< distance between windows
};

/// Adds up the windows of images: [N, C * window size, windows] to [N, C, H, W]; N may be absent.
class HEARTH_API FoldImpl : public detail::Stateless<FoldImpl, FoldOptions> {
 public:
  using detail::Stateless<FoldImpl, FoldOptions>::Stateless;
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Fold);

/// The windows of images: [N, C, H, W] to [N, C * window size, windows].
class HEARTH_API UnfoldImpl : public detail::Stateless<UnfoldImpl, UnfoldOptions> {
 public:
  using detail::Stateless<UnfoldImpl, UnfoldOptions>::Stateless;
  UnfoldImpl(ExpandingArray<2> kernel_size);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(Unfold);

namespace functional {

using FoldFuncOptions = FoldOptions;                                          ///< options of fold
using UnfoldFuncOptions = UnfoldOptions;                                      ///< options of unfold
HEARTH_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);  ///< as Fold
HEARTH_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);  ///< as Unfold

}  // namespace functional

}  // namespace hearth::nn

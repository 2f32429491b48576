#pragma once

#include <optional>
#include <variant>

#include "hearth/arg.h"
#include "hearth/nn/enum.h"
#include "hearth/tensor.h"

namespace hearth::nn::functional {

/// Options of grid_sample.
struct GridSampleFuncOptions {
  using mode_t = std::variant<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = std::variant<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  HEARTH_CHOICE(mode_t, mode) = kBilinear;               ///< the interpolation
  HEARTH_CHOICE(padding_mode_t, padding_mode) = kZeros;  ///< values outside the input
  /// Whether the coordinates -1 and 1 are the centres of the outermost elements.
  HEARTH_ARG(std::optional<bool>, align_corners);
};

/// Samples images [N, C, H, W] or volumes [N, C, D, H, W] at the coordinates `grid`, [N, …, 2 or
/// 3], in [-1, 1], x first.
HEARTH_API Tensor grid_sample(const Tensor& input, const Tensor& grid,
                              const GridSampleFuncOptions& options = {});
/// The grid of the affine maps theta [N, 2, 3] or [N, 3, 4] for an output of sizes `size`.
HEARTH_API Tensor affine_grid(const Tensor& theta, const IntArrayRef& size,
                              bool align_corners = false);

}  // namespace hearth::nn::functional

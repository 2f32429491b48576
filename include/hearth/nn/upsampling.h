#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "hearth/nn/enum.h"
#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of Upsample.
struct UpsampleOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear,
                              enumtype::kBicubic, enumtype::kTrilinear>;
  HEARTH_ARG(std::optional<std::vector<int64_t>>, size);         ///< the output's last sizes
  HEARTH_ARG(std::optional<std::vector<double>>, scale_factor);  ///< or the factors of all sizes
  HEARTH_CHOICE(mode_t, mode) = kNearest;                        ///< the interpolation
  HEARTH_ARG(std::optional<bool>, align_corners);  ///< whether outermost elements coincide
};
/// Options of UpsamplingNearest2d and UpsamplingBilinear2d.
struct UpsamplingOptions {
  HEARTH_ARG(std::optional<std::vector<int64_t>>, size);         ///< height and width
  HEARTH_ARG(std::optional<std::vector<double>>, scale_factor);  ///< or their factors
};

/// [N, C, size…] of one to three last dimensions, interpolated to another size.
HEARTH_STATELESS_MODULE(Upsample, UpsampleOptions, const Tensor&);
/// Upsampled images; interpolate() with the mode kNearest.
HEARTH_STATELESS_MODULE(UpsamplingNearest2d, UpsamplingOptions, const Tensor&);
/// Upsampled images; interpolate() with kBilinear and align_corners.
HEARTH_STATELESS_MODULE(UpsamplingBilinear2d, UpsamplingOptions, const Tensor&);

namespace functional {

/// Options of interpolate.
struct InterpolateFuncOptions {
  using mode_t =
      std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                   enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;
  HEARTH_ARG(std::optional<std::vector<int64_t>>, size);         ///< the output's last sizes
  HEARTH_ARG(std::optional<std::vector<double>>, scale_factor);  ///< or the factors of all sizes
  HEARTH_CHOICE(mode_t, mode) = kNearest;                        ///< the interpolation
  HEARTH_ARG(std::optional<bool>, align_corners);  ///< whether outermost elements coincide
  /// Whether positions are computed from the rounded sizes instead of the factors.
  HEARTH_ARG(std::optional<bool>, recompute_scale_factor);
  HEARTH_ARG(bool, antialias) = false;  ///< whether windows grow as images shrink
};

/// [N, C, size…] of one to three last dimensions, interpolated to another size.
HEARTH_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});
/// The last `dim` sizes of the result of interpolating (input, size, scale_factor,
/// recompute_scale_factor).
HEARTH_API std::vector<int64_t> _interp_output_size(
    int64_t dim, std::tuple<Tensor, std::optional<std::vector<int64_t>>,
                            std::optional<std::vector<double>>, std::optional<bool>>
                     closed_over_args);

}  // namespace functional

}  // namespace hearth::nn

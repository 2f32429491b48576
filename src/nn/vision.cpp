#include "hearth/nn/vision.h"

#include "hearth/operators.h"

namespace hearth::nn::functional {

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options) {
  if (!options.align_corners())
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.");
  // The variants list the modes in the order of the operator's numbers.
  return hearth::grid_sampler(input, grid, int64_t(options.mode().index()),
                              int64_t(options.padding_mode().index()),
                              options.align_corners().value_or(false));
}

Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners) {
  HEARTH_CHECK(theta.is_floating_point(), "Expected theta to have floating point type, but got ",
               theta.dtype().name());
  HEARTH_CHECK(size.size() == 4 || size.size() == 5,
               "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
               "respectively. Got size ",
               size);
  const int64_t dims = int64_t(size.size()) - 2;
  HEARTH_CHECK(theta.dim() == 3 && theta.size(-2) == dims && theta.size(-1) == dims + 1,
               "Expected a batch of ", dims, "D affine matrices of shape Nx", dims, "x", dims + 1,
               " for size ", size, ". Got ", theta.sizes(), ".");
  for (const int64_t length : size)
    HEARTH_CHECK(length > 0, "Expected non-zero, positive output size. Got ", size);
  return hearth::affine_grid_generator(theta, size, align_corners);
}

}  // namespace hearth::nn::functional

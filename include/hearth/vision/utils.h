#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hearth/arg.h"
#include "hearth/tensor.h"

// torchvision.utils.
namespace hearth::vision::utils {

/// The least and the greatest value.
using ValueRange = std::array<double, 2>;

/// Options of make_grid and save_image.
struct HEARTH_API GridOptions {
  HEARTH_ARG(int64_t, nrow) = 8;        ///< images in a row
  HEARTH_ARG(int64_t, padding) = 2;     ///< pixels between and around images
  HEARTH_ARG(bool, normalize) = false;  ///< whether values are shifted and scaled to 0 … 1
  HEARTH_ARG(std::optional<ValueRange>, value_range);  ///< for normalize; by default the images'
  HEARTH_ARG(bool, scale_each) = false;  ///< whether each image is scaled by its own range
  HEARTH_ARG(double, pad_value) = 0;     ///< between and around images
};

/// Arranges a batch of images in rows of one image [channels, height, width].
HEARTH_API Tensor make_grid(const Tensor& tensor, const GridOptions& options = {});
HEARTH_API Tensor make_grid(const std::vector<Tensor>& tensors, const GridOptions& options = {});
/// Writes the grid of floating images (0 to 1) as a PNG or JPEG file, by the file name's extension.
HEARTH_API void save_image(const Tensor& tensor, const std::string& fp,
                           const GridOptions& options = {});
HEARTH_API void save_image(const std::vector<Tensor>& tensors, const std::string& fp,
                           const GridOptions& options = {});

}  // namespace hearth::vision::utils

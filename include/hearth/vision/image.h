#pragma once

#include <cstdint>
#include <string>

#include "hearth/tensor.h"

// Images in files, as in torchvision.io: bytes of sizes [channels, height, width].
namespace hearth::vision {

/// The channels that a decoded image gets; UNCHANGED keeps the file's.
enum class ImageReadMode : int8_t { UNCHANGED, GRAY, GRAY_ALPHA, RGB, RGB_ALPHA };

/// Decodes a PNG or JPEG file from a 1-D tensor of its bytes. A PNG file's palette becomes colours,
/// and 16-bit values become bytes. `apply_exif_orientation` turns the image as its Exif data say.
HEARTH_API Tensor decode_image(const Tensor& input, ImageReadMode mode = ImageReadMode::UNCHANGED,
                               bool apply_exif_orientation = false);
/// Reads a PNG or JPEG file.
HEARTH_API Tensor read_image(const std::string& path, ImageReadMode mode = ImageReadMode::UNCHANGED,
                             bool apply_exif_orientation = false);

/// A PNG file as a 1-D tensor of bytes, from an image of 1 to 4 channels.
HEARTH_API Tensor encode_png(const Tensor& input, int64_t compression_level = 6);
/// A JPEG file as a 1-D tensor of bytes, from an image of 1 or 3 channels.
HEARTH_API Tensor encode_jpeg(const Tensor& input, int64_t quality = 75);
/// Writes a PNG file; a file that exists is replaced only when the new one is complete.
HEARTH_API void write_png(const Tensor& input, const std::string& filename,
                          int64_t compression_level = 6);
/// Writes a JPEG file; a file that exists is replaced only when the new one is complete.
HEARTH_API void write_jpeg(const Tensor& input, const std::string& filename, int64_t quality = 75);

}  // namespace hearth::vision

#pragma once

#include <string>
#include <string_view>

#include "hearth/vision/image.h"

namespace hearth::vision {

/// The greatest height and width of written images: libjpeg's limit, also for PNG files.
inline constexpr int64_t kMaxEdge = 65500;

/// Rows of interleaved channels, one byte each.
struct Pixels {
  int64_t height = 0, width = 0, channels = 0;
  Tensor data;          // [height, width, channels]
  int orientation = 0;  // of Exif data; 0: unknown
};

/// Whether a file's name has the extension of a PNG or of a JPEG file.
bool is_png_name(const std::string& path);
bool is_jpeg_name(const std::string& path);

/// Throws "cannot read 'name': …".
[[noreturn]] void bad_image(const std::string& name, const std::string& reason);
/// Allocates the pixels. Throws if the image is empty, or if it has more than 2^24 pixels and more
/// than the file can hold: `pixels_per_byte` is the most that a byte can encode.
Pixels allocate_pixels(const std::string& name, size_t file_bytes, int64_t pixels_per_byte,
                       int64_t height, int64_t width, int64_t channels);

bool is_png(std::string_view bytes);
Pixels decode_png(std::string_view bytes, const std::string& name, ImageReadMode mode);
std::string encode_png(const Pixels& pixels, int64_t compression_level);

bool is_jpeg(std::string_view bytes);
Pixels decode_jpeg(std::string_view bytes, const std::string& name, ImageReadMode mode,
                   bool with_orientation);
std::string encode_jpeg(const Pixels& pixels, int64_t quality);

}  // namespace hearth::vision

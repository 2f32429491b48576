#include "hearth/vision/image.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "hearth/io/file.h"
#include "hearth/operators.h"
#include "vision/codecs.h"
#include "vision/exif.h"

namespace hearth::vision {

namespace {

constexpr int64_t kAlwaysAllowed = int64_t{1} << 24;  // pixels, whatever the file's length

Tensor decode(std::string_view bytes, const std::string& name, ImageReadMode mode,
              bool apply_exif_orientation) {
  if (!is_png(bytes) && !is_jpeg(bytes)) bad_image(name, "it is neither a PNG nor a JPEG file");
  const Pixels pixels = is_png(bytes) ? decode_png(bytes, name, mode)
                                      : decode_jpeg(bytes, name, mode, apply_exif_orientation);
  const Tensor image = pixels.data.permute({2, 0, 1});
  return (apply_exif_orientation ? upright(image, pixels.orientation) : image).contiguous();
}

/// Checks an image for an encoder, and interleaves its channels.
Pixels interleaved(const Tensor& image, const char* format, bool allows_alpha) {
  HEARTH_CHECK(image.defined() && image.device().is_cpu(), "Input tensor should be on CPU");
  HEARTH_CHECK(image.scalar_type() == kByte, "Input tensor dtype should be uint8");
  HEARTH_CHECK(image.dim() == 3, "Input data should be a 3-dimensional tensor");
  const int64_t channels = image.size(0);
  HEARTH_CHECK(allows_alpha ? channels >= 1 && channels <= 4 : channels == 1 || channels == 3,
               "The number of channels should be ", allows_alpha ? "1 to 4" : "1 or 3", " for ",
               format, ", got: ", channels);
  HEARTH_CHECK(image.size(1) > 0 && image.size(2) > 0 && image.size(1) <= kMaxEdge &&
                   image.size(2) <= kMaxEdge,
               "cannot encode ", format, ": height and width must be 1 to ", kMaxEdge, ", got ",
               image.sizes());
  return {image.size(1), image.size(2), channels, image.permute({1, 2, 0}).contiguous(), 0};
}

std::string png_of(const Tensor& image, int64_t compression_level) {
  HEARTH_CHECK(compression_level >= 0 && compression_level <= 9,
               "Compression level should be between 0 and 9");
  return encode_png(interleaved(image, "PNG", true), compression_level);
}

std::string jpeg_of(const Tensor& image, int64_t quality) {
  HEARTH_CHECK(quality >= 1 && quality <= 100,
               "Image quality should be a positive number between 1 and 100");
  return encode_jpeg(interleaved(image, "JPEG", false), quality);
}

std::string lower_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return extension;
}

Tensor as_tensor(const std::string& bytes) {
  Tensor result = empty({int64_t(bytes.size())}, kByte);
  std::memcpy(result.data_ptr(), bytes.data(), bytes.size());
  return result;
}

}  // namespace

bool is_png_name(const std::string& path) { return lower_extension(path) == ".png"; }
bool is_jpeg_name(const std::string& path) {
  const std::string extension = lower_extension(path);
  return extension == ".jpg" || extension == ".jpeg";
}

void bad_image(const std::string& name, const std::string& reason) {
  hearth::detail::fail<Error>("cannot read '", name, "': ", reason);
}

Pixels allocate_pixels(const std::string& name, size_t file_bytes, int64_t pixels_per_byte,
                       int64_t height, int64_t width, int64_t channels) {
  if (height <= 0 || width <= 0) bad_image(name, "the image is empty");
  const auto max_pixels = int64_t(file_bytes) * pixels_per_byte;
  if (height > std::max(max_pixels, kAlwaysAllowed) / width)
    bad_image(name, hearth::detail::str("it is too short for an image of ", height, " x ", width));
  return {height, width, channels, empty({height, width, channels}, kByte), 0};
}

Tensor decode_image(const Tensor& input, ImageReadMode mode, bool apply_exif_orientation) {
  constexpr const char* kExpected = "Expected a non empty 1-dimensional tensor of uint8, but got ";
  HEARTH_CHECK(input.defined(), kExpected, "an undefined tensor");
  HEARTH_CHECK(input.scalar_type() == kByte && input.dim() == 1, kExpected,
               name_of(input.scalar_type()), " ", input.sizes());
  HEARTH_CHECK(input.device().is_cpu(), "Expected a CPU tensor, but got one on ", input.device());
  const Tensor bytes = input.contiguous();
  return decode({static_cast<const char*>(bytes.data_ptr()), size_t(bytes.numel())}, "image", mode,
                apply_exif_orientation);
}

Tensor read_image(const std::string& path, ImageReadMode mode, bool apply_exif_orientation) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  HEARTH_CHECK(!error, "cannot read '", path, "': ", error.message());
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  HEARTH_CHECK(file.read(bytes.data(), std::streamsize(size)), "cannot read '", path,
               "': ", std::strerror(errno));
  return decode(bytes, path, mode, apply_exif_orientation);
}

Tensor encode_png(const Tensor& input, int64_t compression_level) {
  return as_tensor(png_of(input, compression_level));
}
Tensor encode_jpeg(const Tensor& input, int64_t quality) {
  return as_tensor(jpeg_of(input, quality));
}

void write_png(const Tensor& input, const std::string& filename, int64_t compression_level) {
  io::write_file(filename, png_of(input, compression_level));
}
void write_jpeg(const Tensor& input, const std::string& filename, int64_t quality) {
  io::write_file(filename, jpeg_of(input, quality));
}

}  // namespace hearth::vision

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>

#include "vision/codecs.h"
#include "vision/exif.h"

namespace hearth::vision {

namespace {

constexpr size_t kSignatureBytes = 8;
constexpr int64_t kMaxDeflateRatio = 1032;

/// The data of libpng's callbacks. libpng reports errors by longjmp(), so functions that it may
/// leave have no variables with destructors.
struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view input;
  std::string output;
  char message[200] = "out of memory";
  bool writes;

  explicit Session(bool writes_) : writes(writes_) {
    const auto create = writes ? png_create_write_struct : png_create_read_struct;
    png = create(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
  }
  ~Session() {
    if (writes)
      png_destroy_write_struct(&png, &info);
    else
      png_destroy_read_struct(&png, &info, nullptr);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  static Session& of(png_structp png) { return *static_cast<Session*>(png_get_error_ptr(png)); }
  [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
    Session& session = of(png);
    std::strncpy(session.message, text, sizeof(session.message) - 1);
    std::longjmp(png_jmpbuf(png), 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep to, size_t bytes) {
    std::string_view& input = of(png).input;
    if (input.size() < bytes) png_error(png, "the file is truncated");
    std::memcpy(to, input.data(), bytes);
    input.remove_prefix(bytes);
  }
  static void on_write(png_structp png, png_bytep from, size_t bytes) {
    of(png).output.append(reinterpret_cast<const char*>(from), bytes);
  }
  static void on_flush(png_structp) {}
};

class PngReader {
 public:
  PngReader(std::string_view bytes, const std::string& name) : name_(name), size_(bytes.size()) {
    session_.input = bytes;
    if (!session_.info) fail();
    png_set_read_fn(session_.png, nullptr, Session::on_read);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Pixels read(ImageReadMode mode) {
    if (!read_header(mode)) fail();
    const auto height = int64_t(png_get_image_height(session_.png, session_.info)),
               width = int64_t(png_get_image_width(session_.png, session_.info)),
               channels = int64_t(png_get_channels(session_.png, session_.info));
    // A decompressed byte has at most eight pixels, of one bit.
    Pixels pixels = allocate_pixels(name_, size_, kMaxDeflateRatio * 8, height, width, channels);
    std::vector<png_bytep> rows(size_t(height), nullptr);
    for (int64_t y = 0; y < height; ++y)
      rows[size_t(y)] = pixels.data.data_ptr<uint8_t>() + y * width * channels;
    pixels.orientation = orientation();
    if (!read_rows(rows.data())) fail();
    return pixels;
  }

 private:
  [[noreturn]] void fail() const { bad_image(name_, session_.message); }
  bool is_palette() const {
    return png_get_color_type(session_.png, session_.info) == PNG_COLOR_TYPE_PALETTE;
  }
  /// Reads the chunk eXIf, if there is one before the pixels.
  int orientation() const {
    png_uint_32 bytes = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(session_.png, session_.info, &bytes, &exif) == 0) return 0;
    return exif_orientation({reinterpret_cast<const char*>(exif), bytes});
  }

  bool read_header(ImageReadMode mode) {
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_read_info(session_.png, session_.info);
    // As in torchvision, only palettes have transparent colours.
    if (is_palette())
      png_set_expand(session_.png);
    else
      png_set_expand_gray_1_2_4_to_8(session_.png);
    png_set_scale_16(session_.png);  // sixteen bits
    set_channels(mode);
    png_set_interlace_handling(session_.png);
    png_read_update_info(session_.png, session_.info);
    return true;
  }
  void set_channels(ImageReadMode mode) {
    if (mode == ImageReadMode::UNCHANGED) return;
    const png_byte type = png_get_color_type(session_.png, session_.info);
    const bool has_alpha =
        (type & PNG_COLOR_MASK_ALPHA) != 0 ||
        (is_palette() && png_get_valid(session_.png, session_.info, PNG_INFO_tRNS) != 0);
    const bool wants_alpha = mode == ImageReadMode::GRAY_ALPHA || mode == ImageReadMode::RGB_ALPHA;
    const bool wants_gray = mode == ImageReadMode::GRAY || mode == ImageReadMode::GRAY_ALPHA;
    if (has_alpha && !wants_alpha) png_set_strip_alpha(session_.png);
    if (!has_alpha && wants_alpha) png_set_add_alpha(session_.png, 255, PNG_FILLER_AFTER);
    const bool is_gray = (type & PNG_COLOR_MASK_COLOR) == 0;
    if (is_gray && !wants_gray) png_set_gray_to_rgb(session_.png);
    if (!is_gray && wants_gray) png_set_rgb_to_gray(session_.png, 1, 0.2989, 0.587);
  }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_read_image(session_.png, rows);
    png_read_end(session_.png, nullptr);
    return true;
  }

  const std::string& name_;
  size_t size_;
  Session session_{false};
};

class PngWriter {
 public:
  PngWriter() {
    if (!session_.info) fail();
    png_set_write_fn(session_.png, nullptr, Session::on_write, Session::on_flush);
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  std::string write(const Pixels& pixels, int64_t compression_level) {
    std::vector<png_bytep> rows(size_t(pixels.height), nullptr);
    for (int64_t y = 0; y < pixels.height; ++y)
      rows[size_t(y)] = pixels.data.data_ptr<uint8_t>() + y * pixels.width * pixels.channels;
    if (!write_rows(pixels, int(compression_level), rows.data())) fail();
    return std::move(session_.output);
  }

 private:
  [[noreturn]] void fail() const {
    hearth::detail::fail<Error>("cannot encode PNG: ", session_.message);
  }

  bool write_rows(const Pixels& pixels, int compression_level, png_bytepp rows) {
    static constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                     PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_set_compression_level(session_.png, compression_level);
    png_set_IHDR(session_.png, session_.info, png_uint_32(pixels.width), png_uint_32(pixels.height),
                 8, kTypes[pixels.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_rows(session_.png, session_.info, rows);
    png_write_png(session_.png, session_.info, PNG_TRANSFORM_IDENTITY, nullptr);
    return true;
  }

  Session session_{true};
};

}  // namespace

bool is_png(std::string_view bytes) {
  return bytes.size() >= kSignatureBytes &&
         png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, kSignatureBytes) == 0;
}

Pixels decode_png(std::string_view bytes, const std::string& name, ImageReadMode mode) {
  return PngReader(bytes, name).read(mode);
}

std::string encode_png(const Pixels& pixels, int64_t compression_level) {
  return PngWriter().write(pixels, compression_level);
}

}  // namespace hearth::vision

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "hearth/operators.h"
#include "vision/codecs.h"
#include "vision/exif.h"

// libjpeg's headers need FILE from <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

namespace hearth::vision {

namespace {

constexpr unsigned kMaxMarkerBytes = 0xFFFF;
constexpr int64_t kPixelsPerByte = 1024;  // more than a byte of a file can hold

/// The error handler of libjpeg. It ends a call by longjmp(), so functions that it may leave have
/// no variables with destructors.
struct Errors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";

  Errors() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr codec) { of(codec).jump_out(codec); };
    manager.emit_message = [](j_common_ptr codec, int) {
      const int code = codec->err->msg_code;
      // The file is truncated.
      if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) of(codec).jump_out(codec);
    };
    manager.output_message = [](j_common_ptr) {};
  }
  [[noreturn]] void jump_out(j_common_ptr codec) {
    manager.format_message(codec, message);
    std::longjmp(jump, 1);
  }
  /// jpeg_error_mgr is the first member.
  static Errors& of(j_common_ptr codec) { return *reinterpret_cast<Errors*>(codec->err); }
};

struct Decompressor : jpeg_decompress_struct {
  Decompressor() : jpeg_decompress_struct{} {}
  ~Decompressor() { jpeg_destroy_decompress(this); }
};
struct Compressor : jpeg_compress_struct {
  Compressor() : jpeg_compress_struct{} {}
  ~Compressor() { jpeg_destroy_compress(this); }
};

/// a * b / 255, rounded.
int multiply(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/// Converts inverted CMYK to RGB or gray, as torchvision does.
Pixels from_cmyk(const Pixels& cmyk, ImageReadMode mode) {
  const int64_t channels = mode == ImageReadMode::GRAY ? 1 : 3;
  Pixels result{cmyk.height, cmyk.width, channels,
                empty({cmyk.height, cmyk.width, channels}, kByte), cmyk.orientation};
  const auto* from = cmyk.data.data_ptr<uint8_t>();
  auto* to = result.data.data_ptr<uint8_t>();
  for (int64_t i = 0; i < cmyk.height * cmyk.width; ++i, from += 4, to += channels) {
    int rgb[3];
    for (int c = 0; c < 3; ++c) rgb[c] = from[3] - multiply(255 - from[c], from[3]);
    if (channels == 1)  // the weights of ITU-R 601 in units of 2^-16
      *to = uint8_t((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
    else
      for (int c = 0; c < 3; ++c) to[c] = uint8_t(rgb[c]);
  }
  return result;
}

class JpegReader {
 public:
  JpegReader(std::string_view bytes, const std::string& name) : name_(name), size_(bytes.size()) {
    codec_.err = &errors_.manager;
    if (!create(bytes)) fail();
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Pixels read(ImageReadMode mode, bool with_orientation) {
    if (!read_header(mode, with_orientation)) fail();
    const auto width = int64_t(codec_.output_width), channels = int64_t(codec_.output_components);
    Pixels pixels = allocate_pixels(name_, size_, kPixelsPerByte, int64_t(codec_.output_height),
                                    width, channels);
    pixels.orientation = orientation();  // read_rows() frees the markers
    if (!read_rows(pixels.data.data_ptr<uint8_t>(), width * channels)) fail();
    const bool converts = mode == ImageReadMode::GRAY || mode == ImageReadMode::RGB;
    return is_cmyk() && converts ? from_cmyk(pixels, mode) : pixels;
  }

 private:
  bool is_cmyk() const {
    return codec_.jpeg_color_space == JCS_CMYK || codec_.jpeg_color_space == JCS_YCCK;
  }
  [[noreturn]] void fail() const { bad_image(name_, errors_.message); }
  int orientation() const {
    constexpr std::string_view kExif("Exif\0\0", 6);
    // XMP data, in a marker of the same kind, may come first.
    for (const auto* marker = codec_.marker_list; marker; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (data.starts_with(kExif)) return exif_orientation(data.substr(kExif.size()));
    }
    return 0;
  }

  bool create(std::string_view bytes) {
    if (setjmp(errors_.jump)) return false;
    jpeg_create_decompress(&codec_);
    jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    return true;
  }
  bool read_header(ImageReadMode mode, bool with_orientation) {
    if (setjmp(errors_.jump)) return false;
    if (with_orientation) jpeg_save_markers(&codec_, JPEG_APP0 + 1, kMaxMarkerBytes);
    jpeg_read_header(&codec_, TRUE);
    if (mode == ImageReadMode::GRAY) codec_.out_color_space = JCS_GRAYSCALE;
    if (mode == ImageReadMode::RGB) codec_.out_color_space = JCS_RGB;
    if (is_cmyk()) codec_.out_color_space = JCS_CMYK;
    jpeg_calc_output_dimensions(&codec_);
    return true;
  }
  bool read_rows(uint8_t* row, int64_t row_bytes) {
    if (setjmp(errors_.jump)) return false;
    jpeg_start_decompress(&codec_);
    for (; codec_.output_scanline < codec_.output_height; row += row_bytes)
      jpeg_read_scanlines(&codec_, &row, 1);
    jpeg_finish_decompress(&codec_);
    return true;
  }

  const std::string& name_;
  size_t size_;
  Errors errors_;
  Decompressor codec_;
};

class JpegWriter {
 public:
  JpegWriter() { codec_.err = &errors_.manager; }
  ~JpegWriter() { std::free(output_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  std::string write(const Pixels& pixels, int64_t quality) {
    if (!write_rows(pixels, int(quality), pixels.data.data_ptr<uint8_t>()))
      hearth::detail::fail<Error>("cannot encode JPEG: ", errors_.message);
    return {reinterpret_cast<const char*>(output_), output_bytes_};
  }

 private:
  bool write_rows(const Pixels& pixels, int quality, uint8_t* row) {
    if (setjmp(errors_.jump)) return false;
    jpeg_create_compress(&codec_);
    jpeg_mem_dest(&codec_, &output_, &output_bytes_);
    codec_.image_width = JDIMENSION(pixels.width);
    codec_.image_height = JDIMENSION(pixels.height);
    codec_.input_components = int(pixels.channels);
    codec_.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&codec_);
    jpeg_set_quality(&codec_, quality, TRUE);
    jpeg_start_compress(&codec_, TRUE);
    for (; codec_.next_scanline < codec_.image_height; row += pixels.width * pixels.channels)
      jpeg_write_scanlines(&codec_, &row, 1);
    jpeg_finish_compress(&codec_);
    return true;
  }

  Errors errors_;
  Compressor codec_;
  unsigned char* output_ = nullptr;  // libjpeg allocates it
  unsigned long output_bytes_ = 0;
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xFF\xD8\xFF"); }

Pixels decode_jpeg(std::string_view bytes, const std::string& name, ImageReadMode mode,
                   bool with_orientation) {
  HEARTH_CHECK(mode != ImageReadMode::GRAY_ALPHA && mode != ImageReadMode::RGB_ALPHA,
               "cannot read '", name, "': a JPEG image has no alpha channel");
  return JpegReader(bytes, name).read(mode, with_orientation);
}

std::string encode_jpeg(const Pixels& pixels, int64_t quality) {
  return JpegWriter().write(pixels, quality);
}

}  // namespace hearth::vision

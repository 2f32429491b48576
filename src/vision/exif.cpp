#include "vision/exif.h"

#include <cstdint>

#include "hearth/operators.h"

namespace hearth::vision {

namespace {

/// Numbers in a file of one byte order; 0 outside of the file.
struct Numbers {
  std::string_view bytes;
  bool is_little_endian;

  uint32_t at(size_t offset, size_t count) const {
    if (offset > bytes.size() || bytes.size() - offset < count) return 0;
    uint32_t result = 0;
    for (size_t i = 0; i < count; ++i)
      result = result << 8 | uint8_t(bytes[offset + (is_little_endian ? count - 1 - i : i)]);
    return result;
  }
};

}  // namespace

int exif_orientation(std::string_view exif) {
  constexpr uint32_t kTiff = 42, kOrientation = 0x0112;
  constexpr size_t kTagBytes = 12;
  const bool is_little_endian = exif.starts_with("II");
  const Numbers numbers{exif, is_little_endian};
  if ((!is_little_endian && !exif.starts_with("MM")) || numbers.at(2, 2) != kTiff) return 0;
  const size_t tags = numbers.at(4, 4), count = numbers.at(tags, 2);
  for (size_t i = 0; i < count; ++i) {
    const size_t tag = tags + 2 + i * kTagBytes;
    if (numbers.at(tag, 2) != kOrientation) continue;
    const uint32_t value = numbers.at(tag + 8, 2);
    return value <= 8 ? int(value) : 0;
  }
  return 0;
}

Tensor upright(const Tensor& image, int orientation) {
  const Tensor turned = orientation >= 5 ? image.transpose(-1, -2) : image;
  switch (orientation) {
    case 2:
    case 6: return turned.flip({-1});
    case 3:
    case 7: return turned.flip({-2, -1});
    case 4:
    case 8: return turned.flip({-2});
    default: return turned;
  }
}

}  // namespace hearth::vision

#include <algorithm>
#include <cmath>
#include <string_view>

#include "hearth/error.h"
#include "hearth/io/file.h"
#include "log/pictures.h"

namespace hearth::utils::tensorboard::detail {

namespace {

constexpr size_t kSignatureBytes = 8;

void append_big_endian(std::string& out, uint32_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

struct Chunk {
  std::string_view type, data;
};

std::vector<Chunk> chunks_of(std::string_view png) {
  std::vector<Chunk> chunks;
  for (png.remove_prefix(kSignatureBytes); !png.empty();) {
    const size_t size = big_endian(png);
    chunks.push_back({png.substr(4, 4), png.substr(8, size)});
    png.remove_prefix(size + 12);  // and the length, the type, the checksum
  }
  return chunks;
}

void append_chunk(std::string& out, const char* type, std::string_view data) {
  append_big_endian(out, static_cast<uint32_t>(data.size()), 4);
  const size_t begin = out.size();
  (out += type) += data;
  append_big_endian(out, io::crc32(out.data() + begin, out.size() - begin), 4);
}

/// The data of the chunk fcTL, which starts a frame that replaces the whole picture.
std::string frame_control(uint32_t number, std::string_view header, double fps) {
  std::string data;
  append_big_endian(data, number, 4);
  data += header.substr(0, 8);    // width and height
  append_big_endian(data, 0, 4);  // x
  append_big_endian(data, 0, 4);  // y
  const double milliseconds = std::clamp(1000 / fps, 1.0, 65535.0);
  append_big_endian(data, static_cast<uint32_t>(std::lround(milliseconds)), 2);
  append_big_endian(data, 1000, 2);  // per second
  data.append(2, '\0');              // leave the picture as it is; overwrite it
  return data;
}

}  // namespace

std::string animated_png(const std::vector<std::string>& frames, double fps) {
  std::string out = frames[0].substr(0, kSignatureBytes), control;
  const std::string_view header = chunks_of(frames[0])[0].data;
  append_chunk(out, "IHDR", header);
  append_big_endian(control, static_cast<uint32_t>(frames.size()), 4);
  append_big_endian(control, 0, 4);  // repeat without end
  append_chunk(out, "acTL", control);
  uint32_t number = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    append_chunk(out, "fcTL", frame_control(number++, header, fps));
    for (const Chunk& chunk : chunks_of(frames[i])) {
      if (chunk.type != "IDAT") continue;
      if (i == 0) {
        append_chunk(out, "IDAT", chunk.data);
        continue;
      }
      std::string data;
      append_big_endian(data, number++, 4);
      append_chunk(out, "fdAT", data.append(chunk.data));
    }
  }
  append_chunk(out, "IEND", {});
  return out;
}

}  // namespace hearth::utils::tensorboard::detail

#include "io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "hearth/io/file.h"

namespace hearth::io {

namespace {

constexpr const char* kGzipMagic = "\x1f\x8b";
constexpr int kGzipWindow = 15 + 16;  // inflateInit2's code for gzip with the largest window
constexpr int kRawWindow = -15;       // the code for deflated data without a header
constexpr uint64_t kMaxChunk = 1 << 30;

}  // namespace

struct Content::Inflater {
  explicit Inflater(const Bytes& from) : bytes(from) {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK)
      detail::fail<Error>("cannot read '", bytes.name(), "': zlib has no memory");
  }
  ~Inflater() { inflateEnd(&stream); }

  size_t read(void* buffer, size_t size);
  void feed();
  [[noreturn]] void fail(const char* problem) {
    bad_bytes(bytes.name(), num_fed - stream.avail_in, "expected gzipped data, but ", problem);
  }

  const Bytes& bytes;
  z_stream stream = {};
  uint64_t num_fed = 0;
  bool has_ended = false;
};

void Content::Inflater::feed() {
  const uint64_t num_bytes = std::min(bytes.size() - num_fed, kMaxChunk);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + num_fed));
  stream.avail_in = static_cast<uInt>(num_bytes);
  num_fed += num_bytes;
}

size_t Content::Inflater::read(void* buffer, size_t size) {
  stream.next_out = static_cast<Bytef*>(buffer);
  stream.avail_out = static_cast<uInt>(std::min<uint64_t>(size, kMaxChunk));
  const uInt wanted = stream.avail_out;
  while (stream.avail_out > 0 && !has_ended) {
    if (stream.avail_in == 0) feed();
    if (stream.avail_in == 0) fail("the file ends");
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      has_ended = stream.avail_in == 0 && num_fed == bytes.size();
      if (!has_ended) inflateReset(&stream);  // another member follows
    } else if (result != Z_OK) {
      fail(stream.msg ? stream.msg : "it is damaged");
    }
  }
  return wanted - stream.avail_out;
}

Content::Content(BytesPtr bytes) : bytes_(std::move(bytes)) {
  if (bytes_->size() >= 2 && bytes_->text(0, 2) == kGzipMagic)
    inflater_ = std::make_unique<Inflater>(*bytes_);
}
Content::~Content() = default;

uint64_t Content::max_size() const {
  return inflater_ ? bytes_->size() * kMaxCompressionRatio : bytes_->size();
}

size_t Content::read_some(void* buffer, size_t size) {
  if (inflater_) return inflater_->read(buffer, size);
  const size_t num_bytes = std::min<uint64_t>(size, bytes_->size() - position_);
  if (num_bytes > 0) std::memcpy(buffer, bytes_->data() + position_, num_bytes);
  return num_bytes;
}

void Content::read(void* buffer, size_t size) {
  auto* next = static_cast<char*>(buffer);
  while (size > 0) {
    const size_t num_bytes = read_some(next, size);
    if (num_bytes == 0)
      bad_bytes(name(), position_, "expected ", size, " bytes more",
                inflater_ ? " of decompressed data" : "", ", but the file ends");
    next += num_bytes;
    size -= num_bytes;
    position_ += num_bytes;
  }
}

void Content::expect_end() {
  char more;
  if (read_some(&more, 1) > 0) bad_bytes(name(), position_, "expected the end, but there is more");
}

void inflate_exactly(const Bytes& bytes, uint64_t begin, uint64_t end, void* to, uint64_t size) {
  z_stream stream = {};
  if (inflateInit2(&stream, kRawWindow) != Z_OK)
    detail::fail<Error>("cannot read '", bytes.name(), "': zlib has no memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> cleanup(&stream, inflateEnd);
  auto* next = static_cast<Bytef*>(to);
  Bytef beyond;  // for a byte after the expected ones
  int result = Z_OK;
  for (uint64_t position = begin, num_remaining = size; result == Z_OK;) {
    const auto in = static_cast<uInt>(std::min(end - position, kMaxChunk));
    const auto out = static_cast<uInt>(std::min(num_remaining, kMaxChunk));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + position));
    stream.avail_in = in;
    stream.next_out = out > 0 ? next : &beyond;
    stream.avail_out = out > 0 ? out : 1;
    result = inflate(&stream, Z_NO_FLUSH);
    const uInt written = (out > 0 ? out : 1) - stream.avail_out;
    if (written > num_remaining) break;
    position += in - stream.avail_in;
    next += written;
    num_remaining -= written;
    if (result == Z_STREAM_END && num_remaining == 0) return;
  }
  bad_bytes(bytes.name(), begin, "expected ", size, " bytes of decompressed data, but ",
            stream.msg ? stream.msg : "there are fewer or more");
}

uint32_t crc32(const void* data, size_t bytes, uint32_t initial) {
  if (bytes == 0) return initial;  // zlib would begin anew if `data` is null
  return static_cast<uint32_t>(::crc32_z(initial, static_cast<const Bytef*>(data), bytes));
}

}  // namespace hearth::io

#include "distributed/store_protocol.h"

#include "hearth/error.h"

namespace hearth::distributed::protocol {

Writer::Writer(uint8_t kind) : data_(kHeader, '\0') { data_ += static_cast<char>(kind); }

Writer& Writer::number(int64_t value) {
  for (int shift = 0; shift < 64; shift += 8)
    data_ += static_cast<char>(static_cast<uint64_t>(value) >> shift & 0xff);
  return *this;
}

Writer& Writer::text(std::string_view value) {
  number(static_cast<int64_t>(value.size()));
  data_ += value;
  return *this;
}

Writer& Writer::list(const std::vector<std::string>& values) {
  number(static_cast<int64_t>(values.size()));
  for (const std::string& value : values) text(value);
  return *this;
}

std::string Writer::frame() {
  const size_t size = data_.size() - kHeader;
  HEARTH_CHECK_AS(DistStoreError, size <= kMaxFrame, "a message of ", size,
                  " bytes is too large for the store, which takes at most ", kMaxFrame);
  for (size_t i = 0; i < kHeader; ++i) data_[i] = static_cast<char>(size >> (8 * i) & 0xff);
  return std::move(data_);
}

std::string_view Reader::take(size_t size) {
  HEARTH_CHECK_AS(DistStoreError, size <= data_.size(), "the store's message is malformed");
  const std::string_view taken = data_.substr(0, size);
  data_.remove_prefix(size);
  return taken;
}

uint8_t Reader::kind() { return static_cast<uint8_t>(take(1)[0]); }

int64_t Reader::number() {
  uint64_t value = 0;
  const std::string_view bytes = take(8);
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[size_t(i)]);
  return static_cast<int64_t>(value);
}

std::string Reader::text() { return std::string(take(static_cast<size_t>(number()))); }

std::vector<std::string> Reader::list() {
  const auto count = static_cast<uint64_t>(number());
  // Each text has at least its length.
  HEARTH_CHECK_AS(DistStoreError, count <= data_.size() / 8, "the store's message is malformed");
  std::vector<std::string> values;
  for (uint64_t i = 0; i < count; ++i) values.push_back(text());
  return values;
}

void Reader::expect_end() const {
  HEARTH_CHECK_AS(DistStoreError, data_.empty(), "the store's message is malformed");
}

size_t frame_size(const char* header) {
  size_t size = 0;
  for (size_t i = kHeader; i-- > 0;) size = size << 8 | static_cast<unsigned char>(header[i]);
  return size;
}

}  // namespace hearth::distributed::protocol

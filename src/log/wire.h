#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hearth::utils::tensorboard::detail {

static_assert(std::endian::native == std::endian::little, "fields are stored little-endian");

/// A Protocol Buffers message in its binary format. Each call appends a field; the numbers of the
/// fields are those of TensorBoard's .proto files.
class Message {
 public:
  Message& integer(int field, int64_t value) {
    key(field, kVarint);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& real(int field, double value) { return number(field, kFixed64, value); }
  Message& real32(int field, float value) { return number(field, kFixed32, value); }
  /// A string, bytes or an encoded message.
  Message& bytes(int field, std::string_view value) {
    key(field, kLength);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.bytes_); }

  /// Repeated numbers. T is double, float or, for all integer fields, int64_t.
  template <class T>
  Message& packed(int field, const std::vector<T>& values) {
    if constexpr (std::is_integral_v<T>) {
      Message list;
      for (T value : values) list.varint(static_cast<uint64_t>(static_cast<int64_t>(value)));
      return message(field, list);
    } else {
      return bytes(field,
                   {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
    }
  }

  const std::string& str() const& { return bytes_; }
  std::string str() && { return std::move(bytes_); }

 private:
  enum WireType { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

  void key(int field, WireType type) { varint(static_cast<uint64_t>(field << 3 | type)); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  template <class T>
  Message& number(int field, WireType type, T value) {
    key(field, type);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
    return *this;
  }

  std::string bytes_;
};

}  // namespace hearth::utils::tensorboard::detail

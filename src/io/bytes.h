#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/error.h"

namespace hearth::io {

/// Read-only bytes of a file or a buffer.
class Bytes {
 public:
  virtual ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// The file's path, or the buffer's name in errors.
  const std::string& name() const { return name_; }
  const std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }
  std::string_view text(uint64_t begin, uint64_t end) const {
    return {reinterpret_cast<const char*>(data_) + begin, end - begin};
  }
  /// A copy-on-write mapping of [begin, end), which never changes the file; null if mapping is
  /// impossible or slower than copying.
  virtual std::shared_ptr<std::byte> writable(uint64_t begin, uint64_t end) const;

 protected:
  explicit Bytes(std::string name) : name_(std::move(name)) {}

  std::string name_;
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};
using BytesPtr = std::shared_ptr<const Bytes>;

/// Maps a file into memory; throws unless it is a regular file.
BytesPtr map_file(const std::string& path);
/// Takes ownership of a buffer.
BytesPtr own_bytes(std::string name, std::vector<std::byte> content);
/// Copies a buffer.
BytesPtr copy_bytes(std::string name, const void* data, size_t bytes);
/// Reads a stream to its end.
BytesPtr read_stream(std::istream& stream);

/// Throws "cannot read 'name': at byte 12: …".
template <class... Parts>
[[noreturn]] void bad_bytes(const std::string& name, uint64_t offset, const Parts&... parts) {
  detail::fail<Error>("cannot read '", name, "': at byte ", offset, ": ", parts...);
}

/// Throws if this is a file of torch.save's format before PyTorch 1.6; the error says how to
/// convert it.
void refuse_old_pickle(const Bytes& bytes);

}  // namespace hearth::io

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/bytes.h"

namespace hearth::io {

inline constexpr uint64_t kMaxCompressionRatio = 1032;  // of deflate

/// Decompresses the deflated bytes [begin, end) to `to`; throws unless that gives `size` bytes.
void inflate_exactly(const Bytes& bytes, uint64_t begin, uint64_t end, void* to, uint64_t size);

/// Reads the content of a file, which may be gzipped, from front to back.
class Content {
 public:
  explicit Content(BytesPtr bytes);
  ~Content();
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  /// Fills the buffer; throws if the content ends earlier or is damaged.
  void read(void* buffer, size_t size);
  /// Throws unless all content was read.
  void expect_end();
  /// The number of bytes read so far.
  uint64_t position() const { return position_; }
  /// Upper limit for the length of the content, computed from the file's size.
  uint64_t max_size() const;
  const std::string& name() const { return bytes_->name(); }

 private:
  struct Inflater;
  size_t read_some(void* buffer, size_t size);

  BytesPtr bytes_;
  uint64_t position_ = 0;
  std::unique_ptr<Inflater> inflater_;  // null if it is not gzipped
};

}  // namespace hearth::io

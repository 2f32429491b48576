#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/bytes.h"

namespace hearth::io {

/// The content of a file that may be gzipped, in order.
class Content {
 public:
  explicit Content(BytesPtr bytes);
  ~Content();
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  /// Fills the buffer; throws where the content ends before, or is damaged.
  void read(void* buffer, size_t size);
  /// Throws if there is more.
  void expect_end();
  /// How many bytes were read.
  uint64_t position() const { return position_; }
  /// No content can be longer than this, whatever it says of itself.
  uint64_t longest() const;
  const std::string& name() const { return bytes_->name(); }

 private:
  struct Inflater;
  size_t read_some(void* buffer, size_t size);

  BytesPtr bytes_;
  uint64_t position_ = 0;
  std::unique_ptr<Inflater> inflater_;  // null if it is not gzipped
};

}  // namespace hearth::io

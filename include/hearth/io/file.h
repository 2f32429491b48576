#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/error.h"

namespace hearth::io {

/// A file that appears whole or not at all: what is written goes to a temporary file in the same
/// folder, which commit() puts in the place of the old one. What a killed process has left there of
/// its own, the next one removes.
class HEARTH_API AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  /// Without a commit, the old file stays and nothing else is left.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Returns when the new file has reached the disk.
  void commit();

 private:
  void create_temporary();
  void remove_temporary() noexcept;
  [[noreturn]] void fail(int reason) const;

  std::string path_, temporary_;
  int file_ = -1;
};

/// Replaces a file's content through an AtomicFile.
HEARTH_API void write_file(const std::string& path, std::string_view content);

/// The CRC-32 of gzip and PNG; `before` is that of the bytes before these.
HEARTH_API uint32_t crc32(const void* data, size_t bytes, uint32_t before = 0);

}  // namespace hearth::io

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/error.h"

namespace hearth::io {

/// Writes a file atomically: the content goes to a temporary file in the same folder, and commit()
/// renames it to `path`; a device or a pipe is written directly. Deletes temporary files that
/// killed processes have left in the folder.
class HEARTH_API AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();  ///< without a commit, deletes the temporary file
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void sync();    ///< returns when the content has reached the disk; commit() does this too
  void commit();  ///< returns when the new file has reached the disk

 private:
  void create_temporary();
  void remove_temporary() noexcept;
  [[noreturn]] void fail(int reason) const;

  std::string path_, temporary_;
  int file_ = -1;
};

/// Replaces a file's content by means of an AtomicFile.
HEARTH_API void write_file(const std::string& path, std::string_view content);

/// The CRC-32 (as in gzip and PNG) of the bytes; `before` is the CRC-32 of the preceding bytes.
HEARTH_API uint32_t crc32(const void* data, size_t bytes, uint32_t before = 0);

}  // namespace hearth::io

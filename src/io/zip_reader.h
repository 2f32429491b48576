#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/bytes.h"
#include "io/zip_format.h"

namespace hearth::io {

/// A file in a zip archive, stored or deflated.
struct ZipEntry {
  std::string name;
  uint64_t begin = 0, end = 0;  // of its bytes in the archive
  uint64_t size = 0;            // decompressed
  uint32_t checksum = 0;
  bool is_deflated = false;
};

/// Reads a zip archive. All entries are guaranteed to lie inside the file, without overlaps, and to
/// state no larger size than deflated data of their length can have.
class ZipReader {
 public:
  explicit ZipReader(BytesPtr bytes);
  static bool recognizes(const Bytes& bytes) {
    if (bytes.size() < 4) return false;
    const std::string_view start = bytes.text(0, 4);
    return start == zip::kLocal || start == zip::kEnd;  // an empty archive has only its end
  }

  const std::string& name() const { return bytes_->name(); }
  const std::vector<ZipEntry>& entries() const { return entries_; }  ///< in the directory's order
  const ZipEntry* find(const std::string& name) const;               ///< null if there is none
  /// The content of an entry; verifies its checksum.
  std::string text(const ZipEntry& entry) const;
  /// The same, in the archive or, if it is deflated, in a buffer.
  struct Part {
    BytesPtr bytes;
    uint64_t begin, end;
  };
  Part part(const ZipEntry& entry) const;
  /// From now on, appends a message for each entry with a wrong checksum to `damage`, instead of
  /// throwing.
  void tolerate(std::vector<std::string>* damage) { damage_ = damage; }

 private:
  void check(const ZipEntry& entry, const void* content) const;

  BytesPtr bytes_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t> index_;
  std::vector<std::string>* damage_ = nullptr;
};

}  // namespace hearth::io

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hearth/tensor.h"
#include "io/bytes.h"

namespace hearth::io {

/// A file in a zip archive, stored or deflated.
struct ZipEntry {
  std::string name;
  uint64_t begin = 0, end = 0;  // of its bytes in the archive
  uint64_t size = 0;            // decompressed
  uint32_t checksum = 0;
  bool deflated = false;
};

/// Reads a zip archive. All entries are guaranteed to lie inside the file, without overlaps, and to
/// be no larger than their bytes can hold.
class ZipReader {
 public:
  explicit ZipReader(BytesPtr bytes);
  static bool recognizes(const Bytes& bytes) {
    return bytes.size() >= 4 && bytes.text(0, 4) == "PK\3\4";
  }

  const std::string& name() const { return bytes_->name(); }
  const Bytes& bytes() const { return *bytes_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }  ///< in the directory's order
  const ZipEntry* find(const std::string& name) const;               ///< null if there is none
  /// The content, with its checksum verified.
  std::string text(const ZipEntry& entry) const;
  /// The bytes from `skip` to the end as a tensor, with their checksum verified. On the CPU, a
  /// large one maps the file's pages copy-on-write. Its elements are swapped if `big_endian`.
  Tensor tensor(const ZipEntry& entry, uint64_t skip, IntArrayRef sizes, ScalarType type,
                bool big_endian) const;

 private:
  void copy_to(const ZipEntry& entry, void* to) const;
  void check(const ZipEntry& entry, const void* content) const;

  BytesPtr bytes_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t> index_;
};

}  // namespace hearth::io

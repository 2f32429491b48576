#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/safetensors.h"

namespace hearth::io {

/// Writes a zip archive with stored files to a sink.
class ZipWriter {
 public:
  explicit ZipWriter(const ByteSink& sink) : sink_(sink) {}
  /// Adds a file with these parts one after another; it begins at a multiple of `alignment` bytes.
  void add(const std::string& name, std::initializer_list<std::string_view> parts,
           uint64_t alignment = 1);
  void finish();  ///< writes the directory

 private:
  struct Entry {
    std::string name;
    uint64_t offset, bytes;
    uint32_t checksum;
  };
  void write(const std::string& text);
  std::string directory_entry(const Entry& entry) const;

  const ByteSink& sink_;
  std::vector<Entry> entries_;
  uint64_t position_ = 0;
};

}  // namespace hearth::io

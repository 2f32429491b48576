#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/safetensors.h"
#include "io/bytes.h"

namespace hearth::io {

/// A dtype of the format and the corresponding ScalarType.
struct FileDtype {
  const char* name;
  ScalarType type;  // Undefined if Hearth does not have it
  unsigned bits;
};
/// The dtype of this name or type, or null.
const FileDtype* file_dtype(std::string_view name);
const FileDtype* file_dtype(ScalarType type);

/// The header's entry for one tensor. Offsets count from data_begin.
struct TensorEntry {
  std::string name;
  const FileDtype* dtype = nullptr;
  std::vector<int64_t> sizes;
  uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;
  Metadata metadata;
  uint64_t data_begin = 0;  // in the file
};

inline constexpr const char* kMetadataKey = "__metadata__";

/// Reads and checks a file's header; all entries are guaranteed to lie inside the file.
SafetensorsHeader read_header(const Bytes& bytes);

/// The bytes before the data: the length, the header, and spaces up to a multiple of 64 bytes.
/// Throws if the header is longer than readers accept.
std::string header_text(const SafetensorsHeader& header);

}  // namespace hearth::io

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/safetensors.h"
#include "io/bytes.h"

namespace hearth::io {

/// A dtype of the format, and Hearth's for it.
struct FileDtype {
  const char* name;
  ScalarType type;  // Undefined if Hearth has none
  unsigned bits;
};
/// Null if there is no such dtype.
const FileDtype* file_dtype(std::string_view name);
const FileDtype* file_dtype(ScalarType type);

/// One tensor of a file. Offsets count from the data's begin.
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

/// Reads and checks a file's header: whatever the bytes are, each entry lies inside the file.
SafetensorsHeader read_header(const Bytes& bytes);

/// The file's begin, up to the data: the length, the header, spaces up to a multiple of 64 bytes.
/// Throws if it is longer than read_header takes.
std::string header_text(const SafetensorsHeader& header);

}  // namespace hearth::io

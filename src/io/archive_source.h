#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/archive_values.h"
#include "io/bytes.h"

namespace hearth::serialize {

/// Loaded values, shared by an archive and its nested archives.
struct ArchiveSource {
  std::string name;
  Values values;
  Values nested_tensors;  // of a file, by the names in Value::nested
  std::optional<io::SafetensorsFile> file;
  std::optional<Device> device;  // for all tensors; without one, each has its saved device
  bool owns_tensors = false;     // whether readers may get them without a copy
};

/// Reads the values of a file in any of the formats; with `device`, all its tensors go there.
std::shared_ptr<const ArchiveSource> open_source(io::BytesPtr bytes, std::optional<Device> device);

}  // namespace hearth::serialize

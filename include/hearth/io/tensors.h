#pragma once

#include <string>
#include <vector>

#include "hearth/io/pt.h"

/// Files of named tensors in any format that Hearth knows.
namespace hearth::io {

/// The formats, recognised by the files' contents; an index of shards, by its name.
enum class FileFormat { kSafetensors, kShardIndex, kPt, kTorchScript, kNpy, kNpz };
HEARTH_API const char* name_of(FileFormat format);  ///< such as "safetensors"

/// The content of a file.
struct FileContent {
  FileFormat format = FileFormat::kSafetensors;
  NamedValues values;  ///< tensors and, of .pt files, other values; names as in named_values()
  Metadata metadata;   ///< of safetensors files
  std::vector<std::string> damage;  ///< descriptions of the damaged parts
};

/// Reads a file, or a folder with model.safetensors or its index. If `tolerant`, parts with wrong
/// checksums are read and listed as damage.
HEARTH_API FileContent load_file(const std::string& path, bool tolerant = false);
/// The tensors of a file that load_file reads, on the CPU.
HEARTH_API NamedTensors load_tensors(const std::string& path);
/// Writes a file in the format of the path's extension: .safetensors, .pt, .pth, .npz or, for a
/// single tensor, .npy.
HEARTH_API void save_tensors(const NamedTensors& tensors, const std::string& path);

}  // namespace hearth::io

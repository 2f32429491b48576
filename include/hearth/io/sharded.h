#pragma once

#include <cstdint>
#include <string>

#include "hearth/io/safetensors.h"

/// Safetensors files in several parts (shards), as Hugging Face's libraries write them: an index,
/// model.safetensors.index.json, maps each tensor to its file.
namespace hearth::io {

inline constexpr uint64_t kDefaultShardBytes = 5'000'000'000;  ///< as in Hugging Face's libraries

/// Reads all tensors of the files that an index names, in the index's order. `path` is the index,
/// or a folder with an index or a file model.safetensors.
HEARTH_API NamedTensors load_sharded_safetensors(const std::string& path,
                                                 std::optional<Device> device = {});

/// Writes model-00001-of-0000N.safetensors … and the index into the folder; or one file
/// model.safetensors without an index, if one is enough. A tensor larger than max_shard_bytes has a
/// shard of its own. An earlier save in the folder stays until the new one is complete on the disk;
/// then its files are deleted.
HEARTH_API void save_sharded_safetensors(const NamedTensors& tensors, const std::string& folder,
                                         uint64_t max_shard_bytes = kDefaultShardBytes,
                                         const Metadata& metadata = {});
/// save_sharded_safetensors of other dictionaries of tensors.
template <TensorDict Dict>
void save_sharded_safetensors(const Dict& tensors, const std::string& folder,
                              uint64_t max_shard_bytes = kDefaultShardBytes,
                              const Metadata& metadata = {}) {
  save_sharded_safetensors(named_tensors(tensors), folder, max_shard_bytes, metadata);
}

}  // namespace hearth::io

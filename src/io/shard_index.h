#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::io {

/// The index of tensors that are divided among several safetensors files.
struct ShardIndex {
  uint64_t total_bytes = 0;                                // is only written
  std::vector<std::pair<std::string, std::string>> files;  // names of tensors and their files
};

/// Parses an index's JSON; `path` is for errors. Throws if a file name has a folder.
ShardIndex parse_shard_index(std::string_view json, const std::string& path);
std::string shard_index_text(const ShardIndex& index);

}  // namespace hearth::io

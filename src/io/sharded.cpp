#include "hearth/io/sharded.h"

#include <cstdio>
#include <filesystem>
#include <map>

#include "hearth/io/file.h"
#include "io/bytes.h"
#include "io/shard_index.h"

namespace hearth::io {

namespace {

namespace fs = std::filesystem;

constexpr const char *kSingleFile = "model.safetensors",
                     *kIndexFile = "model.safetensors.index.json";

/// Splits the tensors into parts of at most `max_bytes`; a larger tensor is a part of its own.
std::vector<NamedTensors> split(const NamedTensors& tensors, uint64_t max_bytes) {
  std::vector<NamedTensors> parts(1);
  uint64_t bytes = 0;
  for (const auto& item : tensors) {
    HEARTH_CHECK(item.second.defined(), "cannot save the undefined tensor '", item.first, "'");
    const uint64_t size = item.second.nbytes();
    if (!parts.back().empty() && bytes + size > max_bytes) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().push_back(item);
    bytes += size;
  }
  return parts;
}

std::string shard_name(size_t shard, size_t num_shards) {
  char name[80];
  std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", shard, num_shards);
  return name;
}

}  // namespace

NamedTensors load_sharded_safetensors(const std::string& path, std::optional<Device> device) {
  fs::path index_path = path;
  std::error_code ignored;  // map_file throws
  if (fs::is_directory(index_path, ignored)) {
    index_path /= kIndexFile;
    if (!fs::exists(index_path, ignored))
      return load_safetensors((fs::path(path) / kSingleFile).string(), device);
  }
  const BytesPtr bytes = map_file(index_path.string());
  const ShardIndex index = parse_shard_index(bytes->text(0, bytes->size()), index_path.string());
  std::map<std::string, SafetensorsFile> files;
  NamedTensors tensors;
  for (const auto& [name, file] : index.files) {
    auto found = files.find(file);
    if (found == files.end())
      found =
          files.emplace(file, SafetensorsFile((index_path.parent_path() / file).string())).first;
    tensors.emplace_back(name, found->second.get_tensor(name, device));
  }
  return tensors;
}

void save_sharded_safetensors(const NamedTensors& tensors, const std::string& folder,
                              uint64_t max_shard_bytes, const Metadata& metadata) {
  const std::vector<NamedTensors> parts = split(tensors, max_shard_bytes);
  const fs::path base = folder;
  if (parts.size() == 1) return save_safetensors(tensors, (base / kSingleFile).string(), metadata);
  ShardIndex index;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string file = shard_name(i + 1, parts.size());
    save_safetensors(parts[i], (base / file).string(), metadata);
    for (const auto& [name, tensor] : parts[i]) {
      index.files.emplace_back(name, file);
      index.total_bytes += tensor.nbytes();
    }
  }
  write_file((base / kIndexFile).string(), shard_index_text(index));
}

}  // namespace hearth::io

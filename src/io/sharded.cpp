#include "hearth/io/sharded.h"

#include <cstdio>
#include <filesystem>
#include <list>
#include <map>
#include <regex>
#include <set>

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

/// Whether save_sharded_safetensors writes tensors into files of this name.
bool is_name_of_tensors(const std::string& name) {
  static const std::regex shard("model-[0-9]{5,}-of-[0-9]{5,}\\.safetensors");
  return name == kSingleFile || std::regex_match(name, shard);
}

/// Deletes the files of an earlier save, which readers could take for those of the latest one.
void remove_earlier_save(const fs::path& folder, const std::set<std::string>& kept) {
  // The index first: without it, its shards are not read.
  if (kept.count(kIndexFile) == 0) fs::remove(folder / kIndexFile);
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (kept.count(name) == 0 && is_name_of_tensors(name)) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove(path);
}

/// Writes the shards and their index; returns the names of the files. All of them are on the disk
/// before the first one replaces a file, and the old index, which would mix old and new shards, is
/// deleted before that.
std::set<std::string> save_shards(const std::vector<NamedTensors>& parts, const fs::path& folder,
                                  const Metadata& metadata) {
  ShardIndex index;
  std::set<std::string> files{kIndexFile}, names;
  std::list<AtomicFile> shards;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string file = shard_name(i + 1, parts.size());
    files.insert(file);
    AtomicFile& shard = shards.emplace_back((folder / file).string());
    save_safetensors(
        parts[i], [&](const void* data, size_t bytes) { shard.write(data, bytes); }, metadata);
    for (const auto& [name, tensor] : parts[i]) {
      HEARTH_CHECK(names.insert(name).second, "cannot save two tensors under the name '", name,
                   "'");
      index.files.emplace_back(name, file);
      index.total_bytes += tensor.nbytes();
    }
  }
  AtomicFile index_file((folder / kIndexFile).string());
  index_file.write(shard_index_text(index));
  for (AtomicFile& shard : shards) shard.sync();
  index_file.sync();
  // If the index is a link, deletes the file behind it, which is also what AtomicFile replaces.
  if (const fs::path old = folder / kIndexFile; fs::exists(old)) fs::remove(fs::canonical(old));
  for (AtomicFile& shard : shards) shard.commit();
  index_file.commit();
  return files;
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
  const fs::path base = folder.empty() ? "." : folder;
  std::set<std::string> kept;
  if (parts.size() == 1) {
    save_safetensors(tensors, (base / kSingleFile).string(), metadata);
    kept = {kSingleFile};
  } else {
    kept = save_shards(parts, base, metadata);
  }
  remove_earlier_save(base, kept);
}

}  // namespace hearth::io

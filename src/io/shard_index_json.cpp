#include <algorithm>
#include <nlohmann/json.hpp>

#include "hearth/error.h"
#include "io/json_depth.h"
#include "io/shard_index.h"

namespace hearth::io {

namespace {

using nlohmann::ordered_json;

constexpr int kMaxIndexDepth = 8;
constexpr const char* kWeightMap = "weight_map";

ordered_json parse(std::string_view json, const std::string& path) {
  HEARTH_CHECK(json_depth(json) <= kMaxIndexDepth, "cannot read '", path,
               "': its JSON is nested too deeply");
  try {
    return ordered_json::parse(json);
  } catch (const ordered_json::exception& error) {
    detail::fail<Error>("cannot read '", path, "': it is not valid JSON: ", error.what());
  }
}

/// Whether the path leads to a file in the index's folder or below it.
bool is_below_folder(const std::string& path) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    if (part.empty() || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

ShardIndex parse_shard_index(std::string_view json, const std::string& path) {
  const ordered_json root = parse(json, path);
  HEARTH_CHECK(root.is_object() && root.contains(kWeightMap) && root[kWeightMap].is_object(),
               "cannot read '", path, "': expected an object '", kWeightMap,
               "' with the files of tensors");
  ShardIndex index;
  for (const auto& [name, file] : root[kWeightMap].items()) {
    HEARTH_CHECK(file.is_string(), "cannot read '", path, "': expected a file for tensor '", name,
                 "'");
    const auto& text = file.get_ref<const std::string&>();
    HEARTH_CHECK(is_below_folder(text), "cannot read '", path, "': the file '", text,
                 "' is not in the index's folder");
    index.files.emplace_back(name, text);
  }
  return index;
}

std::string shard_index_text(const ShardIndex& index) {
  ordered_json root;
  root["metadata"]["total_size"] = index.total_bytes;
  ordered_json& map = root[kWeightMap] = ordered_json::object();
  for (const auto& [name, file] : index.files) map.push_back({name, file});
  return root.dump(2) + "\n";
}

}  // namespace hearth::io

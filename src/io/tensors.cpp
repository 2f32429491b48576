#include "hearth/io/tensors.h"

#include <filesystem>

#include "hearth/io/npy.h"
#include "hearth/io/sharded.h"
#include "io/npy_header.h"
#include "io/npz.h"
#include "io/pt_file.h"

namespace hearth::io {

namespace {

void add(NamedValues& values, NamedTensors tensors) {
  for (auto& [name, tensor] : tensors) values.emplace_back(std::move(name), std::move(tensor));
}

bool is_archive_of_npy(const ZipReader& zip) {
  return zip.entries().empty() || zip.entries()[0].name.ends_with(".npy");
}

void read_zip(BytesPtr bytes, bool tolerant, FileContent& content) {
  ZipReader zip(bytes);
  if (is_archive_of_npy(zip)) {
    if (tolerant) zip.tolerate(&content.damage);
    content.format = FileFormat::kNpz;
    return add(content.values, read_npz(zip));
  }
  PtFile file(bytes, kCPU);
  if (tolerant) file.tolerate(&content.damage);
  content.format = file.has_objects() ? FileFormat::kTorchScript : FileFormat::kPt;
  content.values = flatten(file.read(), /*with_sizes=*/false, bytes->size());
}

void read_safetensors(const BytesPtr& bytes, FileContent& content) {
  const SafetensorsFile file(bytes);
  for (const std::string& name : file.keys())
    content.values.emplace_back(name, file.get_tensor(name));
  content.metadata = file.metadata();
}

}  // namespace

const char* name_of(FileFormat format) {
  constexpr const char* kNames[] = {"safetensors", "index of safetensors files",
                                    "torch.save",  "TorchScript",
                                    "NumPy array", "NumPy archive"};
  return kNames[static_cast<int>(format)];
}

FileContent load_file(const std::string& path, bool tolerant) {
  FileContent content;
  std::error_code ignored;  // map_file throws
  if (std::filesystem::is_directory(path, ignored) || path.ends_with(".index.json")) {
    content.format = FileFormat::kShardIndex;
    add(content.values, load_sharded_safetensors(path));
    return content;
  }
  const BytesPtr bytes = map_file(path);
  if (ZipReader::recognizes(*bytes)) {
    read_zip(bytes, tolerant, content);
  } else if (is_npy(*bytes, 0, bytes->size())) {
    content.format = FileFormat::kNpy;
    add(content.values, {{"0", read_npy(*bytes, 0, bytes->size())}});
  } else {
    read_safetensors(bytes, content);
  }
  return content;
}

NamedTensors load_tensors(const std::string& path) {
  return only_tensors(load_file(path).values, path);
}

void save_tensors(const NamedTensors& tensors, const std::string& path) {
  if (path.ends_with(".safetensors")) return save_safetensors(tensors, path);
  if (path.ends_with(".pt") || path.ends_with(".pth")) return save_pt(tensors, path);
  if (path.ends_with(".npz")) return save_npz(tensors, path);
  HEARTH_CHECK(path.ends_with(".npy"), "cannot write '", path,
               "': its name must end with .safetensors, .pt, .pth, .npz or .npy");
  HEARTH_CHECK(tensors.size() == 1, "cannot write ", tensors.size(), " tensors to '", path,
               "': a .npy file has one");
  save_npy(tensors[0].second, path);
}

}  // namespace hearth::io

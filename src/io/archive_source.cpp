#include "io/archive_source.h"

#include "hearth/operators.h"
#include "io/pt_file.h"

namespace hearth::serialize {

namespace {

/// Reads the values of a safetensors file, with those of Hearth's JSON in its metadata.
std::shared_ptr<const ArchiveSource> open_safetensors(io::SafetensorsFile file, std::string name,
                                                      std::optional<Device> device) {
  auto source = std::make_shared<ArchiveSource>();
  source->name = std::move(name);
  source->device = device;
  Values& values = source->values;
  for (const std::string& path : file.keys()) {
    const size_t order = values.size();
    values.emplace(path, Value{Value::Kind::kTensorInFile, IValue(), order, false, {}});
  }
  for (const auto& [key, value] : file.metadata())
    if (key == kJsonKey) add_from_json(values, source->nested_tensors, value, source->name);
  source->file = std::move(file);
  return source;
}

/// Reads the values of a file of torch.save or of LibTorch.
std::shared_ptr<const ArchiveSource> open_pt(const io::BytesPtr& bytes,
                                             std::optional<Device> device) {
  io::PtFile file(bytes, device);
  auto source = std::make_shared<ArchiveSource>();
  source->name = bytes->name();
  source->device = device;
  source->owns_tensors = true;
  const IValue content = io::from_libtorch_optimizer(file.read());
  for (auto& [path, value] : io::flatten(content, /*with_sizes=*/true, bytes->size())) {
    Value stored{Value::Kind::kValue, std::move(value), source->values.size(), false, {}};
    stored.requires_grad = stored.value.isTensor() && stored.value.toTensor().requires_grad();
    HEARTH_CHECK(source->values.emplace(path, std::move(stored)).second, "cannot read '",
                 source->name, "': two values are named '", path, "'");
  }
  return source;
}

}  // namespace

std::shared_ptr<const ArchiveSource> open_source(io::BytesPtr bytes, std::optional<Device> device) {
  if (device) device = empty({0}, *device).device();  // "cuda" gets its index
  if (io::ZipReader::recognizes(*bytes)) return open_pt(bytes, device);
  std::string name = bytes->name();
  return open_safetensors(io::SafetensorsFile(std::move(bytes)), std::move(name), device);
}

}  // namespace hearth::serialize

#include "hearth/io/safetensors.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "hearth/autograd.h"
#include "hearth/io/file.h"
#include "io/read_tensor.h"
#include "io/safetensors_header.h"

namespace hearth::io {

struct SafetensorsFile::State {
  explicit State(BytesPtr from) : bytes(std::move(from)), header(read_header(*bytes)) {
    for (const TensorEntry& entry : header.tensors) {
      names.push_back(entry.name);
      entries.emplace(entry.name, &entry);
    }
  }

  const TensorEntry& entry(const std::string& name) const {
    const auto found = entries.find(name);
    HEARTH_CHECK(found != entries.end(), "'", bytes->name(), "' has no tensor '", name,
                 "'; it has ", names.size(), " others");
    return *found->second;
  }

  Tensor read(const TensorEntry& entry, bool may_map) const;

  BytesPtr bytes;
  SafetensorsHeader header;
  std::vector<std::string> names;
  std::unordered_map<std::string, const TensorEntry*> entries;
};

Tensor SafetensorsFile::State::read(const TensorEntry& entry, bool may_map) const {
  const uint64_t begin = header.data_begin + entry.begin, end = header.data_begin + entry.end;
  const ScalarType type = entry.dtype->type;
  if (type == ScalarType::Undefined)
    bad_bytes(bytes->name(), begin, "tensor '", entry.name, "' has the dtype ", entry.dtype->name,
              ", which Hearth does not have");
  return read_tensor(*bytes, begin, end, entry.sizes, type, may_map);
}

SafetensorsFile::SafetensorsFile(BytesPtr bytes)
    : state_(std::make_shared<State>(std::move(bytes))) {}
SafetensorsFile::SafetensorsFile(const std::string& path) : SafetensorsFile(map_file(path)) {}
SafetensorsFile::SafetensorsFile(const void* data, size_t bytes, std::string name)
    : SafetensorsFile(copy_bytes(std::move(name), data, bytes)) {}
SafetensorsFile::SafetensorsFile(std::istream& stream) : SafetensorsFile(read_stream(stream)) {}

const std::vector<std::string>& SafetensorsFile::keys() const { return state_->names; }
bool SafetensorsFile::contains(const std::string& name) const {
  return state_->entries.count(name) > 0;
}
TensorInfo SafetensorsFile::info(const std::string& name) const {
  const TensorEntry& entry = state_->entry(name);
  return {entry.dtype->name, entry.sizes, entry.end - entry.begin};
}
const Metadata& SafetensorsFile::metadata() const { return state_->header.metadata; }

Tensor SafetensorsFile::get_tensor(const std::string& name, std::optional<Device> device,
                                   bool copy) const {
  const bool changes_device = device && !device->is_cpu();
  const Tensor tensor = state_->read(state_->entry(name), changes_device || !copy);
  return device ? tensor.to(TensorOptions(*device).dtype(tensor.scalar_type())) : tensor;
}

NamedTensors load_safetensors(const std::string& path, std::optional<Device> device) {
  const SafetensorsFile file(path);
  NamedTensors tensors;
  for (const std::string& name : file.keys())
    tensors.emplace_back(name, file.get_tensor(name, device));
  return tensors;
}

namespace {

TensorEntry entry_for(const std::string& name, const Tensor& tensor) {
  HEARTH_CHECK(name != kMetadataKey, "cannot save a tensor under the name '", name,
               "', which safetensors files use themselves");
  HEARTH_CHECK(tensor.defined(), "cannot save the undefined tensor '", name, "'");
  HEARTH_CHECK(!tensor.is_meta(), "cannot save tensor '", name, "': it is on the meta device");
  const FileDtype* dtype = file_dtype(tensor.scalar_type());
  HEARTH_CHECK(dtype, "cannot save tensor '", name, "': safetensors files have no dtype for ",
               tensor.scalar_type(), "; save its real and imaginary parts");
  return {name, dtype, tensor.sizes().vec(), 0, tensor.nbytes()};
}

/// Sets the tensors' offsets; before, each `end` is the tensor's length in bytes. Returns their
/// order: by descending element size, which aligns all tensors.
std::vector<size_t> lay_out(SafetensorsHeader& header) {
  std::vector<size_t> order(header.tensors.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return header.tensors[a].dtype->bits > header.tensors[b].dtype->bits;
  });
  uint64_t next = 0;
  for (const size_t i : order) {
    TensorEntry& entry = header.tensors[i];
    entry.begin = next;
    entry.end = next += entry.end;
  }
  return order;
}

}  // namespace

void save_safetensors(const NamedTensors& tensors, const ByteSink& sink, const Metadata& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  std::unordered_set<std::string> names;
  for (const auto& [key, value] : metadata)
    HEARTH_CHECK(names.insert(key).second, "cannot save two metadata under the key '", key, "'");
  names.clear();
  for (const auto& [name, tensor] : tensors) {
    HEARTH_CHECK(names.insert(name).second, "cannot save two tensors under the name '", name, "'");
    header.tensors.push_back(entry_for(name, tensor));
  }
  const std::vector<size_t> order = lay_out(header);
  const std::string begin = header_text(header);
  sink(begin.data(), begin.size());
  const NoGradGuard no_history;
  for (const size_t i : order) {
    const Tensor contiguous = tensors[i].second.detach().cpu().contiguous();
    if (contiguous.nbytes() > 0) sink(contiguous.data_ptr(), contiguous.nbytes());
  }
}

void save_safetensors(const NamedTensors& tensors, const std::string& path,
                      const Metadata& metadata) {
  AtomicFile file(path);
  save_safetensors(
      tensors, [&](const void* data, size_t bytes) { file.write(data, bytes); }, metadata);
  file.commit();
}

}  // namespace hearth::io

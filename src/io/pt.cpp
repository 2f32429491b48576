#include "hearth/io/pt.h"

#include "hearth/io/file.h"
#include "hearth/operators.h"
#include "io/little_endian.h"
#include "io/pickle_writer.h"
#include "io/pt_file.h"
#include "io/zip_writer.h"

namespace hearth {

namespace io {

namespace {

constexpr uint64_t kStorageAlignment = 64;

/// Writes the records of torch.save's zip archive.
void write_archive(const IValue& value, const ByteSink& sink) {
  const Pickled pickled = pickle_value(value);
  ZipWriter zip(sink);
  const auto add = [&](const std::string& name, std::string_view content) {
    zip.add("archive/" + name, {content}, kStorageAlignment);
  };
  add("data.pkl", pickled.pickle);
  add(".format_version", "1");
  add(".storage_alignment", std::to_string(kStorageAlignment));
  add("byteorder", "little");
  for (size_t i = 0; i < pickled.storages.size(); ++i)
    add(detail::str("data/", i), bytes_of(pickled.storages[i]));
  add("version", "3\n");
  zip.finish();
}

IValue read_values(BytesPtr bytes, std::optional<Device> device) {
  refuse_old_pickle(*bytes);
  PtFile file(std::move(bytes), device);
  HEARTH_CHECK(!file.has_objects(), "cannot read '", file.name(),
               "': it is an archive of TorchScript or of LibTorch; torch::load reads it into a "
               "module or an optimizer, hearth::io::load_jit_parameters reads its tensors");
  return file.read();
}

}  // namespace

IValue load_pt(const std::string& path, std::optional<Device> device) {
  return read_values(map_file(path), device);
}

void save_pt(const IValue& value, const std::string& path) {
  AtomicFile file(path);
  write_archive(value, [&](const void* data, size_t bytes) { file.write(data, bytes); });
  file.commit();
}

void save_pt(const NamedTensors& tensors, const std::string& path) {
  const Dict<std::string, Tensor> dict;
  for (const auto& [name, tensor] : tensors)
    HEARTH_CHECK(dict.insert(name, tensor).second, "cannot save two tensors under the name '", name,
                 "'");
  save_pt(IValue(dict), path);
}

NamedTensors load_jit_parameters(const std::string& path, std::optional<Device> device) {
  const BytesPtr bytes = map_file(path);
  PtFile file(bytes, device);
  HEARTH_CHECK(file.has_objects(), "cannot read '", path,
               "': it has no TorchScript module; hearth::io::load_pt reads files of torch.save");
  const IValue root = file.read();
  NamedTensors tensors = only_tensors(flatten(root, /*with_sizes=*/false, bytes->size()), path);
  // A module's tensors in other attributes, such as an LSTM's list of its weights, are no state. An
  // optimizer declares none of its tensors.
  if (root.isGenericDict() && root.toGenericDict().contains("param_groups")) return tensors;
  const std::set<std::string> names = file.declared_names();
  std::erase_if(tensors, [&](const auto& item) {
    return !names.contains(item.first.substr(item.first.rfind('.') + 1));
  });
  return tensors;
}

}  // namespace io

std::vector<char> by_name::pickle_save(const IValue& value) {
  std::vector<char> content;
  io::write_archive(value, [&](const void* data, size_t bytes) {
    const auto* first = static_cast<const char*>(data);
    content.insert(content.end(), first, first + bytes);
  });
  return content;
}

IValue by_name::pickle_load(const std::vector<char>& data) {
  return io::read_values(io::copy_bytes("the buffer", data.data(), data.size()), std::nullopt);
}

}  // namespace hearth

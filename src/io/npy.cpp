#include "hearth/io/npy.h"

#include <set>

#include "hearth/autograd.h"
#include "hearth/io/file.h"
#include "hearth/operators.h"
#include "io/little_endian.h"
#include "io/npy_header.h"
#include "io/npz.h"
#include "io/read_tensor.h"
#include "io/zip_writer.h"

namespace hearth::io {

namespace {

constexpr std::string_view kExtension = ".npy";
constexpr uint64_t kNpzAlignment = 64;

/// The tensor, contiguous and on the CPU.
Tensor cpu_elements(const Tensor& tensor, const std::string& name) {
  HEARTH_CHECK(tensor.defined() && !tensor.is_meta(), "cannot save the tensor '", name,
               "': it is undefined or on the meta device");
  return tensor.detach().cpu().contiguous();
}

}  // namespace

Tensor read_npy(const Bytes& bytes, uint64_t begin, uint64_t end) {
  const NpyHeader header = read_npy_header(bytes, begin, end);
  std::vector<int64_t> sizes = header.sizes;
  if (header.is_fortran) sizes.assign(header.sizes.rbegin(), header.sizes.rend());
  Tensor tensor = read_tensor(bytes, header.data_begin, end, sizes, header.type, /*may_map=*/true);
  if (header.is_big_endian) swap_bytes(tensor);
  if (!header.is_fortran) return tensor;
  const std::vector<int64_t> strides(tensor.strides().rbegin(), tensor.strides().rend());
  return tensor_over(tensor, header.sizes, strides, 0);
}

NamedTensors read_npz(const ZipReader& zip) {
  NamedTensors tensors;
  for (const ZipEntry& entry : zip.entries()) {
    const std::string& name = entry.name;
    HEARTH_CHECK(name.ends_with(kExtension), "cannot read '", zip.name(), "': '", name,
                 "' in it is no .npy file");
    const ZipReader::Part part = zip.part(entry);
    tensors.emplace_back(name.substr(0, name.size() - kExtension.size()),
                         read_npy(*part.bytes, part.begin, part.end));
  }
  return tensors;
}

Tensor load_npy(const std::string& path) {
  const BytesPtr bytes = map_file(path);
  return read_npy(*bytes, 0, bytes->size());
}
NamedTensors load_npz(const std::string& path) { return read_npz(ZipReader(map_file(path))); }

void save_npy(const Tensor& tensor, const std::string& path) {
  const Tensor elements = cpu_elements(tensor, path);
  const std::string header = npy_header(elements);
  AtomicFile file(path);
  file.write(header);
  file.write(elements.data_ptr(), elements.nbytes());
  file.commit();
}

void save_npz(const NamedTensors& tensors, const std::string& path) {
  AtomicFile file(path);
  const ByteSink sink = [&](const void* data, size_t bytes) { file.write(data, bytes); };
  ZipWriter zip(sink);
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    HEARTH_CHECK(names.insert(name).second, "cannot save two tensors under the name '", name, "'");
    const Tensor elements = cpu_elements(tensor, name);
    zip.add(name + std::string(kExtension), {npy_header(elements), bytes_of(elements)},
            kNpzAlignment);
  }
  zip.finish();
  file.commit();
}

}  // namespace hearth::io

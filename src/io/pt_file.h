#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "hearth/io/pt.h"
#include "io/pickle_reader.h"
#include "io/zip_reader.h"

namespace hearth::io {

/// A zip archive of torch.save or torch.jit.save, in Python or LibTorch.
class PtFile {
 public:
  PtFile(BytesPtr bytes, std::optional<Device> device);
  PtFile(const PtFile&) = delete;
  PtFile& operator=(const PtFile&) = delete;

  const std::string& name() const { return zip_.name(); }
  bool has_objects() const;  ///< whether it holds a TorchScript module, as LibTorch's archives do
  IValue read();             ///< an object is a dict of its attributes
  /// The names of the parameters and buffers that the archive's classes declare in their code.
  std::set<std::string> declared_names() const;
  /// From now on, adds a message for each damaged record to `damage`, instead of throwing.
  void tolerate(std::vector<std::string>* damage) { zip_.tolerate(damage); }

 private:
  const ZipEntry& record(const std::string& name) const;
  Tensor storage(const StorageRef& ref);
  void give_dtype(const Tensor& bytes, ScalarType type);
  Device device_of(const StorageRef& ref) const;

  ZipReader zip_;
  std::optional<Device> device_;
  std::string folder_;  // "archive/"
  bool is_big_endian_ = false;
  std::map<std::string, Tensor> storages_;
  std::map<const void*, ScalarType> dtypes_;  // of tensors over big-endian storages of bytes
};

/// The values in lists, tuples and dicts by path; an IntList or DoubleList is a value itself. With
/// sizes, any other list of n items has the value n under "path.size", except at the root. Throws
/// if a path is too long, or if an expanded tensor is much larger than the file, of `file_bytes`
/// bytes.
NamedValues flatten(const IValue& value, bool with_sizes, uint64_t file_bytes);

/// The state of an optimizer in LibTorch's archive, with the names of Python's state dicts; returns
/// any other value unchanged.
IValue from_libtorch_optimizer(const IValue& value);

/// The tensors among the values; throws if two have one name.
NamedTensors only_tensors(NamedValues values, const std::string& file);

}  // namespace hearth::io

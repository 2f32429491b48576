#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/tensor.h"

/// Files in the safetensors format (huggingface.co/docs/safetensors), shared with Python.
namespace hearth::io {

class Bytes;

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;   ///< names and tensors in order
using Metadata = std::vector<std::pair<std::string, std::string>>;  ///< keys and values in order
/// Receives the next bytes of a file that is written in order.
using ByteSink = std::function<void(const void* data, size_t bytes)>;

/// The file header's entry for one tensor.
struct TensorInfo {
  std::string dtype;  ///< "F32", "BF16", …
  std::vector<int64_t> sizes;
  uint64_t nbytes = 0;
};

/// A safetensors file whose tensors are read on demand.
class HEARTH_API SafetensorsFile {
 public:
  /// Reads the header and checks it against the size of the file.
  explicit SafetensorsFile(const std::string& path);
  /// The same for a file in memory; errors show `name` instead of a path.
  SafetensorsFile(const void* data, size_t bytes, std::string name = "the buffer");
  explicit SafetensorsFile(std::istream& stream);
  explicit SafetensorsFile(std::shared_ptr<const Bytes> bytes);

  const std::vector<std::string>& keys() const;    ///< the tensors' names in the header's order
  bool contains(const std::string& name) const;    ///< whether the file has this tensor
  TensorInfo info(const std::string& name) const;  ///< dtype and sizes without reading the tensor
  const Metadata& metadata() const;                ///< the pairs under "__metadata__"
  /// Reads a tensor and moves it to the device. On the CPU, a large tensor maps the file's pages
  /// copy-on-write, so that writing to it never changes the file; `copy` prevents the mapping.
  Tensor get_tensor(const std::string& name, std::optional<Device> device = {},
                    bool copy = false) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Reads all tensors of a file in the header's order.
HEARTH_API NamedTensors load_safetensors(const std::string& path,
                                         std::optional<Device> device = {});

/// Writes the file atomically. Tensors may be views, share memory and be on any device; all
/// elements are stored under each name.
HEARTH_API void save_safetensors(const NamedTensors& tensors, const std::string& path,
                                 const Metadata& metadata = {});
/// Writes the file's bytes to a sink.
HEARTH_API void save_safetensors(const NamedTensors& tensors, const ByteSink& sink,
                                 const Metadata& metadata = {});

/// Dictionaries of tensors: OrderedDict, std::map, std::unordered_map.
template <class T>
concept TensorDict = requires(const T& dict) {
  { dict.begin()->value() } -> std::convertible_to<Tensor>;
}
|| requires { requires std::same_as<typename T::mapped_type, Tensor>; };
/// The dictionary's names and tensors in its order.
template <TensorDict Dict>
NamedTensors named_tensors(const Dict& dict) {
  NamedTensors list;
  for (const auto& item : dict) {
    if constexpr (requires { item.key(); })
      list.emplace_back(item.key(), item.value());
    else
      list.emplace_back(item.first, item.second);
  }
  return list;
}
/// save_safetensors of other dictionaries of tensors.
template <TensorDict Dict>
void save_safetensors(const Dict& tensors, const std::string& path, const Metadata& metadata = {}) {
  save_safetensors(named_tensors(tensors), path, metadata);
}

}  // namespace hearth::io

#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/tensor.h"

/// Files in the safetensors format (huggingface.co/docs/safetensors), which Python reads and writes
/// too.
namespace hearth::io {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;
/// Takes the next bytes of a file that is written in order.
using ByteSink = std::function<void(const void* data, size_t bytes)>;

/// What a file says of one of its tensors.
struct TensorInfo {
  std::string dtype;  // "F32", "BF16", …
  std::vector<int64_t> sizes;
  uint64_t nbytes = 0;
};

/// A safetensors file whose tensors are read when they are asked for.
class HEARTH_API SafetensorsFile {
 public:
  /// Reads the header and checks it against the file.
  explicit SafetensorsFile(const std::string& path);
  /// The same for a file's content; `name` stands for the path in errors.
  SafetensorsFile(const void* data, size_t bytes, std::string name = "the buffer");
  explicit SafetensorsFile(std::istream& stream);

  /// The names, in the header's order.
  const std::vector<std::string>& keys() const;
  bool contains(const std::string& name) const;
  TensorInfo info(const std::string& name) const;
  /// The pairs under "__metadata__".
  const Metadata& metadata() const;
  /// One tensor, moved to the device. On the CPU, a large one is the file's pages until it is
  /// written to, which never changes the file; with `copy`, no tensor is.
  Tensor get_tensor(const std::string& name, std::optional<Device> device = {},
                    bool copy = false) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Reads a file's tensors, in the header's order.
HEARTH_API NamedTensors load_safetensors(const std::string& path,
                                         std::optional<Device> device = {});

/// Writes the file whole or not at all. Tensors may be views, shared or on any device: each name
/// gets all of its elements.
HEARTH_API void save_safetensors(const NamedTensors& tensors, const std::string& path,
                                 const Metadata& metadata = {});
HEARTH_API void save_safetensors(const NamedTensors& tensors, const ByteSink& sink,
                                 const Metadata& metadata = {});

/// The same for any dictionary of tensors: OrderedDict, std::map, std::unordered_map.
template <class Dict>
requires requires(const Dict& d) { d.begin()->key(); } || requires(const Dict& d) {
  typename Dict::mapped_type;
}
void save_safetensors(const Dict& tensors, const std::string& path, const Metadata& metadata = {}) {
  NamedTensors list;
  for (const auto& item : tensors) {
    if constexpr (requires { item.key(); })
      list.emplace_back(item.key(), item.value());
    else
      list.emplace_back(item.first, item.second);
  }
  save_safetensors(list, path, metadata);
}

}  // namespace hearth::io

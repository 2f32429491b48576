#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hearth/ivalue_containers.h"

namespace hearth::io {

/// A storage that a pickle refers to.
struct StorageRef {
  ScalarType type = ScalarType::Undefined;  // Byte for storages without a type
  std::string key, location;                // "0", "cuda:0"
  int64_t numel = 0;
};

/// The options of unpickle().
struct PickleOptions {
  std::string name;  // of the file, for errors
  /// Returns a tensor of one dimension over the whole storage.
  std::function<Tensor(const StorageRef&)> storage;
  /// Whether objects of TorchScript classes are read, as dicts of their attributes.
  bool reads_objects = false;
  /// Called before a tensor of this dtype uses a storage of bytes; may be null.
  std::function<void(const Tensor& bytes, ScalarType)> give_dtype{};
};

/// Reads a pickle that consists of tensors, numbers, bools, strings, devices, None, lists, tuples
/// and dicts. Throws an error with the name of any other class or function.
IValue unpickle(std::string_view pickle, const PickleOptions& options);

}  // namespace hearth::io

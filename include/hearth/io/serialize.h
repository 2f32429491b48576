#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "hearth/io/archive.h"

namespace hearth {

namespace serialize {

/// Types with save(archive).
template <class T>
concept Saves = requires(const T& value, OutputArchive& archive) {
  value.save(archive);
};
/// Pointers to types with save(archive).
template <class T>
concept PointsToSaves = requires(const T& value, OutputArchive& archive) {
  value->save(archive);
};
/// Types with load(archive).
template <class T>
concept Loads = requires(T& value, InputArchive& archive) {
  value.load(archive);
};
/// Pointers to types with load(archive).
template <class T>
concept PointsToLoads = requires(T& value, InputArchive& archive) {
  value->load(archive);
};

/// Types derived from Module.
template <class T>
concept IsModule = requires(const T& value) {
  value.named_parameters();
};
/// Module holders and pointers to modules.
template <class T>
concept PointsToModule = requires(const T& value) {
  value->named_parameters();
};
/// Warns that a module without parameters and buffers was saved.
HEARTH_API void warn_of_empty_module();

/// Saves a value with save(archive), or a pointer to one: modules, holders, optimizers, samplers.
template <class T>
requires Saves<T> || PointsToSaves<T> OutputArchive& operator<<(OutputArchive& archive,
                                                                const T& value) {
  if constexpr (Saves<T>)
    value.save(archive);
  else
    value->save(archive);
  return archive;
}

/// Loads a value with load(archive), or a pointer to one.
template <class T>
requires Loads<T> || PointsToLoads<T> InputArchive& operator>>(InputArchive& archive, T& value) {
  if constexpr (Loads<T>)
    value.load(archive);
  else
    value->load(archive);
  return archive;
}

}  // namespace serialize

/// Writes the tensor under "0".
HEARTH_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                                const Tensor& tensor);
/// Reads the tensor under "0"; a defined one gets new memory with the file's sizes and dtype.
HEARTH_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, Tensor& tensor);

// In by_name, so that a program may call a save() or load() of its own with Hearth's types.
namespace by_name {

/// Saves a tensor, a module, an optimizer or any type with save(archive) to a file or stream, in
/// the safetensors format.
template <class Value, class... SaveToArgs>
void save(const Value& value, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  archive << value;
  if constexpr (serialize::IsModule<Value> || serialize::PointsToModule<Value>)
    if (archive.is_empty()) serialize::warn_of_empty_module();
  archive.save_to(std::forward<SaveToArgs>(args)...);
}
/// Saves the tensors under "0", "1", …
template <class... SaveToArgs>
void save(const std::vector<Tensor>& tensors, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(detail::str(i), tensors[i]);
  archive.save_to(std::forward<SaveToArgs>(args)...);
}

/// Loads a value that was saved by save(), from a file or stream and optionally to a device.
template <class Value, class... LoadFromArgs>
void load(Value& value, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  archive >> value;
}
/// Loads the tensors under "0", "1", … and appends them to the list.
template <class... LoadFromArgs>
void load(std::vector<Tensor>& tensors, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  for (size_t i = 0;; ++i) {
    Tensor tensor;
    if (!archive.try_read(detail::str(i), tensor)) break;
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace by_name

}  // namespace hearth

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

/// Types with named_parameters(), as Module has.
template <class T>
concept IsModule = requires(const T& value) {
  value.named_parameters();
};
/// Pointers to types with named_parameters(), and module holders.
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
/// Reads the tensor under "0". If `tensor` is defined, it gets new memory with the file's sizes and
/// dtype, on the archive's device or its own.
HEARTH_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, Tensor& tensor);

// In by_name, where argument-dependent lookup does not find them (error.h): a program's own save()
// or load() stays unambiguous.
namespace by_name {

/// Saves a tensor, a module, an optimizer or any type with save(archive) in the safetensors format,
/// with the arguments of OutputArchive::save_to (a file, a stream or a function).
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

/// Loads a value that was saved by save(), with the arguments of InputArchive::load_from (a file, a
/// stream, memory or functions, and optionally a device).
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

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"

namespace hearth::serialize {

/// A value of an archive, stored under its full path "a.b.c".
struct Value {
  enum class Kind { kValue, kTensorInFile, kSubtree };

  Kind kind = Kind::kValue;
  IValue value;
  size_t order = 0;  // number of values written before
  // Properties of a tensor that a file stores outside the tensor.
  bool requires_grad = false;
  std::optional<Device> device;
  std::vector<int64_t> strides{};  // empty: contiguous
  /// For a list, tuple or dict from a file: the names of its tensors in the file, in the order of
  /// utils::detail::visit_ivalue; `value` has undefined tensors in their places. The name of a
  /// tensor that was undefined is empty.
  std::vector<std::string> nested{};
};
using Values = std::map<std::string, Value>;

inline constexpr int kMaxValueDepth = 256;  // of lists, tuples and dicts in a value

/// The values in the order in which they were written.
std::vector<const Values::value_type*> in_written_order(const Values& values);

/// The content of an archive's file: tensors, and all other values in one JSON text.
struct FileContent {
  io::NamedTensors tensors;
  std::string json;
};
FileContent to_file(const Values& values);

/// Adds the values of to_file's JSON to `values`, which already has the file's tensors; moves the
/// tensors whose names are in Value::nested to `nested_tensors`.
void add_from_json(Values& values, Values& nested_tensors, const std::string& json,
                   const std::string& file);

/// The key of FileContent::json in a file's metadata.
inline constexpr const char* kJsonKey = "hearth";

}  // namespace hearth::serialize

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"

namespace hearth::serialize {

/// A value of a tree, under its whole path "a.b.c".
struct Value {
  enum class Kind { kValue, kTensorInFile, kSubtree };

  Kind kind = Kind::kValue;
  IValue value;
  size_t order = 0;  // in which it was written
  // What a file says of one of its tensors.
  bool requires_grad = false;
  std::optional<Device> device;
  std::vector<int64_t> strides{};  // empty: contiguous
};
using Values = std::map<std::string, Value>;

/// The values in the order in which they were written.
std::vector<const Values::value_type*> in_order(const Values& values);

/// The values' tensors, and all else as one JSON text.
struct FileContent {
  io::NamedTensors tensors;
  std::string json;
};
FileContent to_file(const Values& values);

/// Adds what to_file put into the JSON; the file's tensors are there already.
void add_from_json(Values& values, const std::string& json, const std::string& file);

inline constexpr const char* kJsonKey = "hearth";

}  // namespace hearth::serialize

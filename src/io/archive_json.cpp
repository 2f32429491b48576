#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/archive_values.h"
#include "io/strides.h"

namespace hearth::serialize {

namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr int kDeepest = 4;

/// Numbers that JSON does not have become words.
json from_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::optional<double> to_double(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

/// Anything but tensors. What is no plain JSON value is an object whose key says what it is.
json from_value(const IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isString()) return value.toStringRef();
  if (value.isIntList()) return {{"ints", value.toIntVector()}};
  if (value.isDouble()) {
    const json number = from_double(value.toDouble());
    return number.is_string() ? json{{"double", number}} : number;
  }
  if (value.isDoubleList()) {
    json numbers = json::array();
    for (const double number : value.toDoubleVector()) numbers.push_back(from_double(number));
    return {{"doubles", numbers}};
  }
  return nullptr;
}

/// Nothing if the number is too large.
std::optional<int64_t> to_int(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && !std::in_range<int64_t>(value.get<uint64_t>()))
    return std::nullopt;
  return value.get<int64_t>();
}

std::optional<IValue> to_list(const json& ints) {
  std::vector<int64_t> values;
  for (const json& item : ints) {
    const auto number = to_int(item);
    if (!number) return std::nullopt;
    values.push_back(*number);
  }
  return IValue(std::move(values));
}

std::optional<IValue> to_double_list(const json& doubles) {
  std::vector<double> values;
  for (const json& item : doubles) {
    const auto number = to_double(item);
    if (!number) return std::nullopt;
    values.push_back(*number);
  }
  return IValue(std::move(values));
}

/// Nothing if the JSON stands for no value.
std::optional<IValue> to_value(const json& value) {
  if (value.is_null()) return IValue();
  if (value.is_boolean()) return IValue(value.get<bool>());
  if (value.is_number_integer()) {
    const auto number = to_int(value);
    return number ? std::optional(IValue(*number)) : std::nullopt;
  }
  if (value.is_number()) return IValue(value.get<double>());
  if (value.is_string()) return IValue(value.get<std::string>());
  if (!value.is_object() || value.size() != 1) return std::nullopt;
  const auto item = value.begin();
  if (item.key() == "ints" && item->is_array()) return to_list(*item);
  if (item.key() == "doubles" && item->is_array()) return to_double_list(*item);
  if (item.key() == "double") {
    const auto number = to_double(*item);
    if (number) return IValue(*number);
  }
  return std::nullopt;
}

/// What a safetensors file does not keep of a tensor.
json notes_on(const Tensor& tensor) {
  json notes = json::object();
  if (tensor.requires_grad()) notes["requires_grad"] = true;
  if (!tensor.is_cpu()) notes["device"] = tensor.device().str();
  if (!tensor.is_contiguous() && can_keep_strides(tensor.sizes(), tensor.strides()))
    notes["strides"] = tensor.strides().vec();
  return notes;
}

/// How deep objects and lists lie in each other.
int depth_of(const std::string& text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '['))
      deepest = std::max(deepest, ++depth);
    else if (!in_string && (c == '}' || c == ']'))
      --depth;
  }
  return deepest;
}

/// JSON that is nested no deeper than to_file nests it.
json parse(const std::string& text, const std::string& file) {
  // Not by a callback: the parser would then look through a whole object whenever an item ends.
  HEARTH_CHECK(depth_of(text) <= kDeepest, "cannot read '", file,
               "': its metadata are nested too deeply");
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    detail::fail<Error>("cannot read '", file, "': its metadata are no valid JSON: ", error.what());
  }
}

class Reader {
 public:
  Reader(Values& values, const std::string& file) : values_(values), file_(file) {}

  void read(const json& root) {
    expect(root.is_object() && root.contains("version"), "an object with a version");
    expect(root["version"] == kVersion, "version 1, the only one there is");
    if (const json* part = find(root, "values"))
      for (const auto& item : part->items()) read_value(item.key(), item.value());
    if (const json* part = find(root, "subtrees"))
      for (const auto& item : part->items()) add(item.key(), Value::Kind::kSubtree, IValue());
    if (const json* part = find(root, "tensors"))
      for (const auto& item : part->items()) read_notes(item.key(), item.value());
  }

 private:
  void expect(bool holds, const std::string& what) const {
    HEARTH_CHECK(holds, "cannot read '", file_, "': expected ", what, " in its metadata");
  }

  const json* find(const json& root, const char* key) const {
    const auto found = root.find(key);
    if (found == root.end()) return nullptr;
    expect(found->is_object(), detail::str("an object under '", key, "'"));
    return &*found;
  }

  void add(const std::string& path, Value::Kind kind, IValue value) {
    const size_t order = values_.size();
    const bool is_new =
        values_.emplace(path, Value{kind, std::move(value), order, false, {}}).second;
    expect(is_new, detail::str("'", path, "' only once"));
  }

  void read_value(const std::string& path, const json& item) {
    auto value = to_value(item);
    expect(value.has_value(), detail::str("a value for '", path, "'"));
    add(path, Value::Kind::kValue, std::move(*value));
  }

  void read_notes(const std::string& path, const json& notes) {
    const auto found = values_.find(path);
    expect(found != values_.end() && found->second.kind == Value::Kind::kTensorInFile,
           detail::str("no notes on the tensor '", path, "', which is not there,"));
    expect(notes.is_object(), detail::str("an object for '", path, "'"));
    const json grad = notes.value("requires_grad", json(false));
    const json device = notes.value("device", json("cpu"));
    expect(grad.is_boolean() && device.is_string(), detail::str("the notes on '", path, "'"));
    found->second.requires_grad = grad.get<bool>();
    found->second.device = to_device(path, device.get<std::string>());
    if (const auto strides = notes.find("strides"); strides != notes.end())
      found->second.strides = to_strides(path, *strides);
  }

  std::vector<int64_t> to_strides(const std::string& path, const json& item) const {
    const auto list = item.is_array() ? to_list(item) : std::nullopt;
    expect(list.has_value(), detail::str("a list of strides for '", path, "'"));
    return list->toIntVector();
  }

  Device to_device(const std::string& path, const std::string& name) const {
    try {
      return Device(name);
    } catch (const Error& error) {
      detail::fail<Error>("cannot read '", file_, "': the notes on '", path, "': ", error.what());
    }
  }

  Values& values_;
  const std::string& file_;
};

}  // namespace

FileContent to_file(const Values& values) {
  FileContent content;
  json root = {{"version", kVersion}};
  for (const auto* item : in_order(values)) {
    const auto& [path, value] = *item;
    if (value.kind == Value::Kind::kSubtree) {
      root["subtrees"][path] = json::object();
    } else if (value.value.isTensor() && value.value.toTensor().defined()) {
      const Tensor tensor = value.value.toTensor();
      const json notes = notes_on(tensor);
      if (!notes.empty()) root["tensors"][path] = notes;
      content.tensors.emplace_back(path, tensor);
    } else {
      root["values"][path] = from_value(value.value);
    }
  }
  try {
    content.json = root.dump();
  } catch (const json::exception&) {
    detail::fail<Error>("cannot save an archive whose keys or strings are no UTF-8");
  }
  return content;
}

void add_from_json(Values& values, const std::string& text, const std::string& file) {
  Reader(values, file).read(parse(text, file));
}

}  // namespace hearth::serialize

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/archive_values.h"
#include "io/json_depth.h"
#include "io/strides.h"

namespace hearth::serialize {

namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr int kMaxArchiveDepth = 4;  // of the JSON of to_file

/// Numbers that JSON cannot represent become strings.
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

/// Converts a value that is not a tensor. Types that JSON lacks become objects {type: value}.
/// `path` is for errors.
json from_value(const IValue& value, const std::string& path) {
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
  // An undefined tensor is saved like None.
  HEARTH_CHECK(value.isNone() || value.isTensor(), "cannot save '", path,
               "' in an archive: it is a ", value.tagKind(),
               ", not a tensor, number, bool, string or list of these; "
               "pickle_save saves such values");
  return nullptr;
}

/// Returns nullopt if the number is too large or no integer.
std::optional<int64_t> to_int(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && !std::in_range<int64_t>(value.get<uint64_t>()))
    return std::nullopt;
  return value.get<int64_t>();
}

std::optional<IValue> to_int_list(const json& ints) {
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

/// The inverse of from_value; nullopt if the JSON represents no value.
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
  if (item.key() == "ints" && item->is_array()) return to_int_list(*item);
  if (item.key() == "doubles" && item->is_array()) return to_double_list(*item);
  if (item.key() == "double") {
    const auto number = to_double(*item);
    if (number) return IValue(*number);
  }
  return std::nullopt;
}

/// Properties of a tensor that a safetensors header does not store.
json properties_of(const Tensor& tensor) {
  json properties = json::object();
  if (tensor.requires_grad()) properties["requires_grad"] = true;
  if (!tensor.is_cpu()) properties["device"] = tensor.device().str();
  if (!tensor.is_contiguous() && can_keep_strides(tensor.sizes(), tensor.strides()))
    properties["strides"] = tensor.strides().vec();
  return properties;
}

/// Parses JSON; throws if it is nested deeper than to_file nests it.
json parse(const std::string& text, const std::string& file) {
  // Not checked in the parser's callback, which would visit an object again after each of its
  // items.
  HEARTH_CHECK(io::json_depth(text) <= kMaxArchiveDepth, "cannot read '", file,
               "': its metadata is nested too deeply");
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    detail::fail<Error>("cannot read '", file, "': its metadata is not valid JSON: ", error.what());
  }
}

class Reader {
 public:
  Reader(Values& values, const std::string& file) : values_(values), file_(file) {}

  void read(const json& root) {
    expect(root.is_object() && root.contains("version"), "an object with a version");
    expect(root["version"] == kVersion, "version 1");
    if (const json* part = find(root, "values"))
      for (const auto& item : part->items()) read_value(item.key(), item.value());
    if (const json* part = find(root, "subtrees"))
      for (const auto& item : part->items()) add(item.key(), Value::Kind::kSubtree, IValue());
    if (const json* part = find(root, "tensors"))
      for (const auto& item : part->items()) read_properties(item.key(), item.value());
  }

 private:
  void expect(bool holds, const std::string& expected) const {
    HEARTH_CHECK(holds, "cannot read '", file_, "': expected ", expected, " in its metadata");
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

  void read_properties(const std::string& path, const json& properties) {
    const auto found = values_.find(path);
    expect(found != values_.end() && found->second.kind == Value::Kind::kTensorInFile,
           detail::str("no entry for the missing tensor '", path, "'"));
    expect(properties.is_object(), detail::str("an object for '", path, "'"));
    const json requires_grad = properties.value("requires_grad", json(false));
    const json device = properties.value("device", json("cpu"));
    expect(requires_grad.is_boolean() && device.is_string(),
           detail::str("the properties of '", path, "'"));
    found->second.requires_grad = requires_grad.get<bool>();
    found->second.device = to_device(path, device.get<std::string>());
    if (const auto strides = properties.find("strides"); strides != properties.end())
      found->second.strides = to_strides(path, *strides);
  }

  std::vector<int64_t> to_strides(const std::string& path, const json& item) const {
    const auto list = item.is_array() ? to_int_list(item) : std::nullopt;
    expect(list.has_value(), detail::str("a list of strides for '", path, "'"));
    return list->toIntVector();
  }

  Device to_device(const std::string& path, const std::string& name) const {
    try {
      return Device(name);
    } catch (const Error& error) {
      detail::fail<Error>("cannot read '", file_, "': the device of '", path, "': ", error.what());
    }
  }

  Values& values_;
  const std::string& file_;
};

}  // namespace

FileContent to_file(const Values& values) {
  FileContent content;
  json root = {{"version", kVersion}};
  for (const auto* item : in_written_order(values)) {
    const auto& [path, value] = *item;
    if (value.kind == Value::Kind::kSubtree) {
      root["subtrees"][path] = json::object();
    } else if (value.value.isTensor() && value.value.toTensor().defined()) {
      const Tensor tensor = value.value.toTensor();
      const json properties = properties_of(tensor);
      if (!properties.empty()) root["tensors"][path] = properties;
      content.tensors.emplace_back(path, tensor);
    } else {
      root["values"][path] = from_value(value.value, path);
    }
  }
  try {
    content.json = root.dump();
  } catch (const json::exception&) {
    detail::fail<Error>("cannot save an archive whose keys or strings are not valid UTF-8");
  }
  return content;
}

void add_from_json(Values& values, const std::string& text, const std::string& file) {
  Reader(values, file).read(parse(text, file));
}

}  // namespace hearth::serialize

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "io/archive_value_json.h"
#include "io/archive_values.h"
#include "io/json_depth.h"
#include "io/strides.h"

namespace hearth::serialize {

namespace {

using nlohmann::json;

constexpr int kVersion = 1;
/// The greatest depth of to_file's JSON: two levels around all values, and two, an object and an
/// array, for each list, tuple or dict. kMaxValueDepth counts from 0.
constexpr int kMaxJsonDepth = 2 + 2 * (kMaxValueDepth + 1);

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
  // The depth is not checked in the parser's callback, because that would visit an object again
  // after each of its items.
  HEARTH_CHECK(io::json_depth(text) <= kMaxJsonDepth, "cannot read '", file,
               "': its metadata is nested too deeply");
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    detail::fail<Error>("cannot read '", file, "': its metadata is not valid JSON: ", error.what());
  }
}

class Reader {
 public:
  Reader(Values& values, Values& nested, const std::string& file)
      : values_(values), nested_(nested), file_(file) {}

  void read(const json& root) {
    expect(root.is_object() && root.contains("version"), "an object with a version");
    expect(root["version"] == kVersion, "version 1");
    if (const json* part = find(root, "values"))
      for (const auto& item : part->items()) read_value(item.key(), item.value());
    if (const json* part = find(root, "subtrees"))
      for (const auto& item : part->items()) add(item.key(), Value::Kind::kSubtree, IValue());
    if (const json* part = find(root, "tensors"))
      for (const auto& item : part->items()) read_properties(item.key(), item.value());
    for (const std::string& name : nested_names_) nested_.insert(values_.extract(name));
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

  bool is_tensor(const std::string& path) const {
    const auto found = values_.find(path);
    return found != values_.end() && found->second.kind == Value::Kind::kTensorInFile;
  }

  void read_value(const std::string& path, const json& item) {
    std::vector<std::string> tensors;
    auto value = value_of(item, tensors);
    expect(value && !value->isTensor(), detail::str("a value for '", path, "'"));
    for (const std::string& name : tensors)
      expect(name.empty() || (is_tensor(name) && nested_names_.insert(name).second),
             detail::str("a tensor '", name, "' that belongs only to '", path, "'"));
    add(path, Value::Kind::kValue, std::move(*value));
    values_.at(path).nested = std::move(tensors);
  }

  void read_properties(const std::string& path, const json& properties) {
    expect(is_tensor(path), detail::str("no entry for the missing tensor '", path, "'"));
    Value& tensor = values_.at(path);
    expect(properties.is_object(), detail::str("an object for '", path, "'"));
    const json requires_grad = properties.value("requires_grad", json(false));
    const json device = properties.value("device", json("cpu"));
    expect(requires_grad.is_boolean() && device.is_string(),
           detail::str("the properties of '", path, "'"));
    tensor.requires_grad = requires_grad.get<bool>();
    tensor.device = to_device(path, device.get<std::string>());
    if (const auto strides = properties.find("strides"); strides != properties.end())
      tensor.strides = to_strides(path, *strides);
  }

  std::vector<int64_t> to_strides(const std::string& path, const json& item) const {
    auto strides = ints_of(item);
    expect(strides.has_value(), detail::str("a list of strides for '", path, "'"));
    return std::move(*strides);
  }

  Device to_device(const std::string& path, const std::string& name) const {
    try {
      return Device(name);
    } catch (const Error& error) {
      detail::fail<Error>("cannot read '", file_, "': the device of '", path, "': ", error.what());
    }
  }

  Values& values_;
  Values& nested_;
  std::set<std::string> nested_names_{};  // of tensors in lists, tuples and dicts
  const std::string& file_;
};

/// Collects the content of a file.
class Writer {
 public:
  explicit Writer(const Values& values) : values_(values) {}

  FileContent run() {
    for (const auto* item : in_written_order(values_)) write(item->first, item->second);
    try {
      content_.json = root_.dump();
    } catch (const json::exception&) {
      detail::fail<Error>("cannot save an archive whose keys or strings are not valid UTF-8");
    }
    return std::move(content_);
  }

 private:
  void write(const std::string& path, const Value& value) {
    if (value.kind == Value::Kind::kSubtree)
      root_["subtrees"][path] = json::object();
    else if (!value.value.isTensor())
      root_["values"][path] = write_value(path, value.value);
    else if (const Tensor tensor = value.value.toTensor(); tensor.defined())
      write_tensor(path, tensor);
    else
      root_["values"][path] = nullptr;  // like None
  }

  void write_tensor(const std::string& name, const Tensor& tensor) {
    const json properties = properties_of(tensor);
    if (!properties.empty()) root_["tensors"][name] = properties;
    content_.tensors.emplace_back(name, tensor);
  }

  /// Stores the tensors in the value under names such as "path#0", which are no paths of values.
  json write_value(const std::string& path, const IValue& value) {
    size_t number = 0;
    return json_of(value, [&](const Tensor& tensor) {
      std::string name;
      do {
        name = detail::str(path, "#", number++);
      } while (values_.count(name));
      write_tensor(name, tensor);
      return name;
    });
  }

  const Values& values_;
  FileContent content_{};
  json root_ = {{"version", kVersion}};
};

}  // namespace

FileContent to_file(const Values& values) { return Writer(values).run(); }

void add_from_json(Values& values, Values& nested_tensors, const std::string& text,
                   const std::string& file) {
  Reader(values, nested_tensors, file).read(parse(text, file));
}

}  // namespace hearth::serialize

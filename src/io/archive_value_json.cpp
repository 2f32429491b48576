#include "io/archive_value_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "hearth/ivalue_containers.h"

namespace hearth::serialize {

namespace {

using nlohmann::json;

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

/// Returns nullopt if the number is too large or no integer.
std::optional<int64_t> to_int(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && !std::in_range<int64_t>(value.get<uint64_t>()))
    return std::nullopt;
  return value.get<int64_t>();
}

class ValueWriter {
 public:
  explicit ValueWriter(const std::function<std::string(const Tensor&)>& store) : store_(store) {}

  json write(const IValue& value) const {
    if (value.isBool()) return value.toBool();
    if (value.isInt()) return value.toInt();
    if (value.isString()) return value.toStringRef();
    if (value.isDouble()) {
      json number = from_double(value.toDouble());
      return number.is_string() ? json{{"double", number}} : number;
    }
    if (value.isIntList()) return {{"ints", value.toIntVector()}};
    if (value.isDoubleList()) return {{"doubles", array(value.toDoubleVector(), from_double)}};
    if (value.isDevice()) return {{"device", value.toDevice().str()}};
    if (value.isTensor()) return {{"tensor", store_and_name(value.toTensor())}};
    const auto name = [this](const Tensor& tensor) { return store_and_name(tensor); };
    const auto item = [this](const IValue& part) { return write(part); };
    if (value.isTensorList()) return {{"tensors", array(value.toTensorVector(), name)}};
    if (value.isList()) return {{"list", array(value.toList().vec(), item)}};
    if (value.isTuple()) return {{"tuple", array(value.toTupleRef().elements(), item)}};
    if (!value.isGenericDict()) return nullptr;
    json entries = json::array();
    for (const auto& entry : value.toGenericDict()) {
      entries.push_back(write(entry.key()));
      entries.push_back(write(entry.value()));
    }
    return {{"dict", std::move(entries)}};
  }

 private:
  template <class T, class F>
  static json array(const std::vector<T>& values, const F& convert) {
    json result = json::array();
    for (const T& value : values) result.push_back(convert(value));
    return result;
  }
  json store_and_name(const Tensor& tensor) const {
    return tensor.defined() ? json(store_(tensor)) : json();
  }

  const std::function<std::string(const Tensor&)>& store_;
};

/// Converts every item of an array; nullopt if one cannot be converted.
template <class T, class F>
std::optional<std::vector<T>> convert_all(const json& array, const F& convert) {
  std::vector<T> values;
  for (const json& item : array) {
    std::optional<T> value = convert(item);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

class ValueReader {
 public:
  explicit ValueReader(std::vector<std::string>& tensors) : tensors_(tensors) {}

  std::optional<IValue> read(const json& value) {
    if (value.is_null()) return IValue();
    if (value.is_boolean()) return IValue(value.get<bool>());
    if (value.is_number_integer()) return as_value(to_int(value));
    if (value.is_number()) return IValue(value.get<double>());
    if (value.is_string()) return IValue(value.get<std::string>());
    if (!value.is_object() || value.size() != 1) return std::nullopt;
    return read_object(value.begin().key(), value.begin().value());
  }

 private:
  template <class T>
  static std::optional<IValue> as_value(std::optional<T> value) {
    return value ? std::optional(IValue(std::move(*value))) : std::nullopt;
  }

  std::optional<IValue> read_object(const std::string& type, const json& content) {
    if (type == "double") return as_value(to_double(content));
    if (type == "device") return read_device(content);
    if (type == "tensor") return as_value(read_tensor(content));
    if (!content.is_array()) return std::nullopt;
    if (type == "ints") return as_value(ints_of(content));
    if (type == "doubles") return as_value(convert_all<double>(content, to_double));
    if (type == "tensors")
      return as_value(
          convert_all<Tensor>(content, [this](const json& item) { return read_tensor(item); }));
    auto items = convert_all<IValue>(content, [this](const json& item) { return read(item); });
    if (!items) return std::nullopt;
    if (type == "list") return IValue(std::move(*items));
    if (type == "tuple") return ivalue::Tuple::create(std::move(*items));
    return type == "dict" ? dict_of(*items) : std::nullopt;
  }

  static std::optional<IValue> read_device(const json& name) {
    if (!name.is_string()) return std::nullopt;
    try {
      return IValue(Device(name.get<std::string>()));
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::optional<Tensor> read_tensor(const json& name) {
    if (!name.is_null() && (!name.is_string() || name.get_ref<const std::string&>().empty()))
      return std::nullopt;
    tensors_.push_back(name.is_null() ? "" : name.get<std::string>());
    return Tensor();
  }

  /// The items are keys and values in turn.
  static std::optional<IValue> dict_of(const std::vector<IValue>& items) {
    if (items.size() % 2 != 0) return std::nullopt;
    GenericDict dict;
    try {
      for (size_t i = 0; i < items.size(); i += 2)
        if (!dict.insert(items[i], items[i + 1]).second) return std::nullopt;
    } catch (const Error&) {  // not a key of a Dict
      return std::nullopt;
    }
    return IValue(dict);
  }

  std::vector<std::string>& tensors_;
};

}  // namespace

json json_of(const IValue& value, const std::function<std::string(const Tensor&)>& store) {
  return ValueWriter(store).write(value);
}

std::optional<IValue> value_of(const json& value, std::vector<std::string>& tensors) {
  return ValueReader(tensors).read(value);
}

std::optional<std::vector<int64_t>> ints_of(const json& value) {
  if (!value.is_array()) return std::nullopt;
  return convert_all<int64_t>(value, to_int);
}

}  // namespace hearth::serialize

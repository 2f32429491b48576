#include "io/archive_value_json.h"

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/ivalue_variant.h"

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

std::optional<bool> to_bool(const json& value) {
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}

class ValueWriter {
 public:
  explicit ValueWriter(const std::function<std::string(const Tensor&)>& store) : store_(store) {}

  json write(const IValue& value) const {
    return detail::visit_content(
        value, [](std::monostate) { return json(); }, [](bool flag) { return json(flag); },
        [](int64_t number) { return json(number); },
        [](const std::string& text) { return json(text); },
        [](double number) {
          json result = from_double(number);
          return result.is_string() ? json{{"double", std::move(result)}} : result;
        },
        [](complex<double> number) {
          return json{{"complex", parts_of({IValue(number)})}};
        },
        [](Device device) {
          return json{{"device", device.str()}};
        },
        [this](const Tensor& tensor) {
          return json{{"tensor", store_and_name(tensor)}};
        },
        [this](const detail::ListPtr& list) { return write(*list); },
        [this](const detail::TuplePtr& tuple) {
          return json{{"tuple", items(tuple->elements())}};
        },
        [this](const detail::DictPtr& dict) {
          json entries = json::array();
          for (const auto& [key, item] : dict->items()) {
            entries.push_back(write(key));
            entries.push_back(write(item));
          }
          return json{{"dict", std::move(entries)}};
        },
        [](const Generator&) -> json { detail::fail<Error>("cannot save a Generator"); });
  }

 private:
  /// A list of one of the kinds has an array of its elements' content, not of {type: value}.
  json write(const detail::ListContent& list) const {
    switch (list.kind) {
      case detail::ListKind::kAny: return {{"list", items(list.values)}};
      case detail::ListKind::kBool: return {{"bools", array(list.values, &IValue::toBool)}};
      case detail::ListKind::kInt: return {{"ints", array(list.values, &IValue::toInt)}};
      case detail::ListKind::kDouble:
        return {{"doubles", array(list.values, [](const IValue& item) {
                   return from_double(item.toDouble());
                 })}};
      case detail::ListKind::kComplexDouble: return {{"complexes", parts_of(list.values)}};
      case detail::ListKind::kTensor: break;
    }
    return {{"tensors", array(list.values, [this](const IValue& item) {
               return store_and_name(item.toTensor());
             })}};
  }
  template <class F>
  static json array(const std::vector<IValue>& values, const F& convert) {
    json result = json::array();
    for (const IValue& value : values) result.push_back(std::invoke(convert, value));
    return result;
  }
  json items(const std::vector<IValue>& values) const {
    return array(values, [this](const IValue& value) { return write(value); });
  }
  /// The real and the imaginary part of each number in turn.
  static json parts_of(const std::vector<IValue>& numbers) {
    json result = json::array();
    for (const IValue& number : numbers) {
      result.push_back(from_double(number.toComplexDouble().real()));
      result.push_back(from_double(number.toComplexDouble().imag()));
    }
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

/// The items are the real and the imaginary part of each number in turn.
std::optional<std::vector<complex<double>>> to_complexes(const json& array) {
  const auto parts = convert_all<double>(array, to_double);
  if (!parts || parts->size() % 2 != 0) return std::nullopt;
  std::vector<complex<double>> numbers;
  for (size_t i = 0; i < parts->size(); i += 2) numbers.emplace_back((*parts)[i], (*parts)[i + 1]);
  return numbers;
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
    if (type == "bools") return as_value(convert_all<bool>(content, to_bool));
    if (type == "ints") return as_value(ints_of(content));
    if (type == "doubles") return as_value(convert_all<double>(content, to_double));
    if (type == "complex") return read_complex(content);
    if (type == "complexes") return as_value(to_complexes(content));
    if (type == "tensors")
      return as_value(
          convert_all<Tensor>(content, [this](const json& item) { return read_tensor(item); }));
    auto items = convert_all<IValue>(content, [this](const json& item) { return read(item); });
    if (!items) return std::nullopt;
    if (type == "list") return IValue(std::move(*items));
    if (type == "tuple") return ivalue::Tuple::create(std::move(*items));
    return type == "dict" ? dict_of(*items) : std::nullopt;
  }

  static std::optional<IValue> read_complex(const json& parts) {
    const auto numbers = to_complexes(parts);
    return numbers && numbers->size() == 1 ? std::optional(IValue(numbers->front())) : std::nullopt;
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

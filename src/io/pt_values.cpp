// Values of files of Python by name, and the layouts of optimizers.
#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "hearth/io/pt.h"
#include "hearth/operators.h"
#include "io/gzip.h"
#include "io/pt_file.h"

namespace hearth::io {

namespace {

constexpr size_t kLongestPath = 1024;
constexpr uint64_t kLeastBytes = 64 << 20;  // expanded tensors are much larger than their files

std::string text_of_key(const IValue& key) {
  if (key.isString()) return key.toStringRef();
  std::ostringstream text;
  text << key;
  return text.str();
}

class Flattener {
 public:
  Flattener(bool with_sizes, uint64_t file_bytes)
      : with_sizes_(with_sizes), most_bytes_(std::max(kLeastBytes, file_bytes * kMostPerByte)) {}

  NamedValues take() && { return std::move(values_); }

  void add(const std::string& path, const IValue& value) {
    HEARTH_CHECK(path.size() <= kLongestPath, "the name of a value has more than ", kLongestPath,
                 " letters: '", path.substr(0, 64), "…'");
    if (value.isGenericDict()) {
      for (const auto& item : value.toGenericDict())
        add(join(path, text_of_key(item.key())), item.value());
    } else if (value.isTuple()) {
      add_items(path, value.toTupleRef().elements());
    } else if (value.isList() && !value.isIntList() && !value.isDoubleList()) {
      const std::vector<IValue> items = value.toList().vec();
      add_items(path, items);
      if (with_sizes_ && !path.empty()) values_.emplace_back(join(path, "size"), items.size());
    } else {
      check_size(path, value);
      values_.emplace_back(path.empty() ? "0" : path, value);
    }
  }

 private:
  static std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }
  void add_items(const std::string& path, const std::vector<IValue>& items) {
    for (size_t i = 0; i < items.size(); ++i) add(join(path, std::to_string(i)), items[i]);
  }
  void check_size(const std::string& path, const IValue& value) const {
    if (!value.isTensor() || !value.toTensor().has_storage()) return;
    const Tensor tensor = value.toTensor();
    HEARTH_CHECK(uint64_t(tensor.nbytes()) <= most_bytes_, "'", path, "' has the sizes ",
                 tensor.sizes(), ", far more elements than its file");
  }

  bool with_sizes_;
  uint64_t most_bytes_;
  NamedValues values_;
};

}  // namespace

NamedValues flatten(const IValue& value, bool with_sizes, uint64_t file_bytes) {
  Flattener flattener(with_sizes, file_bytes);
  flattener.add("", value);
  return std::move(flattener).take();
}

NamedValues named_values(const IValue& value) {
  return flatten(value, false, UINT64_MAX / kMostPerByte);
}

NamedTensors only_tensors(NamedValues values, const std::string& file) {
  NamedTensors tensors;
  std::set<std::string> names;
  for (auto& [name, value] : values) {
    if (!value.isTensor()) continue;
    HEARTH_CHECK(names.insert(name).second, "cannot read '", file, "': two tensors are named '",
                 name, "'");
    tensors.emplace_back(name, value.toTensor());
  }
  return tensors;
}

namespace {

/// The value under the key of a dict, or None.
IValue find(const IValue& dict, const std::string& key) {
  if (!dict.isGenericDict()) return {};
  const GenericDict content = dict.toGenericDict();
  const auto found = content.find(key);
  return found == content.end() ? IValue() : found->value();
}

int64_t size_in(const IValue& dict, const std::string& key) {
  const IValue size = find(dict, key);
  HEARTH_CHECK(size.isTensor() && size.toTensor().numel() == 1, "expected the number '", key,
               "' in an optimizer's archive");
  return size.toTensor().item<int64_t>();
}

/// A group's options and the keys of its parameters; they are numbered from `number` on.
GenericDict group_from(const IValue& group, std::map<std::string, int64_t>& numbers) {
  GenericDict result;
  if (const IValue options = find(group, "options"); options.isGenericDict())
    for (const auto& item : options.toGenericDict())
      result.insert_or_assign(item.key(), item.value());
  std::vector<IValue> params;
  const int64_t count = size_in(group, "params/size");
  for (int64_t i = 0; i < count; ++i) {
    const IValue key = find(group, detail::str("params/", i));
    HEARTH_CHECK(key.isString(), "expected the key of parameter ", i, " in an optimizer's archive");
    const auto number = static_cast<int64_t>(numbers.size());
    params.emplace_back(numbers.try_emplace(key.toStringRef(), number).first->second);
  }
  result.insert_or_assign("params", std::move(params));
  return result;
}

}  // namespace

IValue from_libtorch_optimizer(const IValue& value) {
  const IValue saved = find(value, "param_groups"), saved_state = find(value, "state");
  if (find(saved, "param_groups/size").isNone() || !saved_state.isGenericDict()) return value;
  std::map<std::string, int64_t> numbers;
  std::vector<IValue> groups;
  const int64_t count = size_in(saved, "param_groups/size");
  for (int64_t i = 0; i < count; ++i)
    groups.emplace_back(group_from(find(saved, detail::str("param_groups/", i)), numbers));
  GenericDict state, result;
  for (const auto& item : saved_state.toGenericDict())
    if (const auto number = numbers.find(item.key().toStringRef()); number != numbers.end())
      state.insert_or_assign(number->second, item.value());
  result.insert_or_assign("state", state);
  result.insert_or_assign("param_groups", std::move(groups));
  return result;
}

namespace {

/// Replaces a dict with the keys "0", "1", … by a tuple, or by a list if it has a "size".
IValue python_value(const IValue& value) {
  if (!value.isGenericDict()) return value;
  std::vector<IValue> items;
  bool is_list = false;
  for (const auto& item : value.toGenericDict()) {
    if (const std::string key = item.key().toStringRef(); key == "size")
      is_list = true;
    else if (key == std::to_string(items.size()))
      items.push_back(python_value(item.value()));
    else
      return value;
  }
  return is_list ? IValue(std::move(items)) : ivalue::Tuple::create(std::move(items));
}

/// A group with its parameters numbered from `first` on.
GenericDict python_group(const IValue& group, int64_t& first) {
  GenericDict result;
  for (const auto& item : group.toGenericDict()) {
    if (item.key().toStringRef() != "params") {
      result.insert(item.key(), python_value(item.value()));
      continue;
    }
    std::vector<IValue> params;
    for (const int64_t end = first + find(item.value(), "size").toInt(); first < end; ++first)
      params.emplace_back(first);
    result.insert("params", std::move(params));
  }
  return result;
}

/// The number of a parameter, from the key of its state.
int64_t number_from(const std::string& key) {
  int64_t number = 0;
  const char* end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(key.data(), end, number);
  HEARTH_CHECK(error == std::errc() && stop == end, "to_python: expected the number of a ",
               "parameter under 'state', but got '", key, "'");
  return number;
}

/// The states of all parameters; Python counts steps in tensors.
GenericDict python_state(const IValue& states) {
  GenericDict result;
  for (const auto& item : states.toGenericDict()) {
    GenericDict state;
    for (const auto& part : item.value().toGenericDict())
      state.insert(part.key(), part.key().toStringRef() == "step" && part.value().isInt()
                                   ? IValue(full({}, part.value().toInt(), kFloat))
                                   : python_value(part.value()));
    result.insert(number_from(item.key().toStringRef()), state);
  }
  return result;
}

/// The dict, with a dict for each part of the keys before the last dot.
GenericDict nested(const optim::StateDict& dict) {
  GenericDict root;
  for (const auto& [key, value] : dict) {
    GenericDict at = root;
    size_t begin = 0;
    for (size_t dot; (dot = key.find('.', begin)) != std::string::npos; begin = dot + 1) {
      const std::string name = key.substr(begin, dot - begin);
      at.insert(name, GenericDict());
      at = at.at(name).toGenericDict();
    }
    at.insert(key.substr(begin), value);
  }
  return root;
}

}  // namespace

IValue to_python(const optim::StateDict& dict) {
  const GenericDict saved = nested(dict);
  const IValue saved_groups = find(saved, "param_groups"), states = find(saved, "state");
  HEARTH_CHECK(saved_groups.isGenericDict(), "to_python: expected the state dict of an optimizer");
  GenericDict result;
  std::vector<IValue> groups;
  int64_t first = 0;
  for (const auto& item : saved_groups.toGenericDict())
    if (item.value().isGenericDict()) groups.emplace_back(python_group(item.value(), first));
  result.insert("state", states.isNone() ? GenericDict() : python_state(states));
  result.insert("param_groups", std::move(groups));
  return result;
}

}  // namespace hearth::io

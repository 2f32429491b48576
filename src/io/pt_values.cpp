// Values of Python's files by path, and the layouts of optimizers' state dicts.
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

constexpr size_t kMaxPathLength = 1024;
constexpr uint64_t kMinByteLimit = 64 << 20;  // smaller tensors may come from a file of any size

std::string text_of_key(const IValue& key) {
  if (key.isString()) return key.toStringRef();
  std::ostringstream text;
  text << key;
  return text.str();
}

class Flattener {
 public:
  Flattener(bool with_sizes, uint64_t file_bytes)
      : with_sizes_(with_sizes),
        max_bytes_(std::max(kMinByteLimit, file_bytes * kMaxCompressionRatio)) {}

  NamedValues take() && { return std::move(values_); }

  void add(const std::string& path, const IValue& value) {
    HEARTH_CHECK(path.size() <= kMaxPathLength, "the name of a value has more than ",
                 kMaxPathLength, " characters: '", path.substr(0, 64), "…'");
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
      values_.emplace_back(path, value);
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
    HEARTH_CHECK(uint64_t(tensor.nbytes()) <= max_bytes_, "'", path, "' has the sizes ",
                 tensor.sizes(), ", far more elements than its file");
  }

  bool with_sizes_;
  uint64_t max_bytes_;
  NamedValues values_;
};

}  // namespace

NamedValues flatten(const IValue& value, bool with_sizes, uint64_t file_bytes) {
  Flattener flattener(with_sizes, file_bytes);
  flattener.add("", value);
  NamedValues values = std::move(flattener).take();
  if (values.size() == 1 && values[0].first.empty() && !value.isGenericDict())
    values[0].first = "0";
  return values;
}

NamedValues named_values(const IValue& value) {
  return flatten(value, false, UINT64_MAX / kMaxCompressionRatio);
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

/// A group's options and the indices of its parameters; new parameters get the next index.
GenericDict group_from(const IValue& group, std::map<std::string, int64_t>& indices) {
  GenericDict result;
  if (const IValue options = find(group, "options"); options.isGenericDict())
    for (const auto& item : options.toGenericDict())
      result.insert_or_assign(item.key(), item.value());
  std::vector<IValue> params;
  const int64_t num_params = size_in(group, "params/size");
  for (int64_t i = 0; i < num_params; ++i) {
    const IValue key = find(group, detail::str("params/", i));
    HEARTH_CHECK(key.isString(), "expected the key of parameter ", i, " in an optimizer's archive");
    const auto index = static_cast<int64_t>(indices.size());
    params.emplace_back(indices.try_emplace(key.toStringRef(), index).first->second);
  }
  result.insert_or_assign("params", std::move(params));
  return result;
}

}  // namespace

IValue from_libtorch_optimizer(const IValue& value) {
  const IValue saved = find(value, "param_groups"), saved_state = find(value, "state");
  if (find(saved, "param_groups/size").isNone() || !saved_state.isGenericDict()) return value;
  std::map<std::string, int64_t> indices;
  std::vector<IValue> groups;
  const int64_t num_groups = size_in(saved, "param_groups/size");
  for (int64_t i = 0; i < num_groups; ++i)
    groups.emplace_back(group_from(find(saved, detail::str("param_groups/", i)), indices));
  GenericDict state, result;
  for (const auto& item : saved_state.toGenericDict())
    if (const auto index = indices.find(item.key().toStringRef()); index != indices.end())
      state.insert_or_assign(index->second, item.value());
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

/// A group whose parameters have the indices from `first` on; advances `first`.
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

/// The index of a parameter, from the key of its state.
int64_t index_from(const std::string& key) {
  int64_t index = 0;
  const char* end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(key.data(), end, index);
  HEARTH_CHECK(error == std::errc() && stop == end, "to_python: expected the number of a ",
               "parameter under 'state', but got '", key, "'");
  return index;
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
    result.insert(index_from(item.key().toStringRef()), state);
  }
  return result;
}

/// Splits the keys at dots into nested dicts.
GenericDict nested(const optim::StateDict& dict) {
  GenericDict root;
  for (const auto& [key, value] : dict) {
    GenericDict current = root;
    size_t begin = 0;
    for (size_t dot; (dot = key.find('.', begin)) != std::string::npos; begin = dot + 1) {
      const std::string name = key.substr(begin, dot - begin);
      current.insert(name, GenericDict());
      current = current.at(name).toGenericDict();
    }
    current.insert(key.substr(begin), value);
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

#include <algorithm>
#include <istream>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "io/output_tree.h"

namespace hearth::serialize {

namespace {

/// What was loaded; shared by an archive and those nested in it.
struct Source {
  std::string name;
  Values values;
  std::optional<io::SafetensorsFile> file;
  std::optional<Device> device;
};

std::shared_ptr<const Source> open_source(io::SafetensorsFile file, std::string name,
                                          std::optional<Device> device) {
  auto source = std::make_shared<Source>();
  source->name = std::move(name);
  source->device = device;
  for (const std::string& path : file.keys()) {
    const size_t order = source->values.size();
    source->values.emplace(path, Value{Value::Kind::kTensorInFile, IValue(), order, false, {}});
  }
  for (const auto& [key, value] : file.metadata())
    if (key == kJsonKey) add_from_json(source->values, value, source->name);
  source->file = std::move(file);
  return source;
}

void check_reachable(const std::string& path, Device device) {
  HEARTH_CHECK(!device.is_cuda() || cuda::is_available(),
               "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
               "False. If you are running on a CPU-only machine, please load to torch::kCPU: '",
               path, "' was saved on ", device);
}

}  // namespace

struct InputArchive::Tree {
  std::string path(const std::string& key) const { return prefix + key; }
  const Value* find(const std::string& key) const {
    const auto found = source->values.find(path(key));
    return found == source->values.end() ? nullptr : &found->second;
  }
  bool has_subtree(const std::string& key) const;
  Tensor tensor(const std::string& key, const Value& value) const;
  std::optional<IValue> value(const std::string& key) const;
  /// What is there instead of a value of a kind.
  std::string found(const std::string& key) const;

  std::shared_ptr<const Source> source = std::make_shared<Source>();
  std::string prefix;  // "" or "a.b."
};

bool InputArchive::Tree::has_subtree(const std::string& key) const {
  const Value* value = find(key);
  if (value && value->kind == Value::Kind::kSubtree) return true;
  const std::string below = path(key) + ".";
  const auto next = source->values.lower_bound(below);
  return next != source->values.end() && next->first.compare(0, below.size(), below) == 0;
}

/// A new tensor on the device on which it should be.
Tensor InputArchive::Tree::tensor(const std::string& key, const Value& value) const {
  if (value.kind != Value::Kind::kTensorInFile) {
    const Tensor written = value.value.toTensor();
    if (!written.defined()) return written;
    const NoGradGuard no_history;
    return written.detach().clone().requires_grad_(value.requires_grad);
  }
  const Device device = source->device.value_or(value.device.value_or(kCPU));
  check_reachable(path(key), device);
  try {
    return source->file->get_tensor(path(key), device, /*copy=*/true)
        .requires_grad_(value.requires_grad);
  } catch (Error& error) {
    error.add_context(detail::str("while reading '", path(key), "' from '", source->name, "'"));
    throw;
  }
}

/// Anything but a subtree, except for one of tensors that are numbered, which is a list.
std::optional<IValue> InputArchive::Tree::value(const std::string& key) const {
  const Value* value = find(key);
  if (value && value->kind == Value::Kind::kTensorInFile) return IValue(tensor(key, *value));
  if (value && value->kind == Value::Kind::kValue)
    return value->value.isTensor() ? IValue(tensor(key, *value)) : value->value;
  if (!has_subtree(key)) return std::nullopt;
  std::vector<Tensor> list;
  for (;;) {
    const std::string item = detail::str(key, ".", list.size());
    const Value* next = find(item);
    if (!next) break;
    list.push_back(tensor(item, *next));
  }
  return IValue(std::move(list));
}

std::string InputArchive::Tree::found(const std::string& key) const {
  const Value* value = find(key);
  const std::string from = source->name.empty() ? "" : detail::str(" in '", source->name, "'");
  if (!value && !has_subtree(key)) return from;
  const char* kind = "a subtree";
  if (value && value->kind == Value::Kind::kTensorInFile) kind = "a Tensor";
  if (value && value->kind == Value::Kind::kValue) kind = value->value.tagKind();
  return detail::str(from, "; there is ", kind);
}

InputArchive::InputArchive() : tree_(new Tree) {}
InputArchive::InputArchive(const OutputArchive& written) : InputArchive() {
  auto source = std::make_shared<Source>();
  source->values = written.tree_->values;
  tree_->source = std::move(source);
}
InputArchive::~InputArchive() = default;
InputArchive::InputArchive(InputArchive&&) noexcept = default;
InputArchive& InputArchive::operator=(InputArchive&&) noexcept = default;

bool InputArchive::try_read(const std::string& key, Tensor& value, bool) {
  const Value* stored = tree_->find(key);
  if (!stored || stored->kind == Value::Kind::kSubtree) return false;
  const bool is_tensor = stored->kind == Value::Kind::kTensorInFile || stored->value.isTensor() ||
                         stored->value.isNone();
  if (!is_tensor) return false;
  if (stored->value.isNone() && stored->kind == Value::Kind::kValue) {
    HEARTH_CHECK(!value.defined(), "'", tree_->path(key),
                 "' was saved as an undefined tensor, but ", "the one to read into is defined");
    return true;
  }
  if (!value.defined()) {
    value = tree_->tensor(key, *stored);
    return true;
  }
  const Tensor source = stored->kind == Value::Kind::kTensorInFile
                            ? tree_->source->file->get_tensor(tree_->path(key))
                            : stored->value.toTensor();
  HEARTH_CHECK(source.defined() && source.sizes() == value.sizes(), "size mismatch for ",
               tree_->path(key), ": copying a param with shape ",
               source.defined() ? to_string(source.sizes()) : "undefined",
               " from checkpoint, the shape in current model is ", value.sizes(), ".");
  HEARTH_CHECK(can_cast(source.scalar_type(), value.scalar_type()), "'", tree_->path(key),
               "' was saved as ", source.scalar_type(), ", which cannot be read into a tensor of ",
               value.scalar_type());
  const NoGradGuard no_history;
  value.copy_(source);
  return true;
}

bool InputArchive::try_read(const std::string& key, IValue& value) {
  auto stored = tree_->value(key);
  if (stored) value = std::move(*stored);
  return stored.has_value();
}

bool InputArchive::try_read(const std::string& key, InputArchive& nested) {
  if (!tree_->has_subtree(key)) return false;
  hearth::detail::OwnedPtr<Tree> below(new Tree(*tree_));
  below->prefix = tree_->path(key) + ".";
  nested.tree_ = std::move(below);
  return true;
}

bool InputArchive::try_read(const std::string& key, int64_t& value) {
  const Value* stored = tree_->find(key);
  if (!stored || !stored->value.isInt()) return false;
  value = stored->value.toInt();
  return true;
}

bool InputArchive::try_read(const std::string& key, double& value) {
  const Value* stored = tree_->find(key);
  if (!stored || !(stored->value.isDouble() || stored->value.isInt())) return false;
  value =
      stored->value.isInt() ? static_cast<double>(stored->value.toInt()) : stored->value.toDouble();
  return true;
}

bool InputArchive::try_read(const std::string& key, bool& value) {
  const Value* stored = tree_->find(key);
  if (!stored || !stored->value.isBool()) return false;
  value = stored->value.toBool();
  return true;
}

bool InputArchive::try_read(const std::string& key, std::string& value) {
  const Value* stored = tree_->find(key);
  if (!stored || !stored->value.isString()) return false;
  value = stored->value.toStringRef();
  return true;
}

#define HEARTH_READ(Type, what)                                                                \
  void InputArchive::read(const std::string& key, Type& value) {                               \
    HEARTH_CHECK(try_read(key, value), "No such serialized " what " '", tree_->path(key), "'", \
                 tree_->found(key));                                                           \
  }
HEARTH_READ(IValue, "IValue")
HEARTH_READ(int64_t, "int")
HEARTH_READ(double, "double")
HEARTH_READ(bool, "bool")
HEARTH_READ(std::string, "string")
#undef HEARTH_READ

void InputArchive::read(const std::string& key, Tensor& value, bool is_buffer) {
  HEARTH_CHECK(try_read(key, value, is_buffer), "No such serialized tensor '", tree_->path(key),
               "'", tree_->found(key));
}

void InputArchive::read(const std::string& key, InputArchive& nested) {
  HEARTH_CHECK(try_read(key, nested), "No such serialized submodule: '", tree_->path(key), "'",
               tree_->found(key));
}

void InputArchive::fail_narrow(const std::string& key, int64_t wide) const {
  detail::fail<Error>("'", tree_->path(key), "' is ", wide, ", which does not fit");
}

std::vector<std::string> InputArchive::keys() const {
  std::map<std::string, size_t> first;  // where each name occurs first
  const auto& values = tree_->source->values;
  for (auto it = values.lower_bound(tree_->prefix);
       it != values.end() && it->first.compare(0, tree_->prefix.size(), tree_->prefix) == 0; ++it) {
    const std::string below = it->first.substr(tree_->prefix.size());
    const auto place = first.emplace(below.substr(0, below.find('.')), it->second.order).first;
    place->second = std::min(place->second, it->second.order);
  }
  std::vector<std::pair<size_t, std::string>> ordered;
  for (const auto& [name, order] : first) ordered.emplace_back(order, name);
  std::sort(ordered.begin(), ordered.end());
  std::vector<std::string> names;
  for (auto& item : ordered) names.push_back(std::move(item.second));
  return names;
}

bool InputArchive::contains(const std::string& key) const {
  return tree_->find(key) || tree_->has_subtree(key);
}

void InputArchive::load_from(const std::string& filename, std::optional<Device> device) {
  tree_->source = open_source(io::SafetensorsFile(filename), filename, device);
  tree_->prefix.clear();
}
void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  tree_->source = open_source(io::SafetensorsFile(stream), "the stream", device);
  tree_->prefix.clear();
}
void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  tree_->source = open_source(io::SafetensorsFile(data, size), "the buffer", device);
  tree_->prefix.clear();
}
void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                             const std::function<size_t()>& size, std::optional<Device> device) {
  std::string content(size(), '\0');
  const size_t got = read(0, content.data(), content.size());
  HEARTH_CHECK(got == content.size(), "cannot read the archive: expected ", content.size(),
               " bytes, but got ", got);
  load_from(content.data(), content.size(), device);
}

}  // namespace hearth::serialize

#include <algorithm>
#include <cmath>
#include <istream>

#include "hearth/autograd.h"
#include "hearth/io/key_hint.h"
#include "hearth/utils/checkpoint.h"
#include "io/archive_source.h"
#include "io/output_tree.h"
#include "io/saved_device.h"
#include "io/strides.h"

namespace hearth::serialize {

namespace {

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

}  // namespace

struct InputArchive::Tree {
  std::string path(const std::string& key) const { return prefix + key; }
  const Value* find(const std::string& key) const {
    const auto found = source->values.find(path(key));
    return found == source->values.end() ? nullptr : &found->second;
  }
  bool has_subtree(const std::string& key) const;
  /// A tensor for the reader: a copy unless the source owns its tensors. A tensor of a safetensors
  /// file is read to the requested device or the one on which it was saved; `name` is the path, or
  /// the name of a nested tensor in the file.
  Tensor tensor(const std::string& name, const Value& value) const;
  /// The value of a key that is no subtree, with tensors as from tensor().
  IValue leaf(const std::string& key, const Value& value) const;
  /// A value that is not a tensor, with tensors in it as from tensor().
  IValue with_tensors(const Value& value) const;
  /// Replaces the data of a defined tensor, which keeps its dtype, and its device unless one was
  /// given for all tensors. Up to `aliases` other tensors may share its storage and get the new
  /// data too.
  void replace(const std::string& key, const Value& stored, Tensor& value, size_t aliases) const;
  std::optional<IValue> value(const std::string& key) const;
  /// The number of values and subtrees below a key, except `size`.
  size_t count_below(const std::string& key) const;
  /// A number or bool. Files of Python may have a 0-d tensor instead, such as an optimizer's step
  /// count; if its number is whole, it counts as an integer.
  std::optional<Scalar> number(const std::string& key) const;
  /// The end of the error for a missing value: the kind of value under the key, or a hint.
  std::string missing_text(const std::string& key) const;

  std::shared_ptr<const ArchiveSource> source = std::make_shared<ArchiveSource>();
  std::string prefix;  // "" or "a.b."
  bool requires_same_sizes = false;
};

bool InputArchive::Tree::has_subtree(const std::string& key) const {
  const Value* value = find(key);
  if (value && value->kind == Value::Kind::kSubtree) return true;
  const std::string below = path(key) + ".";
  const auto next = source->values.lower_bound(below);
  return next != source->values.end() && next->first.compare(0, below.size(), below) == 0;
}

Tensor InputArchive::Tree::tensor(const std::string& name, const Value& value) const {
  if (value.kind != Value::Kind::kTensorInFile) {
    const Tensor written = value.value.toTensor();
    if (!written.defined() || source->owns_tensors) return written;
    const NoGradGuard no_history;
    return written.detach().clone().requires_grad_(value.requires_grad);
  }
  const Device device = source->device.value_or(value.device.value_or(kCPU));
  if (!source->device) io::check_reachable(name, device);
  try {
    if (value.strides.empty())
      return source->file->get_tensor(name, device, /*copy=*/true)
          .requires_grad_(value.requires_grad);
    const NoGradGuard no_history;
    const Tensor contiguous = source->file->get_tensor(name, device);
    HEARTH_CHECK(can_keep_strides(contiguous.sizes(), value.strides),
                 "expected strides that fit the ", "sizes ", contiguous.sizes(), ", but got ",
                 IntArrayRef(value.strides));
    return copy_with_strides(contiguous, value.strides).requires_grad_(value.requires_grad);
  } catch (Error& error) {
    error.append_line(detail::str("while reading '", name, "' from '", source->name, "'"));
    throw;
  }
}

IValue InputArchive::Tree::with_tensors(const Value& value) const {
  IValue result = value.value;
  if (source->owns_tensors) return result;
  size_t next = 0;
  utils::detail::visit_ivalue(result, [&](Tensor& tensor) {
    if (next < value.nested.size()) {
      const std::string& name = value.nested[next++];
      if (!name.empty()) tensor = this->tensor(name, source->nested_tensors.at(name));
    } else if (tensor.defined()) {
      const NoGradGuard no_history;
      tensor = tensor.detach().clone().requires_grad_(tensor.requires_grad());
    }
  });
  return result;
}

void InputArchive::Tree::replace(const std::string& key, const Value& stored, Tensor& value,
                                 size_t aliases) const {
  const Tensor stored_tensor = stored.kind == Value::Kind::kTensorInFile
                                   ? source->file->get_tensor(path(key))
                                   : stored.value.toTensor();
  HEARTH_CHECK(can_cast(stored_tensor.scalar_type(), value.scalar_type()), "'", path(key),
               "' was saved as ", stored_tensor.scalar_type(),
               ", which cannot be read into a tensor of ", value.scalar_type());
  HEARTH_CHECK(!requires_same_sizes || stored_tensor.sizes() == value.sizes(), "size mismatch for ",
               path(key), ": copying a param with shape ", stored_tensor.sizes(),
               " from checkpoint, the shape in current model is ", value.sizes(), ".");
  const NoGradGuard no_history;
  HEARTH_CHECK(stored.strides.empty() || can_keep_strides(stored_tensor.sizes(), stored.strides),
               "expected strides of '", path(key), "' that fit the sizes ", stored_tensor.sizes(),
               ", but got ", IntArrayRef(stored.strides));
  const std::vector<int64_t> own_strides = stored_tensor.strides().vec();
  const IntArrayRef strides = stored.strides.empty() ? IntArrayRef(own_strides) : stored.strides;
  const bool has_same_layout = stored_tensor.sizes() == value.sizes() && strides == value.strides();
  const Device device = source->device.value_or(value.device());
  // Writes in place if no other tensor shares the storage. `storage()` itself adds an owner.
  if (has_same_layout && device == value.device() &&
      (!value.has_storage() || value.storage().use_count() <= 2 + aliases)) {
    value.copy_(stored_tensor);
    return;
  }
  const Tensor laid_out =
      stored.strides.empty() ? stored_tensor : copy_with_strides(stored_tensor, strides);
  value.set_data(laid_out.to(device, value.scalar_type(), /*non_blocking=*/false,
                             /*copy=*/stored.strides.empty()));
}

IValue InputArchive::Tree::leaf(const std::string& key, const Value& value) const {
  const bool is_tensor = value.kind == Value::Kind::kTensorInFile || value.value.isTensor();
  return is_tensor ? IValue(tensor(path(key), value)) : with_tensors(value);
}

/// The value of a key. A subtree is read as a list if its keys are 0, 1, … and nothing else but, as
/// in files of Python, `size` with their number.
std::optional<IValue> InputArchive::Tree::value(const std::string& key) const {
  const Value* value = find(key);
  if (value && value->kind != Value::Kind::kSubtree) return leaf(key, *value);
  if (!has_subtree(key)) return std::nullopt;
  const size_t count = count_below(key);
  if (find(key + ".size")) {
    const std::optional<Scalar> size = number(key + ".size");
    if (!size || !size->equal(static_cast<int64_t>(count))) return std::nullopt;
  }
  std::vector<IValue> list;
  std::vector<Tensor> tensors;
  while (list.size() < count) {
    const std::string item = detail::str(key, ".", list.size());
    const Value* next = find(item);
    if (!next || next->kind == Value::Kind::kSubtree) return std::nullopt;
    list.push_back(leaf(item, *next));
    if (list.back().isTensor()) tensors.push_back(list.back().toTensor());
  }
  return tensors.size() == list.size() ? IValue(std::move(tensors)) : IValue(std::move(list));
}

size_t InputArchive::Tree::count_below(const std::string& key) const {
  const std::string below = path(key) + ".", size = below + "size";
  size_t count = 0;
  for (auto next = source->values.lower_bound(below);
       next != source->values.end() && next->first.starts_with(below); ++next)
    count += next->first != size;
  return count;
}

std::optional<Scalar> InputArchive::Tree::number(const std::string& key) const {
  const Value* stored = find(key);
  if (!stored || stored->kind != Value::Kind::kValue) return std::nullopt;
  if (stored->value.isScalar()) return stored->value.toScalar();
  if (!source->owns_tensors || !stored->value.isTensor()) return std::nullopt;
  const Tensor tensor = stored->value.toTensor();
  if (!tensor.has_storage() || tensor.dim() != 0 || is_complex(tensor.scalar_type()))
    return std::nullopt;
  const Scalar value = tensor.item();
  if (!value.isFloatingPoint() || value.toDouble() != std::trunc(value.toDouble()) ||
      std::abs(value.toDouble()) >= kMaxExactInteger)
    return value;
  return Scalar(static_cast<int64_t>(value.toDouble()));
}

std::string InputArchive::Tree::missing_text(const std::string& key) const {
  const Value* value = find(key);
  const std::string from = source->name.empty() ? "" : detail::str(" in '", source->name, "'");
  if (!value && !has_subtree(key)) {
    std::vector<std::string> existing;
    for (const auto* item : in_written_order(source->values))
      if (item->second.kind != Value::Kind::kSubtree) existing.push_back(item->first);
    return from + io::key_hint(path(key), existing);
  }
  const char* kind = "a subtree";
  if (value && value->kind == Value::Kind::kTensorInFile) kind = "a Tensor";
  if (value && value->kind == Value::Kind::kValue) kind = value->value.tagKind();
  return detail::str(from, "; found ", kind);
}

InputArchive::InputArchive() : tree_(new Tree) {}
InputArchive::InputArchive(const OutputArchive& written) : InputArchive() {
  auto source = std::make_shared<ArchiveSource>();
  source->values = written.tree_->values;
  tree_->source = std::move(source);
}
InputArchive::~InputArchive() = default;
InputArchive::InputArchive(InputArchive&&) noexcept = default;
InputArchive& InputArchive::operator=(InputArchive&&) noexcept = default;

bool InputArchive::try_read(const std::string& key, Tensor& value, bool) {
  return try_read_over(key, value, 0);
}

bool InputArchive::try_read_over(const std::string& key, Tensor& value, size_t aliases) {
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
  if (value.defined())
    tree_->replace(key, *stored, value, aliases);
  else
    value = tree_->tensor(tree_->path(key), *stored);
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
  const auto stored = tree_->number(key);
  if (!stored || !stored->isIntegral(false)) return false;
  value = stored->toLong();
  return true;
}

bool InputArchive::try_read(const std::string& key, double& value) {
  const auto stored = tree_->number(key);
  if (!stored || stored->isBoolean()) return false;
  value = stored->toDouble();
  return true;
}

bool InputArchive::try_read(const std::string& key, bool& value) {
  const auto stored = tree_->number(key);
  if (!stored || !stored->isBoolean()) return false;
  value = stored->toBool();
  return true;
}

bool InputArchive::try_read(const std::string& key, std::string& value) {
  const Value* stored = tree_->find(key);
  if (!stored || !stored->value.isString()) return false;
  value = stored->value.toStringRef();
  return true;
}

#define HEARTH_READ(Type, type_name)                                                           \
  void InputArchive::read(const std::string& key, Type& value) {                               \
    HEARTH_CHECK(try_read(key, value), "No such serialized " type_name " '", tree_->path(key), \
                 "'", tree_->missing_text(key));                                               \
  }
HEARTH_READ(IValue, "IValue")
HEARTH_READ(int64_t, "int")
HEARTH_READ(double, "double")
HEARTH_READ(bool, "bool")
HEARTH_READ(std::string, "string")
#undef HEARTH_READ

void InputArchive::read(const std::string& key, Tensor& value, bool) { read_over(key, value, 0); }
void InputArchive::read_over(const std::string& key, Tensor& value, size_t aliases) {
  HEARTH_CHECK(try_read_over(key, value, aliases), "No such serialized tensor '", tree_->path(key),
               "'", tree_->missing_text(key));
}

void InputArchive::read(const std::string& key, InputArchive& nested) {
  HEARTH_CHECK(try_read(key, nested), "No such serialized submodule: '", tree_->path(key), "'",
               tree_->missing_text(key));
}

void InputArchive::fail_narrow(const std::string& key, int64_t wide) const {
  detail::fail<Error>("'", tree_->path(key), "' is ", wide, ", which does not fit");
}

void InputArchive::require_same_sizes() { tree_->requires_same_sizes = true; }

std::optional<Device> InputArchive::device() const { return tree_->source->device; }

std::vector<std::string> InputArchive::keys() const {
  std::map<std::string, size_t> first;  // order of the first value below each name
  const auto& values = tree_->source->values;
  for (auto it = values.lower_bound(tree_->prefix);
       it != values.end() && it->first.compare(0, tree_->prefix.size(), tree_->prefix) == 0; ++it) {
    const std::string below = it->first.substr(tree_->prefix.size());
    const auto entry = first.emplace(below.substr(0, below.find('.')), it->second.order).first;
    entry->second = std::min(entry->second, it->second.order);
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
  tree_->source = open_source(io::map_file(filename), device);
  tree_->prefix.clear();
}
void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  tree_->source = open_source(io::read_stream(stream), device);
  tree_->prefix.clear();
}
void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  tree_->source = open_source(io::copy_bytes("the buffer", data, size), device);
  tree_->prefix.clear();
}
void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                             const std::function<size_t()>& size, std::optional<Device> device) {
  std::string content(size(), '\0');
  const size_t num_read = read(0, content.data(), content.size());
  HEARTH_CHECK(num_read == content.size(), "cannot read the archive: expected ", content.size(),
               " bytes, but got ", num_read);
  load_from(content.data(), content.size(), device);
}

}  // namespace hearth::serialize

#include "hearth/io/archive.h"

#include <map>
#include <optional>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/nn/module.h"
#include "hearth/operators.h"
#include "nn/names.h"

namespace hearth::nn {

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& parameter : named_parameters(false))
    archive.write(parameter.key(), parameter.value());
  for (const auto& buffer : saved_buffers())
    archive.write(buffer.key(), buffer.value(), /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

namespace {

/// Whether both tensors have the same memory and metadata, so that set_data() would change nothing.
bool same_data(const Tensor& a, const Tensor& b) {
  return a.is_alias_of(b) && a.storage_offset() == b.storage_offset() && a.device() == b.device() &&
         a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

/// A snapshot of a module's tensors before a load, to restore them if the load fails. Reading
/// everything before changing anything, as optimizers do, is impossible here: an override of load()
/// may use values that it has just read. It may also move the module, load modules that are not
/// registered, and catch exceptions of nested loads. So each load has its own snapshot.
///
/// No value is copied twice: a snapshot shares values with the outer snapshots if the tensor has
/// not changed since, judged by its data and version (which does not count writes through .data()).
/// On destruction, the outer snapshot adopts missing entries.
class Snapshot {
 public:
  explicit Snapshot(const Module& module) : outer_(innermost_) {
    for (const auto& tensors : {module.parameters(), module.buffers()})
      for (const Tensor& tensor : tensors) {
        if (tensor.is_inference() && !InferenceMode::is_enabled()) continue;  // cannot change
        add(tensor, /*with_value=*/!tensor.is_meta());
        // A load may move a gradient with its parameter, but does not change its value.
        if (tensor.grad().defined()) add(tensor.grad(), /*with_value=*/false);
      }
    innermost_ = this;
  }
  ~Snapshot() {
    innermost_ = outer_;
    if (outer_) outer_->saved_.merge(saved_);  // keeps the outer snapshot's older entries
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// The number of this thread's snapshots that hold an alias of `tensor`.
  static size_t aliases_of(const Tensor& tensor) {
    size_t count = 0;
    for (const Snapshot* snapshot = innermost_; snapshot; snapshot = snapshot->outer_) {
      const auto saved = snapshot->saved_.find(tensor.unsafeGetTensorImpl());
      count += saved != snapshot->saved_.end() && saved->second.data.is_alias_of(tensor);
    }
    return count;
  }

  void restore() const {
    for (const auto& [impl, saved] : saved_) {
      if (saved.value.defined()) saved.data.copy_(saved.value);
      if (!same_data(saved.data, saved.tensor)) saved.tensor.set_data(saved.data);
    }
  }

 private:
  struct Saved {
    Tensor tensor;
    Tensor data;                     // an alias of the previous memory, not affected by set_data()
    Tensor value;                    // a copy of the values, or undefined
    std::optional<int64_t> version;  // inference tensors have none
  };

  void add(const Tensor& tensor, bool with_value) {
    const void* const impl = tensor.unsafeGetTensorImpl();
    if (saved_.contains(impl)) return;
    Saved saved{tensor, tensor.detach(), {}, {}};
    if (!tensor.is_inference()) saved.version = tensor._version();
    if (with_value) {
      saved.value = known_value(saved);
      if (!saved.value.defined())
        saved.value = tensor.to(kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    }
    saved_.emplace(impl, std::move(saved));
  }

  /// Returns the copy in an outer snapshot if the tensor has not changed since, else undefined.
  Tensor known_value(const Saved& current) const {
    for (const Snapshot* outer = outer_; current.version && outer; outer = outer->outer_) {
      const auto known = outer->saved_.find(current.tensor.unsafeGetTensorImpl());
      if (known != outer->saved_.end() && known->second.version == current.version &&
          same_data(known->second.data, current.data))
        return known->second.value;
    }
    return {};
  }

  static thread_local Snapshot* innermost_;
  Snapshot* outer_;
  std::map<const void*, Saved> saved_;
};

thread_local Snapshot* Snapshot::innermost_ = nullptr;

}  // namespace

void Module::load(serialize::InputArchive& archive) {
  const NoGradGuard no_grad;
  const Snapshot snapshot(*this);
  try {
    load_parts(archive);
  } catch (...) {
    snapshot.restore();
    throw;
  }
}

void Module::load_parts(serialize::InputArchive& archive) {
  for (auto& parameter : named_parameters(false)) {
    const std::vector<int64_t> old_sizes = parameter->sizes().vec();
    archive.read_over(parameter.key(), *parameter, Snapshot::aliases_of(*parameter));
    if (parameter->sizes() != IntArrayRef(old_sizes))
      warn(hearth::detail::str("size mismatch for ", detail::join_path(path(), parameter.key()),
                               ": the loaded shape ", parameter->sizes(),
                               " replaces the module's shape, ", IntArrayRef(old_sizes)));
  }
  for (auto& buffer : saved_buffers())
    archive.read_over(buffer.key(), *buffer, Snapshot::aliases_of(*buffer));
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive nested;
    // A submodule without parameters and buffers may be missing from the file.
    if (child.value()->state_dict().is_empty()) {
      if (archive.try_read(child.key(), nested)) child.value()->load(nested);
    } else {
      archive.read(child.key(), nested);
      child.value()->load(nested);
    }
  }
}

}  // namespace hearth::nn

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
  for (const auto& buffer : named_buffers(false))
    archive.write(buffer.key(), buffer.value(), /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

namespace {

/// Whether set_data has nothing to change.
bool have_the_same_data(const Tensor& a, const Tensor& b) {
  return a.is_alias_of(b) && a.storage_offset() == b.storage_offset() && a.device() == b.device() &&
         a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

/// What the tensors of a module are and hold before it loads, for when that fails. To read
/// everything before anything changes, as optimizers do, is not possible here: a load() that
/// overrides Module's may use what it has just read. It may also move the module, load others that
/// are not registered, and catch what any load throws. So each load has a snapshot of its own.
///
/// No value is copied twice: a snapshot borrows from those around it what has not changed since, by
/// the tensors' data and versions (which do not count what is written through .data()). When it
/// goes, the one around it takes over what it did not have.
class Snapshot {
 public:
  explicit Snapshot(const Module& module) : outer_(innermost_) {
    for (const auto& tensors : {module.parameters(), module.buffers()})
      for (const Tensor& tensor : tensors) {
        if (tensor.is_inference() && !InferenceMode::is_enabled()) continue;  // cannot change
        add(tensor, /*with_value=*/!tensor.is_meta());
        if (tensor.grad().defined()) add(tensor.grad(), /*with_value=*/false);  // moves with it
      }
    innermost_ = this;
  }
  ~Snapshot() {
    innermost_ = outer_;
    if (outer_) outer_->saved_.merge(saved_);  // which keeps its own, older values
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// How many tensors in this thread's snapshots share the storage of this one.
  static size_t aliases_of(const Tensor& tensor) {
    size_t count = 0;
    for (const Snapshot* around = innermost_; around; around = around->outer_) {
      const auto saved = around->saved_.find(tensor.unsafeGetTensorImpl());
      count += saved != around->saved_.end() && saved->second.data.is_alias_of(tensor);
    }
    return count;
  }

  void restore() const {
    for (const auto& [impl, saved] : saved_) {
      if (saved.value.defined()) saved.data.copy_(saved.value);
      if (!have_the_same_data(saved.data, saved.tensor)) saved.tensor.set_data(saved.data);
    }
  }

 private:
  struct Saved {
    Tensor tensor;
    Tensor data;                     // an alias, which set_data() leaves as it is
    Tensor value;                    // a copy, or undefined
    std::optional<int64_t> version;  // inference tensors have none
  };

  void add(const Tensor& tensor, bool with_value) {
    const TensorImpl* const impl = tensor.unsafeGetTensorImpl();
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

  /// What a snapshot around this one has, if the tensor is still what it was then.
  Tensor known_value(const Saved& now) const {
    for (const Snapshot* around = outer_; now.version && around; around = around->outer_) {
      const auto known = around->saved_.find(now.tensor.unsafeGetTensorImpl());
      if (known != around->saved_.end() && known->second.version == now.version &&
          have_the_same_data(known->second.data, now.data))
        return known->second.value;
    }
    return {};
  }

  static thread_local Snapshot* innermost_;
  Snapshot* outer_;
  std::map<const TensorImpl*, Saved> saved_;
};

thread_local Snapshot* Snapshot::innermost_ = nullptr;

}  // namespace

void Module::load(serialize::InputArchive& archive) {
  const NoGradGuard no_grad;
  const Snapshot before(*this);
  try {
    load_parts(archive);
  } catch (...) {
    before.restore();
    throw;
  }
}

void Module::load_parts(serialize::InputArchive& archive) {
  for (auto& parameter : named_parameters(false)) {
    const std::vector<int64_t> before = parameter->sizes().vec();
    archive.read_over(parameter.key(), *parameter, Snapshot::aliases_of(*parameter));
    if (parameter->sizes() != IntArrayRef(before))
      warn(hearth::detail::str("size mismatch for ", detail::join_path(path(), parameter.key()),
                               ": the loaded shape ", parameter->sizes(),
                               " replaces that of the module, ", IntArrayRef(before)));
  }
  for (auto& buffer : named_buffers(false))
    archive.read_over(buffer.key(), *buffer, Snapshot::aliases_of(*buffer));
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive nested;
    // What has nothing to keep may have left nothing in the file.
    if (child.value()->state_dict().is_empty()) {
      if (archive.try_read(child.key(), nested)) child.value()->load(nested);
    } else {
      archive.read(child.key(), nested);
      child.value()->load(nested);
    }
  }
}

}  // namespace hearth::nn

#include "hearth/io/archive.h"

#include <map>
#include <optional>

#include "hearth/autograd.h"
#include "hearth/nn/module.h"
#include "hearth/operators.h"

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

bool are_the_same_memory(const Tensor& a, const Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

/// What the tensors of a module hold before it loads, for when that fails. To read everything
/// before anything changes, as optimizers do, is not possible here: a load() that overrides
/// Module's may use what it has just read. It may also load modules that are not registered, give
/// tensors other data, and catch what any load throws. So each load has a snapshot of its own. It
/// copies only what those around it do not hold already, by the tensors' data and versions (which
/// do not count what is written through .data()), and when it goes they take over what they did not
/// know of.
class Snapshot {
 public:
  explicit Snapshot(const Module& module) : outer_(innermost_) {
    for (const auto& tensors : {module.parameters(), module.buffers()})
      for (const Tensor& tensor : tensors)
        if (!tensor.is_meta() && !saved_.contains(tensor.unsafeGetTensorImpl()))
          saved_.emplace(tensor.unsafeGetTensorImpl(), save(tensor));
    innermost_ = this;
  }
  ~Snapshot() {
    innermost_ = outer_;
    if (outer_) outer_->saved_.merge(saved_);  // which keeps its own, older values
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  void restore() const {
    for (const auto& [impl, saved] : saved_) {
      saved.data.copy_(saved.value);
      if (!are_the_same_memory(saved.data, saved.tensor)) saved.tensor.set_data(saved.data);
    }
  }

 private:
  struct Saved {
    Tensor tensor;
    Tensor data;   // the same memory and version, whatever set_data() does to the tensor
    Tensor value;  // a copy
    std::optional<int64_t> version;  // inference tensors have none
  };

  Saved save(const Tensor& tensor) const {
    std::optional<int64_t> version;
    if (!tensor.is_inference()) version = tensor._version();
    for (const Snapshot* around = outer_; version && around; around = around->outer_) {
      const auto known = around->saved_.find(tensor.unsafeGetTensorImpl());
      if (known != around->saved_.end() && known->second.version == version &&
          are_the_same_memory(known->second.data, tensor))
        return known->second;
    }
    return {tensor, tensor.detach(),
            tensor.to(kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true), version};
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
  for (auto& parameter : named_parameters(false)) archive.read(parameter.key(), *parameter);
  for (auto& buffer : named_buffers(false)) archive.read(buffer.key(), *buffer, /*is_buffer=*/true);
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

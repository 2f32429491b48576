#include "hearth/io/archive.h"

#include <utility>
#include <vector>

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

/// The values of all of a module's tensors.
class Snapshot {
 public:
  explicit Snapshot(const Module& module) {
    for (const auto& item : module.state_dict())
      if (!item->is_meta())
        values_.emplace_back(
            *item, item->to(kCPU, item->scalar_type(), /*non_blocking=*/false, /*copy=*/true));
  }
  void restore() const {
    for (const auto& [tensor, value] : values_) tensor.copy_(value);
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> values_;
};

}  // namespace

void Module::load(serialize::InputArchive& archive) {
  static thread_local bool is_inside = false;  // of a load that takes back this one's work too
  const NoGradGuard no_grad;
  if (is_inside) return load_parts(archive);
  const Snapshot before(*this);
  is_inside = true;
  try {
    load_parts(archive);
  } catch (...) {
    is_inside = false;
    before.restore();
    throw;
  }
  is_inside = false;
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

#include "hearth/io/archive.h"

#include "hearth/autograd.h"
#include "hearth/nn/module.h"

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

void Module::load(serialize::InputArchive& archive) {
  const NoGradGuard no_grad;
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

// What a module holds, by name: state dictionaries and archives.
#include "hearth/autograd.h"
#include "hearth/io/archive.h"
#include "hearth/nn/module.h"
#include "nn/names.h"

namespace hearth::nn {

namespace {

using State = OrderedDict<std::string, Tensor>;

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

/// "torch.Size([2, 3])".
std::string size_text(const Tensor& tensor) {
  return hearth::detail::str("torch.Size(", tensor.sizes(), ")");
}

std::string mismatch_text(const std::string& name, const Tensor& given, const Tensor& own) {
  return hearth::detail::str("\n\tsize mismatch for ", name, ": copying a param with shape ",
                             size_text(given), " from checkpoint, the shape in current model is ",
                             size_text(own), ".");
}

}  // namespace

State Module::state_dict() const {
  State state;
  apply([&](const std::string& name, const Module& part) {
    for (const auto& tensors : {part.named_parameters(false), part.named_buffers(false)})
      for (const auto& item : tensors)
        state.insert(detail::join_path(name, item.key()), item->detach());
  });
  return state;
}

IncompatibleKeys Module::load_state_dict(const State& state, bool strict) {
  const State own = state_dict();
  IncompatibleKeys keys;
  std::string problems;
  for (const auto& item : own) {
    const Tensor* given = state.find(item.key());
    if (!given || !given->defined())
      keys.missing_keys.push_back(item.key());
    else if (given->sizes() != item->sizes())
      problems += mismatch_text(item.key(), *given, *item);
  }
  for (const auto& item : state)
    if (!own.contains(item.key())) keys.unexpected_keys.push_back(item.key());
  if (strict && !keys.unexpected_keys.empty())
    problems =
        "\n\tUnexpected key(s) in state_dict: " + quoted(keys.unexpected_keys) + ". " + problems;
  if (strict && !keys.missing_keys.empty())
    problems = "\n\tMissing key(s) in state_dict: " + quoted(keys.missing_keys) + ". " + problems;
  HEARTH_CHECK(problems.empty(), "Error(s) in loading state_dict for ", printed_name(), ":",
               problems);
  const NoGradGuard no_grad;
  for (const auto& item : own)
    if (const Tensor* given = state.find(item.key()); given && given->defined())
      item->copy_(*given);
  return keys;
}

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

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const std::shared_ptr<Module>& module) {
  HEARTH_CHECK(module, "Cannot serialize an empty module");
  module->save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    const std::shared_ptr<Module>& module) {
  HEARTH_CHECK(module, "Cannot load into an empty module");
  module->load(archive);
  return archive;
}

}  // namespace hearth::nn

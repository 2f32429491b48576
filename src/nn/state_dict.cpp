#include "hearth/autograd.h"
#include "hearth/io/key_hint.h"
#include "hearth/nn/module.h"
#include "nn/hook_table.h"
#include "nn/names.h"

namespace hearth::nn {

namespace {

using State = OrderedDict<std::string, Tensor>;

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

/// Returns e.g. "torch.Size([2, 3])".
std::string size_text(const Tensor& tensor) {
  return hearth::detail::str("torch.Size(", tensor.sizes(), ")");
}

/// Whether the name is that of a norm's counter of batches. Python accepts a state_dict without it
/// if it has no versions, as in files of other programs; Hearth does not keep versions.
bool is_batch_counter(const std::string& name, const State& own) {
  constexpr std::string_view kCounter = "num_batches_tracked";
  if (!name.ends_with(kCounter)) return false;
  return own.contains(name.substr(0, name.size() - kCounter.size()) + "running_mean");
}

/// One element in one dimension is read as a tensor without dimensions, as in Python.
bool is_old_scalar(const Tensor& given, const Tensor& own) {
  return own.dim() == 0 && given.dim() == 1 && given.numel() == 1;
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
    for (const auto& tensors : {part.named_parameters(false), part.saved_buffers()})
      for (const auto& item : tensors)
        state.insert(detail::join_path(name, item.key()), item->detach());
  });
  return state;
}

IncompatibleKeys Module::load_state_dict(const State& given_state, bool strict) {
  State state = given_state;
  apply([&](const std::string& path, Module& part) {
    if (!part.hooks_.pointer()) return;
    const auto hooks = part.hooks_.pointer()->loading;  // a copy: a hook may remove itself
    for (const auto& [id, hook] : hooks) (*hook)(part, state, path);
  });
  const State own = state_dict();
  IncompatibleKeys keys;
  std::string problems;
  for (const auto& item : own) {
    const Tensor* given = state.find(item.key());
    if (!given || !given->defined()) {
      if (!is_batch_counter(item.key(), own)) keys.missing_keys.push_back(item.key());
    } else if (given->sizes() != item->sizes() && !is_old_scalar(*given, *item))
      problems += mismatch_text(item.key(), *given, *item);
  }
  for (const auto& item : state)
    if (!own.contains(item.key())) keys.unexpected_keys.push_back(item.key());
  if (strict && !keys.unexpected_keys.empty())
    problems =
        "\n\tUnexpected key(s) in state_dict: " + quoted(keys.unexpected_keys) + ". " + problems;
  if (strict && !keys.missing_keys.empty())
    problems = "\n\tMissing key(s) in state_dict: " + quoted(keys.missing_keys) +
               io::key_hint(keys.missing_keys[0], keys.unexpected_keys, /*list_others=*/false) +
               ". " + problems;
  HEARTH_CHECK(problems.empty(), "Error(s) in loading state_dict for ", printed_name(), ":",
               problems);
  const NoGradGuard no_grad;
  for (const auto& item : own)
    if (const Tensor* given = state.find(item.key()); given && given->defined())
      item->copy_(given->reshape(item->sizes()));
  return keys;
}

}  // namespace hearth::nn

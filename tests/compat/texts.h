// Texts of modules and errors, the same with Hearth and with LibTorch.
#pragma once

#include <torch/torch.h>

#include <sstream>
#include <string>

namespace hearth::testing {

/// The printed text of a module, without the namespace that LibTorch prints before its name
/// (children keep theirs).
template <class Module>
std::string printed(const Module& module) {
  std::ostringstream stream;
  stream << module;
  const std::string text = stream.str(), prefix = "torch::nn::";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// The text of the c10::Error that f throws, without LibTorch's stack trace, or "no error".
template <class F>
std::string text_of_error(const F& f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

}  // namespace hearth::testing

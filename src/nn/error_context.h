#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "hearth/error.h"

namespace hearth::nn::detail {

/// Rethrows the current exception with a line of context. A standard exception becomes an Error
/// with the same text and with the original exception nested in it.
[[noreturn]] inline void rethrow_with_context(std::string_view line) {
  try {
    throw;
  } catch (Error& error) {
    error.append_line(line);
    throw;
  } catch (const std::exception& original) {
    Error error(original.what());
    error.append_line(line);
    std::throw_with_nested(std::move(error));
  }
}

}  // namespace hearth::nn::detail

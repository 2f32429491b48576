#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::cuda {

/// The families of operators for which cuDNN is tried before Hearth's own kernels.
struct CudnnParts {
  bool attention = false, recurrence = false;
};

/// Reads a list such as "attention,recurrence"; nullopt if it names anything else.
inline std::optional<CudnnParts> cudnn_parts_in(std::string_view text) {
  CudnnParts parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (word == "attention")
      parts.attention = true;
    else if (word == "recurrence")
      parts.recurrence = true;
    else
      return std::nullopt;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

/// The parts that the environment variable HEARTH_CUDNN names; throws an Error if it is invalid.
const CudnnParts& cudnn_parts();

/// How often cuDNN has computed an operator in place of Hearth's own kernels.
struct CudnnCalls {
  std::atomic<int64_t> attention{0}, attention_backward{0}, nets{0}, nets_backward{0};
};
inline CudnnCalls& cudnn_calls() {
  static CudnnCalls calls;
  return calls;
}

}  // namespace hearth::cuda

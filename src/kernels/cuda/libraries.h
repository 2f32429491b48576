#pragma once

#include <string>

namespace hearth::cuda {

/// Returns "9.1.0" for number 90100, major 10000 and minor 100.
std::string version_text(size_t number, size_t major, size_t minor);

/// cuDNN's version; empty if it is missing.
std::string cudnn_version();

}  // namespace hearth::cuda

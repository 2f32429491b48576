#pragma once

#include <string>

namespace hearth::cuda {

/// "9.1.0" for a number like 90100: its quotients by `major` and `minor`, and the rest.
std::string version_text(size_t number, size_t major, size_t minor);

/// cuDNN's version; empty if it is missing.
std::string cudnn_version();

}  // namespace hearth::cuda

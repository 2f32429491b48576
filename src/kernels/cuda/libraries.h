#pragma once

#include <string>

namespace hearth::cuda {

/// "9.1.0" of numbers like 90100, whose parts are the quotients by `major` and `minor`.
std::string version_text(size_t number, size_t major, size_t minor);

/// cuDNN's version; empty where it is missing.
std::string cudnn_version();

}  // namespace hearth::cuda

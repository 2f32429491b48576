#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hearth::cpu {

/// The instruction set that the SIMD kernels use on this processor.
const char* instruction_set();

/// The libraries that the CPU's kernels call, and their versions.
std::vector<std::pair<std::string, std::string>> libraries();

}  // namespace hearth::cpu

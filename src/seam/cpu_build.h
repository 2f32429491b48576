#pragma once

#include <string>
#include <utility>
#include <vector>

// Facts about the CPU kernels, defined in kernels/cpu.
namespace hearth::cpu {

/// The instruction set that the SIMD kernels use on this processor.
const char* instruction_set();

/// Names and versions of the libraries that the CPU kernels call.
std::vector<std::pair<std::string, std::string>> libraries();

}  // namespace hearth::cpu

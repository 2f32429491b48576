#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hearth/export.h"

namespace hearth {

/// Version, hardware and libraries that this process uses.
struct About {
  std::string version;                ///< Hearth's version
  std::string processor;              ///< the CPU's model name
  std::vector<std::string> features;  ///< the CPU's SIMD instruction sets: avx2, fma, …
  std::string instruction_set;        ///< of the kernels in use: "AVX2"
  int cores = 0;                      ///< cores that this process may use
  size_t memory_total = 0;            ///< bytes that this process may use
  size_t memory_available = 0;        ///< bytes that are free now
  std::vector<std::pair<std::string, std::string>> libraries;  ///< names and versions
};

/// Describes this process; loads the CUDA backend if it is not loaded yet.
HEARTH_API About about();

/// How often cuDNN has computed an operator in place of Hearth's own CUDA kernel in this process:
/// "cuDNN attention", "cuDNN recurrent net" and their "… backward"; empty without a real GPU.
HEARTH_API std::vector<std::pair<std::string, int64_t>> library_calls();

}  // namespace hearth

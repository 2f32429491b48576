#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hearth/export.h"

namespace hearth {

/// What this build is and where it runs.
struct About {
  std::string version;                // Hearth's
  std::string processor;              // the model's name
  std::vector<std::string> features;  // of those that matter here: avx2, fma, avx512f, …
  std::string instruction_set;        // what Hearth's own kernels use: "AVX2"
  int cores = 0;                      // this process may use
  size_t memory_total = 0;            // bytes this process may have
  size_t memory_available = 0;        // bytes it could have now
  std::vector<std::pair<std::string, std::string>> libraries;  // name and version
};

/// Loads the CUDA backend if nothing did before.
HEARTH_API About about();

}  // namespace hearth

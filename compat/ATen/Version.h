#pragma once

#include <string>

#include "c10/namespaces.h"
#include "hearth/about.h"

// Descriptions of the build and of the processor. LibTorch's texts name its libraries, these name
// Hearth's.
namespace at {

/// "AVX2", "AVX512" or "DEFAULT": the instruction set of the kernels in use.
inline std::string get_cpu_capability() {
  const std::string used = hearth::about().instruction_set;
  return used == "AVX2" || used == "AVX512" ? used : "DEFAULT";
}
inline std::string get_mkl_version() { return "MKL not found"; }
inline std::string get_mkldnn_version() { return "MKLDNN not found"; }
inline std::string get_openmp_version() { return "OpenMP not found"; }
/// Hearth does not keep the compiler's flags.
inline std::string get_cxx_flags() { return {}; }
/// The version, the compiler and the libraries, one a line.
inline std::string show_config() {
  const auto about = hearth::about();
  std::string text = "Hearth " + about.version +
                     " built with:\n  - C++ compiler " __VERSION__ "\n  - CPU capability usage: " +
                     get_cpu_capability() + "\n";
  for (const auto& [name, version] : about.libraries) text += "  - " + name + " " + version + "\n";
  return text;
}

}  // namespace at

namespace torch {
using at::get_cpu_capability;
using at::get_cxx_flags;
using at::get_mkl_version;
using at::get_mkldnn_version;
using at::get_openmp_version;
using at::show_config;
}  // namespace torch

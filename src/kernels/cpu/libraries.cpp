#include <dlfcn.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/cpu/isa.h"
#include "seam/cpu_build.h"

namespace hearth::cpu {

namespace {

/// Returns "0.3.21" from "OpenBLAS 0.3.21 NO_AFFINITY …"; empty for another BLAS.
std::string openblas_version() {
  using Config = char* (*)();
  const auto config = reinterpret_cast<Config>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
  if (!config) return {};
  const std::string text = config();
  const size_t start = text.find(' ') + 1;
  return text.substr(start, text.find(' ', start) - start);
}

}  // namespace

const char* instruction_set() { return name_of(isa_level()); }

std::vector<std::pair<std::string, std::string>> libraries() {
  const dnnl_version_t* dnnl = dnnl_version();
  const std::string blas = openblas_version();
  return {{"oneDNN", std::to_string(dnnl->major) + "." + std::to_string(dnnl->minor) + "." +
                         std::to_string(dnnl->patch)},
          {blas.empty() ? "BLAS" : "OpenBLAS", blas.empty() ? "unknown" : blas}};
}

}  // namespace hearth::cpu

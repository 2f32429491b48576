#include "kernels/cuda/libraries.h"

#include <cublasLt.h>

#include "kernels/cuda/error.h"
#include "kernels/cuda/runtime.h"

namespace hearth::cuda {

std::string version_text(size_t number, size_t major, size_t minor) {
  return std::to_string(number / major) + "." + std::to_string(number % major / minor) + "." +
         std::to_string(number % minor);
}

bool CudaBackend::has_cudnn() const { return !cudnn_version().empty(); }

std::vector<std::pair<std::string, std::string>> CudaBackend::libraries() const {
  int runtime = 0, driver = 0;
  HEARTH_CUDA(cudaRuntimeGetVersion(&runtime));
  HEARTH_CUDA(cudaDriverGetVersion(&driver));
  std::vector<std::pair<std::string, std::string>> result{
      {"CUDA runtime", version_text(static_cast<size_t>(runtime), 1000, 10)},
      {"CUDA driver", version_text(static_cast<size_t>(driver), 1000, 10)},
      {"cuBLASLt", version_text(cublasLtGetVersion(), 10000, 100)}};
  if (std::string cudnn = cudnn_version(); !cudnn.empty())
    result.emplace_back("cuDNN", std::move(cudnn));
  return result;
}

}  // namespace hearth::cuda

#include "kernels/cuda/libraries.h"

#include <cublasLt.h>

#include "kernels/cuda/cudnn_parts.h"
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

std::vector<std::pair<std::string, int64_t>> CudaBackend::library_calls() const {
  const CudnnCalls& calls = cudnn_calls();
  return {{"cuDNN attention", calls.attention},
          {"cuDNN attention backward", calls.attention_backward},
          {"cuDNN recurrent net", calls.nets},
          {"cuDNN recurrent net backward", calls.nets_backward}};
}

}  // namespace hearth::cuda

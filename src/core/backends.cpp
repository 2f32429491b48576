#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/plugin.h"
#include "kernels/backend.h"
#include "kernels/sim.h"

namespace hearth {

namespace {

/// What serves the CUDA device type, or why nothing does.
struct CudaChoice {
  Backend* backend = nullptr;
  std::string why_not;
};

CudaChoice choose_cuda() {
  const char* const wanted = std::getenv("HEARTH_CUDA");
  if (wanted && std::string_view(wanted) == "0")
    return {nullptr, "HEARTH_CUDA=0 switches CUDA off."};
  CudaChoice choice;
  choice.backend = sim::backend_from_environment();
  if (!choice.backend) choice.backend = load_cuda_plugin(choice.why_not);
  return choice;
}

std::atomic<Backend*> in_use = nullptr;

/// Chosen at the first question, for good.
const CudaChoice& cuda_choice() {
  static const CudaChoice& choice = *[] {
    auto* const made = new CudaChoice(choose_cuda());
    in_use.store(made->backend, std::memory_order_release);
    return made;
  }();
  return choice;
}

}  // namespace

Backend* cuda_backend() { return cuda_choice().backend; }
Backend* cuda_backend_in_use() { return in_use.load(std::memory_order_acquire); }
const std::string& why_no_cuda() { return cuda_choice().why_not; }

}  // namespace hearth

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/backends.h"
#include "core/device_context.h"
#include "core/plugin.h"
#include "hearth/error.h"
#include "seam/sim.h"

namespace hearth {

namespace {

/// The backend of the CUDA device type, or the reason why there is none.
struct CudaChoice {
  Backend* backend = nullptr;
  std::string why_not;
};

/// Whether the text is one of the words, ignoring case.
bool is_one_of(std::string text, std::initializer_list<std::string_view> words) {
  for (char& character : text)
    character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  return std::find(words.begin(), words.end(), text) != words.end();
}

CudaChoice choose_cuda() {
  const char* const text = std::getenv("HEARTH_CUDA");
  const std::string wanted = text ? text : "";
  if (is_one_of(wanted, {"0", "off", "no", "false"}))
    return {nullptr, "HEARTH_CUDA=" + wanted + " switches CUDA off."};
  HEARTH_CHECK(is_one_of(wanted, {"", "1", "on", "yes", "true"}),
               "HEARTH_CUDA must be 1 or 0, on or off, not '", wanted, "'");
  CudaChoice choice;
  choice.backend = sim::backend_from_environment();
  if (!choice.backend) choice.backend = load_cuda_plugin(choice.why_not);
  return choice;
}

std::atomic<Backend*> created_backend = nullptr;

/// Makes the choice at the first call; it never changes.
const CudaChoice& cuda_choice() {
  static const CudaChoice& choice = *[] {
    auto* const created = new CudaChoice(choose_cuda());
    created_backend.store(created->backend, std::memory_order_release);
    return created;
  }();
  return choice;
}

}  // namespace

Backend* cuda_backend() { return cuda_choice().backend; }
Backend* cuda_backend_in_use() { return created_backend.load(std::memory_order_acquire); }
const std::string& why_no_cuda() { return cuda_choice().why_not; }

Backend& backend_of(Device device) {
  if (device.is_cpu()) return cpu_backend();
  cuda_index(device);
  return require_cuda();
}

}  // namespace hearth

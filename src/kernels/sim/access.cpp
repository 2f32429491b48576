// Explains why a program ends when it touches the memory of a simulated GPU from the host. A
// handler of SIGSEGV compares the address with the registered ranges and prints a message; the
// access is then repeated and ends the program.
#include "kernels/sim/access.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace hearth::sim {

namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
};

constinit std::array<Range, 16> ranges{};
constinit std::atomic<size_t> num_ranges{0};

constexpr char kMessage[] =
    "hearth: the program ends, because it touched the memory of a simulated GPU from the host: "
    "data_ptr() of a CUDA tensor is an address on the GPU. Copy the tensor first: tensor.cpu(), "
    "tensor.item().\n";

/// The handler of SIGSEGV. SA_RESETHAND has restored the default action: after the handler returns,
/// the repeated access ends the program.
void explain(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const size_t num_known = num_ranges.load(std::memory_order_acquire);
  for (size_t i = 0; i < num_known; ++i)
    if (address >= ranges[i].begin && address < ranges[i].end)
      (void)!write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
}

void install_handler() {
  struct sigaction old {};
  const bool is_default = sigaction(SIGSEGV, nullptr, &old) == 0 &&
                          (old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_DFL;
  if (!is_default) return;
  struct sigaction action {};
  action.sa_sigaction = explain;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND | SA_ONSTACK);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace

void explain_access(const void* begin, size_t bytes) {
  const size_t next = num_ranges.load(std::memory_order_relaxed);
  if (next == ranges.size()) return;
  const auto first = reinterpret_cast<uintptr_t>(begin);
  ranges[next] = {first, first + bytes};
  num_ranges.store(next + 1, std::memory_order_release);
  if (next == 0) install_handler();
}

}  // namespace hearth::sim

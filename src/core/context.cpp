#include "hearth/context.h"

#include <atomic>

#include "kernels/ctx.h"

namespace hearth {

namespace {

std::atomic<uint32_t> numerics{kAllowTF32CuDNN};

void set(Numerics choice, bool value) {
  if (value)
    numerics.fetch_or(choice, std::memory_order_relaxed);
  else
    numerics.fetch_and(~uint32_t{choice}, std::memory_order_relaxed);
}

}  // namespace

uint32_t current_numerics() { return numerics.load(std::memory_order_relaxed); }

bool Context::deterministicCuDNN() const { return current_numerics() & kDeterministicCuDNN; }
void Context::setDeterministicCuDNN(bool value) { set(kDeterministicCuDNN, value); }
bool Context::benchmarkCuDNN() const { return current_numerics() & kBenchmarkCuDNN; }
void Context::setBenchmarkCuDNN(bool value) { set(kBenchmarkCuDNN, value); }
bool Context::allowTF32CuDNN() const { return current_numerics() & kAllowTF32CuDNN; }
void Context::setAllowTF32CuDNN(bool value) { set(kAllowTF32CuDNN, value); }

Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace hearth

// Scratch memory of a simulated GPU's kernels: from the host's allocator, counted against a limit.
#include "kernels/sim/scratch.h"

#include "core/cpu_allocator.h"

namespace hearth::sim {

void* Scratch::allocate(size_t bytes, size_t limit) {
  size_t current = in_use_.load();
  do {
    if (bytes > limit || current > limit - bytes) return nullptr;
  } while (!in_use_.compare_exchange_weak(current, current + bytes));
  try {
    return cpu_allocate(bytes, {MemoryTag::Workspace});
  } catch (...) {
    in_use_ -= bytes;
    throw;
  }
}

void Scratch::free(void* data, size_t bytes) {
  cpu_free(data, bytes, {MemoryTag::Workspace});
  in_use_ -= bytes;
}

}  // namespace hearth::sim

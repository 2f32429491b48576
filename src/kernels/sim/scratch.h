#pragma once

#include <atomic>
#include <cstddef>

namespace hearth::sim {

/// Scratch memory of one device's kernels. It comes from the host's allocator, whose pages are
/// already mapped, but is limited to the device's memory that tensors do not use. A simulated
/// kernel allocates scratch memory while it runs and, unlike a launch on a GPU, cannot wait for the
/// host to empty a cache.
class Scratch {
 public:
  /// Returns null if the bytes in use would exceed `limit`.
  void* allocate(size_t bytes, size_t limit);
  void free(void* data, size_t bytes);
  size_t bytes_in_use() const { return in_use_.load(); }

 private:
  std::atomic<size_t> in_use_{0};
};

}  // namespace hearth::sim

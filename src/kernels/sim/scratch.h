#pragma once

#include <atomic>
#include <cstddef>

namespace hearth::sim {

/// The memory that kernels of one device work in. It lies with the host's, whose pages are warm,
/// but there is no more of it than the device has beside its tensors: a simulated kernel asks when
/// it runs, and then cannot wait for the host to empty a cache, as a launch on a GPU can.
class Scratch {
 public:
  /// Null if it is more than `room` together with what is in use.
  void* allocate(size_t bytes, size_t room);
  void free(void* data, size_t bytes);
  size_t bytes_in_use() const { return in_use_.load(); }

 private:
  std::atomic<size_t> in_use_{0};
};

}  // namespace hearth::sim

// The memory of a simulated GPU. It takes twice as many addresses as it has bytes. The first half,
// the device pointers, is inaccessible; kernels use the second half, at the same offsets. An
// allocation takes the first free range that is long enough; a freed range merges with its
// neighbours and returns its pages to the system.
#include "kernels/sim/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>

#include "hearth/error.h"

namespace hearth::sim {

namespace {

// Whole pages, so that freed ranges can be returned to the system.
constexpr size_t kGranularity = 4096;

size_t rounded(size_t bytes) { return (bytes + kGranularity - 1) / kGranularity * kGranularity; }

}  // namespace

Memory::Memory(size_t bytes) : bytes_(bytes / kGranularity * kGranularity) {
  HEARTH_CHECK(bytes_ > 0, "a simulated GPU needs at least ", kGranularity, " bytes of memory");
  void* const address = bytes_ > SIZE_MAX / 4
                            ? MAP_FAILED
                            : mmap(nullptr, 2 * bytes_, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool mapped = address != MAP_FAILED;
  base_ = static_cast<std::byte*>(address);
  if (!mapped || mprotect(base_ + bytes_, bytes_, PROT_READ | PROT_WRITE) != 0) {
    if (mapped) munmap(base_, 2 * bytes_);
    detail::fail<OutOfMemoryError>("the system cannot reserve memory for a simulated GPU with ",
                                   bytes_, " bytes; set HEARTH_SIM_GPU_MEMORY to less");
  }
  free_[0] = bytes_;
}

Memory::~Memory() { munmap(base_, 2 * bytes_); }

void* Memory::allocate(size_t bytes) {
  if (bytes == 0 || bytes > bytes_) return nullptr;
  const size_t wanted = rounded(bytes);
  const std::lock_guard lock(mutex_);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [offset, length] = *range;
    if (length < wanted) continue;
    free_.erase(range);
    if (length > wanted) free_[offset + wanted] = length - wanted;
    return base_ + offset;
  }
  return nullptr;
}

void Memory::free(void* data, size_t bytes) {
  if (!data) return;
  const size_t length = rounded(bytes);
  madvise(alias(data), length, MADV_DONTNEED);
  const std::lock_guard lock(mutex_);
  const auto offset = static_cast<size_t>(static_cast<std::byte*>(data) - base_);
  auto range = free_.emplace(offset, length).first;
  if (range != free_.begin()) {
    const auto before = std::prev(range);
    if (before->first + before->second == offset) {
      before->second += length;
      free_.erase(range);
      range = before;
    }
  }
  const auto after = std::next(range);
  if (after != free_.end() && range->first + range->second == after->first) {
    range->second += after->second;
    free_.erase(after);
  }
}

size_t Memory::free_bytes() {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& range : free_) sum += range.second;
  return sum;
}

}  // namespace hearth::sim

#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace hearth::sim {

/// The memory of one simulated device. Device pointers are inaccessible addresses, so that a host
/// program that dereferences one stops at once; kernels use the accessible address, alias().
class Memory {
 public:
  explicit Memory(size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Returns null when no free range is long enough.
  void* allocate(size_t bytes);
  void free(void* data, size_t bytes);

  size_t total_bytes() const { return bytes_; }
  size_t free_bytes();

  /// Whether this is a device pointer into this memory.
  bool contains(const void* data) const {
    const auto* const address = static_cast<const std::byte*>(data);
    return address >= base_ && address < base_ + bytes_;
  }

  /// The lowest device pointer.
  const void* begin() const { return base_; }
  /// The accessible address of a device pointer, or of the end of the memory; returns other
  /// addresses unchanged.
  void* alias(const void* data) const {
    auto* const address = static_cast<std::byte*>(const_cast<void*>(data));
    return address >= base_ && address <= base_ + bytes_ ? address + bytes_ : address;
  }

 private:
  size_t bytes_;
  std::byte* base_;  // bytes_ inaccessible bytes, then bytes_ accessible ones
  std::mutex mutex_;
  std::map<size_t, size_t> free_;  // offset and length of the free ranges, never adjacent
};

}  // namespace hearth::sim

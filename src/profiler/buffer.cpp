#include "profiler/buffer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace hearth::profiler {

Buffer::Buffer(uint64_t id) : id_(id), thread_(::syscall(SYS_gettid)) {}

void Buffer::add_chunk() {
  auto* const chunk = new Chunk;
  last_->next.store(chunk, std::memory_order_release);
  last_ = chunk;
  events_before_ += used_;
  used_ = 0;
}

void* Buffer::take(size_t bytes) {
  constexpr size_t kAlignment = alignof(int64_t);
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes > free_bytes_) {
    free_bytes_ = std::max(bytes, kBlockBytes);
    free_ = blocks_.emplace_back(new std::byte[free_bytes_]).get();
  }
  void* const taken = free_;
  free_ += bytes;
  free_bytes_ -= bytes;
  return taken;
}

std::string_view Buffer::copy(std::string_view text) {
  if (text.empty()) return {};
  auto* const to = static_cast<char*>(take(text.size()));
  std::memcpy(to, text.data(), text.size());
  return {to, text.size()};
}

}  // namespace hearth::profiler

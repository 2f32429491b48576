#include "seam/ctx.h"

#include <memory>

#include "hearth/error.h"
#include "seam/backend.h"

namespace hearth {

struct Ctx::Scratch {
  void* data;
  size_t bytes;
  Scratch* next;
};

namespace {

[[noreturn]] void throw_out_of_memory(Backend& backend, Device device, size_t bytes) {
  size_t free_bytes = 0, total_bytes = 0;
  backend.memory_info(device.index(), free_bytes, total_bytes);
  const std::string where = device.is_cpu() ? "The CPU" : detail::str("GPU ", int{device.index()});
  detail::fail<OutOfMemoryError>(backend.name(), " out of memory. Tried to allocate ",
                                 format_bytes(bytes), " of scratch memory for a kernel. ", where,
                                 " has a total capacity of ", format_bytes(total_bytes),
                                 " of which ", format_bytes(free_bytes), " is free.");
}

}  // namespace

void* Ctx::scratch(size_t bytes) {
  if (bytes == 0) return nullptr;
  auto entry = std::make_unique<Scratch>(Scratch{nullptr, bytes, scratch_});
  entry->data = backend_.allocate_scratch(bytes, *this);
  if (!entry->data) throw_out_of_memory(backend_, device_, bytes);
  scratch_ = entry.release();
  return scratch_->data;
}

Ctx::~Ctx() {
  while (scratch_) {
    const std::unique_ptr<Scratch> entry(scratch_);
    scratch_ = entry->next;
    try {
      backend_.free_scratch(entry->data, entry->bytes, *this);
    } catch (...) {
      // The device has failed and its memory is lost; the next synchronisation reports the error.
    }
  }
}

}  // namespace hearth

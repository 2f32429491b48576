#include "kernels/ctx.h"

#include "hearth/error.h"
#include "kernels/backend.h"

namespace hearth {

struct Ctx::Scratch {
  void* data;
  size_t bytes;
  Scratch* next;
};

void* Ctx::scratch(size_t bytes) {
  if (bytes == 0) return nullptr;
  auto* entry = new Scratch{nullptr, bytes, scratch_};
  try {
    entry->data = backend_.allocate_scratch(bytes, *this);
  } catch (...) {
    delete entry;
    throw;
  }
  scratch_ = entry;
  return entry->data;
}

Ctx::~Ctx() {
  while (scratch_) {
    Scratch* const entry = scratch_;
    scratch_ = entry->next;
    backend_.free_scratch(entry->data, entry->bytes, *this);
    delete entry;
  }
}

void launch(Ctx& ctx, const ParamsType& type, const void* params) {
  Backend& backend = ctx.backend();
  HEARTH_CHECK_AS(NotImplementedError, backend.kernels().kernels[static_cast<int>(type.id)],
                  type.name, " has no ", backend.name(), " kernel in this build");
  backend.launch(type, params, ctx);
}

}  // namespace hearth

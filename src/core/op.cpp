#include "core/op.h"

#include "core/streams.h"

namespace hearth {

std::string full_name(const OpInfo& info) {
  return *info.overload ? std::string(info.name) + "." + info.overload : info.name;
}

void LaunchContext::copy_to_host(const TensorImpl& from, void* to, size_t bytes) const {
  Backend& backend = ctx.backend();
  backend.copy(to, from.data(), bytes, CopyKind::kDeviceToHost, ctx.device().index(), ctx.stream());
  if (ctx.device().is_cuda()) synchronize_stream(ctx.device().index(), ctx.stream());
}

}  // namespace hearth

#include "seam/table.h"

#include "kernels/cuda/runtime.h"
#include "seam/recurrence_net.h"

namespace hearth::cuda {

// Weak: the address of a kernel that this build lacks is null, and so is its entry in the table.
#define HEARTH_WEAK_KERNEL(Name) [[gnu::weak]] void run(const Name##Params& params, Ctx& ctx);
HEARTH_KERNELS(HEARTH_WEAK_KERNEL)
#undef HEARTH_WEAK_KERNEL
[[gnu::weak]] std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx);

namespace {

/// The table's entry for P's kernel, or null.
template <class P>
KernelFn entry() {
  void (*const kernel)(const P&, Ctx&) = &run;
  if (kernel == nullptr) return nullptr;
  return [](const void* params, Ctx& ctx) { run(*static_cast<const P*>(params), ctx); };
}

KernelTable make_table() {
  KernelTable table;
#define HEARTH_TABLE_ENTRY(Name) \
  table.kernels[static_cast<int>(KernelId::Name)] = entry<Name##Params>();
  HEARTH_KERNELS(HEARTH_TABLE_ENTRY)
#undef HEARTH_TABLE_ENTRY
  return table;
}

}  // namespace

const KernelTable& kernel_table() {
  static const KernelTable table = make_table();
  return table;
}

std::optional<int64_t> CudaBackend::plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx) {
  std::optional<int64_t> (*const plan)(const RecurrenceNetShape&, Ctx&) =
      &cuda::plan_recurrence_net;
  return plan ? plan(shape, ctx) : std::nullopt;
}

}  // namespace hearth::cuda

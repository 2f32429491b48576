// Lets simulated GPUs run the plugin's kernels, compiled for the CPU, instead of the CPU's.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/backends.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/stream.h"
#include "seam/matmul.h"
#include "seam/pointwise.h"
#include "seam/recurrence_net.h"
#include "seam/table.h"

namespace hearth::cuda {

#define HEARTH_WEAK_KERNEL(Name) [[gnu::weak]] void run(const Name##Params& params, Ctx& ctx);
HEARTH_KERNELS(HEARTH_WEAK_KERNEL)
#undef HEARTH_WEAK_KERNEL
[[gnu::weak]] std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx);

void fail_cuda(cudaError_t, const char* call) { detail::fail<Error>("CUDA error in ", call); }
CurrentDevice::CurrentDevice(int) {}
CurrentDevice::~CurrentDevice() = default;

// Kernels that emulated kernels call, but that are not emulated themselves.
void run(const PointwiseParams& params, Ctx& ctx) { cpu::run(params, ctx); }
void run(const MatmulParams& params, Ctx& ctx) { cpu::run(params, ctx); }

}  // namespace hearth::cuda

namespace hearth::testing {
namespace {

/// The arguments of a kernel as the plugin's backend passes them.
struct OnNativeStream {
  explicit OnNativeStream(Ctx& of)
      : ctx(cpu_backend(), of.device(), &stream, of.faults(), of.numerics()) {
    stream.device = of.device().index();
    stream.faults = of.faults();
  }
  cuda::NativeStream stream;
  Ctx ctx;
};

KernelFn cpu_kernels[kKernelCount];

/// Runs an emulated kernel for a GPU, and the CPU's for the CPU.
template <class P>
void run_either(const void* params, Ctx& ctx) {
  if (!ctx.device().is_cuda()) return cpu_kernels[int(KernelIdOf<P>::value)](params, ctx);
  OnNativeStream native(ctx);
  cuda::run(*static_cast<const P*>(params), native.ctx);
}

template <class P>
void replace(KernelTable& table, bool is_emulated) {
  void (*const kernel)(const P&, Ctx&) = &cuda::run;
  KernelFn& entry = table.kernels[int(KernelIdOf<P>::value)];
  cpu_kernels[int(KernelIdOf<P>::value)] = entry;
  if (kernel != nullptr && is_emulated) entry = run_either<P>;
}

const bool replaced = [] {
  setenv("HEARTH_SIM_GPUS", "2", 1);
  auto& table = const_cast<KernelTable&>(cpu_backend().kernels());
#define HEARTH_REPLACE(Name) \
  replace<Name##Params>(     \
      table, KernelId::Name != KernelId::Pointwise && KernelId::Name != KernelId::Matmul);
  HEARTH_KERNELS(HEARTH_REPLACE)
#undef HEARTH_REPLACE
  return true;
}();

// If CMake did not find a CUDA kernel, the CPU's would run in its place without an error.
TEST(Emulator, ReplacesTheKernels) {
  for (const KernelId id :
       {KernelId::Attention, KernelId::AttentionBackward, KernelId::Cdist, KernelId::CdistBackward,
        KernelId::CtcLoss, KernelId::CtcLossBackward, KernelId::EmbeddingBag,
        KernelId::EmbeddingBagBackward, KernelId::EmbeddingBagScaleBackward, KernelId::Fft,
        KernelId::ApplyPivots, KernelId::LdlSolve, KernelId::Recurrence,
        KernelId::RecurrenceBackward})
    EXPECT_NE(cpu_backend().kernels().kernels[int(id)], cpu_kernels[int(id)])
        << "kernel " << int(id);
}

}  // namespace
}  // namespace hearth::testing

namespace hearth::cpu {

// The backend of simulated GPUs asks the CPU's backend, which calls this function.
std::optional<int64_t> plan_recurrence_net(const RecurrenceNetShape& shape, Ctx& ctx) {
  std::optional<int64_t> (*const plan)(const RecurrenceNetShape&, Ctx&) =
      &cuda::plan_recurrence_net;
  if (plan == nullptr) return {};
  testing::OnNativeStream native(ctx);
  return plan(shape, native.ctx);
}

}  // namespace hearth::cpu

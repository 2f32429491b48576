#pragma once

#include <cstddef>
#include <new>

#include "seam/ctx.h"

namespace hearth {

/// Every kernel of the seam, one line each: X(Name) stands for `struct NameParams`, defined in
/// seam/<family>.h, and for the function `void run(const NameParams&, Ctx&)` that a backend with
/// this kernel defines in its namespace (hearth::cpu, hearth::cuda). The simulator runs the CPU
/// kernels.
#define HEARTH_KERNELS(X)      \
  X(Pointwise)                 \
  X(Reduce)                    \
  X(MinMaxDim)                 \
  X(Matmul)                    \
  X(Cat)                       \
  X(Gather)                    \
  X(Scatter)                   \
  X(Index)                     \
  X(IndexPut)                  \
  X(Conv)                      \
  X(Pool)                      \
  X(PoolBackward)              \
  X(BatchNorm)                 \
  X(BatchNormBackward)         \
  X(RowNorm)                   \
  X(RowNormBackward)           \
  X(Softmax)                   \
  X(SoftmaxBackward)           \
  X(Attention)                 \
  X(AttentionBackward)         \
  X(NllLoss)                   \
  X(NllLossBackward)           \
  X(CtcLoss)                   \
  X(CtcLossBackward)           \
  X(Cdist)                     \
  X(CdistBackward)             \
  X(EmbeddingBag)              \
  X(EmbeddingBagBackward)      \
  X(EmbeddingBagScaleBackward) \
  X(Random)                    \
  X(Dropout)                   \
  X(Glu)                       \
  X(GluBackward)               \
  X(NonzeroCount)              \
  X(NonzeroFill)               \
  X(Range)                     \
  X(Triangle)                  \
  X(Scan)                      \
  X(Order)                     \
  X(Search)                    \
  X(FusedStep)                 \
  X(LuFactor)                  \
  X(ApplyPivots)               \
  X(Cholesky)                  \
  X(TriangularSolve)           \
  X(QrFactor)                  \
  X(HouseholderProduct)        \
  X(Svd)                       \
  X(Eigh)                      \
  X(LeastSquares)              \
  X(Upsample)                  \
  X(GridSampler)               \
  X(GridSamplerBackward)       \
  X(Recurrence)                \
  X(RecurrenceBackward)        \
  X(RecurrenceNet)             \
  X(RecurrenceNetBackward)     \
  X(TotalNorm)                 \
  X(Special)                   \
  X(Fft)                       \
  X(AmpUnscale)                \
  X(AmpUpdateScale)            \
  X(Eig)                       \
  X(LdlFactor)                 \
  X(LdlSolve)

#define HEARTH_DECLARE_PARAMS(Name) struct Name##Params;
HEARTH_KERNELS(HEARTH_DECLARE_PARAMS)
#undef HEARTH_DECLARE_PARAMS

#define HEARTH_DECLARE_KERNEL(Name) void run(const Name##Params& params, Ctx& ctx);
namespace cpu {
HEARTH_KERNELS(HEARTH_DECLARE_KERNEL)
}
namespace cuda {
HEARTH_KERNELS(HEARTH_DECLARE_KERNEL)
}
#undef HEARTH_DECLARE_KERNEL

enum class KernelId : int {
#define HEARTH_KERNEL_ID(Name) Name,
  HEARTH_KERNELS(HEARTH_KERNEL_ID)
#undef HEARTH_KERNEL_ID
      kCount
};
inline constexpr int kKernelCount = static_cast<int>(KernelId::kCount);

template <class P>
struct KernelIdOf;
#define HEARTH_KERNEL_ID_OF(Name)                     \
  template <>                                         \
  struct KernelIdOf<Name##Params> {                   \
    static constexpr KernelId value = KernelId::Name; \
    static constexpr const char* name = #Name;        \
  };
HEARTH_KERNELS(HEARTH_KERNEL_ID_OF)
#undef HEARTH_KERNEL_ID_OF

/// A kernel with its parameters' type erased.
using KernelFn = void (*)(const void* params, Ctx& ctx);

/// A backend's kernels, by KernelId; null for missing kernels.
struct KernelTable {
  KernelFn kernels[kKernelCount] = {};
};

/// The type of a kernel's parameters, for backends that copy them to run the kernel later.
struct ParamsType {
  KernelId id;
  const char* name;
  size_t size;
  size_t align;
  void (*copy)(void* to, const void* from);
  void (*destroy)(void* params);
};

template <class P>
inline constexpr ParamsType params_type{
    KernelIdOf<P>::value,
    KernelIdOf<P>::name,
    sizeof(P),
    alignof(P),
    [](void* to, const void* from) { new (to) P(*static_cast<const P*>(from)); },
    [](void* params) { static_cast<P*>(params)->~P(); }};

/// Runs a kernel on the Ctx's backend and stream; throws "Gather has no CUDA kernel in this build"
/// if it is missing.
void run_kernel(Ctx& ctx, const ParamsType& type, const void* params);
template <class P>
void run_kernel(Ctx& ctx, const P& params) {
  run_kernel(ctx, params_type<P>, &params);
}

}  // namespace hearth

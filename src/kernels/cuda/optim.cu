// The step of an optimizer for many tensors. Each block has a chunk of 4096 elements of a dense
// tensor, its threads 16 bytes of each operand at a time where all are aligned, and a launch takes
// up to 192 tensors (640 if they have one operand); a tensor of other strides has its own launch.
// Bound by memory traffic: operands are read and written, the gradient written only if grad_scale
// divides it.
#include "seam/optim.h"

#include <algorithm>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/tensor_chunks.cuh"

namespace hearth::cuda {

namespace {

constexpr int kGrad = 1;  // the operand that is the gradient

/// The arguments that all tensors share.
struct StepCommon {
  const float* grad_scale;
  const float* found_inf;
  bool maximize;
  ScalarType step_dtype;
};

/// A tensor's factors for its step; computed from the number at step_at if that is not null.
struct TensorStep {
  fn::StepFactors factors;
  const void* step_at;
};

/// The tensors of one launch, whose operands are dense in one common order; a kernel argument.
template <int operands>
struct StepTable {
  using Chunks = TensorChunks<operands == 1 ? 640 : 192, 4096>;
  StepCommon common;
  Chunks chunks;
  void* data[operands][Chunks::kMaxTensors];
  TensorStep steps[Chunks::kMaxTensors];
};

/// One tensor of any strides.
struct StridedStep {
  StepCommon common;
  int64_t numel;
  char* data[kStepOperands];
  TensorStep step;
  Offsets<kStepOperands> offsets;
};

/// The factors of a tensor, computed once per block.
template <class F>
__device__ __forceinline__ fn::StepFactors shared_factors(const F& rule, const StepCommon& common,
                                                          const TensorStep& step) {
  if (step.step_at == nullptr) return step.factors;
  __shared__ fn::StepFactors factors;
  if (threadIdx.x == 0)
    factors =
        rule.factors(load_as<double>(static_cast<const char*>(step.step_at), common.step_dtype));
  __syncthreads();
  return factors;
}

/// Updates one element's operands; the gradient is only divided by grad_scale.
template <class F, class C>
__device__ __forceinline__ void update(const F& rule, const StepCommon& common,
                                       const fn::StepFactors& factors, C (&x)[F::operands]) {
  if constexpr (F::operands > 1)
    if (common.grad_scale != nullptr) x[kGrad] = static_cast<C>(x[kGrad] / *common.grad_scale);
  Lane<C> v[F::operands];
#pragma unroll
  for (int k = 0; k < F::operands; ++k)
    v[k] = Lane<C>(k == kGrad && common.maximize ? -x[k] : x[k]);
  if constexpr (F::operands == 1)
    rule.update(factors, v[0]);
  else if constexpr (F::operands == 2)
    rule.update(factors, v[0], v[1]);
  else if constexpr (F::operands == 3)
    rule.update(factors, v[0], v[1], v[2]);
  else if constexpr (F::operands == 4)
    rule.update(factors, v[0], v[1], v[2], v[3]);
  else
    rule.update(factors, v[0], v[1], v[2], v[3], v[4]);
#pragma unroll
  for (int k = 0; k < F::operands; ++k)
    if (k != kGrad) x[k] = v[k].v;
}

/// Updates kWide elements from `start`.
template <class F, class T, int kWide>
__device__ __forceinline__ void update_elements(const F& rule, const StepCommon& common,
                                                const fn::StepFactors& factors,
                                                T* const (&data)[F::operands], int64_t start) {
  Pack<T, kWide> packs[F::operands];
#pragma unroll
  for (int k = 0; k < F::operands; ++k)
    packs[k] = *reinterpret_cast<const Pack<T, kWide>*>(data[k] + start);
#pragma unroll
  for (int e = 0; e < kWide; ++e) {
    Register<T> x[F::operands];
#pragma unroll
    for (int k = 0; k < F::operands; ++k) x[k] = to_register(packs[k].v[e]);
    update(rule, common, factors, x);
#pragma unroll
    for (int k = 0; k < F::operands; ++k) packs[k].v[e] = to_element<T>(x[k]);
  }
#pragma unroll
  for (int k = 0; k < F::operands; ++k)
    if (k != kGrad || common.grad_scale != nullptr)
      *reinterpret_cast<Pack<T, kWide>*>(data[k] + start) = packs[k];
}

template <class F, class T>
__global__ void __launch_bounds__(kBlock)
    dense_kernel(const __grid_constant__ F rule,
                 const __grid_constant__ StepTable<F::operands> table) {
  if (table.common.found_inf != nullptr && *table.common.found_inf == 1) return;
  const auto [tensor, begin, n] = table.chunks.of_block();
  const fn::StepFactors factors = shared_factors(rule, table.common, table.steps[tensor]);
  T* data[F::operands];
  uintptr_t addresses = 0;
#pragma unroll
  for (int k = 0; k < F::operands; ++k) {
    data[k] = static_cast<T*>(table.data[k][tensor]);
    addresses |= reinterpret_cast<uintptr_t>(data[k]);
  }
  constexpr int kWide = kWideBytes / sizeof(T);
  const int64_t num_packs = addresses % kWideBytes == 0 ? n / kWide : 0;
  for (int64_t i = threadIdx.x; i < num_packs; i += kBlock)
    update_elements<F, T, kWide>(rule, table.common, factors, data, begin + i * kWide);
  for (int64_t i = num_packs * kWide + threadIdx.x; i < n; i += kBlock)
    update_elements<F, T, 1>(rule, table.common, factors, data, begin + i);
}

template <class F, class T>
__global__ void __launch_bounds__(kBlock)
    strided_kernel(const __grid_constant__ F rule, const __grid_constant__ StridedStep args) {
  if (args.common.found_inf != nullptr && *args.common.found_inf == 1) return;
  const fn::StepFactors factors = shared_factors(rule, args.common, args.step);
  const int64_t num_threads = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += num_threads) {
    int64_t offsets[F::operands];
    args.offsets.find(i, offsets);
    T* data[F::operands];
#pragma unroll
    for (int k = 0; k < F::operands; ++k) data[k] = reinterpret_cast<T*>(args.data[k] + offsets[k]);
    update_elements<F, T, 1>(rule, args.common, factors, data, 0);
  }
}

/// Launches the kernels of one rule and dtype.
template <class F, class T>
class StepLauncher {
 public:
  StepLauncher(const FusedStepParams& params, const NativeStream& stream)
      : params_(params), stream_(stream) {
    std::memcpy(&rule_, params.parameters, sizeof rule_);
    table_.common = common();
    table_.chunks.clear();
  }

  void run() {
    for (const StepTensor& tensor : params_.tensors) {
      if (tensor.numel == 0) continue;
      if (tensor.layout >= 0)
        launch_strided(tensor);
      else
        add(tensor);
    }
    launch_table();
  }

 private:
  StepCommon common() const {
    return {params_.grad_scale, params_.found_inf, params_.maximize, params_.step_dtype};
  }
  TensorStep step_of(const StepTensor& tensor) const {
    return {rule_.factors(tensor.step), tensor.step_at};
  }

  void add(const StepTensor& tensor) {
    const int i = table_.chunks.add(tensor.numel, [this] { launch_table(); });
    for (int k = 0; k < F::operands; ++k) table_.data[k][i] = tensor.data[k];
    table_.steps[i] = step_of(tensor);
  }

  void launch_table() const {
    const auto blocks = static_cast<unsigned>(table_.chunks.num_chunks());
    if (blocks > 0) dense_kernel<F, T><<<blocks, kBlock, 0, stream_.stream>>>(rule_, table_);
  }

  void launch_strided(const StepTensor& tensor) {
    const StepLayout& layout = params_.layouts[static_cast<size_t>(tensor.layout)];
    Loop loop(layout.dim, layout.sizes);
    StridedStep args;
    for (int k = 0; k < F::operands; ++k) {
      loop.add(layout.strides[k], sizeof(T));
      args.data[k] = static_cast<char*>(tensor.data[k]);
    }
    loop.merge();
    args.common = common();
    args.numel = tensor.numel;
    args.step = step_of(tensor);
    args.offsets = Offsets<kStepOperands>(loop);
    strided_kernel<F, T>
        <<<grid_for(tensor.numel, stream_), kBlock, 0, stream_.stream>>>(rule_, args);
  }

  const FusedStepParams& params_;
  const NativeStream& stream_;
  F rule_;
  StepTable<F::operands> table_;
};

template <class F>
void run_rule(const FusedStepParams& params, const NativeStream& stream) {
  switch (params.dtype) {
    case kFloat: return StepLauncher<F, float>(params, stream).run();
    case kDouble: return StepLauncher<F, double>(params, stream).run();
    case kHalf: return StepLauncher<F, Half>(params, stream).run();
    case kBFloat16: return StepLauncher<F, BFloat16>(params, stream).run();
    default: detail::fail<Error>("a step is not implemented for '", name_of(params.dtype), "'");
  }
}

using RunFn = void (*)(const FusedStepParams& params, const NativeStream& stream);

template <class... F>
RunFn runner_of(int rule, List<F...>) {
  static constexpr RunFn runners[] = {&run_rule<F>...};
  return runners[rule];
}

}  // namespace

void run(const FusedStepParams& params, Ctx& ctx) {
  runner_of(params.rule, fn::OptimRules{})(params, stream_of(ctx));
}

}  // namespace hearth::cuda

// Chooses and launches the kernels of pointwise.cuh.
#include "kernels/cuda/pointwise.h"

#include <algorithm>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// Returns a functor's kernels, by its number.
const FunctorRow& row_of(int functor) {
#define HEARTH_ROWS_OF(Family) rows_of_##Family(),
  static const FunctorRow* const families[] = {HEARTH_FUNCTOR_FAMILIES(HEARTH_ROWS_OF)};
#undef HEARTH_ROWS_OF
  return families[fn::family_of(functor)][fn::place_of(functor)];
}

/// Whether an operand is contiguous, aligned and of this dtype.
bool allows_wide_access(const Operand& operand, const PointwiseParams& params, ScalarType dtype) {
  if (operand.dtype != dtype || reinterpret_cast<uintptr_t>(operand.data) % kWideBytes != 0)
    return false;
  int64_t expected = 1;
  for (int d = params.dim - 1; d >= 0; --d) {
    if (params.sizes[d] != 1 && operand.strides[d] != expected) return false;
    expected *= params.sizes[d];
  }
  return true;
}

/// Whether the contiguous kernel can run; `result` is the dtype of the formula's result, which the
/// output must have.
bool is_contiguous(const PointwiseParams& params, ScalarType result) {
  return allows_wide_access(params.out, params, result) &&
         std::all_of(params.in, params.in + params.inputs, [&](const Operand& in) {
           return in.is_number || allows_wide_access(in, params, params.compute);
         });
}

KernelInput input_of(const Operand& operand, ScalarType compute) {
  KernelInput input{};
  input.dtype = operand.dtype;
  if (!operand.is_number) {
    input.data = static_cast<const char*>(operand.data);
    return input;
  }
  switch (compute) {
#define HEARTH_NUMBER(T, Name)                                               \
  case ScalarType::Name: {                                                   \
    const auto number = load_as<Register<T>>(operand.number, operand.dtype); \
    std::memcpy(input.number, &number, sizeof(number));                      \
    break;                                                                   \
  }
    HEARTH_DTYPES(HEARTH_NUMBER)
#undef HEARTH_NUMBER
    default: break;
  }
  return input;
}

/// Launches kernel(functor, args).
template <class Args>
void launch_kernel(const void* kernel, int64_t num_items, const PointwiseParams& params,
                   const Args& args, const NativeStream& stream) {
  void* arguments[] = {const_cast<unsigned char*>(params.parameters), const_cast<Args*>(&args)};
  HEARTH_CUDA(cudaLaunchKernel(kernel, dim3(grid_for(num_items, stream)), dim3(kBlock), arguments,
                               0, stream.stream));
}

void launch_contiguous(const void* kernel, const PointwiseParams& params,
                       const NativeStream& stream) {
  ContiguousArgs args{};
  args.numel = params.numel;
  args.out = params.out.data;
  for (int k = 0; k < params.inputs; ++k) args.in[k] = input_of(params.in[k], params.compute);
  const int64_t per_pack = kWideBytes / static_cast<int64_t>(element_size(params.compute));
  // Packs, then single elements.
  launch_kernel(kernel, params.numel / per_pack + per_pack, params, args, stream);
}

void launch_strided(const void* kernel, const PointwiseParams& params, const NativeStream& stream) {
  StridedArgs args;
  args.numel = params.numel;
  args.compute = params.compute;
  args.out_dtype = params.out.dtype;
  args.out = static_cast<char*>(params.out.data);
  Loop loop(params.dim, params.sizes);
  loop.add(params.out.strides, element_size(params.out.dtype));
  for (int k = 0; k < params.inputs; ++k) {
    const Operand& in = params.in[k];
    args.in[k] = input_of(in, params.compute);
    loop.add(in.strides, in.is_number ? 0 : element_size(in.dtype));
  }
  args.offsets = Offsets<kMaxOperands + 1>(loop);
  launch_kernel(kernel, params.numel, params, args, stream);
}

}  // namespace

void run(const PointwiseParams& params, Ctx& ctx) {
  if (params.numel == 0) return;
  const FunctorRow& row = row_of(params.functor);
  const ScalarType result = row.returns_bool ? kBool : params.compute;
  if (has_stored_operand(params)) return run_stored(params, result, ctx);
  const FormulaKernels& kernels = row.formulas[static_cast<int>(params.formula)];
  const int compute = static_cast<int>(params.compute);
  HEARTH_CHECK(kernels.strided[compute] != nullptr, "\"", row.name, "\" not implemented for '",
               name_of(params.compute), "'");
  if (is_contiguous(params, result))
    return launch_contiguous(kernels.contiguous[compute], params, stream_of(ctx));
  launch_strided(kernels.strided[compute], params, stream_of(ctx));
}

}  // namespace hearth::cuda

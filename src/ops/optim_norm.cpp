// The norm of many gradients at once.
#include "seam/optim_norm.h"

#include "hearth/autograd.h"
#include "ops/call.h"
#include "ops/norm_functor.h"

namespace hearth {

namespace {

struct TotalNorm {
  struct Args {
    double ord;
    HEARTH_FIELDS(ord)
  };
  static constexpr OpInfo info{
      .name = "_fused_total_norm", .arguments = "self", .dtypes = dtypes::kFloating};
  static void infer(const Args&, InferContext& context) {
    for (int i = 0; i < context.inputs(); ++i)
      HEARTH_CHECK(context.in(i).dtype == context.in(0).dtype, info.name,
                   ": tensors must have the same dtype, got ", name_of(context.in(0).dtype),
                   " and ", name_of(context.in(i).dtype));
    context.set(0, {}, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    TotalNormParams params;
    params.dtype = context.in_impl(0).dtype;
    params.out = context.out().data;
    for (int i = 0; i < context.inputs(); ++i)
      params.tensors.push_back({kernel_address(context.in_impl(i)), context.in_impl(i).numel});
    with_norm_functor(args.ord, [&params](auto norm) { params.set_norm(norm); });
    run_kernel(context.ctx, params);
  }
};

}  // namespace

Tensor _fused_total_norm(TensorList self, double ord) {
  HEARTH_CHECK(!self.empty(), "_fused_total_norm: expected a non-empty list of Tensors");
  const bool has_no_identity = ord < 0 || std::isinf(ord);
  std::vector<Tensor> dense;
  for (const Tensor& tensor : self) {
    HEARTH_CHECK(tensor.defined(), "_fused_total_norm: a tensor in the list is undefined");
    HEARTH_CHECK(!has_no_identity || tensor.numel() > 0, "linalg.vector_norm cannot compute the ",
                 ord, " norm on an empty tensor because the operation does not have an identity");
    if (tensor.numel() > 0)
      dense.push_back(tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous());
  }
  if (dense.empty()) return zeros({}, self[0].options());
  return invoke<TotalNorm>({ord}, dense).call();
}

}  // namespace hearth

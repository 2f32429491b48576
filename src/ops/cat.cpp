// cat and stack.
#include "seam/cat.h"
#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/copy.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// Empty 1-d tensors are ignored among tensors of any shape, as in old versions of PyTorch.
bool is_skipped(const TensorImpl& impl) { return impl.dim == 1 && impl.numel == 0; }

struct Cat {
  struct Args {
    int64_t dim;
    std::vector<int64_t> widths;  // of the inputs along dim: backward needs them all
    HEARTH_FIELDS(dim, widths)
  };
  static constexpr OpInfo info{.name = "cat", .arguments = "tensors", .amp_cpu = Amp::kWidest};
  static const TensorImpl* shape_giver(const InferContext& context) {
    for (int i = 0; i < context.inputs(); ++i)
      if (!is_skipped(context.in(i))) return &context.in(i);
    return &context.in(0);
  }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& first = *shape_giver(context);
    HEARTH_CHECK(first.dim > 0, "zero-dimensional tensor (at position 0) cannot be concatenated");
    Dims sizes(first.sizes());
    sizes[size_t(args.dim)] = 0;
    bool channels_last = is_channels_last(first);
    for (int i = 0; i < context.inputs(); ++i) {
      const TensorImpl& in = context.in(i);
      if (is_skipped(in)) continue;
      HEARTH_CHECK(in.dim > 0, "zero-dimensional tensor (at position ", i,
                   ") cannot be concatenated");
      channels_last &= is_channels_last(in);
      HEARTH_CHECK(in.dim == first.dim, "Tensors must have same number of dimensions: got ",
                   int(first.dim), " and ", int(in.dim));
      for (size_t d = 0; d < sizes.size(); ++d)
        HEARTH_CHECK(int64_t(d) == args.dim || in.sizes()[d] == sizes[d],
                     "Sizes of tensors must match except in dimension ", args.dim,
                     ". Expected size ", sizes[d], " but got size ", in.sizes()[d],
                     " for tensor number ", i, " in the list.");
      int64_t& sum = sizes[size_t(args.dim)];
      HEARTH_CHECK(!__builtin_add_overflow(sum, in.sizes()[size_t(args.dim)], &sum),
                   "cat(): the sizes of dimension ", args.dim, " add up to more than fits int64");
    }
    set_in_format(context, 0, sizes, first.dtype, channels_last);
  }
  static void launch(const Args& args, LaunchContext& context) {
    CatParams params;
    params.out = context.out();
    params.dim = int(args.dim);
    for (int i = 0; i < context.inputs(); ++i)
      if (!is_skipped(context.in_impl(i)) && context.in_impl(i).numel > 0)
        params.in.push_back(context.in(i));
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    int64_t start = 0;
    for (int i = 0; i < context.inputs(); ++i) {
      if (context.needs(i))
        context.set(i, args.widths[size_t(i)] == 0
                           ? zeros(context.in_sizes(i), context.grad().options())
                           : context.grad().narrow(args.dim, start, args.widths[size_t(i)]));
      start += args.widths[size_t(i)];
    }
  }
};

/// The inputs in one dtype, and the arguments of cat.
struct CatCall {
  CatCall(TensorList tensors, int64_t dim) {
    HEARTH_CHECK_AS(ValueError, !tensors.empty(),
                    "torch.cat(): expected a non-empty list of Tensors");
    std::vector<const Tensor*> pointers;
    int64_t ndim = -1;
    for (size_t i = 0; i < tensors.size(); ++i) {
      HEARTH_CHECK(tensors[i].defined(), "cat(): tensor number ", i, " in the list is undefined");
      pointers.push_back(&tensors[i]);
      if (ndim < 0 && !is_skipped(impl_of(tensors[i]))) ndim = tensors[i].dim();
    }
    args.dim = wrap_dim(dim, ndim < 0 ? 1 : ndim);
    const ScalarType dtype = result_type_of({pointers.data(), int(pointers.size())});
    for (const Tensor& t : tensors) {
      inputs.push_back(t.scalar_type() == dtype ? t : t.to(dtype));
      args.widths.push_back(is_skipped(impl_of(t)) || t.dim() <= args.dim ? 0 : t.size(args.dim));
    }
  }
  auto invocation() const { return invoke<Cat>(args, inputs); }
  Cat::Args args;
  std::vector<Tensor> inputs;
};

Tensor stack_of(TensorList tensors, int64_t dim) {
  HEARTH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  dim = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> raised;
  for (size_t i = 0; i < tensors.size(); ++i) {
    HEARTH_CHECK(tensors[i].sizes().equals(tensors[0].sizes()),
                 "stack expects each tensor to be equal size, but got ", tensors[0].sizes(),
                 " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
    raised.push_back(tensors[i].unsqueeze(dim));
  }
  return cat(raised, dim);
}

}  // namespace

HEARTH_DEFINE_FUNCTION(cat, (TensorList tensors, int64_t dim), CatCall(tensors, dim).invocation())
HEARTH_DEFINE_FUNCTION(concat, (TensorList tensors, int64_t dim),
                       CatCall(tensors, dim).invocation())
HEARTH_DEFINE_FUNCTION(concatenate, (TensorList tensors, int64_t dim),
                       CatCall(tensors, dim).invocation())
Tensor stack(TensorList tensors, int64_t dim) { return stack_of(tensors, dim); }
HEARTH_DEFINE_WRITE_OUT(stack, (TensorList tensors, int64_t dim), stack_of(tensors, dim))

}  // namespace hearth

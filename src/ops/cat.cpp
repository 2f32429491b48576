// cat and stack.
#include "seam/cat.h"

#include <algorithm>

#include "hearth/autograd.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// Empty 1-d tensors are ignored among tensors of any shape, as in PyTorch.
bool is_skipped(const TensorImpl& impl) { return impl.dim == 1 && impl.numel == 0; }

struct Cat {
  struct Args {
    int64_t dim;
    std::vector<int64_t> widths;  // all inputs' sizes along dim, for backward
    HEARTH_FIELDS(dim, widths)
  };
  static constexpr OpInfo info{.name = "cat",
                               .arguments = "tensors",
                               .amp_cpu = Amp::kWidest,
                               .accepts_stored = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static int first_not_skipped(const InferContext& context) {
    for (int i = 0; i < context.inputs(); ++i)
      if (!is_skipped(context.in(i))) return i;
    return 0;
  }
  static void infer(const Args& args, InferContext& context) {
    const int position = first_not_skipped(context);
    const TensorImpl& first = context.in(position);
    HEARTH_CHECK(first.dim > 0, "zero-dimensional tensor (at position ", position,
                 ") cannot be concatenated");
    Dims sizes(first.sizes());
    sizes[size_t(args.dim)] = 0;
    bool channels_last = has_channels_last_strides(first);
    for (int i = 0; i < context.inputs(); ++i) {
      const TensorImpl& in = context.in(i);
      if (is_skipped(in)) continue;
      HEARTH_CHECK(in.dim > 0, "zero-dimensional tensor (at position ", i,
                   ") cannot be concatenated");
      channels_last &= has_channels_last_strides(in);
      HEARTH_CHECK(in.dim == first.dim, "Tensors must have same number of dimensions: got ",
                   int(first.dim), " and ", int(in.dim));
      for (size_t d = 0; d < sizes.size(); ++d)
        HEARTH_CHECK(int64_t(d) == args.dim || in.sizes()[d] == sizes[d],
                     "Sizes of tensors must match except in dimension ", args.dim,
                     ". Expected size ", sizes[d], " but got size ", in.sizes()[d],
                     " for tensor number ", i, " in the list.");
      int64_t& sum = sizes[size_t(args.dim)];
      HEARTH_CHECK(!__builtin_add_overflow(sum, in.sizes()[size_t(args.dim)], &sum),
                   "cat(): the sum of the sizes of dimension ", args.dim, " overflows int64");
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

/// Casts the tensors to the dtype that they promote to.
std::vector<Tensor> promoted(const char* op, TensorList tensors) {
  std::vector<const Tensor*> pointers;
  for (size_t i = 0; i < tensors.size(); ++i) {
    HEARTH_CHECK(tensors[i].defined(), op, "(): tensor number ", i, " in the list is undefined");
    pointers.push_back(&tensors[i]);
  }
  const ScalarType dtype = result_type_of({pointers.data(), int(pointers.size())});
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) result.push_back(t.scalar_type() == dtype ? t : t.to(dtype));
  return result;
}

/// A call of cat; it owns the inputs.
struct CatCall {
  CatCall(TensorList tensors, int64_t dim) {
    HEARTH_CHECK_AS(ValueError, !tensors.empty(),
                    "torch.cat(): expected a non-empty list of Tensors");
    inputs = promoted("cat", tensors);
    const auto first = std::find_if_not(inputs.begin(), inputs.end(),
                                        [](const Tensor& t) { return is_skipped(impl_of(t)); });
    args.dim = wrap_dim(dim, first == inputs.end() ? 1 : first->dim());
    for (const Tensor& t : inputs)
      args.widths.push_back(is_skipped(impl_of(t)) || t.dim() <= args.dim ? 0 : t.size(args.dim));
  }
  auto invocation() const { return invoke<Cat>(args, inputs); }
  std::vector<Tensor> inputs;
  Cat::Args args;
};

/// Joins tensors of equal sizes along a new dimension.
struct Stack {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "stack",
                               .arguments = "tensors",
                               .amp_cpu = Amp::kWidest,
                               .accepts_stored = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& first = context.in(0);
    const size_t dim = size_t(args.dim);
    const int64_t num_tensors = context.inputs();
    bool channels_last = args.dim < first.dim;
    for (int i = 0; i < context.inputs(); ++i) {
      HEARTH_CHECK(context.in(i).sizes().equals(first.sizes()),
                   "stack expects each tensor to be equal size, but got ", first.sizes(),
                   " at entry 0 and ", context.in(i).sizes(), " at entry ", i);
      channels_last &= has_channels_last_strides(context.in(i));
    }
    Dims sizes(first.sizes());
    sizes.insert(dim, num_tensors);
    context.set(0, sizes, first.dtype);
    if (!channels_last) return;
    // As if the tensors were concatenated along dim, and that dimension then split in two.
    const int64_t size = first.sizes()[dim];
    Dims concatenated(first.sizes());
    concatenated[dim] *= num_tensors;
    Dims strides = channels_last_strides(concatenated);
    strides.insert(dim, size * strides[dim]);
    context.out().strides = strides;
    context.out().has_strides = true;
  }
  static void launch(const Args& args, LaunchContext& context) {
    CatParams params;
    params.out = context.out();
    params.dim = int(args.dim);
    for (int i = 0; i < context.inputs(); ++i) {
      View in = context.in(i);
      std::copy_backward(in.sizes + params.dim, in.sizes + in.dim, in.sizes + in.dim + 1);
      std::copy_backward(in.strides + params.dim, in.strides + in.dim, in.strides + in.dim + 1);
      in.sizes[params.dim] = 1;
      ++in.dim;
      params.in.push_back(in);
    }
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    for (int i = 0; i < context.inputs(); ++i)
      if (context.needs(i)) context.set(i, context.grad().select(args.dim, i));
  }
};

/// A call of stack; it owns the inputs.
struct StackCall {
  StackCall(TensorList tensors, int64_t dim) {
    HEARTH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
    inputs = promoted("stack", tensors);
    args.dim = wrap_dim(dim, inputs[0].dim() + 1);
  }
  auto invocation() const { return invoke<Stack>(args, inputs); }
  std::vector<Tensor> inputs;
  DimArgs args;
};

}  // namespace

HEARTH_DEFINE_FUNCTION(cat, (TensorList tensors, int64_t dim), CatCall(tensors, dim).invocation())
HEARTH_DEFINE_FUNCTION(concat, (TensorList tensors, int64_t dim),
                       CatCall(tensors, dim).invocation())
HEARTH_DEFINE_FUNCTION(concatenate, (TensorList tensors, int64_t dim),
                       CatCall(tensors, dim).invocation())
HEARTH_DEFINE_FUNCTION(stack, (TensorList tensors, int64_t dim),
                       StackCall(tensors, dim).invocation())

}  // namespace hearth

#include "ops/gather.h"

#include "hearth/autograd.h"
#include "ops/define.h"
#include "seam/gather.h"

namespace hearth {

namespace {

/// As in PyTorch, a 0-d tensor counts as 1-d.
int64_t at_least_one(int64_t dims) { return dims == 0 ? 1 : dims; }

}  // namespace

void check_index(const char* op, const TensorImpl& index) {
  HEARTH_CHECK(index.dtype == kLong || index.dtype == kInt || index.numel == 0, op,
               "(): Expected dtype int32/int64 for index");
}

void check_same_dims(const char* op, const TensorImpl& index, const TensorImpl& other,
                     const char* role) {
  HEARTH_CHECK(at_least_one(index.dim) == at_least_one(other.dim),
               "Index tensor must have the same number of dimensions as ", role, " tensor (", op,
               ": index ", index.sizes(), ", ", role, " ", other.sizes(), ")");
}

int first_larger_dim(const TensorImpl& index, const TensorImpl& other, int64_t dim) {
  const auto size = [](const TensorImpl& t, int64_t d) {
    return t.dim == 0 ? 1 : t.sizes()[size_t(d)];
  };
  for (int d = 0; d < at_least_one(index.dim); ++d)
    if (d != dim && size(index, d) > size(other, d)) return d;
  return -1;
}

std::optional<int64_t> first_outside(const Tensor& index, int64_t low, int64_t high) {
  const Tensor outside = index.masked_select(index.lt(low).logical_or(index.ge(high)));
  if (outside.numel() == 0) return std::nullopt;
  return outside.select(0, 0).item<int64_t>();
}

View expand_to_slices(const View& index, const View& slices, int64_t dim) {
  View expanded = slices;
  expanded.data = index.data;
  expanded.dtype = index.dtype;
  for (int d = 0; d < expanded.dim; ++d) expanded.strides[d] = 0;
  if (expanded.dim > 0) expanded.strides[dim] = index.dim == 0 ? 0 : index.strides[0];
  return expanded;
}

namespace {

struct Gather {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "gather",
                               .arguments = "self,index",
                               .saves = in_slot(1),
                               .accepts_stored = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    check_index("gather", context.in(1));
    if (context.in(1).numel > 0) check_fits(args, context.in(0), context.in(1));
    context.set(0, context.in(1).sizes(), context.in(0).dtype);
  }
  static void check_fits(const Args& args, const TensorImpl& self, const TensorImpl& index) {
    check_same_dims("gather", index, self, "input");
    const int d = first_larger_dim(index, self, args.dim);
    HEARTH_CHECK(d < 0, "Size does not match at dimension ", d, " expected index ", index.sizes(),
                 " to be no larger than self ", self.sizes(), " apart from dimension ", args.dim);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx,
               GatherParams{context.in(0), context.in(1), context.out(), int(args.dim)});
  }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0))
      context.set(0, zeros(context.in_sizes(0), context.grad().options())
                         .scatter_add(args.dim, context.in(1), context.grad()));
  }
};

struct IndexSelect {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "index_select",
                               .arguments = "self,index",
                               .saves = in_slot(1),
                               .accepts_stored = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl &self = context.in(0), &index = context.in(1);
    HEARTH_CHECK_AS(IndexError, index.dim <= 1, "index_select(): Index is supposed to be a vector");
    HEARTH_CHECK(index.dtype == kLong || index.dtype == kInt,
                 "index_select(): Expected dtype int32 or int64 for index");
    HEARTH_CHECK(self.dim > 0 || index.numel == 1,
                 "index_select(): Index to scalar can have only 1 value, got ", index.numel,
                 " value(s)");
    Dims sizes(self.sizes());
    if (self.dim > 0) sizes[size_t(args.dim)] = index.numel;
    context.set(0, sizes, self.dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View out = context.out();
    run_kernel(context.ctx,
               GatherParams{context.in(0), expand_to_slices(context.in(1), out, args.dim), out,
                            int(args.dim)});
  }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0))
      context.set(0, zeros(context.in_sizes(0), context.grad().options())
                         .index_add(args.dim, context.in(1), context.grad()));
  }
};

}  // namespace

HEARTH_DEFINE_OUT(gather, (int64_t dim, const Tensor& index, bool),
                  invoke<Gather>({wrap_dim(dim, self.dim())}, self, index))
HEARTH_DEFINE_OUT(index_select, (int64_t dim, const Tensor& index),
                  invoke<IndexSelect>({wrap_dim(dim, self.dim())}, self, index))

}  // namespace hearth

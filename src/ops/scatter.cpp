#include "ops/scatter.h"

#include "hearth/autograd.h"
#include "ops/binding.h"
#include "ops/define.h"
#include "seam/index.h"

namespace hearth {

namespace {

/// The gradient of src (input 2); index (input 1) is saved.
Tensor gradient_of_source(const DimArgs& args, const GradContext& context) {
  const Tensor index = context.in(1);
  const Tensor picked = context.grad().gather(args.dim, index);
  if (index.sizes().equals(context.in_sizes(2))) return picked;
  // src may be larger than the index; its elements beyond the index have gradient 0.
  Tensor gradient = zeros(context.in_sizes(2), picked.options());
  Tensor window = gradient;
  for (int64_t d = 0; d < index.dim(); ++d) window = window.narrow(d, 0, index.size(d));
  window.copy_(picked);
  return gradient;
}

constexpr OpInfo scatter_info(const char* overload, const char* node, SlotSet saved) {
  return {.name = "scatter",
          .overload = overload,
          .node = node,
          .arguments = "self,index,src",
          .saves = saved,
          .accepts_stored = *overload == 0,
          .runs_inplace = true,
          .sharing = Sharing::kAtIndices,
          .always_launches = true,
          .complex_grad = ComplexGrad::kAnalytic};
}
constexpr OpInfo kScatter = scatter_info("", "", in_slot(1)),
                 kScatterAdding = scatter_info("add", "", 0),
                 kScatterMultiplying = scatter_info("multiply", "", 0);
constexpr OpInfo kScatterAdd{.name = "scatter_add",
                             .arguments = "self,index,src",
                             .amp = Amp::kWidest,
                             .amp_cpu = Amp::kKeep,
                             .saves = in_slot(1),
                             .runs_inplace = true,
                             .sharing = Sharing::kAtIndices,
                             .always_launches = true,
                             .complex_grad = ComplexGrad::kAnalytic};

struct ScatterAdd : ScatterOp<kScatterAdd, Combine::kAdd> {
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0)) context.set(0, context.grad());
    if (context.needs(2)) context.set(2, gradient_of_source(args, context));
  }
};
struct Scatter : ScatterOp<kScatter, Combine::kReplace> {
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0)) context.set(0, context.grad().scatter(args.dim, context.in(1), 0));
    if (context.needs(2)) context.set(2, gradient_of_source(args, context));
  }
};
/// The overload with a number as src, whose grad_fn PyTorch names ScatterBackward1.
struct ScatterNumber : Scatter {
  static constexpr OpInfo info = scatter_info("", "ScatterBackward1", in_slot(1));
};
/// scatter with reduce="add" or "multiply", without a derivative.
using ScatterAdding = ScatterOp<kScatterAdding, Combine::kAdd>;
using ScatterMultiplying = ScatterOp<kScatterMultiplying, Combine::kMultiply>;

/// Combines the slices of source with the slices of self at index. Inputs: self, index, source.
template <const OpInfo& op_info, Combine combine>
struct CombineSlices {
  using Args = DimArgs;
  static constexpr OpInfo info = op_info;
  static void launch(const Args& args, LaunchContext& context) {
    copy_self_to_out(context);
    const View source = context.in(2);
    if (source.numel > 0)
      run_kernel(
          context.ctx,
          ScatterParams{context.out(), expand_to_slices(context.in(1), source, args.dim), source,
                        int(args.dim), combine, are_deterministic_algorithms_enabled()});
  }
  static void grad(const Args& args, GradContext& context) {
    constexpr bool adds = combine == Combine::kAdd;
    if (context.needs(0))
      context.set(0, adds ? context.grad() : context.grad().index_fill(args.dim, context.in(1), 0));
    if (context.needs(2))
      context.set(2,
                  context.grad().index_select(args.dim, context.in(1)).expand(context.in_sizes(2)));
  }
};
constexpr OpInfo kIndexAdd{.name = "index_add",
                           .arguments = "self,index,source",
                           .saves = in_slot(1),
                           .runs_inplace = true,
                           .sharing = Sharing::kAtIndices,
                           .complex_grad = ComplexGrad::kAnalytic};
constexpr OpInfo kIndexCopy{.name = "index_copy",
                            .arguments = "self,index,source",
                            .amp_cpu = Amp::kWidest,
                            .saves = in_slot(1),
                            .runs_inplace = true,
                            .sharing = Sharing::kAtIndices,
                            .complex_grad = ComplexGrad::kAnalytic};

/// Whether the sizes are equal in all dimensions but dim.
bool same_slices(const Tensor& self, const Tensor& source, int64_t dim) {
  if (self.dim() != source.dim()) return false;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != dim && self.size(d) != source.size(d)) return false;
  return true;
}

auto index_add_of(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  dim = wrap_dim(dim, self.dim());
  const ScalarType type = index.scalar_type();
  HEARTH_CHECK(type == kLong || type == kInt,
               "index_add_(): Expected dtype int32/int64 for index but got: ", name_of(type));
  HEARTH_CHECK_AS(IndexError, index.dim() <= 1,
                  "index_add_(): Index is supposed to be a vector, but got dim: ", index.dim(),
                  " with type: ", name_of(type), " and size: ", index.sizes());
  HEARTH_CHECK(self.scalar_type() == source.scalar_type(), "index_add_(): self (",
               name_of(self.scalar_type()), ") and source (", name_of(source.scalar_type()),
               ") must have the same scalar type");
  HEARTH_CHECK(same_slices(self, source, dim),
               "source tensor shape must match self tensor shape, excluding the specified "
               "dimension. Got self.shape = ",
               self.sizes(), " source.shape = ", source.sizes());
  const int64_t num_slices = source.dim() == 0 ? 1 : source.size(dim);
  HEARTH_CHECK(index.numel() == num_slices, "index_add_(): Number of indices (", index.numel(),
               ") should be equal to source.size(dim): (", num_slices, "), for dim: ", dim);
  return invoke<CombineSlices<kIndexAdd, Combine::kAdd>>({dim}, self, index, source);
}

/// alpha * source; throws if alpha does not fit the dtype.
Tensor times(const Tensor& source, const Scalar& alpha) {
  if (alpha.isIntegral(true) && alpha.toLong() == 1) return source;
  return source.mul(alpha.stored_as(source.scalar_type()));
}

void check_index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  HEARTH_CHECK_AS(IndexError, index.dim() <= 1,
                  "index_copy_(): Index should have dimension 1 or 0 (got ", index.dim(), ")");
  HEARTH_CHECK_AS(IndexError, source.dim() > 0 || index.numel() == 1,
                  "index_copy_(): When source is scalar, index should have one element (got ",
                  index.numel(), ")");
  HEARTH_CHECK_AS(IndexError, source.dim() == 0 || self.dim() == 0 || source.dim() == self.dim(),
                  "index_copy_(): When source and destination are not scalars, their "
                  "dimensionality must match. Source dimensionality (",
                  source.dim(), "), destination dimensionality (", self.dim(), ")");
  HEARTH_CHECK(index.scalar_type() == kLong,
               "index_copy_(): Expected a long tensor for index, but got ",
               name_of(index.scalar_type()));
  const int64_t num_slices = source.dim() == 0 ? 1 : source.size(dim);
  HEARTH_CHECK_AS(IndexError, index.numel() == num_slices, "index_copy_(): Number of indices (",
                  index.numel(), ") should be equal to source.size(dim) (", num_slices, ")");
  HEARTH_CHECK(self.dim() < 2 || source.dim() == 0 || same_slices(self, source, dim),
               "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
               "shape: ",
               self.sizes(), " and source shape: ", source.sizes(), ", dimension ", dim, ".");
}

/// Checks the inputs; returns the source with self's number of dimensions.
Tensor index_copy_source(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& source) {
  check_index_copy(self, dim, index, source);
  if (source.dim() == self.dim()) return source;
  Dims sizes(self.sizes());
  if (self.dim() > 0) sizes[size_t(dim)] = 1;
  return self.dim() == 0 ? source.reshape({}) : source.expand(sizes);
}

auto index_copy_of(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  HEARTH_CHECK(modes.flags & kAutocast || self.scalar_type() == source.scalar_type(),
               "index_copy_(): self and source expected to have the same dtype, but got (self) ",
               name_of(self.scalar_type()), " and (source) ", name_of(source.scalar_type()));
  return invoke<CombineSlices<kIndexCopy, Combine::kReplace>>({dim}, self, index, source);
}

/// Writes one value to the slices at `index`; negative indices count from the end.
struct IndexFill {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "index_fill",
                               .arguments = "self,index,value",
                               .saves = in_slot(1),
                               .runs_inplace = true,
                               .sharing = Sharing::kAtIndices,
                               .accepts_expanded = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args&, InferContext& context) {
    HEARTH_CHECK_AS(IndexError, context.in(1).dtype == kLong,
                    "index_fill_(): Expected dtype int64 for index.");
    HEARTH_CHECK(context.in(1).dim <= 1, "Index has to be a vector/scalar");
    infer_copy(context, context.in(0).dtype, MemoryFormat::Preserve);
  }
  static void launch(const Args& args, LaunchContext& context) {
    copy_self_to_out(context);
    View out = context.out(), index = context.in(1);
    if (index.numel == 0) return;
    for (View* view : {&out, &index})
      if (view->dim == 0) {
        view->dim = 1;
        view->sizes[0] = view->strides[0] = 1;
      }
    View values = out;
    values.sizes[args.dim] = index.sizes[0];
    values.numel = out.numel / out.sizes[args.dim] * index.sizes[0];
    values.data = context.in(2).data;
    for (int d = 0; d < values.dim; ++d) values.strides[d] = 0;
    std::vector<View> indices(size_t(args.dim) + 1);
    indices[size_t(args.dim)] = index;
    run_kernel(context.ctx, IndexPutParams{index_layout(out, indices), values, false});
  }
  static void grad(const Args& args, GradContext& context) {
    if (context.needs(0)) context.set(0, context.grad().index_fill(args.dim, context.in(1), 0));
    if (!context.needs(2)) return;
    // Every written element counts once, however often its index occurs.
    const TensorOptions flags = context.grad().options().dtype(kBool);
    const Tensor written =
        zeros(context.grad().sizes(), flags).index_fill(args.dim, context.in(1), true);
    context.set(2, where(written, context.grad(), 0).sum());
  }
};

struct IndexFillTensor : IndexFill {
  static constexpr OpInfo info = with_node(IndexFill::info, "IndexFillBackward1");
};

/// A number as a 0-d tensor of self's dtype and device.
Tensor index_fill_value(const Tensor& self, const Scalar& value) {
  return full({}, value.stored_as(self.scalar_type()), self.options());
}
Tensor index_fill_value(const Tensor& self, const Tensor& value) {
  HEARTH_CHECK(value.dim() == 0,
               "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
               value.dim(), " dimension(s).");
  return as_element_of(self, value).to(self.device());
}

auto scatter_reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     std::string_view reduce) {
  HEARTH_CHECK(reduce == "add" || reduce == "multiply",
               "reduce argument must be either add or multiply.");
  const DimArgs args{wrap_dim(dim, self.dim())};
  return pick(reduce == "add", invoke<ScatterAdding>(args, self, index, src),
              invoke<ScatterMultiplying>(args, self, index, src));
}

}  // namespace

HEARTH_DEFINE_ALL_FORMS(scatter_add, (int64_t dim, const Tensor& index, const Tensor& src),
                        invoke<ScatterAdd>({wrap_dim(dim, self.dim())}, self, index, src))
HEARTH_DEFINE_ALL_FORMS(scatter, (int64_t dim, const Tensor& index, const Tensor& src),
                        invoke<Scatter>({wrap_dim(dim, self.dim())}, self, index, src))
HEARTH_DEFINE_ALL_FORMS(scatter, (int64_t dim, const Tensor& index, const Scalar& value),
                        invoke<ScatterNumber>({wrap_dim(dim, self.dim())}, self, index,
                                              index_fill_value(self, value).expand(index.sizes())))
HEARTH_DEFINE_ALL_FORMS(scatter,
                        (int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce),
                        scatter_reduced(self, dim, index, src, reduce))
HEARTH_DEFINE_ALL_FORMS(
    scatter, (int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce),
    scatter_reduced(self, dim, index, index_fill_value(self, value).expand(index.sizes()), reduce))
HEARTH_DEFINE_ALL_FORMS(index_add,
                        (int64_t dim, const Tensor& index, const Tensor& source,
                         const Scalar& alpha),
                        index_add_of(self, dim, index, times(source, alpha)))
HEARTH_DEFINE_ALL_FORMS(index_copy, (int64_t dim, const Tensor& index, const Tensor& source),
                        index_copy_of(self, wrap_dim(dim, self.dim()), index,
                                      index_copy_source(self, wrap_dim(dim, self.dim()), index,
                                                        source)))
HEARTH_DEFINE_OUT(index_fill, (int64_t dim, const Tensor& index, const Scalar& value),
                  invoke<IndexFill>({wrap_dim(dim, self.dim())}, self, index,
                                    index_fill_value(self, value)))
HEARTH_DEFINE_INPLACE(index_fill_, (int64_t dim, const Tensor& index, const Scalar& value),
                      (warn_of_expanded(self, "index_fill_", "tensor[mask] = scalar"),
                       invoke<IndexFill>({wrap_dim(dim, self.dim())}, self, index,
                                         index_fill_value(self, value))))
HEARTH_DEFINE_OUT(index_fill, (int64_t dim, const Tensor& index, const Tensor& value),
                  invoke<IndexFillTensor>({wrap_dim(dim, self.dim())}, self, index,
                                          index_fill_value(self, value)))
HEARTH_DEFINE_INPLACE(index_fill_, (int64_t dim, const Tensor& index, const Tensor& value),
                      (warn_of_expanded(self, "index_fill_", "tensor[mask] = scalar"),
                       invoke<IndexFillTensor>({wrap_dim(dim, self.dim())}, self, index,
                                               index_fill_value(self, value))))

}  // namespace hearth

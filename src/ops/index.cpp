// Indexing by tensors and masks.
#include "ops/index.h"

#include <algorithm>
#include <functional>

#include "hearth/autograd.h"
#include "hearth/context.h"
#include "ops/binding.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/memory_order.h"
#include "ops/promote.h"
#include "seam/index.h"

namespace hearth {

namespace {

/// The sizes of t[indices] for a tensor t of the sizes `self` and indices of the sizes `shape`:
/// removes the dimensions `dims`, and inserts `shape` in place of the first one if they are
/// adjacent, else in front. Converts strides in the same way.
Dims indexed_dims(IntArrayRef self, const Dims& dims, IntArrayRef shape) {
  const int64_t first = dims[0], last = dims[dims.size() - 1];
  const int64_t position = last - first + 1 == int64_t(dims.size()) ? first : 0;
  Dims result;
  size_t next = 0;
  for (int64_t d = 0; d < int64_t(self.size()); ++d) {
    if (d == position)
      for (int64_t number : shape) result.push_back(number);
    if (next < dims.size() && dims[next] == d)
      ++next;
    else
      result.push_back(self[size_t(d)]);
  }
  return result;
}

/// Sets the strides of self[indices] in the memory order of self and the indices.
void keep_order_of_inputs(const Dims& dims, InferContext& context) {
  if (!any_noncontiguous(context)) return;
  const TensorImpl& self = context.in(0);
  const Dims zero_strides(size_t(self.dim), 0), zero_index_strides(size_t(context.in(1).dim), 0);
  std::vector<Dims> strides{indexed_dims(self.strides(), dims, zero_index_strides)};
  for (int i = 1; i < context.inputs(); ++i)
    strides.push_back(indexed_dims(zero_strides, dims, context.in(i).strides()));
  keep_memory_order(context.out(), strides.data(), context.inputs());
}

/// `self` indexed by the op's inputs from `first` on.
IndexLayout layout_of(const View& self, const Dims& dims, const LaunchContext& context, int first) {
  std::vector<View> indices(size_t(self.dim));
  for (size_t i = 0; i < dims.size(); ++i) indices[size_t(dims[i])] = context.in(first + int(i));
  return index_layout(self, indices);
}

/// The slots of the indices, the inputs from `first` on.
SlotSet index_slots(const Dims& dims, int first) {
  return ((SlotSet{1} << dims.size()) - 1) << first;
}

std::vector<Tensor> saved_indices(const Dims& dims, const GradContext& context, int first) {
  std::vector<Tensor> indices;
  for (size_t i = 0; i < dims.size(); ++i) indices.push_back(context.in(first + int(i)));
  return indices;
}

/// Index tensors (int64 or int32) of one shape; indices[i] belongs to dimension dims[i].
struct Selection {
  Dims dims;
  std::vector<Tensor> indices;

  IntArrayRef shape() const { return indices[0].sizes(); }
  Tensor of(const Tensor& self) const;
  void put(const Tensor& self, const Tensor& values, bool accumulate) const;
};

struct Index {
  struct Args {
    Dims dims;
    HEARTH_FIELDS(dims)
  };
  static constexpr OpInfo info{.name = "index",
                               .arguments = "self,indices",
                               .accepts_stored = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static SlotSet saves(const Args& args, SlotSet) { return index_slots(args.dims, 1); }
  static void infer(const Args& args, InferContext& context) {
    context.set(0, indexed_dims(context.in(0).sizes(), args.dims, context.in(1).sizes()),
                context.in(0).dtype);
    keep_order_of_inputs(args.dims, context);
  }
  static void launch(const Args& args, LaunchContext& context) {
    run_kernel(context.ctx,
               IndexParams{layout_of(context.in(0), args.dims, context, 1), context.out()});
  }
  static void grad(const Args& args, GradContext& context) {
    if (!context.needs(0)) return;
    const Tensor gradient = zeros(context.in_sizes(0), context.grad().options());
    Selection{args.dims, saved_indices(args.dims, context, 1)}.put(gradient, context.grad(), true);
    context.set(0, gradient);
  }
};

struct IndexPut {
  struct Args {
    Dims dims;
    bool accumulate;
    HEARTH_FIELDS(dims, accumulate)
  };
  static constexpr OpInfo info{.name = "index_put",
                               .arguments = "self,values,indices",
                               .amp = Amp::kWidest,
                               .amp_cpu = Amp::kKeep,
                               .accepts_stored = true,
                               .runs_inplace = true,
                               .sharing = Sharing::kAtIndices,
                               .accepts_expanded = true,
                               .always_launches = true,
                               .complex_grad = ComplexGrad::kAnalytic};
  static SlotSet saves(const Args& args, SlotSet) { return index_slots(args.dims, 2); }
  static void infer(const Args&, InferContext& context) {
    HEARTH_CHECK(context.in(0).dtype == context.in(1).dtype,
                 "Index put requires the source and destination dtypes match, got ",
                 context.in(0).dtype, " for the destination and ", context.in(1).dtype,
                 " for the source.");
    context.set(0, context.in(0).sizes(), context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    copy_self_to_out(context);
    const View values = context.in(1);
    if (values.numel > 0)
      run_kernel(context.ctx,
                 IndexPutParams{layout_of(context.out(), args.dims, context, 2), values,
                                args.accumulate, are_deterministic_algorithms_enabled()});
  }
  static void grad(const Args& args, GradContext& context) {
    const Selection selection{args.dims, saved_indices(args.dims, context, 2)};
    if (context.needs(1)) context.set(1, selection.of(context.grad()));
    if (!context.needs(0)) return;
    if (args.accumulate) return context.set(0, context.grad());
    const Tensor kept_gradient = context.grad().clone();
    selection.put(kept_gradient, zeros({}, kept_gradient.options()), false);
    context.set(0, kept_gradient);
  }
};

Tensor Selection::of(const Tensor& self) const {
  return invoke<Index>({dims}, self, indices).call();
}

void Selection::put(const Tensor& self, const Tensor& values, bool accumulate) const {
  const Dims sizes = indexed_dims(self.sizes(), dims, shape());
  const Tensor expanded = values.sizes().equals(sizes) ? values : values.expand(sizes);
  invoke<IndexPut>({dims, accumulate}, self, expanded, indices).inplace(self);
}

void check_mask(const Tensor& self, const Tensor& mask, size_t first_dim) {
  if (mask.scalar_type() == kByte)
    warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
        "instead.");
  for (size_t d = 0; d < size_t(mask.dim()); ++d)
    HEARTH_CHECK_AS(IndexError, mask.sizes()[d] == self.sizes()[first_dim + d],
                    "The shape of the mask ", mask.sizes(), " at index ", d,
                    " does not match the shape of the indexed tensor ", self.sizes(), " at index ",
                    first_dim + d);
}

void check_index(const Tensor& self, const Tensor& index) {
  HEARTH_CHECK_AS(IndexError,
                  is_mask(index) || index.scalar_type() == kLong || index.scalar_type() == kInt,
                  "tensors used as indices must be long, int, byte or bool tensors");
  HEARTH_CHECK(index.is_cpu() || index.device() == self.device(),
               "indices should be either on cpu or on the same "
               "device as the indexed tensor (",
               self.device(), ")");
}

/// Expands all indices to the shape they broadcast to.
void broadcast(std::vector<Tensor>& indices) {
  Dims shape;
  try {
    for (const Tensor& index : indices) shape = broadcast_sizes(shape, index.sizes());
  } catch (const Error&) {
    std::string shapes;
    for (const Tensor& index : indices)
      shapes += (shapes.empty() ? "" : ", ") + to_string(index.sizes());
    detail::fail<IndexError>(
        "shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes);
  }
  for (Tensor& index : indices)
    if (!index.sizes().equals(shape)) index = index.expand(shape);
}

/// The selection of self[indices], on self's device; a mask becomes the positions of its true
/// elements. Throws PyTorch's errors.
Selection selection_of(const Tensor& self, const std::vector<Tensor>& indices) {
  Selection selection;
  const auto add = [&](size_t dim, const Tensor& index) {
    selection.dims.push_back(int64_t(dim));
    selection.indices.push_back(
        index.device() == self.device() ? index : index.to(self.device(), index.scalar_type()));
  };
  for (const Tensor& index : indices)
    if (index.defined()) check_index(self, index);
  for (size_t d = 0; d < indices.size(); ++d) {
    const Tensor& index = indices[d];
    if (!index.defined()) continue;
    if (!is_mask(index)) {
      add(d, index);
      continue;
    }
    check_mask(self, index, d);
    const Tensor positions = index.nonzero();
    for (int64_t k = 0; k < index.dim(); ++k) add(d + size_t(k), positions.select(1, k));
  }
  broadcast(selection.indices);
  for (int64_t d : selection.dims)
    HEARTH_CHECK_AS(IndexError, self.size(d) > 0 || selection.indices[0].numel() == 0,
                    "index is out of bounds for dimension with size 0");
  return selection;
}

/// Prepares the values for index_put: drops surplus leading dimensions of size 1 and moves a number
/// to self's device.
Tensor prepared_values(Tensor values, const Tensor& self, const Dims& sizes) {
  while (values.dim() > int64_t(sizes.size()) && values.size(0) == 1) values = values.squeeze(0);
  if (values.dim() == 0 && values.device() != self.device())
    values = values.to(self.device(), values.scalar_type());
  bool fits = values.dim() <= int64_t(sizes.size());
  for (int64_t d = 1; fits && d <= values.dim(); ++d)
    fits = values.size(-d) == 1 || values.size(-d) == sizes[sizes.size() - size_t(d)];
  HEARTH_CHECK(fits, "shape mismatch: value tensor of shape ", values.sizes(),
               " cannot be broadcast to indexing result of shape ", sizes);
  return values;
}

/// Sets self = number, of any dtype, where the mask is true. Unlike nonzero, this does not wait for
/// a device.
void put_where(const Tensor& self, const Tensor& mask, size_t first_dim, const Tensor& number) {
  check_index(self, mask);
  check_mask(self, mask, first_dim);
  Tensor expanded_mask = mask.to(self.device(), kBool);
  while (expanded_mask.dim() + int64_t(first_dim) < self.dim())
    expanded_mask = expanded_mask.unsqueeze(-1);
  if (overlaps_itself(impl_of(self)))
    return void(self.masked_fill_(expanded_mask, number.reshape({}).to(self.device())));
  self.copy_(where(expanded_mask, number.reshape({}).to(self.device(), self.scalar_type()), self));
}

}  // namespace

Tensor index_by(const Tensor& self, const std::vector<Tensor>& indices) {
  return selection_of(self, indices).of(self);
}

void index_put_by(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& values,
                  bool accumulate) {
  // The last index is always defined.
  const bool is_only_index =
      std::none_of(indices.begin(), indices.end() - 1, std::mem_fn(&Tensor::defined));
  if (is_only_index && is_mask(indices.back()) && values.numel() == 1 && !accumulate)
    return put_where(self, indices.back(), indices.size() - 1, values);
  warn_of_expanded(self, "index_put_", "tensor[indices] = tensor");
  check_not_overlapping(impl_of(self), impl_of(values));
  for (const Tensor& index : indices)
    if (index.defined()) check_not_overlapping(impl_of(self), impl_of(index));
  const Selection selection = selection_of(self, indices);
  const Dims sizes = indexed_dims(self.sizes(), selection.dims, selection.shape());
  selection.put(self, prepared_values(values, self, sizes), accumulate);
}

}  // namespace hearth

// Views of diagonals and of windows (unfold), functions built on them, and copies with one part
// replaced (select_scatter …).
#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/window.h"

namespace hearth {

namespace {

struct Diagonal {
  struct Args {
    int64_t offset, dim1, dim2;
    HEARTH_FIELDS(offset, dim1, dim2)
  };
  static constexpr OpInfo info = view_info("diagonal");
  static constexpr const char* kBackwardName = "diagonal_backward";
  static int64_t narrow(const Args& args, View& view) {
    const int row = int(args.dim1), column = int(args.dim2);
    const int64_t first_row = std::max<int64_t>(-args.offset, 0),
                  first_column = std::max<int64_t>(args.offset, 0);
    const int64_t length = std::max<int64_t>(
        0, std::min(view.sizes[row] - first_row, view.sizes[column] - first_column));
    const int64_t step = view.strides[row] + view.strides[column];
    const int64_t offset =
        length == 0
            ? 0
            : advance(view, first_row * view.strides[row] + first_column * view.strides[column]);
    remove_dim(view, std::max(row, column));
    remove_dim(view, std::min(row, column));
    view.sizes[view.dim] = length;
    view.strides[view.dim++] = step;
    update_numel(view);
    return offset;
  }
  static void infer(const Args& args, InferContext& context) {
    infer_window<Diagonal>(args, context);
  }
  static void grad(const Args& args, GradContext& context) {
    grad_of_window<Diagonal>(args, context);
  }
};

Diagonal::Args diagonal_args(int64_t offset, int64_t dim1, int64_t dim2, int64_t ndim) {
  const Diagonal::Args args{offset, wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)};
  HEARTH_CHECK(args.dim1 != args.dim2, "diagonal dimensions cannot be identical ", dim1, ", ",
               dim2);
  return args;
}

Tensor embedded(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  HEARTH_CHECK_AS(IndexError, self.dim() > 0,
                  "Dimension out of range (expected to be in range of [-1, 0], but got -2)");
  const Diagonal::Args args = diagonal_args(offset, dim1, dim2, self.dim() + 1);
  const int64_t length = self.size(-1) + std::abs(offset);
  Dims sizes(self.sizes().slice(0, size_t(self.dim()) - 1));
  sizes.insert(size_t(std::min(args.dim1, args.dim2)), length);
  sizes.insert(size_t(std::max(args.dim1, args.dim2)), length);
  return invoke<IntoZeros<Diagonal>>({args, sizes}, self).call();
}

Tensor diag_of(const Tensor& self, int64_t offset) {
  HEARTH_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ",
               self.dim(), "D");
  return self.dim() == 1 ? self.diag_embed(offset)
                         : self.diagonal(offset).clone(MemoryFormat::Contiguous);
}

Tensor& fill_diagonal(const Tensor& self, const Scalar& value, bool wrap) {
  const int64_t dims = self.dim();
  HEARTH_CHECK(dims >= 2, "dimensions must larger than 1");
  int64_t size = self.size(0), step = 0;
  for (int64_t d = 0; d < dims; ++d) {
    HEARTH_CHECK(dims == 2 || self.size(d) == self.size(0),
                 "all dimensions of input must be of equal length");
    size = std::min(size, self.size(d));
    step += self.stride(d);
  }
  self.as_strided({size}, {step}, self.storage_offset()).fill_(value);
  const int64_t width = self.size(1);
  if (wrap && dims == 2 && self.size(0) > width + 1) {
    // As in NumPy, each (width + 1)-th element belongs to the diagonal.
    const int64_t num_wrapped = (self.numel() + width) / (width + 1) - size;
    self.as_strided({num_wrapped}, {step}, self.storage_offset() + self.stride(0) * (width + 1))
        .fill_(value);
  }
  return const_cast<Tensor&>(self);
}

/// Windows along a dimension; the elements of a window become the last dimension.
struct Unfold {
  struct Args {
    int64_t dim, size, step;
    HEARTH_FIELDS(dim, size, step)
  };
  static constexpr OpInfo info = view_info("unfold");
  static int64_t narrow(const Args& args, View& view) {
    HEARTH_CHECK(view.dim < kMaxDims, "unfold: tensors have at most ", kMaxDims, " dimensions");
    int64_t stride = 1;
    if (view.dim > 0) {
      stride = view.strides[args.dim];
      view.sizes[args.dim] = (view.sizes[args.dim] - args.size) / args.step + 1;
      view.strides[args.dim] *= args.step;
    }
    view.sizes[view.dim] = args.size;
    view.strides[view.dim++] = stride;
    update_numel(view);
    return 0;
  }
  static void infer(const Args& args, InferContext& context) {
    infer_window<Unfold>(args, context);
  }
  static void grad(const Args& args, GradContext& context);
};

/// The gradient of unfold: adds element k of all windows in one launch for each k, as windows may
/// overlap.
struct UnfoldBackward {
  struct Args {
    Unfold::Args view;
    Dims sizes;
    HEARTH_FIELDS(view, sizes)
  };
  static constexpr OpInfo info{.name = "unfold_backward", .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    context.set(0, args.sizes, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View out = context.out(), in = context.in(0);
    run_fill(context.ctx, out, 0);
    View windows = out;
    Unfold::narrow(args.view, windows);
    const int last = windows.dim - 1;
    for (int64_t k = 0; k < args.view.size; ++k) {
      View to = narrowed(windows, last, k, 1), from = narrowed(in, last, k, 1);
      run_add(context.ctx, to, from);
    }
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<Unfold>(args.view, context.grad()).call());
  }
};

void Unfold::grad(const Args& args, GradContext& context) {
  context.set(0, invoke<UnfoldBackward>({args, Dims(context.in_sizes(0))}, context.grad()).call());
}

Tensor unfolded(const Tensor& self, int64_t dim, int64_t size, int64_t step) {
  dim = wrap_dim(dim, self.dim());
  const int64_t length = self.dim() == 0 ? 1 : self.size(dim);
  HEARTH_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  HEARTH_CHECK(size <= length, "maximum size for tensor at dimension ", dim, " is ", length,
               " but size is ", size);
  HEARTH_CHECK(step > 0, "step is ", step, " but must be > 0");
  return invoke<Unfold>({dim, size, step}, self).call();
}

/// A copy of self with src written to the view part(copy).
template <class Part>
Tensor with_part(const Tensor& self, const Tensor& src, const Part& part) {
  const Tensor copy = self.clone();
  const Tensor slice = part(copy);
  HEARTH_CHECK(slice.sizes().equals(src.sizes()),
               "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
               ", slice size = ", slice.sizes());
  slice.copy_(src);
  return copy;
}

/// A copy with the same strides, in a copy of the whole memory.
Tensor copy_of_memory(const Tensor& self) {
  const int64_t elements = int64_t(self.storage().nbytes() / self.itemsize());
  return self.as_strided({elements}, {1}, 0)
      .clone()
      .as_strided(self.sizes(), self.strides(), self.storage_offset());
}

/// A copy of self with src written to a strided view of its memory. The view may contain elements
/// of the memory that are not in self.
Tensor with_strided_part(const Tensor& self, const Tensor& src, IntArrayRef size,
                         IntArrayRef stride, std::optional<int64_t> offset) {
  const bool is_whole = self.is_contiguous() && self.storage_offset() == 0;
  const Tensor copy = is_whole || self.is_meta() ? self.clone() : copy_of_memory(self);
  const Tensor slice = copy.as_strided(size, stride, offset.value_or(self.storage_offset()));
  HEARTH_CHECK(slice.sizes().equals(src.sizes()),
               "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
               ", slice size = ", slice.sizes());
  slice.copy_(src);
  return copy;
}

}  // namespace

HEARTH_DEFINE_COMPOSED_OUT(as_strided_scatter,
                           (const Tensor& src, IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset),
                           with_strided_part(self, src, size, stride, storage_offset))
HEARTH_DEFINE_METHOD(Tensor, diagonal, (int64_t offset, int64_t dim1, int64_t dim2),
                     invoke<Diagonal>(diagonal_args(offset, dim1, dim2, self.dim()), self).call())
HEARTH_DEFINE_METHOD(Tensor, diag_embed, (int64_t offset, int64_t dim1, int64_t dim2),
                     embedded(self, offset, dim1, dim2))
HEARTH_DEFINE_METHOD(Tensor, diagflat, (int64_t offset), self.reshape({-1}).diag_embed(offset))
HEARTH_DEFINE_COMPOSED_OUT(diag, (int64_t diagonal), diag_of(self, diagonal))
HEARTH_DEFINE_METHOD_ONLY(Tensor&, fill_diagonal_, (const Scalar& fill_value, bool wrap),
                          fill_diagonal(self, fill_value, wrap))
HEARTH_DEFINE_METHOD_ONLY(Tensor, unfold, (int64_t dimension, int64_t size, int64_t step),
                          unfolded(self, dimension, size, step))
HEARTH_DEFINE_METHOD(Tensor, select_scatter, (const Tensor& src, int64_t dim, int64_t index),
                     with_part(self, src, [=](const Tensor& t) { return t.select(dim, index); }))
HEARTH_DEFINE_METHOD(Tensor, slice_scatter,
                     (const Tensor& src, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step),
                     with_part(self, src,
                               [=](const Tensor& t) { return t.slice(dim, start, end, step); }))
HEARTH_DEFINE_METHOD(Tensor, diagonal_scatter,
                     (const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2),
                     with_part(self, src,
                               [=](const Tensor& t) { return t.diagonal(offset, dim1, dim2); }))

}  // namespace hearth

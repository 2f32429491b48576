// select, slice, as_strided, split, unbind and other views of a part of a tensor.
#include <algorithm>

#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/window.h"

namespace hearth {

namespace {

/// The gradient of output i, or zeros if backward computed none.
Tensor gradient_or_zeros(const GradContext& context, int i, const Dims& sizes) {
  if (context.grad(i).defined()) return context.grad(i);
  return zeros(sizes, TensorOptions(context.in_dtype(0)).device(context.in_device(0)));
}

struct Select {
  struct Args {
    int64_t dim, index;
    HEARTH_FIELDS(dim, index)
  };
  static constexpr OpInfo info = view_info("select");
  static constexpr const char* kBackwardName = "select_backward";
  static int64_t narrow(const Args& args, View& view) {
    const int64_t offset = advance(view, args.index * view.strides[args.dim]);
    remove_dim(view, int(args.dim));
    update_numel(view);
    return offset;
  }
  static void infer(const Args& args, InferContext& context) {
    infer_window<Select>(args, context);
  }
  static void grad(const Args& args, GradContext& context) {
    grad_of_window<Select>(args, context);
  }
};

struct Slice {
  struct Args {
    int64_t dim, start, length, step;
    HEARTH_FIELDS(dim, start, length, step)
  };
  static constexpr OpInfo info = view_info("slice");
  static constexpr const char* kBackwardName = "slice_backward";
  static int64_t narrow(const Args& args, View& view) {
    const int64_t offset = args.length > 0 ? advance(view, args.start * view.strides[args.dim]) : 0;
    view.sizes[args.dim] = args.length;
    view.strides[args.dim] *= args.step;
    update_numel(view);
    return offset;
  }
  static void infer(const Args& args, InferContext& context) { infer_window<Slice>(args, context); }
  static void grad(const Args& args, GradContext& context) { grad_of_window<Slice>(args, context); }
};

/// The number of elements of memory that a tensor with these sizes and strides spans.
int64_t span_of(IntArrayRef sizes, IntArrayRef strides) {
  int64_t span = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    span += (sizes[d] - 1) * strides[d];
  }
  return span;
}

/// For each element of `memory`, the number of elements of the input that share it, at least 1.
Tensor element_counts(const TensorImpl& in, const Tensor& memory, int64_t first) {
  const Tensor memory_indices = arange(memory.numel(), TensorOptions(kLong).device(memory.device()))
                                    .as_strided(in.sizes(), in.strides(), -first)
                                    .reshape({-1});
  const TensorOptions options = memory.options().dtype(to_real(memory.scalar_type()));
  const Tensor counts = zeros(memory.sizes(), options);
  return counts.scatter_add(0, memory_indices, ones(memory_indices.sizes(), options))
      .maximum(ones({}, options));
}

/// True only if no two elements of a tensor with these sizes and strides share memory.
bool has_no_overlap(const Dims& sizes, const Dims& strides) {
  Dims order = Dims::uninitialized(0);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1) order.push_back(int64_t(d));
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return strides[size_t(a)] < strides[size_t(b)]; });
  int64_t max_offset = 0;  // of the dimensions so far
  for (int64_t d : order) {
    if (strides[size_t(d)] <= max_offset) return false;
    max_offset += (sizes[size_t(d)] - 1) * strides[size_t(d)];
  }
  return true;
}

struct AsStrided {
  struct Args {
    Dims sizes, strides;
    int64_t offset;  // from the input's first element
    HEARTH_FIELDS(sizes, strides, offset)
  };
  static constexpr OpInfo info{.name = "as_strided",
                               .effect = Effect::kView,
                               .shapes = in_slot(0),
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    set_view(context, args.sizes, args.strides, args.offset);
  }
  /// Adds each element of the gradient to its element of memory, divides it among the input's
  /// elements that share the memory, and reads the memory through the input's strides.
  static void grad(const Args& args, GradContext& context) {
    const TensorImpl& in = context.in_shape(0);
    const int64_t first = std::min<int64_t>(args.offset, 0);
    const int64_t end = std::max(span_of(in.sizes(), in.strides()),
                                 args.offset + span_of(args.sizes, args.strides));
    Tensor memory = zeros({end - first}, context.grad().options());
    if (has_no_overlap(args.sizes, args.strides)) {
      memory.as_strided(args.sizes, args.strides, args.offset - first).copy_(context.grad());
    } else {
      const Tensor memory_indices =
          arange(end - first, TensorOptions(kLong).device(context.grad().device()))
              .as_strided(args.sizes, args.strides, args.offset - first)
              .reshape({-1});
      memory = memory.scatter_add(0, memory_indices, context.grad().reshape({-1}));
    }
    if (!in.has(kDense)) memory = memory.div(element_counts(in, memory, first));
    context.set(0, memory.as_strided(in.sizes(), in.strides(), -first));
  }
};

Tensor select_checked(const Tensor& self, int64_t dim, int64_t index) {
  HEARTH_CHECK_AS(IndexError, self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  HEARTH_CHECK_AS(IndexError, index >= -size && index < size, "select(): index ", index,
                  " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  return invoke<Select>({dim, index < 0 ? index + size : index}, self).call();
}

Tensor slice_checked(const Tensor& self, int64_t dim, std::optional<int64_t> first,
                     std::optional<int64_t> last, int64_t step) {
  HEARTH_CHECK_AS(IndexError, self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  HEARTH_CHECK(step > 0, "slice step must be positive");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  const auto clamp = [size](int64_t index, int64_t low) {
    return std::clamp(index < 0 ? index + size : index, low, std::max(size, low));
  };
  const int64_t start = clamp(first.value_or(0), 0);
  const int64_t stop = clamp(last.value_or(size), start);
  const int64_t length = (stop - start) / step + ((stop - start) % step != 0);
  return invoke<Slice>({dim, start, length, step}, self).call();
}

Tensor narrow_checked(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  HEARTH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  HEARTH_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  HEARTH_CHECK_AS(IndexError, start >= -size && start <= size,
                  "start out of range (expected to be in range of [", -size, ", ", size,
                  "], but got ", start, ")");
  if (start < 0) start += size;
  HEARTH_CHECK(start <= size - length, "start (", start, ") + length (", length,
               ") exceeds dimension size (", size, ").");
  return slice_checked(self, dim, start, start + length, 1);
}

Tensor as_strided_checked(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> offset) {
  HEARTH_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape");
  const int64_t start = offset.value_or(self.storage_offset());
  HEARTH_CHECK(start >= 0, "Tensor: invalid storage offset ", start);
  for (int64_t s : stride)
    HEARTH_CHECK(
        s >= 0,
        "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  return invoke<AsStrided>({Dims(size), Dims(stride), start - self.storage_offset()}, self).call();
}

/// Consecutive slices along a dimension.
template <const OpInfo& op_info>
struct Split {
  struct Args {
    int64_t dim;
    std::vector<int64_t> lengths;
    HEARTH_FIELDS(dim, lengths)
  };
  static constexpr OpInfo info = op_info;
  static void infer(const Args& args, InferContext& context) {
    int64_t start = 0;
    for (size_t i = 0; i < args.lengths.size(); ++i) {
      infer_window<Slice>({args.dim, start, args.lengths[i], 1}, context, int(i));
      start += args.lengths[i];
    }
  }
  static void grad(const Args& args, GradContext& context) {
    std::vector<Tensor> pieces;
    for (size_t i = 0; i < args.lengths.size(); ++i) {
      Dims sizes(context.in_sizes(0));
      sizes[size_t(args.dim)] = args.lengths[i];
      pieces.push_back(gradient_or_zeros(context, int(i), sizes));
    }
    context.set(0, cat(pieces, args.dim));
  }
};
constexpr OpInfo kSplit = {
    .name = "split", .effect = Effect::kView, .outputs = 0, .complex_grad = ComplexGrad::kAnalytic};
constexpr OpInfo kSplitWithSizes = {.name = "split_with_sizes",
                                    .effect = Effect::kView,
                                    .outputs = 0,
                                    .complex_grad = ComplexGrad::kAnalytic};

/// A select for each index of a dimension.
struct Unbind {
  using Args = DimArgs;
  static constexpr OpInfo info{.name = "unbind",
                               .effect = Effect::kView,
                               .outputs = 0,
                               .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    const int64_t count = context.in(0).sizes()[size_t(args.dim)];
    for (int64_t i = 0; i < count; ++i) infer_window<Select>({args.dim, i}, context, int(i));
  }
  static void grad(const Args& args, GradContext& context) {
    const IntArrayRef in = context.in_sizes(0);
    Dims sizes;
    for (size_t d = 0; d < in.size(); ++d)
      if (int64_t(d) != args.dim) sizes.push_back(in[d]);
    std::vector<Tensor> slices;
    for (int64_t i = 0; i < in[size_t(args.dim)]; ++i)
      slices.push_back(gradient_or_zeros(context, int(i), sizes));
    context.set(0, stack(slices, args.dim));
  }
};

constexpr char kSplitSum[] = "split_with_sizes expects split_sizes to sum exactly to ";

std::vector<Tensor> split_by(const Tensor& self, IntArrayRef sizes, int64_t dim) {
  HEARTH_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  dim = wrap_dim(dim, self.dim());
  int64_t start = 0;
  for (int64_t size : sizes) {
    HEARTH_CHECK(
        size >= 0,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
        sizes);
    HEARTH_CHECK(start <= self.size(dim) - size, kSplitSum, self.size(dim),
                 " (input tensor's size at dimension ", dim, "), but got split_sizes=", sizes);
    start += size;
  }
  HEARTH_CHECK(start == self.size(dim), kSplitSum, self.size(dim),
               " (input tensor's size at dimension ", dim, "), but got split_sizes=", sizes);
  if (sizes.empty()) return {};
  return invoke<Split<kSplitWithSizes>>({dim, sizes.vec()}, self).all();
}

std::vector<Tensor> split_evenly(const Tensor& self, int64_t width, int64_t dim) {
  HEARTH_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  const int64_t size = self.size(dim);
  HEARTH_CHECK(width >= 0, "split expects split_size be non-negative, but got split_size=", width);
  HEARTH_CHECK(width > 0 || size == 0,
               "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  dim = wrap_dim(dim, self.dim());
  std::vector<int64_t> sizes;
  for (int64_t remaining = size; remaining > 0; remaining -= width)
    sizes.push_back(std::min(width, remaining));
  if (sizes.empty()) sizes.push_back(0);
  return invoke<Split<kSplit>>({dim, std::move(sizes)}, self).all();
}

std::vector<Tensor> chunks_of(const Tensor& self, int64_t chunks, int64_t dim) {
  HEARTH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  HEARTH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim);
  const int64_t width = (size + chunks - 1) / chunks;
  if (width == 0) return split_by(self, std::vector<int64_t>(size_t(chunks), 0), dim);
  return split_evenly(self, width, dim);
}

/// Each piece as a separate slice: autograd refuses in-place writes to the results of split.
std::vector<Tensor> as_slices(const Tensor& self, const std::vector<Tensor>& pieces, int64_t dim) {
  std::vector<Tensor> slices;
  int64_t start = 0;
  for (const Tensor& piece : pieces) {
    slices.push_back(self.narrow(dim, start, piece.size(dim)));
    start += piece.size(dim);
  }
  return slices;
}

int64_t start_of(const Tensor& start) {
  HEARTH_CHECK(start.dim() == 0 && is_integral(start.scalar_type(), false),
               "start must be an 0-dim integral Tensor.");
  return start.item<int64_t>();
}

std::vector<Tensor> slices_of(const Tensor& self, int64_t dim) {
  HEARTH_CHECK_AS(IndexError, self.dim() > 0, "Dimension specified as ", dim,
                  " but tensor has no dimensions");
  dim = wrap_dim(dim, self.dim());
  if (self.size(dim) == 0) return {};
  return invoke<Unbind>({dim}, self).all();
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, select, (int64_t dim, int64_t index), select_checked(self, dim, index))
HEARTH_DEFINE_METHOD(Tensor, slice,
                     (int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                      int64_t step),
                     slice_checked(self, dim, start, end, step))
HEARTH_DEFINE_METHOD(Tensor, narrow, (int64_t dim, const Tensor& start, int64_t length),
                     self.narrow(dim, start_of(start), length))
HEARTH_DEFINE_METHOD(Tensor, narrow, (int64_t dim, int64_t start, int64_t length),
                     narrow_checked(self, dim, start, length))
HEARTH_DEFINE_METHOD(Tensor, narrow_copy, (int64_t dim, int64_t start, int64_t length),
                     self.narrow(dim, start, length).clone(MemoryFormat::Contiguous))
HEARTH_DEFINE_WRITE_OUT(narrow_copy,
                        (const Tensor& self, int64_t dim, int64_t start, int64_t length),
                        self.narrow(dim, start, length))
HEARTH_DEFINE_METHOD(Tensor, as_strided,
                     (IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset),
                     as_strided_checked(self, size, stride, storage_offset))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, split, (int64_t split_size, int64_t dim),
                     split_evenly(self, split_size, dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, split, (IntArrayRef split_sizes, int64_t dim),
                     split_by(self, split_sizes, dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, split_with_sizes, (IntArrayRef split_sizes, int64_t dim),
                     split_by(self, split_sizes, dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, chunk, (int64_t chunks, int64_t dim),
                     chunks_of(self, chunks, dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, unsafe_split, (int64_t split_size, int64_t dim),
                     as_slices(self, split_evenly(self, split_size, dim), dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, unsafe_split_with_sizes,
                     (IntArrayRef split_sizes, int64_t dim),
                     as_slices(self, split_by(self, split_sizes, dim), dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, unsafe_chunk, (int64_t chunks, int64_t dim),
                     as_slices(self, chunks_of(self, chunks, dim), dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, unbind, (int64_t dim), slices_of(self, dim))

}  // namespace hearth

// Views of the whole memory of a tensor with other sizes, strides or dtype.
#include <algorithm>

#include "hearth/autograd.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/view_shape.h"

namespace hearth {

namespace {

struct Permute {
  struct Args {
    Dims dims;
    HEARTH_FIELDS(dims)
  };
  static constexpr OpInfo info = view_info("permute");
  static void infer(const Args& args, InferContext& context) {
    Dims sizes = Dims::uninitialized(args.dims.size()), strides = sizes;
    for (size_t d = 0; d < args.dims.size(); ++d) {
      sizes[d] = context.in(0).sizes()[size_t(args.dims[d])];
      strides[d] = context.in(0).strides()[size_t(args.dims[d])];
    }
    set_view(context, sizes, strides, 0);
  }
  static void grad(const Args& args, GradContext& context) {
    Dims inverse = Dims::uninitialized(args.dims.size());
    for (size_t d = 0; d < args.dims.size(); ++d) inverse[size_t(args.dims[d])] = int64_t(d);
    context.set(0, context.grad().permute(inverse));
  }
};

/// Swaps two dimensions; `t` differs by name only.
template <const OpInfo& op_info>
struct SwapDims {
  struct Args {
    int64_t dim0, dim1;
    HEARTH_FIELDS(dim0, dim1)
  };
  static constexpr OpInfo info = op_info;
  static void infer(const Args& args, InferContext& context) {
    Dims sizes(context.in(0).sizes()), strides(context.in(0).strides());
    if (!sizes.empty()) {
      std::swap(sizes[size_t(args.dim0)], sizes[size_t(args.dim1)]);
      std::swap(strides[size_t(args.dim0)], strides[size_t(args.dim1)]);
    }
    set_view(context, sizes, strides, 0);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<SwapDims>(args, context.grad()).call());
  }
};
constexpr OpInfo kTranspose = view_info("transpose");
constexpr OpInfo kT = view_info("t", "T");

struct SizesArgs {
  Dims sizes;
  HEARTH_FIELDS(sizes)
};

struct Expand {
  using Args = SizesArgs;
  static constexpr OpInfo info = view_info("expand");
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    HEARTH_CHECK(args.sizes.size() >= size_t(in.dim), "expand(", type_text(in), "{", in.sizes(),
                 "}, size=", args.sizes, "): the number of sizes provided (", args.sizes.size(),
                 ") must be greater or equal to the number of dimensions in the tensor (",
                 int(in.dim), ")");
    Dims sizes = args.sizes, strides(args.sizes.size(), 0);
    const size_t shift = sizes.size() - size_t(in.dim);
    for (size_t d = 0; d < sizes.size(); ++d) {
      const bool is_new = d < shift;
      HEARTH_CHECK(!is_new || sizes[d] >= 0, "The expanded size of the tensor (", sizes[d],
                   ") isn't allowed in a leading, non-existing dimension ", d);
      if (is_new) continue;
      const int64_t size = in.sizes()[d - shift];
      if (sizes[d] == -1) sizes[d] = size;
      HEARTH_CHECK(size == 1 || size == sizes[d], "The expanded size of the tensor (", sizes[d],
                   ") must match the existing size (", size, ") at non-singleton dimension ", d,
                   ".  Target sizes: ", args.sizes, ".  Tensor sizes: ", in.sizes());
      strides[d] = size == sizes[d] ? in.strides()[d - shift] : 0;
    }
    set_view(context, sizes, strides, 0);
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, context.grad().sum_to_size(context.in_sizes(0)));
  }
};

struct Reshaped {
  using Args = SizesArgs;
  static constexpr OpInfo info = view_info("view");
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    const std::optional<Dims> strides = view_strides(in.sizes(), in.strides(), args.sizes);
    HEARTH_CHECK(strides,
                 "view size is not compatible with input tensor's size and stride (at least one "
                 "dimension spans "
                 "across two contiguous subspaces). Use .reshape(...) instead. (sizes ",
                 in.sizes(), ", strides ", in.strides(), ", wanted ", args.sizes, ")");
    set_view(context, args.sizes, *strides, 0);
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, context.grad().reshape(context.in_sizes(0)));
  }
};

struct Unsqueeze {
  using Args = DimArgs;
  static constexpr OpInfo info = view_info("unsqueeze");
  static void infer(const Args& args, InferContext& context) {
    Dims sizes(context.in(0).sizes()), strides(context.in(0).strides());
    const size_t d = size_t(args.dim);
    const int64_t stride = d < sizes.size() ? sizes[d] * strides[d] : 1;
    sizes.insert(d, 1);
    strides.insert(d, stride);
    set_view(context, sizes, strides, 0);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, context.grad().squeeze(args.dim));
  }
};

struct Squeeze {
  struct Args {
    DimSet dim;
    HEARTH_FIELDS(dim)
  };
  static constexpr OpInfo info = view_info("squeeze");
  static void infer(const Args& args, InferContext& context) {
    Dims sizes, strides;
    for (size_t d = 0; d < size_t(context.in(0).dim); ++d) {
      if (args.dim.bits >> d & 1u && context.in(0).sizes()[d] == 1) continue;
      sizes.push_back(context.in(0).sizes()[d]);
      strides.push_back(context.in(0).strides()[d]);
    }
    set_view(context, sizes, strides, 0);
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, context.grad().reshape(context.in_sizes(0)));
  }
};

struct Alias {
  using Args = NoArgs;
  static constexpr OpInfo info = view_info("alias");
  static void infer(const Args&, InferContext& context) {
    set_view(context, Dims(context.in(0).sizes()), Dims(context.in(0).strides()), 0);
  }
  static void grad(const Args&, GradContext& context) { context.set(0, context.grad()); }
};

/// The memory in another dtype. The size of the last dimension and the strides of the others are
/// scaled by the ratio of the element sizes.
struct ViewDtype {
  struct Args {
    ScalarType dtype;
    HEARTH_FIELDS(dtype)
  };
  static constexpr OpInfo info{
      .name = "view_dtype", .effect = Effect::kView, .non_differentiable = out_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    const int64_t old_size = int64_t(element_size(context.in(0).dtype)),
                  new_size = int64_t(element_size(args.dtype));
    Dims sizes(context.in(0).sizes()), strides(context.in(0).strides());
    for (size_t d = 0; old_size != new_size && d < sizes.size(); ++d) {
      const bool is_last = d + 1 == sizes.size();
      int64_t& value = is_last ? sizes[d] : strides[d];
      value = value * old_size / new_size;
    }
    set_view(context, sizes, strides, 0);
    context.out().dtype = args.dtype;
  }
};

Tensor view_as_dtype(const Tensor& self, ScalarType dtype) {
  const int64_t old_size = self.element_size(), new_size = int64_t(element_size(dtype));
  const std::string operation = detail::str(" to view ", name_of(self.scalar_type()), " as ",
                                            name_of(dtype), " (different element sizes)");
  if (old_size != new_size) {
    HEARTH_CHECK(self.dim() > 0, "self.dim() cannot be 0", operation);
    HEARTH_CHECK(self.stride(-1) == 1, "self.stride(-1) must be 1", operation, ", but got ",
                 self.stride(-1));
  }
  if (old_size < new_size) {
    const int64_t ratio = new_size / old_size;
    HEARTH_CHECK(self.size(-1) % ratio == 0, "self.size(-1) must be divisible by ", ratio,
                 operation, ", but got ", self.size(-1));
    HEARTH_CHECK(self.storage_offset() % ratio == 0, "self.storage_offset() must be divisible by ",
                 ratio, operation, ", but got ", self.storage_offset());
    for (int64_t d = 0; d + 1 < self.dim(); ++d)
      HEARTH_CHECK(self.stride(d) % ratio == 0, "self.stride(", d, ") must be divisible by ", ratio,
                   operation, ", but got ", self.stride(d));
  }
  return invoke<ViewDtype>({dtype}, self).call();
}

Tensor permute_checked(const Tensor& self, IntArrayRef dims) {
  HEARTH_CHECK(dims.size() == size_t(self.dim()),
               "permute(sparse_coo): number of dimensions in the tensor input does "
               "not match the length of the desired ordering of dimensions i.e. input.dim() = ",
               self.dim(), " is not equal to len(dims) = ", dims.size());
  Dims order = Dims::uninitialized(dims.size());
  uint32_t seen = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    order[d] = wrap_dim(dims[d], self.dim());
    HEARTH_CHECK(!(seen >> order[d] & 1u), "permute(): duplicate dims are not allowed.");
    seen |= 1u << order[d];
  }
  return invoke<Permute>({order}, self).call();
}

Tensor t_checked(const Tensor& self) {
  HEARTH_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ",
               self.dim(), "D");
  return invoke<SwapDims<kT>>({0, self.dim() == 2 ? 1 : 0}, self).call();
}

Tensor reshape_checked(const Tensor& self, IntArrayRef size) {
  const Dims sizes = infer_sizes(size, self.numel());
  const bool is_viewable = view_strides(self.sizes(), self.strides(), sizes).has_value();
  return invoke<Reshaped>({sizes}, is_viewable ? self : self.clone(MemoryFormat::Contiguous))
      .call();
}

Tensor flatten_checked(const Tensor& self, int64_t start, int64_t end) {
  start = wrap_dim(start, self.dim());
  end = wrap_dim(end, self.dim());
  HEARTH_CHECK(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return self.reshape({1});
  if (start == end) return self;
  Dims sizes;
  int64_t merged = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < start || d > end) sizes.push_back(self.size(d));
    if (d >= start && d <= end)
      HEARTH_CHECK(!__builtin_mul_overflow(merged, self.size(d), &merged),
                   "numel: integer multiplication overflow");
    if (d == end) sizes.push_back(merged);
  }
  return self.reshape(sizes);
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, permute, (IntArrayRef dims), permute_checked(self, dims))
HEARTH_DEFINE_METHOD(
    Tensor, transpose, (int64_t dim0, int64_t dim1),
    invoke<SwapDims<kTranspose>>({wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim())}, self)
        .call())
HEARTH_DEFINE_METHOD(Tensor, t, (), t_checked(self))
HEARTH_DEFINE_METHOD_ONLY(Tensor, expand, (IntArrayRef size, bool),
                          invoke<Expand>({Dims(size)}, self).call())
HEARTH_DEFINE_METHOD_ONLY(Tensor, expand_as, (const Tensor& other), self.expand(other.sizes()))
HEARTH_DEFINE_METHOD_ONLY(Tensor, view, (IntArrayRef size),
                          invoke<Reshaped>({infer_sizes(size, self.numel())}, self).call())
HEARTH_DEFINE_METHOD_ONLY(Tensor, view_as, (const Tensor& other), self.view(other.sizes()))
HEARTH_DEFINE_METHOD(Tensor, reshape, (IntArrayRef size), reshape_checked(self, size))
HEARTH_DEFINE_METHOD_ONLY(Tensor, reshape_as, (const Tensor& other), self.reshape(other.sizes()))
HEARTH_DEFINE_METHOD(Tensor, unsqueeze, (int64_t dim),
                     invoke<Unsqueeze>({wrap_dim(dim, self.dim() + 1)}, self).call())
HEARTH_DEFINE_METHOD(Tensor, squeeze, (), invoke<Squeeze>({DimSet{~0u}}, self).call())
HEARTH_DEFINE_METHOD(Tensor, squeeze, (int64_t dim),
                     invoke<Squeeze>({DimSet{1u << wrap_dim(dim, self.dim())}}, self).call())
HEARTH_DEFINE_METHOD(Tensor, squeeze, (IntArrayRef dim),
                     invoke<Squeeze>({dim_set(self, dim)}, self).call())
HEARTH_DEFINE_METHOD_ONLY(Tensor, view, (NamedDtype dtype), view_as_dtype(self, dtype.type))
HEARTH_DEFINE_METHOD(Tensor, flatten, (int64_t start_dim, int64_t end_dim),
                     flatten_checked(self, start_dim, end_dim))
HEARTH_DEFINE_METHOD(Tensor, alias, (), invoke<Alias>({}, self).call())

}  // namespace hearth

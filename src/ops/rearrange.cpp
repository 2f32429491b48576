// flip, roll, rot90 and channel_shuffle.
#include <algorithm>

#include "hearth/autograd.h"
#include "ops/window.h"

namespace hearth {

namespace {

struct Flip {
  struct Args {
    DimSet dims;
    HEARTH_FIELDS(dims)
  };
  static constexpr OpInfo info{
      .name = "flip", .accepts_stored = true, .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args&, InferContext& context) {
    infer_copy(context, context.in(0).dtype, MemoryFormat::Preserve);
  }
  static void launch(const Args& args, LaunchContext& context) {
    View in = context.in(0);
    for (int d = 0; d < in.dim; ++d) {
      if (!(args.dims.bits >> d & 1u)) continue;
      advance(in, (in.sizes[d] - 1) * in.strides[d]);
      in.strides[d] = -in.strides[d];
    }
    run_copy(context.ctx, context.out(), in);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<Flip>(args, context.grad()).call());
  }
};

struct Roll {
  struct Args {
    Dims shifts;  // per dimension, modulo its size
    HEARTH_FIELDS(shifts)
  };
  static constexpr OpInfo info{
      .name = "roll", .accepts_stored = true, .complex_grad = ComplexGrad::kAnalytic};
  static void launch(const Args& args, LaunchContext& context) {
    copy_pieces(context.ctx, args.shifts, context.out(), context.in(0), 0);
  }
  /// Copies; in each dimension from d on, the last `shift` elements move to the front.
  static void copy_pieces(Ctx& ctx, const Dims& shifts, const View& out, const View& in, int d) {
    while (d < out.dim && shifts[size_t(d)] == 0) ++d;
    if (d == out.dim) return run_copy(ctx, out, in);
    const int64_t shift = shifts[size_t(d)], rest = out.sizes[d] - shift;
    copy_pieces(ctx, shifts, narrowed(out, d, shift, rest), narrowed(in, d, 0, rest), d + 1);
    copy_pieces(ctx, shifts, narrowed(out, d, 0, shift), narrowed(in, d, rest, shift), d + 1);
  }
  static void grad(const Args& args, GradContext& context) {
    Dims reverse_shifts = args.shifts;
    for (size_t d = 0; d < reverse_shifts.size(); ++d)
      if (reverse_shifts[d] != 0) reverse_shifts[d] = context.in_sizes(0)[d] - reverse_shifts[d];
    context.set(0, invoke<Roll>({reverse_shifts}, context.grad()).call());
  }
};

Tensor rolled(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  HEARTH_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1)
    return rolled(self.reshape({-1}), shifts, {0}).view(self.sizes());
  HEARTH_CHECK(shifts.size() == dims.size(),
               "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  HEARTH_CHECK_AS(IndexError, self.dim() > 0, "Dimension specified as ", dims[0],
                  " but tensor has no dimensions");
  Dims total_shifts(size_t(self.dim()), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t d = size_t(wrap_dim(dims[i], self.dim()));
    const int64_t size = self.size(int64_t(d));
    if (size > 0) total_shifts[d] = (total_shifts[d] + shifts[i] % size + size) % size;
  }
  return invoke<Roll>({total_shifts}, self).call();
}

Tensor rotated(const Tensor& self, int64_t k, IntArrayRef dims) {
  HEARTH_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  HEARTH_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  HEARTH_CHECK(dims[0] != dims[1] && std::abs(dims[0] - dims[1]) != self.dim(),
               "expected rotation dims to be different, but got dim0 = ", dims[0],
               " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return self.flip({dims[1]}).transpose(dims[0], dims[1]);
    case 2: return self.flip(dims);
    case 3: return self.flip({dims[0]}).transpose(dims[0], dims[1]);
    default: return self.clone(MemoryFormat::Contiguous);
  }
}

/// Interleaves the channels of the groups.
struct ChannelShuffle {
  struct Args {
    int64_t groups;
    HEARTH_FIELDS(groups)
  };
  static constexpr OpInfo info{.name = "channel_shuffle"};
  static Tensor compute(const Args& args, const Tensor& self) {
    HEARTH_CHECK(self.dim() > 2,
                 "channel_shuffle expects input with > 2 dims, but got input with sizes ",
                 self.sizes());
    HEARTH_CHECK(
        args.groups > 0,
        "Number of groups to divide channels in must be positive. Value of groups:", args.groups);
    HEARTH_CHECK(self.size(1) % args.groups == 0,
                 "Number of channels must be divisible by groups. Got ", self.size(1),
                 " channels and ", args.groups, " groups.");
    return self.unflatten(1, {args.groups, self.size(1) / args.groups})
        .transpose(1, 2)
        .flatten(1, 2)
        .contiguous(self.suggest_memory_format());
  }
};

Tensor flip_dim(const Tensor& self, const char* name, int64_t dim) {
  HEARTH_CHECK(self.dim() > dim, "Input must be >= ", dim + 1, "-d. (", name, ")");
  return self.flip({dim});
}

}  // namespace

HEARTH_DEFINE_METHOD(Tensor, flip, (IntArrayRef dims),
                     invoke<Flip>({dim_set(self, dims)}, self).call())
HEARTH_DEFINE_METHOD(Tensor, fliplr, (), flip_dim(self, "fliplr", 1))
HEARTH_DEFINE_METHOD(Tensor, flipud, (), flip_dim(self, "flipud", 0))
HEARTH_DEFINE_METHOD(Tensor, roll, (IntArrayRef shifts, IntArrayRef dims),
                     rolled(self, shifts, dims))
Tensor native_channel_shuffle(const Tensor& self, int64_t groups) {
  return channel_shuffle(self, groups);
}
Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  return compose<ChannelShuffle>({groups}, self);
}
HEARTH_DEFINE_METHOD(Tensor, rot90, (int64_t k, IntArrayRef dims), rotated(self, k, dims))
}  // namespace hearth

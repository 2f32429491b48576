// Padding.
#include <algorithm>

#include "hearth/autograd.h"
#include "ops/promote.h"
#include "ops/window.h"

namespace hearth {

namespace {

/// Pads with a value; negative padding crops.
struct ConstantPad {
  struct Args {
    std::vector<int64_t> pad;
    Scalar value;
    HEARTH_FIELDS(pad, value)
  };
  static constexpr OpInfo info{
      .name = "constant_pad_nd", .accepts_stored = true, .complex_grad = ComplexGrad::kAnalytic};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    const size_t dims = size_t(in.dim), pairs = args.pad.size() / 2;
    HEARTH_CHECK(args.pad.size() % 2 == 0, "Length of pad must be even but instead it equals ",
                 args.pad.size());
    HEARTH_CHECK(dims >= pairs,
                 "Length of pad should be no more than twice the number of dimensions of the "
                 "input. Pad length is ",
                 args.pad.size(), " while the input has ", dims, " dimensions.");
    Dims sizes(in.sizes());
    for (size_t i = 0; i < pairs; ++i) {
      const size_t d = dims - 1 - i;
      const int64_t remaining = sizes[d] + std::min<int64_t>(args.pad[2 * i], 0) +
                                std::min<int64_t>(args.pad[2 * i + 1], 0);
      HEARTH_CHECK(remaining >= 0, "narrow(): length must be non-negative.");
      sizes[d] += args.pad[2 * i] + args.pad[2 * i + 1];
    }
    set_in_format(context, 0, sizes, in.dtype, has_channels_last_strides(in));
  }
  static void launch(const Args& args, LaunchContext& context) {
    View out = context.out(), in = context.in(0);
    run_fill(context.ctx, out, impl_of(wrapped_number(args.value)));
    for (size_t i = 0; i < args.pad.size() / 2; ++i) {
      const int d = out.dim - 1 - int(i);
      const int64_t before = args.pad[2 * i], after = args.pad[2 * i + 1];
      const auto crop = [](int64_t padding) { return std::max<int64_t>(-padding, 0); };
      in = narrowed(in, d, crop(before), in.sizes[d] - crop(before) - crop(after));
      out = narrowed(out, d, std::max<int64_t>(before, 0), in.sizes[d]);
    }
    run_copy(context.ctx, out, in);
  }
  static void grad(const Args& args, GradContext& context) {
    std::vector<int64_t> reverse_pad;
    for (int64_t padding : args.pad) reverse_pad.push_back(-padding);
    context.set(0, invoke<ConstantPad>({reverse_pad, 0}, context.grad()).call());
  }
};

/// The modes of padding that repeat elements of the input.
enum class Edge { kReflect, kReplicate, kCircular };

/// The index in the input of each element along a padded dimension.
Tensor source_indices(Edge edge, int64_t size, int64_t before, int64_t after, Device device) {
  const Tensor positions = arange(-before, size + after, TensorOptions(kLong).device(device));
  const Tensor last = scalar_tensor(size - 1, TensorOptions(kLong).device(device));
  switch (edge) {
    case Edge::kReplicate: return positions.maximum(zeros_like(last)).minimum(last);
    case Edge::kReflect: return last.sub(last.sub(positions.abs()).abs());
    default: return positions.add(size).fmod(size);
  }
}

struct EdgeArgs {
  std::vector<int64_t> pad;
  HEARTH_FIELDS(pad)
};

/// Pads without checks.
Tensor with_edges(const Tensor& self, const std::vector<int64_t>& pad, Edge edge) {
  Tensor result = self;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = -1 - int64_t(i);
    if (pad[2 * i] != 0 || pad[2 * i + 1] != 0)
      result = result.index_select(
          d, source_indices(edge, self.size(d), pad[2 * i], pad[2 * i + 1], self.device()));
  }
  return result.is_same(self) ? self.clone() : result.contiguous(self.suggest_memory_format());
}

/// reflection_pad and replication_pad: all but reflection_pad3d have policies for autocast.
template <const OpInfo& op_info, Edge edge>
struct EdgePad {
  using Args = EdgeArgs;
  static constexpr OpInfo info = op_info;
  static Tensor compute(const Args& args, const Tensor& self) {
    return with_edges(self, args.pad, edge);
  }
};
constexpr OpInfo edge_info(const char* name) {
  return {.name = name, .amp = Amp::kKeep, .amp_cpu = Amp::kFloat32};
}
constexpr OpInfo kReflect1d = edge_info("reflection_pad1d"),
                 kReflect2d = edge_info("reflection_pad2d"), kReflect3d{.name = "reflection_pad3d"},
                 kReplicate1d = edge_info("replication_pad1d"),
                 kReplicate2d = edge_info("replication_pad2d"),
                 kReplicate3d = edge_info("replication_pad3d");

/// Throws if a padded dimension has no elements.
void check_padded_sizes(const Tensor& self, IntArrayRef pad) {
  constexpr const char* kNames[] = {"W", "H", "D"};
  const int64_t pairs = int64_t(pad.size()) / 2;
  const auto padded_size = [&](int64_t i) {
    return self.size(-1 - i) + pad[size_t(2 * i)] + pad[size_t(2 * i + 1)];
  };
  bool has_elements = true;
  for (int64_t i = 0; i < pairs; ++i) has_elements &= padded_size(i) >= 1;
  if (has_elements) return;
  std::string sizes, padded_sizes;
  for (int64_t i = pairs; i-- > 0;) {
    sizes += detail::str(sizes.empty() ? "" : ", ", kNames[i], ": ", self.size(-1 - i));
    padded_sizes += detail::str(" ", kNames[i], ": ", padded_size(i));
  }
  HEARTH_CHECK(pairs > 1, "input (", sizes, ") is too small. Calculated output", padded_sizes);
  detail::fail<Error>("Calculated output", padded_sizes, " must be >= 1 in every dimension (input ",
                      sizes, ")");
}

void check_edges(const Tensor& self, IntArrayRef pad, Edge edge) {
  const int64_t pairs = int64_t(pad.size()) / 2;
  for (int64_t d = self.dim() - pairs - 1; d < self.dim(); ++d)
    HEARTH_CHECK(self.size(d) > 0, "Expected ", pairs + 1, "D or ", pairs + 2,
                 "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
                 "for input, but got: ",
                 self.sizes());
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t before = pad[size_t(2 * i)], after = pad[size_t(2 * i + 1)];
    const int64_t dim = self.dim() - 1 - i, size = self.size(dim);
    HEARTH_CHECK(edge != Edge::kReflect || (before < size && after < size), "Argument #", 4 + 2 * i,
                 ": Padding size should be less than the corresponding input dimension, but got: "
                 "padding (",
                 before, ", ", after, ") at dimension ", dim, " of input ", self.sizes());
    HEARTH_CHECK(edge != Edge::kCircular || (before <= size && after <= size),
                 "Padding value causes wrapping around more than once.");
    HEARTH_CHECK(edge != Edge::kCircular || size + before + after >= 0,
                 "Negative padding value is resulting in an empty dimension");
  }
  if (edge != Edge::kCircular) check_padded_sizes(self, pad);
}

/// Checks the arguments and pads.
Tensor pad_edges(const Tensor& self, IntArrayRef pad, Edge edge) {
  const size_t pairs = pad.size() / 2;
  HEARTH_CHECK_AS(NotImplementedError,
                  pairs >= 1 && pairs <= 3 &&
                      (size_t(self.dim()) == pairs + 1 || size_t(self.dim()) == pairs + 2),
                  "Padding size ", pad.size(), " is not supported for ", self.dim(),
                  "D input tensor.\nSupported combinations for non-constant padding:\n"
                  "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
                  "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
                  "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)");
  check_edges(self, pad, edge);
  const EdgeArgs args{pad.vec()};
  if (edge == Edge::kCircular) return with_edges(self, args.pad, edge);
  if (edge == Edge::kReflect)
    return pairs == 1   ? compose<EdgePad<kReflect1d, Edge::kReflect>>(args, self)
           : pairs == 2 ? compose<EdgePad<kReflect2d, Edge::kReflect>>(args, self)
                        : compose<EdgePad<kReflect3d, Edge::kReflect>>(args, self);
  return pairs == 1   ? compose<EdgePad<kReplicate1d, Edge::kReplicate>>(args, self)
         : pairs == 2 ? compose<EdgePad<kReplicate2d, Edge::kReplicate>>(args, self)
                      : compose<EdgePad<kReplicate3d, Edge::kReplicate>>(args, self);
}

}  // namespace

HEARTH_DEFINE_METHOD(
    Tensor, constant_pad_nd, (IntArrayRef padding, const Scalar& value),
    invoke<ConstantPad>({padding.vec(), value.stored_as(self.scalar_type())}, self).call())

Tensor pad(const Tensor& self, IntArrayRef padding, std::string_view mode,
           std::optional<double> value) {
  HEARTH_CHECK(padding.size() % 2 == 0, "Padding length must be divisible by 2");
  HEARTH_CHECK(int64_t(padding.size()) <= 2 * self.dim(),
               "Padding length should be less than or equal to two times the input dimension but "
               "got padding length ",
               padding.size(), " and input of dimension ", self.dim());
  if (mode == "constant") return self.constant_pad_nd(padding, value.value_or(0));
  HEARTH_CHECK(!value || *value == 0, "Padding mode \"", mode, "\" doesn't take in value argument");
  if (mode == "reflect") return pad_edges(self, padding, Edge::kReflect);
  if (mode == "replicate") return pad_edges(self, padding, Edge::kReplicate);
  HEARTH_CHECK_AS(NotImplementedError, mode == "circular", "Unrecognised padding mode ", mode);
  return pad_edges(self, padding, Edge::kCircular);
}

#define HEARTH_DEFINE_EDGE_PAD(name, edge, pairs)                                               \
  Tensor name(const Tensor& self, IntArrayRef padding) {                                        \
    HEARTH_CHECK(padding.size() == 2 * (pairs), "padding size is expected to be ", 2 * (pairs), \
                 ", but got: ", padding.size());                                                \
    return pad_edges(self, padding, edge);                                                      \
  }
HEARTH_DEFINE_EDGE_PAD(reflection_pad1d, Edge::kReflect, 1)
HEARTH_DEFINE_EDGE_PAD(reflection_pad2d, Edge::kReflect, 2)
HEARTH_DEFINE_EDGE_PAD(reflection_pad3d, Edge::kReflect, 3)
HEARTH_DEFINE_EDGE_PAD(replication_pad1d, Edge::kReplicate, 1)
HEARTH_DEFINE_EDGE_PAD(replication_pad2d, Edge::kReplicate, 2)
HEARTH_DEFINE_EDGE_PAD(replication_pad3d, Edge::kReplicate, 3)
#undef HEARTH_DEFINE_EDGE_PAD

}  // namespace hearth

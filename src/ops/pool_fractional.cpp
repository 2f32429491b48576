// Pooling with windows at random distances.
#include "hearth/operators.h"
#include "ops/pool.h"

namespace hearth {

namespace {

struct FractionalNames {
  const char *op, *node, *name_in_errors;
};
constexpr FractionalNames kFractionalNames[] = {
    {"fractional_max_pool2d", "FractionalMaxPool2D", "fractional_max_pool2d"},
    {"fractional_max_pool3d", "FractionalMaxPool3D", "fractional_max_pool3d_out"}};

/// Inputs: the tensor and the begins of the windows as in PoolParams.
template <size_t spatial>
struct FractionalMaxPool {
  struct Args {
    Dims kernel, output;
    HEARTH_FIELDS(kernel, output)
  };
  static constexpr FractionalNames names = kFractionalNames[spatial - 2];
  static constexpr OpInfo info{.name = names.op,
                               .node = names.node,
                               .arguments = "self,begins",
                               .dtypes = dtypes::kFloating,
                               .amp_cpu = Amp::kFloat32,
                               .saves = out_slot(1),
                               .shapes = in_slot(0),
                               .outputs = 2,
                               .non_differentiable = out_slot(1)};
  static PoolShape shape_of(const Args& args, IntArrayRef sizes) {
    PoolShape shape;
    shape.kind = PoolKind::kFractionalMax;
    for (size_t d = 0; d < spatial; ++d) {
      PoolWindow& window = shape.windows[3 - spatial + d];
      window.in = sizes[sizes.size() - spatial + d];
      window.out = args.output[d];
      window.kernel = args.kernel[d];
    }
    return shape;
  }
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl& in = context.in(0);
    const Dims sizes = pooled_sizes(shape_of(args, in.sizes()), spatial, in.sizes());
    context.set(0, sizes, in.dtype);
    context.set(1, sizes, kLong);
  }
  static void launch(const Args& args, LaunchContext& context) {
    PoolParams params;
    params.in = as_volumes(context.in(0), spatial);
    params.begins = dense(context, context.in(1));
    params.out = as_volumes(context.out(), spatial);
    params.indices = as_volumes(context.out(1), spatial);
    params.shape = shape_of(args, context.in_impl(0).sizes());
    run_kernel(context.ctx, params);
  }
  static void grad(const Args&, GradContext& context) {
    if (!context.needs(0) || !context.grad().defined()) return;
    const Tensor& gradient = context.grad();
    const IntArrayRef sizes = context.in_shape(0).sizes();
    const int64_t first = int64_t(sizes.size() - spatial);
    const Tensor zeros_in = zeros(sizes, gradient.options()).flatten(first);
    context.set(0,
                zeros_in.scatter_add(first, context.out(1).flatten(first), gradient.flatten(first))
                    .view(sizes));
  }
};

void check_arguments(const FractionalNames& names, const Tensor& self, IntArrayRef kernel,
                     IntArrayRef output, size_t spatial) {
  const char* const lists = spatial == 2 ? "tuple of Ints" : "tuple of three Ints";
  HEARTH_CHECK(kernel.size() == spatial, names.op, ": kernel_size must either be a single Int or ",
               lists);
  HEARTH_CHECK(output.size() == spatial, names.op, ": output_size must either be a single Int or ",
               lists);
  for (const int64_t size : kernel)
    HEARTH_CHECK(size > 0, names.op, "(): kernel size should be greater than zero, but got ",
                 kernel[0], "x", kernel[1], spatial == 3 ? detail::str("x", kernel[2]) : "");
  const IntArrayRef sizes = self.sizes();
  const size_t dim = sizes.size();
  HEARTH_CHECK(dim == spatial + 1 || dim == spatial + 2, names.name_in_errors, "(): Expected ",
               spatial + 1, "D or ", spatial + 2, "D tensor, but got: ", sizes);
  for (size_t d = dim == spatial + 2 ? 1 : 0; d < dim; ++d)
    HEARTH_CHECK(sizes[d] > 0, names.name_in_errors,
                 "(): Expected input to have non-zero size for non-batch dimensions, but got",
                 sizes, " with dimension ", d, " being empty.");
  static constexpr const char* kAxes[] = {"time", "height", "width"};
  Dims out(sizes.slice(0, dim - spatial));
  for (const int64_t size : output) out.push_back(size);
  for (size_t d = 0; d < spatial; ++d) {
    const char* axis = kAxes[3 - spatial + d];
    const int64_t in = sizes[dim - spatial + d];
    HEARTH_CHECK(kernel[d] <= in && output[d] + kernel[d] - 1 <= in, names.name_in_errors,
                 "(): pool ", axis, " ", kernel[d], " too large relative to input ", axis, " ", in);
    HEARTH_CHECK(output[d] >= 0, "Trying to create tensor with negative dimension ", output[d],
                 ": ", out);
  }
}

void check_samples(const Tensor& self, const Tensor& samples, size_t spatial) {
  HEARTH_CHECK(self.scalar_type() == samples.scalar_type(),
               "Expect _random_samples to have the same dtype as input");
  HEARTH_CHECK(samples.dim() == 3, "Expect _random_samples to have 3 dimensions, got ",
               samples.dim());
  const bool is_batched = size_t(self.dim()) == spatial + 2;
  HEARTH_CHECK(samples.size(0) >= (is_batched ? self.size(0) : 1),
               "Expect _random_samples.size(0) no less then input batch size.");
  HEARTH_CHECK(samples.size(1) == self.size(is_batched ? 1 : 0),
               "Expect _random_samples.size(1) equals to input channel size.");
  HEARTH_CHECK(samples.size(2) == int64_t(spatial), "Expect _random_samples.size(2) equals to ",
               spatial, "; got ", samples.size(2), ".");
}

/// [batch, channels, out]: the begins of the windows of one dimension, computed in the samples'
/// dtype. Windows stay inside the input even for samples outside [0, 1).
Tensor begins_of(const Tensor& samples, int64_t in, int64_t out, int64_t kernel) {
  if (out == 0) return samples.slice(2, 0, 0).to(kLong);
  const Tensor last = full_like(samples, in - kernel, TensorOptions(kLong));
  if (out == 1) return last;
  const Tensor distance = full({}, double(in - kernel), samples.options()) /
                          full({}, double(out - 1), samples.options());
  const Tensor positions = (arange(out - 1, samples.options()) + samples) * distance;
  const Tensor first = (samples * distance).to(kLong);
  return cat({(positions.to(kLong) - first).clamp(0, in - kernel), last}, 2);
}

/// The begins of all windows, as in PoolParams.
Tensor all_begins(const Tensor& self, IntArrayRef kernel, IntArrayRef output,
                  const Tensor& samples) {
  const size_t spatial = kernel.size();
  const bool is_batched = size_t(self.dim()) == spatial + 2;
  const Tensor used = samples.detach().slice(0, 0, is_batched ? self.size(0) : 1);
  std::vector<Tensor> parts;
  if (spatial == 2) parts.push_back(zeros_like(used.slice(2, 0, 1), TensorOptions(kLong)));
  for (size_t d = 0; d < spatial; ++d) {
    // As in PyTorch, the samples are ordered width, height in 2-D, but time, height, width in 3-D.
    const int64_t column = int64_t(spatial == 2 ? 1 - d : d);
    parts.push_back(begins_of(used.slice(2, column, column + 1),
                              self.size(int64_t(d) - int64_t(spatial)), output[d], kernel[d]));
  }
  return cat(parts, 2);
}

template <size_t spatial>
TensorPair fractional(const Tensor& self, IntArrayRef kernel, IntArrayRef output,
                      const Tensor& samples) {
  constexpr FractionalNames names = kFractionalNames[spatial - 2];
  check_defined(names.op, 0, "self", self);
  check_defined(names.op, 3, "random_samples", samples);
  check_arguments(names, self, kernel, output, spatial);
  check_samples(self, samples, spatial);
  HEARTH_CHECK_AS(NotImplementedError, self.is_floating_point(), "\"", names.op,
                  "_out_frame\" not implemented for '", name_of(self.scalar_type()), "'");
  check_same_device(names.op, "random_samples", self.device(), samples.device());
  return invoke<FractionalMaxPool<spatial>>({kernel, output}, self,
                                            all_begins(self, kernel, output, samples))
      .pair();
}

}  // namespace

TensorPair fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef output_size, const Tensor& random_samples) {
  return fractional<2>(self, kernel_size, output_size, random_samples);
}
TensorPair fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef output_size, const Tensor& random_samples) {
  return fractional<3>(self, kernel_size, output_size, random_samples);
}

}  // namespace hearth

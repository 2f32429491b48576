#include "ops/pool_shape.h"

#include <algorithm>

namespace hearth {

namespace {

/// Throws unless the values fit into int, as in PyTorch, so that products such as
/// dilation * (kernel - 1) cannot overflow.
void check_int(IntArrayRef values) {
  for (const int64_t value : values)
    HEARTH_CHECK(value >= INT32_MIN && value <= INT32_MAX,
                 "value cannot be converted to type int without overflow, got ", values);
}

Dims expanded(IntArrayRef values, size_t spatial, const char* op, const char* rule) {
  HEARTH_CHECK(values.size() == 1 || values.size() == spatial, op, ": ", rule,
               " a single int, or a tuple of ", spatial == 2 ? "two" : "three", " ints");
  check_int(values);
  return values.size() == spatial ? Dims(values) : Dims(spatial, values[0]);
}

int64_t single(IntArrayRef values, const char* op, const char* name) {
  HEARTH_CHECK(values.size() == 1, op, "() ", name,
               " must be an int, list of ints or tuple of ints of size 1 but got size ",
               values.size());
  return values[0];
}

bool all_above(const Dims& values, int64_t limit) {
  return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v > limit; });
}

/// Returns " kT: 1 kH: 2 kW: 3"; two values are H and W.
std::string with_axis_names(const char* name, const Dims& values) {
  static constexpr const char* kAxes[] = {"T", "H", "W"};
  std::string text;
  for (size_t d = 0; d < values.size(); ++d)
    text += detail::str(" ", name, kAxes[3 - values.size() + d], ": ", values[d]);
  return text;
}

void check_padding(const PoolArgs& args) {
  bool fits = true;
  for (size_t d = 0; d < args.padding.size(); ++d) {
    const int64_t kernel = args.kernel[d], padding = args.padding[d];
    HEARTH_CHECK(padding >= 0, "pad must be non-negative, but got pad: ", padding);
    const int64_t effective_kernel = (kernel - 1) * args.dilation[d] + 1;
    HEARTH_CHECK(padding <= effective_kernel / 2,
                 "pad should be at most half of effective kernel size, but got pad=", padding,
                 ", kernel_size=", kernel, " and dilation=", args.dilation[d]);
    fits &= padding <= kernel / 2;
  }
  const Dims &k = args.kernel, &p = args.padding;
  constexpr const char* kText =
      "pad should be smaller than or equal to half of kernel size, but got ";
  HEARTH_CHECK(fits || p.size() == 3, kText, "padW = ", p[1], ", padH = ", p[0], ", kW = ", k[1],
               ", kH = ", k[0]);
  HEARTH_CHECK(fits, kText, "kT: ", k[0], " kW: ", k[2], " kH: ", k[1], " padT: ", p[0],
               " padW: ", p[2], " padH: ", p[1]);
}

void check_numbers(const PoolArgs& args) {
  HEARTH_CHECK(std::find(args.stride.begin(), args.stride.end(), 0) == args.stride.end(),
               "stride should not be zero");
  HEARTH_CHECK(all_above(args.kernel, 0), "kernel size should be greater than zero, but got",
               with_axis_names("k", args.kernel));
  HEARTH_CHECK(all_above(args.stride, 0), "stride should be greater than zero, but got",
               with_axis_names("d", args.stride));
  HEARTH_CHECK(all_above(args.dilation, 0), "dilation should be greater than zero, but got",
               with_axis_names("dilation", args.dilation));
  check_padding(args);
}

void check_image(IntArrayRef sizes) {
  const size_t dim = sizes.size();
  HEARTH_CHECK(dim >= 3, "non-empty 3D or 4D (batch mode) tensor expected for input");
  bool is_valid = dim == 3 || dim == 4;
  for (size_t d = dim - 3; is_valid && d < dim; ++d) is_valid = sizes[d] != 0;
  HEARTH_CHECK(is_valid,
               "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
               "but got:",
               sizes);
}

void check_volume(PoolKind kind, const char* op, const PoolArgs& args, IntArrayRef sizes) {
  const size_t dim = sizes.size();
  HEARTH_CHECK(dim == 4 || dim == 5, "non-empty 4D or 5D (batch mode) tensor expected for input");
  check_not_empty(op, sizes, dim == 5 ? 1 : 0);
  if (kind != PoolKind::kAverage) return;
  const Dims in(sizes.slice(dim - 3));
  bool fits = true;
  for (size_t d = 0; d < 3; ++d) fits &= in[d] >= args.kernel[d];
  HEARTH_CHECK(fits, "input image (", with_axis_names("", in).substr(1),
               ") smaller than kernel size (", with_axis_names("k", args.kernel).substr(1), ")");
}

PoolWindow window(const PoolArgs& args, size_t d, int64_t size) {
  PoolWindow w;
  w.in = size;
  w.kernel = args.kernel[d];
  w.stride = args.stride[d];
  w.padding = args.padding[d];
  w.dilation = args.dilation[d];
  const int64_t room = size + 2 * w.padding - w.dilation * (w.kernel - 1) - 1;
  const int64_t max_begin = args.ceil_mode ? room + w.stride - 1 : room;
  w.out = window_count(max_begin, w.stride);
  // The last window starts inside the input or the padding before it.
  if (args.ceil_mode && (w.out - 1) * w.stride >= size + w.padding) --w.out;
  return w;
}

void check_adaptive(const char* op, const PoolArgs& args, IntArrayRef sizes, bool is_average) {
  const size_t dim = sizes.size(), spatial = args.kernel.size();
  HEARTH_CHECK(dim == spatial + 1 || dim == spatial + 2, op, "(): Expected ", spatial + 1, "D or ",
               spatial + 2, "D tensor, but got", is_average ? " " : ": ", sizes);
  // As in PyTorch, adaptive_avg_pool2d accepts an input without channels.
  check_not_empty(op, sizes, is_average && spatial == 2 ? dim - 2 : 1);
  if (all_above(args.kernel, -1)) return;
  Dims out(sizes.slice(0, dim - spatial));
  for (const int64_t size : args.kernel) out.push_back(size);
  const int64_t negative =
      *std::find_if(args.kernel.begin(), args.kernel.end(), [](int64_t size) { return size < 0; });
  HEARTH_CHECK(is_average, "Trying to create tensor with negative dimension ", negative, ": ", out);
  detail::fail<Error>(op,
                      ": elements of output_size must be greater than or equal to 0 but received {",
                      args.kernel[0], ", ", args.kernel[1],
                      spatial == 3 ? detail::str(",", args.kernel[2]) : "", "}");
}

/// Returns "(3x5x5)".
std::string joined(int64_t channels, const Dims& sizes) {
  std::string text = detail::str("(", channels);
  for (const int64_t size : sizes) text += detail::str("x", size);
  return text + ")";
}

}  // namespace

void check_not_empty(const char* op, IntArrayRef sizes, size_t first) {
  for (size_t d = first; d < sizes.size(); ++d)
    HEARTH_CHECK(sizes[d] > 0, op,
                 "(): Expected input to have non-zero size for non-batch dimensions, but input has "
                 "sizes ",
                 sizes, " with dimension ", d, " being empty");
}

PoolArgs pool_args(const char* op, size_t spatial, IntArrayRef kernel, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const bool average_3d = std::string_view(op) == "avg_pool3d";
  const auto list = [&](IntArrayRef values, const char* rule, const char* rule_of_average_3d) {
    return expanded(values, spatial, op, average_3d ? rule_of_average_3d : rule);
  };
  PoolArgs args{};
  args.kernel = list(kernel, "kernel_size must either be", "kernel_size must be");
  args.stride = stride.empty()
                    ? args.kernel
                    : list(stride, "stride must either be omitted,", "stride must be omitted,");
  args.padding = list(padding, "padding must either be", "padding must be");
  args.dilation = list(dilation, "dilation must be either", "");
  args.ceil_mode = ceil_mode;
  args.count_include_pad = true;
  return args;
}

PoolArgs pool_args_1d(const char* op, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef dilation, bool ceil_mode) {
  PoolArgs args{};
  args.kernel = {1, single(kernel, op, "kernel_size")};
  args.stride = {1, stride.empty() ? args.kernel[1] : single(stride, op, "stride")};
  args.padding = {0, single(padding, op, "padding")};
  args.dilation = {1, single(dilation, op, "dilation")};
  for (const Dims* values : {&args.kernel, &args.stride, &args.padding, &args.dilation})
    check_int(*values);
  args.ceil_mode = ceil_mode;
  args.count_include_pad = true;
  return args;
}

void check_gradient_not_empty(const char* op, IntArrayRef sizes) {
  for (size_t d = 1; d < sizes.size(); ++d)
    HEARTH_CHECK(sizes[d] > 0, op,
                 "(): Expected grad_output to have non-zero size for non-batch dimensions, but "
                 "grad_output has sizes ",
                 sizes, " with dimension ", d, " being empty");
}

PoolArgs adaptive_args(IntArrayRef output_size) {
  PoolArgs args{};
  args.kernel = output_size;
  return args;
}

PoolShape pool_shape(PoolKind kind, const char* op, const PoolArgs& args, IntArrayRef input) {
  PoolShape shape;
  shape.kind = kind;
  shape.count_include_pad = args.count_include_pad;
  shape.divisor = args.divisor;
  const size_t spatial = args.kernel.size();
  PoolWindow* const windows = shape.windows + (3 - spatial);
  if (kind == PoolKind::kAdaptiveMax || kind == PoolKind::kAdaptiveAverage) {
    check_adaptive(op, args, input, kind == PoolKind::kAdaptiveAverage);
    for (size_t d = 0; d < spatial; ++d) {
      windows[d].adaptive = true;
      windows[d].in = input[input.size() - spatial + d];
      windows[d].out = args.kernel[d];
    }
    return shape;
  }
  check_numbers(args);
  spatial == 2 ? check_image(input) : check_volume(kind, op, args, input);
  Dims in(input.slice(input.size() - spatial)), out;
  for (size_t d = 0; d < spatial; ++d) {
    windows[d] = window(args, d, in[d]);
    out.push_back(windows[d].out);
  }
  const int64_t channels = input[input.size() - spatial - 1];
  HEARTH_CHECK(all_above(out, 0), "Given input size: ", joined(channels, in),
               ". Calculated output size: ", joined(channels, out), ". Output size is too small");
  return shape;
}

Dims pooled_sizes(const PoolShape& shape, size_t spatial, IntArrayRef input) {
  Dims sizes(input);
  for (size_t d = 1; d <= spatial; ++d) sizes[sizes.size() - d] = shape.windows[3 - d].out;
  return sizes;
}

View as_volumes(const View& view, size_t spatial) {
  if (!view.defined()) return view;
  View volumes;
  volumes.data = view.data;
  volumes.dtype = view.dtype;
  volumes.numel = view.numel;
  volumes.dim = 5;
  std::fill_n(volumes.sizes, 5, 1);
  std::fill_n(volumes.strides, 5, view.numel);  // any stride will do for a size of 1
  for (int d = 0; d < view.dim; ++d) {
    const int from = view.dim - 1 - d, to = d < int(spatial) ? 4 - d : 1 - (d - int(spatial));
    volumes.sizes[to] = view.sizes[from];
    volumes.strides[to] = view.strides[from];
  }
  return volumes;
}

}  // namespace hearth

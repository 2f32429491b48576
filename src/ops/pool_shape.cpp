#include "ops/pool_shape.h"

namespace hearth {

namespace {

/// PyTorch computes windows in int; no product with a size overflows then.
void check_int(IntArrayRef values) {
  for (const int64_t value : values)
    HEARTH_CHECK(value >= INT32_MIN && value <= INT32_MAX,
                 "value cannot be converted to type int without overflow, got ", values);
}

Dims pair(IntArrayRef values, const char* op, const char* rule) {
  HEARTH_CHECK(values.size() == 1 || values.size() == 2, op, ": ", rule, " a single int, or a ",
               "tuple of two ints");
  check_int(values);
  return {values[0], values[values.size() - 1]};
}

int64_t single(IntArrayRef values, const char* op, const char* name) {
  HEARTH_CHECK(values.size() == 1, op, "() ", name,
               " must be an int, list of ints or tuple of ints of size 1 but got size ",
               values.size());
  return values[0];
}

void check_numbers(const PoolArgs& a) {
  HEARTH_CHECK(a.stride[0] != 0 && a.stride[1] != 0, "stride should not be zero");
  HEARTH_CHECK(a.kernel[0] > 0 && a.kernel[1] > 0,
               "kernel size should be greater than zero, but got kH: ", a.kernel[0],
               " kW: ", a.kernel[1]);
  HEARTH_CHECK(a.stride[0] > 0 && a.stride[1] > 0,
               "stride should be greater than zero, but got dH: ", a.stride[0],
               " dW: ", a.stride[1]);
  HEARTH_CHECK(a.dilation[0] > 0 && a.dilation[1] > 0,
               "dilation should be greater than zero, but got dilationH: ", a.dilation[0],
               " dilationW: ", a.dilation[1]);
  for (size_t d = 0; d < 2; ++d) {
    HEARTH_CHECK(a.padding[d] >= 0, "pad must be non-negative, but got pad: ", a.padding[d]);
    const int64_t reach = (a.kernel[d] - 1) * a.dilation[d] + 1;
    HEARTH_CHECK(a.padding[d] <= reach / 2,
                 "pad should be at most half of effective kernel size, but got pad=", a.padding[d],
                 ", kernel_size=", a.kernel[d], " and dilation=", a.dilation[d]);
  }
  HEARTH_CHECK(
      a.padding[0] <= a.kernel[0] / 2 && a.padding[1] <= a.kernel[1] / 2,
      "pad should be smaller than or equal to half of kernel size, but got padW = ", a.padding[1],
      ", padH = ", a.padding[0], ", kW = ", a.kernel[1], ", kH = ", a.kernel[0]);
}

void check_dims(IntArrayRef sizes) {
  const size_t dim = sizes.size();
  bool good = dim == 3 || dim == 4;
  for (size_t d = dim - 3; good && d < dim; ++d) good = sizes[d] != 0;
  if (dim == 3 && !good) good = sizes[0] == 0 && sizes[1] != 0 && sizes[2] != 0;
  HEARTH_CHECK(good,
               "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
               "but got:",
               sizes);
}

PoolWindow window(const PoolArgs& args, size_t d, int64_t size) {
  PoolWindow w;
  w.in = size;
  w.kernel = args.kernel[d];
  w.stride = args.stride[d];
  w.padding = args.padding[d];
  w.dilation = args.dilation[d];
  const int64_t room = size + 2 * w.padding - w.dilation * (w.kernel - 1) - 1;
  const int64_t rounded = args.ceil_mode ? room + w.stride - 1 : room;
  w.out = (rounded >= 0 ? rounded / w.stride : -((-rounded + w.stride - 1) / w.stride)) + 1;
  // The last window starts inside the input or the padding before it.
  if (args.ceil_mode && (w.out - 1) * w.stride >= size + w.padding) --w.out;
  return w;
}

void check_adaptive(const char* op, const PoolArgs& args, IntArrayRef sizes, bool average) {
  const size_t dim = sizes.size();
  HEARTH_CHECK(dim == 3 || dim == 4, op, "(): Expected 3D or 4D tensor, but got",
               average ? " " : ": ", sizes);
  for (size_t d = dim - (average ? 2 : dim - 1); d < dim; ++d)
    HEARTH_CHECK(sizes[d] > 0, op,
                 "(): Expected input to have non-zero size for non-batch dimensions, but input has "
                 "sizes ",
                 sizes, " with dimension ", d, " being empty");
  for (const int64_t size : args.kernel)
    HEARTH_CHECK(size >= 0, op,
                 ": elements of output_size must be greater than or equal to 0 but received {",
                 args.kernel[0], ", ", args.kernel[1], "}");
}

}  // namespace

PoolArgs pool_args(const char* op, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                   IntArrayRef dilation, bool ceil_mode) {
  PoolArgs args{};
  args.kernel = pair(kernel, op, "kernel_size must either be");
  args.stride = stride.empty() ? args.kernel : pair(stride, op, "stride must either be omitted,");
  args.padding = pair(padding, op, "padding must either be");
  args.dilation = pair(dilation, op, "dilation must be either");
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
  const size_t rows = input.size() - 2, columns = input.size() - 1;
  if (kind == PoolKind::kAdaptiveMax || kind == PoolKind::kAdaptiveAverage) {
    check_adaptive(op, args, input, kind == PoolKind::kAdaptiveAverage);
    shape.rows.adaptive = shape.columns.adaptive = true;
    shape.rows.in = input[rows];
    shape.columns.in = input[columns];
    shape.rows.out = args.kernel[0];
    shape.columns.out = args.kernel[1];
    return shape;
  }
  check_numbers(args);
  HEARTH_CHECK(input.size() >= 3, "non-empty 3D or 4D (batch mode) tensor expected for input");
  check_dims(input);
  shape.rows = window(args, 0, input[rows]);
  shape.columns = window(args, 1, input[columns]);
  const int64_t channels = input[rows - 1];
  HEARTH_CHECK(shape.rows.out >= 1 && shape.columns.out >= 1, "Given input size: (", channels, "x",
               shape.rows.in, "x", shape.columns.in, "). Calculated output size: (", channels, "x",
               shape.rows.out, "x", shape.columns.out, "). Output size is too small");
  return shape;
}

}  // namespace hearth

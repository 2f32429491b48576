// im2col copies windows of images to columns; col2im, its gradient, adds them up in an image.
#include "ops/window.h"
#include "seam/pool.h"

namespace hearth {

namespace {

/// The arguments of im2col; each list has an element for rows and one for columns.
struct WindowArgs {
  Dims kernel, dilation, padding, stride;
  HEARTH_FIELDS(kernel, dilation, padding, stride)

  int64_t kernel_elements() const { return kernel[0] * kernel[1]; }
  bool has_padding() const { return padding[0] > 0 || padding[1] > 0; }
  /// The number of windows along dimension d of an image.
  int64_t num_windows(size_t d, int64_t size) const {
    return window_count(size + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1, stride[d]);
  }
};

/// "(3, 2)".
std::string pair_text(const Dims& values) {
  return detail::str("(", values[0], ", ", values[1], ")");
}

WindowArgs window_args(IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
                       IntArrayRef stride) {
  const auto pair = [](const char* name, IntArrayRef values) {
    HEARTH_CHECK(values.size() == 2, "It is expected ", name, " equals to 2, but got size ",
                 values.size());
    for (const int64_t value : values)
      HEARTH_CHECK(value >= INT32_MIN && value <= INT32_MAX,
                   "value cannot be converted to type int without overflow, got ", values);
    return Dims(values);
  };
  return {pair("kernel_size", kernel), pair("dilation", dilation), pair("padding", padding),
          pair("stride", stride)};
}

void check_numbers(const WindowArgs& window) {
  const auto check = [](const Dims& values, int64_t minimum, const char* message,
                        const char* name) {
    HEARTH_CHECK(values[0] >= minimum && values[1] >= minimum, message, ", but got ", name,
                 "_height: ", values[0], " ", name, "_width: ", values[1]);
  };
  check(window.kernel, 1, "kernel size should be greater than zero", "kernel");
  check(window.stride, 1, "stride should be greater than zero", "stride");
  check(window.dilation, 1, "dilation should be greater than zero", "dilation");
  check(window.padding, 0, "padding should be non-negative", "pad");
}

/// Whether none of the last `dims` dimensions is empty.
bool has_elements(IntArrayRef sizes, size_t dims) {
  for (size_t d = sizes.size() - dims; d < sizes.size(); ++d)
    if (sizes[d] == 0) return false;
  return true;
}

/// Adds a batch dimension of size 1 to a view with fewer than `dims` dimensions.
View batched(const View& view, int dims) {
  if (view.dim == dims) return view;
  View result = view;
  result.dim = int8_t(dims);
  result.sizes[0] = 1;
  result.strides[0] = 0;
  std::copy_n(view.sizes, view.dim, result.sizes + 1);
  std::copy_n(view.strides, view.dim, result.strides + 1);
  return result;
}

/// Allocates uninitialised scratch memory for a batch of images with their padding.
View padded_images(const WindowArgs& args, const View& images, Ctx& ctx) {
  View result = images;
  for (size_t d = 0; d < 2; ++d) result.sizes[2 + d] += 2 * args.padding[d];
  update_numel(result);
  result.make_contiguous();
  result.data = ctx.scratch(size_t(result.numel) * element_size(result.dtype));
  return result;
}

/// Views padded images without their padding.
View without_padding(const WindowArgs& args, const View& padded, const View& images) {
  const View rows = narrowed(padded, 2, args.padding[0], images.sizes[2]);
  return narrowed(rows, 3, args.padding[1], images.sizes[3]);
}

/// All windows of padded images: [batch, channels, kernel rows, kernel columns, rows, columns].
View windows_of(const WindowArgs& args, const View& padded, int64_t rows, int64_t columns) {
  View result = padded;
  result.dim = 6;
  const int64_t counts[] = {rows, columns};
  for (int d = 0; d < 2; ++d) {
    result.sizes[2 + d] = args.kernel[size_t(d)];
    result.strides[2 + d] = padded.strides[2 + d] * args.dilation[size_t(d)];
    result.sizes[4 + d] = counts[d];
    result.strides[4 + d] = padded.strides[2 + d] * args.stride[size_t(d)];
  }
  update_numel(result);
  return result;
}

/// Views columns with the dimensions of `windows`.
View as_windows(const WindowArgs& args, const View& columns, const View& windows) {
  View result = windows;
  result.data = columns.data;
  // The distances of neighbouring kernel elements and of neighbouring windows.
  const int64_t tap = columns.strides[1], position = columns.strides[2];
  const int64_t strides[] = {columns.strides[0],          args.kernel_elements() * tap,
                             args.kernel[1] * tap,        tap,
                             windows.sizes[5] * position, position};
  std::copy_n(strides, 6, result.strides);
  return result;
}

struct Col2Im;

struct Im2Col {
  using Args = WindowArgs;
  static constexpr OpInfo info{
      .name = "im2col", .dtypes = dtypes::kFloating | dtypes::kBool, .shapes = in_slot(0)};
  static void infer(const Args& args, InferContext& context) {
    const IntArrayRef in = context.in(0).sizes();
    const size_t dim = in.size();
    check_numbers(args);
    HEARTH_CHECK((dim == 3 || dim == 4) && has_elements(in, 3),
                 "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
                 "non-zero dimensions for input, but got: ",
                 in);
    const Dims image(in.slice(dim - 2));
    const Dims blocks{args.num_windows(0, image[0]), args.num_windows(1, image[1])};
    HEARTH_CHECK(blocks[0] >= 1 && blocks[1] >= 1, "Given input with spatial size ",
                 pair_text(image), ", kernel_size=", pair_text(args.kernel),
                 ", dilation=", pair_text(args.dilation), ", padding=", pair_text(args.padding),
                 ", calculated shape of the array of sliding blocks as ", pair_text(blocks),
                 ", but its components must be at least one.");
    Dims sizes(in.slice(0, dim - 3));
    sizes.push_back(in[dim - 3] * args.kernel_elements());
    sizes.push_back(blocks[0] * blocks[1]);
    context.set(0, sizes, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const View in = batched(context.in(0), 4), out = batched(context.out(), 3);
    View source = in;
    if (args.has_padding()) {
      source = padded_images(args, in, context.ctx);
      run_fill(context.ctx, source, 0);
      run_copy(context.ctx, without_padding(args, source, in), in);
    }
    const View windows = windows_of(args, source, args.num_windows(0, in.sizes[2]),
                                    args.num_windows(1, in.sizes[3]));
    run_copy(context.ctx, as_windows(args, out, windows), windows);
  }
  static void grad(const Args& args, GradContext& context);
};

/// Adds the windows one kernel element at a time, as windows may overlap.
struct Col2Im {
  struct Args {
    Dims output_size;
    WindowArgs windows;
    HEARTH_FIELDS(output_size, windows)
  };
  static constexpr OpInfo info{.name = "col2im", .dtypes = dtypes::kFloating | dtypes::kBool};
  static void infer(const Args& args, InferContext& context) {
    const IntArrayRef in = context.in(0).sizes();
    const size_t dim = in.size();
    const WindowArgs& window = args.windows;
    check_numbers(window);
    HEARTH_CHECK((dim == 2 || dim == 3) && has_elements(in, 2),
                 "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
                 "non-zero dimensions for input, but got: ",
                 in);
    const int64_t rows = in[dim - 2], length = in[dim - 1];
    HEARTH_CHECK(rows % window.kernel_elements() == 0,
                 "Expected size of input's dimension 1 to be divisible by the product of "
                 "kernel_size, but got input.size(1)=",
                 rows, " and kernel_size=", pair_text(window.kernel), ".");
    const int64_t h = window.num_windows(0, args.output_size[0]),
                  w = window.num_windows(1, args.output_size[1]);
    HEARTH_CHECK(
        length == h * w && h > 0 && w > 0, "Given output_size=", pair_text(args.output_size),
        ", kernel_size=", pair_text(window.kernel), ", dilation=", pair_text(window.dilation),
        ", padding=", pair_text(window.padding), ", stride=", pair_text(window.stride),
        ", expected size of input's dimension 2 to match the calculated number of sliding "
        "blocks ",
        h, " * ", w, " = ", h * w, ", but got input.size(2)=", length, ".");
    Dims sizes(in.slice(0, dim - 2));
    for (const int64_t size :
         {rows / window.kernel_elements(), args.output_size[0], args.output_size[1]})
      sizes.push_back(size);
    context.set(0, sizes, context.in(0).dtype);
  }
  static void launch(const Args& args, LaunchContext& context) {
    const WindowArgs& window = args.windows;
    const View in = batched(context.in(0), 3), out = batched(context.out(), 4);
    const View sum = window.has_padding() ? padded_images(window, out, context.ctx) : out;
    run_fill(context.ctx, sum, 0);
    const View windows = windows_of(window, sum, window.num_windows(0, out.sizes[2]),
                                    window.num_windows(1, out.sizes[3]));
    const View columns = as_windows(window, in, windows);
    for (int64_t i = 0; i < window.kernel[0]; ++i)
      for (int64_t j = 0; j < window.kernel[1]; ++j)
        run_add(context.ctx, tap(windows, i, j), tap(columns, i, j));
    if (window.has_padding()) run_copy(context.ctx, out, without_padding(window, sum, out));
  }
  static void grad(const Args& args, GradContext& context) {
    context.set(0, invoke<Im2Col>(args.windows, context.grad()).call());
  }

 private:
  /// Element (i, j) of each window.
  static View tap(const View& windows, int64_t i, int64_t j) {
    View result = narrowed(narrowed(windows, 2, i, 1), 3, j, 1);
    remove_dim(result, 3);
    remove_dim(result, 2);
    return result;
  }
};

void Im2Col::grad(const Args& args, GradContext& context) {
  const IntArrayRef in = context.in_shape(0).sizes();
  context.set(0, invoke<Col2Im>({in.slice(in.size() - 2), args}, context.grad()).call());
}

Dims image_size(IntArrayRef output_size) {
  HEARTH_CHECK(output_size.size() == 2, "It is expected output_size equals to 2, but got size ",
               output_size.size());
  return output_size;
}

}  // namespace

HEARTH_DEFINE_FUNCTION(im2col,
                       (const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                        IntArrayRef padding, IntArrayRef stride),
                       invoke<Im2Col>(window_args(kernel_size, dilation, padding, stride), self))
HEARTH_DEFINE_FUNCTION(col2im,
                       (const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                        IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride),
                       invoke<Col2Im>({image_size(output_size),
                                       window_args(kernel_size, dilation, padding, stride)},
                                      self))

}  // namespace hearth

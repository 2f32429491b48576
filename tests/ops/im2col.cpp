#include <gtest/gtest.h>

#include "hearth/operators.h"
#include "hearth/stream.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

constexpr int64_t kKernel[] = {2, 3}, kDilation[] = {2, 1}, kPadding[] = {1, 1}, kStride[] = {1, 2};
/// The images' sizes and the numbers of windows along them.
constexpr int64_t kImage[] = {4, 5}, kWindowsPerSide[] = {4, 3};

/// The linear index in an image of an element (`tap`) of a window, or -1 in the padding.
int64_t pixel_of(int64_t tap, int64_t window) {
  const int64_t taps[] = {tap / kKernel[1], tap % kKernel[1]},
                windows[] = {window / kWindowsPerSide[1], window % kWindowsPerSide[1]};
  int64_t pixel = 0;
  for (int d = 0; d < 2; ++d) {
    const int64_t i = windows[d] * kStride[d] - kPadding[d] + taps[d] * kDilation[d];
    if (i < 0 || i >= kImage[d]) return -1;
    pixel = pixel * kImage[d] + i;
  }
  return pixel;
}

/// The elements of a window, and the windows and elements of an image.
constexpr int64_t kTaps = 6, kWindows = 12, kPixels = 20;

Array columns_of(const Array& images) {
  std::vector<int64_t> sizes(images.sizes.begin(), images.sizes.end() - 3);
  sizes.insert(sizes.end(), {images.sizes[sizes.size()] * kTaps, kWindows});
  return build(sizes, [&](const Position& p) {
    const int64_t row = linear_of(p, sizes) / kWindows;
    const int64_t pixel = pixel_of(row % kTaps, p.back());
    return pixel < 0 ? 0 : images.values[size_t(row / kTaps * kPixels + pixel)];
  });
}

Array image_of(const Array& columns) {
  std::vector<int64_t> sizes(columns.sizes.begin(), columns.sizes.end() - 2);
  sizes.insert(sizes.end(), {columns.sizes[sizes.size()] / kTaps, kImage[0], kImage[1]});
  Array result{sizes, std::vector<double>(size_t(count_of(sizes)))};
  for (size_t e = 0; e < columns.values.size(); ++e) {
    const int64_t row = int64_t(e) / kWindows, pixel = pixel_of(row % kTaps, int64_t(e) % kWindows);
    if (pixel >= 0) result.values[size_t(row / kTaps * kPixels + pixel)] += columns.values[e];
  }
  return result;
}

Row im2col_row() {
  Row row;
  row.name = "im2col";
  row.covers = {"im2col"};
  row.cases = {{{{2, 2, 4, 5}}}, {{{3, 4, 5}}}, {{{0, 2, 4, 5}}}};
  row.call = [](const Tensors& in) {
    return Tensors{im2col(in[0], kKernel, kDilation, kPadding, kStride)};
  };
  row.out = [](Tensor& out, const Tensors& in) {
    im2col_out(out, in[0], kKernel, kDilation, kPadding, kStride);
  };
  row.reference = [](const Arrays& in) { return Arrays{columns_of(in[0])}; };
  row.dtypes = dtypes::kFloating | dtypes::kBool;
  const auto call = [](std::vector<int64_t> sizes, std::vector<int64_t> kernel,
                       std::vector<int64_t> dilation, std::vector<int64_t> padding,
                       std::vector<int64_t> stride) {
    return [=] { im2col(ones(sizes), kernel, dilation, padding, stride); };
  };
  const std::vector<int64_t> image{2, 3, 6, 5}, two{2, 2}, one{1, 1}, none{0, 0};
  row.refusals = {
      {call(image, {2}, one, none, one), "It is expected kernel_size equals to 2, but got size 1"},
      {call(image, {0, 2}, one, none, one),
       "kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 2"},
      {call(image, two, {0, 1}, none, one),
       "dilation should be greater than zero, but got dilation_height: 0 dilation_width: 1"},
      {call(image, two, one, {-1, 0}, one),
       "padding should be non-negative, but got pad_height: -1 pad_width: 0"},
      {call(image, two, one, none, {0, 1}),
       "stride should be greater than zero, but got stride_height: 0 stride_width: 1"},
      {call(image, {7, 2}, one, none, one),
       "Given input with spatial size (6, 5), kernel_size=(7, 2), dilation=(1, 1), padding=(0, 0), "
       "calculated shape of the array of sliding blocks as (0, 4), but its components must be at "
       "least one."},
      {call({2, 0, 5, 5}, two, one, none, one),
       "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
       "dimensions for input, but got: [2, 0, 5, 5]"}};
  return row;
}

Row col2im_row() {
  Row row;
  row.name = "col2im";
  row.covers = {"col2im"};
  row.cases = {{{{2, 12, 12}}}, {{{6, 12}}}, {{{0, 12, 12}}}};
  row.slack = 4;
  row.call = [](const Tensors& in) {
    return Tensors{col2im(in[0], kImage, kKernel, kDilation, kPadding, kStride)};
  };
  row.out = [](Tensor& out, const Tensors& in) {
    col2im_out(out, in[0], kImage, kKernel, kDilation, kPadding, kStride);
  };
  row.reference = [](const Arrays& in) { return Arrays{image_of(in[0])}; };
  const auto call = [](std::vector<int64_t> sizes, std::vector<int64_t> out,
                       std::vector<int64_t> kernel) {
    return [=] { col2im(ones(sizes), out, kernel, {1, 1}, {0, 0}, {1, 1}); };
  };
  row.refusals = {
      {call({2, 12, 20}, {6}, {2, 2}), "It is expected output_size equals to 2, but got size 1"},
      {call({2, 12, 20}, {6, 5}, {5, 1}),
       "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
       "got input.size(1)=12 and kernel_size=(5, 1)."},
      {call({2, 12, 20}, {6, 6}, {2, 2}),
       "Given output_size=(6, 6), kernel_size=(2, 2), dilation=(1, 1), padding=(0, 0), stride=(1, "
       "1), expected size of input's dimension 2 to match the calculated number of sliding blocks "
       "5 * 5 = 25, but got input.size(2)=20."},
      {call({20}, {6, 5}, {2, 2}),
       "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
       "dimensions for input, but got: [20]"}};
  return row;
}

const Register registered_im2col[] = {Register(im2col_row()), Register(col2im_row())};

/// Without padding, the windows are strided views of the images.
TEST(Im2Col, WindowsOfTransposedImages) {
  for (const Device device : devices()) {
    const Tensor x = randn({2, 3, 6, 7}, TensorOptions(kFloat).device(device)).transpose(2, 3);
    const auto columns = [](const Tensor& image, int64_t padding) {
      return im2col(image, {3, 2}, {1, 2}, {padding, padding}, {2, 1});
    };
    for (const int64_t padding : {0, 2})
      EXPECT_TRUE(columns(x, padding).equal(columns(x.contiguous(), padding))) << device;
    const Tensor back = col2im(columns(x, 0).transpose(0, 1).contiguous().transpose(0, 1), {7, 6},
                               {3, 2}, {1, 2}, {0, 0}, {2, 1});
    EXPECT_TRUE(back.equal(col2im(columns(x, 0), {7, 6}, {3, 2}, {1, 2}, {0, 0}, {2, 1})));
  }
}

}  // namespace
}  // namespace hearth::testing

// conv_tbc and conv_depthwise3d, against loops over the products.
#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

constexpr int64_t kPad = 1;

/// out[t, b, o] = bias[o] + sum over k and c of x[t + k - pad, b, c] * w[k, c, o].
Array tbc_reference(const Array& x, const Array& w, const Array& bias) {
  const int64_t length = x.sizes[0] + 2 * kPad - w.sizes[0] + 1;
  return build({length, x.sizes[1], w.sizes[2]}, [&](const Position& p) {
    double sum = bias.values[size_t(p[2])];
    for (int64_t k = 0; k < w.sizes[0]; ++k) {
      const int64_t t = p[0] + k - kPad;
      if (t < 0 || t >= x.sizes[0]) continue;
      for (int64_t c = 0; c < w.sizes[1]; ++c) sum += at(x, {t, p[1], c}) * at(w, {k, c, p[2]});
    }
    return sum;
  });
}

Row tbc_row() {
  Row row;
  row.name = "conv_tbc";
  row.covers = {"conv_tbc"};
  row.cases = {{{{5, 2, 3}}, {{2, 3, 4}}, {{4}}}};
  row.slack = row.gradient_slack = 8;
  row.call = [](const Tensors& in) { return Tensors{conv_tbc(in[0], in[1], in[2], kPad)}; };
  row.reference = [](const Arrays& in) { return Arrays{tbc_reference(in[0], in[1], in[2])}; };
  const auto call = [](std::vector<int64_t> x, std::vector<int64_t> w, std::vector<int64_t> b) {
    return [=] { conv_tbc(ones(x), ones(w), ones(b)); };
  };
  row.refusals = {{call({5, 2}, {2, 3, 4}, {4}), "Input must have 3 dims: time, batch, in_channel"},
                  {call({5, 2, 3}, {2, 3}, {4}),
                   "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."},
                  {call({5, 2, 2}, {2, 3, 4}, {4}),
                   "Input dim 2 (input channels) is not == dim 1 in the weight tensor"},
                  {call({5, 2, 3}, {2, 3, 4}, {3}),
                   "Bias size must equal dim 2 in the weight tensor (output channels)."},
                  {call({1, 2, 3}, {5, 3, 4}, {4}),
                   "Trying to create tensor with negative dimension -3: [-3, 2, 4]"}};
  return row;
}

constexpr int64_t kStrides[] = {1, 2, 1}, kPads[] = {0, 1, 1}, kDilations[] = {1, 1, 2};

/// out[n, c, p] = bias[c] + sum over k of w[c, 0, k] * x[n, c, q] with
/// q = stride * p + dilation * k - padding.
Array depthwise_reference(const Array& x, const Array& w, const Array& bias) {
  std::vector<int64_t> sizes = x.sizes;
  for (size_t d = 0; d < 3; ++d)
    sizes[2 + d] =
        (x.sizes[2 + d] + 2 * kPads[d] - kDilations[d] * (w.sizes[2 + d] - 1) - 1) / kStrides[d] +
        1;
  const std::vector<int64_t> kernel(w.sizes.begin() + 2, w.sizes.end());
  return build(sizes, [&](const Position& p) {
    double sum = bias.values[size_t(p[1])];
    for (int64_t tap = 0; tap < count_of(kernel); ++tap) {
      const Position k = position_of(tap, kernel);
      Position source = p;
      bool is_inside = true;
      for (size_t d = 0; d < 3; ++d) {
        source[2 + d] = p[2 + d] * kStrides[d] - kPads[d] + k[d] * kDilations[d];
        is_inside &= source[2 + d] >= 0 && source[2 + d] < x.sizes[2 + d];
      }
      if (is_inside) sum += at(x, source) * at(w, {p[1], 0, k[0], k[1], k[2]});
    }
    return sum;
  });
}

Row depthwise_row() {
  Row row;
  row.name = "conv_depthwise3d";
  row.covers = {"conv_depthwise3d"};
  row.cases = {{{{2, 2, 2, 3, 4}}, {{2, 1, 2, 2, 2}}, {{2}}}};
  row.slack = row.gradient_slack = 8;
  row.call = [](const Tensors& in) {
    return Tensors{conv_depthwise3d(in[0], in[1], {2, 2, 2}, in[2], kStrides, kPads, kDilations)};
  };
  row.reference = [](const Arrays& in) { return Arrays{depthwise_reference(in[0], in[1], in[2])}; };
  row.refusals = {{[] {
                     conv_depthwise3d(ones({1, 2, 3, 3, 3}), ones({2, 1, 2, 2, 2}), {3, 2, 2}, {},
                                      {1, 1, 1}, {0, 0, 0}, {1, 1, 1});
                   },
                   "expected a weight [channels, 1, kernel…] with kernel_size=[3, 2, 2], but got "
                   "[2, 1, 2, 2, 2]"}};
  return row;
}

const Register registered_conv_others[] = {Register(tbc_row()), Register(depthwise_row())};

// As PyTorch's, whose result then has no channels either.
TEST(Conv, OfNoChannelsHasNoChannels) {
  const Tensor x = ones({2, 0, 4}).requires_grad_(), weight = ones({3, 0, 2}).requires_grad_();
  const Tensor bias = ones({3}).requires_grad_();
  const Tensor y = conv1d(x, weight, bias);
  EXPECT_EQ(y.sizes().vec(), (std::vector<int64_t>{2, 0, 3}));
  EXPECT_EQ(conv2d(ones({2, 0, 4, 4}), ones({3, 0, 2, 2})).sizes().vec(),
            (std::vector<int64_t>{2, 0, 3, 3}));
  y.sum().backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
  EXPECT_EQ(weight.grad().sizes(), weight.sizes());
  EXPECT_TRUE(bias.grad().equal(zeros({3})));
}

}  // namespace
}  // namespace hearth::testing

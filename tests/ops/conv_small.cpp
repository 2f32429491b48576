// Convolutions with few channels, which have kernels of their own in float32; the reference is
// float64, which is computed by matrix products.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/threads.h"
#include "kernels/cpu/conv_small.h"

namespace hearth::testing {
namespace {

struct SmallShape {
  int64_t images, in, out, height, width, kernel_h, kernel_w, stride, padding, dilation;
};

constexpr SmallShape kSmallShapes[] = {
    {1, 1, 6, 28, 28, 5, 5, 1, 0, 1},  {37, 6, 12, 12, 12, 5, 5, 1, 0, 1},
    {3, 3, 13, 9, 16, 3, 2, 1, 1, 1},  {2, 5, 7, 17, 11, 5, 3, 2, 4, 1},
    {2, 2, 30, 10, 13, 2, 4, 3, 0, 2}, {4, 12, 6, 8, 9, 1, 1, 1, 0, 1},
    {2, 3, 4, 7, 7, 1, 1, 3, 1, 1},    {1, 4, 5, 3, 40, 3, 3, 1, 3, 3},
    {18, 1, 1, 6, 5, 2, 2, 2, 1, 1},   {2, 3, 9, 5, 6, 5, 6, 1, 0, 1}};

struct ConvResults {
  Tensor out, grad_in, grad_weight, grad_bias;
};

ConvResults run_conv(const SmallShape& s, const Tensor& x, const Tensor& weight, const Tensor& bias,
                     const Tensor& grad) {
  ConvResults result;
  std::vector<Tensor> leaves;
  for (const Tensor& tensor : {x, weight, bias}) leaves.push_back(tensor.detach().requires_grad_());
  result.out = conv2d(leaves[0], leaves[1], leaves[2], s.stride, s.padding, s.dilation);
  result.out.backward(grad);
  result.grad_in = leaves[0].grad();
  result.grad_weight = leaves[1].grad();
  result.grad_bias = leaves[2].grad();
  return result;
}

void expect_close_to(const Tensor& exact, const Tensor& value, const char* what) {
  const double error = (value.to(kDouble) - exact).abs().max().item<double>(),
               scale = exact.abs().max().item<double>();
  EXPECT_LE(error, 1e-5 * (1 + scale)) << what;
}

TEST(ConvSmall, AgreesWithDoublePrecision) {
  manual_seed(5);
  for (const SmallShape& s : kSmallShapes) {
    SCOPED_TRACE(::testing::Message() << s.in << " to " << s.out << ", " << s.height << "x"
                                      << s.width << ", stride " << s.stride);
    const Tensor x = randn({s.images, s.in, s.height, s.width}), bias = randn({s.out});
    const Tensor weight = randn({s.out, s.in, s.kernel_h, s.kernel_w});
    const Tensor grad = randn_like(conv2d(x, weight, bias, s.stride, s.padding, s.dilation));
    const ConvResults value = run_conv(s, x, weight, bias, grad);
    const ConvResults exact =
        run_conv(s, x.to(kDouble), weight.to(kDouble), bias.to(kDouble), grad.to(kDouble));
    expect_close_to(exact.out, value.out, "result");
    expect_close_to(exact.grad_in, value.grad_in, "gradient of the input");
    expect_close_to(exact.grad_weight, value.grad_weight, "gradient of the weight");
    expect_close_to(exact.grad_bias, value.grad_bias, "gradient of the bias");
  }
}

TEST(ConvSmall, TransposedAndOneDimensionalConvolutions) {
  manual_seed(6);
  const Tensor g = randn({3, 4, 6, 7}), weight = randn({4, 3, 3, 2}), bias = randn({3});
  const Tensor transposed = conv_transpose2d(g, weight, bias, 2, 1);
  expect_close_to(conv_transpose2d(g.to(kDouble), weight.to(kDouble), bias.to(kDouble), 2, 1),
                  transposed, "transposed");
  const Tensor line = randn({5, 2, 31}), taps = randn({3, 2, 4}), offset = randn({3});
  expect_close_to(conv1d(line.to(kDouble), taps.to(kDouble), offset.to(kDouble), 2, 3, 2),
                  conv1d(line, taps, offset, 2, 3, 2), "one dimension");
}

TEST(ConvSmall, DoesNotDependOnTheNumberOfThreads) {
  const SmallShape s = kSmallShapes[1];
  manual_seed(7);
  const Tensor x = randn({s.images, s.in, s.height, s.width}), bias = randn({s.out});
  const Tensor weight = randn({s.out, s.in, s.kernel_h, s.kernel_w});
  const Tensor grad = randn_like(conv2d(x, weight, bias));
  const int threads = get_num_threads();
  std::vector<ConvResults> results;
  for (const int count : {1, 2, 7}) {
    set_num_threads(count);
    results.push_back(run_conv(s, x, weight, bias, grad));
  }
  set_num_threads(threads);
  for (const ConvResults& other : results) {
    EXPECT_TRUE(equal(other.out, results[0].out));
    EXPECT_TRUE(equal(other.grad_in, results[0].grad_in));
    EXPECT_TRUE(equal(other.grad_weight, results[0].grad_weight));
  }
}

TEST(ConvSmall, BufferSizesOfHugeDilationsDoNotOverflow) {
  ConvParams params;
  const auto set_sizes = [](View& view, std::initializer_list<int64_t> sizes) {
    view.dim = static_cast<int>(sizes.size());
    std::copy(sizes.begin(), sizes.end(), view.sizes);
  };
  set_sizes(params.in, {1, 2, 2, 1 << 13});
  set_sizes(params.weight, {1, 2, 2, 1});
  set_sizes(params.out, {1, 1, 1, 1 << 13});
  EXPECT_TRUE(cpu::suits_conv_small(params));
  params.dilation[0] = int64_t{1} << 50;  // the shifted rows would have 2^14 * (1 + 2^50) elements
  EXPECT_FALSE(cpu::suits_conv_small(params));
}

}  // namespace
}  // namespace hearth::testing

// Dropout of the weights of scaled dot product attention, against attention composed of other ops.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/cpu_allocator.h"
#include "hearth/autograd.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// Attention composed of ops, with dropout of the weights.
Tensor composed_with_dropout(const Tensors& in, double p, bool causal) {
  const int64_t group = in[0].size(1) / in[1].size(1);
  const Tensor key = in[1].repeat_interleave(group, 1), value = in[2].repeat_interleave(group, 1);
  Tensor scores = in[0].matmul(key.transpose(-2, -1)).div(std::sqrt(double(in[0].size(-1))));
  if (in.size() > 3) scores = scores + in[3];
  if (causal) {
    const Tensor seen = ones({scores.size(-2), scores.size(-1)}, kBool).tril();
    scores = scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
  }
  return dropout(scores.softmax(-1), p, true).matmul(value);
}

/// The result, the gradients of the first three inputs, second derivatives (the gradients of the
/// sum of the squared gradients), and the random numbers that follow.
template <class F>
Tensors with_gradients(const Tensors& in, const Tensor& grad_out, const F& attention) {
  manual_seed(5);
  const Tensors inputs(in.begin(), in.begin() + 3);
  Tensors results{attention(in)};
  const Tensor next = rand({4});
  const autograd::variable_list first = autograd::grad(
      {results[0]}, inputs, {grad_out}, /*retain_graph=*/true, /*create_graph=*/true);
  Tensor sum = zeros({}, kDouble);
  for (const Tensor& grad : first) sum = sum + grad.pow(2).sum();
  const autograd::variable_list second = autograd::grad({sum}, inputs);
  results.insert(results.end(), first.begin(), first.end());
  results.insert(results.end(), second.begin(), second.end());
  results.push_back(next);
  return results;
}

TEST(AttentionDropout, EqualsDropoutOfTheWeights) {
  const auto leaf = [](IntArrayRef sizes) { return randn(sizes, kDouble).requires_grad_(); };
  // Several tiles, and two query heads for each key head.
  const Tensors in{leaf({2, 4, 140, 8}), leaf({2, 2, 270, 8}), leaf({2, 2, 270, 6})};
  Tensors masked = in;
  masked.push_back(randn({140, 270}, kDouble));
  const Tensor grad_out = randn({2, 4, 140, 6}, kDouble);
  for (const double p : {0.1, 0.75})
    for (const bool causal : {false, true})
      for (const Tensors& inputs :
           causal ? std::vector<Tensors>{in} : std::vector<Tensors>{in, masked}) {
        const auto fused = [&](const Tensors& t) {
          return scaled_dot_product_attention(t[0], t[1], t[2], t.size() > 3 ? t[3] : Tensor(), p,
                                              causal, {}, true);
        };
        const Tensors results = with_gradients(inputs, grad_out, fused);
        const Tensors expected = with_gradients(inputs, grad_out, [&](const Tensors& t) {
          return composed_with_dropout(t, p, causal);
        });
        for (size_t i = 0; i < results.size(); ++i)
          EXPECT_TRUE(results[i].allclose(expected[i], 1e-9, 1e-9)) << i << ", p " << p;
      }
}

TEST(AttentionDropout, ChecksTheProbability) {
  const Tensor x = randn({2, 2, 3, 4});
  EXPECT_ERROR(scaled_dot_product_attention(x, x, x, {}, 1.5),
               "dropout probability has to be between 0 and 1, but got 1.5");
  EXPECT_ERROR(scaled_dot_product_attention(x, x, x, {}, -0.5),
               "dropout probability has to be between 0 and 1, but got -0.5");
}

TEST(AttentionDropout, InHalfPrecisionDrawsTheSameNumbers) {
  const Tensor x = randn({1, 2, 20, 8});
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor half = x.to(dtype), same = half.to(kFloat);
    manual_seed(3);
    const Tensor out = scaled_dot_product_attention(half, half, half, {}, 0.5);
    manual_seed(3);
    const Tensor expected = composed_with_dropout({same, same, same}, 0.5, false);
    EXPECT_EQ(out.scalar_type(), dtype);
    EXPECT_TRUE(out.to(kFloat).allclose(expected, 1e-2, 1e-2));
  }
}

TEST(AttentionDropout, OfAllWeightsKeepsNanVisible) {
  const Tensor x = randn({1, 1, 4, 3}),
               broken = full({1, 1, 4, 3}, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(scaled_dot_product_attention(x, x, x, {}, 1.0).equal(zeros({1, 1, 4, 3})));
  EXPECT_TRUE(scaled_dot_product_attention(x, x, broken, {}, 1.0).isnan().all().item<bool>());
}

TEST(AttentionDropout, HoldsAByteForEachScore) {
  const Tensor x = randn({1, 1, 4096, 8}).requires_grad_();  // 2^24 scores
  cpu_reset_peak_stats();
  const int64_t before = cpu_memory_stats().allocated_bytes.current;
  const Tensor out = scaled_dot_product_attention(x, x, x, {}, 0.1);
  EXPECT_GE(cpu_memory_stats().allocated_bytes.current - before, int64_t{16} << 20);
  out.sum().backward();
  EXPECT_LT(cpu_memory_stats().allocated_bytes.peak - before, int64_t{24} << 20);
}

}  // namespace
}  // namespace hearth::testing

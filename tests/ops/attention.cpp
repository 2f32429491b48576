// Scaled dot product attention, against plain loops over the scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cpu_allocator.h"
#include "hearth/autograd.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

struct AttentionOptions {
  bool causal = false;
  std::optional<double> scale = {};
  bool enable_gqa = false;
  double dropout_p = 0;
};

/// The sizes of 2 to 4 dimensions as [batch, heads, rows, width].
std::vector<int64_t> four_sizes(std::vector<int64_t> sizes) {
  sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
  return sizes;
}

/// The weights of every query row: softmax of its scores, or zeros if all of them are -infinity.
Array weights(const Arrays& in, const AttentionOptions& options) {
  const std::vector<int64_t> q = four_sizes(in[0].sizes), k = four_sizes(in[1].sizes);
  const Array query{q, in[0].values}, key{k, in[1].values};
  const Array mask = in.size() > 3 ? Array{four_sizes(in[3].sizes), in[3].values} : Array{};
  const double scale = options.scale.value_or(1 / std::sqrt(double(q[3])));
  Array result = build({q[0], q[1], q[2], k[2]}, [&](const Position& p) {
    const int64_t head = p[1] * k[1] / q[1];
    double score = options.causal && p[3] > p[2] ? -kInf : 0;
    for (int64_t e = 0; e < q[3]; ++e)
      score += scale * at(query, {p[0], p[1], p[2], e}) * at(key, {p[0], head, p[3], e});
    if (!mask.sizes.empty()) {
      Position mask_position = p;
      for (size_t d = 0; d < 4; ++d)
        if (mask.sizes[d] == 1) mask_position[d] = 0;
      score += at(mask, mask_position);
    }
    return score;
  });
  for (size_t row = 0; row < result.values.size(); row += size_t(k[2])) {
    double* const scores = result.values.data() + row;
    const double largest = *std::max_element(scores, scores + k[2]);
    double sum = 0;
    for (int64_t j = 0; j < k[2]; ++j) {
      scores[j] = largest == -kInf ? 0 : std::exp(scores[j] - largest);
      sum += scores[j];
    }
    for (int64_t j = 0; j < k[2] && sum > 0; ++j) scores[j] /= sum;
  }
  return result;
}

Arrays attention_reference(const Arrays& in, const AttentionOptions& options) {
  const Array w = weights(in, options), value{four_sizes(in[2].sizes), in[2].values};
  const Array full =
      build({w.sizes[0], w.sizes[1], w.sizes[2], value.sizes[3]}, [&](const Position& p) {
        double sum = 0;
        for (int64_t j = 0; j < w.sizes[3]; ++j)
          sum += at(w, {p[0], p[1], p[2], j}) *
                 at(value, {p[0], p[1] * value.sizes[1] / w.sizes[1], j, p[3]});
        return sum;
      });
  std::vector<int64_t> sizes = in[0].sizes;
  sizes.back() = value.sizes[3];
  return {{sizes, full.values}};
}

/// The inputs with the bool mask replaced by the numbers to add to the scores.
Arrays with_added_mask(Arrays in) {
  for (double& v : in[3].values) v = v != 0 ? 0 : -kInf;
  return in;
}

Tensor attend(const Tensors& in, const AttentionOptions& options) {
  return scaled_dot_product_attention(in[0], in[1], in[2], in.size() > 3 ? in[3] : Tensor(),
                                      options.dropout_p, options.causal, options.scale,
                                      options.enable_gqa);
}

Row attention_row(std::string name, std::vector<Case> cases, AttentionOptions options) {
  Row row;
  row.name = std::move(name);
  row.covers = {"scaled_dot_product_attention", "_scaled_dot_product_attention",
                "_scaled_dot_product_attention_backward"};
  row.cases = std::move(cases);
  row.call = [options](const Tensors& in) { return Tensors{attend(in, options)}; };
  row.reference = [options](const Arrays& in) { return attention_reference(in, options); };
  row.slack = row.gradient_slack = 8;
  return row;
}

/// Query, key and value of [batch, heads, rows or keys, width].
Case inputs(int64_t batch, int64_t heads, int64_t rows, int64_t keys, int64_t width) {
  return {
      {{batch, heads, rows, width}}, {{batch, heads, keys, width}}, {{batch, heads, keys, width}}};
}

Case with_mask(Case inputs, std::vector<int64_t> sizes, Draw draw) {
  inputs.push_back({std::move(sizes), draw, 0, false, false, true});
  return inputs;
}

Row bool_mask_row() {
  const Case in = inputs(2, 2, 3, 5, 4);
  Row row =
      attention_row("attention_bool_mask",
                    {with_mask(in, {2, 2, 3, 5}, Draw::kBool),
                     with_mask(in, {2, 1, 1, 5}, Draw::kBool), with_mask(in, {3, 5}, Draw::kBool)},
                    {});
  row.reference = [](const Arrays& arrays) {
    return attention_reference(with_added_mask(arrays), {});
  };
  return row;
}

Row attention_refusing(Row row) {
  // A fifth tensor stands for is_causal, a sixth also for enable_gqa.
  const auto refuse = [&](Tensors in, std::string message) {
    row.refusals.push_back({[in] { attend(in, {in.size() > 4, {}, in.size() > 5}); }, message});
  };
  const auto ones_of = [](IntArrayRef sizes, ScalarType dtype = kFloat) {
    return ones(sizes, dtype);
  };
  const Tensor q = ones_of({1, 3, 2, 4}), k = ones_of({1, 2, 5, 4});
  refuse({ones_of({4}), ones_of({4}), ones_of({4})},
         "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: 1 "
         "key.dim: 1 and value.dim: 1 instead.");
  refuse({q, k.to(kDouble), k},
         "Expected query, key, and value to have the same dtype, but got query.dtype: float "
         "key.dtype: double and value.dtype: float instead.");
  refuse({k, k, k, ones_of({5, 5}, kInt)},
         "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
         "attn_mask.dtype: int and  query.dtype: float instead.");
  refuse({k, k, k, ones_of({5, 5}), Tensor()},
         "Explicit attn_mask should not be set when is_causal=True");
  refuse(
      {k, k, k, ones_of({5, 4})},
      "The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 3");
  refuse({q, k, k}, "The size of tensor a (3) must match the size of tensor b (2)");
  const Tensor matrix = ones_of({3, 4});
  refuse({matrix, matrix, matrix, Tensor(), Tensor(), Tensor()},
         "Dimension out of range (expected to be in range of [-2, 1], but got -3)");
  refuse({q, k, k, Tensor(), Tensor(), Tensor()},
         "Number of heads in key and value must divide the number of heads in query");
  return row;
}

const Register registered_attention[] = {
    Register(attention_refusing(attention_row("attention",
                                              {inputs(2, 3, 4, 5, 4),
                                               inputs(1, 2, 1, 3, 5),
                                               {{{3, 4}}, {{6, 4}}, {{6, 2}}},
                                               {{{2, 3, 4}}, {{2, 6, 4}}, {{2, 6, 3}}}},
                                              {}))),
    Register(attention_row("attention_causal", {inputs(1, 2, 4, 6, 3), inputs(2, 1, 6, 4, 3)},
                           {.causal = true})),
    Register(attention_row("attention_scaled", {inputs(1, 2, 3, 4, 3)}, {.scale = -0.7})),
    Register(attention_row(
        "attention_shared_heads",
        {{{{2, 6, 3, 4}}, {{2, 2, 5, 4}}, {{2, 2, 5, 4}}}, {{{4, 3, 4}}, {{1, 5, 4}}, {{1, 5, 4}}}},
        {.enable_gqa = true})),
    Register(bool_mask_row()),
    Register(attention_row("attention_added_mask",
                           {with_mask(inputs(2, 2, 3, 5, 4), {2, 1, 3, 5}, Draw::kNormal),
                            with_mask(inputs(1, 2, 3, 5, 4), {3, 1}, Draw::kNormal)},
                           {}))};

/// The mask requires grad, so attention is composed of other ops: matmul and softmax.
Row composed_row() {
  Case in = inputs(2, 2, 3, 5, 4);
  in.push_back({{3, 5}});
  Row row = attention_row("attention_composed", {in}, {});
  row.covers = {"scaled_dot_product_attention"};
  return row;
}
const Register attention_composed{composed_row()};

/// The probability is so small that no weight is dropped; attention_dropout.cpp tests larger ones.
Row attention_dropout_row() {
  Row row = attention_row(
      "attention_dropout",
      {inputs(2, 3, 4, 5, 4), with_mask(inputs(2, 2, 3, 5, 4), {2, 1, 3, 5}, Draw::kNormal)},
      {.dropout_p = 1e-12});
  row.covers = {"scaled_dot_product_attention", "_scaled_dot_product_attention_dropout",
                "_scaled_dot_product_attention_backward"};
  return row;
}
const Register attention_dropout{attention_dropout_row()};

/// The gradients of query, key and value for the gradient `g` of the output.
Arrays gradients_reference(const Arrays& in, const AttentionOptions& options, const Array& g) {
  const Array w = weights(in, options), out = attention_reference(in, options)[0];
  const std::vector<int64_t>&q = in[0].sizes, &k = in[1].sizes;
  const int64_t rows = q[2], keys = k[2], width = q[3], value_width = g.sizes[3];
  const double scale = options.scale.value_or(1 / std::sqrt(double(width)));
  Arrays gradients{in[0], in[1], in[2]};
  for (Array& array : gradients) std::fill(array.values.begin(), array.values.end(), 0.0);
  const auto dot = [&](const Array& a, int64_t i, const Array& b, int64_t j) {
    double sum = 0;
    for (int64_t e = 0; e < value_width; ++e)
      sum += a.values[size_t(i * value_width + e)] * b.values[size_t(j * value_width + e)];
    return sum;
  };
  const auto add = [](Array& to, int64_t i, double factor, const Array& from, int64_t j,
                      int64_t row_width) {
    for (int64_t e = 0; e < row_width; ++e)
      to.values[size_t(i * row_width + e)] += factor * from.values[size_t(j * row_width + e)];
  };
  for (int64_t row = 0; row < q[0] * q[1] * rows; ++row) {
    const int64_t head = row / rows % q[1] * k[1] / q[1],
                  first_key = (row / rows / q[1] * k[1] + head) * keys;
    const double mean_slope = dot(g, row, out, row);
    for (int64_t j = 0; j < keys; ++j) {
      const double p = w.values[size_t(row * keys + j)];
      if (p == 0) continue;
      const double slope = scale * p * (dot(g, row, in[2], first_key + j) - mean_slope);
      add(gradients[0], row, slope, in[1], first_key + j, width);
      add(gradients[1], first_key + j, slope, in[0], row, width);
      add(gradients[2], first_key + j, p, g, row, value_width);
    }
  }
  return gradients;
}

/// A call that spans several tiles; `mask` is empty or added to the scores.
LargeCase several_tiles(ScalarType dtype, const AttentionOptions& options, const Array& mask) {
  const Large q = large({2, 2, 130, 6}, 51, false), k = large({2, 1, 300, 6}, 52, false),
              v = large({2, 1, 300, 4}, 53, false), g = large({2, 2, 130, 4}, 54, false);
  Arrays in;
  Tensors tensors;
  for (const Large* x : {&q, &k, &v}) {
    in.push_back({x->sizes, x->values});
    tensors.push_back(x->tensor(dtype));
  }
  Tensor added;
  if (!mask.sizes.empty()) {
    in.push_back(mask);
    added = Large{mask.sizes, mask.values}.tensor(kFloat);
  }
  Arrays wanted = attention_reference(in, options);
  for (Array& d : gradients_reference(in, options, {g.sizes, g.values}))
    wanted.push_back(std::move(d));
  const auto call = [options, added](const Tensors& t) {
    return attend(added.defined() ? Tensors{t[0], t[1], t[2], added} : t, options);
  };
  const Tensor gradient = g.tensor(dtype);
  return {[=] { return with_gradients(call, tensors, gradient); }, wanted};
}

/// Hides the first 270 keys, which include the whole first tile, from the first sample. From a row
/// of the second sample it hides every fifth key; the shifts repeat after five rows.
Array partial_mask() {
  return build({2, 1, 130, 300}, [](const Position& p) {
    const bool is_hidden = p[0] == 0 ? p[3] < 270 : (p[2] * 7 + p[3]) % 5 == 0;
    return is_hidden ? -kInf : double(p[3] % 8) / 8;
  });
}
/// Hides the last keys from all queries of the second sample.
Array padding_mask() {
  return build({2, 1, 1, 300},
               [](const Position& p) { return p[0] == 1 && p[3] >= 250 ? -kInf : 0.0; });
}

RegisterLarge large_row(std::string name, std::function<LargeCase(ScalarType)> make) {
  return RegisterLarge({std::move(name), {"Attention", "AttentionBackward"}, std::move(make), 16});
}
const AttentionOptions kShared{.enable_gqa = true};
const RegisterLarge large_attention[] = {
    large_row("attention", [](ScalarType dtype) { return several_tiles(dtype, kShared, Array{}); }),
    large_row("attention_causal",
              [](ScalarType dtype) {
                return several_tiles(dtype, {.causal = true, .scale = 0.5, .enable_gqa = true},
                                     Array{});
              }),
    large_row("attention_mask",
              [](ScalarType dtype) { return several_tiles(dtype, kShared, partial_mask()); }),
    large_row("attention_padding",
              [](ScalarType dtype) { return several_tiles(dtype, kShared, padding_mask()); })};

TEST(Attention, FullyMaskedRowsGiveZeros) {
  const Tensor mask = ones({3, 5}, kBool);
  mask[1].fill_(false);
  for (const bool added : {false, true}) {
    const Tensors in{randn({1, 2, 3, 4}).requires_grad_(), randn({1, 2, 5, 4}).requires_grad_(),
                     randn({1, 2, 5, 4}).requires_grad_(),
                     added ? zeros({3, 5}).masked_fill(mask.logical_not(), -kInf) : mask};
    const Tensor out = attend(in, {});
    EXPECT_TRUE(out.select(2, 1).equal(zeros({1, 2, 4})));
    const autograd::variable_list grads = autograd::grad({out.pow(2).sum()}, {in[0], in[1], in[2]});
    for (const Tensor& grad : grads) EXPECT_TRUE(grad.isfinite().all().item<bool>());
    EXPECT_TRUE(grads[0].select(2, 1).equal(zeros({1, 2, 4})));
  }
}

TEST(Attention, NanReachesOnlyTheRowsThatSeeIt) {
  const Tensor q = randn({1, 1, 4, 3}), k = randn({1, 1, 4, 3}), v = randn({1, 1, 4, 3});
  k[0][0][2].fill_(std::numeric_limits<double>::quiet_NaN());
  const Tensor nan = attend({q, k, v}, {.causal = true}).isnan().any(-1).view(-1);
  EXPECT_TRUE(nan.equal(hearth::tensor({false, false, true, true})));
  EXPECT_TRUE(attend({q, k, v}, {}).isnan().all().item<bool>());
}

TEST(Attention, NeverHoldsTheScores) {
  const Tensor x = randn({1, 1, 4096, 8}).requires_grad_();  // their scores: 64 MiB
  cpu_reset_peak_stats();
  const int64_t before = cpu_memory_stats().allocated_bytes.current;
  attend({x, x, x}, {}).sum().backward();
  EXPECT_LT(cpu_memory_stats().allocated_bytes.peak - before, int64_t{8} << 20);
}

TEST(Attention, KeepsTheQuerysMemoryOrder) {
  const Tensor x = randn({2, 3, 4, 8}).transpose(1, 2);
  EXPECT_EQ(attend({x, x, x}, {}).strides().vec(), (std::vector<int64_t>{96, 8, 32, 1}));
}

TEST(Attention, EmptyInputsGiveZerosOrNothing) {
  const Tensor none = ones({1, 2, 0, 4}).requires_grad_(),
               some = ones({1, 2, 3, 4}).requires_grad_();
  EXPECT_TRUE(attend({some, none, none}, {}).equal(zeros({1, 2, 3, 4})));
  attend({some, none, none}, {}).sum().backward();
  EXPECT_TRUE(some.grad().equal(zeros({1, 2, 3, 4})));
  EXPECT_EQ(attend({none, some, some}, {}).numel(), 0);
  const Tensor no_heads = ones({1, 0, 3, 4}).requires_grad_(),
               two = ones({1, 2, 3, 4}).requires_grad_();
  attend({no_heads, two, two}, kShared).sum().backward();
  EXPECT_TRUE(two.grad().equal(zeros({1, 2, 3, 4})));
}

TEST(Attention, SharedHeadsMayBeNone) {
  const Tensor none = ones({2, 0, 3, 4});
  EXPECT_EQ(attend({none, none, none}, kShared).sizes().vec(), (std::vector<int64_t>{2, 0, 3, 4}));
}

// As in PyTorch, whether heads are shared or not.
TEST(Attention, IsZeroIfOnlyTheQueryHasHeads) {
  for (const bool shared : {false, true}) {
    const Tensor query = ones({2, 4, 3, 5}).requires_grad_();
    const Tensor none = ones({2, 0, 3, 5}).requires_grad_();
    const Tensor out =
        scaled_dot_product_attention(query, none, none, {}, 0, false, std::nullopt, shared);
    EXPECT_TRUE(out.equal(zeros({2, 4, 3, 5})));
    out.sum().backward();
    EXPECT_TRUE(query.grad().equal(zeros({2, 4, 3, 5})));
    EXPECT_EQ(none.grad().numel(), 0);
  }
}

}  // namespace
}  // namespace hearth::testing

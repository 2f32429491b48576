// embedding_bag and embedding_renorm_, against loops over the bags.
#include "ops/embedding_bag.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using Integers = std::vector<int64_t>;

struct BagOptions {
  int64_t mode = 0;
  bool include_last_offset = false;
  std::optional<int64_t> padding_idx = {};
};

Tensor offsets_like(const Tensor& indices, const Integers& offsets) {
  return tensor(offsets).to(indices.device(), indices.scalar_type());
}

Tensor bag(const Tensors& in, const Integers& offsets, const BagOptions& options) {
  return std::get<0>(embedding_bag(in[0], in[1], offsets_like(in[1], offsets), false, options.mode,
                                   false, in.size() > 2 ? in[2] : Tensor(),
                                   options.include_last_offset, options.padding_idx));
}

Arrays bag_reference(const Arrays& in, const Integers& offsets, const BagOptions& options) {
  const int64_t width = in[0].sizes[1], n = int64_t(in[1].values.size());
  const auto bags = int64_t(offsets.size()) - int64_t(options.include_last_offset);
  return {build({bags, width}, [&](const Position& p) {
    const size_t b = size_t(p[0]);
    const int64_t end = b + 1 < offsets.size() ? offsets[b + 1] : n;
    double result = 0;
    int64_t count = 0;
    for (int64_t i = offsets[b]; i < end; ++i) {
      const auto row = int64_t(in[1].values[size_t(i)]);
      if (row == options.padding_idx) continue;
      const double x = at(in[0], {row, p[1]}) * (in.size() > 2 ? in[2].values[size_t(i)] : 1);
      result = options.mode == 2 && count > 0 ? std::fmax(result, x)
               : options.mode == 2            ? x
                                              : result + x;
      ++count;
    }
    return options.mode == 1 && count > 0 ? result / double(count) : result;
  })};
}

/// Bags of the sizes 2, 0, 3 and, unless include_last_offset is set, 1. Tables are narrower and
/// wider than a block of SIMD vectors.
Row bag_row(std::string name, BagOptions options, bool weighted = false) {
  Row row;
  row.name = "embedding_bag_" + std::move(name);
  row.covers = {"embedding_bag", "_embedding_bag", "_embedding_bag_backward",
                "_embedding_bag_per_sample_weights_backward"};
  const Input indices{{6}, Draw::kIndex, 5};
  for (int64_t width : {3, weighted ? 20 : 70}) {
    row.cases.push_back({{{5, width}, Draw::kDistinct}, indices});
    if (weighted) row.cases.back().push_back({{6}});
  }
  const Integers offsets{0, 2, 2, 5};
  row.call = [=](const Tensors& in) { return Tensors{bag(in, offsets, options)}; };
  row.reference = [=](const Arrays& in) { return bag_reference(in, offsets, options); };
  row.slack = 4;
  row.gradient_slack = 4;
  if (options.padding_idx || options.include_last_offset) row.orders = 1;
  return row;
}

Refusal refusal(Tensor weight, Tensor indices, Tensor offsets, BagOptions options, std::string text,
                Tensor scale = {}) {
  return {[=] {
            embedding_bag(weight, indices, offsets, false, options.mode, false, scale,
                          options.include_last_offset, options.padding_idx);
          },
          std::move(text)};
}

Row refusing_embedding_bag_row() {
  Row row = bag_row("sum", {});
  const Tensor w = ones({4, 3}), i = arange(3, kLong), zero = zeros({1}, kLong);
  row.refusals = {
      refusal(w[0], i, zero, {}, "weight has to be a 2D Tensor, but got Tensor of dimension 1"),
      refusal(w, i.view({1, 1, 3}), zero, {},
              "input has to be a 1D or 2D Tensor, but got Tensor of dimension 3"),
      refusal(w, i, zero.view({1, 1}), {},
              "offsets has to be a 1D Tensor, but got Tensor of dimension 2"),
      refusal(
          w, i.to(kFloat), zero, {},
          "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
          "Long, Int; but got CPUFloatType instead (while checking arguments for "
          "embedding_bag)"),
      refusal(w.to(kLong), i, zero, {},
              "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
              "Half, BFloat16, Float, Double; but got CPULongType instead"),
      refusal(w, i, zero, {3}, "`mode` must be sum, mean, or max."),
      refusal(w, i, zero.slice(0, 0, 0), {0, true},
              "include_last_offset: number of offset should be at least 1"),
      refusal(w, i, zero, {0, false, 4},
              "padding_idx must be within the number of embeddings, -4 through 3, but got 4"),
      refusal(w, i, zero, {1}, "embedding_bag: per_sample_weights only supported with mode='sum'",
              ones({3})),
      refusal(w, i, zero, {}, "Expected tensor for argument #1 'weight' to have the same type",
              ones({3}, kDouble)),
      refusal(w, i, zero, {}, "per_sample_weights must be a 1D Tensor with one element for each",
              ones({2})),
      refusal(
          w, i, zero.add(1), {},
          "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
          "position 0. However, got 1"),
      refusal(w, i, tensor({0, 4}), {},
              "offsets[-1] can not be greater than input's length 3 but got offsets[-1] of 4"),
      refusal(w, i, tensor({0, 3, 1}), {}, "offsets must not fall or exceed the input's length 3"),
      {[=] { embedding_bag(w, i, zero, false, 0, true); }, "sparse gradients are not supported"},
      {[=] { embedding_bag(w, i, zero, true, 2); },
       "scale_grad_by_freq is not supported with mode='max'"}};
  for (const Device device : devices())
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          embedding_bag(ones({4, 3}).to(where), full({2}, 7, kLong).to(where),
                        zeros({1}, kLong).to(where));
        },
        device.is_cpu()
            ? "Index 0 of input takes value 7 which is not in the valid range [0, 4)"
            : "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be 7"));
  for (const Device device : devices())
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          embedding_bag(ones({4, 3}).to(where), zeros({6}, kLong).to(where),
                        tensor({2, 4}, kLong).to(where));
        },
        device.is_cuda() ? "must not fall or exceed the input's length 6, but found 2"
                         : "offsets[0] has to be 0"));
  return row;
}

/// 2000 bags of 0 to 12 rows.
LargeCase many_bags(ScalarType dtype, int64_t mode) {
  const int64_t bags = 2000, n = 12000, rows = 300, width = 40;
  const Large table = large({rows, width}, 51), g = large({bags, width}, 52);
  const Large index = large_indices({n}, rows, 53);
  Integers offsets;
  for (int64_t b = 0; b < bags; ++b) offsets.push_back(b * 6 + (b % 7 > 3 ? 6 : 0));
  const Arrays in{{table.sizes, table.values}, {index.sizes, index.values}};
  const Array out = bag_reference(in, offsets, {mode})[0];
  Array grad{table.sizes, Numbers(table.values.size())};
  for (int64_t b = 0; b < bags; ++b) {
    const int64_t end = b + 1 < bags ? offsets[size_t(b + 1)] : n;
    for (int64_t d = 0; d < width; ++d) {
      bool was_found = false;
      for (int64_t i = offsets[size_t(b)]; i < end; ++i) {
        const auto row = int64_t(index[i]);
        const bool is_largest =
            !was_found && table[row * width + d] == out.values[size_t(b * width + d)];
        if (mode == 2 && !is_largest) continue;
        was_found = true;
        grad.values[size_t(row * width + d)] +=
            g[b * width + d] / (mode == 1 ? double(end - offsets[size_t(b)]) : 1);
      }
    }
  }
  const Tensor weight = table.tensor(dtype), gradient = g.tensor(dtype);
  const Tensor indices = index.tensor(kLong);
  return {[=] {
            return with_gradients(
                [=](const Tensors& t) {
                  return bag({t[0], indices}, offsets, {mode});
                },
                {weight}, gradient);
          },
          {out, grad}};
}

LargeCase scaled_bags(ScalarType dtype) {
  const int64_t n = 6000, rows = 50, width = 20, bags = 1000;
  const Large table = large({rows, width}, 61), scale = large({n}, 62),
              g = large({bags, width}, 63);
  const Large index = large_indices({n}, rows, 64);
  Integers offsets;
  for (int64_t b = 0; b < bags; ++b) offsets.push_back(b * 6);
  const Arrays in{{table.sizes, table.values}, {{n}, index.values}, {{n}, scale.values}};
  Array grad{{n}, Numbers(size_t(n))};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t d = 0; d < width; ++d)
      grad.values[size_t(i)] += g[i / 6 * width + d] * table[int64_t(index[i]) * width + d];
  const Tensor weight = table.tensor(dtype), factors = scale.tensor(dtype);
  const Tensor gradient = g.tensor(dtype), indices = index.tensor(kInt);
  return {[=] {
            return with_gradients(
                [=](const Tensors& t) {
                  return bag({weight, indices, t[0]}, offsets, {});
                },
                {factors}, gradient);
          },
          {bag_reference(in, offsets, {})[0], grad}};
}

const Register registered_embedding_bag[] = {
    Register(refusing_embedding_bag_row()),
    Register(bag_row("mean", {1})),
    Register(bag_row("max", {2})),
    Register(bag_row("weighted", {}, true)),
    Register(bag_row("sum_padded", {0, false, 2})),
    Register(bag_row("mean_padded", {1, true, 2})),
    Register(bag_row("max_padded", {2, false, 2})),
    Register(bag_row("weighted_padded", {0, true, 2}, true))};
const RegisterLarge registered_large_embedding_bag[] = {
    RegisterLarge({"bag_sums",
                   {"EmbeddingBag", "EmbeddingBagBackward"},
                   [](ScalarType dtype) { return many_bags(dtype, 0); },
                   64}),
    RegisterLarge({"bag_means",
                   {"EmbeddingBag", "EmbeddingBagBackward"},
                   [](ScalarType dtype) { return many_bags(dtype, 1); },
                   64}),
    RegisterLarge({"bag_maxima",
                   {"EmbeddingBag", "EmbeddingBagBackward"},
                   [](ScalarType dtype) { return many_bags(dtype, 2); },
                   64}),
    RegisterLarge({"scaled_bags", {"EmbeddingBag", "EmbeddingBagScaleBackward"}, scaled_bags, 64})};

Tensor table() { return arange(12, kFloat).view({4, 3}); }

/// Values of PyTorch 2.15.
TEST(EmbeddingBag, AuxiliaryResultsMatchPyTorch) {
  const Tensor i = arange(3, kLong), offsets = tensor({0, 2, 2, 3});
  const auto [sums, no_bags, zeros_, same] = embedding_bag(table(), i, tensor({0, 2}));
  EXPECT_EQ(no_bags.numel(), 0);
  EXPECT_TRUE(zeros_.equal(tensor({0, 0})) && same.equal(zeros_));
  const auto [largest, bags, sizes, max_indices] = embedding_bag(table(), i, offsets, false, 2);
  EXPECT_TRUE(bags.equal(tensor({0, 0, 2})));
  EXPECT_TRUE(sizes.equal(tensor({2, 0, 1, 0})));
  EXPECT_TRUE(max_indices.select(1, 0).equal(tensor({1, 0, 2, 0})));
  const auto mean = embedding_bag(table(), i, offsets, false, 1);
  EXPECT_TRUE(std::get<3>(mean).equal(sizes));
  EXPECT_EQ(
      std::get<2>(embedding_bag(table(), i, tensor({0, 2, 3}), false, 0, false, {}, true)).numel(),
      3);
}

TEST(EmbeddingBag, NaNIsTheMaximumOnlyIfItIsFirst) {
  const Tensor w = tensor({double(NAN), 1., 2., double(NAN), 2., 1.}, kFloat).view({3, 2});
  const auto largest = [&](std::vector<int64_t> indices) {
    return std::get<0>(embedding_bag(w, tensor(indices), zeros({1}, kLong), false, 2)).flatten();
  };
  EXPECT_TRUE(largest({0, 1, 2})[0].isnan().item<bool>());
  EXPECT_EQ(largest({0, 1, 2})[1].item<float>(), 1);
  EXPECT_EQ(largest({2, 1, 0})[0].item<float>(), 2);
}

TEST(EmbeddingBag, GradientsByFrequency) {
  for (const Device device : devices()) {
    const Tensor w = table().to(device).requires_grad_();
    const Tensor i = tensor({0, 3, 3}).to(device), zero = zeros({1}, kLong).to(device);
    std::get<0>(embedding_bag(w, i, zero, true, 1)).sum().backward();
    const Tensor rows = w.grad().cpu().select(1, 0);
    EXPECT_TRUE(rows.allclose(tensor({1 / 3., 0., 0., 1 / 3.}, kFloat))) << device.str();
  }
}

TEST(EmbeddingBag, EmptyInputsAndOtherLayouts) {
  const Tensor none = zeros({0}, kLong);
  EXPECT_EQ(std::get<0>(embedding_bag(table(), none, none)).sizes().vec(), (Integers{0, 3}));
  EXPECT_EQ(std::get<0>(embedding_bag(table(), none, zeros({2}, kLong))).abs().sum().item<float>(),
            0);
  const Tensor i = arange(4, kInt), offsets = tensor({0, 1});
  const Tensor wanted = std::get<0>(embedding_bag(table(), i.to(kLong), offsets));
  EXPECT_TRUE(std::get<0>(embedding_bag(table().t().contiguous().t(), i, offsets)).equal(wanted));
  const auto meta = embedding_bag(table().to(kMeta), i.to(kLong).to(kMeta), offsets.to(kMeta));
  EXPECT_EQ(std::get<0>(meta).sizes().vec(), (Integers{2, 3}));
}

TEST(EmbeddingBag, ComposedOpsAgreeWithTheKernel) {
  const Tensor i = tensor({3, 1, 1, 0, 2, 3}), offsets = tensor({0, 2, 2, 5});
  const Tensor w = large({4, 3}, 7).tensor(kDouble), scale = large({6}, 8).tensor(kDouble);
  for (int mode = 0; mode < 3; ++mode)
    for (int64_t padding : {-1, 1})
      for (bool include_last : {false, true}) {
        const BagArgs args{BagMode(mode), padding, include_last};
        const bool is_scaled = mode == 0;
        const std::optional<int64_t> padding_idx =
            padding < 0 ? std::nullopt : std::optional<int64_t>(padding);
        const Tensor g = large({include_last ? 3 : 4, 3}, 9).tensor(kDouble);
        const auto kernel = [&](const Tensors& t) {
          return std::get<0>(embedding_bag(t[0], i, offsets, false, mode, false,
                                           is_scaled ? t[1] : Tensor(), include_last, padding_idx));
        };
        const auto composed = [&](const Tensors& t) {
          return std::get<0>(
              embedding_bag_composed(args, t[0], i, offsets, is_scaled ? t[1] : Tensor()));
        };
        const Tensors in = is_scaled ? Tensors{w, scale} : Tensors{w};
        const Tensors got = with_gradients(composed, in, g), wanted = with_gradients(kernel, in, g);
        for (size_t k = 0; k < got.size(); ++k)
          EXPECT_TRUE(got[k].allclose(wanted[k])) << mode << padding << include_last << k;
      }
}

/// Values of PyTorch 2.15.
TEST(EmbeddingBag, RenormScalesRowsDown) {
  for (const Device device : devices()) {
    Tensor w = table().to(device);
    const Tensor copy = embedding_renorm(w, tensor({1, 3, 1}).to(device), 5., 2.);
    EXPECT_FALSE(copy.equal(w));
    embedding_renorm_(w, tensor({1, 3, 1}).to(device), 5., 2.);
    EXPECT_TRUE(copy.equal(w));
    const Tensor wanted =
        tensor({0., 1., 2., 2.1213, 2.8284, 3.5355, 6., 7., 8., 2.5895, 2.8772, 3.1649}, kFloat);
    EXPECT_TRUE(w.cpu().flatten().allclose(wanted, 1e-4, 1e-4)) << device.str();
  }
  Tensor half = table().to(kHalf), row = ones({3});
  embedding_renorm_(half, full({1, 1}, 3, kLong), 1., 1.);
  EXPECT_NEAR(half[3].sum().item<double>(), 1, 1e-3);
  EXPECT_ERROR(embedding_renorm_(row, zeros({1}, kLong), 1., 2.),
               "Expected 2-dimensional tensor, but got 1-dimensional tensor for argument #1 'self' "
               "(while checking arguments for embedding_renorm_)");
  EXPECT_ERROR(
      embedding_renorm_(half, zeros({1}), 1., 2.),
      "Expected tensor for argument #2 'indices' to have one of the following scalar types: "
      "Long, Int; but got CPUFloatType instead");
}

}  // namespace
}  // namespace hearth::testing

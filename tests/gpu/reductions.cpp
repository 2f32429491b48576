// Reductions split among blocks, scans of several tiles, sorts, compactions.
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

using Reductions = OnGpu;
using Scans = OnGpu;
using Sorts = OnGpu;
using Compactions = OnGpu;

struct ShapeAndDim {
  std::vector<int64_t> sizes;
  int64_t dim;
};

std::vector<ShapeAndDim> reduced_shapes() {
  return {{{100003}, 0},        {{3, 40009}, 1},    {{40009, 3}, 0},  {{16, 33001, 5}, 1},
          {{70000, 3}, 1},      {{1, 20000, 1}, 1}, {{20000, 1}, 0},  {{2, 3, 4, 9001}, 3},
          {{9001, 2, 3, 4}, 0}, {{257, 8192}, 1},   {{8193, 257}, 0}, {{1, 1, 8200}, 2}};
}

std::string text_of(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

TEST_F(Reductions, MatchTheCpuForManyElementsPerOutput) {
  for (const auto& [sizes, dim] : reduced_shapes())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensor x = numbers(sizes, dtype) * 0.01 + 0.5;
      const Tensor wide = x.to(dtype).to(kDouble);
      const std::string shape = text_of(sizes) + " along " + std::to_string(dim);
      const int64_t d = dim;
      expect_same(
          wide, dtype, [d](const Tensor& t) { return t.sum(d); }, "sum of " + shape);
      expect_same(
          wide, dtype, [d](const Tensor& t) { return t.mean(d); }, "mean of " + shape);
      expect_same(
          wide, dtype, [d](const Tensor& t) { return t.norm(2, d); }, "norm of " + shape);
      expect_same(
          wide, dtype, [d](const Tensor& t) { return logsumexp(t, d); }, "logsumexp of " + shape);
      expect_same(
          wide, dtype, [d](const Tensor& t) { return t.var(d, true); }, "var of " + shape, 10);
    }
}

TEST_F(Reductions, ExtremesAndIndicesMatchTheCpu) {
  for (const auto& [sizes, dim] : reduced_shapes())
    for (const ScalarType dtype : {kFloat, kHalf, kInt, kLong}) {
      const Tensor on_cpu = numbers(sizes, dtype).to(dtype), on_gpu = on_cpu.to(kGpu);
      const std::string shape = text_of(sizes) + " in " + std::string(name_of(dtype));
      expect_equal(on_gpu.amax(dim), on_cpu.amax(dim), "amax of " + shape);
      expect_equal(on_gpu.amin(dim), on_cpu.amin(dim), "amin of " + shape);
      // Among equal elements, any index is valid.
      const auto [values, indices] = on_gpu.max(dim);
      expect_equal(values, on_cpu.amax(dim), "max of " + shape);
      expect_equal(on_gpu.gather(dim, indices.unsqueeze(dim)).squeeze(dim), on_cpu.amax(dim),
                   "max's indices of " + shape);
    }
}

TEST_F(Reductions, ReduceAllElements) {
  const int64_t count = by_gpu(/*real=*/int64_t{1} << 26, /*simulated=*/1 << 20) + 7;
  EXPECT_EQ(ones({count}, kGpu).sum().item<float>(), static_cast<float>(count));
  EXPECT_EQ(ones({count}, TensorOptions(kGpu).dtype(kLong)).sum().item<int64_t>(), count);
  const Tensor mask = zeros({count}, TensorOptions(kGpu).dtype(kBool));
  EXPECT_FALSE(mask.any().item<bool>());
  mask[count - 1].fill_(true);
  EXPECT_TRUE(mask.any().item<bool>());
  EXPECT_EQ(mask.to(kInt).argmax().item<int64_t>(), count - 1);
}

TEST_F(Reductions, SupportPermutedAndExpandedTensors) {
  const Tensor wide = numbers({37, 129, 65, 3}, kFloat);
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    const Tensor x = wide.to(dtype).to(kDouble);
    for (int64_t d = 0; d < 4; ++d)
      expect_same(
          x, dtype,
          [d](const Tensor& t) {
            return t.permute({2, 0, 3, 1}).sum(d);
          },
          "sum of a permuted tensor along " + std::to_string(d));
    expect_same(
        x, dtype,
        [](const Tensor& t) {
          return t.sum({0, 2});
        },
        "sum along 0 and 2");
    expect_same(
        x, dtype,
        [](const Tensor& t) {
          return t.sum({1, 3});
        },
        "sum along 1 and 3");
    expect_same(
        x, dtype,
        [](const Tensor& t) {
          return t.slice(3, 0, 1).expand({37, 129, 65, 400}).sum(3);
        },
        "sum of an expanded tensor");
  }
}

TEST_F(Scans, MatchTheCpuForSeveralTiles) {
  const std::vector<ShapeAndDim> shapes{{{1025}, 0},      {{2048}, 0},      {{2049}, 0},
                                        {{100003}, 0},    {{5, 5000}, 1},   {{5000, 5}, 0},
                                        {{300, 1030}, 1}, {{4, 3000, 7}, 1}};
  for (const auto& [sizes, dim] : shapes) {
    const int64_t d = dim;
    const std::string shape = text_of(sizes);
    const Tensor x = numbers(sizes, kFloat);
    for (const ScalarType dtype : {kFloat, kDouble})
      expect_same(
          x, dtype, [d](const Tensor& t) { return t.cumsum(d); }, "cumsum of " + shape, 5);
    expect_same(
        x, kLong, [d](const Tensor& t) { return t.cumsum(d); }, "cumsum of " + shape);
    expect_same(
        x * 1e-3 + 1, kFloat, [d](const Tensor& t) { return t.cumprod(d); }, "cumprod of " + shape,
        200);
    expect_same(
        x, kFloat, [d](const Tensor& t) { return logcumsumexp(t, d); }, "logcumsumexp of " + shape,
        5);
    const Tensor on_cpu = x.to(kFloat);
    const auto [values, indices] = on_cpu.to(kGpu).cummax(d);
    const auto [wanted, wanted_indices] = on_cpu.cummax(d);
    expect_equal(values, wanted, "cummax of " + shape);
    expect_equal(indices, wanted_indices, "cummax's indices of " + shape);
  }
}

TEST_F(Sorts, MatchTheCpuForManyAndForLongRows) {
  const std::vector<ShapeAndDim> shapes{{{37, 5000}, 1},
                                        {{5000, 37}, 0},
                                        {{by_gpu(/*real=*/1 << 20, /*simulated=*/1 << 15) + 3}, 0},
                                        {{70000, 4}, 1},
                                        {{3, 20000, 2}, 1}};
  for (const auto& [sizes, dim] : shapes)
    for (const ScalarType dtype : {kFloat, kHalf, kInt, kByte}) {
      const Tensor on_cpu = numbers(sizes, kFloat).mul(50).to(dtype), on_gpu = on_cpu.to(kGpu);
      const std::string shape = text_of(sizes) + " in " + std::string(name_of(dtype));
      for (const bool descending : {false, true}) {
        const auto [values, indices] = on_gpu.sort(true, dim, descending);
        const auto [wanted, wanted_indices] = on_cpu.sort(true, dim, descending);
        expect_equal(values, wanted, "sort of " + shape);
        expect_equal(indices, wanted_indices, "stable sort's indices of " + shape);
      }
      const int64_t k = std::min<int64_t>(100, on_cpu.size(dim));
      expect_equal(std::get<0>(on_gpu.topk(k, dim)), std::get<0>(on_cpu.topk(k, dim)),
                   "topk of " + shape);
      expect_equal(std::get<0>(on_gpu.kthvalue(k, dim)), std::get<0>(on_cpu.kthvalue(k, dim)),
                   "kthvalue of " + shape);
      expect_equal(std::get<0>(on_gpu.median(dim)), std::get<0>(on_cpu.median(dim)),
                   "median of " + shape);
    }
}

TEST_F(Compactions, MatchTheCpuForSeveralTiles) {
  for (const double threshold : {-2.5, 0.0, 2.5}) {
    const Tensor on_cpu = randn({1001, 3001}) > threshold, on_gpu = on_cpu.to(kGpu);
    expect_equal(on_gpu.nonzero(), on_cpu.nonzero(), "nonzero");
    const Tensor x = randn({1001, 3001});
    expect_equal(x.to(kGpu).masked_select(on_gpu), x.masked_select(on_cpu), "masked_select");
  }
  EXPECT_EQ(zeros({1 << 20}, kGpu).nonzero().numel(), 0);
  const int64_t count = by_gpu(/*real=*/int64_t{1} << 25, /*simulated=*/1 << 18) + 1;
  EXPECT_EQ(ones({count}, kGpu).nonzero().sum().item<int64_t>(), count * (count - 1) / 2);
}

}  // namespace
}  // namespace hearth::testing

// Accumulation into repeated indices and large tables, misaligned views, copies.
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

using Accumulation = OnGpu;
using Misaligned = OnGpu;
using Copies = OnGpu;

/// Sums in 16 bits would stop growing at 256 (bfloat16) or 2,048 (half).
TEST_F(Accumulation, SumsManyOnesInHalfTypes) {
  if (!is_real_gpu(kGpu)) GTEST_SKIP() << "the GPU is simulated";
  const int64_t count = 30000;
  const Tensor index = arange(count, kLong).remainder(3).to(kGpu);
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const TensorOptions options = TensorOptions(kGpu).dtype(dtype);
    const Tensor wanted = full({3}, 10000, options).cpu(), one = ones({count}, options);
    const Tensor put = zeros({3}, options);
    put.index_put_({index}, one, true);
    expect_equal(put, wanted, "index_put_");
    expect_equal(zeros({3}, options).index_add(0, index, one), wanted, "index_add");
    expect_equal(zeros({3}, options).scatter_add(0, index, one), wanted, "scatter_add");
    const Tensor table = zeros({3, 2}, options).requires_grad_();
    embedding(table, index).sum().backward();
    expect_equal(table.grad().select(1, 1), wanted, "embedding's gradient");
  }
}

TEST_F(Accumulation, MatchesTheCpuForLargeTables) {
  const int64_t rows = by_gpu(/*real=*/100000, /*simulated=*/5000),
                count = by_gpu(/*real=*/40000, /*simulated=*/3000);
  const Tensor index = randint(rows, {count}, kLong);
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kLong}) {
    const Tensor source = numbers({count, 65}, dtype);
    const auto add = [&](const Tensor& t) {
      return zeros({rows, 65}, t.options()).index_add(0, index.to(t.device()), t);
    };
    expect_same(source, dtype, add, "index_add");
    const auto put = [&](const Tensor& t) {
      const Tensor target = zeros({rows, 65}, t.options());
      return target.index_put_({index.to(t.device())}, t, true).clone();
    };
    expect_same(source, dtype, put, "index_put_");
    const auto scatter = [&](const Tensor& t) {
      const Tensor indices = index.to(t.device()).unsqueeze(1).expand({count, 65});
      return zeros({rows, 65}, t.options()).scatter_add(0, indices, t);
    };
    expect_same(source, dtype, scatter, "scatter_add");
  }
}

/// All indices equal, and random indices into a strided view.
TEST_F(Accumulation, MatchesTheCpuForOneElementAndForAView) {
  const int64_t count = 70001;
  const Tensor source = numbers({count}, kFloat), zero_index = zeros({count}, kLong);
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    expect_same(
        source.to(dtype).to(kDouble), dtype,
        [&](const Tensor& t) {
          return zeros({5}, t.options()).index_add(0, zero_index.to(t.device()), t);
        },
        "index_add to one element", 10);
    const Tensor index = randint(200, {count}, kLong);
    expect_same(
        source.to(dtype).to(kDouble), dtype,
        [&](const Tensor& t) {
          const Tensor table = zeros({200, 3}, t.options());
          table.select(1, 1).index_put_({index.to(t.device())}, t, true);
          return table;
        },
        "index_put_ into a view", 4);
  }
}

TEST_F(Accumulation, ReportsIndicesOutOfRange) {
  const Tensor source = ones({5000}, TensorOptions(kGpu).dtype(kBFloat16));
  const Tensor index = zeros({5000}, TensorOptions(kGpu).dtype(kLong));
  index[4321].fill_(7);
  const Tensor target = zeros({7}, source.options());
  EXPECT_THROW(
      {
        target.index_add_(0, index, source);
        cuda::synchronize();
      },
      Error);
  EXPECT_NO_THROW(cuda::synchronize());
}

/// A misaligned copy: it starts one element after the beginning of an allocation.
Tensor shifted(const Tensor& t) {
  const Tensor buffer = empty({t.numel() + 1}, t.options());
  const Tensor view = buffer.slice(0, 1).view(t.sizes());
  view.copy_(t);
  return view;
}

TEST_F(Misaligned, OpsMatchTheCpu) {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16, kDouble}) {
    const Tensor x = numbers({257, 1003}, dtype);
    const auto expect = [&](const char* description,
                            const std::function<Tensor(const Tensor&)>& call, double slack = 1) {
      expect_same(
          x, dtype, [&](const Tensor& t) { return call(shifted(t)); }, description, slack);
    };
    expect("add", [](const Tensor& t) { return t + t; });
    expect("gelu", [](const Tensor& t) { return gelu(t); });
    expect("into a shifted tensor", [](const Tensor& t) {
      const Tensor out = shifted(zeros_like(t));
      out.add_(t, 2);
      return out;
    });
    expect("sum", [](const Tensor& t) { return t.sum(1); });
    expect("softmax", [](const Tensor& t) { return softmax(t, 1); });
    expect(
        "layer_norm", [](const Tensor& t) { return layer_norm(t, {1003}); }, 3);
    expect("cat", [](const Tensor& t) { return cat({t, t.slice(1, 1)}, 1); });
    expect("transposed", [](const Tensor& t) { return t.t().contiguous(); });
    expect("every second column", [](const Tensor& t) { return t.slice(1, 1, 1003, 2) * 3; });
  }
}

/// cublasLt may reject a misaligned bias.
TEST_F(Misaligned, ProductsMatchTheCpu) {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16})
    for (const int64_t columns : {int64_t{1}, int64_t{63}, int64_t{64}, int64_t{129}}) {
      const Tensor x = numbers({65, 127}, dtype), w = numbers({columns, 127}, dtype),
                   b = numbers({columns}, dtype);
      const auto on_gpu = [&](const Tensor& t) { return shifted(t.to(dtype).to(kGpu)); };
      const std::string description = std::to_string(columns) + " columns in " + name_of(dtype);
      const double allowed = 2 * tolerance(dtype);
      EXPECT_LE(difference(linear(on_gpu(x), on_gpu(w), on_gpu(b)), linear(x, w, b)), allowed)
          << description;
      EXPECT_LE(difference(addmm(on_gpu(b), on_gpu(x), on_gpu(w).t()), addmm(b, x, w.t())), allowed)
          << description;
      EXPECT_LE(difference(matmul(on_gpu(x), on_gpu(w).t()), matmul(x, w.t())), allowed)
          << description;
      const Tensor wide = empty({65, 2 * columns + 1}, TensorOptions(kGpu).dtype(dtype));
      Tensor out = wide.slice(1, 1, columns + 1);
      addmm_out(out, on_gpu(b), on_gpu(x), on_gpu(w).t());
      EXPECT_LE(difference(out, addmm(b, x, w.t())), allowed) << description << ", into a slice";
    }
}

TEST_F(Copies, RoundTripPinnedAndStridedTensors) {
  const int64_t count = by_gpu(/*real=*/1 << 24, /*simulated=*/1 << 16);
  const Tensor pinned = arange(count, kFloat).pin_memory();
  const Tensor on_gpu = pinned.to(kGpu, kFloat, true);
  const Tensor back = empty({count}, TensorOptions(kFloat).pinned_memory(true));
  back.copy_(on_gpu, true);
  cuda::synchronize();
  EXPECT_TRUE(back.equal(pinned));
  const Tensor square = randn({1001, 777});
  expect_equal(square.to(kGpu).t(), square.t(), "a transposed tensor");
  expect_equal(square.t().to(kGpu).slice(0, 3, 700, 5), square.t().slice(0, 3, 700, 5), "a slice");
}

TEST_F(Copies, ConcatenateManyTensors) {
  Tensors on_cpu, on_gpu;
  for (int64_t i = 0; i < 300; ++i) {
    on_cpu.push_back(randn({5, 1 + i % 37}));
    on_gpu.push_back(on_cpu.back().to(kGpu));
  }
  expect_equal(cat(on_gpu, 1), cat(on_cpu, 1), "cat");
  const Tensors stacked(on_gpu.begin(), on_gpu.begin() + 1);
  expect_equal(stack(stacked), on_cpu[0].unsqueeze(0), "stack");
}

}  // namespace
}  // namespace hearth::testing

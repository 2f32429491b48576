// Tensors beyond 2^31 elements, a full device, streams, random numbers.
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

using Huge = OnGpu;
using FullDevice = OnGpu;
using Streams = OnGpu;
using RandomNumbers = OnGpu;

/// Indices of more than 2^31 elements do not fit into int32.
TEST_F(Huge, SupportsMoreThanTwoToTheThirtyFirstElements) {
  constexpr int64_t kCount = (int64_t{1} << 31) + 8;
  const auto free_bytes = cuda::mem_get_info(0).first;
  if (!is_real_gpu(kGpu) || free_bytes < (size_t{20} << 30))
    GTEST_SKIP() << "no real GPU, or too little memory";
  const TensorOptions options = TensorOptions(kGpu).dtype(kBFloat16);
  const Tensor x = zeros({kCount}, options);
  x[kCount - 1].fill_(3);
  EXPECT_EQ(x.max().item<float>(), 3);
  EXPECT_EQ(x.sum().item<float>(), 3);
  EXPECT_EQ(x.argmax().item<int64_t>(), kCount - 1);
  {
    const Tensor y = x + 1;
    EXPECT_EQ(y[kCount - 1].item<float>(), 4);
    EXPECT_EQ(y[0].item<float>(), 1);
    EXPECT_EQ(y[int64_t{1} << 31].item<float>(), 1);
    EXPECT_EQ(y.min().item<float>(), 1);
  }
  const Tensor rows = x.view({-1, 8});
  EXPECT_EQ(rows.sum(1)[rows.size(0) - 1].item<float>(), 3);
  EXPECT_EQ(rows.sum(0)[7].item<float>(), 3);
  EXPECT_EQ(rows.t().contiguous()[7][rows.size(0) - 1].item<float>(), 3);
  const Tensor index = full({3}, kCount - 1, TensorOptions(kGpu).dtype(kLong));
  EXPECT_EQ(x.index_select(0, index).sum().item<float>(), 9);
  x.uniform_();
  EXPECT_LT(x.max().item<float>(), 1.001F);
  EXPECT_NEAR(x.to(kFloat).mean().item<double>(), 0.5, 1e-3);
}

/// Allocates the device's memory until not even 1 MiB more can be allocated.
Tensors fill_device() {
  Tensors tensors;
  for (size_t bytes = size_t{64} << 30; bytes >= (size_t{1} << 20);) {
    try {
      tensors.push_back(empty({int64_t(bytes)}, TensorOptions(kGpu).dtype(kByte)));
    } catch (const OutOfMemoryError&) {
      bytes /= 2;
    }
  }
  return tensors;
}

/// Results or kernels' scratch memory cannot be allocated. Ops must work after an OutOfMemoryError.
TEST_F(FullDevice, OpsThrowAndWorkAgain) {
  const int64_t n = by_gpu(/*real=*/2000, /*simulated=*/300);
  const Tensor square = randn({n, n}), on_gpu = square.to(kGpu);
  const Tensor source = ones({5000}, TensorOptions(kGpu).dtype(kBFloat16));
  const Tensor index = zeros({5000}, TensorOptions(kGpu).dtype(kLong));
  const std::vector<std::pair<const char*, std::function<Tensor()>>> calls{
      {"matmul", [&] { return matmul(on_gpu, on_gpu); }},
      {"sort", [&] { return std::get<0>(on_gpu.sort(1)); }},
      {"softmax", [&] { return softmax(on_gpu, 1); }},
      {"sum", [&] { return on_gpu.sum(); }},
      {"cumsum", [&] { return on_gpu.cumsum(1); }},
      {"nonzero", [&] { return (on_gpu > 0).nonzero(); }},
      {"layer_norm", [&] { return layer_norm(on_gpu, {n}); }},
      {"randperm", [&] { return randperm(100000, TensorOptions(kGpu).dtype(kLong)).sum(); }},
      {"index_put_",
       [&] { return zeros({3}, source.options()).index_put_({index}, source, true); }},
  };
  std::vector<Tensor> wanted;
  for (const auto& [name, call] : calls) wanted.push_back(call().cpu());
  int failures = 0;
  {
    cuda::empty_cache();
    const Tensors allocated = fill_device();
    for (const auto& [name, call] : calls) {
      try {
        call();
        cuda::synchronize();
      } catch (const OutOfMemoryError&) {
        ++failures;
      } catch (const std::exception& error) {
        ADD_FAILURE() << name << ": " << error.what();
      }
    }
  }
  EXPECT_GT(failures, 0);
  cuda::empty_cache();
  for (size_t i = 0; i < calls.size(); ++i)
    expect_equal(calls[i].second(), wanted[i], calls[i].first);
}

TEST_F(Streams, RecordedMemoryIsNotReusedTooEarly) {
  const int64_t count = by_gpu(/*real=*/1 << 22, /*simulated=*/1 << 14);
  const cuda::Stream side;
  for (int round = 0; round < 50; ++round) {
    Tensor x = full({count}, double(round), kGpu);
    side.wait_stream(cuda::current_stream());
    Tensor sum;
    {
      const cuda::StreamGuard guard(side);
      for (int i = 0; i < 5; ++i) sum = x + i;
    }
    x.record_stream(side);
    x.reset();
    full({count}, -1.0, kGpu);  // would reuse x's memory
    cuda::current_stream().wait_stream(side);
    ASSERT_EQ(sum.min().item<float>(), round + 4);
  }
}

TEST_F(Streams, DoNotDisturbEachOther) {
  const int64_t count = by_gpu(/*real=*/1 << 20, /*simulated=*/1 << 12);
  Tensors results;
  std::vector<cuda::Stream> streams;
  for (int i = 0; i < 8; ++i) {
    streams.emplace_back();
    const cuda::StreamGuard guard(streams.back());
    Tensor x = full({count}, double(i), kGpu);
    for (int step = 0; step < 20; ++step) x = softmax(x, 0) * count + i;
    results.push_back(x);
  }
  for (int i = 0; i < 8; ++i) {
    streams[size_t(i)].synchronize();
    EXPECT_NEAR(results[size_t(i)].mean().item<double>(), 1 + i, 1e-3);
  }
}

TEST_F(RandomNumbers, FollowTheirDistributionsAndTheSeed) {
  const int64_t count = by_gpu(/*real=*/1 << 24, /*simulated=*/1 << 16) + 3;
  const double tolerance = 5 / std::sqrt(static_cast<double>(count));
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    const TensorOptions options = TensorOptions(kGpu).dtype(dtype);
    const Tensor normal = randn({count}, options).to(kDouble),
                 uniform = rand({count}, options).to(kDouble);
    EXPECT_NEAR(normal.mean().item<double>(), 0, tolerance);
    EXPECT_NEAR(normal.var(true).item<double>(), 1, 2 * tolerance + 1e-3);
    EXPECT_NEAR(uniform.mean().item<double>(), 0.5, tolerance + 2e-3);
    EXPECT_GE(uniform.min().item<double>(), 0);
    EXPECT_LE(uniform.max().item<double>(), dtype == kBFloat16 ? 1 : 0.9999999999);
  }
  const Tensor kept = dropout(ones({count}, kGpu), 0.25, true);
  EXPECT_NEAR(kept.count_nonzero().item<double>() / static_cast<double>(count), 0.75, tolerance);
  EXPECT_NEAR(kept.max().item<double>(), 1 / 0.75, 1e-6);
  const Tensor permutation = randperm(count, TensorOptions(kGpu).dtype(kLong));
  expect_equal(std::get<0>(permutation.sort()), arange(count, kLong), "randperm");
  manual_seed(5);
  const Tensor first = randn({count}, kGpu);
  manual_seed(5);
  EXPECT_TRUE(randn({count}, kGpu).equal(first));
}

}  // namespace
}  // namespace hearth::testing

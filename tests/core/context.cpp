// The global context: use of cuDNN, deterministic algorithms and their effects.
#include "hearth/context.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>

#include "core/backends.h"
#include "core/numerics.h"
#include "hearth/cuda.h"
#include "hearth/indexing.h"
#include "hearth/operators.h"
#include "hearth/threads.h"
#include "seam/table.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

class DeterministicAlgorithms : public ::testing::Test {
 protected:
  void SetUp() override { set_deterministic_algorithms(true); }
  void TearDown() override {
    set_deterministic_algorithms(false);
    globalContext().setDeterministicFillUninitializedMemory(true);
  }
};

TEST(CuDNN, SettingChangesTheNumerics) {
  EXPECT_TRUE(globalContext().userEnabledCuDNN());
  EXPECT_TRUE(current_numerics() & kUseCuDNN);
  globalContext().setUserEnabledCuDNN(false);
  EXPECT_FALSE(globalContext().userEnabledCuDNN());
  EXPECT_FALSE(current_numerics() & kUseCuDNN);
  globalContext().setUserEnabledCuDNN(true);
}

/// Restores the precision of matrix products.
class MatmulPrecision : public ::testing::Test {
 protected:
  void TearDown() override { set_float32_matmul_precision("highest"); }
  Context& context = globalContext();
};

// The values after each call are LibTorch's.
TEST_F(MatmulPrecision, IsCoupledToTF32) {
  EXPECT_EQ(context.float32MatmulPrecision(), Float32MatmulPrecision::HIGHEST);
  EXPECT_FALSE(context.allowTF32CuBLAS());
  context.setFloat32MatmulPrecision("high");
  EXPECT_EQ(context.float32MatmulPrecision(), Float32MatmulPrecision::HIGH);
  EXPECT_TRUE(context.allowTF32CuBLAS());
  set_float32_matmul_precision("medium");
  EXPECT_EQ(get_float32_matmul_precision(), "medium");
  EXPECT_TRUE(context.allowTF32CuBLAS());
  context.setAllowTF32CuBLAS(false);
  EXPECT_EQ(get_float32_matmul_precision(), "highest");
  context.setAllowTF32CuBLAS(true);
  EXPECT_EQ(get_float32_matmul_precision(), "high");
  EXPECT_TRUE(current_numerics() & kAllowTF32CuBLAS);
}

// LibTorch's text, which lacks a blank.
TEST_F(MatmulPrecision, WarnsOfOtherTexts) {
  const Warnings warnings;
  context.setFloat32MatmulPrecision("medium");
  for (const char* text : {"HIGH", "bad", ""}) {
    context.setFloat32MatmulPrecision(text);
    EXPECT_TRUE(Warnings::contains(text + std::string(" is not one of 'highest', 'high', or "
                                                      "'medium'; the currentsetFloat32MatmulPrec"
                                                      "ision call has no effect.")));
  }
  EXPECT_EQ(get_float32_matmul_precision(), "medium");
}

TEST_F(MatmulPrecision, GuardsDisableTF32OnTheirThread) {
  set_float32_matmul_precision("high");
  {
    const NoTF32Guard guard;
    { const NoTF32Guard inner; }
    EXPECT_TRUE(NoTF32Guard::should_disable_tf32());
    EXPECT_FALSE(current_numerics() & kAllowTF32CuBLAS);
    EXPECT_TRUE(context.allowTF32CuBLAS());
    std::thread([] { EXPECT_TRUE(current_numerics() & kAllowTF32CuBLAS); }).join();
  }
  EXPECT_FALSE(NoTF32Guard::should_disable_tf32());
  EXPECT_TRUE(current_numerics() & kAllowTF32CuBLAS);
}

KernelFn usual_matmul;
std::atomic<uint32_t> seen_numerics;

TEST_F(MatmulPrecision, ReachesTheKernel) {
  if (!cuda::is_available() || is_real_gpu(last_gpu())) GTEST_SKIP() << "needs a simulated GPU";
  KernelFn& kernel =
      const_cast<KernelTable&>(cpu_backend().kernels()).kernels[int(KernelId::Matmul)];
  usual_matmul = kernel;
  kernel = [](const void* params, Ctx& ctx) {
    seen_numerics = ctx.numerics();
    usual_matmul(params, ctx);
  };
  const Tensor a = ones({4, 4}, kCUDA);
  const auto allows = [&] {
    a.matmul(a).cpu();
    return (seen_numerics & kAllowTF32CuBLAS) != 0;
  };
  EXPECT_FALSE(allows());
  context.setAllowTF32CuBLAS(true);
  EXPECT_TRUE(allows());
  {
    const NoTF32Guard guard;
    EXPECT_FALSE(allows());
  }
  kernel = usual_matmul;
}

TEST(Determinism, IsOffByDefault) {
  EXPECT_FALSE(are_deterministic_algorithms_enabled());
  EXPECT_FALSE(is_deterministic_algorithms_warn_only_enabled());
  EXPECT_TRUE(globalContext().deterministicFillUninitializedMemory());
  Context::alertNotDeterministic("some_op");
}

TEST_F(DeterministicAlgorithms, SettingsAreReadBack) {
  Context& context = globalContext();
  EXPECT_TRUE(context.deterministicAlgorithms());
  EXPECT_FALSE(context.deterministicAlgorithmsWarnOnly());
  EXPECT_FALSE(context.deterministicCuDNN());
  EXPECT_TRUE(current_numerics() & kDeterministicCuDNN);
  context.setDeterministicAlgorithms(true, true);
  EXPECT_TRUE(is_deterministic_algorithms_warn_only_enabled());
  set_deterministic_algorithms(false, true);
  EXPECT_FALSE(are_deterministic_algorithms_enabled());
  EXPECT_TRUE(context.deterministicAlgorithmsWarnOnly());
  EXPECT_FALSE(current_numerics() & kDeterministicCuDNN);
}

TEST_F(DeterministicAlgorithms, UnsupportedOpsThrowOrWarn) {
  EXPECT_ERROR(Context::alertNotDeterministic("some_op"),
               "some_op does not have a deterministic implementation, but you set "
               "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for "
               "this operation");
  set_deterministic_algorithms(true, true);
  const Warnings warnings;
  Context::alertNotDeterministic("some_op");
  EXPECT_TRUE(
      Warnings::contains("some_op does not have a deterministic implementation, but you set "
                         "'torch.use_deterministic_algorithms(True, warn_only=True)'."));
}

// PyTorch's fill values.
TEST_F(DeterministicAlgorithms, UninitializedMemoryIsFilled) {
  for (const ScalarType type : {kFloat, kDouble, kHalf, kBFloat16})
    for (const Tensor& t : {empty({3}, type), empty_strided({3}, {2}, type),
                            empty_like(ones({3}, type)), ones({1}, type).new_empty({3})})
      EXPECT_TRUE(t.isnan().all().item<bool>()) << int(type);
  EXPECT_TRUE(empty({3}, kBool).all().item<bool>());
  EXPECT_EQ(empty({1}, kByte).item<int64_t>(), 255);
  EXPECT_EQ(empty({1}, kChar).item<int64_t>(), 127);
  EXPECT_EQ(empty({1}, kInt).item<int64_t>(), INT32_MAX);
  EXPECT_EQ(empty({1}, kLong).item<int64_t>(), INT64_MAX);
  EXPECT_EQ(empty({3})._version(), 0);
  const Tensor grown = ones({2}).resize_({5});
  EXPECT_TRUE(grown.slice(0, 0, 2).eq(1).all().item<bool>());
  EXPECT_TRUE(grown.slice(0, 2).isnan().all().item<bool>());
  EXPECT_TRUE(zeros({3}).eq(0).all().item<bool>());
}

TEST_F(DeterministicAlgorithms, CpuResultsDoNotDependOnThreadCount) {
  // The order in which floats are added changes the bits of their sum.
  const Tensor values = randn({200000}), indices = randint(0, 50, {200000});
  const auto sums = [&] {
    const Tensor zero = zeros({50});
    Tensor accumulated = zeros({50});
    accumulated.index_put_({indices}, values, true);
    return std::vector<Tensor>{zero.scatter_add(0, indices, values),
                               zero.index_add(0, indices, values),
                               accumulated,
                               embedding(ones({50, 4}).requires_grad_(), indices).detach().sum(0),
                               zero.scatter(0, indices, values, "add"),
                               values.cumsum(0),
                               values.sum(),
                               indices.bincount(values)};
  };
  const int threads = get_num_threads();
  set_num_threads(1);
  const std::vector<Tensor> on_one_thread = sums();
  for (const int count : {2, 3, 7}) {
    set_num_threads(count);
    const std::vector<Tensor> on_several = sums();
    for (size_t i = 0; i < on_one_thread.size(); ++i)
      EXPECT_TRUE(on_one_thread[i].equal(on_several[i]))
          << "sum " << i << " with " << count << " threads";
  }
  set_num_threads(threads);
}

}  // namespace
}  // namespace hearth::testing

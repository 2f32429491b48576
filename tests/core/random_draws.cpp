// Random tensors on the CPU: element after element uses the engine's next numbers, whatever the
// number of threads that draw.
#include <gtest/gtest.h>

#include <random>

#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/threads.h"

namespace hearth {
namespace {

class RandomDraws : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_num_threads(GetParam()); }
  void TearDown() override { set_num_threads(former_); }

  double unit64() {
    const uint64_t high = engine_();
    return double((high << 32 | engine_()) & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
  }
  float unit32() { return float(engine_() & 0xffffff) * 0x1p-24f; }
  /// Expects the default generator to continue with the engine's next numbers.
  void expect_same_place() {
    const Tensor next = rand({3});
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(next[i].item<float>(), unit32());
  }
  /// Expects `out` to be the result of dropout with p = 0.25 and the engine's next numbers; element
  /// i of `in` is i % 1000 + 1.
  void expect_dropped(const Tensor& in, const Tensor& out) {
    const float* const values = out.data_ptr<float>();
    ASSERT_TRUE(out.is_contiguous());
    for (int64_t i = 0; i < in.numel(); ++i)
      ASSERT_EQ(values[i], unit64() < 0.75 ? float(i % 1000 + 1) * (1 / 0.75f) : 0) << i;
  }

  const int former_ = get_num_threads();
  std::mt19937 engine_{9};
};

TEST_P(RandomDraws, DropoutKeepsElementsWhoseNumberIsBelow1MinusP) {
  manual_seed(9);
  for (const int64_t count : {1, 7, 1023, 16384, 100003, 200000}) {
    const Tensor in = arange(count).remainder(1000).add(1).to(kFloat);
    expect_dropped(in, dropout(in, 0.25, true));
    const Tensor every_second = stack({in, in}, 1).select(1, 0);
    expect_dropped(in, dropout(every_second, 0.25, true).contiguous());
  }
  expect_same_place();
}

TEST_P(RandomDraws, UniformNumbersAreInOrder) {
  manual_seed(9);
  for (const int64_t count : {5, 50021, 100000}) {
    const Tensor values = rand({count});
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(values.data_ptr<float>()[i], unit32()) << i;
    const Tensor wide = rand({count}, kDouble);
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(wide.data_ptr<double>()[i], unit64()) << i;
  }
  expect_same_place();
}

INSTANTIATE_TEST_SUITE_P(Threads, RandomDraws, ::testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace hearth

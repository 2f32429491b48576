#include "seam/nonzero.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/support.h"

namespace hearth {
namespace {

using testing::Buffer;
using testing::KernelContext;

int64_t num_nonzero(const View& in) {
  Buffer<int64_t> count(1, -1);
  KernelContext context;
  cpu::run(NonzeroCountParams{in, count.view({})}, context.ctx);
  EXPECT_TRUE(count.guards_intact());
  return count[0];
}

std::vector<int64_t> found_rows(const View& in, int64_t rows) {
  Buffer<int64_t> out(size_t(rows * in.dim), -1);
  KernelContext context;
  cpu::run(NonzeroFillParams{in, out.view({rows, in.dim})}, context.ctx);
  EXPECT_TRUE(out.guards_intact());
  return out.values();
}

template <class T>
std::vector<int64_t> expected_rows(const View& in) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < in.numel; ++i) {
    if (testing::at<T>(in, i) == T(0)) continue;
    const auto position = testing::coordinates(in, i);
    result.insert(result.end(), position.begin(), position.end());
  }
  return result;
}

template <class T>
void check(const View& in) {
  const std::vector<int64_t> expected = expected_rows<T>(in);
  const int64_t count = static_cast<int64_t>(expected.size()) / in.dim;
  EXPECT_EQ(num_nonzero(in), count);
  EXPECT_EQ(found_rows(in, count), expected);
}

template <class T>
class NonzeroTest : public ::testing::Test {};
using NonzeroTypes = ::testing::Types<uint8_t, int8_t, int16_t, int32_t, int64_t, Half, BFloat16,
                                      float, double, complex<float>, complex<double>, bool>;
TYPED_TEST_SUITE(NonzeroTest, NonzeroTypes);

TYPED_TEST(NonzeroTest, FindsCoordinatesInRowMajorOrder) {
  Buffer<TypeParam> in(120);
  for (size_t i = 0; i < in.size(); i += 7) in[i] = TypeParam(1.0f);
  check<TypeParam>(in.view({120}));
  check<TypeParam>(in.view({4, 5, 6}));
  check<TypeParam>(testing::transposed(in.view({4, 5, 6}), 0, 2));
  check<TypeParam>(in.view({3, 20, 2}, {0, 3, 1}));
}

TEST(Nonzero, FindsCoordinatesInLargeTensors) {
  Buffer<float> in(200 * 1000);
  for (size_t i = 0; i < in.size(); i = i * 3 / 2 + 1) in[i] = 1;
  for (size_t i = 65000; i < 67000; ++i) in[i] = 1;
  check<float>(in.view({200, 1000}));
  check<float>(testing::transposed(in.view({200, 1000}), 0, 1));
}

TEST(Nonzero, CountsNanAndImaginaryPartsButNotNegativeZero) {
  Buffer<float> f({std::nanf(""), -0.0f, 0.0f, std::numeric_limits<float>::denorm_min()});
  EXPECT_EQ(found_rows(f.view({4}), num_nonzero(f.view({4}))), (std::vector<int64_t>{0, 3}));
  Buffer<Half> h({Half::from_bits(0x8000), Half::from_bits(0x7e00), Half::from_bits(1)});
  EXPECT_EQ(found_rows(h.view({3}), num_nonzero(h.view({3}))), (std::vector<int64_t>{1, 2}));
  Buffer<complex<float>> c({{0, 1}, {0, -0.0f}});
  EXPECT_EQ(num_nonzero(c.view({2})), 1);
}

TEST(Nonzero, AcceptsScalarsAndEmptyTensors) {
  Buffer<float> in({3});
  EXPECT_EQ(num_nonzero(in.view({})), 1);
  EXPECT_TRUE(found_rows(in.view({}), 1).empty());
  EXPECT_EQ(num_nonzero(in.view({0, 4})), 0);
  EXPECT_TRUE(found_rows(in.view({0, 4}), 0).empty());
}

TEST(Nonzero, WritesNoMoreRowsThanTheOutputHas) {
  Buffer<float> in(10, 1);
  EXPECT_EQ(found_rows(in.view({10}), 3), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Nonzero, SupportsAnyOutputStrides) {
  Buffer<float> in({0, 1, 1, 0});
  Buffer<int64_t> out(4, -1);
  KernelContext context;
  cpu::run(NonzeroFillParams{in.view({2, 2}), out.view({2, 2}, {1, 2})}, context.ctx);
  EXPECT_EQ(out.values(), (std::vector<int64_t>{0, 1, 1, 0}));
}

}  // namespace
}  // namespace hearth

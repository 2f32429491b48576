#include "seam/cat.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/kernels/support.h"

namespace hearth {
namespace {

using testing::at;
using testing::Buffer;
using testing::KernelContext;
using testing::small_numbers;

/// Compares `out` with the inputs element by element.
template <class T>
void expect_concatenated(const CatParams& params) {
  for (int64_t i = 0; i < params.out.numel; ++i) {
    std::vector<int64_t> position = testing::coordinates(params.out, i);
    int64_t& coordinate = position[size_t(params.dim)];
    size_t input = 0;
    while (coordinate >= params.in[input].sizes[params.dim])
      coordinate -= params.in[input++].sizes[params.dim];
    ASSERT_EQ(at<T>(params.out, i), at<T>(params.in[input], std::span(position))) << i;
  }
}

template <class T>
void check(const std::vector<std::vector<int64_t>>& sizes, const std::vector<int64_t>& out_sizes,
           int dim) {
  std::vector<std::unique_ptr<Buffer<T>>> buffers;
  Buffer<T> out(size_t(testing::product(out_sizes)));
  CatParams params{{}, out.view(out_sizes), dim};
  for (const auto& s : sizes) {
    const auto seed = static_cast<uint32_t>(buffers.size() + 1);
    buffers.push_back(
        std::make_unique<Buffer<T>>(small_numbers<T>(size_t(testing::product(s)), seed)));
    params.in.push_back(buffers.back()->view(s));
  }
  KernelContext context;
  cpu::run(params, context.ctx);
  expect_concatenated<T>(params);
  EXPECT_TRUE(out.guards_intact());
}

template <class T>
class CatTest : public ::testing::Test {};
using CatTypes = ::testing::Types<uint8_t, Half, float, int64_t, complex<double>, bool>;
TYPED_TEST_SUITE(CatTest, CatTypes);

TYPED_TEST(CatTest, JoinsAlongEveryDimension) {
  check<TypeParam>({{2, 3, 4}, {1, 3, 4}, {5, 3, 4}}, {8, 3, 4}, 0);
  check<TypeParam>({{2, 3, 4}, {2, 1, 4}, {2, 5, 4}}, {2, 9, 4}, 1);
  check<TypeParam>({{2, 3, 4}, {2, 3, 1}, {2, 3, 5}}, {2, 3, 10}, 2);
}

TYPED_TEST(CatTest, AcceptsEmptyInputs) {
  check<TypeParam>({{0, 3}, {2, 3}, {0, 3}}, {2, 3}, 0);
  check<TypeParam>({{0, 3}, {0, 3}}, {0, 3}, 0);
  check<TypeParam>({}, {0}, 0);
}

TEST(Cat, JoinsLargeInputs) {
  check<float>({{300, 200}, {300, 100}}, {300, 300}, 1);
  check<float>({{300, 200}, {100, 200}}, {400, 200}, 0);
}

TEST(Cat, JoinsManySmallInputs) {
  check<float>(std::vector<std::vector<int64_t>>(700, {90, 2}), {90, 1400}, 1);
  check<float>(std::vector<std::vector<int64_t>>(700, {2, 90}), {1400, 90}, 0);
}

TEST(Cat, SupportsAnyStrides) {
  Buffer<int32_t> a(small_numbers<int32_t>(60, 1)), b({7, 8, 9}), out(200, -1);
  const View transposed_a = testing::transposed(a.view({3, 4}, {4, 1}), 0, 1);
  const View broadcast_b = b.view({4, 3}, {0, 1});
  const CatParams params{{transposed_a, broadcast_b}, out.view({4, 6}, {2, 20}), 1};
  KernelContext context;
  cpu::run(params, context.ctx);
  expect_concatenated<int32_t>(params);
  for (size_t i = 1; i < out.size(); i += 2) EXPECT_EQ(out[i], -1);
}

}  // namespace
}  // namespace hearth

#include "seam/gather.h"

#include <gtest/gtest.h>

#include "core/threads.h"
#include "seam/scatter.h"
#include "tests/kernels/support.h"

namespace hearth {
namespace {

using testing::at;
using testing::Buffer;
using testing::KernelContext;
using testing::small_numbers;
using testing::Total;

std::vector<int64_t> with_coordinate(std::vector<int64_t> position, int dim, int64_t value) {
  position[size_t(dim)] = value;
  return position;
}

/// Pseudo-random indices in [0, size).
template <class I>
std::vector<I> indices(size_t count, int64_t size) {
  std::vector<I> result(count);
  uint32_t state = 7;
  for (I& index : result) {
    state = state * 1664525u + 1013904223u;
    index = static_cast<I>((state >> 8) % size);
  }
  return result;
}

template <class T>
void expect_gathered(const GatherParams& p) {
  for (int64_t i = 0; i < p.index.numel; ++i) {
    const int64_t index = p.index.dtype == kInt ? at<int32_t>(p.index, i) : at<int64_t>(p.index, i);
    const auto source = with_coordinate(testing::coordinates(p.index, i), p.dim, index);
    ASSERT_EQ(at<T>(p.out, i), at<T>(p.in, std::span(source))) << i;
  }
}

template <class T, class I>
void check_gather(const std::vector<int64_t>& in_sizes, const std::vector<int64_t>& sizes,
                  int dim) {
  Buffer<T> in(small_numbers<T>(size_t(testing::product(in_sizes)))),
      out(size_t(testing::product(sizes)));
  Buffer<I> index(indices<I>(out.size(), in_sizes[size_t(dim)]));
  const GatherParams params{in.view(in_sizes), index.view(sizes), out.view(sizes), dim};
  KernelContext context;
  cpu::run(params, context.ctx);
  expect_gathered<T>(params);
  EXPECT_FALSE(context.has_fault());
  EXPECT_TRUE(out.guards_intact());
}

template <class T>
class GatherTest : public ::testing::Test {};
using GatherTypes = ::testing::Types<uint8_t, int8_t, int16_t, int32_t, int64_t, Half, BFloat16,
                                     float, double, complex<float>, complex<double>, bool>;
TYPED_TEST_SUITE(GatherTest, GatherTypes);

TYPED_TEST(GatherTest, GathersAlongEveryDimension) {
  for (int dim : {0, 1, 2}) {
    check_gather<TypeParam, int64_t>({4, 5, 6}, {4, 5, 6}, dim);
    check_gather<TypeParam, int32_t>({4, 5, 6}, {3, 4, 5}, dim);
  }
  check_gather<TypeParam, int64_t>({3}, {900}, 0);
}

TEST(Gather, GathersLargeTensors) {
  check_gather<float, int64_t>({300, 400}, {300, 500}, 1);
  check_gather<float, int64_t>({300, 400}, {500, 400}, 0);
  check_gather<float, int64_t>({70000}, {90001}, 0);
}

TEST(Gather, SupportsAnyStrides) {
  Buffer<float> in(small_numbers<float>(12)), out(40, -1);
  Buffer<int64_t> index({2, 0, 1});
  const GatherParams params{testing::transposed(in.view({4, 3}), 0, 1), index.view({3, 4}, {1, 0}),
                            out.view({3, 4}, {2, 10}), 0};
  KernelContext context;
  cpu::run(params, context.ctx);
  expect_gathered<float>(params);
  for (size_t i = 1; i < out.size(); i += 2) EXPECT_EQ(out[i], -1);
}

TEST(Gather, ScalarIsTreatedAsOneElement) {
  Buffer<float> in({5}), out({0});
  Buffer<int64_t> index({0});
  KernelContext context;
  cpu::run(GatherParams{in.view({}), index.view({}), out.view({}), 0}, context.ctx);
  EXPECT_EQ(out[0], 5);
}

TEST(Gather, EmptyIndexDoesNothing) {
  Buffer<float> in(0), out(0);
  Buffer<int64_t> index(0);
  KernelContext context;
  cpu::run(GatherParams{in.view({0, 3}), index.view({0, 3}), out.view({0, 3}), 1}, context.ctx);
  EXPECT_FALSE(context.has_fault());
}

TEST(Gather, ReportsIndicesOutOfRange) {
  for (int64_t bad : {int64_t{3}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    Buffer<float> in(small_numbers<float>(6)), out(6);
    Buffer<int64_t> index({0, 1, 2, 0, bad, 1});
    KernelContext context;
    cpu::run(GatherParams{in.view({2, 3}), index.view({2, 3}), out.view({2, 3}), 1}, context.ctx);
    EXPECT_TRUE(context.has_index_fault(bad, 1, 3));
    EXPECT_TRUE(in.guards_intact() && out.guards_intact());
  }
}

TEST(Gather, EveryIndexIsOutOfRangeInAnEmptyDimension) {
  Buffer<float> in(0), out(2);
  Buffer<int64_t> index({0, 0});
  KernelContext context;
  cpu::run(GatherParams{in.view({0}), index.view({2}), out.view({2}), 0}, context.ctx);
  EXPECT_TRUE(context.has_index_fault(0, 0, 0));
}

/// The reference of scatter_add: adds one element at a time, in row-major order.
template <class T>
std::vector<T> scattered(const std::vector<T>& start, const View& out, const View& index,
                         const View& src, int dim) {
  std::vector<Total<T>> result(start.begin(), start.end());
  for (int64_t i = 0; i < index.numel; ++i) {
    const auto position = testing::coordinates(index, i);
    const auto target = with_coordinate(position, dim, at<int64_t>(index, i));
    const auto offset = static_cast<size_t>(&at<T>(out, std::span(target)) - out.as<T>());
    const auto value = Total<T>(at<T>(src, std::span(position)));
    if constexpr (std::is_same_v<T, bool>)
      result[offset] = result[offset] || value;
    else
      result[offset] = Total<T>(result[offset] + value);
  }
  return std::vector<T>(result.begin(), result.end());
}

template <class T>
void check_scatter(const std::vector<int64_t>& sizes, const std::vector<int64_t>& index_sizes,
                   const std::vector<int64_t>& src_sizes, int dim) {
  Buffer<T> out(small_numbers<T>(size_t(testing::product(sizes)), 1));
  Buffer<T> src(small_numbers<T>(size_t(testing::product(src_sizes)), 2));
  Buffer<int64_t> index(
      indices<int64_t>(size_t(testing::product(index_sizes)), sizes[size_t(dim)]));
  const ScatterParams params{out.view(sizes), index.view(index_sizes), src.view(src_sizes), dim};
  const std::vector<T> expected =
      scattered(out.values(), params.out, params.index, params.src, dim);
  KernelContext context;
  cpu::run(params, context.ctx);
  EXPECT_EQ(out.values(), expected);
  EXPECT_FALSE(context.has_fault());
  EXPECT_TRUE(out.guards_intact());
}

TYPED_TEST(GatherTest, ScatterAddsAlongEveryDimension) {
  for (int dim : {0, 1, 2}) {
    check_scatter<TypeParam>({4, 5, 6}, {4, 5, 6}, {4, 5, 6}, dim);
    check_scatter<TypeParam>({4, 5, 6}, {3, 4, 5}, {3, 6, 7}, dim);
  }
  check_scatter<TypeParam>({3}, {900}, {900}, 0);
}

TEST(ScatterAdd, AddsInRowMajorOrderWithAnyThreadCount) {
  const int threads = get_num_threads();
  for (int count : {1, 2, 3}) {
    set_num_threads(count);
    for (int dim : {0, 1}) check_scatter<Half>({200, 300}, {200, 300}, {200, 300}, dim);
    check_scatter<Half>({500, 3}, {50000, 3}, {50000, 3}, 0);
    check_scatter<Half>({50}, {50000}, {50000}, 0);
    check_scatter<Half>({1}, {50000}, {50000}, 0);
  }
  set_num_threads(threads);
}

TEST(ScatterAdd, WritesNothingIfAnIndexIsInvalid) {
  for (int64_t bad : {int64_t{3}, int64_t{-1}}) {
    Buffer<float> out(6, 1), src(6, 1);
    Buffer<int64_t> index({0, 1, 2, 0, bad, 1});
    KernelContext context;
    cpu::run(ScatterParams{out.view({2, 3}), index.view({2, 3}), src.view({2, 3}), 1}, context.ctx);
    EXPECT_TRUE(context.has_index_fault(bad, 1, 3));
    EXPECT_EQ(out.values(), std::vector<float>(6, 1));
    EXPECT_TRUE(out.guards_intact());
  }
}

}  // namespace
}  // namespace hearth

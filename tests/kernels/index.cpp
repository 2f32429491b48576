#include "seam/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/threads.h"
#include "tests/kernels/support.h"

namespace hearth {
namespace {

using testing::at;
using testing::Buffer;
using testing::KernelContext;
using testing::small_numbers;
using testing::Total;
using Sizes = std::vector<int64_t>;

/// A tensor that is indexed in some of its dimensions by index tensors of one shape.
template <class T>
struct Case {
  Sizes self_sizes, index_shape;
  std::vector<int> dims;
  Buffer<T> self;
  View self_view;
  std::vector<std::unique_ptr<Buffer<int64_t>>> index_buffers;
  std::vector<View> indices;

  Case(const Sizes& sizes, const std::vector<int>& indexed, const Sizes& shape)
      : self_sizes(sizes),
        index_shape(shape),
        dims(indexed),
        self(small_numbers<T>(size_t(testing::product(sizes)))),
        self_view(self.view(sizes)),
        indices(size_t(indexed.back() + 1)) {
    for (int d : dims) {
      auto buffer = std::make_unique<Buffer<int64_t>>(size_t(testing::product(shape)));
      for (size_t i = 0; i < buffer->size(); ++i) (*buffer)[i] = random_index(sizes[size_t(d)]);
      indices[size_t(d)] = buffer->view(shape);
      index_buffers.push_back(std::move(buffer));
    }
  }

  /// A pseudo-random index in [-size, size).
  int64_t random_index(int64_t size) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<int64_t>(state_ >> 8) % (2 * size) - size;
  }

  bool are_dims_adjacent() const {
    return dims.back() - dims.front() + 1 == static_cast<int>(dims.size());
  }
  /// The dimension of the result at which index_shape begins.
  size_t index_dim() const { return are_dims_adjacent() ? size_t(dims.front()) : 0; }

  Sizes result_sizes() const {
    Sizes result;
    for (size_t d = 0; d < self_sizes.size(); ++d)
      if (std::find(dims.begin(), dims.end(), int(d)) == dims.end())
        result.push_back(self_sizes[d]);
    result.insert(result.begin() + std::ptrdiff_t(index_dim()), index_shape.begin(),
                  index_shape.end());
    return result;
  }

  /// The position in self that corresponds to a position in the result.
  Sizes self_position(const Sizes& position) const {
    const size_t first = index_dim(), last = first + index_shape.size();
    Sizes result;
    size_t result_dim = 0, num_used = 0;
    for (size_t d = 0; d < self_sizes.size(); ++d) {
      if (std::find(dims.begin(), dims.end(), int(d)) == dims.end()) {
        if (result_dim == first) result_dim = last;
        result.push_back(position[result_dim++]);
      } else {
        const View& index = indices[size_t(dims[num_used++])];
        const int64_t value =
            at<int64_t>(index, std::span(position).subspan(first, index_shape.size()));
        result.push_back(value < 0 ? value + self_sizes[d] : value);
      }
    }
    return result;
  }

 private:
  uint32_t state_ = 5;
};

template <class T>
void check_index(const Sizes& sizes, const std::vector<int>& dims, const Sizes& shape) {
  Case<T> c(sizes, dims, shape);
  Buffer<T> out(size_t(testing::product(c.result_sizes())));
  const IndexParams params{index_layout(c.self_view, c.indices), out.view(c.result_sizes())};
  ASSERT_EQ(Sizes(params.from.origin.sizes, params.from.origin.sizes + params.from.origin.dim),
            c.result_sizes());
  ASSERT_EQ(params.from.origin.numel, params.out.numel);
  KernelContext context;
  cpu::run(params, context.ctx);
  for (int64_t i = 0; i < params.out.numel; ++i) {
    const Sizes position = c.self_position(testing::coordinates(params.out, i));
    ASSERT_EQ(at<T>(params.out, i), at<T>(c.self_view, std::span(position))) << i;
  }
  EXPECT_FALSE(context.has_fault());
  EXPECT_TRUE(out.guards_intact());
}

template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else
    return T(a + b);
}

/// Compares index_put_ with a reference that writes or adds one element at a time, in row-major
/// order.
template <class T>
void check_put(const Sizes& sizes, const std::vector<int>& dims, const Sizes& shape,
               bool accumulate, bool broadcast_values = false) {
  Case<T> c(sizes, dims, shape);
  const Sizes result_sizes = c.result_sizes();
  Buffer<T> values(small_numbers<T>(size_t(testing::product(result_sizes)), 9));
  const View values_view = broadcast_values
                               ? values.view(result_sizes, Sizes(result_sizes.size(), 0))
                               : values.view(result_sizes);
  const std::vector<T> before = c.self.values();
  std::vector<Total<T>> expected(before.begin(), before.end());
  for (int64_t i = 0; i < values_view.numel; ++i) {
    const Sizes position = c.self_position(testing::coordinates(values_view, i));
    const auto offset =
        static_cast<size_t>(&at<T>(c.self_view, std::span(position)) - c.self.data());
    const auto value = Total<T>(at<T>(values_view, i));
    expected[offset] = accumulate ? sum_of<Total<T>>(expected[offset], value) : value;
  }
  KernelContext context;
  cpu::run(IndexPutParams{index_layout(c.self_view, c.indices), values_view, accumulate},
           context.ctx);
  EXPECT_EQ(c.self.values(), std::vector<T>(expected.begin(), expected.end()));
  EXPECT_FALSE(context.has_fault());
  EXPECT_TRUE(c.self.guards_intact());
}

template <class T>
class IndexTest : public ::testing::Test {};
using IndexTypes = ::testing::Types<uint8_t, int8_t, int16_t, int32_t, int64_t, Half, BFloat16,
                                    float, double, complex<float>, complex<double>, bool>;
TYPED_TEST_SUITE(IndexTest, IndexTypes);

const std::vector<std::vector<int>> kIndexedDims = {{0},    {1},    {3},    {0, 1},
                                                    {1, 2}, {0, 2}, {1, 3}, {0, 1, 2, 3}};

TYPED_TEST(IndexTest, ReadsWithIndicesInAnyDimensions) {
  for (const auto& dims : kIndexedDims)
    for (const Sizes& shape : {Sizes{}, Sizes{7}, Sizes{2, 3}})
      check_index<TypeParam>({3, 4, 5, 6}, dims, shape);
}

TYPED_TEST(IndexTest, WritesWithIndicesInAnyDimensions) {
  for (const auto& dims : kIndexedDims)
    for (bool accumulate : {false, true})
      for (bool broadcast : {false, true})
        check_put<TypeParam>({3, 4, 5, 6}, dims, {2, 3}, accumulate, broadcast);
}

TEST(Index, ResultsHavePyTorchShapes) {
  EXPECT_EQ(Case<float>({2, 3, 4, 5}, {0, 2}, {7}).result_sizes(), (Sizes{7, 3, 5}));
  EXPECT_EQ(Case<float>({2, 3, 4, 5}, {1, 2}, {7, 8}).result_sizes(), (Sizes{2, 7, 8, 5}));
  EXPECT_EQ(Case<float>({2, 3, 4, 5}, {3}, {}).result_sizes(), (Sizes{2, 3, 4}));
}

TEST(Index, ReadsLargeTensors) {
  check_index<float>({1000, 100}, {0}, {700});
  check_index<float>({300, 200}, {1}, {250});
  check_index<float>({40000}, {0}, {50001});
  check_index<float>({40, 500, 30}, {0, 2}, {90});
}

TEST(Index, BroadcastsIndices) {
  Buffer<float> self(small_numbers<float>(20)), out(6);
  Buffer<int64_t> rows({3, -1}), columns({0, 4, 2});
  const std::vector<View> indices = {rows.view({2, 3}, {1, 0}), columns.view({2, 3}, {0, 1})};
  KernelContext context;
  cpu::run(IndexParams{index_layout(self.view({4, 5}), indices), out.view({2, 3})}, context.ctx);
  EXPECT_EQ(out.values(),
            (std::vector<float>{self[15], self[19], self[17], self[15], self[19], self[17]}));
}

TEST(Index, AcceptsInt32IndicesAndTransposedTensors) {
  Buffer<float> self(small_numbers<float>(20)), out(8);
  Buffer<int32_t> rows({3, -1});
  const View transposed = testing::transposed(self.view({4, 5}), 0, 1);
  KernelContext context;
  cpu::run(IndexParams{index_layout(transposed, {rows.view({2})}), out.view({2, 4})}, context.ctx);
  EXPECT_EQ(out.values(), (std::vector<float>{self[3], self[8], self[13], self[18], self[4],
                                              self[9], self[14], self[19]}));
}

TEST(Index, WritesInRowMajorOrderWithAnyThreadCount) {
  const int threads = get_num_threads();
  for (int count : {1, 2, 7}) {
    set_num_threads(count);
    for (bool accumulate : {false, true}) {
      check_put<Half>({100, 30}, {0}, {5000}, accumulate);
      check_put<Half>({30, 100}, {1}, {5000}, accumulate);
      check_put<Half>({10, 300}, {0}, {300}, accumulate);
      check_put<Half>({100}, {0}, {50000}, accumulate);
      check_put<Half>({5, 6, 7}, {0, 2}, {9000}, accumulate);
    }
  }
  set_num_threads(threads);
}

TEST(Index, EmptyIndicesDoNothing) {
  check_index<float>({3, 4}, {0}, {0});
  check_index<float>({0, 4}, {1}, {5});
  check_put<float>({3, 4}, {0}, {0}, true);
}

/// Checks that index and index_put_ report an index out of range; index_put_ must write nothing.
void expect_fault(int64_t bad) {
  Buffer<float> self(12, 1), out(6), values(6, 5);
  Buffer<int64_t> index({0, bad});
  const IndexLayout layout = index_layout(self.view({3, 4}), {View(), index.view({2})});
  KernelContext reading, writing;
  cpu::run(IndexParams{layout, out.view({3, 2})}, reading.ctx);
  EXPECT_TRUE(reading.has_index_fault(bad, 1, 4));
  cpu::run(IndexPutParams{layout, values.view({3, 2}), false}, writing.ctx);
  EXPECT_TRUE(writing.has_index_fault(bad, 1, 4));
  EXPECT_EQ(self.values(), std::vector<float>(12, 1));
  EXPECT_TRUE(self.guards_intact() && out.guards_intact());
}

TEST(Index, ReportsIndicesOutOfRange) {
  for (int64_t bad : {int64_t{4}, int64_t{-5}, INT64_MAX, INT64_MIN}) expect_fault(bad);
}

TEST(Index, EveryIndexIsOutOfRangeInAnEmptyDimension) {
  Buffer<float> self(0), out(1);
  Buffer<int64_t> index({0});
  KernelContext context;
  cpu::run(IndexParams{index_layout(self.view({0}), {index.view({1})}), out.view({1})},
           context.ctx);
  EXPECT_TRUE(context.has_index_fault(0, 0, 0));
}

}  // namespace
}  // namespace hearth

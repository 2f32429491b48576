#include <gtest/gtest.h>

#include "hearth/indexing.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/index_input.h"

namespace hearth::testing {
namespace {

/// A row for x[i]: the index's dimensions replace the first one.
Row index_row() {
  Row row;
  row.name = "index";
  row.covers = {"index"};
  row.mixes_devices = true;  // indices may be on the CPU
  row.dtypes = dtypes::kRealAndBool;
  row.cases = {{{{5}}, indices({3}, 5)},
               {{{4, 3}}, indices({2, 5}, 4)},
               {{{3, 2, 2}}, indices({4}, 3)},
               {{{3, 2}}, indices({0}, 3)},
               {{{3, 0}}, indices({2}, 3)}};
  row.call = [](const Tensors& in) { return Tensors{in[0].index({in[1]})}; };
  row.reference = [](const Arrays& in) {
    std::vector<int64_t> sizes = in[1].sizes;
    sizes.insert(sizes.end(), in[0].sizes.begin() + 1, in[0].sizes.end());
    const auto split = static_cast<int64_t>(in[1].sizes.size());
    return Arrays{build(sizes, [&](const Position& p) {
      Position from(p.begin() + split, p.end());
      from.insert(from.begin(), int64_t(at(in[1], Position(p.begin(), p.begin() + split))));
      return at(in[0], from);
    })};
  };
  row.refusals = {{[] { ones({2}).index({zeros({1})}); },
                   "tensors used as indices must be long, int, byte or bool tensors"},
                  {[] { ones({2}).index({full({1}, 2)}); },
                   "index 2 is out of bounds for dimension 0 with size 2"}};
  return row;
}

/// A row for x[i, :, j]: the broadcast dimensions of separated indices come first.
Row index_apart_row() {
  Row row;
  row.name = "index_apart";
  row.covers = {"index"};
  row.mixes_devices = true;  // indices may be on the CPU
  row.dtypes = dtypes::kRealAndBool;
  row.cases = {{{{3, 2, 4}}, indices({5}, 3), indices({5}, 4)},
               {{{3, 2, 4}}, indices({2, 1}, 3), indices({3}, 4)}};
  row.call = [](const Tensors& in) {
    return Tensors{in[0].index({in[1], indexing::Slice(), in[2]})};
  };
  row.reference = [](const Arrays& in) {
    const bool is_matrix = in[1].sizes.size() == 2;
    const std::vector<int64_t> sizes =
        is_matrix ? std::vector<int64_t>{2, 3, 2} : std::vector<int64_t>{5, 2};
    return Arrays{build(sizes, [&](const Position& p) {
      const double i = in[1].values[size_t(p[0])], j = in[2].values[size_t(p[is_matrix])];
      return at(in[0], {int64_t(i), p.back(), int64_t(j)});
    })};
  };
  return row;
}

/// A row for x[i] = v or x[i] += v with a matrix x, a 1-d index i and broadcast values v.
Row put_row(std::string name, bool accumulate) {
  Row row;
  row.name = std::move(name);
  row.covers = {"index_put"};
  row.mixes_devices = true;  // indices may be on the CPU
  row.call = [accumulate](const Tensors& in) {
    const Tensor target = in[0].clone();
    return Tensors{target.index_put_({in[1]}, in[2], accumulate)};
  };
  row.reference = [accumulate](const Arrays& in) {
    Array target = in[0];
    const int64_t columns = target.sizes[1];
    for (size_t i = 0; i < in[1].values.size(); ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const bool has_columns = in[2].sizes.back() == columns;
        const int64_t row_of_value = in[2].sizes.size() == 2 && in[2].sizes[0] > 1 ? int64_t(i) : 0;
        const double value =
            in[2].values[size_t(row_of_value * in[2].sizes.back() + (has_columns ? j : 0))];
        double& element = target.values[size_t(int64_t(in[1].values[i]) * columns + j)];
        element = accumulate ? element + value : value;
      }
    return Arrays{target};
  };
  return row;
}

Row index_put_row() {
  Row row = put_row("index_put", false);
  row.dtypes = dtypes::kRealAndBool;
  // Only one index: with duplicates, any of the values may win, so there is no derivative.
  row.cases = {{{{4, 3}}, indices({1}, 4), {{1, 3}}},
               {{{4, 3}}, indices({1}, 4), {{3}}},
               {{{4, 3}}, indices({1}, 4), {{1}}}};
  row.refusals = {{[] {
                     ones({2, 3}).index_put_({zeros({1}, kLong)}, ones({1}, kDouble));
                   },
                   "Index put requires the source and destination dtypes match, got Float for the "
                   "destination and Double for the source."},
                  {[] {
                     ones({2, 3}).index_put_({zeros({1}, kLong)}, ones({2}));
                   },
                   "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing "
                   "result of shape [1, 3]"}};
  return row;
}

Row index_put_accumulate_row() {
  Row row = put_row("index_put_accumulate", true);
  row.dtypes = dtypes::kFloating | dtypes::kLong;
  row.slack = 4;  // the order of additions differs
  row.cases = {{{{4, 3}}, indices({6}, 4), {{6, 3}}},
               {{{4, 3}}, indices({5}, 4), {{3}}},
               {{{4, 3}}, indices({0}, 4), {{1, 3}}}};
  return row;
}

const Register index_case{index_row()};
const Register index_apart_case{index_apart_row()};
const Register index_put_case{index_put_row()};
const Register index_put_accumulate_case{index_put_accumulate_row()};

TEST(Index, OneTensorPerDimension) {
  const Tensor x = zeros({2, 3}), columns = tensor({2, 0, 2}, kLong);
  const std::vector<std::optional<Tensor>> indices{std::nullopt, columns};
  EXPECT_TRUE(
      x.index_put(indices, ones({}), true).equal(tensor({{1.f, 0.f, 2.f}, {1.f, 0.f, 2.f}})));
  EXPECT_TRUE(x.equal(zeros({2, 3})));
  x.index_put_(indices, full({}, 5.f));
  EXPECT_TRUE(x.index(indices).equal(full({2, 3}, 5.f)));
  EXPECT_TRUE(x.index_put({Tensor(), columns}, ones({})).equal(x.ne(5).to(kFloat).mul(-1).add(1)));
}

}  // namespace
}  // namespace hearth::testing

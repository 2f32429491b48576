#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hearth/indexing.h"
#include "hearth/tensor_literal.h"
#include "hearth/threads.h"
#include "tests/ops/reduction_reference.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

// The elements of uint8 inputs are absolute values, so some are equal.
constexpr DtypeSet kRealWithoutBytes = dtypes::kReal & ~1u;

/// The indices that sort a line; the order is stable.
std::vector<double> order_of(const std::vector<double>& line, bool descending) {
  std::vector<double> indices(line.size());
  std::iota(indices.begin(), indices.end(), 0.0);
  std::stable_sort(indices.begin(), indices.end(), [&](double a, double b) {
    const double x = line[size_t(a)], y = line[size_t(b)];
    return descending ? x > y : x < y;
  });
  return indices;
}

/// A row whose results are selected elements of each line and their indices. `select` maps a line
/// to the indices.
Row selection_row(std::string name, std::string covers, int64_t dim, LineFunction select,
                  std::function<TensorPair(const Tensor&)> op, Draw draw = Draw::kDistinct) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(covers)};
  row.cases = {{{{4, 5}, draw}}, {{{2, 3, 4}, draw}}, {{{2, 3}, draw}}};
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSame, Result::kLong};
  row.orders = draw == Draw::kDistinct ? 2 : 0;
  if (row.orders == 0) row.cases.push_back({{{6, 300}, draw}});
  row.call = [op = std::move(op)](const Tensors& in) {
    const auto [values, indices] = op(in[0]);
    return Tensors{values, indices};
  };
  row.reference = [=](const Arrays& in) {
    const auto values = [&](const std::vector<double>& line) {
      std::vector<double> out = select(line);
      for (double& v : out) v = line[size_t(v)];
      return out;
    };
    return Arrays{map_lines(in[0], dim, values), map_lines(in[0], dim, select)};
  };
  return row;
}

Row sort_row(std::string name, int64_t dim, bool descending, Draw draw) {
  Row row = selection_row(
      std::move(name), "sort", dim,
      [=](const std::vector<double>& line) { return order_of(line, descending); },
      [=](const Tensor& x) { return x.sort(dim, descending); }, draw);
  row.cases.push_back({{{}, draw}});
  row.cases.push_back({{{0, 3}, draw}});
  row.refusals = {
      {[] { ones({2}).sort(2); },
       "Dimension out of range (expected to be in range of [-1, 0], but got 2)"},
      {[] { ones({2}, kComplexFloat).sort(); }, "Sort does not support complex dtypes on CPU"}};
  return row;
}

Row topk_row(std::string name, int64_t k, int64_t dim, bool largest, Draw draw) {
  Row row = selection_row(
      std::move(name), "topk", dim,
      [=](const std::vector<double>& line) {
        std::vector<double> indices = order_of(line, largest);
        indices.resize(size_t(k));
        return indices;
      },
      [=](const Tensor& x) { return x.topk(k, dim, largest); }, draw);
  row.dtypes = kRealWithoutBytes;
  row.refusals = {{[] { ones({2}).topk(3); }, "selected index k out of range"},
                  {[] { ones({2}).topk(-1); }, "selected index k out of range"},
                  {[] { ones({2}, kBool).topk(1); }, "topk does not support bool dtypes on CPU"}};
  return row;
}

/// A row for the element of each line whose rank, counted from 0, is rank(length of the line).
Row rank_row(std::string name, std::string covers, std::function<size_t(size_t)> rank,
             std::function<TensorPair(const Tensor&)> op) {
  Row row = selection_row(
      std::move(name), std::move(covers), 1,
      [=](const std::vector<double>& line) {
        return std::vector<double>{order_of(line, false)[rank(line.size())]};
      },
      std::move(op));
  row.dtypes = kRealWithoutBytes;
  return row;
}

Row kthvalue_row() {
  Row row = rank_row(
      "kthvalue", "kthvalue", [](size_t) { return 1; },
      [](const Tensor& x) { return x.kthvalue(2, 1, true); });
  row.refusals = {
      {[] { ones({2}).kthvalue(0); }, "kthvalue(): selected number k out of range for dimension 0"},
      {[] { ones({2}).kthvalue(3); }, "kthvalue(): selected number k out of range for dimension 0"},
      {[] {
         ones({0, 3}).kthvalue(1, 0);
       },
       "kthvalue(): Expected reduction dim 0 to have non-zero size."}};
  return row;
}

Row mode_row() {
  Row row = selection_row(
      "mode", "mode", -1,
      [](const std::vector<double>& line) {
        const std::vector<double> order = order_of(line, false);
        size_t best = 0, longest = 0;
        for (size_t begin = 0, end = 0; begin < line.size(); begin = end) {
          while (end < line.size() && line[size_t(order[end])] == line[size_t(order[begin])]) ++end;
          if (end - begin <= longest) continue;
          longest = end - begin;
          best = end - 1;
        }
        return std::vector<double>{order[best]};
      },
      [](const Tensor& x) { return x.mode(-1, true); }, Draw::kSmall);
  return row;
}

Row median_row(std::string name, Tensor (*op)(const Tensor&)) {
  Row row = reduction_row(
      name, name, [op](const Tensor& x) { return op(x); }, {},
      [](const std::vector<double>& values) {
        return values[size_t(order_of(values, false)[(values.size() - 1) / 2])];
      },
      Draw::kDistinct);
  row.cases.push_back({{{}, Draw::kDistinct}});
  row.dtypes = dtypes::kReal;
  return row;
}

Row searchsorted_row() {
  Row row;
  row.name = "searchsorted";
  row.covers = {"searchsorted"};
  row.cases = {{{{7}, Draw::kSmall}, {{3, 4}, Draw::kSmall}},
               {{{1}, Draw::kNormal}, {{5}, Draw::kNormal}},
               {{{3}, Draw::kNormal}, {{0, 2}, Draw::kNormal}}};
  row.dtypes = dtypes::kReal;
  row.results = {Result::kLong};
  row.orders = 0;
  row.call = [](const Tensors& in) {
    return Tensors{searchsorted(std::get<0>(in[0].sort()), in[1])};
  };
  row.reference = [](const Arrays& in) {
    return Arrays{build(in[1].sizes, [&](const Position& p) {
      const double value = at(in[1], p);
      return double(std::count_if(in[0].values.begin(), in[0].values.end(),
                                  [&](double v) { return v < value; }));
    })};
  };
  row.refusals = {
      {[] {
         searchsorted(ones({2, 3}), ones({2}));
       },
       "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
       "of boundaries tensor and input value tensor must match, but we got boundaries tensor [2, "
       "3] and input value tensor [2]"},
      {[] { searchsorted(ones({2}), ones({2}), false, true, "left"); },
       "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
       "right was True"},
      {[] {
         bucketize(ones({2}), ones({2, 2}));
       },
       "boundaries tensor must be 1 dimension, but got dim(2)"}};
  return row;
}

const Register registered_order[] = {
    Register(sort_row("sort", -1, false, Draw::kDistinct)),
    Register(sort_row("sort_descending", 0, true, Draw::kDistinct)),
    Register(sort_row("sort_ties", 0, false, Draw::kSmall)),
    Register(sort_row("sort_ties_descending", -1, true, Draw::kSmall)),
    Register(topk_row("topk", 2, -1, true, Draw::kDistinct)),
    Register(topk_row("topk_smallest", 2, 0, false, Draw::kDistinct)),
    Register(topk_row("topk_ties", 2, -1, true, Draw::kSmall)),
    Register(kthvalue_row()),
    Register(rank_row(
        "median_dim", "median_dim", [](size_t n) { return (n - 1) / 2; },
        [](const Tensor& x) { return x.median(1, true); })),
    Register(rank_row(
        "nanmedian_dim", "nanmedian_dim", [](size_t n) { return (n - 1) / 2; },
        [](const Tensor& x) { return x.nanmedian(1, true); })),
    Register(mode_row()),
    Register(median_row("median", &hearth::median)),
    Register(median_row("nanmedian", &hearth::nanmedian)),
    Register(searchsorted_row()),
};

TEST(Order, LargeSortsAreStableInEveryDtype) {
  for (const ScalarType dtype : dtypes_in(dtypes::kReal)) {
    const Tensor x = arange(200003).mul(7919).fmod(1009).to(dtype);
    const auto [values, indices] = x.sort(0, true);
    EXPECT_TRUE(values.equal(x.gather(0, indices))) << name_of(dtype);
    const Tensor a = values.narrow(0, 0, 200002), b = values.narrow(0, 1, 200002);
    const Tensor in_order = indices.narrow(0, 0, 200002).lt(indices.narrow(0, 1, 200002));
    EXPECT_TRUE(a.gt(b).logical_or(a.eq(b).logical_and(in_order)).all().item<bool>())
        << name_of(dtype);
    const auto [top, top_indices] = x.topk(2000);
    EXPECT_TRUE(top.equal(values.narrow(0, 0, 2000))) << name_of(dtype);
    EXPECT_TRUE(top_indices.equal(indices.narrow(0, 0, 2000))) << name_of(dtype);
    EXPECT_TRUE(std::get<0>(x.kthvalue(200003 - 10)).equal(values[10])) << name_of(dtype);
  }
}

TEST(Order, TopOfLongLinesIsTheStartOfTheSortedLine) {
  const int64_t n = 300'007;
  Tensor x = arange(n, kFloat).mul(7919).fmod(20011).sub(20000);
  x.slice(0, 5, n, 100'000).fill_(std::nan(""));
  x.slice(0, 7, n, 50'000).fill_(-0.0);
  const int threads = get_num_threads();
  for (const int count : {1, 2, 7}) {
    set_num_threads(count);
    for (const Tensor& line : {x, arange(n).mul(7919).fmod(20011), x.to(kBFloat16), x.neg(),
                               x.flip(0).slice(0, 0, n, 2)})
      for (const bool largest : {false, true})
        for (const int64_t k : {1, 50, 20'000}) {
          const Tensor top = std::get<1>(line.topk(k, 0, largest));
          EXPECT_TRUE(top.equal(std::get<1>(line.sort(0, largest)).narrow(0, 0, k)))
              << name_of(line.scalar_type()) << ", " << largest << ", " << k;
        }
  }
  set_num_threads(threads);
}

TEST(Order, NaNIsTheLargestAndZerosAreEqual) {
  for (const Device device : devices()) {
    Tensor x = zeros({5}, kDouble);
    x[1].fill_(std::nan(""));
    x[2].fill_(-0.0);
    x[3].fill_(-1);
    const Tensor y = x.to(device, kDouble);
    const auto order = [&](bool descending) {
      return to_array(y.argsort(int64_t{0}, descending)).values;
    };
    EXPECT_EQ(order(false), (std::vector<double>{3, 0, 2, 4, 1}));
    EXPECT_EQ(order(true), (std::vector<double>{1, 0, 2, 4, 3}));
    EXPECT_EQ(std::get<1>(y.topk(1)).item<int64_t>(), 1);
    EXPECT_TRUE(std::isnan(y.median().item<double>()));
    EXPECT_EQ(std::get<1>(y.median(0)).item<int64_t>(), 1);
    EXPECT_EQ(y.nanmedian().item<double>(), 0);
    EXPECT_TRUE(std::signbit(std::get<0>(y.sort())[2].item<double>()));
  }
}

TEST(Order, MediansWithoutElementsAndWithTies) {
  EXPECT_TRUE(std::isnan(ones({0}).median().item<float>()));
  EXPECT_EQ(ones({0}, kInt).median().item<int64_t>(), -2147483648LL);
  EXPECT_TRUE(std::isnan(full({3}, std::nan("")).nanmedian().item<float>()));
  const Tensor x = full({3}, 2.0).requires_grad_();
  x.median().backward();
  EXPECT_TRUE(x.grad().equal(full({3}, 1.0 / 3)));
}

TEST(Order, SearchsortedAndBucketize) {
  const Tensor rows = arange(4, kFloat).reshape({2, 2}), values = full({2, 1}, 2.0);
  EXPECT_TRUE(searchsorted(rows, values)
                  .equal(full({2, 1}, 2, kLong).sub(arange(0, 4, 2).reshape({2, 1}))));
  EXPECT_EQ(searchsorted(arange(4), 2, true, true).item<int64_t>(), 3);
  EXPECT_EQ(searchsorted(arange(4), 2, true).scalar_type(), kInt);
  EXPECT_EQ(bucketize(full({1}, std::nan("")), arange(4)).item<int64_t>(), 4);
  EXPECT_EQ(bucketize(1.5, arange(4)).item<int64_t>(), 2);
  const Tensor order = arange(3, -1, -1);
  EXPECT_EQ(searchsorted(order, 1, false, false, "right", order).item<int64_t>(), 2);
}

TEST(Order, OutForms) {
  Tensor values = empty({0}), indices = empty({0}, kLong);
  const Tensor x = arange(4, kFloat);
  sort_out(values, indices, x, 0, true);
  EXPECT_TRUE(indices.equal(arange(3, -1, -1)));
  topk_out(values, indices, x, 1);
  EXPECT_EQ(values.item<float>(), 3);
  kthvalue_out(values, indices, x, 2);
  EXPECT_EQ(values.item<float>(), 1);
  EXPECT_TRUE(x.msort().equal(x));
}

TEST(Order, InvalidSortersAndEmptySlicesThrow) {
  const Tensor x = tensor({3.0, 1.0, 2.0}), value = tensor({1.5});
  const auto search = [&](const Tensor& sorter) {
    return searchsorted(x, value, false, false, {}, sorter);
  };
  EXPECT_EQ(search(tensor({1, 2, 0}, kLong)).item<int64_t>(), 1);
  EXPECT_ERROR(search(tensor({1, 2}, kLong)), "boundary and sorter must have the same size");
  EXPECT_ERROR(search(tensor({1, 2, 0}, kInt)), "sorter must be a tensor of long dtype");
  EXPECT_ERROR(group_norm(ones({2, 4, 0}), 2), "Expected HxW to be greater than 0, got 0");
}

}  // namespace
}  // namespace hearth::testing

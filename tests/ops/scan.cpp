#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/autograd.h"
#include "hearth/threads.h"
#include "tests/ops/reduction_reference.h"

namespace hearth::testing {
namespace {

using BinaryFunction = double (*)(double, double);

LineFunction cumulative(BinaryFunction step) {
  return [step](const std::vector<double>& line) {
    std::vector<double> out;
    for (double v : line) out.push_back(out.empty() ? v : step(out.back(), v));
    return out;
  };
}
double add(double a, double b) { return a + b; }
double times(double a, double b) { return a * b; }
double log_add(double a, double b) {
  return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

Row scan_row(std::string name, std::string covers, std::function<Tensor(const Tensor&)> op,
             int64_t dim, BinaryFunction step, Draw draw = Draw::kNormal) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(covers)};
  row.cases = {{{{3, 4}, draw}}, {{{2, 3, 4}, draw}}, {{{0, 3}, draw}}};
  row.call = [op = std::move(op)](const Tensors& in) { return Tensors{op(in[0])}; };
  row.reference = [=](const Arrays& in) { return Arrays{map_lines(in[0], dim, cumulative(step))}; };
  row.slack = 4;
  return row;
}

Row cumsum_row() {
  Row row = scan_row(
      "cumsum", "cumsum", [](const Tensor& x) { return x.cumsum(0); }, 0, add);
  row.cases.insert(row.cases.end(), {{{{}}}, {{{40, 3}}}, {{{5, 67}}}});
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSum};
  row.out = [](Tensor& out, const Tensors& in) { cumsum_out(out, in[0], 0); };
  row.inplace = [](Tensor& self, const Tensors&) { self.cumsum_(0); };
  row.refusals = {{[] { ones({2}).cumsum(1); },
                   "Dimension out of range (expected to be in range of [-1, 0], but got 1)"},
                  {[] { ones({2}, kInt).cumsum_(0, kFloat); },
                   "Bad in-place call: input tensor dtype int and output tensor dtype float should "
                   "match"}};
  return row;
}

Row cumprod_row(std::string name, int64_t dim, Draw draw) {
  Row row = scan_row(
      std::move(name), "cumprod", [dim](const Tensor& x) { return x.cumprod(dim); }, dim, times,
      draw);
  row.covers.push_back("linear_scan");
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSum};
  row.out = [dim](Tensor& out, const Tensors& in) { cumprod_out(out, in[0], dim); };
  row.inplace = [dim](Tensor& self, const Tensors&) { self.cumprod_(dim); };
  return row;
}

Row extreme_row(std::string name, bool largest, int64_t dim, Draw draw) {
  Row row = scan_row(std::move(name), largest ? "cummax" : "cummin", {}, dim, add, draw);
  if (dim == 0) row.cases.push_back({{{}, draw}});
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSame, Result::kLong};
  if (draw != Draw::kDistinct) row.orders = 0;
  row.call = [=](const Tensors& in) {
    const auto [values, indices] = largest ? in[0].cummax(dim) : in[0].cummin(dim);
    return Tensors{values, indices};
  };
  row.reference = [=](const Arrays& in) {
    const auto indices_of_best = [largest](const std::vector<double>& line) {
      std::vector<double> out;
      for (size_t i = 0, best = 0; i < line.size(); ++i) {
        if (largest ? line[i] >= line[best] : line[i] <= line[best]) best = i;
        out.push_back(double(best));
      }
      return out;
    };
    const auto values = [=](const std::vector<double>& line) {
      std::vector<double> out;
      for (const double index : indices_of_best(line)) out.push_back(line[size_t(index)]);
      return out;
    };
    return Arrays{map_lines(in[0], dim, values), map_lines(in[0], dim, indices_of_best)};
  };
  return row;
}

Row logcumsumexp_row() {
  Row row = scan_row(
      "logcumsumexp", "logcumsumexp", [](const Tensor& x) { return x.logcumsumexp(-1); }, -1,
      log_add);
  row.out = [](Tensor& out, const Tensors& in) { logcumsumexp_out(out, in[0], -1); };
  return row;
}

const Register registered_scan[] = {
    Register(cumsum_row()),
    Register(scan_row(
        "cumsum_last", "cumsum", [](const Tensor& x) { return x.cumsum(-1); }, -1, add)),
    Register(cumprod_row("cumprod", 1, Draw::kNormal)),
    Register(cumprod_row("cumprod_zeros", 0, Draw::kSmall)),
    Register(logcumsumexp_row()),
    Register(extreme_row("cummax", true, 1, Draw::kDistinct)),
    Register(extreme_row("cummax_ties", true, 0, Draw::kSmall)),
    Register(extreme_row("cummin", false, 0, Draw::kDistinct)),
    Register(extreme_row("cummin_ties", false, 1, Draw::kSmall)),
};

TEST(Scan, LongLinesHaveEqualResultsOnAnyNumberOfThreads) {
  const Tensor x = arange(300001, kFloat).fmod(7).sub(3).div(4);
  const Tensor integers = arange(300001), exact = integers.to(kDouble);
  const int threads = get_num_threads();
  set_num_threads(1);
  const Tensor on_one_thread = x.cumsum(0), indices = std::get<1>(x.cummax(0));
  set_num_threads(4);
  EXPECT_TRUE(x.cumsum(0).equal(on_one_thread));
  EXPECT_TRUE(std::get<1>(x.cummax(0)).equal(indices));
  const Tensor sums = integers.cumsum(0);
  set_num_threads(threads);
  EXPECT_TRUE(sums.to(kDouble).equal(exact.mul(exact.add(1)).div(2)));
  EXPECT_EQ(indices[299999].item<int64_t>(), 299998);  // the last i with i % 7 == 6
}

/// The cumulative sums along dimension 1, from the end if `reverse`.
Tensor sums_along(const Tensor& x, bool reverse) {
  Tensor out = x.contiguous().clone();
  double* elements = out.data_ptr<double>();
  const int64_t n = x.size(1);
  for (int64_t line = 0; line < x.size(0); ++line, elements += n)
    for (int64_t i = 1; i < n; ++i) {
      const int64_t target = reverse ? n - 1 - i : i;
      elements[target] += elements[reverse ? target + 1 : target - 1];
    }
  return out;
}

TEST(Scan, FewLongLinesInAnyLayout) {
  const int64_t n = (8 << 14) + 5;  // many of the kernel's chunks and a part of one
  const Tensor x = arange(3 * n, kDouble).fmod(7).sub(3).view({3, n});
  const Tensor weights = arange(3 * n, kDouble).fmod(5).view({3, n});
  const Tensor wide = zeros({3, 2 * n}, kDouble);
  wide.slice(1, 0, 2 * n, 2).copy_(x);
  const Tensor reference = sums_along(x, false);
  for (const Tensor& in : {x, x.t().contiguous().t(), wide.slice(1, 0, 2 * n, 2)}) {
    EXPECT_TRUE(in.cumsum(1).equal(reference));
    EXPECT_TRUE(in.clone().cumsum_(1).equal(reference));
    const auto [largest, indices] = in.cummax(1);
    EXPECT_TRUE(in.gather(1, indices).equal(largest));
    EXPECT_TRUE(largest.slice(1, 7).eq(3).all().item<bool>());
    EXPECT_TRUE(indices.slice(1, n - 7).ge(n - 14).all().item<bool>());
    const Tensor leaf = in.detach().clone().requires_grad_();
    leaf.cumsum(1).mul(weights).sum().backward();
    EXPECT_TRUE(leaf.grad().equal(sums_along(weights, true)));
  }
}

TEST(Scan, DtypesOfSumsAndProducts) {
  EXPECT_EQ(ones({2}, kInt).cumsum_(0).scalar_type(), kInt);
  EXPECT_EQ(ones({2}).cumsum(0, kDouble).scalar_type(), kDouble);
  EXPECT_EQ(full({2}, 1.7).cumprod(0, kLong)[1].item<int64_t>(), 1);
  EXPECT_THROW(ones({2}).cumsum(0, kBool), Error);
  const Tensor z = full({2}, Scalar(complex<double>(0, 1)), kComplexDouble);
  EXPECT_EQ(z.cumprod(0)[1].item<complex<double>>(), complex<double>(-1, 0));
}

TEST(Scan, NaNStaysTheMinimum) {
  Tensor x = arange(5, kFloat);
  x[1].fill_(std::nan(""));
  x[3].fill_(std::nan(""));
  const auto [values, indices] = x.cummin(0);
  EXPECT_TRUE(std::isnan(values[4].item<float>()));
  EXPECT_EQ(indices[2].item<int64_t>(), 1);
  EXPECT_EQ(indices[4].item<int64_t>(), 3);
}

TEST(Scan, LogCumSumExpOfInfinities) {
  Tensor x = ones({3}, kDouble);
  x.narrow(0, 0, 2).fill_(-std::numeric_limits<double>::infinity());
  const Tensor y = x.logcumsumexp(0);
  EXPECT_EQ(y[1].item<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(y[2].item<double>(), 1);
}

TEST(Scan, OutForms) {
  Tensor values = empty({0}), indices = empty({0}, kLong);
  cummax_out(values, indices, arange(3, kFloat), 0);
  EXPECT_TRUE(indices.equal(arange(3)));
  cummin_out(values, indices, arange(3, kFloat), 0);
  EXPECT_TRUE(values.equal(zeros({3})));
}

}  // namespace
}  // namespace hearth::testing

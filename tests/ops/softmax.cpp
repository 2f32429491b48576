#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/threads.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// softmax or log_softmax along dim.
Array softmax_reference(const Array& in, int64_t dim, bool log) {
  const size_t d = size_t(dim < 0 ? dim + int64_t(in.sizes.size()) : dim);
  struct Line {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  };
  std::map<int64_t, Line> lines;  // by the linear index of the first element
  const auto line_of = [&](Position q) {
    q[d] = 0;
    const auto [found, is_new] = lines.try_emplace(linear_of(q, in.sizes));
    Line& line = found->second;
    if (!is_new) return line;
    for (q[d] = 0; q[d] < in.sizes[d]; ++q[d]) line.largest = std::fmax(line.largest, at(in, q));
    for (q[d] = 0; q[d] < in.sizes[d]; ++q[d]) line.sum += std::exp(at(in, q) - line.largest);
    return line;
  };
  return build(in.sizes, [&](const Position& p) {
    if (p.empty()) return log ? 0.0 : 1.0;
    const Line line = line_of(p);
    const double shifted = at(in, p) - line.largest;
    return log ? shifted - std::log(line.sum) : std::exp(shifted) / line.sum;
  });
}

Row softmax_row(std::string name, bool log, int64_t dim) {
  Row row;
  row.name = std::move(name);
  row.covers = {log ? "log_softmax" : "softmax", log ? "log_softmax_backward" : "softmax_backward"};
  row.cases = {{{{3, 5}}}, {{{2, 3, 19}}}, {{{7, 2, 3, 2}}}, {{{9, 12}}},
               {{{0, 3}}}, {{{2, 37}}},    {{{4, 0}}}};
  row.call = [log, dim](const Tensors& in) {
    return Tensors{log ? in[0].log_softmax(dim) : in[0].softmax(dim)};
  };
  row.reference = [log, dim](const Arrays& in) {
    return Arrays{softmax_reference(in[0], dim, log)};
  };
  row.out = [log, dim](Tensor& out, const Tensors& in) {
    log ? log_softmax_out(out, in[0], dim) : softmax_out(out, in[0], dim);
  };
  row.slack = 4;
  row.refusals = {{[log] {
                     log ? log_softmax(ones({2, 3}), 2) : softmax(ones({2, 3}), 2);
                   },
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)"},
                  {[log] { log ? log_softmax(ones({2}, kLong), 0) : softmax(ones({2}, kLong), 0); },
                   "not implemented for 'Long'"}};
  return row;
}

/// Replaces the cases by vectors and a 0-d tensor, whose derivatives are not tested.
Row with_vectors(Row row) {
  row.cases = {{{{3}}}, {{{}}}, {{{67}}}, {{{2500}}}};
  row.orders = 0;
  return row;
}

const Register registered_softmax[] = {
    Register(softmax_row("softmax_last", false, -1)),
    Register(softmax_row("softmax_first", false, 0)),
    Register(softmax_row("log_softmax_last", true, -1)),
    Register(softmax_row("log_softmax_dim1", true, 1)),
    Register(with_vectors(softmax_row("softmax_vector", false, 0))),
    Register(with_vectors(softmax_row("log_softmax_vector", true, 0)))};

TEST(Softmax, ConvertsToTheDtypeFirst) {
  EXPECT_EQ(ones({2, 3}, kLong).softmax(1, kDouble).scalar_type(), kDouble);
  const Tensor large = full({4}, 3e4, kHalf).requires_grad_();
  const Tensor out = large.log_softmax(0, kFloat);
  EXPECT_EQ(out.scalar_type(), kFloat);
  EXPECT_NEAR(out[0].item<double>(), -std::log(4.0), 1e-6);
  out.sum().backward();
  EXPECT_EQ(large.grad().scalar_type(), kHalf);
}

TEST(Softmax, InfinitiesAndManyColumns) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Device device : devices()) {
    const Tensor masked = full({2, 300}, -inf).to(device, kFloat);
    masked.select(0, 0).fill_(1);
    EXPECT_TRUE(masked.softmax(0).select(0, 0).equal(ones({300}).to(device, kFloat)));
    EXPECT_TRUE(masked.softmax(1).select(0, 1).isnan().all().item<bool>());
  }
  const Tensor x = randn({5, 700, 3}, kDouble);
  EXPECT_TRUE(x.softmax(1).allclose(x.transpose(1, 2).contiguous().softmax(2).transpose(1, 2)));
  const Tensor y = randn({9, 700}, kDouble);
  EXPECT_TRUE(y.log_softmax(0).allclose(y.t().contiguous().log_softmax(1).t()));
  EXPECT_TRUE(
      x.to(kHalf).softmax(1).to(kDouble).allclose(x.to(kHalf).to(kDouble).softmax(1), 1e-3, 1e-6));
}

TEST(Softmax, ManyShortLinesAreEqualOnAnyNumberOfThreads) {
  manual_seed(5);
  const Tensor x = randn({3001, 10}).requires_grad_(), gradient = randn({3001, 10});
  const auto results = [&] {
    const Tensor scores = x.log_softmax(1), weights = x.t().softmax(0).t();
    return Tensors{scores, weights,
                   autograd::grad({scores, weights}, {x}, {gradient, gradient}).front()};
  };
  const int threads = get_num_threads();
  const Tensor exact = x.detach().to(kDouble);
  set_num_threads(1);
  const Tensors expected = results();
  EXPECT_TRUE(expected[0].to(kDouble).allclose(exact - exact.logsumexp({1}, true), 1e-6, 1e-6));
  for (const int count : {2, 7}) {
    set_num_threads(count);
    const Tensors others = results();
    for (size_t i = 0; i < others.size(); ++i) EXPECT_TRUE(others[i].equal(expected[i])) << count;
  }
  set_num_threads(threads);
}

}  // namespace
}  // namespace hearth::testing

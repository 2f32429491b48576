// LBFGS: values compared with PyTorch's (tests/oracle/optim_cases.py), state, errors.
#include "hearth/optim/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hearth/io/archive.h"
#include "tests/optim/fixture.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using namespace optim;

Tensor rosenbrock(const Tensors& params) {
  const Tensor a = params[0].slice(0, 0, -1), b = params[0].slice(0, 1);
  return ((b - a.pow(2)).pow(2) * 100 + (1 - a).pow(2)).sum();
}

Tensor network(const Tensors& p) {
  const Tensor x = linspace(-2, 2, 12, kDouble).to(p[0].device()).reshape({12, 1});
  const Tensor hidden = (x.mm(p[0]) + p[1]).tanh();
  return (hidden.mm(p[2]) - (x * 2).sin()).pow(2).mean();
}

Tensor cosines(std::vector<int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return arange(1, 1 + count, kDouble).cos().reshape(sizes);
}

LBFGSOptions wolfe(double lr = 1) {
  return LBFGSOptions(lr).line_search_fn("strong_wolfe").max_eval(1000);
}

const std::map<std::string, LBFGSOptions>& searches() {
  static const std::map<std::string, LBFGSOptions> result{
      {"fixed", LBFGSOptions(0.1).max_iter(5)},
      {"fixed_short", LBFGSOptions(0.05).max_iter(4).history_size(2).max_eval(3)},
      {"strong_wolfe", wolfe().max_iter(5)},
      {"strong_wolfe_short", wolfe(0.5).max_iter(3).history_size(2)},
      {"tolerant", wolfe().max_iter(5).tolerance_grad(1e-2).tolerance_change(1e-3)},
  };
  return result;
}

/// The problem and the optimizer of a fixture.
struct Problem {
  Problem(const std::string& name, Device device)
      : is_network(name.starts_with("network")),
        optimizer(start(device), searches().at(name.substr(name.find('_') + 1))) {}

  Tensors start(Device device) {
    params = is_network ? Tensors{cosines({1, 5}), cosines({5}), cosines({5, 1})}
                        : Tensors{tensor({-1.2, 1.0, 0.5}, kDouble)};
    for (Tensor& param : params) param = param.to(device).requires_grad_();
    return params;
  }
  double step() {
    const Tensor loss = optimizer.step([this] {
      ++evaluations;
      optimizer.zero_grad();
      const Tensor value = is_network ? network(params) : rosenbrock(params);
      value.backward();
      return value;
    });
    return loss.item<double>();
  }
  std::vector<double> values(double loss) const {
    std::vector<double> result{double(evaluations), loss};
    for (const double x : elements(params)) result.push_back(x);
    return result;
  }

  bool is_network;
  Tensors params;
  LBFGS optimizer;
  int evaluations = 0;
};

class Searches : public ::testing::TestWithParam<Fixture> {};

TEST_P(Searches, AgreeWithPyTorch) {
  for (const Device device : devices()) {
    Problem problem(GetParam().name, device);
    for (const auto& [step, wanted] : GetParam().steps) {
      const std::vector<double> got = problem.values(problem.step());
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], wanted[i], 1e-6 * (std::fabs(wanted[i]) + 1e-2))
            << GetParam().name << " step " << step << ", value " << i << " on " << device;
    }
  }
}

TEST_P(Searches, ResumeBitForBit) {
  for (const bool uses_archive : {false, true}) {
    Problem first(GetParam().name, kCPU), second(GetParam().name, kCPU);
    for (int i = 0; i < 3; ++i) first.step();
    std::stringstream stream;
    if (uses_archive) {
      serialize::OutputArchive out;
      first.optimizer.save(out);
      out.save_to(stream);
      serialize::InputArchive in;
      in.load_from(stream);
      second.optimizer.load(in);
    } else {
      second.optimizer.load_state_dict(first.optimizer.state_dict());
    }
    const NoGradGuard no_grad;
    for (size_t i = 0; i < first.params.size(); ++i) second.params[i].copy_(first.params[i]);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(first.step(), second.step()) << GetParam().name;
    EXPECT_EQ(elements(first.params), elements(second.params)) << GetParam().name;
  }
}

INSTANTIATE_TEST_SUITE_P(Lbfgs, Searches, ::testing::ValuesIn(fixtures("search")), name_of_case);

TEST(OptimFixtures, CoverEverySearch) {
  EXPECT_EQ(fixtures("search").size(), 2 * searches().size());
}

/// The x that minimizes (x - 3)^2, or that maximizes its negative.
double minimum_by(const LBFGSOptions& options, int steps = 1) {
  const Tensor x = zeros({1}, kDouble).requires_grad_();
  LBFGS optimizer({x}, options);
  const double sign = options.maximize() ? -1 : 1;
  for (int i = 0; i < steps; ++i)
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor loss = (x - 3).pow(2).sum() * sign;
      loss.backward();
      return loss;
    });
  return x.item<double>();
}

TEST(Lbfgs, FindsAMinimumOrAMaximum) {
  EXPECT_NEAR(minimum_by(wolfe()), 3, 1e-9);
  EXPECT_NEAR(minimum_by(wolfe().maximize(true)), 3, 1e-9);
  EXPECT_NEAR(minimum_by(LBFGSOptions(0.5).maximize(true), 5), 3, 1e-4);
}

TEST(Lbfgs, LimitsEvaluations) {
  Problem problem("rosenbrock_fixed_short", kCPU);
  problem.step();
  EXPECT_EQ(problem.evaluations, 3);
  const LBFGS optimizer({problem.params[0]});
  const auto& options = static_cast<const LBFGSOptions&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(options.max_eval(), 25);
}

/// A search along a line without finite losses ends after 25 further points, as LibTorch's does.
TEST(Lbfgs, EndsSearchesWithoutSuccess) {
  const Tensor x = tensor({-1.2, 1.0, 0.5}, kDouble).requires_grad_();
  LBFGS optimizer({x}, LBFGSOptions(1e200).max_iter(4).line_search_fn("strong_wolfe"));
  for (int step = 1, evaluations = 0; step <= 3; ++step) {
    optimizer.step([&] {
      ++evaluations;
      optimizer.zero_grad();
      const Tensor loss = rosenbrock({x});
      loss.backward();
      return loss;
    });
    EXPECT_EQ(evaluations, 27 * step);
    EXPECT_EQ(elements({x}), (std::vector<double>{-1.2, 1.0, 0.5}));
  }
}

/// Three steps towards a complex number, from parameters that are complex or pairs of numbers.
std::vector<double> complex_steps(bool as_pairs) {
  const Tensor numbers = tensor({1.0, 0.5, 2.0, -1.0}, kDouble).reshape({2, 2});
  const Tensor x = (as_pairs ? numbers : view_as_complex(numbers)).clone().requires_grad_();
  LBFGS optimizer({x}, LBFGSOptions(0.3).max_iter(6));
  std::vector<double> values;
  for (int step = 0; step < 3; ++step) {
    const Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor z = as_pairs ? view_as_complex(x) : x;
      Tensor distance = (z - 1).abs().pow(2).sum();
      distance.backward();
      return distance;
    });
    values.push_back(loss.item<double>());
  }
  for (const double value : elements({view_as_real(as_pairs ? view_as_complex(x) : x)}))
    values.push_back(value);
  return values;
}

/// The losses are those of PyTorch's LBFGS.
TEST(Lbfgs, StepsOnTheRealAndImaginaryParts) {
  const std::vector<double> values = complex_steps(false);
  EXPECT_EQ(values, complex_steps(true));
  EXPECT_NEAR(values[0], 2.25, 1e-12);
  EXPECT_NEAR(values[1], 0.0492184874, 1e-9);
  EXPECT_NEAR(values[2], 0.00068124722, 1e-10);
}

TEST(Lbfgs, RejectsInvalidCalls) {
  const Tensor x = ones({2}).requires_grad_(), y = ones({3}).requires_grad_();
  const auto closure = [&] {
    x.mutable_grad() = ones({2});
    return ones({});
  };
  EXPECT_ERROR(LBFGS({x}, LBFGSOptions(-1)), "Invalid learning rate: -1");
  EXPECT_ERROR(LBFGS({OptimizerParamGroup({x}), OptimizerParamGroup({y})}),
               "LBFGS doesn't support per-parameter options (parameter groups)");
  LBFGS optimizer({x}), other({y}), misspelt({x}, LBFGSOptions().line_search_fn("armijo"));
  EXPECT_ERROR(optimizer.step(nullptr), "LBFGS requires a closure function");
  EXPECT_ERROR(misspelt.step(closure), "only 'strong_wolfe' is supported");
  EXPECT_ERROR(optimizer.step([] { return Tensor(); }), "must return the loss");
  optimizer.step(closure);
  other.load_state_dict(optimizer.state_dict());
  EXPECT_ERROR(other.step([&] {
    y.mutable_grad() = ones({3});
    return ones({});
  }),
               "the state of LBFGS has vectors of 2 elements, but the parameters have 3");
}

}  // namespace
}  // namespace hearth::testing

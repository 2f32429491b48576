#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>
#include <string>
#include <vector>

// LBFGS and clipping of gradients as LibTorch programs use them. The numbers are LibTorch's.

using torch::optim::LBFGS;
using torch::optim::LBFGSOptions;
using torch::optim::LBFGSParamState;

namespace {

/// Rosenbrock's function of x, its optimizer, and the number of its evaluations.
struct Rosenbrock {
  Rosenbrock(const std::vector<double>& start, const LBFGSOptions& options)
      : x(torch::tensor(start, torch::kDouble).requires_grad_()), optimizer({x}, options) {}

  double step() {
    const auto loss = optimizer.step([this] {
      optimizer.zero_grad();
      const auto a = x.slice(0, 0, -1), b = x.slice(0, 1);
      auto value = (100 * (b - a * a).pow(2) + (1 - a).pow(2)).sum();
      value.backward();
      ++evaluations;
      return value;
    });
    return loss.item<double>();
  }
  LBFGSParamState& state() {
    return static_cast<LBFGSParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
  }

  torch::Tensor x;
  LBFGS optimizer;
  int evaluations = 0;
};

}  // namespace

TEST(Lbfgs, FixedStepsMatchLibTorch) {
  Rosenbrock function({-1.2, 1.0}, LBFGSOptions(0.1));
  for (const double wanted : {24.2, 4.2653360057827614, 4.0469829156153185, 2.4418682068948})
    EXPECT_NEAR(function.step(), wanted, 1e-9);
  EXPECT_NEAR(function.x[0].item<double>(), -0.36938929588174, 1e-9);
  EXPECT_EQ(function.evaluations, 80);
  EXPECT_EQ(function.state().n_iter(), 80);
  EXPECT_EQ(function.state().func_evals(), 80);
  EXPECT_EQ(function.state().t(), 0.1);
  EXPECT_EQ(function.state().old_dirs().size(), function.state().old_stps().size());
}

TEST(Lbfgs, LineSearchesMatchLibTorch) {
  Rosenbrock function({-1.2, 1.0}, LBFGSOptions(1).line_search_fn("strong_wolfe"));
  for (const int wanted : {25, 44, 45, 46}) {
    function.step();
    EXPECT_EQ(function.evaluations, wanted);
  }
  EXPECT_NEAR(function.x[0].item<double>(), 1, 1e-4);
  EXPECT_EQ(function.state().n_iter(), 37);
}

// max_eval ends the iterations, but not a line search, whose limit is 25.
TEST(Lbfgs, LineSearchesMayExceedMaxEval) {
  Rosenbrock function({-1.2, 1.0, 0.5},
                      LBFGSOptions(0.01).line_search_fn("strong_wolfe").max_iter(4).max_eval(6));
  for (const int wanted : {6, 12, 19, 26, 35, 41}) {
    function.step();
    EXPECT_EQ(function.evaluations, wanted);
  }
  EXPECT_NEAR(function.x[0].item<double>(), -0.6426368283874, 1e-8);
  EXPECT_EQ(function.state().t(), 1);
}

TEST(Lbfgs, DefaultsMatchLibTorch) {
  LBFGS optimizer({torch::ones({2}, torch::requires_grad())}, LBFGSOptions().max_iter(8));
  const auto& options = static_cast<LBFGSOptions&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 1);
  EXPECT_EQ(options.max_eval(), 10);
  EXPECT_EQ(options.tolerance_grad(), 1e-7);
  EXPECT_EQ(options.tolerance_change(), 1e-9);
  EXPECT_EQ(options.history_size(), 100);
  EXPECT_FALSE(options.line_search_fn().has_value());
}

TEST(Lbfgs, ErrorsMatchLibTorch) {
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto text_of = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const c10::Error& error) {
      return error.what();
    }
    return "";
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      contains(text_of([&] { LBFGS({x}).step(nullptr); }), "LBFGS requires a closure function"));
  EXPECT_TRUE(contains(text_of([&] {
                         LBFGS optimizer({x}, LBFGSOptions().line_search_fn("other"));
                         optimizer.step([&] {
                           auto loss = x.sum();
                           loss.backward();
                           return loss;
                         });
                       }),
                       "only 'strong_wolfe' is supported"));
  EXPECT_TRUE(contains(text_of([&] {
                         std::vector<torch::optim::OptimizerParamGroup> groups;
                         groups.emplace_back(std::vector<torch::Tensor>{x});
                         groups.emplace_back(
                             std::vector<torch::Tensor>{torch::ones({1}, torch::requires_grad())});
                         LBFGS optimizer(groups);
                       }),
                       "LBFGS doesn't support per-parameter options (parameter groups)"));
}

TEST(Lbfgs, SaveAndLoad) {
  const auto options = LBFGSOptions(1).line_search_fn("strong_wolfe").max_iter(3);
  Rosenbrock first({-1.2, 1.0}, options), second({-1.2, 1.0}, options);
  first.step();
  std::stringstream stream;
  torch::save(first.optimizer, stream);
  torch::load(second.optimizer, stream);
  {
    torch::NoGradGuard no_grad;
    second.x.copy_(first.x);
  }
  EXPECT_EQ(first.step(), second.step());
  EXPECT_TRUE(torch::equal(first.x, second.x));
}

TEST(ClipGrad, NormsMatchLibTorch) {
  const auto norm = [](double order) {
    auto x = torch::ones({2}, torch::requires_grad()), y = torch::ones({1}, torch::requires_grad());
    x.mutable_grad() = torch::tensor({3.0f, -4.0f});
    y.mutable_grad() = torch::tensor({12.0f});
    return torch::nn::utils::clip_grad_norm_({x, y}, 1, order);
  };
  EXPECT_EQ(norm(2), 13);
  EXPECT_EQ(norm(1), 19);
  EXPECT_EQ(norm(INFINITY), 12);
  EXPECT_EQ(norm(0), 2);
}

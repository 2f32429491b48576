// amp::GradScaler against PyTorch's (tests/oracle/grad_scaler.py), its errors and its state.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "hearth/amp.h"
#include "hearth/hearth.h"
#include "tests/support/fixtures.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using amp::GradScaler;
using amp::GradScalerOptions;
using optim::SGD;
using optim::SGDOptions;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The scale, the growth tracker and the parameters after a step.
struct Step {
  double scale;
  int64_t tracker;
  std::vector<double> values;
};

std::map<int64_t, Step> fixture(const std::string& wanted) {
  std::ifstream file(fixture_path("grad_scaler.txt"));
  std::map<int64_t, Step> steps;
  bool is_selected = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("case ")) is_selected = line == "case " + wanted;
    if (!is_selected || line.starts_with("case ")) continue;
    std::istringstream words(line);
    int64_t number;
    Step step;
    words >> number >> step.scale >> step.tracker;
    for (double value; words >> value;) step.values.push_back(value);
    steps[number] = step;
  }
  EXPECT_FALSE(steps.empty()) << wanted;
  return steps;
}

Tensor ramp(IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return arange(count).mul(5).remainder(7).sub(3).to(kFloat).div(8).reshape(sizes);
}

void expect_step(const std::map<int64_t, Step>& wanted, int64_t number, const GradScaler& scaler,
                 const std::vector<Tensor>& params, double tolerance) {
  const auto found = wanted.find(number);
  if (found == wanted.end()) return;
  const Step& step = found->second;
  EXPECT_EQ(scaler.get_scale(), step.scale) << "step " << number;
  EXPECT_EQ(scaler.state_dict().toGenericDict().at("_growth_tracker").toInt(), step.tracker);
  size_t i = 0;
  for (const Tensor& param : params) {
    const Tensor values = param.detach().to(kCPU, kDouble).flatten();
    for (int64_t e = 0; e < values.numel(); ++e, ++i)
      ASSERT_NEAR(values[e].item<double>(), step.values.at(i), tolerance) << "step " << number;
  }
  EXPECT_EQ(i, step.values.size());
}

bool is_non_finite_step(int step) { return step == 3 || step == 4 || step == 40 || step == 77; }

/// 100 steps of two optimizers; gradients pass through `dtype`, so that they overflow.
void run_rules(ScalarType dtype, Device device) {
  const auto wanted = fixture(detail::str("rules ", python_name_of(dtype)));
  const std::vector<Tensor> params{ramp({3}).to(device), ramp({2, 2}).to(device)};
  SGD first({params[0]}, SGDOptions(0.05).momentum(0.9));
  optim::Adam second({params[1]}, optim::AdamOptions(0.01));
  GradScaler scaler(device,
                    GradScalerOptions().init_scale(1024).growth_interval(4).backoff_factor(0.25));
  for (int step = 1; step <= 100; ++step) {
    scaler.scale(ones({}, device));
    for (int number = 0; number < 2; ++number) {
      const Tensor& param = params[size_t(number)];
      const Tensor gradient = param.sub(number / 2.0).mul(scaler.get_scale());
      if (is_non_finite_step(step) && number == step % 2) gradient[-1] = step == 40 ? NAN : kInf;
      param.mutable_grad() = gradient.to(dtype).to(kFloat);
    }
    if (step % 3 == 0) scaler.unscale_(first);
    scaler.step(first);
    scaler.step(second);
    if (step == 50)
      scaler.update(4096);
    else
      scaler.update();
    expect_step(wanted, step, scaler, params, 1e-7);
  }
}

TEST(GradScaler, FollowsPyTorchsRules) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    run_rules(dtype, kCPU);
    if (cuda::is_available()) run_rules(dtype, kCUDA);
  }
}

TEST(GradScaler, TrainsANetworkLikePyTorch) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const auto wanted = fixture(detail::str("network ", python_name_of(dtype)));
    nn::Sequential net(nn::Linear(4, 3), nn::Tanh(), nn::Linear(3, 1));
    const std::vector<Tensor> params = net->parameters();
    for (const Tensor& param : params) {
      const NoGradGuard no_grad;
      param.copy_(ramp(param.sizes()));
    }
    SGD optimizer(params, SGDOptions(0.1));
    GradScaler scaler("cpu", GradScalerOptions().init_scale(256).growth_interval(8));
    const Tensor x = ramp({5, 4});
    for (int step = 1; step <= 100; ++step) {
      optimizer.zero_grad();
      Tensor loss;
      {
        const amp::autocast autocast("cpu", dtype);
        loss = net->forward(x).to(kFloat).sub(x.slice(1, 0, 1)).pow(2).mean();
      }
      if (is_non_finite_step(step)) loss = loss * kInf;
      scaler.scale(loss).backward();
      scaler.unscale_(optimizer);
      nn::utils::clip_grad_norm_(params, 0.5);
      scaler.step(optimizer);
      scaler.update();
      expect_step(wanted, step, scaler, params, dtype == kHalf ? 1e-3 : 1e-2);
    }
  }
}

/// A parameter with a gradient, an optimizer and a scaler on the CPU.
struct Setting {
  Tensor param = ones({2}).requires_grad_();
  SGD optimizer{{param}, SGDOptions(1)};
  GradScaler scaler{"cpu", GradScalerOptions().init_scale(4)};
  void backward() { scaler.scale(param.sum()).backward(); }
};

TEST(GradScaler, RefusesCallsInAnotherOrder) {
  Setting s;
  EXPECT_ERROR(s.scaler.unscale_(s.optimizer), "Attempted unscale_ but _scale is None.  This may");
  EXPECT_ERROR(s.scaler.step(s.optimizer), "Attempted step but _scale is None.");
  EXPECT_ERROR(s.scaler.update(), "Attempted update but _scale is None.");
  s.scaler.scale(s.param.sum());
  EXPECT_ERROR(s.scaler.update(), "No inf checks were recorded prior to update.");
  EXPECT_ERROR(
      s.scaler.step(s.optimizer),
      "No inf checks were recorded for this optimizer. None of its parameters has a gradient");
  s.scaler.update(4);
  s.backward();
  EXPECT_ERROR(s.scaler.step(s.optimizer, [] { return Tensor(); }),
               "Closure use is not currently supported if GradScaler is enabled.");
  s.scaler.unscale_(s.optimizer);
  EXPECT_ERROR(s.scaler.unscale_(s.optimizer),
               "unscale_() has already been called on this optimizer since the last update().");
  s.scaler.step(s.optimizer);
  EXPECT_ERROR(s.scaler.unscale_(s.optimizer), "unscale_() is being called after step().");
  EXPECT_ERROR(s.scaler.step(s.optimizer),
               "step() has already been called since the last update().");
  EXPECT_EQ(s.param[0].item<float>(), 0);
  EXPECT_ERROR(s.scaler.update(ones({2})), "new_scale should be a float or a 1-element");
  s.scaler.update(full({1}, 8));
  EXPECT_EQ(s.scaler.get_scale(), 8);
}

TEST(GradScaler, RefusesWrongOptionsAndHalfGradients) {
  EXPECT_ERROR(GradScaler("cpu", GradScalerOptions().growth_factor(1)),
               "The growth factor must be > 1.0.");
  EXPECT_ERROR(GradScaler("cpu", GradScalerOptions().backoff_factor(1)),
               "The backoff factor must be < 1.0.");
  const Tensor param = ones({2}, kHalf).requires_grad_();
  SGD optimizer({param}, SGDOptions(1));
  GradScaler scaler("cpu");
  scaler.scale(param.sum()).backward();
  EXPECT_ERROR(scaler.unscale_(optimizer), "Attempting to unscale FP16 gradients.");
}

TEST(GradScaler, DoesNothingIfDisabled) {
  Setting s;
  s.scaler = GradScaler("cpu", GradScalerOptions().enabled(false));
  EXPECT_FALSE(s.scaler.is_enabled());
  s.backward();
  s.scaler.unscale_(s.optimizer);
  int calls = 0;
  s.scaler.step(s.optimizer, [&] {
    ++calls;
    return s.param.sum();
  });
  s.scaler.update();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(s.scaler.get_scale(), 1);
  EXPECT_EQ(s.scaler.state_dict().toGenericDict().size(), 0u);
  EXPECT_EQ(s.param[0].item<float>(), 0);
  if (!cuda::is_available()) {
    const Warnings warnings;
    EXPECT_FALSE(GradScaler().is_enabled());
    EXPECT_TRUE(Warnings::contains("GradScaler is enabled, but CUDA is not available."));
  }
}

TEST(GradScaler, NamesTheLastParameterThatIsNotFinite) {
  nn::Sequential inner(nn::Linear(2, 3), nn::ReLU(), nn::Linear(3, 1));
  nn::Sequential net(inner, nn::Linear(1, 1));
  SGD optimizer(net->parameters(), SGDOptions(0.1));
  GradScaler scaler("cpu");
  scaler.scale(net->forward(ones({4, 2})).sum()).backward();
  EXPECT_FALSE(scaler.non_finite());
  EXPECT_EQ(scaler.explain(*net), "");
  const Tensor weight = inner->named_parameters()["2.weight"];
  weight.mutable_grad().select(1, 1).fill_(kInf);
  net->parameters()[0].mutable_grad().fill_(NAN);
  scaler.step(optimizer);
  scaler.update();
  ASSERT_TRUE(scaler.non_finite());
  EXPECT_TRUE(scaler.non_finite()->parameter.is_same(weight));
  EXPECT_EQ(scaler.non_finite()->index, 2u);
  EXPECT_EQ(scaler.explain(*net),
            "the step was skipped: 1 of 3 elements of the gradient of 0.2.weight (module 0.2, "
            "torch::nn::LinearImpl) are inf or NaN at scale 65536");
  EXPECT_EQ(scaler.get_scale(), 32768);
  scaler.unscale_(optimizer);  // the gradients still have infinities
  for (const Tensor& param : net->parameters()) param.mutable_grad().zero_();
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 16384);
  EXPECT_FALSE(scaler.non_finite()) << "non_finite() is that of an earlier step";
}

TEST(GradScaler, SavesAndLoads) {
  Setting s;
  s.backward();
  s.scaler.step(s.optimizer);
  s.scaler.update();
  s.scaler.set_growth_interval(7);
  const IValue dict = s.scaler.state_dict();
  GradScaler other("cpu");
  other.load_state_dict(pickle_load(pickle_save(dict)));
  EXPECT_EQ(other.get_scale(), 4);
  EXPECT_EQ(other.get_growth_interval(), 7);
  EXPECT_EQ(other.state_dict().toGenericDict().at("_growth_tracker").toInt(), 1);
  EXPECT_ERROR(other.load_state_dict(GenericDict()), "The source state dict is empty, possibly");
  serialize::OutputArchive out;
  s.scaler.save(out);
  std::stringstream file;
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  GradScaler third("cpu");
  third.load(in);
  EXPECT_EQ(third.get_growth_interval(), 7);
}

TEST(GradScaler, LoadsPythonsState) {
  GradScaler scaler("cpu");
  scaler.load_state_dict(io::load_pt(fixture_path("pt/grad_scaler.pt")));
  EXPECT_EQ(scaler.get_scale(), 256);
  EXPECT_EQ(scaler.get_growth_interval(), 7);
  EXPECT_EQ(scaler.state_dict().toGenericDict().at("_growth_tracker").toInt(), 1);
}

TEST(GradScaler, ServesSeveralDevices) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const Tensor a = ones({2}, Device("cuda:0")).requires_grad_();
  const Tensor b = ones({2}, Device("cuda:1")).requires_grad_();
  SGD optimizer({a, b}, SGDOptions(1));
  GradScaler scaler(kCUDA, GradScalerOptions().init_scale(2));
  const std::vector<Tensor> losses = scaler.scale(std::vector<Tensor>{a.sum(), b.sum()});
  for (const Tensor& loss : losses) loss.backward();
  b.mutable_grad()[1] = kInf;
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(a[0].item<float>(), 1);
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_EQ(scaler.non_finite()->parameter.device(), b.device());
}

}  // namespace
}  // namespace hearth::testing

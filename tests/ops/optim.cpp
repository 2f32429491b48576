#include <gtest/gtest.h>

#include <cmath>

#include "core/observer.h"
#include "hearth/autograd.h"
#include "hearth/threads.h"
#include "tests/ops/optim_rows.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

Row sgd_row() {
  Row row = step_row(
      "fused_sgd", "_fused_sgd_", {Draw::kNormal, Draw::kNormal},
      [](Lists& x) { _fused_sgd_(x[0], x[1], {}, kDecay, 0, kLr, 0, false, false, false); },
      [](double* x) { x[0] -= kLr * (x[1] + kDecay * x[0]); });
  const auto step = [](const Tensors& params, const Tensors& grads, const Tensors& buffers = {},
                       double momentum = 0) {
    _fused_sgd_(params, grads, buffers, 0, momentum, 1, 0, false, false, false);
  };
  const Tensor one = ones({2});
  row.refusals = {
      {[=] {
         step({one, one.clone()}, {one});
       },
       "Tensor lists must have the same number of tensors, got 2 and 1"},
      {[=] { step({one}, {one}, {}, 0.5); },
       "Tensor lists must have the same number of tensors, got 1 and 0"},
      {[=] { step({one}, {Tensor()}); }, "Expected a proper Tensor but got None"},
      {[=] { step({one}, {ones({3})}); },
       "a gradient or state must have the sizes of its parameter, got [3] for a parameter of sizes "
       "[2]"},
      {[=] { step({one}, {ones({2}, kDouble)}); },
       "params, grads and states must have the same dtype, got Float and Double"},
      {[=] { step({ones({2}, kLong)}, {ones({2}, kLong)}); }, "not implemented for 'Long'"},
      {[=] { step({ones({1}).expand({2})}, {one}); },
       "more than one element of the written-to tensor refers to a single memory location"},
      {[=] { step({ones({2}).requires_grad_()}, {one}); },
       "a leaf Variable that requires grad is being used in an in-place operation."},
      {[=] { _fused_sgd_({one}, {one}, {}, 0, 0, 1, 0, false, false, false, ones({1}, kDouble)); },
       "grad_scale must be a tensor of one float32"}};
  return row;
}

constexpr double kMomentum = 0.8, kDampening = 0.3;

Row sgd_nesterov_row() {
  return step_row(
      "fused_sgd_nesterov", "_fused_sgd_", {Draw::kNormal, Draw::kNormal, Draw::kNormal},
      [](Lists& x) {
        _fused_sgd_(x[0], x[1], x[2], kDecay, kMomentum, kLr, kDampening, true, true, false);
      },
      [](double* x) {
        const double g = -x[1] + kDecay * x[0];
        x[2] = kMomentum * x[2] + (1 - kDampening) * g;
        x[0] -= kLr * (g + kMomentum * x[2]);
      });
}

/// The first step: the momentum buffer becomes the gradient.
Row sgd_first_row() {
  return step_row(
      "fused_sgd_first", "_fused_sgd_", {Draw::kNormal, Draw::kNormal, Draw::kNormal},
      [](Lists& x) {
        _fused_sgd_(x[0], x[1], x[2], 0, kMomentum, kLr, kDampening, false, false, true);
      },
      [](double* x) { x[0] -= kLr * (x[2] = x[1]); });
}

/// One element of Adam; x: parameter, gradient, both moments, the largest second moment.
void adam(double* x, double g, bool amsgrad) {
  x[2] = kBeta1 * x[2] + (1 - kBeta1) * g;
  x[3] = kBeta2 * x[3] + (1 - kBeta2) * g * g;
  if (amsgrad) x[4] = std::fmax(x[4], x[3]);
  const double mean = x[2] / (1 - std::pow(kBeta1, kStep));
  const double square = x[amsgrad ? 4 : 3] / (1 - std::pow(kBeta2, kStep));
  x[0] -= kLr * mean / (std::sqrt(square) + kEps);
}

Row adam_row() {
  Row row = step_row(
      "fused_adam", "_fused_adam_", {Draw::kNormal, Draw::kNormal, Draw::kNormal, Draw::kPositive},
      [](Lists& x) {
        _fused_adam_(x[0], x[1], x[2], x[3], {}, step_counts(x[0], kStep, kCPU), kLr, kBeta1,
                     kBeta2, kDecay, kEps, false, true);
      },
      [](double* x) { adam(x, -x[1] + kDecay * x[0], false); });
  row.refusals = {{[] {
                     const Tensors one{ones({2})};
                     _fused_adam_(one, one, one, one, {}, {ones({2})}, 1, 0, 0, 0, 0, false, false);
                   },
                   "state_steps must be tensors of one float32, got sizes [2] of Float"},
                  {[] {
                     const Tensors one{ones({2})};
                     _fused_adam_(one, one, one, one, {}, one, 1, 0, 0, 0, 0, true, false);
                   },
                   "Tensor lists must have the same number of tensors, got 1 and 0"}};
  return row;
}

Row adamw_row() {
  return step_row(
      "fused_adamw_amsgrad", "_fused_adamw_",
      {Draw::kNormal, Draw::kNormal, Draw::kNormal, Draw::kPositive, Draw::kPositive},
      [](Lists& x) {
        _fused_adamw_(x[0], x[1], x[2], x[3], x[4], step_counts(x[0], kStep, x[0][0].device()), kLr,
                      kBeta1, kBeta2, kDecay, kEps, true, false);
      },
      [](double* x) {
        x[0] *= 1 - kLr * kDecay;
        adam(x, x[1], true);
      });
}

Row adagrad_row() {
  return step_row(
      "fused_adagrad", "_fused_adagrad_", {Draw::kNormal, Draw::kNormal, Draw::kPositive},
      [](Lists& x) {
        _fused_adagrad_(x[0], x[1], x[2], step_counts(x[0], kStep, x[0][0].device()), kLr, 0.2,
                        kDecay, kEps, false);
      },
      [](double* x) {
        const double g = x[1] + kDecay * x[0];
        x[2] += g * g;
        x[0] -= kLr / (1 + (kStep - 1) * 0.2) * g / (std::sqrt(x[2]) + kEps);
      });
}

constexpr double kAlpha = 0.6;

Row rmsprop_row(std::string name, bool centered, double momentum) {
  std::vector<Draw> draws{Draw::kNormal, Draw::kNormal, Draw::kAboveOne};
  if (centered) draws.push_back(Draw::kUnit);
  if (momentum > 0) draws.push_back(Draw::kNormal);
  return step_row(
      std::move(name), "_fused_rmsprop_", draws,
      [=](Lists& x) {
        _fused_rmsprop_(x[0], x[1], x[2], centered ? x[3] : Tensors(),
                        momentum > 0 ? x.back() : Tensors(), kLr, kAlpha, kEps, kDecay, momentum,
                        centered, false);
      },
      [=](double* x) {
        const double g = x[1] + kDecay * x[0];
        x[2] = kAlpha * x[2] + (1 - kAlpha) * g * g;
        double square = x[2];
        if (centered) {
          x[3] = kAlpha * x[3] + (1 - kAlpha) * g;
          square -= x[3] * x[3];
        }
        double update = g / (std::sqrt(square) + kEps);
        if (double& buffer = x[centered ? 4 : 3]; momentum > 0)
          update = buffer = momentum * buffer + update;
        x[0] -= kLr * update;
      });
}

const Register registered_optim[] = {
    Register(sgd_row()),
    Register(sgd_nesterov_row()),
    Register(sgd_first_row()),
    Register(adam_row()),
    Register(adamw_row()),
    Register(adagrad_row()),
    Register(rmsprop_row("fused_rmsprop", false, 0)),
    Register(rmsprop_row("fused_rmsprop_momentum", false, 0.7)),
    Register(rmsprop_row("fused_rmsprop_centered", true, 0)),
    Register(rmsprop_row("fused_rmsprop_centered_momentum", true, 0.7))};

TEST(FusedStep, StoresUnscaledGradients) {
  for (const Device device : devices())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
      const Tensor param = full({37}, 1.0, dtype).to(device),
                   grad = full({37}, 8.0, dtype).to(device);
      const Tensor scale = full({}, 4.0, kFloat).to(device);
      _fused_sgd_({param}, {grad}, {}, 0, 0, 0.25, 0, false, true, false, scale);
      EXPECT_TRUE(grad.eq(2).all().item<bool>()) << device.str() << name_of(dtype);
      EXPECT_TRUE(param.eq(1.5).all().item<bool>()) << device.str() << name_of(dtype);
    }
}

TEST(FusedStep, SkipsTheStepIfAnInfinityWasFound) {
  for (const Device device : devices()) {
    const Tensor param = ones({5}).to(device), grad = ones({5}).to(device);
    const Tensor found = ones({1}).to(device), none = zeros({1}).to(device);
    _fused_sgd_({param}, {grad}, {}, 0, 0, 0.5, 0, false, false, false, {}, found);
    EXPECT_TRUE(param.eq(1).all().item<bool>());
    _fused_sgd_({param}, {grad}, {}, 0, 0, 0.5, 0, false, false, false, {}, none);
    EXPECT_TRUE(param.eq(0.5).all().item<bool>());
  }
}

TEST(FusedStep, AcceptsEmptyLists) {
  _fused_sgd_({}, {}, {}, 0, 0, 1, 0, false, false, false);
  _fused_adam_({}, {}, {}, {}, {}, {}, 1, 0, 0, 0, 0, true, false);
}

/// So many tensors that all lists together have more inputs than a 64-bit mask has bits.
constexpr size_t kMany = 60;

Tensors many_tensors() {
  Tensors list;
  for (size_t i = 0; i < kMany; ++i) list.push_back(ones({2}));
  return list;
}

void expect_versions(const Tensors& list, int64_t version) {
  for (const Tensor& tensor : list) EXPECT_EQ(tensor._version(), version);
}

TEST(FusedStep, IncrementsTheVersionsOfModifiedTensors) {
  const Tensors params = many_tensors(), grads = many_tensors(), means = many_tensors(),
                squares = many_tensors(), largest = many_tensors(), steps(kMany, ones({}));
  _fused_adam_(params, grads, means, squares, largest, steps, 0.5, 0.9, 0.9, 0, 1, true, false);
  for (const Tensors& written : {params, means, squares, largest}) expect_versions(written, 1);
  expect_versions(grads, 0);
  expect_versions(steps, 0);
  const Tensor scale = full({1}, 2.0), found = zeros({1});
  _fused_sgd_(params, grads, {}, 0, 0, 0.5, 0, false, false, false, scale, found);
  expect_versions(params, 2);
  expect_versions(grads, 1);
  expect_versions({scale, found}, 0);
}

/// The number of inputs of the last observed call, and the inputs that any call has written.
struct Writes {
  int inputs = 0;
  Tensors written;
};

struct WriteObserver final : Observer {
  void begin(const ObservedCall& call) override {
    writes.inputs = call.inputs.count;
    for (int i = 0; i < writes.inputs; ++i)
      if (call.mutates(i)) writes.written.push_back(call.inputs[i]);
  }
  void end(const ObservedCall&) override {}
  Writes writes;
};

template <class Step>
Writes observe(const Step& step) {
  WriteObserver observer;
  const ObserverGuard guard(observer);
  step();
  return std::move(observer.writes);
}

void expect_same(const Tensors& written, std::initializer_list<Tensors> lists) {
  Tensors expected;
  for (const Tensors& list : lists) expected.insert(expected.end(), list.begin(), list.end());
  ASSERT_EQ(written.size(), expected.size());
  for (size_t i = 0; i < written.size(); ++i) EXPECT_TRUE(written[i].is_same(expected[i])) << i;
}

TEST(FusedStep, ReportsWrittenTensorsToObservers) {
  const Tensors params = many_tensors(), grads = many_tensors(), means = many_tensors(),
                squares = many_tensors(), steps(kMany, ones({}));
  const Writes adam = observe([&] {
    _fused_adamw_(params, grads, means, squares, {}, steps, 0.5, 0.9, 0.9, 0, 1, false, false);
  });
  EXPECT_EQ(adam.inputs, 5 * int(kMany) + 2);  // with grad_scale and found_inf
  expect_same(adam.written, {params, means, squares});
  const Writes scaled = observe(
      [&] { _fused_sgd_(params, grads, means, 0, 0.5, 0.5, 0, false, false, false, ones({1})); });
  expect_same(scaled.written, {params, grads, means});
}

TEST(FusedStep, ModifiesLeavesThatRequireGradOnlyUnderNoGrad) {
  const Tensors params = many_tensors(), grads = many_tensors(), means = many_tensors(),
                squares = many_tensors();
  const auto step = [&] {
    _fused_rmsprop_(params, grads, squares, means, {}, 0.5, 0.9, 1, 0, 0, true, false);
  };
  const char* const error =
      "a leaf Variable that requires grad is being used in an in-place operation.";
  params.back().requires_grad_();
  EXPECT_ERROR(step(), error);
  expect_versions(params, 0);
  {
    const NoGradGuard no_grad;
    step();
  }
  expect_versions(params, 1);
  params.back().requires_grad_(false);
  means.back().requires_grad_();
  EXPECT_ERROR(step(), error);
  means.back().requires_grad_(false);
  step();
  expect_versions(params, 2);
}

TEST(FusedStep, ModifiesViewsCreatedUnderNoGradOnlyUnderNoGrad) {
  const Tensor base = ones({4}).requires_grad_();
  const NoGradGuard no_grad;
  const Tensor view = base.view({2, 2}), grad = ones({2, 2});
  const auto step = [&] { _fused_sgd_({view}, {grad}, {}, 0, 0, 0.5, 0, false, false, false); };
  step();
  const AutoGradMode enabled(true);
  EXPECT_ERROR(step(), "no_grad");
  EXPECT_TRUE(view.eq(0.5).all().item<bool>());
}

TEST(FusedStep, AcceptsExpandedGradientsUnlessItScalesThem) {
  for (const Device device : devices()) {
    const Tensor param = ones({3, 40}).to(device), grad = ones({1, 40}).to(device).expand({3, 40});
    _fused_sgd_({param}, {grad}, {}, 0, 0, 0.5, 0, false, false, false);
    EXPECT_TRUE(param.eq(0.5).all().item<bool>());
    const Tensor scale = full({1}, 2.0).to(device);
    EXPECT_THROW(_fused_sgd_({param}, {grad}, {}, 0, 0, 0.5, 0, false, false, false, scale), Error);
    EXPECT_TRUE(grad.eq(1).all().item<bool>());
  }
}

TEST(FusedStep, HasEqualResultsOnAnyNumberOfThreads) {
  const int threads = get_num_threads();
  Tensors on_one_thread, on_three, grads;
  for (int64_t i = 0; i < 40; ++i) {
    on_one_thread.push_back(randn({i * 531 + 1}));
    on_three.push_back(on_one_thread.back().clone());
    grads.push_back(randn({i * 531 + 1}));
  }
  const auto step = [&](const Tensors& params, int count) {
    set_num_threads(count);
    _fused_sgd_(params, grads, {}, 0.1, 0, 0.5, 0, false, false, false);
  };
  step(on_one_thread, 1);
  step(on_three, 3);
  set_num_threads(threads);
  for (size_t i = 0; i < on_one_thread.size(); ++i)
    EXPECT_TRUE(on_one_thread[i].equal(on_three[i])) << i;
}

}  // namespace
}  // namespace hearth::testing

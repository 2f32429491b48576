// Optimizers: groups, closures, missing or strided gradients, errors.
#include <gtest/gtest.h>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using namespace optim;
using Doubles = std::vector<double>;

/// The warnings during f().
template <class F>
std::vector<std::string> warnings_of(const F& f) {
  const Warnings warnings;
  f();
  return Warnings::said();
}

TEST(Optimizer, GroupsHaveTheirOwnOptions) {
  const Tensor a = leaf({1}, {1}), b = leaf({1}, {1});
  std::vector<OptimizerParamGroup> groups{OptimizerParamGroup({a})};
  SGD optimizer(groups, SGDOptions(0.1));
  optimizer.add_param_group(OptimizerParamGroup({b}, std::make_unique<SGDOptions>(0.5)));
  optimizer.step();
  EXPECT_EQ(elements({a, b}), (Doubles{0.9, 0.5}));
  optimizer.param_groups()[0].options().set_lr(1);
  static_cast<SGDOptions&>(optimizer.param_groups()[1].options()).lr(2);
  optimizer.step();
  EXPECT_EQ(elements({a, b}), (Doubles{0.9 - 1, 0.5 - 2}));
  EXPECT_EQ(optimizer.defaults().get_lr(), 0.1);
}

TEST(Optimizer, GroupsInheritUnsetOptions) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{leaf({1}, {})},
                      std::make_unique<AdamOptions>(AdamOptions().weight_decay(0.1)));
  groups.emplace_back(Tensors{leaf({1}, {})},
                      std::make_unique<AdamOptions>(AdamOptions().betas({0.8, 0.999})));
  Adam optimizer(groups, AdamOptions(0.01).weight_decay(0.05).betas({0.7, 0.9}).amsgrad(true));
  const auto& first = static_cast<const AdamOptions&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(first.lr(), 0.01);
  EXPECT_EQ(first.weight_decay(), 0.1);
  EXPECT_EQ(std::get<0>(first.betas()), 0.7);
  EXPECT_TRUE(first.amsgrad());
  const auto& second = static_cast<const AdamOptions&>(optimizer.param_groups()[1].options());
  EXPECT_EQ(second.weight_decay(), 0.05);
  EXPECT_EQ(second.betas(), std::make_tuple(0.8, 0.999)) << "a pair counts as one option";
}

TEST(Optimizer, OptionsCompareByValue) {
  EXPECT_TRUE(AdamOptions(0.1).eps(1) == AdamOptions(0.1).eps(1));
  EXPECT_FALSE(AdamOptions(0.1) == AdamOptions(0.1).betas({0.9, 0.99}));
}

TEST(Optimizer, StepRunsTheClosureWithGradModeAndReturnsItsLoss) {
  const Tensor a = leaf({3}, {});
  SGD optimizer({a}, SGDOptions(0.25));
  const NoGradGuard no_grad;
  const Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    const Tensor value = a.mul(a).sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<double>(), 9);
  EXPECT_EQ(elements({a}), Doubles{1.5});
  EXPECT_FALSE(optimizer.step().defined());
}

TEST(Optimizer, ZeroGradResetsOrZeroesGradients) {
  const Tensor a = leaf({1, 2}, {3, 4}), b = leaf({1}, {});
  Adam optimizer({a, b});
  const Tensor grad = a.grad();
  optimizer.zero_grad(/*set_to_none=*/false);
  EXPECT_TRUE(a.grad().is_same(grad));
  EXPECT_EQ(elements({grad}), (Doubles{0, 0}));
  EXPECT_FALSE(b.grad().defined());
  optimizer.zero_grad();
  EXPECT_FALSE(a.grad().defined());
}

TEST(Optimizer, SkipsParametersWithoutGradient) {
  const Tensor a = leaf({1}, {}), b = leaf({1}, {2});
  Adam optimizer({a, b}, AdamOptions(0.1));
  optimizer.step();
  EXPECT_EQ(elements({a}), Doubles{1});
  EXPECT_NEAR(elements({b})[0], 0.9, 1e-8);
  EXPECT_EQ(optimizer.state().count(a.unsafeGetTensorImpl()), 0u);
  const auto& state =
      static_cast<const AdamParamState&>(*optimizer.state().at(b.unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 1);
  EXPECT_NEAR(state.exp_avg().item<double>(), 0.2, 1e-12);
  EXPECT_NEAR(state.exp_avg_sq().item<double>(), 0.004, 1e-12);
}

TEST(Optimizer, MomentumStartsWithTheFirstGradient) {
  const Tensor a = leaf({0}, {1}), b = leaf({0}, {});
  SGD optimizer({a, b}, SGDOptions(1).momentum(0.5).dampening(0.5));
  optimizer.step();
  b.mutable_grad() = tensor(Doubles{1}, kDouble);
  optimizer.step();
  EXPECT_EQ(elements({a, b}), (Doubles{-2, -1}));
}

TEST(Optimizer, SgdHasNoStateWithoutMomentum) {
  const Tensor a = leaf({0}, {1});
  SGD optimizer({a}, 1.0);
  optimizer.step();
  EXPECT_TRUE(optimizer.state().empty());
}

/// Runs steps of five optimizers, with options that use most of their state, to compare strides,
/// dtypes and devices.
void step_all(const Tensors& params, int steps) {
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  const auto weight_decay = 0.1;
  optimizers.push_back(
      std::make_unique<SGD>(params, SGDOptions(0.1).momentum(0.5).weight_decay(weight_decay)));
  optimizers.push_back(
      std::make_unique<Adam>(params, AdamOptions(0.1).amsgrad(true).weight_decay(weight_decay)));
  optimizers.push_back(std::make_unique<AdamW>(params, AdamWOptions(0.1)));
  optimizers.push_back(std::make_unique<RMSprop>(
      params, RMSpropOptions(0.01).momentum(0.5).centered(true).eps(0.1)));
  optimizers.push_back(std::make_unique<Adagrad>(params, AdagradOptions(0.1).lr_decay(0.1)));
  for (int step = 0; step < steps; ++step)
    for (const auto& optimizer : optimizers) optimizer->step();
}

TEST(Optimizer, SupportsAnyStrides) {
  for (const Device device : devices()) {
    const Tensor values = randn({6, 5, 4}, kDouble).to(device),
                 grads = randn({6, 5, 4}, kDouble).to(device);
    const auto with_grad = [&](Tensor param, const Tensor& grad) {
      param = param.detach().requires_grad_();
      param.mutable_grad() = grad;
      return param;
    };
    const Tensor plain = with_grad(values.clone(), grads.clone());
    const Tensor permuted =
        with_grad(values.permute({2, 0, 1}).contiguous().permute({1, 2, 0}), grads);
    const Tensor frame = zeros({12, 5, 8}, values.options());
    const Tensor sliced = with_grad(frame.slice(0, 0, 12, 2).slice(2, 1, 5), grads.clone());
    {
      const NoGradGuard no_grad;
      sliced.copy_(values);
    }
    step_all({plain, permuted, sliced}, 3);
    EXPECT_TRUE(permuted.allclose(plain, 1e-12, 1e-12));
    EXPECT_TRUE(sliced.allclose(plain, 1e-12, 1e-12));
    EXPECT_EQ(frame.abs().gt(0).sum().item<int64_t>(), 6 * 5 * 4)
        << "other elements of the storage changed";
    EXPECT_EQ(permuted.stride(0), 5);
  }
}

TEST(Optimizer, SupportsMixedDtypesAndDevicesInAGroup) {
  for (const Device device : devices()) {
    const Doubles values{0.5, -1.25, 2, 3}, grads{1, -0.5, 0.25, 2};
    const Tensor as_double = leaf(values, grads);
    const Tensor as_float = leaf(values, grads, kFloat, device),
                 as_half = leaf(values, grads, kHalf, device),
                 as_bfloat16 = leaf(values, grads, kBFloat16, device);
    step_all({as_double, as_float, as_half, as_bfloat16}, 2);
    EXPECT_TRUE(as_float.cpu().to(kDouble).allclose(as_double, 1e-5, 1e-6));
    EXPECT_TRUE(as_half.cpu().to(kDouble).allclose(as_double, 1e-2, 1e-2));
    EXPECT_TRUE(as_bfloat16.cpu().to(kDouble).allclose(as_double, 5e-2, 5e-2));
  }
}

TEST(Optimizer, SupportsManyParameters) {
  for (const Device device : devices()) {
    Tensors params, grads;
    for (int i = 0; i < 300; ++i) {
      const Tensor param = full({i % 7, 1 + i % 3}, double(i), kFloat).to(device).requires_grad_();
      param.mutable_grad() = ones_like(param.detach());
      params.push_back(param);
    }
    params.push_back(zeros({300, 301}, kFloat).to(device).requires_grad_());
    params.back().mutable_grad() = ones({300, 301}, kFloat).to(device);
    SGD optimizer(params, 0.5);
    optimizer.step();
    for (int i = 0; i < 300; ++i)
      EXPECT_TRUE(params[size_t(i)].eq(double(i) - 0.5).all().item<bool>()) << i;
    EXPECT_TRUE(params.back().eq(-0.5).all().item<bool>());
  }
}

TEST(Optimizer, IncrementsVersions) {
  const Tensor a = leaf({1}, {1});
  const int64_t version = a._version();
  Adam({a}, 1.0).step();
  EXPECT_GT(a._version(), version);
}

TEST(Optimizer, RejectsInvalidOptions) {
  const Tensors p{leaf({1}, {})};
  EXPECT_ERROR(SGD(p, SGDOptions(-0.1)), "Invalid learning rate: -0.1");
  EXPECT_ERROR(SGD(p, SGDOptions(1).momentum(-1)), "Invalid momentum value: -1");
  EXPECT_ERROR(SGD(p, SGDOptions(1).weight_decay(-1)), "Invalid weight_decay value: -1");
  EXPECT_ERROR(SGD(p, SGDOptions(1).nesterov(true)),
               "Nesterov momentum requires a momentum and zero dampening");
  EXPECT_ERROR(Adam(p, AdamOptions(-1)), "Invalid learning rate: -1");
  EXPECT_ERROR(Adam(p, AdamOptions().eps(-1)), "Invalid epsilon value: -1");
  EXPECT_ERROR(Adam(p, AdamOptions().betas({1, 0})), "Invalid beta parameter at index 0: 1");
  EXPECT_ERROR(AdamW(p, AdamWOptions().betas({0, -0.5})),
               "Invalid beta parameter at index 1: -0.5");
  EXPECT_ERROR(RMSprop(p, RMSpropOptions().alpha(-1)), "Invalid alpha value: -1");
  EXPECT_ERROR(Adagrad(p, AdagradOptions().lr_decay(-1)), "Invalid lr_decay value: -1");
  EXPECT_ERROR(Adagrad(p, AdagradOptions().initial_accumulator_value(-1)),
               "Invalid initial_accumulator_value value: -1");
}

TEST(Optimizer, RejectsInvalidParameters) {
  const Tensor a = leaf({1}, {1});
  EXPECT_ERROR(SGD({a * 2}, 1.0), "can't optimize a non-leaf Tensor");
  EXPECT_ERROR(SGD({Tensor()}, 1.0), "optimizer can only optimize Tensors");
  Adam stepped({a}, AdamOptions(1));
  stepped.step();
  EXPECT_ERROR(stepped.add_param_group(OptimizerParamGroup({a})),
               "some parameters appear in more than one parameter group");
  EXPECT_EQ(stepped.param_groups().size(), 1u);
  SGD optimizer({a}, 1.0);
  optimizer.param_groups()[0].set_options(std::make_unique<AdamOptions>());
  EXPECT_ERROR(optimizer.step(),
               "the options of a parameter group are not those of this optimizer");
}

// LibTorch's result is the same: 1 - 0.25 - 0.5.
TEST(Optimizer, UpdatesAParameterOfTwoGroupsTwice) {
  const Tensor a = leaf({1}, {1});
  const std::vector<std::string> warnings = warnings_of([&] {
    std::vector<OptimizerParamGroup> groups;
    groups.emplace_back(Tensors{a});
    groups.emplace_back(Tensors{a}, std::make_unique<SGDOptions>(0.5));
    SGD optimizer(groups, SGDOptions(0.25));
    optimizer.step();
  });
  EXPECT_EQ(elements({a}), (Doubles{0.25}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("appear in more than one parameter group"), std::string::npos);
}

TEST(Optimizer, UpdatesDuplicateParametersOnce) {
  const Tensor a = leaf({1}, {1}), b = leaf({1}, {1});
  std::vector<std::string> warnings = warnings_of([&] {
    SGD optimizer({a, b, a}, 0.25);
    EXPECT_EQ(optimizer.param_groups()[0].params().size(), 2u);
    optimizer.step();
  });
  EXPECT_EQ(elements({a, b}), (Doubles{0.75, 0.75}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with(
      "optimizer contains a parameter group with duplicate parameters; in future"));
}

TEST(Optimizer, WarnsOfEmptyParameterLists) {
  const std::vector<std::string> expected{"optimizer got an empty parameter list"};
  EXPECT_EQ(warnings_of([] { SGD(Tensors{}, 1.0); }), expected);
  EXPECT_EQ(warnings_of([] { SGD(std::vector<OptimizerParamGroup>{}, 1.0); }), expected);
  EXPECT_EQ(warnings_of([] { SGD({leaf({1}, {})}, 1.0); }), std::vector<std::string>{});
}

TEST(Optimizer, DoesNotModifyGradients) {
  const Tensor a = leaf({1, 1, 1}, {}), expanded = leaf({1, 1, 1}, {});
  a.mutable_grad() = ones({3}, kDouble);
  expanded.mutable_grad() = ones({1}, kDouble).expand({3});
  step_all({a, expanded}, 2);
  EXPECT_EQ(elements({a}), elements({expanded}));
  EXPECT_EQ(a.grad()._version(), 0);
  EXPECT_EQ(expanded.grad()._version(), 0);
}

TEST(Optimizer, FailedStepLeavesTheStateUnchanged) {
  const Tensor a = leaf({1}, {}), b = leaf({1}, {});
  const auto compare = [&](Optimizer& interrupted, Optimizer& plain) {
    a.mutable_grad() = ones({1}, kFloat);  // not the parameter's dtype
    EXPECT_ERROR(interrupted.step(), "must have the same dtype");
    for (const Tensor& param : {a, b}) param.mutable_grad() = ones({1}, kDouble);
    for (int i = 0; i < 2; ++i) {
      interrupted.step();
      plain.step();
    }
    EXPECT_EQ(elements({a}), elements({b}));
  };
  SGD first({a}, SGDOptions(0.1).momentum(0.5).dampening(0.5)),
      second({b}, SGDOptions(0.1).momentum(0.5).dampening(0.5));
  compare(first, second);
  Adam third({a}, 0.1), fourth({b}, 0.1);
  compare(third, fourth);
  Adagrad fifth({a}, AdagradOptions(0.1).lr_decay(0.5)),
      sixth({b}, AdagradOptions(0.1).lr_decay(0.5));
  compare(fifth, sixth);
  RMSprop seventh({a}), eighth({b});
  compare(seventh, eighth);
  const auto step =
      static_cast<const RMSpropParamState&>(*seventh.state().at(a.unsafeGetTensorImpl())).step();
  EXPECT_EQ(step, 2);
}

struct HalvingOptions : OptimizerCloneableOptions<HalvingOptions> {
  HEARTH_ARG(double, divisor) = 2;
};

/// An optimizer as user code defines it.
class Halving : public Optimizer {
 public:
  explicit Halving(Tensors params)
      : Optimizer(std::move(params), std::make_unique<HalvingOptions>()) {}
  Tensor step(LossClosure closure = nullptr) override {
    const NoGradGuard no_grad;
    for (auto& group : param_groups_)
      for (auto& param : group.params())
        param.div_(static_cast<HalvingOptions&>(group.options()).divisor());
    return closure ? closure() : Tensor();
  }
};

TEST(Optimizer, SupportsUserDefinedOptimizers) {
  const Tensor a = leaf({8}, {});
  Halving optimizer({a});
  optimizer.step();
  EXPECT_EQ(elements({a}), Doubles{4});
  EXPECT_ERROR(optimizer.defaults().get_lr(), "get_lr() has not been implemented");
  EXPECT_ERROR(optimizer.state_dict(),
               "has not been implemented for torch::optim::OptimizerOptions");
}

TEST(Optimizer, DeprecatedFunctionsWarn) {
  const std::vector<std::string> warnings = warnings_of([] {
    SGD optimizer({leaf({1}, {})}, 1.0);
    optimizer.add_parameters({leaf({2}, {})});
    EXPECT_EQ(optimizer.size(), 2u);
    EXPECT_EQ(optimizer.parameters().size(), 2u);
  });
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_EQ(warnings[1], "Optimizer::size() will be removed in PyTorch 1.6");
}

}  // namespace
}  // namespace hearth::testing

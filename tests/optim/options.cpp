// Options and state, mostly of optimizers that LibTorch does not have: defaults, checks, Python's
// keys. ReduceLROnPlateau, called through its base class.
#include <gtest/gtest.h>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using namespace optim;

TEST(Options, HavePythonsDefaults) {
  const NAdamOptions nadam;
  EXPECT_EQ(nadam.lr(), 2e-3);
  EXPECT_EQ(nadam.momentum_decay(), 4e-3);
  const AdadeltaOptions adadelta;
  EXPECT_EQ(adadelta.lr(), 1);
  EXPECT_EQ(adadelta.rho(), 0.9);
  EXPECT_EQ(adadelta.eps(), 1e-6);
  const ASGDOptions asgd;
  EXPECT_EQ(asgd.t0(), 1e6);
  EXPECT_EQ(RpropOptions().step_sizes(), (std::tuple<double, double>(1e-6, 50)));
  EXPECT_FALSE(std::get<0>(AdafactorOptions().eps()).has_value());
  EXPECT_EQ(MuonOptions().momentum(), 0.95);
  EXPECT_EQ(AdamaxOptions().lr(), 2e-3);
  EXPECT_FALSE(AdamOptions().decoupled_weight_decay());
  EXPECT_TRUE(AdamWOptions().decoupled_weight_decay());
}

TEST(Options, AreChecked) {
  const Tensors p{leaf({1}, {})};
  EXPECT_ERROR(NAdam(p, NAdamOptions(-1)), "Invalid learning rate: -1");
  EXPECT_ERROR(NAdam(p, NAdamOptions().momentum_decay(-1)), "Invalid momentum_decay value: -1");
  EXPECT_ERROR(RAdam(p, RAdamOptions().betas({0.5, 1})), "Invalid beta parameter at index 1: 1");
  EXPECT_ERROR(Adamax(p, AdamaxOptions().eps(-1)), "Invalid epsilon value: -1");
  EXPECT_ERROR(Adamax(p, AdamaxOptions().weight_decay(-1)), "Invalid weight_decay value: -1");
  EXPECT_ERROR(Adadelta(p, AdadeltaOptions().rho(1.5)), "Invalid rho value: 1.5");
  EXPECT_ERROR(ASGD(p, ASGDOptions().lambd(-1)), "Invalid lambd value: -1");
  EXPECT_ERROR(ASGD(p, ASGDOptions().alpha(-1)), "Invalid alpha value: -1");
  EXPECT_ERROR(Rprop(p, RpropOptions().etas({0.5, 1})), "Invalid eta values: 0.5, 1");
  EXPECT_ERROR(Adafactor(p, -1), "Learning rate should be >= 0 but is: -1");
  EXPECT_ERROR(Adafactor(p, AdafactorOptions().beta2_decay(0.5)),
               "beta2_decay should be <= 0 but is: 0.5");
  EXPECT_ERROR(Adafactor(p, AdafactorOptions().eps({-1, 0})), "epsilon1 should be >= 0 but is: -1");
  EXPECT_ERROR(Adafactor(p, AdafactorOptions().eps({1, -1})), "epsilon2 should be >= 0 but is: -1");
  EXPECT_ERROR(Adafactor(p, AdafactorOptions().d(0.5)),
               "Clipping threshold d should be >= 1 but is: 0.5");
  EXPECT_ERROR(Muon(p, MuonOptions()),
               "Muon only supports 2D parameters whereas we found a parameter with size: "
               "torch.Size([1])");
  const Tensors matrix{ones({2, 2}).requires_grad_()};
  EXPECT_ERROR(Muon(matrix, MuonOptions().weight_decay(-1)),
               "weight decay should be >= 0 but is: -1");
  EXPECT_ERROR(Muon(matrix, MuonOptions().adjust_lr_fn("none")),
               "Adjust learning rate function none is not supported");
  matrix[0].mutable_grad() = ones({2, 2});
  Muon slow(matrix, MuonOptions().ns_steps(100));
  EXPECT_ERROR(slow.step(), "Number of steps must be less than 100 for computational efficiency");
}

/// The keys of the state of parameter 0 after one step.
template <class O>
std::string state_keys(const Tensor& param) {
  O optimizer({param});
  param.mutable_grad() = ones_like(param).detach();
  optimizer.step();
  std::string keys;
  const std::string prefix = "state.0.";
  for (const auto& [key, value] : optimizer.state_dict())
    if (key.starts_with(prefix)) keys += (keys.empty() ? "" : " ") + key.substr(prefix.size());
  return keys;
}

TEST(Options, StateHasPythonsKeys) {
  const Tensor vector = leaf({1, 2}, {}), matrix = ones({2, 3}).requires_grad_();
  EXPECT_EQ(state_keys<NAdam>(vector), "step mu_product exp_avg exp_avg_sq");
  EXPECT_EQ(state_keys<RAdam>(vector), "step exp_avg exp_avg_sq");
  EXPECT_EQ(state_keys<Adamax>(vector), "step exp_avg exp_inf");
  EXPECT_EQ(state_keys<Adadelta>(vector), "step square_avg acc_delta");
  EXPECT_EQ(state_keys<ASGD>(vector), "step eta mu ax");
  EXPECT_EQ(state_keys<Rprop>(vector), "step prev step_size");
  EXPECT_EQ(state_keys<Adafactor>(vector), "step variance");
  EXPECT_EQ(state_keys<Adafactor>(matrix), "step row_var col_var");
  EXPECT_EQ(state_keys<Muon>(matrix), "momentum_buffer");
}

TEST(Options, LoadNumbersThatPythonStoresAsTensors) {
  const Tensor param = leaf({1, 2}, {1, 1});
  NAdam optimizer({param});
  optimizer.step();
  StateDict dict;
  for (const auto& [key, value] : optimizer.state_dict()) dict.insert(key, value);
  dict.insert("state.0.step", scalar_tensor(7, kFloat));
  dict.insert("state.0.mu_product", scalar_tensor(0.25, kFloat));
  optimizer.load_state_dict(dict);
  const auto& state =
      static_cast<const NAdamParamState&>(*optimizer.state().at(param.unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 7);
  EXPECT_EQ(state.mu_product(), 0.25);
}

TEST(Options, NoneIsLoadedAsAMissingOption) {
  const Tensor matrix = ones({2, 2}).requires_grad_();
  Muon named({matrix}, MuonOptions().adjust_lr_fn("match_rms_adamw")), plain({matrix});
  const auto name_in = [](Muon& optimizer) {
    return static_cast<MuonOptions&>(optimizer.param_groups()[0].options()).adjust_lr_fn();
  };
  StateDict dict;
  for (const auto& [key, value] : plain.state_dict()) dict.insert(key, value);
  plain.load_state_dict(named.state_dict());
  EXPECT_EQ(name_in(plain), "match_rms_adamw");
  dict.insert("param_groups.0.adjust_lr_fn", IValue());  // Python's None
  plain.load_state_dict(dict);
  EXPECT_EQ(name_in(plain), std::nullopt);
}

TEST(Options, GroupsInheritOptionalValues) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{leaf({1}, {})});
  groups.emplace_back(Tensors{leaf({2}, {})},
                      std::make_unique<AdafactorOptions>(AdafactorOptions().eps({0.5, 1e-3})));
  groups.emplace_back(Tensors{leaf({3}, {})},
                      std::make_unique<AdafactorOptions>(AdafactorOptions(0.5)));
  Adafactor optimizer(groups, AdafactorOptions(0.1).eps({0.25, 1e-3}));
  const auto options = [&](size_t i) {
    return static_cast<AdafactorOptions&>(optimizer.param_groups()[i].options());
  };
  EXPECT_EQ(std::get<0>(options(0).eps()), 0.25);
  EXPECT_EQ(std::get<0>(options(1).eps()), 0.5);
  EXPECT_EQ(options(1).lr(), 0.1);
  EXPECT_EQ(std::get<0>(options(2).eps()), 0.25);
}

TEST(Options, RejectStateOfOtherSizes) {
  const Tensor a = ones({2, 3}).requires_grad_(), b = ones({3, 2}).requires_grad_();
  a.mutable_grad() = ones({2, 3});
  Adafactor first({a}), second({b});
  first.step();
  EXPECT_ERROR(second.load_state_dict(first.state_dict()),
               "loaded state dict contains 'row_var' of sizes [2, 1] for parameter 0, whose sizes "
               "are [3, 2]");
}

TEST(Plateau, TakesMetricsThroughTheBaseClass) {
  SGD sgd({leaf({1}, {})}, SGDOptions(1));
  ReduceLROnPlateau plateau(sgd, ReduceLROnPlateau::min, 0.5, 0);
  LRScheduler& base = plateau;
  base.step(1.0);
  base.step(1.0);
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 0.5);
  EXPECT_ERROR(plateau.step(), "missing 1 required positional argument: 'metrics'");
}

}  // namespace
}  // namespace hearth::testing

// State dicts and archives of optimizers and schedulers.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "hearth/io/archive.h"
#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/files.h"

namespace hearth::testing {
namespace {

using namespace optim;
using Doubles = std::vector<double>;

Tensors two_parameters(Device device = kCPU) {
  return {leaf({1, 2, 3}, {}, kDouble, device), leaf({-1}, {}, kDouble, device)};
}

void set_gradients(const Tensors& params, int step) {
  for (size_t i = 0; i < params.size(); ++i)
    params[i].mutable_grad() = params[i].detach() * double(i + 1) + double(step % 3) - 1;
}

void train(Optimizer& optimizer, const Tensors& params, int from, int to) {
  for (int step = from; step < to; ++step) {
    set_gradients(params, step);
    optimizer.step();
  }
}

void copy_values(const Tensors& to, const Tensors& from) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
}

using OptimizerPtr = std::unique_ptr<Optimizer>;
using Make = OptimizerPtr (*)(const Tensors&, double lr);

struct OptimizerCase {
  const char* name;
  Make make;
};
const OptimizerCase kOptimizerCases[] = {
    {"SGD",
     [](const Tensors& p, double lr) -> OptimizerPtr {
       return std::make_unique<SGD>(p, SGDOptions(lr).momentum(0.9));
     }},
    {"Adam",
     [](const Tensors& p, double lr) -> OptimizerPtr {
       return std::make_unique<Adam>(p, AdamOptions(lr).amsgrad(true));
     }},
    {"AdamW",
     [](const Tensors& p, double lr) -> OptimizerPtr {
       return std::make_unique<AdamW>(p, AdamWOptions(lr));
     }},
    {"RMSprop",
     [](const Tensors& p, double lr) -> OptimizerPtr {
       return std::make_unique<RMSprop>(p,
                                        RMSpropOptions(lr).momentum(0.5).centered(true).eps(0.1));
     }},
    {"Adagrad",
     [](const Tensors& p, double lr) -> OptimizerPtr {
       return std::make_unique<Adagrad>(p, AdagradOptions(lr).lr_decay(0.1));
     }},
};

class Saving : public ::testing::TestWithParam<OptimizerCase> {};

/// Trains an optimizer for ten steps. After the first five, `transfer` copies its state to a second
/// optimizer, whose results after five more steps must be bitwise equal.
template <class F>
void expect_resumes(const OptimizerCase& optimizer_case, Device device, F transfer) {
  const Tensors params = two_parameters(device), others = two_parameters(device);
  const OptimizerPtr first = optimizer_case.make(params, 0.1),
                     second = optimizer_case.make(others, 0.7);
  train(*first, params, 0, 5);
  transfer(*first, *second);
  copy_values(others, params);
  train(*first, params, 5, 10);
  train(*second, others, 5, 10);
  EXPECT_EQ(elements(params), elements(others)) << optimizer_case.name;
}

TEST_P(Saving, ResumesFromStateDict) {
  for (const Device device : devices())
    expect_resumes(GetParam(), device,
                   [](Optimizer& a, Optimizer& b) { b.load_state_dict(a.state_dict()); });
}

TEST_P(Saving, ResumesFromArchive) {
  const std::string file = ::testing::TempDir() + "/hearth_optim_" + GetParam().name;
  for (const Device device : devices())
    expect_resumes(GetParam(), device, [&](Optimizer& a, Optimizer& b) {
      serialize::OutputArchive out;
      a.save(out);
      out.save_to(file);
      serialize::InputArchive in;
      in.load_from(file);
      b.load(in);
    });
  std::remove(file.c_str());
}

TEST_P(Saving, ResumesOnOtherDevicesAndDtypes) {
  const Device device = devices().back();
  const Tensors params = two_parameters();
  const Tensors others{leaf({1, 2, 3}, {}, kFloat, device), leaf({-1}, {}, kFloat, device)};
  const OptimizerPtr first = GetParam().make(params, 0.1), second = GetParam().make(others, 0.1);
  train(*first, params, 0, 5);
  second->load_state_dict(first->state_dict());
  copy_values(others, params);
  train(*first, params, 5, 8);
  train(*second, others, 5, 8);
  for (size_t i = 0; i < params.size(); ++i)
    EXPECT_TRUE(others[i].cpu().to(kDouble).allclose(params[i], 1e-4, 1e-5)) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Saving, ::testing::ValuesIn(kOptimizerCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(StateDict, HasPythonsKeys) {
  const Tensors params = two_parameters();
  Adam optimizer({OptimizerParamGroup({params[0]}), OptimizerParamGroup({params[1]})},
                 AdamOptions(0.1));
  train(optimizer, params, 0, 3);
  const StateDict dict = optimizer.state_dict();
  EXPECT_EQ(dict["state.1.step"].toInt(), 3);
  EXPECT_EQ(dict["state.0.exp_avg"].toTensor().sizes(), params[0].sizes());
  EXPECT_FALSE(dict.contains("state.0.max_exp_avg_sq"));
  EXPECT_EQ(dict["param_groups.1.lr"].toDouble(), 0.1);
  EXPECT_EQ(dict["param_groups.1.betas.1"].toDouble(), 0.999);
  EXPECT_EQ(dict["param_groups.0.params.size"].toInt(), 1);
  EXPECT_FALSE(dict["param_groups.0.amsgrad"].toBool());
  EXPECT_EQ(dict.begin()->first, "state.0.step");
}

TEST(StateDict, IsCopiedOnLoad) {
  const Tensors params = two_parameters();
  SGD optimizer(params, SGDOptions(0.1).momentum(0.9)), other(params, SGDOptions(1));
  train(optimizer, params, 0, 1);
  other.load_state_dict(optimizer.state_dict());
  const auto buffer = [&](Optimizer& o) {
    return static_cast<SGDParamState&>(*o.state().at(params[0].unsafeGetTensorImpl()))
        .momentum_buffer();
  };
  EXPECT_TRUE(buffer(optimizer).equal(buffer(other)));
  EXPECT_FALSE(buffer(optimizer).data_ptr() == buffer(other).data_ptr());
  EXPECT_EQ(static_cast<SGDOptions&>(other.param_groups()[0].options()).momentum(), 0.9);
}

StateDict without(const StateDict& dict, const std::string& name) {
  StateDict rest;
  for (const auto& [key, value] : dict)
    if (key != name) rest.insert(key, value);
  return rest;
}

/// Expects load_state_dict to throw and to change nothing.
void expect_rejected(const StateDict& dict, const std::string& text) {
  const Tensors params = two_parameters();
  Adam optimizer(params, AdamOptions(0.7));
  train(optimizer, params, 0, 1);
  try {
    optimizer.load_state_dict(dict);
    ADD_FAILURE() << "expected the error: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.7);
  EXPECT_EQ(optimizer.state_dict()["state.0.step"].toInt(), 1);
}

TEST(StateDict, RejectsInvalidStates) {
  const Tensors params = two_parameters();
  Adam source(params, AdamOptions(0.1));
  train(source, params, 0, 2);
  const StateDict valid = source.state_dict();
  expect_rejected({}, "Key 'param_groups' is not defined");

  StateDict dict = valid;
  dict.insert("param_groups.size", 2);
  expect_rejected(dict, "loaded state dict has a different number of parameter groups");
  dict = valid;
  dict.insert("param_groups.0.params.size", 1);
  expect_rejected(dict,
                  "loaded state dict contains a parameter group that doesn't match the size of "
                  "optimizer's group");
  dict = valid;
  dict.insert("state.1.exp_avg", zeros({2}));
  expect_rejected(dict, "'exp_avg' of sizes [2] for parameter 1, whose sizes are [1]");
  dict = valid;
  dict.insert("state.1.exp_avg", 3);
  expect_rejected(dict, "Expected Tensor but got Int");
  dict = valid;
  dict.insert("param_groups.0.lr", "fast");
  expect_rejected(dict, "Expected Double but got String");
  expect_rejected(without(valid, "state.0.step"), "Key 'state.0.step' is not defined");
  dict = valid;
  dict.insert("state.1.step", -1);
  expect_rejected(dict, "loaded state dict contains a step -1 for parameter 1");
}

TEST(StateDict, RejectsStatesOfOtherOptimizers) {
  const Tensors params = two_parameters();
  SGD sgd(params, SGDOptions(0.1));
  AdamW adamw(params);
  train(adamw, params, 0, 1);
  expect_rejected(sgd.state_dict(),
                  "loaded state dict is from the optimizer SGD, so Adam cannot load it");
  expect_rejected(adamw.state_dict(), "from the optimizer AdamW, so Adam cannot");
  serialize::OutputArchive out;
  adamw.save(out);
  serialize::InputArchive in(out);
  EXPECT_ERROR(sgd.load(in), "from the optimizer AdamW, so SGD cannot load it");
}

TEST(StateDict, AcceptsStatesWithoutAName) {
  const Tensors params = two_parameters();
  Adam source(params, AdamOptions(0.1)), optimizer(params, AdamOptions(0.7));
  const StateDict dict = source.state_dict();
  EXPECT_EQ(dict["name"].toStringRef(), "Adam");
  optimizer.load_state_dict(without(dict, "name"));
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.1);
}

TEST(StateDict, KeepsOptionsMissingFromTheState) {
  const Tensors params = two_parameters();
  Adam source(params, AdamOptions(0.1));
  train(source, params, 0, 2);
  StateDict old = without(source.state_dict(), "param_groups.0.maximize");
  old = without(without(old, "param_groups.0.betas.0"), "param_groups.0.betas.1");
  Adam optimizer(params, AdamOptions(0.7).maximize(true).betas({0.5, 0.6}).eps(1));
  optimizer.load_state_dict(old);
  const auto& options = static_cast<const AdamOptions&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.1);
  EXPECT_EQ(options.eps(), 1e-8);
  EXPECT_TRUE(options.maximize());
  EXPECT_EQ(options.betas(), std::make_tuple(0.5, 0.6));
  EXPECT_EQ(optimizer.state_dict()["state.1.step"].toInt(), 2);
}

TEST(Archives, KeepOptionsMissingFromTheArchive) {
  const auto write = [](serialize::OutputArchive& archive, const char* name, auto write_values) {
    serialize::OutputArchive nested;
    write_values(nested);
    archive.write(name, nested);
  };
  serialize::OutputArchive out;
  write(out, "param_groups", [&](serialize::OutputArchive& groups) {
    groups.write("size", 1);
    write(groups, "0", [&](serialize::OutputArchive& group) {
      write(group, "params", [](serialize::OutputArchive& p) { p.write("size", 2); });
      group.write("lr", 0.25);
    });
  });
  Adam optimizer(two_parameters(), AdamOptions(0.7).betas({0.5, 0.6}).maximize(true));
  serialize::InputArchive in(out);
  optimizer.load(in);
  const auto& options = static_cast<const AdamOptions&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.25);
  EXPECT_EQ(options.betas(), std::make_tuple(0.5, 0.6));
  EXPECT_TRUE(options.maximize());
}

TEST(StateDict, DistinguishesKeysWithACommonPrefix) {
  Tensors params;
  for (int i = 0; i < 12; ++i) params.push_back(leaf({double(i)}, {}));
  Adam source(params, AdamOptions(0.1)), other(params, AdamOptions(0.1));
  params[1].mutable_grad() = ones({1}, kDouble);
  params[10].mutable_grad() = full({1}, 2.0, kDouble);
  source.step();
  other.load_state_dict(source.state_dict());
  EXPECT_EQ(other.state().size(), 2u);
  const StateDict dict = other.state_dict();
  EXPECT_FALSE(dict.contains("state.0.step"));
  EXPECT_DOUBLE_EQ(dict["state.1.exp_avg"].toTensor().item<double>(), 0.1);
  EXPECT_DOUBLE_EQ(dict["state.10.exp_avg"].toTensor().item<double>(), 0.2);
}

TEST(Archives, RejectOtherContents) {
  serialize::OutputArchive out;
  out.write("weight", ones({2}));
  const std::string file = ::testing::TempDir() + "/hearth_optim_other";
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  Adam optimizer(two_parameters());
  EXPECT_THROW(optimizer.load(in), Error);
  std::remove(file.c_str());
}

TEST(Archives, NameTheVersionsThatSavedOnlyBuffers) {
  // LibTorch up to 1.4 saved lists of tensors without options.
  serialize::OutputArchive out, buffers;
  buffers.write("size", tensor(1));
  buffers.write("0", ones({2}), /*is_buffer=*/true);
  out.write("exp_average_buffers", buffers);
  serialize::InputArchive in(out);
  Adam optimizer(two_parameters());
  EXPECT_ERROR(optimizer.load(in), "LibTorch 1.4 or older saved it");
}

TEST(Archives, ResumeSchedulers) {
  const Tensors params = two_parameters();
  SGD optimizer(params, SGDOptions(1));
  MultiStepLR scheduler(optimizer, {2, 4}, 0.5);
  for (int i = 0; i < 3; ++i) scheduler.step();
  const std::string file = ::testing::TempDir() + "/hearth_scheduler";
  serialize::OutputArchive out;
  scheduler.save(out);
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  MultiStepLR other(optimizer, {}, 1);
  other.load(in);
  other.step();
  EXPECT_EQ(other.last_epoch(), 4);
  EXPECT_EQ(other.get_last_lr(), Doubles{0.25});
  std::remove(file.c_str());
}

/// User-defined state and options that override the virtual functions of LibTorch's base classes.
struct OwnState : OptimizerCloneableParamState<OwnState> {
  HEARTH_ARG(Tensor, last);

 public:
  void serialize(serialize::InputArchive& archive) override { archive.read("last", last_); }
  void serialize(serialize::OutputArchive& archive) const override { archive.write("last", last_); }
};
struct OwnOptions : OptimizerCloneableOptions<OwnOptions> {
  HEARTH_ARG(double, lr) = 2;

 public:
  void serialize(serialize::InputArchive& archive) override { archive.read("lr", lr_); }
  void serialize(serialize::OutputArchive& archive) const override { archive.write("lr", lr_); }
};
class Own : public Optimizer {
 public:
  Own(Tensors params, OwnOptions options)
      : Optimizer(std::move(params), std::make_unique<OwnOptions>(options)) {}
  Tensor step(LossClosure = nullptr) override {
    for (const Tensor& param : param_groups_[0].params()) {
      auto state = std::make_unique<OwnState>();
      state->last(param.detach().clone());
      state_[param.unsafeGetTensorImpl()] = std::move(state);
    }
    return {};
  }
  void save(serialize::OutputArchive& archive) const override {
    optim::serialize<OwnState, OwnOptions>(archive, *this);
  }
  void load(serialize::InputArchive& archive) override {
    optim::serialize<OwnState, OwnOptions>(archive, *this);
  }
};

TEST(Archives, SupportUserDefinedOptimizers) {
  const Tensors params = two_parameters();
  Own first(params, OwnOptions().lr(5)), second(params, OwnOptions());
  first.step();
  const std::string file = ::testing::TempDir() + "/hearth_optim_own";
  serialize::OutputArchive out;
  first.save(out);
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  second.load(in);
  EXPECT_EQ(static_cast<OwnOptions&>(second.param_groups()[0].options()).lr(), 5);
  EXPECT_TRUE(static_cast<OwnState&>(*second.state().at(params[0].unsafeGetTensorImpl()))
                  .last()
                  .equal(params[0]));
  std::remove(file.c_str());
}

}  // namespace
}  // namespace hearth::testing

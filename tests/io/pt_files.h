// The module and the optimizers of tests/oracle/pt_files.py and libtorch_archives.cpp.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "hearth/nn/linear.h"
#include "hearth/nn/normalization.h"
#include "hearth/operators.h"
#include "hearth/optim/optim.h"
#include "tests/support/files.h"
#include "tests/support/fixtures.h"

namespace hearth::testing {

inline std::string pt_file(const std::string& name) { return fixture_path("pt/" + name); }

struct Net : nn::Module {
  nn::Linear fc = register_module("fc", nn::Linear(2, 2));
  nn::BatchNorm1d bn = register_module("bn", nn::BatchNorm1d(2));
  Tensor scale = register_parameter("scale", full({2}, 1.5));
};

/// Parameters and an optimizer that has made `steps` steps.
template <class Optimizer>
struct Steps {
  template <class Options>
  Steps(const Options& options, bool in_two_groups, int steps = 2)
      : optimizer(groups(options, in_two_groups), options) {
    for (int i = 0; i < steps; ++i) {
      optimizer.step([this] {
        optimizer.zero_grad();
        const Tensor loss = weight.pow(2).sum() + (bias + 1).pow(2).sum();
        loss.backward();
        return loss;
      });
    }
  }
  template <class Options>
  std::vector<optim::OptimizerParamGroup> groups(const Options& options, bool in_two_groups) {
    std::vector<optim::OptimizerParamGroup> result;
    if (std::is_same_v<Optimizer, optim::Muon>) return {optim::OptimizerParamGroup({weight})};
    if (!in_two_groups) return {optim::OptimizerParamGroup({weight, bias})};
    result.emplace_back(std::vector<Tensor>{weight});
    auto second = std::make_unique<Options>(options);
    second->lr(0.25);
    result.emplace_back(std::vector<Tensor>{bias}, std::move(second));
    return result;
  }

  Tensor weight = arange(4, kFloat).view({2, 2}).requires_grad_();
  Tensor bias = zeros({2}).requires_grad_();
  Optimizer optimizer;
};

/// Compares two state dicts and their values' types; tensors and doubles up to rounding, other
/// values by text.
inline void expect_same_state(const optim::StateDict& found, const optim::StateDict& expected,
                              const std::string& name) {
  EXPECT_EQ(found.size(), expected.size()) << name;
  for (const auto& [key, value] : expected) {
    ASSERT_TRUE(found.contains(key)) << name << ": " << key;
    EXPECT_STREQ(found[key].tagKind(), value.tagKind()) << name << ": " << key;
    if (value.isTensor())
      EXPECT_TRUE(found[key].toTensor().allclose(value.toTensor())) << name << ": " << key;
    else if (value.isDouble())
      EXPECT_NEAR(found[key].toDouble(), value.toDouble(), 1e-6 * std::abs(value.toDouble()))
          << name << ": " << key;
    else
      EXPECT_EQ(::testing::PrintToString(found[key]), ::testing::PrintToString(value))
          << name << ": " << key;
  }
}

}  // namespace hearth::testing

// Cases of tests/fixtures/optim_cases.txt, and their optimizers with two groups.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/fixtures.h"

namespace hearth::testing {

/// PyTorch's values after some of the steps.
struct Fixture {
  std::string name;
  ScalarType dtype;
  std::map<int64_t, std::vector<double>> steps;
};
inline void PrintTo(const Fixture& fixture, std::ostream* stream) { *stream << fixture.name; }

/// The fixtures of a kind: "case" (an optimizer), "schedule" or "search" (of LBFGS).
inline std::vector<Fixture> fixtures(const std::string& kind) {
  std::ifstream file(fixture_path("optim_cases.txt"));
  std::vector<Fixture> result;
  bool is_selected = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, name, dtype;
    words >> first;
    if (first == "case" || first == "schedule" || first == "search") {
      words >> name >> dtype;
      is_selected = first == kind;
      if (is_selected) result.push_back({name, dtype == "float32" ? kFloat : kDouble, {}});
    } else if (is_selected) {
      std::vector<double>& values = result.back().steps[std::stoll(first)];
      for (double value; words >> value;) values.push_back(value);
    }
  }
  return result;
}

inline std::string name_of_case(const ::testing::TestParamInfo<Fixture>& info) {
  return info.param.name + "_" + name_of(info.param.dtype);
}

using OptimizerPtr = std::unique_ptr<optim::Optimizer>;
using MakeOptimizer = std::function<OptimizerPtr(const Tensors&)>;

/// Makes an optimizer with two groups: all parameters but the last, and the last with a learning
/// rate of its own.
template <class O, class Options>
MakeOptimizer grouped(Options options) {
  return [options](const Tensors& p) {
    auto second = std::make_unique<Options>(options);
    second->lr(0.02);
    std::vector<optim::OptimizerParamGroup> groups;
    groups.emplace_back(Tensors(p.begin(), p.end() - 1));
    groups.emplace_back(Tensors{p.back()}, std::move(second));
    return std::make_unique<O>(groups, options);
  };
}

}  // namespace hearth::testing

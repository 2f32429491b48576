#include "tests/zoo/expected.h"
#include "tests/support/fixtures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/operators.h"

namespace hearth::testing {

namespace {

/// A model of the fixture: the names and sizes of its state, and its output.
struct Expected {
  std::vector<std::string> state;
  std::vector<double> output;
};

std::map<std::string, Expected> read_expected() {
  std::ifstream file(fixture_path("zoo.txt"));
  std::map<std::string, Expected> result;
  std::string model;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "model")
      words >> model;
    else if (word != "output")
      result[model].state.push_back(line);
    else
      for (double value; words >> value;) result[model].output.push_back(value);
  }
  return result;
}

/// Fills tensor number k of a state as fill() in tests/oracle/zoo.py does.
void fill(const std::string& name, Tensor tensor, int64_t k) {
  if (tensor.dim() == 0) return;
  const Tensor wave = arange(tensor.numel(), kDouble).mul(0.37).add(k).sin().view(tensor.sizes());
  if (tensor.dim() > 1)
    tensor.copy_(wave.mul(2 / std::sqrt(double(tensor.numel()) / double(tensor.size(0)))));
  else
    tensor.copy_(wave.mul(0.1).add(name.ends_with("weight") || name.ends_with("running_var")));
}

}  // namespace

void expect_model(const std::string& name, nn::Module& model, const std::function<Tensor()>& run) {
  SCOPED_TRACE(name);
  static const auto models = read_expected();
  const Expected& expected = models.at(name);
  const NoGradGuard no_grad;
  model.eval();
  std::vector<std::string> state;
  int64_t k = 0;
  for (const auto& item : model.state_dict()) {
    std::string line = item.key();
    for (const int64_t size : item.value().sizes()) line += " " + std::to_string(size);
    state.push_back(line);
    fill(item.key(), item.value(), k++);
  }
  EXPECT_EQ(state, expected.state);
  const Tensor output = run().flatten();
  ASSERT_EQ(output.numel(), int64_t(expected.output.size()));
  for (size_t i = 0; i < expected.output.size(); ++i)
    EXPECT_NEAR(output[int64_t(i)].item<double>(), expected.output[i],
                1e-4 * (1 + std::fabs(expected.output[i])));
}

}  // namespace hearth::testing

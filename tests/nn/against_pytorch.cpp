// Compares the module of each case with PyTorch's results for the same seed
// (tests/oracle/nn_cases.py).
#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "tests/nn/cases.h"

namespace {

using namespace hearth;
using namespace hearth::testing;

void expect_close(const Tensor& got, const Tensor& wanted, const std::string& description) {
  ASSERT_TRUE(got.defined()) << description;
  ASSERT_EQ(got.sizes(), wanted.sizes()) << description;
  ASSERT_EQ(got.scalar_type(), wanted.scalar_type()) << description;
  EXPECT_TRUE(got.detach().cpu().allclose(wanted, 2e-4, 2e-5)) << description << "\n"
                                                               << to_string(got) << "\nshould be\n"
                                                               << to_string(wanted);
}

/// Runs backward from the sum of `output[i] * (i + 1)` over all elements of all outputs that
/// require a gradient.
void backward(const std::vector<Tensor>& outputs) {
  Tensor total;
  for (const Tensor& output : outputs) {
    if (!output.requires_grad()) continue;
    const Tensor factors = arange(1, output.numel() + 1, output.device()).reshape(output.sizes());
    const Tensor sum = (output * factors).sum();
    total = total.defined() ? total + sum : sum;
  }
  if (total.defined()) total.backward();
}

void check_initial_values(const NnCase& c, const nn::Module& module) {
  const auto state = module.state_dict();
  for (const auto& item : c.tensors)
    if (item.key().starts_with("init.")) {
      const Tensor* own = state.find(item.key().substr(5));
      ASSERT_TRUE(own) << c.name << ": " << item.key();
      // Parametrizations compute their tensors from the drawn weights; these may differ by
      // rounding.
      const bool is_computed = item.key().find("parametrizations.") != std::string::npos;
      EXPECT_TRUE(is_computed ? own->allclose(item.value(), 1e-5, 1e-6) : own->equal(item.value()))
          << c.name << ": " << item.key() << " differs from PyTorch's initial value\n"
          << to_string(*own) << "\n"
          << to_string(item.value());
    }
}

std::vector<Tensor> inputs_of(const NnCase& c, Device device) {
  std::vector<Tensor> inputs;
  for (const auto& item : c.tensors)
    if (item.key().starts_with("in.")) {
      const Tensor input = item->to(device);
      inputs.push_back(inputs.empty() && input.is_floating_point() ? input.requires_grad_()
                                                                   : input);
    }
  return inputs;
}

void run(const NnCase& c, Device device) {
  SCOPED_TRACE(c.name);
  const auto make = subjects().find(c.name);
  ASSERT_TRUE(make != subjects().end()) << c.name;
  manual_seed(c.seed);
  const Subject subject = make->second();
  check_initial_values(c, *subject.module);
  subject.module->to(device);
  const std::vector<Tensor> inputs = inputs_of(c, device);
  const std::vector<Tensor> outputs = subject.call(inputs);
  backward(outputs);
  const auto parameters = subject.module->named_parameters();
  const auto buffers = subject.module->named_buffers();
  size_t checked = 0;
  for (const auto& item : c.tensors) {
    const std::string& key = item.key();
    const auto number = [&](size_t prefix) { return std::stoul(key.substr(prefix)); };
    if (key.starts_with("out."))
      expect_close(outputs.at(number(4)), *item, key);
    else if (key.starts_with("grad.in."))
      expect_close(inputs.at(number(8)).grad(), *item, key);
    else if (key.starts_with("grad."))
      expect_close(parameters[key.substr(5)].grad(), *item, key);
    else if (key.starts_with("after."))
      expect_close(buffers[key.substr(6)], *item, key);
    else
      continue;
    ++checked;
  }
  EXPECT_GT(checked, 0u);
}

TEST(PyTorchCases, ModulesMatchOnTheCpu) {
  const std::vector<NnCase> cases = read_nn_cases();
  EXPECT_EQ(cases.size(), subjects().size());
  for (const NnCase& c : cases) run(c, kCPU);
}

TEST(PyTorchCases, ModulesMatchOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  for (const NnCase& c : read_nn_cases()) {
    // GPUs draw other random numbers.
    if (c.name.find("dropout") != std::string::npos || c.name == "training") continue;
    if (c.name.ends_with("_drawn")) continue;
    run(c, Device(kCUDA, 0));
  }
}

}  // namespace

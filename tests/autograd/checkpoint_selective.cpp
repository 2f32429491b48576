// Selective checkpoints: values and gradients of the plain run bit for bit, random numbers, errors.
#include "tests/autograd/checkpoint_support.h"

namespace hearth::testing {
namespace {

using utils::checkpoint;
using utils::CheckpointOptions;
using utils::SelectiveCheckpoint;

TEST(SelectiveCheckpoint, AllowsBackwardInside) {
  const Tensor x = full({2}, 1.0).requires_grad_(), w = rand({2}).requires_grad_();
  const auto adds = [](const Tensor& t) {
    const Tensor y = t.add(1).exp();
    const Tensor b = y.add(5);
    const Tensor g = autograd::grad({y.sum()}, {t}, {}, /*retain_graph=*/true)[0];
    return t.add(100).sum();
  };
  const auto multiplies = [&](const Tensor& t) {
    const Tensor y = t.mul(w).tanh();
    const Tensor g = autograd::grad({y.sum()}, {t}, {}, true, /*create_graph=*/true)[0];
    return g.mul(w).pow(2).sum() + y.mul(t).sum();
  };
  for (const bool early_stop : {true, false}) {
    auto options = CheckpointOptions().early_stop(early_stop);
    for (const std::vector<std::string>& ops :
         {std::vector<std::string>{"add"}, {"mul", "tanh"}, {"exp", "tanh", "add"}}) {
      options.selective(SelectiveCheckpoint(ops));
      EXPECT_EQ(checkpoint(options, adds, x).item<float>(), 202);
      expect_identical([&] { return multiplies(x); },
                       [&] { return checkpoint(options, multiplies, x); }, {x, w});
    }
  }
}

TEST(SelectiveCheckpoint, KeepsTheResultsOfSomeOps) {
  nn::Sequential net = block(6);
  const Tensor x = rand({4, 6}).requires_grad_();
  std::vector<Tensor> leaves = net->parameters();
  leaves.push_back(x);
  std::vector<std::string> ops;
  const auto policy = [&](const std::string& op, const Tensor& result) {
    ops.push_back(op);
    return result.defined() && op == "addmm";
  };
  for (const SelectiveCheckpoint& selection :
       {SelectiveCheckpoint(), SelectiveCheckpoint({"linear"}), SelectiveCheckpoint(policy)}) {
    const auto options = CheckpointOptions().selective(selection);
    expect_identical([&] { return net->forward(x).pow(2).sum(); },
                     [&] { return checkpoint(options, net, x).pow(2).sum(); }, leaves);
  }
  EXPECT_GE(ops.size(), 4u);
  const auto options = CheckpointOptions().selective(SelectiveCheckpoint({"exp"}));
  const auto f = [](const Tensor& t) { return t.sin().exp().mul(t); };
  const Tensor y = checkpoint(options, f, x).sum();
  y.backward({}, /*retain_graph=*/true);
  EXPECT_ERROR(y.backward(), "Trying to backward an extra time.");
}

TEST(SelectiveCheckpoint, DrawsTheSameNumbersAgain) {
  using Policy = SelectiveCheckpoint::Policy;
  const Tensor x = rand({2, 2, 16, 8}).requires_grad_();
  const auto f = [](const Tensor& t) {
    const Tensor small = dropout(t.slice(0, 0, 1), 0.5, true);
    const Tensor a = scaled_dot_product_attention(t, t, t, {}, 0.3, true).tanh();
    return dropout(a.exp() * bernoulli(full({8}, 0.5)), 0.5, true).sum() + small.exp().sum();
  };
  const Policy small_results = [](const std::string&, const Tensor& result) {
    return result.defined() && result.numel() <= 256;
  };

  for (const SelectiveCheckpoint& selection :
       {SelectiveCheckpoint({"scaled_dot_product_attention"}),
        SelectiveCheckpoint({"native_dropout"}), SelectiveCheckpoint({"tanh", "bernoulli"}),
        SelectiveCheckpoint(small_results)})
    expect_identical([&] { return f(x); },
                     [&] { return checkpoint(CheckpointOptions().selective(selection), f, x); },
                     {x});
  const auto drops = [](const Tensor& t) { return dropout(t, 0.5, true).exp().mul(t); };
  const auto keeps = CheckpointOptions().preserve_rng_state(false).selective(
      SelectiveCheckpoint({"native_dropout"}));
  expect_identical([&] { return drops(x).sum(); },
                   [&] { return checkpoint(keeps, drops, x).sum(); }, {x});
}

TEST(SelectiveCheckpoint, ReportsModifiedAndMismatchedResults) {
  const Tensor x = rand({3}).requires_grad_();
  const auto options = CheckpointOptions().selective(SelectiveCheckpoint({"sin"}));
  const auto modifies = [](const Tensor& t) {
    Tensor y = t.sin();
    return y.add_(1).mul(t);
  };
  EXPECT_ERROR(checkpoint(options, modifies, x).sum().backward(),
               "Tensor cached during selective activation checkpoint has been mutated (output 0 of "
               "sin, CPUFloatType [3])");
  int calls = 0;
  const auto differs = [&](const Tensor& t) {
    return (++calls == 1 ? t : t.sin()).exp().sin().exp();
  };
  EXPECT_ERROR(checkpoint(options, differs, x).sum().backward(),
               "torch.utils.checkpoint: Recomputed values");
  EXPECT_THROW(SelectiveCheckpoint(std::vector<std::string>()), ValueError);
  calls = 0;
  const auto skips = [&](const Tensor& t) {
    const Tensor first = ++calls == 1 ? t.slice(0, 0, 2).sin().sum() : zeros({});
    return t.sin().exp().add(first);
  };
  EXPECT_ERROR(
      checkpoint(CheckpointOptions(options).determinism_check("none"), skips, x).sum().backward(),
      "The result of sin that was kept in forward does not fit the call in the second "
      "computation: CPUFloatType [2] instead of");
}

TEST(SelectiveCheckpoint, IgnoresScopesOutsideTheFunction) {
  const Tensor x = full({2}, 1.0).requires_grad_();
  const auto f = [](const Tensor& t) {
    const Tensor a = t.mul(3).sin();
    const NamedScope scope("kept");
    return (a * a * a + t.mul(7).sin()).exp().sum();
  };
  const auto options = CheckpointOptions().selective(SelectiveCheckpoint({"kept"}));
  const auto in_scope = [&] {
    const NamedScope scope("kept");
    return checkpoint(options, f, x);
  };
  expect_identical([&] { return f(x); }, in_scope, {x});
  const NamedScope scope("kept");
  expect_identical([&] { return f(x); }, [&] { return checkpoint(options, f, x); }, {x});
}

}  // namespace
}  // namespace hearth::testing

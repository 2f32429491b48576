// Recurrent nets on a simulated GPU, by the plugin's calls of a fake cuDNN.
#include "hearth/context.h"
#include "hearth/profiler.h"
#include "tests/cuda/cudnn/fake.h"
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

class CudnnNets : public OnGpu {
 protected:
  UseFakeCudnn use;
};

struct NetCase {
  std::string mode;
  int64_t layers = 1, hidden = 6, state = 6;
  bool bidirectional = false, has_biases = true;
  double dropout = 0;
  std::vector<int64_t> batch_sizes = {};  // empty: 5 steps of 4 sequences
};

/// Runs a net; t: input, states, parameters. Returns all results.
Tensor run_case(const NetCase& c, const Tensors& t) {
  const bool is_lstm = c.mode == "lstm";
  const std::vector<Tensor> params(t.begin() + (is_lstm ? 3 : 2), t.end());
  manual_seed(5);  // for dropout
  const auto join = [](const auto& results) {
    return std::apply([](const auto&... each) { return cat({each.flatten()...}); }, results);
  };
  const auto run = [&](auto with_states, const auto& states) {
    if (c.batch_sizes.empty())
      return join(with_states(t[0], states, params, c.has_biases, c.layers, c.dropout, true,
                              c.bidirectional, false));
    return join(with_states(t[0], tensor(c.batch_sizes), states, params, c.has_biases, c.layers,
                            c.dropout, true, c.bidirectional));
  };
  if (is_lstm) return run([](auto&&... a) { return lstm(a...); }, std::vector<Tensor>{t[1], t[2]});
  if (c.mode == "gru") return run([](auto&&... a) { return gru(a...); }, t[1]);
  if (c.mode == "relu") return run([](auto&&... a) { return rnn_relu(a...); }, t[1]);
  return run([](auto&&... a) { return rnn_tanh(a...); }, t[1]);
}

Tensors inputs_of(const NetCase& c) {
  const int64_t gates = c.mode == "lstm" ? 4 : c.mode == "gru" ? 3 : 1, features = 3;
  const int64_t directions = c.bidirectional ? 2 : 1, batch = 4;
  int64_t positions = 0;
  for (const int64_t count : c.batch_sizes) positions += count;
  Tensors inputs{
      c.batch_sizes.empty() ? numbers({5, batch, features}) : numbers({positions, features}),
      numbers({c.layers * directions, batch, c.state})};
  if (c.mode == "lstm") inputs.push_back(numbers({c.layers * directions, batch, c.hidden}));
  for (int64_t i = 0; i < c.layers * directions; ++i) {
    inputs.push_back(numbers({gates * c.hidden, i < directions ? features : directions * c.state}) *
                     0.3);
    inputs.push_back(numbers({gates * c.hidden, c.state}) * 0.3);
    for (int k = 0; c.has_biases && k < 2; ++k) inputs.push_back(numbers({gates * c.hidden}));
    if (c.state != c.hidden) inputs.push_back(numbers({c.state, c.hidden}) * 0.3);
  }
  return inputs;
}

TEST_F(CudnnNets, MatchTheCpu) {
  const std::vector<int64_t> packed{4, 4, 2, 1};
  for (const std::string mode : {"lstm", "gru", "tanh", "relu"})
    for (const NetCase& c : std::vector<NetCase>{{mode},
                                                 {mode, 3},
                                                 {mode, 2, 6, 6, true},
                                                 {mode, 2, 6, 6, true, false},
                                                 {mode, 2, 6, 6, true, true, 0, packed},
                                                 {mode, 1, 6, 6, false, true, 0, packed}})
      for (const ScalarType dtype : {kFloat, kDouble}) {
        const int before = fake_cudnn().net_runs;
        expect_same_gradients(
            inputs_of(c), dtype, [&](const Tensors& t) { return run_case(c, t); }, mode, 10);
        EXPECT_EQ(fake_cudnn().net_runs, before + 1) << mode;
      }
}

TEST_F(CudnnNets, ProjectedStatesMatchTheCpu) {
  for (const bool both : {false, true}) {
    const NetCase c{"lstm", 2, 6, 4, both, true, 0, {4, 3, 3}};
    expect_same_gradients(
        inputs_of(c), kFloat, [&](const Tensors& t) { return run_case(c, t); }, "projected", 10);
  }
  EXPECT_EQ(fake_cudnn().net_runs, 2);
}

TEST_F(CudnnNets, HalfTypesMatchTheCpu) {
  const NetCase c{"gru", 2};
  for (const ScalarType dtype : {kHalf, kBFloat16})
    expect_same_gradients(
        inputs_of(c), dtype, [&](const Tensors& t) { return run_case(c, t); }, "half", 4);
  EXPECT_EQ(fake_cudnn().net_runs, 2);
}

TEST_F(CudnnNets, DropoutEqualsThatOfTheOwnKernels) {
  const NetCase c{"lstm", 3, 6, 6, true, true, 0.4};
  Tensors inputs;
  for (const Tensor& t : inputs_of(c)) inputs.push_back(t.to(kFloat).to(kGpu));
  const Tensor by_library = run_case(c, inputs).cpu();
  EXPECT_EQ(fake_cudnn().net_runs, 3) << "one call per layer";
  globalContext().setUserEnabledCuDNN(false);
  const Tensor by_kernels = run_case(c, inputs).cpu();
  globalContext().setUserEnabledCuDNN(true);
  EXPECT_EQ(fake_cudnn().net_runs, 3);
  EXPECT_LE(difference(by_library, by_kernels), 1e-5);
}

TEST_F(CudnnNets, BackwardTwiceGivesEqualGradients) {
  const NetCase c{"lstm", 2};
  Tensors leaves;
  for (const Tensor& t : inputs_of(c)) leaves.push_back(t.to(kFloat).to(kGpu).requires_grad_());
  const Tensor out = run_case(c, leaves).sum();
  const auto first = autograd::grad({out}, leaves, {}, true),
             second = autograd::grad({out}, leaves, {});
  for (size_t i = 0; i < leaves.size(); ++i) expect_equal(first[i], second[i].cpu(), "gradient");
}

TEST_F(CudnnNets, SecondDerivativesMatchTheCpu) {
  for (const std::string mode : {"lstm", "gru"}) {
    const NetCase c{mode, 2, 6, 6, true};
    expect_same_gradients(
        inputs_of(c), kDouble,
        [&](const Tensors& t) {
          const Tensor out = run_case(c, t);
          Tensors parts;
          for (const Tensor& g : autograd::grad({out.square().sum()}, t, {}, true, true))
            parts.push_back(g.flatten());
          return cat(parts);
        },
        "second derivative of " + mode, 10);
    EXPECT_GT(fake_cudnn().net_runs, 0);
  }
}

TEST_F(CudnnNets, GradientsOfOneInputAlone) {
  const NetCase c{"lstm", 2};
  for (size_t wanted = 0; wanted < 5; ++wanted) {
    const Tensors inputs = inputs_of(c);
    Tensor found[2];
    for (const bool on_gpu : {false, true}) {
      Tensors t;
      for (const Tensor& each : inputs) t.push_back(on_gpu ? each.to(kGpu) : each);
      t[wanted] = t[wanted].detach().requires_grad_();
      found[on_gpu] = autograd::grad({run_case(c, t).square().sum()}, {t[wanted]})[0];
    }
    EXPECT_LE(difference(found[1], found[0]), 1e-11) << wanted;
  }
}

TEST_F(CudnnNets, OwnKernelsRunWhatIsRefused) {
  fake_cudnn().refuses = true;
  const NetCase c{"gru", 2};
  expect_same_gradients(
      inputs_of(c), kFloat, [&](const Tensors& t) { return run_case(c, t); }, "refused", 10);
  EXPECT_EQ(fake_cudnn().net_runs, 0);
}

TEST_F(CudnnNets, OwnKernelsRunIfTheLibraryHasNoNets) {
  fake_cudnn().lacks_nets = true;
  const NetCase c{"lstm", 2};
  expect_same_gradients(
      inputs_of(c), kFloat, [&](const Tensors& t) { return run_case(c, t); }, "no nets", 10);
  EXPECT_EQ(fake_cudnn().net_runs, 0);
  fake_cudnn().lacks_nets = false;
  fake_cudnn().lacks_graphs = true;
  expect_same_gradients(
      inputs_of(c), kFloat, [&](const Tensors& t) { return run_case(c, t); }, "no graphs", 10);
  EXPECT_EQ(fake_cudnn().net_runs, 1);
}

TEST_F(CudnnNets, ProductsOfBackwardAreCounted) {
  const NetCase c{"lstm", 2, 6, 4, true, true, 0, {4, 3, 3}};
  constexpr int64_t kPositions = 10, kOfState = 24 * 4, kProjection = 4 * 6;
  constexpr int64_t kOfInputs = 24 * 3 + 24 * 8;  // of both layers
  Tensors leaves;
  for (const Tensor& t : inputs_of(c)) leaves.push_back(t.to(kFloat).to(kGpu).requires_grad_());
  profiler::profile recorded(profiler::ProfileOptions().with_flops(true));
  run_case(c, leaves).sum().backward();
  recorded.stop();
  const int64_t forward = 2 * kPositions * 2 * (kOfInputs + 2 * kOfState + 2 * kProjection);
  EXPECT_EQ(recorded.key_averages().at("aten::_recurrent_net_backward").flops, 2 * forward);
}

TEST_F(CudnnNets, RunsAreCounted) {
  const cuda::CudnnCalls& calls = cuda::cudnn_calls();
  const int64_t forward = calls.nets, backward = calls.nets_backward;
  const NetCase c{"gru", 2};
  expect_same_gradients(
      inputs_of(c), kFloat, [&](const Tensors& t) { return run_case(c, t); }, "counted", 10);
  EXPECT_EQ(calls.nets, forward + 1);
  EXPECT_EQ(calls.nets_backward, backward + 1);
}

TEST_F(CudnnNets, OwnKernelsRunIfHearthCudnnIsUnset) {
  fake_cudnn().parts = {};
  const NetCase c{"tanh"};
  expect_same_gradients(
      inputs_of(c), kFloat, [&](const Tensors& t) { return run_case(c, t); }, "not wanted", 10);
  EXPECT_EQ(fake_cudnn().net_runs, 0);
}

}  // namespace
}  // namespace hearth::testing

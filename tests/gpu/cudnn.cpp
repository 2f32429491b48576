// Attention and recurrent nets as cuDNN may compute them (HEARTH_CUDNN), against the CPU in double
// precision and against the own kernels. Without the variable the own kernels are compared with
// themselves. With it, a test on a real GPU fails if cuDNN computed nothing.
#include "hearth/about.h"
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

int64_t calls_of(const std::string& name) {
  for (const auto& [called, count] : library_calls())
    if (called == name) return count;
  return 0;
}

/// A test that fails if HEARTH_CUDNN names the part (attention or recurrence), but cuDNN was not
/// called.
class ByCudnn : public OnGpu {
 protected:
  ByCudnn(const char* part, const char* name) : part_(part), name_(name) {}
  void SetUp() override {
    OnGpu::SetUp();
    before_ = calls_of(name_);
    before_backward_ = calls_of(name_ + " backward");
  }
  void TearDown() override {
    if (IsSkipped() || !why_not_asked().empty()) return;
    EXPECT_GT(forward_calls(), 0) << "HEARTH_CUDNN names " << part_ << ", but the own kernels ran; "
                                  << "cuDNN is available: " << cuda::cudnn_is_available();
  }
  /// The reason why cuDNN is not asked; empty if it is.
  std::string why_not_asked() const {
    if (!is_real_gpu(kGpu)) return "simulated GPUs have no cuDNN";
    const char* const parts = std::getenv("HEARTH_CUDNN");
    if (parts && std::string(parts).find(part_) != std::string::npos) return {};
    return "HEARTH_CUDNN does not name " + part_;
  }
  int64_t forward_calls() const { return calls_of(name_) - before_; }
  int64_t backward_calls() const { return calls_of(name_ + " backward") - before_backward_; }

 private:
  const std::string part_, name_;
  int64_t before_ = 0, before_backward_ = 0;
};

struct FusedAttention : ByCudnn {
  FusedAttention() : ByCudnn("attention", "cuDNN attention") {}
};
struct RecurrentNets : ByCudnn {
  RecurrentNets() : ByCudnn("recurrence", "cuDNN recurrent net") {}
};

/// Lets only the own kernels compute during its lifetime.
struct WithoutCudnn {
  WithoutCudnn() { globalContext().setUserEnabledCuDNN(false); }
  ~WithoutCudnn() { globalContext().setUserEnabledCuDNN(true); }
  WithoutCudnn(const WithoutCudnn&) = delete;
  WithoutCudnn& operator=(const WithoutCudnn&) = delete;
};

/// Full float32 in cuDNN during its lifetime.
using ExactFloats = ExactConvolutions;

/// The result of a call on the GPU with the inputs in `dtype`, and the inputs' gradients.
Tensors results_of(const Tensors& inputs, ScalarType dtype, const Call& call) {
  Tensors leaves;
  for (const Tensor& t : inputs) leaves.push_back(t.to(dtype).to(kGpu).detach().requires_grad_());
  const Tensor out = call(leaves);
  manual_seed(3);
  out.backward(numbers(out.sizes(), dtype).to(kGpu, out.scalar_type()));
  Tensors results{out};
  for (const Tensor& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

/// Compares the GPU's results and gradients with the CPU's, and with those of the own kernels.
void expect_same_everywhere(const Tensors& inputs, ScalarType dtype, const Call& call,
                            const std::string& description, double slack) {
  expect_same_gradients(inputs, dtype, call, description, slack);
  const Tensors found = results_of(inputs, dtype, call);
  const WithoutCudnn own;
  const Tensors expected = results_of(inputs, dtype, call);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LE(difference(found[i], expected[i].cpu()), slack * tolerance(dtype))
        << description << ", result " << i << " against the own kernels";
}

TEST_F(FusedAttention, CudnnComputesBothPasses) {
  if (const std::string reason = why_not_asked(); !reason.empty()) GTEST_SKIP() << reason;
  results_of({numbers({2, 3, 256, 64}), numbers({2, 3, 256, 64}), numbers({2, 3, 256, 64})},
             kBFloat16,
             [](const Tensors& t) { return scaled_dot_product_attention(t[0], t[1], t[2]); });
  EXPECT_EQ(forward_calls(), 1);
  EXPECT_EQ(backward_calls(), 1);
}

TEST_F(FusedAttention, AllLengthsMatch) {
  const int64_t heads = by_gpu(/*real=*/3, /*simulated=*/1);
  for (const int64_t rows : {16, 63, 64, 100, 128, 129, 500})
    for (const int64_t keys : {5, 16, 64, 77, 128, 192, 320, 500}) {
      if (by_gpu(/*real=*/0, /*simulated=*/1) && rows * keys > 8000) continue;
      for (const bool causal : {false, true})
        expect_same_everywhere(
            {numbers({2, heads, rows, 64}), numbers({2, heads, keys, 64}),
             numbers({2, heads, keys, 64})},
            kBFloat16,
            [causal](const Tensors& t) {
              return scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, causal);
            },
            "rows " + std::to_string(rows) + ", keys " + std::to_string(keys), 4);
    }
}

TEST_F(FusedAttention, AllWidthsMatch) {
  const int64_t length = by_gpu(/*real=*/200, /*simulated=*/40);
  for (const int64_t width : {8, 24, 32, 40, 64, 72, 96, 128, 160, 192, 256, 264})
    for (const int64_t value_width : {width, int64_t{64}})
      for (const ScalarType dtype : {kHalf, kBFloat16})
        expect_same_everywhere(
            {numbers({1, 2, length, width}), numbers({1, 2, length, width}),
             numbers({1, 2, length, value_width})},
            dtype, [](const Tensors& t) { return scaled_dot_product_attention(t[0], t[1], t[2]); },
            "widths " + std::to_string(width) + ", " + std::to_string(value_width), 4);
}

TEST_F(FusedAttention, SharedHeadsMatch) {
  const int64_t length = by_gpu(/*real=*/333, /*simulated=*/40);
  for (const int64_t key_heads : {1, 2, 4})
    expect_same_everywhere(
        {numbers({2, 8, length, 64}), numbers({2, key_heads, length, 64}),
         numbers({2, key_heads, length, 64})},
        kHalf,
        [](const Tensors& t) {
          return scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, true, {}, true);
        },
        "key heads " + std::to_string(key_heads), 4);
}

TEST_F(FusedAttention, LowAndHighScoresMatch) {
  // The shift moves all scores. At -120, the logarithms of the sums are below -88, so that
  // exp(-logarithm) is infinite in float32.
  const int64_t length = by_gpu(/*real=*/192, /*simulated=*/48);
  for (const double shift : {-120.0, 0.0, 120.0})
    for (const bool masked : {false, true}) {
      const Tensor mask = ones({length, length}, kBool);
      Tensor direction = zeros({1, 1, 1, 64}, kDouble);
      // The scores are the products divided by 8, the root of the width.
      direction[0][0][0][0].fill_(std::sqrt(std::abs(shift) * 8));
      const auto call = [&](const Tensors& t) {
        const Tensor along = direction.to(t[0].device(), t[0].scalar_type());
        const std::optional<Tensor> used =
            masked ? std::optional<Tensor>(mask.to(t[0].device())) : std::nullopt;
        return scaled_dot_product_attention(t[0] + (shift < 0 ? -along : along), t[1] + along, t[2],
                                            used);
      };
      expect_same_everywhere({numbers({1, 1, length, 64}) * 0.1, numbers({1, 1, length, 64}) * 0.1,
                              numbers({1, 1, length, 64})},
                             kHalf, call, "shift " + std::to_string(shift), 100);
    }
}

TEST_F(FusedAttention, MasksMatch) {
  const int64_t rows = by_gpu(/*real=*/150, /*simulated=*/20);
  for (const int64_t keys : {64, 77, 128, 192, 256})
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
             {2, 3, rows, keys}, {2, 1, rows, keys}, {2, 1, 1, keys}, {rows, keys}}) {
      Tensor mask = rand(sizes).gt(0.3);
      mask.view({-1, keys})[0].fill_(false);  // a row without keys
      expect_same_everywhere(
          {numbers({2, 3, rows, 64}), numbers({2, 3, keys, 64}), numbers({2, 3, keys, 64})}, kHalf,
          [&](const Tensors& t) {
            return scaled_dot_product_attention(t[0], t[1], t[2], mask.to(t[0].device()));
          },
          "masked, keys " + std::to_string(keys), 4);
    }
}

struct DeepNet {
  std::string mode;
  int64_t layers, hidden, state;  // state: the width of h; less than `hidden` with a projection
  bool bidirectional;
  std::vector<int64_t> batch_sizes;  // empty: all sequences have 9 steps
  double dropout = 0;
};

Tensor run_deep_net(const DeepNet& net, const Tensors& t) {
  const bool is_lstm = net.mode == "lstm";
  const std::vector<Tensor> params(t.begin() + (is_lstm ? 3 : 2), t.end());
  manual_seed(11);
  const auto join = [](const auto& results) {
    return std::apply([](const auto&... each) { return cat({each.flatten()...}); }, results);
  };
  const auto run = [&](auto call, const auto& states) {
    if (net.batch_sizes.empty())
      return join(call(t[0], states, params, true, net.layers, net.dropout, true, net.bidirectional,
                       false));
    return join(call(t[0], tensor(net.batch_sizes), states, params, true, net.layers, net.dropout,
                     true, net.bidirectional));
  };
  if (is_lstm) return run([](auto&&... a) { return lstm(a...); }, std::vector<Tensor>{t[1], t[2]});
  if (net.mode == "gru") return run([](auto&&... a) { return gru(a...); }, t[1]);
  if (net.mode == "relu") return run([](auto&&... a) { return rnn_relu(a...); }, t[1]);
  return run([](auto&&... a) { return rnn_tanh(a...); }, t[1]);
}

Tensors deep_net_inputs(const DeepNet& net) {
  const int64_t gates = net.mode == "lstm" ? 4 : net.mode == "gru" ? 3 : 1, features = 20;
  const int64_t directions = net.bidirectional ? 2 : 1;
  const int64_t batch = net.batch_sizes.empty() ? 6 : net.batch_sizes[0];
  int64_t positions = 0;
  for (const int64_t count : net.batch_sizes) positions += count;
  Tensors inputs{
      net.batch_sizes.empty() ? numbers({9, batch, features}) : numbers({positions, features}),
      numbers({net.layers * directions, batch, net.state}) * 0.5};
  if (net.mode == "lstm")
    inputs.push_back(numbers({net.layers * directions, batch, net.hidden}) * 0.5);
  for (int64_t i = 0; i < net.layers * directions; ++i) {
    const int64_t width = i < directions ? features : directions * net.state;
    inputs.push_back(numbers({gates * net.hidden, width}) * 0.1);
    inputs.push_back(numbers({gates * net.hidden, net.state}) * 0.1);
    inputs.push_back(numbers({gates * net.hidden}) * 0.1);
    inputs.push_back(numbers({gates * net.hidden}) * 0.1);
    if (net.state != net.hidden) inputs.push_back(numbers({net.state, net.hidden}) * 0.1);
  }
  return inputs;
}

TEST_F(RecurrentNets, CudnnComputesBothPasses) {
  if (const std::string reason = why_not_asked(); !reason.empty()) GTEST_SKIP() << reason;
  const DeepNet net{"lstm", 3, 64, 64, true, {}};
  results_of(deep_net_inputs(net), kFloat, [&](const Tensors& t) { return run_deep_net(net, t); });
  EXPECT_EQ(forward_calls(), 1);
  EXPECT_EQ(backward_calls(), 1);
}

TEST_F(RecurrentNets, AllKindsMatch) {
  const ExactFloats exact;
  const int64_t hidden = by_gpu(/*real=*/96, /*simulated=*/8);
  for (const std::string mode : {"lstm", "gru", "tanh", "relu"})
    for (const bool both : {false, true})
      for (const std::vector<int64_t>& sizes :
           std::vector<std::vector<int64_t>>{{}, {6, 6, 5, 3, 3, 1}})
        for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
          const DeepNet net{mode, 3, hidden, hidden, both, sizes};
          expect_same_everywhere(
              deep_net_inputs(net), dtype, [&](const Tensors& t) { return run_deep_net(net, t); },
              mode + (both ? ", both directions" : "") + (sizes.empty() ? "" : ", packed"), 20);
        }
}

TEST_F(RecurrentNets, ProjectedStatesMatch) {
  const ExactFloats exact;
  const int64_t hidden = by_gpu(/*real=*/96, /*simulated=*/8);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{}, {6, 4, 4, 2}})
    for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
      const DeepNet net{"lstm", 2, hidden, hidden / 2, true, sizes};
      expect_same_everywhere(
          deep_net_inputs(net), dtype, [&](const Tensors& t) { return run_deep_net(net, t); },
          "projected", 20);
    }
}

TEST_F(RecurrentNets, DropoutIsThatOfTheOwnKernels) {
  const ExactFloats exact;
  const DeepNet net{"lstm", 3, 16, 16, true, {}, 0.4};
  const Call call = [&](const Tensors& t) { return run_deep_net(net, t); };
  const Tensors inputs = deep_net_inputs(net), found = results_of(inputs, kFloat, call);
  const WithoutCudnn own;
  const Tensors expected = results_of(inputs, kFloat, call);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LE(difference(found[i], expected[i].cpu()), 20 * tolerance(kFloat)) << i;
}

TEST_F(RecurrentNets, BackwardTwiceGivesEqualGradients) {
  const DeepNet net{"gru", 2, 16, 16, true, {}};
  Tensors leaves;
  for (const Tensor& t : deep_net_inputs(net))
    leaves.push_back(t.to(kFloat).to(kGpu).requires_grad_());
  const Tensor out = run_deep_net(net, leaves).sum();
  const auto first = autograd::grad({out}, leaves, {}, true),
             second = autograd::grad({out}, leaves, {});
  for (size_t i = 0; i < leaves.size(); ++i)
    EXPECT_LE(difference(first[i], second[i].cpu()), tolerance(kFloat)) << i;
}

}  // namespace
}  // namespace hearth::testing

// Attention on a simulated GPU: the plugin builds cuDNN graphs, and a fake cuDNN evaluates them.
#include "hearth/context.h"
#include "tests/cuda/cudnn/fake.h"
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

class CudnnAttention : public OnGpu {
 protected:
  UseFakeCudnn use;
};

struct AttentionCase {
  const char* name;
  std::vector<int64_t> query, key;
  int64_t value_width;
  bool causal = false;
  std::vector<int64_t> mask = {};
  int runs = 2;  // of cuDNN's graphs; 2: forward and backward, 1: only forward, 0: none
};

const std::vector<AttentionCase> kAttentionCases{
    {"self", {2, 3, 20, 16}, {2, 3, 20, 16}, 16},
    {"causal", {1, 2, 33, 8}, {1, 2, 33, 8}, 8, true},
    {"causal, more queries", {1, 2, 33, 8}, {1, 2, 20, 8}, 24, true},
    {"causal, more keys", {1, 2, 20, 8}, {1, 2, 33, 8}, 8, true},
    {"shared heads", {2, 4, 17, 16}, {2, 2, 21, 16}, 8},
    {"masked", {2, 2, 18, 8}, {2, 2, 128, 8}, 8, false, {2, 2, 18, 128}},
    {"one mask for all heads", {2, 2, 18, 8}, {2, 2, 128, 8}, 8, false, {2, 1, 18, 128}},
    {"masked keys", {2, 2, 18, 8}, {2, 2, 128, 8}, 8, false, {2, 1, 1, 128}},
    {"masked, part of a tile", {2, 2, 18, 8}, {2, 2, 24, 8}, 8, false, {1, 2, 18, 24}, 1},
    {"width not a multiple of 8", {1, 2, 20, 12}, {1, 2, 20, 12}, 12, false, {}, 0},
    {"wide", {1, 1, 20, 264}, {1, 1, 20, 264}, 8, false, {}, 0}};

Tensor attend(const AttentionCase& c, const Tensors& t, const Tensor& mask) {
  const std::optional<Tensor> used =
      mask.defined() ? std::optional<Tensor>(mask.to(t[0].device())) : std::nullopt;
  return scaled_dot_product_attention(t[0], t[1], t[2], used, 0, c.causal, 0.3, true);
}

Tensor mask_of(const AttentionCase& c) {
  if (c.mask.empty()) return {};
  const Tensor mask = rand(c.mask).gt(0.4);
  mask[0][0][0].fill_(false);  // a row without keys
  return mask;
}

TEST_F(CudnnAttention, MatchesTheCpu) {
  for (const ScalarType dtype : {kHalf, kBFloat16})
    for (const AttentionCase& c : kAttentionCases) {
      std::vector<int64_t> value = c.key;
      value[3] = c.value_width;
      const Tensor mask = mask_of(c);
      const int before = fake_cudnn().graph_runs;
      expect_same_gradients(
          {numbers(c.query), numbers(c.key), numbers(value)}, dtype,
          [&](const Tensors& t) { return attend(c, t, mask); }, c.name, 4);
      EXPECT_EQ(fake_cudnn().graph_runs - before, c.runs) << c.name;
    }
}

TEST_F(CudnnAttention, ReadsInterleavedHeads) {
  const auto call = [](const Tensors& t) {
    const auto parts = t[0].transpose(1, 2).split(16, -1);  // [batch, heads, rows, width]
    return scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0, true);
  };
  expect_same_gradients({numbers({2, 20, 3, 48})}, kHalf, call, "one projection", 4);
  EXPECT_EQ(fake_cudnn().graph_runs, 2);
}

TEST_F(CudnnAttention, AMaskThatHidesARowGivesZeros) {
  const AttentionCase& c = kAttentionCases[5];  // "masked"
  const Tensor mask = mask_of(c);
  const Tensor out = attend(c,
                            {randn(c.query).to(kHalf).to(kGpu), randn(c.key).to(kHalf).to(kGpu),
                             randn(c.key).to(kHalf).to(kGpu)},
                            mask);
  cuda::synchronize();
  EXPECT_EQ(fake_cudnn().graph_runs, 1);
  EXPECT_EQ(out[0][0][0].abs().max().item<float>(), 0);
  EXPECT_GT(out[0][0][1].abs().max().item<float>(), 0);
}

TEST_F(CudnnAttention, NaNsAreNotHidden) {
  Tensor query = randn({1, 1, 16, 8}).to(kHalf);
  query[0][0][3].fill_(NAN);
  const Tensor key = randn({1, 1, 16, 8}).to(kHalf).to(kGpu), mask = ones({16, 16}, kBool).to(kGpu);
  const Tensor out = scaled_dot_product_attention(query.to(kGpu), key, key, mask);
  cuda::synchronize();
  EXPECT_EQ(fake_cudnn().graph_runs, 1);
  EXPECT_TRUE(std::isnan(out[0][0][3][0].item<float>()));
  EXPECT_FALSE(std::isnan(out[0][0][2][0].item<float>()));
}

/// Runs forward and backward; returns the number of graphs that ran.
int runs_of(ScalarType dtype, double dropout = 0) {
  const int before = fake_cudnn().graph_runs;
  const Tensor x = randn({1, 2, 20, 8}).to(dtype).to(kGpu).requires_grad_();
  scaled_dot_product_attention(x, x, x, {}, dropout).backward(ones({1, 2, 20, 8}, dtype).to(kGpu));
  x.grad().cpu();
  return fake_cudnn().graph_runs - before;
}

TEST_F(CudnnAttention, OwnKernelsComputeWhatCudnnMayNot) {
  EXPECT_EQ(runs_of(kHalf), 2);
  EXPECT_EQ(runs_of(kFloat), 0);
  EXPECT_EQ(runs_of(kDouble), 0);
  EXPECT_EQ(runs_of(kHalf, 0.5), 0);
  globalContext().setUserEnabledCuDNN(false);
  EXPECT_EQ(runs_of(kHalf), 0);
  globalContext().setUserEnabledCuDNN(true);
  globalContext().setDeterministicCuDNN(true);
  EXPECT_EQ(runs_of(kHalf), 1) << "the backward pass adds in any order";
  globalContext().setDeterministicCuDNN(false);
  fake_cudnn().version = 91500;
  EXPECT_EQ(runs_of(kHalf), 1) << "20 keys are no multiple of 128";
  fake_cudnn().parts.attention = false;
  EXPECT_EQ(runs_of(kHalf), 0);
}

TEST_F(CudnnAttention, OwnKernelsComputeIfTheLibraryHasNoGraphs) {
  fake_cudnn().lacks_graphs = true;
  const AttentionCase& c = kAttentionCases[0];
  expect_same_gradients(
      {numbers(c.query), numbers(c.key), numbers(c.key)}, kHalf,
      [&](const Tensors& t) { return attend(c, t, {}); }, c.name, 4);
  EXPECT_EQ(fake_cudnn().graph_runs, 0);
}

TEST_F(CudnnAttention, RunsAreCounted) {
  const cuda::CudnnCalls& calls = cuda::cudnn_calls();
  const int64_t forward = calls.attention, backward = calls.attention_backward;
  EXPECT_EQ(runs_of(kHalf), 2);
  EXPECT_EQ(runs_of(kFloat), 0);
  EXPECT_EQ(calls.attention, forward + 1);
  EXPECT_EQ(calls.attention_backward, backward + 1);
}

TEST_F(CudnnAttention, PlansOfOneDeviceDoNotReplaceThoseOfAnother) {
  constexpr int64_t kLimit = 1024;  // the plans that the plugin keeps for a device
  // More plans than other tests leave behind. A limit common to all devices would be reached only
  // in the last kOtherPlans rounds, so only these run the second device.
  constexpr int64_t kOtherPlans = 200;
  constexpr int64_t kKeyCounts = 32;
  const auto run = [](const Device& device, int64_t rows, int64_t keys) {
    const Tensor query = ones({1, 1, rows, 40}, kHalf).to(device);
    const Tensor key = ones({1, 1, keys, 40}, kHalf).to(device);
    scaled_dot_product_attention(query, key, key);
    cuda::synchronize(device.index());
  };
  const Device second(DeviceType::CUDA, 1);
  int compilations = 0;  // for the second device
  for (int64_t i = 0; i < kLimit; ++i) {
    run(kGpu, 16 + i / kKeyCounts, 1 + i % kKeyCounts);  // with fewer than 16 rows, no graph runs
    if (i + kOtherPlans < kLimit) continue;
    const int before = fake_cudnn().graph_compilations;
    run(second, 16, 1);
    compilations += fake_cudnn().graph_compilations - before;
  }
  EXPECT_EQ(compilations, 1);
}

TEST_F(CudnnAttention, ARefusalIsRemembered) {
  const AttentionCase c{"refused", {1, 1, 19, 8}, {1, 1, 19, 8}, 8};
  for (const bool refuses : {true, false}) {
    fake_cudnn().refuses = refuses;
    expect_same_gradients(
        {numbers(c.query), numbers(c.key), numbers(c.key)}, kHalf,
        [&](const Tensors& t) { return attend(c, t, {}); }, c.name, 4);
    EXPECT_EQ(fake_cudnn().graph_runs, 0);
  }
}

}  // namespace
}  // namespace hearth::testing

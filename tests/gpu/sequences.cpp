// Attention, recurrent nets, ctc_loss and embedding_bag, with their gradients.
#include "tests/gpu/support.h"

namespace hearth::testing {
namespace {

using Attention = OnGpu;
using Recurrence = OnGpu;
using CtcLoss = OnGpu;
using EmbeddingBags = OnGpu;

struct AttentionCase {
  const char* name;
  std::vector<int64_t> query, key;
  int64_t value_width;
  bool causal = false, masked = false;
};

TEST_F(Attention, MatchesTheCpu) {
  const int64_t length = by_gpu(/*real=*/1000, /*simulated=*/70),
                batch = by_gpu(/*real=*/3, /*simulated=*/1);
  const std::vector<AttentionCase> cases{
      {"self", {batch, 4, length, 64}, {batch, 4, length, 64}, 64},
      {"causal", {batch, 2, length, 64}, {batch, 2, length, 64}, 64, true},
      {"shared heads", {batch, 4, length, 32}, {batch, 2, length + 5, 32}, 32},
      {"wide", {1, batch, 65, 130}, {1, batch, 67, 130}, 200, true},
      {"narrow", {2, 1, 17, 3}, {2, 1, 129, 3}, 1, false, true},
      {"decoding", {2, 4, 1, 40}, {2, 2, length, 40}, 40},
      {"masked", {batch, 2, length, 40}, {batch, 2, length + 31, 40}, 72, false, true}};
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf, kDouble})
    for (const AttentionCase& c : cases) {
      const int64_t rows = c.query[2], keys = c.key[2];
      const Tensor mask = rand({c.query[0], 1, rows, keys}).gt(0.3);
      mask[0][0][rows / 2].fill_(false);  // a row without keys
      std::vector<int64_t> value = c.key;
      value[3] = c.value_width;
      const auto call = [&](const Tensors& t) {
        const std::optional<Tensor> used =
            c.masked ? std::optional<Tensor>(mask.to(t[0].device())) : std::nullopt;
        return scaled_dot_product_attention(t[0], t[1], t[2], used, 0, c.causal, {}, true);
      };
      expect_same_gradients({numbers(c.query), numbers(c.key), numbers(value)}, dtype, call, c.name,
                            4);
    }
}

TEST_F(Attention, ReadsAnyStrides) {
  const auto call = [](const Tensors& t) {
    const Tensor x = t[0].transpose(1, 2);  // [batch, heads, rows, width]
    const auto parts = x.split(40, -1);
    return scaled_dot_product_attention(parts[0], parts[1], parts[2].flip({2}), {}, 0, true);
  };
  for (const ScalarType dtype : kLayerDtypes)
    expect_same_gradients({numbers({2, 90, 3, 120})}, dtype, call, "attention of one projection",
                          4);
}

/// Runs a net of two layers in both directions; t: input, states, parameters.
Tensor run_net(const std::string& mode, const Tensors& t, const Tensor& batch_sizes) {
  const std::vector<Tensor> params(t.begin() + (mode == "lstm" ? 3 : 2), t.end());
  const auto join = [](const auto& outputs) {
    return cat({std::get<0>(outputs).flatten(), std::get<1>(outputs).flatten()});
  };
  const bool is_packed = batch_sizes.defined();
  if (mode == "lstm")
    return is_packed ? join(lstm(t[0], batch_sizes, {t[1], t[2]}, params, true, 2, 0, true, true))
                     : join(lstm(t[0], {t[1], t[2]}, params, true, 2, 0, true, true, false));
  if (mode == "gru")
    return is_packed ? join(gru(t[0], batch_sizes, t[1], params, true, 2, 0, true, true))
                     : join(gru(t[0], t[1], params, true, 2, 0, true, true, false));
  return is_packed ? join(rnn_tanh(t[0], batch_sizes, t[1], params, true, 2, 0, true, true))
                   : join(rnn_tanh(t[0], t[1], params, true, 2, 0, true, true, false));
}

Tensors net_inputs(const std::string& mode, IntArrayRef input, int64_t batch, int64_t hidden,
                   int64_t state) {
  const int64_t gates = mode == "lstm" ? 4 : mode == "gru" ? 3 : 1;
  Tensors inputs{numbers(input), numbers({4, batch, state})};
  if (mode == "lstm") inputs.push_back(numbers({4, batch, hidden}));
  for (int64_t i = 0; i < 4; ++i) {  // two layers in both directions
    const int64_t width = i < 2 ? input.back() : 2 * state;
    inputs.push_back(numbers({gates * hidden, width}) * 0.2);
    inputs.push_back(numbers({gates * hidden, state}) * 0.2);
    inputs.push_back(numbers({gates * hidden}));
    inputs.push_back(numbers({gates * hidden}));
    if (state != hidden) inputs.push_back(numbers({state, hidden}) * 0.2);
  }
  return inputs;
}

TEST_F(Recurrence, MatchesTheCpu) {
  const int64_t batch = by_gpu(/*real=*/33, /*simulated=*/5),
                hidden = by_gpu(/*real=*/130, /*simulated=*/19);
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const std::string mode : {"lstm", "gru", "tanh"})
      for (const bool projected : {false, true}) {
        if (projected && mode != "lstm") continue;
        const int64_t state = projected ? hidden / 2 : hidden;
        expect_same_gradients(
            net_inputs(mode, {11, batch, 17}, batch, hidden, state), dtype,
            [&](const Tensors& t) { return run_net(mode, t, {}); }, mode, 10);
      }
}

TEST_F(Recurrence, PackedSequencesMatchTheCpu) {
  const Tensor sizes = tensor({int64_t{7}, int64_t{7}, int64_t{5}, int64_t{2}, int64_t{1}});
  for (const std::string mode : {"lstm", "gru", "tanh"})
    expect_same_gradients(
        net_inputs(mode, {22, 9}, 7, 21, 21), kFloat,
        [&](const Tensors& t) { return run_net(mode, t, sizes); }, "packed " + mode, 10);
}

TEST_F(CtcLoss, MatchesTheCpu) {
  const int64_t times = by_gpu(/*real=*/400, /*simulated=*/40),
                longest = by_gpu(/*real=*/150, /*simulated=*/15);
  for (const int64_t classes : {int64_t{5}, int64_t{700}}) {
    const Tensor targets = randint(1, classes, {9, longest}, kLong),
                 input_lengths = randint(times / 2, times + 1, {9}, kLong),
                 target_lengths = randint(0, longest / 3, {9}, kLong);
    for (const ScalarType dtype : {kFloat, kDouble})
      expect_same_gradients(
          {numbers({times, 9, classes}), targets, input_lengths, target_lengths}, dtype,
          [](const Tensors& t) {
            return ctc_loss(log_softmax(t[0], 2), t[1], t[2], t[3], 0, Reduction::None);
          },
          "ctc_loss", 100);  // float32 sums of logarithms over 400 time steps lose 1e-3
  }
}

TEST_F(EmbeddingBags, MatchTheCpu) {
  const int64_t count = by_gpu(/*real=*/70000, /*simulated=*/700), bags = count / 7;
  const Tensor indices = randint(500, {count}, kLong), scales = numbers({count}),
               offsets = std::get<0>(randint(count, {bags}, kLong).sort());
  offsets[0].fill_(0);
  for (const ScalarType dtype : kLayerDtypes)
    for (const int64_t mode : {0, 1, 2})
      for (const int64_t width : {int64_t{1}, int64_t{33}})
        expect_same_gradients(
            {numbers({500, width}), indices, offsets}, dtype,
            [mode](const Tensors& t) {
              return std::get<0>(embedding_bag(t[0], t[1], t[2], false, mode, false, {}, false, 3));
            },
            "embedding_bag, mode " + std::to_string(mode), 2);
  expect_same_gradients(
      {numbers({500, 40}), indices, offsets, scales}, kFloat,
      [](const Tensors& t) {
        return std::get<0>(embedding_bag(t[0], t[1], t[2], false, 0, false, t[3]));
      },
      "scaled embedding_bag", 2);
}

TEST_F(EmbeddingBags, IndicesAfterTheLastOffsetAreInNoBag) {
  const Tensor indices = tensor({int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{1}}),
               offsets = tensor({int64_t{0}, int64_t{2}, int64_t{3}});
  for (const int64_t mode : {0, 1, 2})
    expect_same_gradients(
        {numbers({4, 3}), indices, offsets}, kFloat,
        [mode](const Tensors& t) {
          return std::get<0>(embedding_bag(t[0], t[1], t[2], false, mode, false, {}, true));
        },
        "mode " + std::to_string(mode), 2);
  expect_same_gradients(
      {numbers({4, 3}), indices, offsets, numbers({5})}, kFloat,
      [](const Tensors& t) {
        return std::get<0>(embedding_bag(t[0], t[1], t[2], false, 0, false, t[3], true));
      },
      "scaled", 2);
}

TEST_F(EmbeddingBags, ReportFaults) {
  const Tensor table = randn({5, 3}).to(kGpu), offsets = tensor({int64_t{0}}).to(kGpu);
  EXPECT_THROW(std::get<0>(embedding_bag(table, tensor({int64_t{7}}).to(kGpu), offsets)).cpu(),
               Error);
}

}  // namespace
}  // namespace hearth::testing

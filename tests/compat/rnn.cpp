// Recurrent modules, cells and packed sequences as LibTorch has them.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/compat/texts.h"
#include "tests/support/throws.h"

namespace {

namespace rnn = torch::nn::utils::rnn;
using hearth::testing::printed;

TEST(Rnn, ModulesPrint) {
  EXPECT_EQ(printed(*torch::nn::LSTM(
                torch::nn::LSTMOptions(3, 4).num_layers(2).proj_size(2).bidirectional(true))),
            "LSTM(input_size=3, hidden_size=4, num_layers=2, bias=true, batch_first=false, "
            "dropout=0, bidirectional=true, proj_size=2)");
  EXPECT_EQ(
      printed(*torch::nn::GRU(3, 4)),
      "GRU(input_size=3, hidden_size=4, num_layers=1, bias=true, batch_first=false, dropout=0, "
      "bidirectional=false)");
  EXPECT_EQ(printed(*torch::nn::LSTMCell(3, 4)), "LSTMCell(3, 4)");
  EXPECT_EQ(printed(*torch::nn::GRUCell(torch::nn::GRUCellOptions(3, 4).bias(false))),
            "GRUCell(3, 4, bias=false)");
  EXPECT_EQ(
      printed(*torch::nn::RNNCell(torch::nn::RNNCellOptions(3, 4).nonlinearity(torch::kReLU))),
      "RNNCell(3, 4, nonlinearity=kReLU)");
}

TEST(Rnn, ParametersAreNamedAndOrdered) {
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(3, 4).proj_size(2));
  std::vector<std::string> names;
  for (const auto& item : lstm->named_parameters()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0",
                                             "bias_hh_l0", "weight_hr_l0"}));
  EXPECT_EQ(lstm->all_weights().size(), 5u);
  EXPECT_EQ(lstm->options_base.proj_size(), 2);
  lstm->flatten_parameters();
  torch::nn::GRUCell cell(3, 4);
  EXPECT_EQ(cell->weight_ih.sizes(), torch::IntArrayRef({12, 3}));
  EXPECT_EQ(cell->options_base.num_chunks(), 3);
}

TEST(Rnn, OperatorsTakeStatesAndParameters) {
  torch::nn::LSTM lstm(3, 4);
  auto x = torch::randn({5, 2, 3}), h = torch::zeros({1, 2, 4});
  auto [y, last_h, last_c] =
      torch::lstm(x, {h, h}, lstm->all_weights(), true, 1, 0.0, false, false, false);
  EXPECT_TRUE(y[4].equal(last_h[0]));
  EXPECT_TRUE(torch::allclose(std::get<0>(lstm(x)), y));
  auto p = lstm->all_weights();
  auto [next_h, next_c] = torch::lstm_cell(x[0], {h[0], h[0]}, p[0], p[1], p[2], p[3]);
  EXPECT_TRUE(torch::allclose(next_h, y[0], 1e-5, 1e-6));
  EXPECT_EQ(next_c.sizes(), last_c[0].sizes());
  torch::nn::GRU gru(3, 4);
  auto [z, last] = torch::gru(x, h, gru->all_weights(), true, 1, 0.0, false, false, false);
  EXPECT_TRUE(z[4].equal(last[0]));
}

TEST(Rnn, PackedSequences) {
  auto packed = rnn::pack_sequence({torch::ones(2), torch::full(3, 2.0)}, false);
  EXPECT_TRUE(packed.data().equal(torch::tensor({2.f, 1.f, 2.f, 1.f, 2.f})));
  EXPECT_TRUE(packed.batch_sizes().equal(torch::tensor({2, 2, 1}, torch::kLong)));
  EXPECT_TRUE(packed.sorted_indices().equal(torch::tensor({1, 0}, torch::kLong)));
  EXPECT_TRUE(packed.to(torch::kDouble).data().dtype() == torch::kDouble);
  auto [padded, lengths] = rnn::pad_packed_sequence(packed, true, -1.0, 4);
  EXPECT_EQ(padded.sizes(), torch::IntArrayRef({2, 4}));
  EXPECT_EQ(padded[0][2].item<float>(), -1);
  EXPECT_TRUE(lengths.equal(torch::tensor({2, 3}, torch::kLong)));
  EXPECT_TRUE(rnn::invert_permutation(torch::tensor({2, 0, 1}, torch::kLong))
                  .equal(torch::tensor({1, 2, 0}, torch::kLong)));
  EXPECT_ERROR(rnn::pad_packed_sequence(packed, false, 0.0, 1),
               "Expected total_length to be at least the length of the longest sequence in "
               "input, but got total_length=1 and max sequence length being 3");
  EXPECT_ERROR(rnn::pack_padded_sequence(torch::ones({3, 2}), torch::tensor({1, 2})),
               "array must be sorted in decreasing order");
}

TEST(Rnn, PackedInputGivesEachSequencesResult) {
  torch::nn::GRU gru(torch::nn::GRUOptions(3, 4).bidirectional(true));
  auto x = torch::randn({5, 2, 3}), h = torch::randn({2, 2, 4});
  auto packed = rnn::pack_padded_sequence(x, torch::tensor({2, 5}), false, false);
  auto [output, last] = gru->forward_with_packed_input(packed, h);
  auto padded = std::get<0>(rnn::pad_packed_sequence(output));
  for (int64_t b = 0; b < 2; ++b) {
    auto [alone, state] =
        gru(x.slice(0, 0, b == 0 ? 2 : 5).slice(1, b, b + 1), h.slice(1, b, b + 1));
    EXPECT_TRUE(
        torch::allclose(padded.slice(0, 0, alone.size(0)).slice(1, b, b + 1), alone, 1e-4, 1e-5));
    EXPECT_TRUE(torch::allclose(last.slice(1, b, b + 1), state, 1e-4, 1e-5));
  }
}

TEST(Rnn, Errors) {
  torch::nn::LSTM lstm(3, 4);
  auto x = torch::randn({5, 2, 3}), h = torch::zeros({1, 2, 4}), bad = torch::zeros({1, 3, 4});
  EXPECT_ERROR(lstm(torch::randn({5, 2, 4})),
               "input.size(-1) must be equal to input_size. Expected 3, got 4");
  EXPECT_ERROR(lstm(torch::randn({1, 5, 2, 3})), "input must have 3 dimensions, got 4");
  EXPECT_ERROR(lstm(x, std::make_tuple(bad, h)), "Expected hidden[0] size 1 2 4, got [1, 3, 4]");
  EXPECT_ERROR(lstm(x, std::make_tuple(h, bad)), "Expected hidden[1] size 1 2 4, got [1, 3, 4]");
  EXPECT_ERROR(torch::nn::LSTM(torch::nn::LSTMOptions(3, 4).proj_size(4)),
               "proj_size has to be a positive integer, smaller than hidden_size or zero to "
               "disable projections");
  EXPECT_ERROR(torch::nn::LSTM(torch::nn::LSTMOptions(3, 4).proj_size(-1)),
               "proj_size has to be a positive integer, smaller than hidden_size or zero to "
               "disable projections");
  torch::nn::LSTMCell cell(3, 4);
  EXPECT_ERROR(cell(x), "Expected input to be 1D or 2D, got 3D instead");
  EXPECT_ERROR(cell(torch::ones({2, 3}), std::make_tuple(h, h)),
               "Expected hx[0] to be 1D or 2D, got 3D instead");
  torch::nn::RNNCell plain(3, 4);
  EXPECT_ERROR(plain(torch::ones({2, 3}), torch::ones({2, 5})),
               "hidden0 has inconsistent hidden_size: got 5, expected 4");
  EXPECT_ERROR(plain(torch::ones({2, 3}), h), "Expected hidden to be 1D or 2D, got 3D instead");
}

}  // namespace

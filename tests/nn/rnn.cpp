// Recurrent modules: unbatched and packed inputs, errors, dtypes.
#include <gtest/gtest.h>

#include "hearth/hearth.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

using namespace nn;
using States = std::tuple<Tensor, Tensor>;

TEST(RecurrentModules, UnbatchedInputsNeedUnbatchedStates) {
  GRU gru(3, 4);
  LSTM lstm(3, 4);
  const Tensor x = ones({5, 3}), h = zeros({1, 4}), batched = zeros({1, 1, 4});
  EXPECT_EQ(std::get<0>(gru(x, h)).sizes().vec(), (std::vector<int64_t>{5, 4}));
  EXPECT_EQ(std::get<1>(gru(x)).sizes().vec(), (std::vector<int64_t>{1, 4}));
  EXPECT_ERROR(gru(x, batched),
               "For unbatched 2-D input, hx should also be 2-D but got 3-D tensor");
  EXPECT_ERROR(lstm(x, States(batched, batched)),
               "For unbatched 2-D input, hx and cx should also be 2-D but got (3-D, 3-D) tensors");
}

TEST(RecurrentModules, SizesAreChecked) {
  GRU gru(3, 4);
  EXPECT_ERROR(gru(ones({5, 1, 3}), zeros({1, 4})), "Expected hidden size 1 1 4, got [1, 4]");
  EXPECT_ERROR(gru(ones(3)), "input must have 3 dimensions, got 1");
  EXPECT_ERROR(gru(ones({0, 2, 3})), "Expected sequence length to be larger than 0 in RNN");
  EXPECT_EQ(std::get<0>(gru(ones({5, 0, 3}))).sizes().vec(), (std::vector<int64_t>{5, 0, 4}));
}

TEST(RecurrentModules, PackedInputsAreChecked) {
  LSTM lstm(3, 4);
  const auto packed = nn::utils::rnn::pack_padded_sequence(ones({5, 2, 3}), tensor({5, 3}));
  const Tensor h = zeros({1, 3, 4});
  EXPECT_ERROR(lstm->forward_with_packed_input(packed, States(h, h)),
               "Expected hidden[0] size 1 2 4, got [1, 3, 4]");
  EXPECT_ERROR(LSTM(2, 4)->forward_with_packed_input(packed),
               "input.size(-1) must be equal to input_size. Expected 2, got 3");
  EXPECT_ERROR(nn::utils::rnn::PackedSequence(ones(2), empty({1}, TensorOptions(kMeta))),
               "batch_sizes should always be on CPU");
}

TEST(Sequences, SurvivePackingAndPadding) {
  const std::vector<Tensor> sequences{randn({2, 3}), randn({4, 3}), randn({1, 3})};
  const auto expect_sequences = [&](const std::vector<Tensor>& got) {
    ASSERT_EQ(got.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(got[i].equal(sequences[i])) << i;
  };
  using namespace nn::utils::rnn;
  expect_sequences(unpack_sequence(pack_sequence(sequences, /*enforce_sorted=*/false)));
  const Tensor lengths = tensor({2, 4, 1});
  for (const bool batch_first : {false, true})
    expect_sequences(
        unpad_sequence(nn::utils::rnn::pad_sequence(sequences, batch_first), lengths, batch_first));
  // As in Python, lengths are limited to 0 … the padded length, and surplus lengths are ignored.
  const auto cut = unpad_sequence(ones({2, 3}), tensor({-1, 7, 0}), /*batch_first=*/true);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].sizes(), IntArrayRef({0}));
  EXPECT_EQ(cut[1].sizes(), IntArrayRef({3}));
}

TEST(RecurrentModules, Bfloat16RoundsOnce) {
  LSTM lstm(LSTMOptions(3, 4).bidirectional(true));
  const Tensor x = randn({5, 2, 3});
  lstm->to(kBFloat16);
  const Tensor got = std::get<0>(lstm(x.to(kBFloat16)));
  EXPECT_EQ(got.scalar_type(), kBFloat16);
  lstm->to(kFloat);
  EXPECT_TRUE(got.equal(std::get<0>(lstm(x.to(kBFloat16).to(kFloat))).to(kBFloat16)));
}

TEST(RecurrentModules, LstmCellMatchesLstm) {
  manual_seed(3);
  LSTM lstm(3, 4);
  manual_seed(3);
  LSTMCell cell(3, 4);
  EXPECT_TRUE(cell->weight_hh.equal(lstm->all_weights()[1]));
  const Tensor x = randn({5, 2, 3});
  std::optional<States> state;
  for (int64_t t = 0; t < 5; ++t) state = cell(x[t], state);
  EXPECT_TRUE(std::get<0>(*state).equal(std::get<0>(lstm(x))[4]));
}

}  // namespace
}  // namespace hearth

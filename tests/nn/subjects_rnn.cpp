// Creates the recurrent modules of tests/oracle/nn_cases_rnn.py.
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/nn/cases.h"

namespace hearth::testing {

namespace {

using namespace hearth::nn;

void append(Tensors& result, const Tensor& states) { result.push_back(states); }
void append(Tensors& result, const std::tuple<Tensor, Tensor>& states) {
  result.push_back(std::get<0>(states));
  result.push_back(std::get<1>(states));
}

/// Calls f with the states among the inputs: none, h, or h and c.
template <class Holder, class F>
auto with_states(const Tensors& in, const F& f) {
  constexpr bool has_cell = std::is_same_v<Holder, LSTM> || std::is_same_v<Holder, LSTMCell>;
  if constexpr (has_cell)
    return f(in.size() > 1 ? std::optional(std::tuple(in[1], in[2])) : std::nullopt);
  else
    return f(in.size() > 1 ? in[1] : Tensor());
}

template <class Holder>
Make net(Holder (*make)()) {
  return called(make, [](Holder& module, const Tensors& in) {
    const auto [output, last] = with_states<Holder>(in, [&](auto hx) { return module(in[0], hx); });
    Tensors result{output};
    append(result, last);
    return result;
  });
}

/// Runs with sorted and with unsorted lengths, as nn_cases_rnn.py does.
template <class Holder>
Make packed_net(Holder (*make)()) {
  return called(make, [](Holder& module, const Tensors& in) {
    const bool batch_first = module->options.batch_first();
    Tensors results;
    for (const Tensor& lengths : {tensor({3, 1}), tensor({2, 3})}) {
      const bool is_sorted = lengths[0].item<int64_t>() == 3;
      const auto sequence =
          utils::rnn::pack_padded_sequence(in[0], lengths, batch_first, is_sorted);
      const auto [output, last] = with_states<Holder>(
          in, [&](auto hx) { return module->forward_with_packed_input(sequence, hx); });
      const auto [padded, padded_lengths] =
          utils::rnn::pad_packed_sequence(output, batch_first, -1.0, 4);
      results.push_back(padded);
      append(results, last);
      results.push_back(padded_lengths);
    }
    return results;
  });
}

template <class Holder>
Make cell(Holder (*make)()) {
  return called(make, [](Holder& module, const Tensors& in) {
    Tensors result;
    append(result, with_states<Holder>(in, [&](auto hx) { return module(in[0], hx); }));
    return result;
  });
}

Table nets() {
  return {
      {"lstm_projected",
       net(+[] { return LSTM(LSTMOptions(4, 5).num_layers(2).proj_size(3).bidirectional(true)); })},
      {"lstm_projected_state",
       net(+[] { return LSTM(LSTMOptions(4, 5).proj_size(3).bias(false)); })},
      {"lstm_dropout", net(+[] { return LSTM(LSTMOptions(4, 3).num_layers(2).dropout(0.4)); })},
      {"gru_dropout", net(+[] { return GRU(GRUOptions(4, 3).num_layers(3).dropout(0.4)); })},
      {"lstm_unbatched", net(+[] { return LSTM(LSTMOptions(4, 3).bidirectional(true)); })},
      {"gru_unbatched", net(+[] { return GRU(GRUOptions(4, 3).num_layers(2).batch_first(true)); })},
      {"gru_batch_first", net(+[] { return GRU(GRUOptions(4, 3).batch_first(true)); })},
      {"rnn_tanh_state",
       net(+[] { return RNN(RNNOptions(4, 3).bias(false).bidirectional(true)); })},
      {"lstm_packed", packed_net(+[] { return LSTM(LSTMOptions(4, 3).num_layers(2)); })},
      {"lstm_packed_projected",
       packed_net(+[] { return LSTM(LSTMOptions(4, 5).proj_size(3).bidirectional(true)); })},
      {"gru_packed",
       packed_net(+[] { return GRU(GRUOptions(4, 3).bidirectional(true).batch_first(true)); })},
      {"rnn_packed",
       packed_net(+[] { return RNN(RNNOptions(4, 3).nonlinearity(kReLU).bidirectional(true)); })},
  };
}

Table cells() {
  return {
      {"lstm_cell", cell(+[] { return LSTMCell(4, 3); })},
      {"lstm_cell_plain", cell(+[] { return LSTMCell(LSTMCellOptions(4, 3).bias(false)); })},
      {"gru_cell", cell(+[] { return GRUCell(4, 3); })},
      {"gru_cell_unbatched", cell(+[] { return GRUCell(GRUCellOptions(4, 3).bias(false)); })},
      {"rnn_cell", cell(+[] { return RNNCell(4, 3); })},
      {"rnn_cell_relu", cell(+[] { return RNNCell(RNNCellOptions(4, 3).nonlinearity(kReLU)); })},
  };
}

}  // namespace

Table recurrent_subjects() {
  auto table = nets();
  table.merge(cells());
  return table;
}

}  // namespace hearth::testing

// Recurrent networks against plain loops, and the op for all steps of a layer against single steps.
#include "ops/recurrence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "hearth/threads.h"
#include "tests/ops/large.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using Mode = RecurrenceMode;

/// A recurrent network; its inputs are x, h, c (LSTM only) and the parameters.
struct Net {
  Mode mode = Mode::kLstm;
  int64_t hidden = 2, layers = 1, directions = 1, projected = 0;
  bool has_biases = true, batch_first = false;
  std::vector<int64_t> batch_sizes = {};

  bool is_lstm() const { return mode == Mode::kLstm; }
  int64_t gates() const { return is_lstm() ? 4 : mode == Mode::kGru ? 3 : 1; }
  int64_t state_size() const { return projected > 0 ? projected : hidden; }
  size_t first_parameter() const { return is_lstm() ? 3 : 2; }
  /// The number of parameters of each layer and direction.
  size_t num_parameters() const { return 2 + (has_biases ? 2 : 0) + (projected > 0 ? 1 : 0); }
};

Tensors call_net(const Net& net, const Tensors& in) {
  const TensorList params = TensorList(in).slice(net.first_parameter());
  const bool is_bidirectional = net.directions == 2;
  const Tensor sizes =
      net.batch_sizes.empty() ? Tensor() : hearth::tensor(IntArrayRef(net.batch_sizes));
  const auto call = [&](const auto& f, const auto& hx) {
    return sizes.defined() ? f(in[0], sizes, hx, params, net.has_biases, net.layers, 0.0, true,
                               is_bidirectional)
                           : f(in[0], hx, params, net.has_biases, net.layers, 0.0, true,
                               is_bidirectional, net.batch_first);
  };
  if (net.is_lstm()) {
    auto [y, h, c] = call([](const auto&... a) { return lstm(a...); }, TensorList(in).slice(1, 2));
    return {y, h, c};
  }
  const auto pair = [&](const auto& f) -> Tensors {
    auto [y, h] = call(f, in[1]);
    return {y, h};
  };
  if (net.mode == Mode::kGru) return pair([](const auto&... a) { return gru(a...); });
  if (net.mode == Mode::kRnnTanh) return pair([](const auto&... a) { return rnn_tanh(a...); });
  return pair([](const auto&... a) { return rnn_relu(a...); });
}

/// weight @ x + bias.
Numbers affine(const Array& weight, const double* x, const Array* bias) {
  Numbers result;
  for (int64_t i = 0; i < weight.sizes[0]; ++i) {
    double sum = bias ? bias->values[size_t(i)] : 0;
    for (int64_t j = 0; j < weight.sizes[1]; ++j)
      sum += weight.values[size_t(i * weight.sizes[1] + j)] * x[j];
    result.push_back(sum);
  }
  return result;
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// Replaces h and c of one sequence by the next ones; p: the parameters of a layer and direction.
void step(const Net& net, const Array* p, const double* x, Numbers& h, Numbers& c) {
  const Numbers of_input = affine(p[0], x, net.has_biases ? &p[2] : nullptr),
                of_state = affine(p[1], h.data(), net.has_biases ? &p[3] : nullptr);
  Numbers next;
  for (int64_t u = 0; u < net.hidden; ++u) {
    const auto at = [&](int64_t gate) { return size_t(gate * net.hidden + u); };
    const auto sum = [&](int64_t gate) { return of_input[at(gate)] + of_state[at(gate)]; };
    if (net.mode == Mode::kRnnTanh) next.push_back(std::tanh(sum(0)));
    if (net.mode == Mode::kRnnRelu) next.push_back(std::max(sum(0), 0.0));
    if (net.mode == Mode::kGru) {
      const double z = sigmoid_of(sum(1));
      const double n = std::tanh(of_input[at(2)] + sigmoid_of(sum(0)) * of_state[at(2)]);
      next.push_back((1 - z) * n + z * h[size_t(u)]);
    }
    if (!net.is_lstm()) continue;
    double& cell = c[size_t(u)];
    cell = sigmoid_of(sum(1)) * cell + sigmoid_of(sum(0)) * std::tanh(sum(2));
    next.push_back(sigmoid_of(sum(3)) * std::tanh(cell));
  }
  h = net.projected > 0 ? affine(p[net.has_biases ? 4 : 2], next.data(), nullptr) : next;
}

/// The rows of the inputs that hold a sequence, in order.
std::vector<int64_t> rows_of(const Net& net, const std::vector<int64_t>& sizes, int64_t sequence) {
  std::vector<int64_t> rows;
  if (net.batch_sizes.empty()) {
    const int64_t steps = sizes[net.batch_first ? 1 : 0], batch = sizes[net.batch_first ? 0 : 1];
    for (int64_t t = 0; t < steps; ++t)
      rows.push_back(net.batch_first ? sequence * steps + t : t * batch + sequence);
    return rows;
  }
  int64_t start = 0;
  for (const int64_t size : net.batch_sizes) {
    if (sequence < size) rows.push_back(start + sequence);
    start += size;
  }
  return rows;
}

Arrays net_reference(const Net& net, const Arrays& in) {
  Array x = in[0], last_h = in[1], last_c = net.is_lstm() ? in[2] : Array{};
  const int64_t batch = last_h.sizes[1];
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    std::vector<int64_t> sizes = x.sizes;
    const int64_t width = sizes.back(), out_width = net.directions * net.state_size();
    sizes.back() = out_width;
    Array y{sizes, Numbers(size_t(count_of(sizes)))};
    for (int64_t d = 0; d < net.directions; ++d)
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t net_index = layer * net.directions + d;
        const auto initial = [&](Array& last, int64_t n) {
          const auto begin = last.values.begin() + (net_index * batch + b) * n;
          return Numbers(begin, begin + n);
        };
        Numbers h = initial(last_h, net.state_size()), c;
        if (net.is_lstm()) c = initial(last_c, net.hidden);
        std::vector<int64_t> rows = rows_of(net, x.sizes, b);
        if (d == 1) std::reverse(rows.begin(), rows.end());
        for (const int64_t row : rows) {
          step(net, &in[net.first_parameter() + size_t(net_index) * net.num_parameters()],
               &x.values[size_t(row * width)], h, c);
          std::copy(h.begin(), h.end(), y.values.begin() + row * out_width + d * net.state_size());
        }
        std::copy(h.begin(), h.end(),
                  last_h.values.begin() + (net_index * batch + b) * net.state_size());
        std::copy(c.begin(), c.end(), last_c.values.begin() + (net_index * batch + b) * net.hidden);
      }
    x = y;
  }
  return net.is_lstm() ? Arrays{x, last_h, last_c} : Arrays{x, last_h};
}

/// The inputs of a network for x of these sizes.
Case case_of(const Net& net, std::vector<int64_t> sizes, int64_t batch) {
  int64_t width = sizes.back();
  const int64_t nets = net.layers * net.directions, rows = net.gates() * net.hidden;
  Case result{{sizes}, {{nets, batch, net.state_size()}}};
  if (net.is_lstm()) result.push_back({{nets, batch, net.hidden}});
  for (int64_t i = 0; i < nets; ++i) {
    if (i == net.directions) width = net.directions * net.state_size();
    result.push_back({{rows, width}});
    result.push_back({{rows, net.state_size()}});
    if (net.has_biases) result.insert(result.end(), 2, {{rows}});
    if (net.projected > 0) result.push_back({{net.state_size(), net.hidden}});
  }
  return result;
}

std::string name_of_mode(Mode mode) {
  const char* const names[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};
  return names[int(mode)];
}

Row net_row(const std::string& suffix, const Net& net, std::vector<Case> cases) {
  Row row;
  row.name = name_of_mode(net.mode) + suffix;
  row.covers = {name_of_mode(net.mode), "_recurrent_layer", "_recurrent_layer_backward"};
  row.cases = std::move(cases);
  row.call = [net](const Tensors& in) { return call_net(net, in); };
  row.reference = [net](const Arrays& in) { return net_reference(net, in); };
  row.slack = row.gradient_slack = 8;
  return row;
}

Row plain_row(Mode mode) {
  const Net net{mode};
  return net_row("", net, {case_of(net, {3, 2, 3}, 2), case_of(net, {1, 1, 1}, 1)});
}

/// A row with two layers and directions, without biases, and with the batch as first dimension.
Row deep_row(Mode mode) {
  const Net net{mode, 3, 2, 2, 0, false, true};
  return net_row("_deep", net, {case_of(net, {2, 3, 2}, 2)});
}

Row packed_row(Mode mode) {
  const Net net{mode, 2, 1, 2, 0, true, false, {3, 2, 2, 1}};
  return net_row("_packed", net, {case_of(net, {8, 2}, 3)});
}

Row projected_row() {
  const Net net{Mode::kLstm, 3, 2, 2, 2, true};
  return net_row("_projected", net, {case_of(net, {2, 2, 2}, 2)});
}

Row refusing(Row row) {
  const Tensor x = ones({3, 2, 3}), h = ones({1, 2, 4}), c = ones({1, 2, 4});
  const Tensors p{ones({16, 3}), ones({16, 4}), ones(16), ones(16)};
  const auto refuse = [&](Tensor input, Tensors hx, Tensors params, std::string message) {
    row.refusals.push_back(
        {[=] { lstm(input, hx, params, true, 1, 0, false, false, false); }, message});
  };
  refuse(x, {h}, p, "lstm expects two hidden states");
  refuse(x, {h, c}, {p[0], p[1], p[2]}, "got an incorrect number of RNN parameters");
  refuse(x, {h, c}, {}, "Expected more weights in stacked_rnn");
  refuse(x, {ones({2, 2, 4}), ones({2, 2, 4})}, p, "Expected more hidden states in stacked_rnn");
  refuse(x, {ones({1, 3, 4}), c}, p,
         "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension "
         "0");
  refuse(ones({3, 2, 5}), {h, c}, p, "mat1 and mat2 shapes cannot be multiplied (6x5 and 3x16)");
  refuse(x.to(kDouble), {h, c}, p,
         "mat1 and mat2 must have the same dtype, but got Double and Float");
  refuse(ones({0, 2, 3}), {h, c}, p, "Expected sequence length to be larger than 0 in RNN");
  refuse(ones({3, 3}), {h, c}, p, "input must have 3 dimensions, got 2");
  const auto refuse_packed = [&](Tensor sizes, std::string message) {
    row.refusals.push_back({[=] {
                              lstm(ones({5, 3}), sizes, Tensors{h, c}, p, true, 1, 0, false, false);
                            },
                            message});
  };
  refuse_packed(hearth::tensor({1, 2, 2}),
                "Expected batch_sizes to be in decreasing order and not negative, but got [1, 2, "
                "2]");
  refuse_packed(hearth::tensor({2, 2, 1}, TensorOptions(kInt)),
                "argument should be a 1D CPU int64 tensor, but got 1D cpu Int tensor");
  refuse_packed(empty({0}, kLong), "batch_sizes can not be empty");
  refuse_packed(hearth::tensor({2, 2, 2}), "start (0) + length (6) exceeds dimension size (5).");
  return row;
}

const Register registered_recurrence[] = {Register(refusing(plain_row(Mode::kLstm))),
                                          Register(plain_row(Mode::kGru)),
                                          Register(plain_row(Mode::kRnnTanh)),
                                          Register(plain_row(Mode::kRnnRelu)),
                                          Register(deep_row(Mode::kLstm)),
                                          Register(deep_row(Mode::kGru)),
                                          Register(packed_row(Mode::kLstm)),
                                          Register(packed_row(Mode::kGru)),
                                          Register(packed_row(Mode::kRnnTanh)),
                                          Register(projected_row())};

/// A row for a cell. Its inputs are those of a network without the dimensions of layers and steps.
Row cell_row(Mode mode) {
  const Net net{mode};
  Row row = net_row("_cell", net, {});
  row.covers = {row.name};
  Case in = case_of(net, {1, 2, 3}, 2);
  for (Input& input : in)
    if (input.sizes.size() == 3) input.sizes.erase(input.sizes.begin());
  row.cases = {in};
  row.call = [net](const Tensors& t) -> Tensors {
    if (net.is_lstm()) {
      auto [h, c] = lstm_cell(t[0], TensorList(t).slice(1, 2), t[3], t[4], t[5], t[6]);
      return {h, c};
    }
    const auto cell = net.mode == Mode::kGru       ? gru_cell
                      : net.mode == Mode::kRnnTanh ? rnn_tanh_cell
                                                   : rnn_relu_cell;
    return {cell(t[0], t[1], t[2], t[3], t[4], t[5])};
  };
  row.reference = [net](Arrays arrays) {
    for (Array& array : arrays)
      if (&array - arrays.data() < int64_t(net.first_parameter()))
        array.sizes.insert(array.sizes.begin(), 1);
    Arrays result = net_reference(net, arrays);
    result.erase(result.begin());
    for (Array& array : result) array.sizes.erase(array.sizes.begin());
    return result;
  };
  const auto refuse = [&](Tensor x, Tensor h, std::string message) {
    const Tensor w_ih = ones({2 * net.gates(), 3}), w_hh = ones({2 * net.gates(), 2});
    row.refusals.push_back({[=] {
                              if (mode == Mode::kLstm)
                                lstm_cell(x, Tensors{h, h}, w_ih, w_hh);
                              else
                                gru_cell(x, h, w_ih, w_hh);
                            },
                            message});
  };
  refuse(ones(3), ones(2), "Expected 2D input (batch x feature), but got 1D input");
  refuse(ones({2, 4}), ones({2, 2}), "input has inconsistent input_size: got 4 expected 3");
  refuse(ones({2, 3}), ones(2), "Expected 2D hidden0 (batch x hidden_size), but got 1D tensor");
  refuse(ones({2, 3}), ones({3, 2}), "Input batch size 2 doesn't match hidden0 batch size 3");
  refuse(ones({2, 3}), ones({2, 5}), "hidden0 has inconsistent hidden_size: got 5, expected 2");
  return row;
}
const Register cells[] = {Register(cell_row(Mode::kLstm)), Register(cell_row(Mode::kGru)),
                          Register(cell_row(Mode::kRnnTanh)), Register(cell_row(Mode::kRnnRelu))};

/// A layer and the sizes of its inputs.
struct LayerCase {
  RecurrenceLayer layer;
  int64_t steps, batch, width, hidden, state;
  bool has_biases = true;

  /// x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr; some may be undefined.
  Tensors inputs(ScalarType dtype) const {
    const bool is_lstm = layer.mode == Mode::kLstm;
    const int64_t rows = (is_lstm ? 4 : layer.mode == Mode::kGru ? 3 : 1) * hidden;
    uint32_t seed = 70;
    const auto draw = [&](std::vector<int64_t> sizes, bool exists = true) {
      return exists ? large(std::move(sizes), ++seed, false).tensor(dtype) : Tensor();
    };
    int64_t positions = 0;
    for (const int64_t size : layer.batch_sizes) positions += size;
    const Tensor x =
        layer.batch_sizes.empty() ? draw({steps, batch, width}) : draw({positions, width});
    return {x,
            draw({batch, state}),
            draw({batch, hidden}, is_lstm),
            draw({rows, width}) * 0.25,
            draw({rows, state}) * 0.125,
            draw({rows}, has_biases),
            draw({rows}, has_biases),
            draw({state, hidden}, state != hidden)};
  }
};

/// The results of a layer and the gradients of its inputs.
Tensors with_all_gradients(const LayerCase& net, Tensors in, bool composed) {
  Tensors leaves;
  for (Tensor& t : in)
    if (t.defined()) leaves.push_back(t = t.detach().requires_grad_());
  const auto f = composed ? recur_composed : recur;
  const RecurrenceResult result =
      f(net.layer, in[0], {in[1], in[2]}, {in[3], in[4], in[5], in[6], in[7]});
  Tensors results{result.output, result.h}, gradients;
  if (result.c.defined()) results.push_back(result.c);
  for (const Tensor& t : results)
    gradients.push_back(large(t.sizes().vec(), uint32_t(t.numel()), false).tensor(t.scalar_type()));
  const Tensors input_gradients = autograd::grad(results, leaves, gradients);
  for (Tensor& t : results) t = t.detach();
  results.insert(results.end(), input_gradients.begin(), input_gradients.end());
  return results;
}

LargeCase large_layer(const LayerCase& net, ScalarType dtype) {
  Arrays wanted;
  for (const Tensor& t : with_all_gradients(net, net.inputs(kDouble), true))
    wanted.push_back(to_array(t));
  return {[=] { return with_all_gradients(net, net.inputs(dtype), false); }, wanted};
}

/// The batch sizes of packed sequences that end one after the other.
std::vector<int64_t> falling_batch_sizes(int64_t batch, int64_t steps) {
  std::vector<int64_t> sizes;
  for (int64_t t = 0; t < steps; ++t) sizes.push_back(batch - t * (batch - 1) / steps);
  return sizes;
}

RegisterLarge large_layer_row(const std::string& name, const LayerCase& net) {
  return RegisterLarge({name_of_mode(net.layer.mode) + name,
                        {"Recurrence", "RecurrenceBackward"},
                        [net](ScalarType dtype) { return large_layer(net, dtype); },
                        16});
}

// Threads divide many sequences between them; with few sequences, they divide the hidden units.
const RegisterLarge registered_large[] = {
    large_layer_row("_many", {{Mode::kLstm}, 5, 43, 19, 37, 37}),
    large_layer_row("_few", {{Mode::kLstm, true}, 4, 3, 19, 150, 150, false}),
    large_layer_row("_many_packed",
                    {{Mode::kLstm, true, falling_batch_sizes(43, 6)}, 6, 43, 19, 37, 37}),
    large_layer_row("_few_packed",
                    {{Mode::kLstm, false, falling_batch_sizes(5, 4)}, 4, 5, 19, 150, 150}),
    large_layer_row("_many_projected",
                    {{Mode::kLstm, false, falling_batch_sizes(43, 4)}, 4, 43, 9, 37, 21}),
    large_layer_row("_few_projected", {{Mode::kLstm, true}, 4, 3, 19, 150, 130}),
    large_layer_row("_many", {{Mode::kGru, true, falling_batch_sizes(43, 6)}, 6, 43, 19, 37, 37}),
    large_layer_row("_few", {{Mode::kGru}, 4, 3, 19, 150, 150}),
    large_layer_row("_many", {{Mode::kRnnTanh}, 4, 43, 19, 37, 37, false}),
    large_layer_row("_few", {{Mode::kRnnTanh, true}, 4, 3, 19, 270, 270}),
    large_layer_row("_many",
                    {{Mode::kRnnRelu, false, falling_batch_sizes(43, 4)}, 4, 43, 19, 37, 37}),
    large_layer_row("_few", {{Mode::kRnnRelu}, 3, 3, 19, 270, 270})};

Tensors lstm_parameters(int64_t input, int64_t hidden) {
  return {randn({4 * hidden, input}).requires_grad_(), randn({4 * hidden, hidden}).requires_grad_(),
          randn(4 * hidden).requires_grad_(), randn(4 * hidden).requires_grad_()};
}

TEST(Recurrence, ALayerIsOneNode) {
  const Tensors p = lstm_parameters(3, 4);
  const Tensor h = zeros({2, 4});
  const RecurrenceResult result =
      recur({Mode::kLstm}, ones({5, 2, 3}), {h, h}, {p[0], p[1], p[2], p[3], {}});
  EXPECT_EQ(result.output.grad_fn()->name(), "RecurrentLayerBackward0");
  EXPECT_EQ(result.output.grad_fn(), result.c.grad_fn());
}

TEST(Recurrence, GradientsOfOneResultAlone) {
  for (const bool packed : {false, true}) {
    const std::vector<int64_t> batch_sizes =
        packed ? falling_batch_sizes(4, 3) : std::vector<int64_t>{};
    const LayerCase net{{Mode::kLstm, false, batch_sizes}, 3, 4, 2, 3, 3};
    for (int result_index = 0; result_index < 3; ++result_index) {
      Tensors grads[2];
      for (const bool composed : {false, true}) {
        Tensors in = net.inputs(kDouble);
        const Tensor weight = in[4].requires_grad_(), h = in[1].requires_grad_();
        const auto f = composed ? recur_composed : recur;
        const RecurrenceResult r =
            f(net.layer, in[0], {h, in[2]}, {in[3], weight, in[5], in[6], {}});
        const Tensor& result = result_index == 0 ? r.output : result_index == 1 ? r.h : r.c;
        grads[composed] = autograd::grad({result.pow(2).sum()}, {weight, h});
      }
      for (int i = 0; i < 2; ++i)
        EXPECT_TRUE(grads[0][i].allclose(grads[1][i], 1e-10, 1e-12)) << result_index << " " << i;
    }
  }
}

TEST(Recurrence, BackwardTwiceGivesEqualGradients) {
  const Tensors p = lstm_parameters(3, 4);
  const Tensor h = randn({1, 2, 4}), x = randn({5, 2, 3}).requires_grad_();
  const auto [y, last_h, last_c] = lstm(x, Tensors{h, h}, p, true, 1, 0, true, false, false);
  const Tensors once = autograd::grad({y.sum()}, {x, p[1]}, {}, true),
                again = autograd::grad({y.sum()}, {x, p[1]}, {}, true);
  EXPECT_TRUE(once[0].equal(again[0]));
  EXPECT_TRUE(once[1].equal(again[1]));
}

TEST(Recurrence, EmptyBatchesAndNaN) {
  const Tensors p = lstm_parameters(3, 4);
  const Tensor none = zeros({1, 0, 4});
  const auto [y, h, c] =
      lstm(ones({5, 0, 3}), Tensors{none, none}, p, true, 1, 0, true, false, false);
  EXPECT_EQ(y.sizes().vec(), (std::vector<int64_t>{5, 0, 4}));
  EXPECT_EQ(c.sizes().vec(), (std::vector<int64_t>{1, 0, 4}));
  y.sum().backward();
  EXPECT_TRUE(p[0].grad().equal(zeros({16, 3})));
  const Tensor x = randn({4, 20, 3}), state = zeros({1, 20, 4});
  x[2][1][0].fill_(NAN);
  const Tensor nan = std::get<0>(lstm(x, Tensors{state, state}, p, true, 1, 0, true, false, false))
                         .isnan()
                         .any(-1);
  for (int64_t t = 0; t < 4; ++t)
    for (int64_t b = 0; b < 20; ++b)
      EXPECT_EQ(nan[t][b].item<bool>(), b == 1 && t >= 2) << t << " " << b;
}

TEST(Recurrence, DropoutIsBetweenLayers) {
  Tensors p = lstm_parameters(3, 4);
  const Tensors second = lstm_parameters(4, 4);
  p.insert(p.end(), second.begin(), second.end());
  const Tensor x = randn({5, 2, 3}), h = zeros({2, 2, 4});
  const auto run = [&](const Tensor& in, const Tensor& state, const Tensors& params, int64_t layers,
                       double probability, bool is_training) {
    return std::get<0>(lstm(in, Tensors{state, state}, params, true, layers, probability,
                            is_training, false, false));
  };
  manual_seed(5);
  const Tensor got = run(x, h, p, 2, 0.5, true);
  manual_seed(5);
  const Tensor layer_h = h.narrow(0, 0, 1);
  const Tensor dropped = dropout(run(x, layer_h, {p[0], p[1], p[2], p[3]}, 1, 0, true), 0.5, true);
  EXPECT_TRUE(got.equal(run(dropped, layer_h, second, 1, 0.5, true)));
  EXPECT_TRUE(run(x, h, p, 2, 0.5, false).equal(run(x, h, p, 2, 0, true)));
  EXPECT_ERROR(run(x, h, p, 2, 1.5, true),
               "dropout probability has to be between 0 and 1, but got 1.5");
}

TEST(Recurrence, CellsCheckTheRowsOfTheirWeights) {
  const Tensor x = ones({3, 4}), w = ones({12, 4}), short_by_one = ones({11, 4});
  EXPECT_ERROR(gru_cell(x, x, short_by_one, w),
               "weight_ih first dim must be 3 * hidden_size = 12, but got 11");
  EXPECT_ERROR(gru_cell(x, x, w, short_by_one),
               "weight_hh first dim must be 3 * hidden_size = 12, but got 11");
  EXPECT_ERROR(lstm_cell(x, Tensors{x, x}, w, w),
               "weight_ih first dim must be 4 * hidden_size = 16, but got 12");
  EXPECT_ERROR(rnn_tanh_cell(x, x, x, x),
               "weight_ih first dim must be 1 * hidden_size = 4, but got 3");
  EXPECT_ERROR(rnn_relu_cell(x, x, ones({4, 4}), x),
               "weight_hh first dim must be 1 * hidden_size = 4, but got 3");
}

TEST(Recurrence, MetaTensorsGetShapes) {
  const auto meta = [](IntArrayRef sizes) { return empty(sizes, TensorOptions(kMeta)); };
  const Tensors p{meta({16, 3}), meta({16, 4})};
  const auto [y, h, c] = lstm(meta({2, 5, 3}), Tensors{meta({1, 2, 4}), meta({1, 2, 4})}, p, false,
                              1, 0, false, false, true);
  EXPECT_EQ(y.sizes().vec(), (std::vector<int64_t>{2, 5, 4}));
  EXPECT_TRUE(c.is_meta());
}

}  // namespace
}  // namespace hearth::testing

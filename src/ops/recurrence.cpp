// Recurrent nets: all layers and directions.
#include "ops/recurrence.h"

#include <numeric>

#include "hearth/operators.h"
#include "ops/define.h"
#include "ops/sequences.h"

namespace hearth {

namespace {

struct NetArgs {
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional, batch_first;
  std::vector<int64_t> batch_sizes = {};
  HEARTH_FIELDS(has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes)
  int64_t directions() const { return bidirectional ? 2 : 1; }
};

/// The weights of all layers and directions, at index layer * directions + direction. Throws unless
/// the number of parameters fits.
std::vector<RecurrenceWeights> gather_weights(const NetArgs& args, TensorList params,
                                              bool has_projection) {
  const size_t num_biases = args.has_biases ? 2 : 0,
               stride = 2 + num_biases + (has_projection ? 1 : 0);
  HEARTH_CHECK(params.size() % stride == 0, "got an incorrect number of RNN parameters");
  HEARTH_CHECK(int64_t(params.size() / stride) == args.num_layers * args.directions(),
               "Expected more weights in stacked_rnn");
  std::vector<RecurrenceWeights> result;
  for (size_t i = 0; i < params.size(); i += stride) {
    RecurrenceWeights weights{params[i], params[i + 1], {}, {}, {}};
    if (args.has_biases) {
      weights.b_ih = params[i + 2];
      weights.b_hh = params[i + 3];
    }
    if (has_projection) weights.w_hr = params[i + 2 + num_biases];
    result.push_back(std::move(weights));
  }
  return result;
}

/// Runs layers by the device's library or one after another. The input's first dimension is time,
/// or the input is packed.
RecurrenceResult run_layers(const RecurrenceLayers& layers, const Tensor& input, const Tensor& h0,
                            const Tensor& c0, const std::vector<RecurrenceWeights>& weights) {
  if (auto result = recur_by_library(layers, input, h0, c0, weights)) return *std::move(result);
  const std::vector<Tensor> h = h0.unbind(0);
  const std::vector<Tensor> c = c0.defined() ? c0.unbind(0) : std::vector<Tensor>(h.size());
  return recur_layers(layers, input, h, c, weights);
}

/// Runs the net layer by layer, with dropout between the layers.
RecurrenceResult run_with_dropout(const RecurrenceLayers& layers, double p, Tensor input,
                                  const Tensor& h0, const Tensor& c0,
                                  const std::vector<RecurrenceWeights>& weights) {
  const int64_t directions = layers.directions(), count = int64_t(weights.size());
  std::vector<Tensor> last_h, last_c;
  for (int64_t first = 0; first < count; first += directions) {
    if (first > 0) input = dropout(input, p, true);
    const auto states = [&](const Tensor& all) {
      return all.defined() ? all.narrow(0, first, directions) : all;
    };
    RecurrenceResult result =
        run_layers(layers, input, states(h0), states(c0),
                   {weights.begin() + first, weights.begin() + first + directions});
    input = std::move(result.output);
    last_h.push_back(std::move(result.h));
    last_c.push_back(std::move(result.c));
  }
  return {input, cat(last_h), c0.defined() ? cat(last_c) : c0};
}

void check_state(const Tensor& state, int64_t batch) {
  HEARTH_CHECK(state.dim() == 3, "Expected the hidden state to have 3 dimensions, got ",
               state.dim());
  HEARTH_CHECK(state.size(1) == batch, "The size of tensor a (", state.size(1),
               ") must match the size of tensor b (", batch, ") at non-singleton dimension 0");
}

RecurrenceResult run_net(RecurrenceMode mode, const NetArgs& args, const Tensor& input,
                         const Tensor& h0, const Tensor& c0, TensorList params) {
  const bool is_packed = !args.batch_sizes.empty();
  HEARTH_CHECK(input.dim() == (is_packed ? 2 : 3), "input must have ", is_packed ? 2 : 3,
               " dimensions, got ", input.dim());
  const Tensor x = args.batch_first ? input.transpose(0, 1) : input;
  HEARTH_CHECK(is_packed || x.size(0) > 0, "Expected sequence length to be larger than 0 in RNN");
  HEARTH_CHECK(args.num_layers > 0, "stack expects a non-empty TensorList");
  const int64_t batch = is_packed ? args.batch_sizes[0] : x.size(1);
  check_state(h0, batch);
  if (c0.defined()) check_state(c0, batch);
  const bool has_projection = c0.defined() && h0.size(2) != c0.size(2);
  const std::vector<RecurrenceWeights> weights = gather_weights(args, params, has_projection);
  HEARTH_CHECK(h0.size(0) == int64_t(weights.size()) &&
                   (!c0.defined() || c0.size(0) == int64_t(weights.size())),
               "Expected more hidden states in stacked_rnn");
  const RecurrenceLayers layers{mode, args.bidirectional, args.batch_sizes};
  RecurrenceResult result = args.dropout != 0 && args.train
                                ? run_with_dropout(layers, args.dropout, x, h0, c0, weights)
                                : run_layers(layers, x, h0, c0, weights);
  if (args.batch_first) result.output = result.output.transpose(0, 1);
  return result;
}

/// A net as an op. Its inputs are the input, h0, c0 of LSTM, and the parameters.
template <RecurrenceMode mode, const OpInfo& op_info>
struct Net {
  using Args = NetArgs;
  static constexpr OpInfo info = op_info;
  static auto compute(const Args& args, const std::vector<Tensor>& in) {
    constexpr bool is_lstm = mode == RecurrenceMode::kLstm;
    const TensorList params = TensorList(in).slice(is_lstm ? 3 : 2);
    RecurrenceResult result = run_net(mode, args, in[0], in[1], is_lstm ? in[2] : Tensor(), params);
    if constexpr (is_lstm)
      return TensorTriple(result.output, result.h, result.c);
    else
      return TensorPair(result.output, result.h);
  }
};

constexpr OpInfo net_info(const char* name, Amp on_cpu) {
  return {.name = name, .amp = Amp::kLower, .amp_cpu = on_cpu};
}
constexpr OpInfo kLstmInfo = net_info("lstm", Amp::kLower);
constexpr OpInfo kGruInfo = net_info("gru", Amp::kKeep);
constexpr OpInfo kTanhInfo = net_info("rnn_tanh", Amp::kLower);
constexpr OpInfo kReluInfo = net_info("rnn_relu", Amp::kLower);
using Lstm = Net<RecurrenceMode::kLstm, kLstmInfo>;
using Gru = Net<RecurrenceMode::kGru, kGruInfo>;
using TanhNet = Net<RecurrenceMode::kRnnTanh, kTanhInfo>;
using ReluNet = Net<RecurrenceMode::kRnnRelu, kReluInfo>;

/// compose() for a net, whose inputs are lists of tensors.
template <class Op>
auto run(NetArgs args, const Tensor& input, TensorList hx, TensorList params) {
  (void)Registration<composed_record<Op>>::done;
  SmallVector<const Tensor*, 8> pointers;
  pointers.push_back(&input);
  for (const Tensor& t : hx) pointers.push_back(&t);
  for (const Tensor& t : params) pointers.push_back(&t);
  for (size_t i = 0; i < pointers.size(); ++i)
    check_defined(Op::info.name, int(i),
                  i == 0           ? "input"
                  : i <= hx.size() ? "hx"
                                   : "params",
                  *pointers[i]);
  ComposedCall call(composed_record<Op>, &args, {pointers.begin(), int(pointers.size())});
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < pointers.size(); ++i) inputs.push_back(call[i]);
  return call.done(Op::compute(args, inputs));
}

/// The rows of packed data that belong to sequences, and the number of sequences at each step.
std::pair<Tensor, std::vector<int64_t>> unpacked(const char* op, const Tensor& data,
                                                 const Tensor& batch_sizes) {
  check_defined(op, 0, "data", data);
  check_defined(op, 1, "batch_sizes", batch_sizes);
  const std::vector<int64_t> sizes = packed_sizes(batch_sizes);
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
  HEARTH_CHECK(data.dim() == 2, "input must have 2 dimensions, got ", data.dim());
  return {sum == data.size(0) ? data : data.narrow(0, 0, sum), sizes};
}

void check_two_states(const char* op, TensorList hx) {
  HEARTH_CHECK(hx.size() == 2, op, " expects two hidden states");
}

}  // namespace

TensorTriple lstm(const Tensor& input, TensorList hx, TensorList params, bool has_biases,
                  int64_t num_layers, double dropout, bool train, bool bidirectional,
                  bool batch_first) {
  check_two_states("lstm", hx);
  return run<Lstm>({has_biases, num_layers, dropout, train, bidirectional, batch_first}, input, hx,
                   params);
}

TensorTriple lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params,
                  bool has_biases, int64_t num_layers, double dropout, bool train,
                  bool bidirectional) {
  check_two_states("lstm", hx);
  const auto [input, sizes] = unpacked("lstm", data, batch_sizes);
  return run<Lstm>({has_biases, num_layers, dropout, train, bidirectional, false, sizes}, input, hx,
                   params);
}

#define HEARTH_DEFINE_NET(name, Op)                                                              \
  TensorPair name(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,     \
                  int64_t num_layers, double dropout, bool train, bool bidirectional,            \
                  bool batch_first) {                                                            \
    return run<Op>({has_biases, num_layers, dropout, train, bidirectional, batch_first}, input,  \
                   hx, params);                                                                  \
  }                                                                                              \
  TensorPair name(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,               \
                  TensorList params, bool has_biases, int64_t num_layers, double dropout,        \
                  bool train, bool bidirectional) {                                              \
    const auto [input, sizes] = unpacked(#name, data, batch_sizes);                              \
    return run<Op>({has_biases, num_layers, dropout, train, bidirectional, false, sizes}, input, \
                   hx, params);                                                                  \
  }
HEARTH_DEFINE_NET(gru, Gru)
HEARTH_DEFINE_NET(rnn_tanh, TanhNet)
HEARTH_DEFINE_NET(rnn_relu, ReluNet)
#undef HEARTH_DEFINE_NET

}  // namespace hearth

// lstm_cell, gru_cell, rnn_tanh_cell and rnn_relu_cell: one step of a recurrent net.
#include "hearth/operators.h"
#include "ops/autocast.h"
#include "ops/define.h"
#include "ops/recurrence.h"

namespace hearth {

namespace {

void check_state(const Tensor& input, const Tensor& state, int64_t hidden_size, int number) {
  HEARTH_CHECK(state.dim() == 2, "Expected 2D hidden", number, " (batch x hidden_size), but got ",
               state.dim(), "D tensor");
  HEARTH_CHECK(state.size(0) == input.size(0), "Input batch size ", input.size(0),
               " doesn't match hidden", number, " batch size ", state.size(0));
  HEARTH_CHECK(state.size(1) == hidden_size, "hidden", number,
               " has inconsistent hidden_size: got ", state.size(1), ", expected ", hidden_size);
}

/// Checks the rows of `weight`, which has one for each unit of each gate.
void check_rows(const char* name, const Tensor& weight, RecurrenceMode mode, int64_t hidden_size) {
  const int64_t gates = gates_of(mode);
  HEARTH_CHECK(weight.size(0) == gates * hidden_size, name, " first dim must be ", gates,
               " * hidden_size = ", gates * hidden_size, ", but got ", weight.size(0));
}

/// Checks the sizes and runs a layer of one step.
RecurrenceResult run_cell(RecurrenceMode mode, const Tensor& input, const RecurrenceState& state,
                          const RecurrenceWeights& weights) {
  HEARTH_CHECK(input.dim() == 2, "Expected 2D input (batch x feature), but got ", input.dim(),
               "D input");
  HEARTH_CHECK(weights.w_ih.dim() == 2 && weights.w_hh.dim() == 2,
               "Expected the weights of a cell to be matrices");
  HEARTH_CHECK(input.size(1) == weights.w_ih.size(1), "input has inconsistent input_size: got ",
               input.size(1), " expected ", weights.w_ih.size(1));
  const int64_t hidden_size = weights.w_hh.size(1);
  check_state(input, state.h, hidden_size, 0);
  if (state.c.defined()) check_state(input, state.c, hidden_size, 1);
  check_rows("weight_ih", weights.w_ih, mode, hidden_size);
  check_rows("weight_hh", weights.w_hh, mode, hidden_size);
  // As in PyTorch, autocast casts the products of matrices, and the rest of the step promotes.
  if (uses_autocast(input)) {
    const Tensor from_input = linear(input, weights.w_ih, weights.b_ih);
    const RecurrenceState next = recurrence_step(mode, from_input, state, weights);
    return {next.h, next.h, next.c};
  }
  return recur({mode}, input.unsqueeze(0), state, weights);
}

constexpr OpInfo cell_info(const char* name) {
  return {.name = name, .amp = Amp::kLower, .amp_cpu = Amp::kKeep};
}

struct LstmCell {
  using Args = NoArgs;
  static constexpr OpInfo info = cell_info("lstm_cell");
  static TensorPair compute(const Args&, const Tensor& input, const Tensor& h, const Tensor& c,
                            const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                            const Tensor& b_hh) {
    RecurrenceResult result =
        run_cell(RecurrenceMode::kLstm, input, {h, c}, {w_ih, w_hh, b_ih, b_hh, {}});
    return {result.h, result.c};
  }
};

constexpr OpInfo kGruCellInfo = cell_info("gru_cell");
constexpr OpInfo kTanhCellInfo = cell_info("rnn_tanh_cell");
constexpr OpInfo kReluCellInfo = cell_info("rnn_relu_cell");

template <RecurrenceMode mode, const OpInfo& op_info>
struct Cell {
  using Args = NoArgs;
  static constexpr OpInfo info = op_info;
  static Tensor compute(const Args&, const Tensor& input, const Tensor& h, const Tensor& w_ih,
                        const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
    return run_cell(mode, input, {h, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).h;
  }
};

void check_all_defined(const char* op, const Tensor& input, TensorList hx, const Tensor& w_ih,
                       const Tensor& w_hh) {
  check_defined(op, 0, "input", input);
  for (const Tensor& state : hx) check_defined(op, 1, "hx", state);
  check_defined(op, 2, "w_ih", w_ih);
  check_defined(op, 3, "w_hh", w_hh);
}

}  // namespace

TensorPair lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                     const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  HEARTH_CHECK(hx.size() == 2, "lstm_cell expects two hidden states");
  check_all_defined("lstm_cell", input, hx, w_ih, w_hh);
  return compose<LstmCell>({}, input, hx[0], hx[1], w_ih, w_hh, or_undefined(b_ih),
                           or_undefined(b_hh));
}

#define HEARTH_DEFINE_CELL(name, mode, op_info)                                                  \
  Tensor name(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,     \
              const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {            \
    check_all_defined(#name, input, hx, w_ih, w_hh);                                             \
    return compose<Cell<RecurrenceMode::mode, op_info>>({}, input, hx, w_ih, w_hh,               \
                                                        or_undefined(b_ih), or_undefined(b_hh)); \
  }
HEARTH_DEFINE_CELL(gru_cell, kGru, kGruCellInfo)
HEARTH_DEFINE_CELL(rnn_tanh_cell, kRnnTanh, kTanhCellInfo)
HEARTH_DEFINE_CELL(rnn_relu_cell, kRnnRelu, kReluCellInfo)
#undef HEARTH_DEFINE_CELL

}  // namespace hearth

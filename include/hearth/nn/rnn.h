#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "hearth/arg.h"
#include "hearth/nn/any.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/enum.h"
#include "hearth/nn/packed_sequence.h"

namespace hearth::nn {

/// The options of all recurrent modules.
#define HEARTH_RNN_OPTIONS                                                                        \
  HEARTH_ARG(int64_t, input_size);     /**< features of an element of the sequence */             \
  HEARTH_ARG(int64_t, hidden_size);    /**< features of the state */                              \
  HEARTH_ARG(int64_t, num_layers) = 1; /**< each layer's input is the output of the one before */ \
  HEARTH_ARG(bool, bias) = true;       /**< whether b_ih and b_hh exist */                        \
  HEARTH_ARG(bool, batch_first) = false;  /**< tensors are [N, L, ...] instead of [L, N, ...] */  \
  HEARTH_ARG(double, dropout) = 0.0;      /**< probability of dropout between layers */           \
  HEARTH_ARG(bool, bidirectional) = false /**< whether a second direction runs backwards */

namespace detail {
struct HEARTH_API RNNOptionsBase {
  using rnn_options_base_mode_t =
      std::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size);
  HEARTH_CHOICE(rnn_options_base_mode_t, mode);
  HEARTH_RNN_OPTIONS;
  HEARTH_ARG(int64_t, proj_size) = 0;
};
}  // namespace detail

/// Options of RNN.
struct HEARTH_API RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  HEARTH_RNN_OPTIONS;
  HEARTH_CHOICE(nonlinearity_t, nonlinearity) = kTanh;  ///< kTanh or kReLU
};
/// Options of LSTM.
struct HEARTH_API LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  HEARTH_RNN_OPTIONS;
  HEARTH_ARG(int64_t, proj_size) = 0;  ///< features of h if it is projected, else 0
};
/// Options of GRU.
struct HEARTH_API GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  HEARTH_RNN_OPTIONS;
};
#undef HEARTH_RNN_OPTIONS

namespace detail {

/// The results of a recurrent network; c only for LSTM.
struct RNNResult {
  Tensor output, h, c;
};

/// Base of all recurrent modules. The parameters are named weight_ih_l0, weight_hh_l0, bias_ih_l0,
/// bias_hh_l0, weight_hr_l0 (of the projection), weight_ih_l0_reverse, ….
template <class Derived>
class HEARTH_API RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;
  void flatten_parameters() {}  ///< does nothing; for programs written for LibTorch
  std::vector<Tensor> all_weights() const { return this->parameters(/*recurse=*/false); }

  RNNOptionsBase options_base;

 protected:
  int64_t directions() const { return options_base.bidirectional() ? 2 : 1; }
  /// The features of h: hidden_size or proj_size.
  int64_t state_size() const;
  /// Runs the network over [L, N, input_size] or, unbatched, [L, input_size]; undefined states are
  /// zeros.
  RNNResult run(const Tensor& input, const Tensor& h, const Tensor& c) const;
  RNNResult run(const utils::rnn::PackedSequence& input, Tensor h, Tensor c) const;

 private:
  bool has_cell() const;
  void check_input(const Tensor& input, int64_t dims) const;
  void complete_states(const Tensor& input, int64_t batch, Tensor& h, Tensor& c) const;
  RNNResult run_batch(const Tensor& input, const Tensor& batch_sizes, const Tensor& h,
                      const Tensor& c) const;
};

}  // namespace detail

/// h' = tanh(W_ih * x + b_ih + W_hh * h + b_hh), or relu instead of tanh, for each element of the
/// input [L, N, input_size]. Returns the outputs of the last layer, [L, N, directions *
/// hidden_size], and the last states of all layers, [num_layers * directions, N, hidden_size]. N
/// may be absent everywhere.
class HEARTH_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNImpl(const RNNOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  RNNOptions options;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS

 private:
  std::tuple<Tensor, Tensor> compute(const Tensor& input, const Tensor& hx);
  std::tuple<utils::rnn::PackedSequence, Tensor> compute_packed(
      const utils::rnn::PackedSequence& input, const Tensor& hx);
};
HEARTH_MODULE(RNN);

/// i, f, g, o = W_ih * x + b_ih + W_hh * h + b_hh; c' = sigmoid(f) * c + sigmoid(i) * tanh(g);
/// h' = sigmoid(o) * tanh(c'); with proj_size, h' is multiplied by W_hr. Returns the outputs and
/// the last states (h, c), shaped as RNN's.
class HEARTH_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input,
      std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMOptions options;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS

 private:
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> compute(
      const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx);
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> compute_packed(
      const utils::rnn::PackedSequence& input, const std::optional<std::tuple<Tensor, Tensor>>& hx);
};
HEARTH_MODULE(LSTM);

/// r, z = sigmoid(W_ih * x + b_ih + W_hh * h + b_hh);
/// n = tanh(W_in * x + b_in + r * (W_hn * h + b_hn)); h' = (1 - z) * n + z * h. Returns the outputs
/// and the last states, shaped as RNN's.
class HEARTH_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUImpl(const GRUOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  GRUOptions options;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS

 private:
  std::tuple<Tensor, Tensor> compute(const Tensor& input, const Tensor& hx);
  std::tuple<utils::rnn::PackedSequence, Tensor> compute_packed(
      const utils::rnn::PackedSequence& input, const Tensor& hx);
};
HEARTH_MODULE(GRU);

extern template class detail::RNNImplBase<RNNImpl>;
extern template class detail::RNNImplBase<LSTMImpl>;
extern template class detail::RNNImplBase<GRUImpl>;

}  // namespace hearth::nn

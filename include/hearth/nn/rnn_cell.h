#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "hearth/arg.h"
#include "hearth/nn/any.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/enum.h"

namespace hearth::nn {

/// The options of all cells.
#define HEARTH_RNN_CELL_OPTIONS                           \
  HEARTH_ARG(int64_t, input_size);  /**< features of x */ \
  HEARTH_ARG(int64_t, hidden_size); /**< features of h */ \
  HEARTH_ARG(bool, bias) = true     /**< whether b_ih and b_hh exist */

/// Options of RNNCell.
struct HEARTH_API RNNCellOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  HEARTH_RNN_CELL_OPTIONS;
  HEARTH_CHOICE(nonlinearity_t, nonlinearity) = kTanh;  ///< kTanh or kReLU
};
/// Options of LSTMCell.
struct HEARTH_API LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  HEARTH_RNN_CELL_OPTIONS;
};
/// Options of GRUCell.
struct HEARTH_API GRUCellOptions {
  GRUCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  HEARTH_RNN_CELL_OPTIONS;
};
#undef HEARTH_RNN_CELL_OPTIONS

namespace detail {

struct HEARTH_API RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}
  HEARTH_ARG(int64_t, input_size);
  HEARTH_ARG(int64_t, hidden_size);
  HEARTH_ARG(bool, bias);
  HEARTH_ARG(int64_t, num_chunks);  ///< the number of gates
};

/// Base of all cells: one step of a recurrent network.
template <class Derived>
class HEARTH_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  Tensor weight_ih;  ///< [gates * hidden_size, input_size]
  Tensor weight_hh;  ///< [gates * hidden_size, hidden_size]
  Tensor bias_ih;    ///< [gates * hidden_size], or undefined
  Tensor bias_hh;    ///< [gates * hidden_size], or undefined

 protected:
  /// "Expected <name> to be 1D or 2D, got 3D instead".
  void check_forward_input(const Tensor& input, const std::string& name) const;
  virtual std::string get_nonlinearity_str() const { return {}; }
  /// The state as [N, hidden_size]; zeros if it is undefined.
  Tensor batched_state(const Tensor& state, const std::string& name, const Tensor& input) const;
};

}  // namespace detail

/// One step of RNN: x is [N, input_size] and h [N, hidden_size]; N may be absent.
class HEARTH_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNCellImpl(const RNNCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});

  RNNCellOptions options;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
  std::string get_nonlinearity_str() const override;

 private:
  Tensor compute(const Tensor& input, const Tensor& hx);
};
HEARTH_MODULE(RNNCell);

/// One step of LSTM; returns h and c.
class HEARTH_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMCellImpl(const LSTMCellOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input,
                                     std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMCellOptions options;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS

 private:
  std::tuple<Tensor, Tensor> compute(const Tensor& input,
                                     const std::optional<std::tuple<Tensor, Tensor>>& hx);
};
HEARTH_MODULE(LSTMCell);

/// One step of GRU.
class HEARTH_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUCellImpl(const GRUCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});

  GRUCellOptions options;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS

 private:
  Tensor compute(const Tensor& input, const Tensor& hx);
};
HEARTH_MODULE(GRUCell);

extern template class detail::RNNCellImplBase<RNNCellImpl>;
extern template class detail::RNNCellImplBase<LSTMCellImpl>;
extern template class detail::RNNCellImplBase<GRUCellImpl>;

}  // namespace hearth::nn

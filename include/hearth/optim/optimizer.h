#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/optim/fields.h"
#include "hearth/optim/state_dict.h"
#include "hearth/owned_ptr.h"
#include "hearth/tensor.h"

namespace hearth::serialize {
class OutputArchive;
class InputArchive;
}  // namespace hearth::serialize

namespace hearth::optim {

/// Base of an optimizer's state of one parameter.
class HEARTH_API OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  OptimizerParamState(OptimizerParamState&&) noexcept = default;
  OptimizerParamState& operator=(OptimizerParamState&&) noexcept = default;
  virtual ~OptimizerParamState();

  virtual std::unique_ptr<OptimizerParamState> clone() const;  ///< a copy of the state
  /// Lists all values; a subclass overrides this or both serialize functions.
  virtual void fields(Fields& f);
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
  /// Whether a loaded tensor fits a parameter; unless overridden, if it is 0-d or has the sizes of
  /// `param`.
  virtual bool fits(const std::string& name, const Tensor& value, const Tensor& param) const;

 private:
  virtual OptimizerParamState* new_copy() const;  ///< throws unless overridden
};

/// Base of the options of one group of parameters.
class HEARTH_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  OptimizerOptions(OptimizerOptions&&) noexcept = default;
  OptimizerOptions& operator=(OptimizerOptions&&) noexcept = default;
  virtual ~OptimizerOptions();

  virtual std::unique_ptr<OptimizerOptions> clone() const;  ///< a copy of the options
  /// Lists all options; a subclass overrides this or both serialize functions.
  virtual void fields(Fields& f);
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual double get_lr() const;   ///< the learning rate
  virtual void set_lr(double lr);  ///< called by schedulers
  /// The momentum or Adam's first beta, which schedulers may change; nullopt unless overridden.
  virtual std::optional<double> get_momentum() const;
  virtual void set_momentum(double momentum);  ///< called by schedulers
  /// Default options of this type, to detect the options that a user has set; null if there are
  /// none.
  virtual hearth::detail::OwnedPtr<OptimizerOptions> unset() const;

 private:
  virtual OptimizerOptions* new_copy() const;  ///< throws unless overridden
};

/// Whether a and b have equal values.
HEARTH_API bool same_fields(const OptimizerOptions& a, const OptimizerOptions& b);
HEARTH_API bool same_fields(const OptimizerParamState& a, const OptimizerParamState& b);

/// Adds clone() and ==: `struct MyState : OptimizerCloneableParamState<MyState>`.
template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  friend bool operator==(const Derived& a, const Derived& b) { return same_fields(a, b); }

 private:
  OptimizerParamState* new_copy() const override {
    return new Derived(static_cast<const Derived&>(*this));
  }
};

/// Adds clone() and ==: `struct MyOptions : OptimizerCloneableOptions<MyOptions>`. Options of a
/// group that equal those of MyOptions() are replaced by the optimizer's defaults.
template <class Derived>
class HEARTH_API OptimizerCloneableOptions : public OptimizerOptions {
 public:
  hearth::detail::OwnedPtr<OptimizerOptions> unset() const override {
    constexpr bool names_fields =
        !std::is_same_v<decltype(&Derived::fields), decltype(&OptimizerOptions::fields)>;
    if constexpr (names_fields && std::is_default_constructible_v<Derived>)
      return hearth::detail::OwnedPtr<OptimizerOptions>(new Derived());
    else
      return {};
  }
  friend bool operator==(const Derived& a, const Derived& b) { return same_fields(a, b); }

 private:
  OptimizerOptions* new_copy() const override {
    return new Derived(static_cast<const Derived&>(*this));
  }
};

/// Parameters and their options, by default those of the optimizer.
class HEARTH_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept = default;
  ~OptimizerParamGroup() = default;

  bool has_options() const { return options_.get(); }  ///< whether it has options of its own
  OptimizerOptions& options();                         ///< throws if it has none
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options);
  std::vector<Tensor>& params() { return params_; }  ///< the group's parameters
  const std::vector<Tensor>& params() const { return params_; }
  /// The learning rate before the first scheduler changed it; nullopt without schedulers.
  std::optional<double>& initial_lr() { return initial_lr_; }
  const std::optional<double>& initial_lr() const { return initial_lr_; }

 private:
  std::vector<Tensor> params_;
  hearth::detail::OwnedPtr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

/// Base of optimizers, which update parameters from their gradients; in their formulas, p is a
/// parameter and g its gradient. State belongs to a parameter's tensor: to replace the tensor's
/// values, use set_data.
class HEARTH_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;  ///< computes the gradients and returns the loss
  /// The key is the parameter's unsafeGetTensorImpl().
  using StateMap = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(const std::vector<OptimizerParamGroup>& param_groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(Optimizer&&) = default;
  virtual ~Optimizer();

  /// Calls the closure, if any, updates all parameters that have a gradient, and returns the loss.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  /// Adds a group, whose parameters must be new.
  virtual void add_param_group(const OptimizerParamGroup& param_group);
  void zero_grad(bool set_to_none = true);  ///< drops all gradients, or fills them with zeros

  OptimizerOptions& defaults() noexcept { return *defaults_; }  ///< for groups without options
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  StateMap& state() noexcept { return state_; }  ///< the states of all parameters
  const StateMap& state() const noexcept { return state_; }

  /// Options and state, whose tensors share the optimizer's memory.
  virtual StateDict state_dict() const;
  /// Copies a state_dict() of the same type of optimizer; parameters correspond by their order.
  virtual void load_state_dict(const StateDict& dict);
  virtual void save(serialize::OutputArchive& archive) const;  ///< saves options and state
  virtual void load(serialize::InputArchive& archive);         ///< loads options and state

  /// Deprecated, as in LibTorch: the next three functions refer to the first group, size() to all.
  void add_parameters(const std::vector<Tensor>& parameters);
  const std::vector<Tensor>& parameters() const;
  std::vector<Tensor>& parameters();
  size_t size() const;

 protected:
  /// A new state for load to fill; null unless overridden.
  virtual std::unique_ptr<OptimizerParamState> make_state() const;
  virtual void after_load() {}  ///< called when options and state have been loaded

  std::vector<OptimizerParamGroup> param_groups_;
  StateMap state_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

}  // namespace hearth::optim

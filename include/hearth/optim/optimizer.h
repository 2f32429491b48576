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
#include "hearth/tensor.h"

namespace hearth::serialize {
class OutputArchive;
class InputArchive;
}  // namespace hearth::serialize

namespace hearth::optim {

/// What an optimizer keeps for one parameter.
class HEARTH_API OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  OptimizerParamState(OptimizerParamState&&) noexcept = default;
  OptimizerParamState& operator=(OptimizerParamState&&) noexcept = default;
  virtual ~OptimizerParamState();

  virtual std::unique_ptr<OptimizerParamState> clone() const;
  /// Names every value; a subclass overrides this or both serialize functions.
  virtual void fields(Fields& f);
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
};

/// The settings of one group of parameters.
class HEARTH_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  OptimizerOptions(OptimizerOptions&&) noexcept = default;
  OptimizerOptions& operator=(OptimizerOptions&&) noexcept = default;
  virtual ~OptimizerOptions();

  virtual std::unique_ptr<OptimizerOptions> clone() const;
  /// Names every setting; a subclass overrides this or both serialize functions.
  virtual void fields(Fields& f);
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  /// What schedulers cycle beside the learning rate: the momentum or Adam's first beta; none unless
  /// overridden.
  virtual std::optional<double> get_momentum() const;
  virtual void set_momentum(double momentum);
  /// Options of this type with nothing set, which tells what a user did set; null: nothing can be
  /// told.
  virtual std::unique_ptr<OptimizerOptions> unset() const;
};

/// Whether both name the same values.
HEARTH_API bool same_fields(const OptimizerOptions& a, const OptimizerOptions& b);
HEARTH_API bool same_fields(const OptimizerParamState& a, const OptimizerParamState& b);

/// `struct MyState : OptimizerCloneableParamState<MyState>` can be cloned.
template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  friend bool operator==(const Derived& a, const Derived& b) { return same_fields(a, b); }
};

/// `struct MyOptions : OptimizerCloneableOptions<MyOptions>` can be cloned. In a group's options,
/// settings that have the value of a new MyOptions become those of the optimizer's defaults.
template <class Derived>
class HEARTH_API OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  std::unique_ptr<OptimizerOptions> unset() const override {
    constexpr bool names_fields =
        !std::is_same_v<decltype(&Derived::fields), decltype(&OptimizerOptions::fields)>;
    if constexpr (names_fields && std::is_default_constructible_v<Derived>)
      return std::make_unique<Derived>();
    else
      return nullptr;
  }
  friend bool operator==(const Derived& a, const Derived& b) { return same_fields(a, b); }
};

/// Parameters and their settings; without settings they get the optimizer's defaults.
class HEARTH_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept = default;
  ~OptimizerParamGroup() = default;

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  /// The learning rate before the first scheduler changed it; none without schedulers.
  std::optional<double>& initial_lr() { return initial_lr_; }
  const std::optional<double>& initial_lr() const { return initial_lr_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

/// Updates parameters from their gradients. It keeps state by parameter: replace what a parameter
/// holds with set_data, not the tensor itself.
class HEARTH_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  /// By the address of the parameter's unsafeGetTensorImpl().
  using StateMap = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(const std::vector<OptimizerParamGroup>& param_groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(Optimizer&&) = default;
  virtual ~Optimizer();

  /// Updates every parameter that has a gradient. A closure computes the gradients first and gives
  /// the loss, which is returned.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  void add_param_group(const OptimizerParamGroup& param_group);
  /// Drops all gradients, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  StateMap& state() noexcept { return state_; }
  const StateMap& state() const noexcept { return state_; }

  /// Settings and state; its tensors are the optimizer's own.
  StateDict state_dict() const;
  /// Takes over copies of what state_dict() of such an optimizer gave; parameters correspond by
  /// their order.
  void load_state_dict(const StateDict& dict);
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

  /// Of the first group; LibTorch warns that these will be removed.
  void add_parameters(const std::vector<Tensor>& parameters);
  const std::vector<Tensor>& parameters() const;
  std::vector<Tensor>& parameters();
  size_t size() const;

 protected:
  /// The state of a parameter that has none yet, for load; null if a subclass does not say.
  virtual std::unique_ptr<OptimizerParamState> make_state() const;

  std::vector<OptimizerParamGroup> param_groups_;
  StateMap state_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

}  // namespace hearth::optim

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/arg.h"
#include "hearth/autocast.h"
#include "hearth/ivalue.h"
#include "hearth/optim/optimizer.h"
#include "hearth/owned_ptr.h"

namespace hearth::nn {
class Module;
}

// Mixed precision: products run in a 16-bit type under autocast, and the loss is multiplied by a
// scale, so that gradients in float16 do not become zero.

namespace hearth::amp {

/// Python's torch.amp.autocast: `amp::autocast guard("cuda", kBFloat16);`
class HEARTH_API autocast : public AutocastMode {
 public:
  explicit autocast(Device device_type, std::optional<ScalarType> dtype = {}, bool enabled = true,
                    std::optional<bool> cache_enabled = {})
      : AutocastMode(device_type.type(), dtype, enabled, cache_enabled) {}
};

/// The options of GradScaler.
struct HEARTH_API GradScalerOptions {
  HEARTH_ARG(double, init_scale) = 65536;       ///< the first scale
  HEARTH_ARG(double, growth_factor) = 2;        ///< factor after growth_interval finite steps
  HEARTH_ARG(double, backoff_factor) = 0.5;     ///< factor after a step with inf or NaN
  HEARTH_ARG(int64_t, growth_interval) = 2000;  ///< steps without inf or NaN before growth
  HEARTH_ARG(bool, enabled) = true;             ///< if false, losses are not scaled
};

/// The gradient whose infinite or NaN elements made GradScaler skip a step. If there are several,
/// this is the last parameter's, because backward computes it first.
struct NonFiniteGradient {
  Tensor parameter;             ///< undefined if the elements are in another rank's part
  size_t group = 0, index = 0;  ///< the optimizer's parameter group, and the place in it
  int64_t elements = 0;         ///< how many elements are infinite or NaN
  double scale = 1;             ///< the scale of the loss
};

/// Scales the loss, unscales the gradients, skips steps whose gradients are not finite, and adapts
/// the scale.
///
///     scaler.scale(loss).backward();
///     scaler.step(optimizer);
///     scaler.update();
class HEARTH_API GradScaler {
 public:
  explicit GradScaler(Device device = Device(DeviceType::CUDA), GradScalerOptions options = {});
  explicit GradScaler(GradScalerOptions options);  ///< for CUDA
  GradScaler(const GradScaler&) = delete;
  GradScaler& operator=(const GradScaler&) = delete;
  GradScaler(GradScaler&&) noexcept;
  GradScaler& operator=(GradScaler&&) noexcept;
  ~GradScaler();

  Tensor scale(const Tensor& output);  ///< the output times the scale
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);
  /// Divides the gradients of the optimizer's parameters by the scale, for example to clip them.
  void unscale_(optim::Optimizer& optimizer);
  /// Unscales the gradients unless unscale_() has done so, and calls optimizer.step() if all are
  /// finite. A closure is an error, unless the scaler is disabled.
  Tensor step(optim::Optimizer& optimizer, optim::Optimizer::LossClosure closure = nullptr);
  void update();                         ///< adapts the scale; call it at the end of an iteration
  void update(double new_scale);         ///< ends the iteration and sets the scale
  void update(const Tensor& new_scale);  ///< the same; new_scale has one float32 element

  double get_scale() const;  ///< the scale, or 1 if disabled; waits for the device
  double get_growth_factor() const { return options_.growth_factor(); }    ///< of GradScalerOptions
  double get_backoff_factor() const { return options_.backoff_factor(); }  ///< the same
  int64_t get_growth_interval() const { return options_.growth_interval(); }  ///< the same
  void set_growth_factor(double factor) { options_.growth_factor(factor); }
  void set_backoff_factor(double factor) { options_.backoff_factor(factor); }
  void set_growth_interval(int64_t steps) { options_.growth_interval(steps); }
  bool is_enabled() const { return options_.enabled(); }  ///< also false without the device

  /// The state as Python's dict, empty if disabled: io::save_pt(scaler.state_dict(), path).
  IValue state_dict() const;
  /// Loads a state_dict() of this class or of Python's: io::load_pt(path).
  void load_state_dict(const IValue& dict);
  void save(serialize::OutputArchive& archive) const;  ///< saves state_dict()
  void load(serialize::InputArchive& archive);

  /// The cause of the last skipped step; null if there was none, or if its gradients were made
  /// finite after unscale_(). Only skipped steps take time to find it.
  const NonFiniteGradient* non_finite() const { return non_finite_.get(); }
  /// non_finite() as a sentence with the names of the parameter and of its module in `model`; empty
  /// if it is null.
  std::string explain(const nn::Module& model) const;

 private:
  struct Iteration;  // what was done with each optimizer since the last update()
  void check_ready(const char* function) const;
  const Tensor& scale_on(Device device);
  std::vector<Tensor> unscale_gradients(const optim::Optimizer& optimizer) const;
  void remember_cause(const optim::Optimizer& optimizer);
  void end_iteration();
  int64_t growth_tracker() const;

  Device device_;
  GradScalerOptions options_;
  int64_t initial_tracker_ = 0;
  Tensor scale_, growth_tracker_;  // undefined before the first scale()
  hearth::detail::OwnedPtr<Iteration> iteration_;
  hearth::detail::OwnedPtr<NonFiniteGradient> non_finite_;
};

}  // namespace hearth::amp

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/nn/module.h"
#include "hearth/nn/pimpl.h"
#include "hearth/optim/lr_scheduler.h"
#include "hearth/owned_ptr.h"

namespace hearth::optim::swa_utils {

/// Returns the new average of a parameter: f(average, parameter, number of models averaged so far).
using AvgFn = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;
/// Updates averages in place: f(averages, parameters, number of models averaged so far). The
/// tensors of one call have the same device and dtype.
using MultiAvgFn = std::function<void(TensorList, TensorList, const Tensor&)>;

/// The exponential moving average decay * average + (1 - decay) * parameter.
HEARTH_API AvgFn get_ema_avg_fn(double decay = 0.999);
HEARTH_API MultiAvgFn get_ema_multi_avg_fn(double decay = 0.999);
/// The mean of all models.
HEARTH_API AvgFn get_swa_avg_fn();
HEARTH_API MultiAvgFn get_swa_multi_avg_fn();

/// Options of AveragedModel.
struct HEARTH_API AveragedModelOptions {
  HEARTH_ARG(std::optional<Device>, device);  ///< of the averages (default: the model's)
  HEARTH_ARG(AvgFn, avg_fn);                  ///< the average; by default get_swa_avg_fn()
  HEARTH_ARG(MultiAvgFn, multi_avg_fn);       ///< used instead of avg_fn
  HEARTH_ARG(bool, use_buffers) = false;      ///< averages buffers, too, instead of copying them
};

/// The part of AveragedModel that does not depend on the model's type.
class HEARTH_API AveragedModelBase : public nn::Module {
 public:
  /// Averages the model's current parameters; the first call copies them.
  void update_parameters(const nn::Module& model);

  AveragedModelOptions options;
  Tensor n_averaged;  ///< buffer, the number of averaged models

 protected:
  AveragedModelBase(const nn::Module& model, AveragedModelOptions options_);

  std::shared_ptr<nn::Module> copy;  // of the model, with averaged parameters

 private:
  void average(const std::vector<Tensor>& averages, const std::vector<Tensor>& values);
};

/// A copy of a model with averaged parameters (stochastic weight averaging, or an exponential
/// moving average): `AveragedModel average(net)`, then average.update_parameters(*net) after each
/// step, and average.forward(input). The model's class is Model; it needs a clone().
template <class Model>
class AveragedModel : public AveragedModelBase {
 public:
  explicit AveragedModel(const std::shared_ptr<Model>& model, AveragedModelOptions options_ = {})
      : AveragedModelBase(*model, std::move(options_)) {}
  explicit AveragedModel(const nn::ModuleHolder<Model>& model, AveragedModelOptions options_ = {})
      : AveragedModel(model.ptr(), std::move(options_)) {}
  using AveragedModelBase::update_parameters;
  void update_parameters(const nn::ModuleHolder<Model>& model) { update_parameters(*model); }
  std::shared_ptr<Model> module() const { return std::static_pointer_cast<Model>(copy); }
  template <class... Args>
  auto forward(Args&&... args) {
    return module()->forward(std::forward<Args>(args)...);
  }
};

namespace detail {
/// Resets the running statistics of all batch norms of a model, and makes them means over all
/// batches during its lifetime.
class HEARTH_API BatchNormUpdate {
 public:
  explicit BatchNormUpdate(nn::Module& model);
  BatchNormUpdate(const BatchNormUpdate&) = delete;
  BatchNormUpdate& operator=(const BatchNormUpdate&) = delete;
  ~BatchNormUpdate();
  bool empty() const;  ///< whether the model has no batch norms

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};
/// The model's input in a batch: the batch, the data of an Example, or the first of several
/// tensors.
inline Tensor input_of(const Tensor& batch) { return batch; }
template <class Batch>
auto input_of(const Batch& batch) {
  if constexpr (requires { batch.data; })
    return batch.data;
  else if constexpr (requires { batch.first; })
    return batch.first;
  else
    return batch[0];
}
}  // namespace detail

/// Recomputes the running statistics of the model's batch norms from the batches of a loader. The
/// model's input is the batch, an Example's data, or the first of a pair or vector of tensors.
template <class Loader, class Model>
void update_bn(Loader&& loader, Model&& model, const std::optional<Device>& device = std::nullopt) {
  const NoGradGuard no_grad;
  const detail::BatchNormUpdate update(*model);
  if (update.empty()) return;
  for (auto&& batch : loader) {
    const Tensor input = detail::input_of(batch);
    model->forward(device ? input.to(*device) : input);
  }
}

/// Anneals the rate of each group to swa_lr within anneal_epochs, along a cosine ("cos") or
/// linearly ("linear"), and keeps it there.
class HEARTH_API SWALR : public LRScheduler {
 public:
  SWALR(Optimizer& optimizer, PerGroup swa_lr, int64_t anneal_epochs = 10,
        std::string anneal_strategy = "cos", int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  void fields(Fields& f) override;
  void check() const override;

 private:
  double share(double epoch) const;  ///< of the way to swa_lr, from 0 to 1

  std::vector<double> swa_lrs_;
  int64_t anneal_epochs_;
  std::string anneal_strategy_;
};

}  // namespace hearth::optim::swa_utils

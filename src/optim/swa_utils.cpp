// Averages of models, the statistics of their batch normalizations, and their scheduler, SWALR.
#include "hearth/optim/swa_utils.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hearth/nn/normalization.h"
#include "hearth/operators.h"
#include "optim/per_group.h"

namespace hearth::optim::swa_utils {

namespace {

void check_decay(double decay) {
  HEARTH_CHECK_AS(ValueError, 0 <= decay && decay <= 1, "Invalid decay value ", decay,
                  " provided. Please provide a value in [0,1] range.");
}

/// averages += weight * (values - averages); integers are truncated.
void move_averages(TensorList averages, TensorList values, double weight) {
  const NoGradGuard no_grad;
  if (averages[0].is_floating_point()) return _foreach_lerp_(averages, values, weight);
  for (size_t i = 0; i < averages.size(); ++i)
    averages[i].copy_(averages[i] * (1 - weight) + values[i] * weight);
}

}  // namespace

AvgFn get_ema_avg_fn(double decay) {
  check_decay(decay);
  return [decay](const Tensor& average, const Tensor& value, const Tensor&) {
    const NoGradGuard no_grad;
    return average * decay + value * (1 - decay);
  };
}

MultiAvgFn get_ema_multi_avg_fn(double decay) {
  check_decay(decay);
  return [decay](TensorList averages, TensorList values, const Tensor&) {
    move_averages(averages, values, 1 - decay);
  };
}

AvgFn get_swa_avg_fn() {
  return [](const Tensor& average, const Tensor& value, const Tensor& count) {
    const NoGradGuard no_grad;
    return average + (value - average) / (count + 1);
  };
}

MultiAvgFn get_swa_multi_avg_fn() {
  return [](TensorList averages, TensorList values, const Tensor& count) {
    move_averages(averages, values, 1 / (count.item().toDouble() + 1));
  };
}

AveragedModelBase::AveragedModelBase(const nn::Module& model, AveragedModelOptions options_)
    : Module("AveragedModel"), options(std::move(options_)) {
  HEARTH_CHECK_AS(ValueError, !options.avg_fn() || !options.multi_avg_fn(),
                  "Only one of avg_fn and multi_avg_fn should be provided");
  copy = register_module("module", model.clone(options.device()));
  n_averaged = register_buffer(
      "n_averaged", zeros({}, TensorOptions(kLong).device(options.device().value_or(kCPU))));
}

namespace {

/// Returns the parameters of a module and, if with_buffers, its buffers.
std::vector<Tensor> values_of(const nn::Module& module, bool with_buffers) {
  std::vector<Tensor> values = module.parameters();
  if (with_buffers)
    for (const Tensor& buffer : module.buffers()) values.push_back(buffer);
  return values;
}

void check_count(const std::vector<Tensor>& averages, const std::vector<Tensor>& values) {
  HEARTH_CHECK_AS(ValueError, averages.size() == values.size(), "AveragedModel has ",
                  averages.size(), " parameters or buffers, but the model has ", values.size());
}

/// Averages and values of one device and dtype.
struct Group {
  std::vector<Tensor> averages, values;
  bool accepts(const Tensor& average) const {
    return averages[0].device() == average.device() &&
           averages[0].scalar_type() == average.scalar_type();
  }
};

std::vector<Group> by_device_and_dtype(const std::vector<Tensor>& averages,
                                       const std::vector<Tensor>& values) {
  std::vector<Group> groups;
  for (size_t i = 0; i < averages.size(); ++i) {
    const auto fits = [&](const Group& group) { return group.accepts(averages[i]); };
    auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end()) group = groups.insert(groups.end(), Group());
    group->averages.push_back(averages[i]);
    group->values.push_back(values[i]);
  }
  return groups;
}

}  // namespace

void AveragedModelBase::average(const std::vector<Tensor>& averages,
                                const std::vector<Tensor>& values) {
  if (options.avg_fn()) {
    for (size_t i = 0; i < averages.size(); ++i)
      averages[i].copy_(
          options.avg_fn()(averages[i], values[i], n_averaged.to(averages[i].device())));
    return;
  }
  const MultiAvgFn update =
      options.multi_avg_fn() ? options.multi_avg_fn() : get_swa_multi_avg_fn();
  for (const Group& group : by_device_and_dtype(averages, values))
    update(group.averages, group.values, n_averaged.to(group.averages[0].device()));
}

void AveragedModelBase::update_parameters(const nn::Module& model) {
  const NoGradGuard no_grad;
  std::vector<Tensor> averages = values_of(*copy, options.use_buffers());
  std::vector<Tensor> values = values_of(model, options.use_buffers());
  check_count(averages, values);
  for (size_t i = 0; i < averages.size(); ++i) {
    averages[i] = averages[i].detach();
    values[i] = values[i].detach().to(averages[i].device(), averages[i].scalar_type());
  }
  if (n_averaged.item().toLong() > 0)
    average(averages, values);
  else
    for (size_t i = 0; i < averages.size(); ++i) averages[i].copy_(values[i]);
  if (!options.use_buffers()) {
    const std::vector<Tensor> copies = copy->buffers(), originals = model.buffers();
    check_count(copies, originals);
    for (size_t i = 0; i < copies.size(); ++i) copies[i].copy_(originals[i]);
  }
  n_averaged.add_(1);
}

namespace detail {

namespace {

/// If the module is a Norm: resets its statistics, makes them averages of all batches, and returns
/// a function that restores its momentum.
template <class Norm>
std::function<void()> start_averaging(nn::Module& module) {
  auto* const norm = dynamic_cast<Norm*>(&module);
  if (!norm) return nullptr;
  norm->reset_running_stats();
  return [norm, momentum = std::exchange(norm->options.momentum(), std::nullopt)] {
    norm->options.momentum(momentum);
  };
}

}  // namespace

struct BatchNormUpdate::State {
  nn::Module& model;
  bool was_training;
  std::vector<std::function<void()>> restore;
};

BatchNormUpdate::BatchNormUpdate(nn::Module& model)
    : state_(new State{model, model.is_training(), {}}) {
  model.apply([this](nn::Module& module) {
    for (const auto& visit :
         {start_averaging<nn::BatchNorm1dImpl>, start_averaging<nn::BatchNorm2dImpl>,
          start_averaging<nn::BatchNorm3dImpl>})
      if (std::function<void()> restore = visit(module))
        state_->restore.push_back(std::move(restore));
  });
  if (!empty()) model.train();
}

BatchNormUpdate::~BatchNormUpdate() {
  for (const std::function<void()>& restore : state_->restore) restore();
  if (!empty()) state_->model.train(state_->was_training);
}

bool BatchNormUpdate::empty() const { return state_->restore.empty(); }

}  // namespace detail

SWALR::SWALR(Optimizer& optimizer, PerGroup swa_lr, int64_t anneal_epochs,
             std::string anneal_strategy, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      swa_lrs_(per_group(swa_lr, "swa_lr", optimizer.param_groups().size())),
      anneal_epochs_(anneal_epochs),
      anneal_strategy_(std::move(anneal_strategy)) {
  initial_step();
}

void SWALR::check() const {
  LRScheduler::check();
  check_count(swa_lrs_.size());
  HEARTH_CHECK_AS(ValueError, anneal_strategy_ == "cos" || anneal_strategy_ == "linear",
                  "anneal_strategy must be one of 'cos' or 'linear', instead got ",
                  anneal_strategy_);
  HEARTH_CHECK_AS(ValueError, anneal_epochs_ >= 0,
                  "anneal_epochs must be equal or greater than 0, got ", anneal_epochs_);
}

/// Returns the share of swa_lr in the rate of an epoch.
double SWALR::share(double epoch) const {
  const double length = static_cast<double>(std::max<int64_t>(1, anneal_epochs_));
  const double t = std::clamp(epoch / length, 0.0, 1.0);
  return anneal_strategy_ == "linear" ? t : (1 - std::cos(std::numbers::pi * t)) / 2;
}

std::vector<double> SWALR::get_lrs() {
  double epoch = is_initial() ? 0 : static_cast<double>(step_count_) + 1;
  if (anneal_epochs_ == 0) epoch = std::max(1.0, epoch);
  const double last_share = share(epoch - 1), new_share = share(epoch);
  std::vector<double> rates = get_current_lrs();
  check_count(rates.size());
  for (size_t i = 0; i < rates.size(); ++i) {
    const double first =
        last_share == 1 ? swa_lrs_[i] : (rates[i] - last_share * swa_lrs_[i]) / (1 - last_share);
    rates[i] = swa_lrs_[i] * new_share + first * (1 - new_share);
  }
  return rates;
}

void SWALR::fields(Fields& f) {
  LRScheduler::fields(f);
  f.field("swa_lrs", swa_lrs_);
  f.field("anneal_epochs", anneal_epochs_);
  f.field("_anneal_strategy", anneal_strategy_);
}

}  // namespace hearth::optim::swa_utils

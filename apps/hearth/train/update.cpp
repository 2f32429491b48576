#include "update.h"

#include <algorithm>

#include "evaluate.h"
#include "hearth/hearth.h"
#include "hearth/io/checkpoint.h"

namespace hearth::app {

namespace {

/// Multiplies an optimizer's learning rates by a factor during its lifetime.
class ScaledRates {
 public:
  ScaledRates(optim::Optimizer& optimizer, double factor) : optimizer_(optimizer) {
    for (auto& group : optimizer.param_groups()) {
      rates_.push_back(group.options().get_lr());
      if (factor != 1) group.options().set_lr(factor * rates_.back());
    }
  }
  ~ScaledRates() {
    for (size_t i = 0; i < rates_.size(); ++i)
      optimizer_.param_groups()[i].options().set_lr(rates_[i]);
  }
  ScaledRates(const ScaledRates&) = delete;
  ScaledRates& operator=(const ScaledRates&) = delete;

 private:
  optim::Optimizer& optimizer_;
  std::vector<double> rates_;
};

/// The factor of the learning rate, which rises linearly in the first steps.
double warmup_factor(int64_t step, int64_t warmup_steps) {
  return step < warmup_steps ? static_cast<double>(step) / static_cast<double>(warmup_steps) : 1;
}

}  // namespace

Update::Update(const TrainOptions& options, const RunOptions& run, std::vector<Tensor> parameters,
               Device device, int64_t steps_per_epoch)
    : options_(options),
      parameters_(std::move(parameters)),
      optimizer_(make_optimizer(options.optimizer, parameters_, run.lr)),
      schedule_(options.scheduler, *optimizer_,
                {std::max<int64_t>(options.epochs, 1), steps_per_epoch}),
      scaler_(device, amp::GradScalerOptions().enabled(amp_dtype(options.amp) == kHalf)) {}

double Update::lr(int64_t step) const {
  return warmup_factor(step, options_.warmup_steps) *
         optimizer_->param_groups().front().options().get_lr();
}

void Update::clip() {
  if (options_.clip_grad_norm || options_.clip_grad_value) scaler_.unscale_(*optimizer_);
  if (options_.clip_grad_value) nn::utils::clip_grad_value_(parameters_, *options_.clip_grad_value);
  if (options_.clip_grad_norm) nn::utils::clip_grad_norm_(parameters_, *options_.clip_grad_norm);
}

void Update::step(int64_t step, const std::function<Tensor()>& backward) {
  const auto gradients = [&] {
    optimizer_->zero_grad();
    const Tensor loss = backward();
    clip();
    return loss;
  };
  {
    const ScaledRates rates(*optimizer_, warmup_factor(step, options_.warmup_steps));
    if (scaler_.is_enabled()) {
      gradients();
      scaler_.step(*optimizer_);
      scaler_.update();
    } else {
      optimizer_->step(gradients);
    }
  }
  schedule_.after_step();
}

void Update::add_to(io::Checkpoint& checkpoint) {
  checkpoint.add("optimizer", *optimizer_);
  if (options_.scheduler != scheduler_names().front()) checkpoint.add("scheduler", schedule_);
  if (scaler_.is_enabled()) checkpoint.add("scaler", scaler_);
}

}  // namespace hearth::app

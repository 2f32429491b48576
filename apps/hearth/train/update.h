#pragma once

#include <functional>
#include <memory>

#include "hearth/amp.h"
#include "hearth/nn.h"
#include "optimizers.h"
#include "options.h"
#include "schedule.h"

namespace hearth::io {
class Checkpoint;
}

namespace hearth::app {

/// The update of the parameters from gradients: loss scaling, clipping, the learning rate with its
/// warm-up and schedule, the optimizer.
class Update {
 public:
  Update(const TrainOptions& options, const RunOptions& run, std::vector<Tensor> parameters,
         Device device, int64_t steps_per_epoch);

  /// Scales a loss before backward().
  Tensor scaled(const Tensor& loss) { return scaler_.scale(loss); }
  /// Makes step number `step`, from 1. `backward` computes the gradients and returns the loss; an
  /// optimizer may call it several times.
  void step(int64_t step, const std::function<Tensor()>& backward);
  void after_epoch(double test_accuracy) { schedule_.after_epoch(test_accuracy); }
  /// The learning rate of step number `step`.
  double lr(int64_t step) const;

  void add_to(io::Checkpoint& checkpoint);

 private:
  void clip();

  const TrainOptions& options_;
  const std::vector<Tensor> parameters_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  Schedule schedule_;
  amp::GradScaler scaler_;  // enabled for float16
};

}  // namespace hearth::app

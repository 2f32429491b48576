#include "batch_size.h"

#include <algorithm>
#include <memory>
#include <new>

#include "checkpointed.h"
#include "evaluate.h"
#include "hearth/hearth.h"
#include "hearth/utils/memory.h"
#include "models.h"
#include "optimizers.h"

namespace hearth::app {

namespace {

/// A step should need at most this fraction of the available memory, as predicted; the rest is left
/// for scratch memory, which is not predicted.
constexpr double kUsableFraction = 0.8;
constexpr int64_t kMinStepsPerEpoch = 10;

/// A training step on one device, to predict or try whether a batch size fits into memory.
class TrialStep {
 public:
  TrialStep(const TrainOptions& options, const DataSets& data, Device device)
      : options_(options), data_(data), device_(device) {
    manual_seed(options.seed);
    model_ = make_model(options.model, data.train.input_sizes(), data.classes);
    module_ = model_.ptr();
    if (options.checkpoint_activations) checkpoint_blocks(*module_);
    module_->to(device);
    optimizer_ = make_optimizer(options.optimizer, module_->parameters(), options.lrs.front());
  }

  /// The bytes that the step needs in addition to the parameters, which are in memory already.
  size_t predicted_bytes(int64_t size) {
    const std::vector<Tensor> batch = batch_of(size);
    const utils::MemoryPrediction prediction = utils::predict_step_memory(
        *module_, [&](const std::vector<Tensor>& inputs) { return loss_of(inputs); }, *optimizer_,
        batch);
    return prediction.peak() - std::min(parameter_bytes(), prediction.peak());
  }

  /// Runs two steps, since the first one creates the optimizer's state; false if memory does not
  /// suffice.
  bool fits(int64_t size) {
    try {
      std::vector<Tensor> inputs;
      for (const Tensor& tensor : batch_of(size)) inputs.push_back(tensor.to(device_));
      for (int step = 0; step < 2; ++step) {
        optimizer_->zero_grad();
        loss_of(inputs).backward();
        optimizer_->step();
      }
      if (device_.is_cuda()) cuda::synchronize(device_.index());
      return true;
    } catch (const OutOfMemoryError&) {
    } catch (const std::bad_alloc&) {
    }
    optimizer_->zero_grad();
    device_.is_cuda() ? cuda::empty_cache() : empty_cpu_cache();
    return false;
  }

 private:
  /// The first `size` examples.
  std::vector<Tensor> batch_of(int64_t size) const {
    const data::Example<> batch = data_.train.batch(0, size);
    return {batch.data, batch.target};
  }

  Tensor loss_of(const std::vector<Tensor>& inputs) {
    return cross_entropy_loss(scores_of(model_, inputs[0], device_, amp_dtype(options_.amp)),
                              inputs[1]);
  }

  size_t parameter_bytes() const {
    size_t bytes = 0;
    for (const Tensor& parameter : module_->parameters()) bytes += parameter.nbytes();
    return bytes;
  }

  const TrainOptions& options_;
  const DataSets& data_;
  const Device device_;
  nn::AnyModule model_;
  std::shared_ptr<nn::Module> module_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

struct Choice {
  int64_t size = 0;
  size_t predicted = 0, available = 0;
};

/// The largest power of two up to `max_size` that is predicted to fit, halved until a step fits.
Choice choose(const TrainOptions& options, const DataSets& data, Device device, int64_t max_size) {
  TrialStep step(options, data, device);
  const size_t available = available_memory(device);
  const auto usable = static_cast<size_t>(kUsableFraction * static_cast<double>(available));
  int64_t size = 1;
  while (2 * size <= max_size && step.predicted_bytes(2 * size) <= usable) size *= 2;
  while (size > 0 && !step.fits(size)) size /= 2;
  const size_t needed = step.predicted_bytes(std::max<int64_t>(size, 1));
  HEARTH_CHECK_AS(OutOfMemoryError, size > 0,
                  "--batch-size auto: not even one example fits: ", device, " has ",
                  available >> 20, " MiB available, and a step needs about ", (needed >> 20) + 1,
                  " MiB. Free memory, choose a smaller --model or an --optimizer with less state "
                  "(sgd), or try --amp bf16 or --checkpoint-activations.");
  return {size, needed, available};
}

}  // namespace

std::string choose_batch_sizes(TrainOptions& options, const DataSets& data) {
  if (std::ranges::count(options.batch_sizes, kAutoBatchSize) == 0) return "";
  int64_t max_size = std::max<int64_t>(data.train.count() / kMinStepsPerEpoch, 1);
  std::string reason;
  for (const std::string& name : options.devices) {
    const Choice choice = choose(options, data, Device(name), max_size);
    max_size = choice.size;
    reason += detail::str(reason.empty() ? "" : "; ", name, ": a step needs ",
                          choice.predicted >> 20, " of ", choice.available >> 20, " MiB");
  }
  std::ranges::replace(options.batch_sizes, kAutoBatchSize, max_size);
  return detail::str("batch size ", max_size, " (", reason, ")\n");
}

}  // namespace hearth::app

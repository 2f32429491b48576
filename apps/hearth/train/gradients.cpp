#include "gradients.h"

#include "evaluate.h"
#include "hearth/hearth.h"
#include "interrupt.h"
#include "parallel_model.h"
#include "processes.h"
#include "step_random.h"

namespace hearth::app {

Gradients::Gradients(const TrainOptions& options, const nn::AnyModule& model, Device device,
                     const Processes& processes)
    : options_(options), device_(device), processes_(processes), model_(model) {
  if (!processes.are_several()) return;
  parallel_ = std::make_shared<ParallelModel>(model, device);
  model_ = nn::AnyModule(parallel_);
}

StepResult Gradients::compute(const std::vector<Batch>& batches, int64_t step, Update& update) {
  const StepRandom random(processes_, device_, options_.seed, step);
  StepResult result;
  result.correct = zeros({}, TensorOptions(kLong).device(device_));
  for (const Batch& batch : batches) result.examples += batch.data.size(0);
  for (size_t i = 0; i < batches.size(); ++i) {
    std::optional<ParallelModel::NoSync> local;  // the processes average after the last batch only
    if (parallel_ && i + 1 < batches.size()) local.emplace(*parallel_);
    Tensor loss = loss_of(batches[i], result);
    const double share =
        static_cast<double>(batches[i].data.size(0)) / static_cast<double>(result.examples);
    if (share != 1) loss = loss * share;
    update.scaled(loss).backward();
    result.loss += loss.item<double>();
  }
  combine(result);
  return result;
}

Tensor Gradients::loss_of(const Batch& batch, StepResult& result) {
  const Tensor inputs = batch.data.to(device_), targets = batch.target.to(device_);
  const Tensor scores = scores_of(model_, inputs, device_, amp_dtype(options_.amp));
  result.correct += correct_in(scores, targets);
  return cross_entropy_loss(scores, targets, {}, Reduction::Mean, -100, options_.label_smoothing);
}

void Gradients::combine(StepResult& result) const {
  result.interrupted = interrupted();
  if (!processes_.are_several()) return;
  const std::vector<double> sums =
      processes_.sums({result.loss, result.correct.item<double>(), result.interrupted ? 1.0 : 0.0});
  result.loss = sums[0] / static_cast<double>(processes_.count());
  result.correct.fill_(sums[1]);
  result.interrupted = sums[2] > 0;
  result.examples *= processes_.count();
}

}  // namespace hearth::app

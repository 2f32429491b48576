#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data_sets.h"
#include "hearth/nn.h"
#include "hearth/utils/tensorboard.h"
#include "results.h"

namespace hearth::app {

/// The records of a run for TensorBoard, in the run's folder.
class Log {
 public:
  /// Later records replace those of an earlier process from step `first_step` on. Without `enabled`
  /// nothing is written.
  Log(const std::string& folder, bool enabled, int64_t first_step);

  /// Of a new run: its settings and its first images.
  void begin(const TrainOptions& options, const RunOptions& run, const Examples& examples);
  /// The graph of the model, called with these inputs.
  void graph(nn::AnyModule& model, const Tensor& inputs);
  /// The loss, the learning rate and the duration of a step.
  void step(int64_t step, double loss, double lr, double seconds);
  /// The results of an epoch, and the histograms of the weights and their gradients.
  void epoch(int64_t step, const EpochResult& epoch, const nn::Module& model);
  /// Whether a confusion matrix of so many classes would be shown.
  bool shows_confusion(int64_t classes) const;
  /// A confusion matrix of the test data: int64 [classes, classes].
  void confusion(int64_t step, const Tensor& matrix, const std::vector<std::string>& class_names);
  /// Of a run that has ended: its settings and results, for the table of hyperparameters.
  void end(const TrainOptions& options, const RunOptions& run,
           const std::vector<EpochResult>& epochs);

 private:
  std::optional<utils::tensorboard::SummaryWriter> writer_;
};

}  // namespace hearth::app

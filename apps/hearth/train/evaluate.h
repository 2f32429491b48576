#pragma once

#include <optional>
#include <string>

#include "examples.h"
#include "hearth/nn.h"

namespace hearth::app {

class Processes;

/// The dtype of --amp, "bf16" or "fp16"; nullopt if it is off.
std::optional<ScalarType> amp_dtype(const std::string& amp);

/// The model's scores in float32, computed under autocast for the device if a dtype is given.
Tensor scores_of(nn::AnyModule& model, const Tensor& inputs, Device device,
                 std::optional<ScalarType> amp);

/// The number of targets with the largest score, a tensor on the scores' device.
Tensor correct_in(const Tensor& scores, const Tensor& targets);

/// The quality of a model's predictions.
struct Evaluation {
  double loss = 0;      // mean cross entropy
  double accuracy = 0;  // the share of right predictions
  /// int64 [classes, classes]: rows are targets, columns predictions. Counts only the examples of
  /// this process; undefined without classes.
  Tensor confusion;
};

struct EvaluationOptions {
  Device device{kCPU};
  int64_t num_workers = 0;
  std::optional<ScalarType> amp = std::nullopt;
  int64_t classes = 0;                   // of the confusion matrix; 0: none
  const Processes* processes = nullptr;  // that share the examples; null: this process alone
};

/// Runs the model in evaluation mode on all examples. If memory does not suffice, batches are
/// divided.
Evaluation evaluate(nn::AnyModule& model, const Examples& examples,
                    const EvaluationOptions& options);

}  // namespace hearth::app

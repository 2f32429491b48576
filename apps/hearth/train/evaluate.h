#pragma once

#include <optional>
#include <string>

#include "examples.h"
#include "hearth/nn.h"

namespace hearth::app {

/// The dtype of --amp, "bf16" or "fp16"; nullopt if it is off.
std::optional<ScalarType> amp_dtype(const std::string& amp);

/// The model's scores in float32, computed under autocast for the device if a dtype is given.
Tensor scores_of(nn::AnyModule& model, const Tensor& inputs, Device device,
                 std::optional<ScalarType> amp);

/// The number of targets with the largest score, a tensor on the scores' device.
Tensor correct_in(const Tensor& scores, const Tensor& targets);

/// How well a model predicts the targets of examples.
struct Evaluation {
  double loss = 0;   // mean cross entropy
  Tensor confusion;  // int64 [classes, classes]: rows are targets, columns predictions

  /// The share of right predictions.
  double accuracy() const;
};

struct EvaluationOptions {
  Device device{kCPU};
  int64_t classes = 0;
  int64_t num_workers = 0;
  std::optional<ScalarType> amp = std::nullopt;
};

/// Runs the model in evaluation mode on all examples. If memory does not suffice, batches are
/// divided.
Evaluation evaluate(nn::AnyModule& model, const Examples& examples,
                    const EvaluationOptions& options);

}  // namespace hearth::app

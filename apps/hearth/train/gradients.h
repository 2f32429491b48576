#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hearth/data.h"
#include "hearth/nn.h"
#include "options.h"
#include "update.h"

namespace hearth::app {

class ParallelModel;
class Processes;

/// The results of a step over the batches of all processes.
struct StepResult {
  double loss = 0;           // the mean over the examples
  Tensor correct;            // the number of right answers
  int64_t examples = 0;      // in all batches
  bool interrupted = false;  // by a signal, on any process
};

/// Computes the gradients of a step, whose batches may be divided among several processes.
class Gradients {
 public:
  using Batch = data::Example<>;

  Gradients(const TrainOptions& options, const nn::AnyModule& model, Device device,
            const Processes& processes);

  /// Computes the parameters' gradients of the mean loss over the batches of all processes, of
  /// which `batches` are those of this one.
  StepResult compute(const std::vector<Batch>& batches, int64_t step, Update& update);

 private:
  /// Also adds the number of right answers to the result.
  Tensor loss_of(const Batch& batch, StepResult& result);
  /// Combines the results of all processes.
  void combine(StepResult& result) const;

  const TrainOptions& options_;
  const Device device_;
  const Processes& processes_;
  std::shared_ptr<ParallelModel> parallel_;  // null without other processes
  nn::AnyModule model_;                      // computes the scores
};

}  // namespace hearth::app

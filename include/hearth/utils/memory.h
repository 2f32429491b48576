#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "hearth/memory_stats.h"
#include "hearth/nn/module.h"
#include "hearth/optim/optimizer.h"

// Predicts the memory of a training step without running the step on the device.

namespace hearth::utils {

/// The memory that a training step needs.
struct MemoryPrediction {
  MemoryStats stats;    ///< has the peak, in allocated_bytes, and that of each tag, in of(tag)
  std::string summary;  ///< as memory_summary() prints it

  size_t peak() const { return static_cast<size_t>(stats.allocated_bytes.peak); }
  /// The tag's own peak. Tags may peak at different times; `stats.at_peak` has one common time.
  size_t peak(MemoryTag tag) const { return static_cast<size_t>(stats.of(tag).peak); }
};

/// Predicts the memory of the step `loss_of(inputs).backward(); optimizer.step();`. The step runs
/// on the meta device, so it takes no memory and hardly any time; the sizes of blocks and autocast
/// are those of the model's device. Scratch memory of kernels is not included. A model that reads
/// values in forward() (`item()`) or is on several devices cannot be predicted. Model and optimizer
/// stay unchanged.
HEARTH_API MemoryPrediction predict_step_memory(
    nn::Module& model, const std::function<Tensor(const std::vector<Tensor>&)>& loss_of,
    optim::Optimizer& optimizer, const std::vector<Tensor>& inputs);

/// predict_step_memory() of `loss(model->forward(inputs[0]), inputs[1])`; a `loss` may also take
/// the model's output alone.
template <class Model, class Loss>
MemoryPrediction predict_memory(Model& model, const Loss& loss, optim::Optimizer& optimizer,
                                const std::vector<Tensor>& inputs) {
  constexpr bool takes_target = std::is_invocable_v<const Loss&, const Tensor&, const Tensor&>;
  HEARTH_CHECK_AS(ValueError, inputs.size() == (takes_target ? 2 : 1),
                  "predict_memory(): expected ", takes_target ? 2 : 1, " inputs (the model's input",
                  takes_target ? " and the loss's target" : "", "), but got ", inputs.size());
  Tensor output;  // programs keep it until the end of the step
  const auto loss_of = [&](const std::vector<Tensor>& values) -> Tensor {
    output.reset();
    output = model->forward(values[0]);
    if constexpr (takes_target)
      return loss(output, values[1]);
    else
      return loss(output);
  };
  return predict_step_memory(*model, loss_of, optimizer, inputs);
}

}  // namespace hearth::utils

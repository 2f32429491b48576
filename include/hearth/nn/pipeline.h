#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/nn/sequential.h"
#include "hearth/nn/skip.h"

// Pipeline parallelism in one process: the modules of a Sequential are divided among devices, and
// the rows of a batch into micro-batches, so that all devices work at the same time.
namespace hearth::nn {

/// The order in which each stage of a pipeline runs its micro-batches. In both, with p equally fast
/// stages and m micro-batches, devices are idle for the fraction (p - 1) / (m + p - 1) of the time.
enum class PipelineSchedule {
  GPipe,     ///< all forwards, then all backwards: keeps m micro-batches for backward
  OneFOneB,  ///< backwards as soon as possible: stage s keeps at most p - s micro-batches
};

/// The forward or backward of a micro-batch.
struct PipelineAction {
  bool is_backward = false;
  int64_t chunk = 0;  ///< the micro-batch
  friend bool operator==(const PipelineAction&, const PipelineAction&) = default;
};
/// The actions of a stage, in order; `chunks` is the number of micro-batches.
HEARTH_API std::vector<PipelineAction> pipeline_actions(PipelineSchedule schedule, int64_t stage,
                                                        int64_t stages, int64_t chunks);

/// Options of Pipeline.
struct HEARTH_API PipelineOptions {
  PipelineOptions(std::vector<Device> devices) : devices_(std::move(devices)) {}
  HEARTH_ARG(std::vector<Device>, devices);  ///< one per stage
  /// The number of modules per stage; by default equal, except that the first stages may have one
  /// more.
  HEARTH_ARG(std::vector<int64_t>, balance);
  HEARTH_ARG(int64_t, chunks) = 0;  ///< the number of micro-batches; 0: one per stage
  HEARTH_ARG(PipelineSchedule, schedule) = PipelineSchedule::OneFOneB;  ///< of step()
  /// Whether step()'s loss function returns a mean over rows. If so, the losses of the
  /// micro-batches are weighted by their numbers of rows; else they are summed.
  HEARTH_ARG(bool, mean_loss) = true;
  HEARTH_ARG(bool, return_outputs) = true;  ///< whether step() keeps and returns the outputs
};

/// The results of Pipeline's step().
struct PipelineResult {
  Tensor loss;    ///< of the whole batch, on the last device, without history
  Tensor output;  ///< of the whole batch; undefined without PipelineOptions::return_outputs
};

/// The modules of a Sequential on several devices. They keep their names and are moved, not copied.
/// Each stage passes one tensor to the next; further tensors need skip::stash and skip::pop. Batch
/// norms use the statistics of micro-batches.
class HEARTH_API PipelineImpl : public Module {
 public:
  using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& target)>;

  PipelineImpl(Sequential modules, PipelineOptions options);

  /// The modules' result for all micro-batches, on the last device. backward() runs the stages in
  /// the reverse order.
  Tensor forward(const Tensor& input);
  /// Forward and backward of all micro-batches in the order of the schedule. The gradients are
  /// exactly those of running the micro-batches one after another without a pipeline.
  PipelineResult step(const Tensor& input, const Tensor& target, const LossFunction& loss);

  size_t stages() const { return stages_.size(); }
  int64_t chunks() const { return options_.chunks(); }
  const std::vector<Device>& devices() const { return options_.devices(); }
  void pretty_print(std::ostream& stream) const override;

 private:
  friend class PipelineStep;
  struct Stage {
    std::vector<AnyModule> modules;
    Device device;
  };
  std::vector<Tensor> micro_batches(const Tensor& input, const char* name) const;
  /// Runs a stage on its device.
  Tensor run_stage(size_t stage, const Tensor& input, int64_t chunk);

  PipelineOptions options_;
  std::vector<Stage> stages_;
};
HEARTH_MODULE(Pipeline);

}  // namespace hearth::nn

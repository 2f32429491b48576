// One training step of a pipeline. Each stage has a graph of its own per micro-batch, so that the
// order of all forwards and backwards is free.
#include <string>
#include <utility>

#include "hearth/autograd.h"
#include "hearth/nn/pipeline.h"
#include "hearth/operators.h"
#include "nn/error_context.h"
#include "nn/skip_store.h"
#include "nn/stage_copy.h"

namespace hearth::nn {

/// The state of Pipeline's step().
class PipelineStep {
 public:
  PipelineStep(PipelineImpl& pipeline, const Tensor& input, const Tensor& target,
               const PipelineImpl::LossFunction& loss)
      : pipeline_(pipeline), loss_(loss), rows_(input.size(0)) {
    HEARTH_CHECK(target.dim() > 0 && target.size(0) == rows_, "Pipeline: the input has ", rows_,
                 " rows, but the target has the sizes ", target.sizes());
    // Copied now: later copies would wait for the work that the schedule has queued on their
    // devices.
    const std::vector<Device>& devices = pipeline.devices();
    inputs_ = pipeline.micro_batches(copy_to_stage(input.detach(), devices.front()), "input");
    targets_ = pipeline.micro_batches(copy_to_stage(target.detach(), devices.back()), "target");
    stores_.resize(inputs_.size());
    losses_.resize(inputs_.size());
    cells_.resize(pipeline.stages(), std::vector<Cell>(inputs_.size()));
  }

  PipelineResult run() {
    issue_all();
    PipelineResult result;
    for (const Tensor& loss : losses_)
      result.loss = result.loss.defined() ? result.loss + loss : loss;
    if (!outputs_.empty()) result.output = cat(outputs_, 0);
    return result;
  }

 private:
  /// A stage's graph for a micro-batch: from a leaf to the result.
  struct Cell {
    Tensor input, output;
    Tensor gradient;            // of the input, after the backward
    StreamMark after_forward;   // the output has been computed
    StreamMark after_backward;  // the gradient of the input has been computed
    bool is_forward_done = false, is_backward_done = false;
  };

  /// Launches all actions. The devices run them asynchronously, each in its own order.
  void issue_all() {
    std::vector<std::vector<PipelineAction>> actions;
    for (size_t stage = 0; stage < pipeline_.stages(); ++stage)
      actions.push_back(pipeline_actions(pipeline_.options_.schedule(), static_cast<int64_t>(stage),
                                         static_cast<int64_t>(pipeline_.stages()),
                                         pipeline_.chunks()));
    std::vector<size_t> next(actions.size());
    for (bool has_issued = true; has_issued;) {
      has_issued = false;
      for (size_t stage = 0; stage < actions.size(); ++stage) {
        if (next[stage] == actions[stage].size() || !is_ready(stage, actions[stage][next[stage]]))
          continue;
        issue(stage, actions[stage][next[stage]++]);
        has_issued = true;
      }
    }
  }

  bool is_ready(size_t stage, const PipelineAction& action) const {
    const auto chunk = static_cast<size_t>(action.chunk);
    if (!action.is_backward) return stage == 0 || cells_[stage - 1][chunk].is_forward_done;
    return stage + 1 == cells_.size() ? cells_[stage][chunk].is_forward_done
                                      : cells_[stage + 1][chunk].is_backward_done;
  }

  void issue(size_t stage, const PipelineAction& action) {
    const auto chunk = static_cast<size_t>(action.chunk);
    if (action.is_backward)
      run_backward(stage, chunk);
    else
      run_forward(stage, chunk);
  }

  void run_forward(size_t stage, size_t chunk) {
    const AutoGradMode recording(true);
    Cell& cell = cells_[stage][chunk];
    skip::Store& store = stores_[chunk];
    store.is_pipeline = store.cuts_graph = true;
    store.stage = stage;
    store.device = pipeline_.stages_[stage].device;
    const skip::StoreScope scope(store);
    const Tensor& source = stage == 0 ? inputs_[chunk] : cells_[stage - 1][chunk].output;
    const StreamMark after_source =
        stage == 0 ? StreamMark() : cells_[stage - 1][chunk].after_forward;
    cell.input = copy_to_stage(source.detach(), store.device, after_source).detach();
    Tensor argument = cell.input;
    if (stage > 0 && source.requires_grad()) argument = alias_of_leaf(cell.input.requires_grad_());
    const std::string stashed_name = stage == 0 ? "" : name_of_stashed(store, source);
    const auto version = argument._version();
    cell.output = pipeline_.run_stage(stage, argument, static_cast<int64_t>(chunk));
    HEARTH_CHECK(stashed_name.empty() || argument._version() == version, "Pipeline: stage ", stage,
                 " modifies its input in place, but an earlier stage stashed the same tensor as '",
                 stashed_name,
                 "'; whether the stashed tensor changes, too, would depend on the stages' "
                 "devices. Stash a clone");
    cell.after_forward = StreamMark(store.device);
    cell.is_forward_done = true;
    if (stage + 1 < cells_.size()) return;
    skip::check_all_popped(store);
    try {
      add_loss(cell, chunk);
    } catch (...) {
      detail::rethrow_with_context(hearth::detail::str("in the loss of micro-batch ", chunk));
    }
  }

  /// The name under which a tensor with the same memory was stashed, or an empty text.
  static std::string name_of_stashed(const skip::Store& store, const Tensor& tensor) {
    for (const auto& [name, entry] : store.entries)
      if (entry.tensor.data_ptr() == tensor.data_ptr()) return name;
    return {};
  }

  /// Replaces the last stage's result by the micro-batch's part of the loss.
  void add_loss(Cell& cell, size_t chunk) {
    // The last stage's forwards are in the order of the micro-batches.
    if (pipeline_.options_.return_outputs()) outputs_.push_back(cell.output.detach());
    const Tensor target = copy_to_stage(targets_[chunk], cell.output.device());
    Tensor loss = loss_(cell.output, target);
    HEARTH_CHECK(loss.defined(), "Pipeline: the loss function returned an undefined tensor");
    HEARTH_CHECK(loss.numel() == 1,
                 "Pipeline: the loss function must return one number, but got a ",
                 "tensor of sizes ", loss.sizes());
    if (pipeline_.options_.mean_loss())
      loss = loss * (static_cast<double>(inputs_[chunk].size(0)) / static_cast<double>(rows_));
    losses_[chunk] = loss.detach();
    cell.output = loss;
  }

  void run_backward(size_t stage, size_t chunk) {
    Cell& cell = cells_[stage][chunk];
    backward_from(roots_of(stage, chunk), stage, chunk);
    cell.after_backward = StreamMark(pipeline_.stages_[stage].device);
    // The stages before need only the gradients, so the leaves are released.
    cell.gradient = std::exchange(cell.input, Tensor()).grad();
    for (skip::Store::Link& link : stores_[chunk].links)
      if (link.to == stage) link.gradient = std::exchange(link.leaf, Tensor()).grad();
    cell.is_backward_done = true;
  }

  /// Results of a stage, and their gradients on its device.
  struct Roots {
    std::vector<Tensor> tensors, gradients;
  };

  /// The results of a stage, from which its backward begins, and their gradients, which are moved
  /// from the later stages.
  Roots roots_of(size_t stage, size_t chunk) {
    Roots roots;
    const auto add = [&](const Tensor& root, const Tensor& gradient, const Cell& consumer) {
      if (!root.requires_grad() || !gradient.defined()) return;
      roots.tensors.push_back(root);
      roots.gradients.push_back(copy_to_stage(gradient, root.device(), consumer.after_backward));
    };
    const Tensor output = std::exchange(cells_[stage][chunk].output, Tensor());
    if (stage + 1 < cells_.size()) {
      Cell& next = cells_[stage + 1][chunk];
      add(output, std::exchange(next.gradient, Tensor()), next);
    } else {
      roots.tensors.push_back(output);
      roots.gradients.emplace_back();  // undefined: a loss has the gradient 1
    }
    std::vector<skip::Store::Link>& links = stores_[chunk].links;
    for (const skip::Store::Link& link : links)
      if (link.from == stage) add(link.source, link.gradient, cells_[link.to][chunk]);
    std::erase_if(links, [&](const skip::Store::Link& link) { return link.from == stage; });
    return roots;
  }

  void backward_from(const Roots& roots, size_t stage, size_t chunk) const {
    if (roots.tensors.empty()) return;
    try {
      autograd::backward(roots.tensors, roots.gradients);
    } catch (...) {
      detail::rethrow_with_context(
          hearth::detail::str("in the backward of stage ", stage, " on device ",
                              pipeline_.stages_[stage].device, ", micro-batch ", chunk));
    }
  }

  PipelineImpl& pipeline_;
  const PipelineImpl::LossFunction& loss_;
  int64_t rows_;
  std::vector<Tensor> inputs_, targets_, losses_, outputs_;
  std::vector<skip::Store> stores_;
  std::vector<std::vector<Cell>> cells_;
};

PipelineResult PipelineImpl::step(const Tensor& input, const Tensor& target,
                                  const LossFunction& loss) {
  HEARTH_CHECK(loss, "Pipeline: step() needs a loss function");
  HEARTH_CHECK(input.dim() > 0, "Pipeline: the input has no batch dimension");
  return PipelineStep(*this, input, target, loss).run();
}

}  // namespace hearth::nn

// One training step of a pipeline. Each stage has a graph of its own per micro-batch, so that the
// order of all forwards and backwards is free.
#include "hearth/autograd.h"
#include "hearth/nn/pipeline.h"
#include "hearth/operators.h"
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
    inputs_ = pipeline.micro_batches(input, "input");
    targets_ = pipeline.micro_batches(target, "target");
    stores_.resize(inputs_.size());
    losses_.resize(inputs_.size());
    outputs_.resize(inputs_.size());
    cells_.resize(pipeline.stages(), std::vector<Cell>(inputs_.size()));
  }

  PipelineResult run() {
    issue_all();
    PipelineResult result;
    for (const Tensor& loss : losses_)
      result.loss = result.loss.defined() ? result.loss + loss : loss;
    result.output = cat(outputs_, 0);
    return result;
  }

 private:
  /// A stage's graph for a micro-batch: from a leaf to the result.
  struct Cell {
    Tensor input, output;
    StreamMark computed, gradient_computed;  // the output, and the gradient of the input
    bool is_done = false;                    // the forward has run
    bool is_backward_done = false;           // the backward has run
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
    if (!action.is_backward) return stage == 0 || cells_[stage - 1][chunk].is_done;
    return stage + 1 == cells_.size() ? cells_[stage][chunk].is_done
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
    const StreamMark computed = stage == 0 ? StreamMark() : cells_[stage - 1][chunk].computed;
    cell.input = copy_to_stage(source.detach(), store.device, computed).detach();
    if (stage > 0 && source.requires_grad()) cell.input.requires_grad_();
    cell.output = pipeline_.run_stage(stage, cell.input, static_cast<int64_t>(chunk));
    cell.computed = StreamMark(store.device);
    cell.is_done = true;
    if (stage + 1 < cells_.size()) return;
    skip::check_all_popped(store);
    add_loss(cell, chunk);
  }

  /// Replaces the last stage's result by the micro-batch's part of the loss.
  void add_loss(Cell& cell, size_t chunk) {
    outputs_[chunk] = cell.output.detach();
    const Tensor target = copy_to_stage(targets_[chunk].detach(), cell.output.device());
    Tensor loss = loss_(cell.output, target);
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
    std::vector<Tensor> roots, gradients;
    const auto add_root = [&](const Tensor& root, const Tensor& gradient, const Cell& from) {
      if (!root.requires_grad() || !gradient.defined()) return;
      roots.push_back(root);
      gradients.push_back(copy_to_stage(gradient, root.device(), from.gradient_computed));
    };
    const bool is_last = stage + 1 == cells_.size();
    if (!is_last) {
      Cell& next = cells_[stage + 1][chunk];
      add_root(cell.output, next.input.grad(), next);
      next.input = Tensor();
    } else if (cell.output.requires_grad()) {
      roots.push_back(cell.output);
      gradients.emplace_back();  // the loss
    }
    for (const skip::Store::Link& link : stores_[chunk].links)
      if (link.from == stage) add_root(link.source, link.leaf.grad(), cells_[link.to][chunk]);
    if (!roots.empty()) autograd::backward(roots, gradients);
    cell.gradient_computed = StreamMark(pipeline_.stages_[stage].device);
    cell.output = Tensor();
    cell.is_backward_done = true;
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

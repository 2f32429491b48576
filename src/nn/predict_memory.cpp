#include <optional>
#include <utility>

#include "hearth/autograd.h"
#include "hearth/meta_memory.h"
#include "hearth/nn/data_parallel.h"
#include "hearth/nn/pipeline.h"
#include "hearth/operators.h"
#include "hearth/utils/memory.h"
#include "nn/generator_state.h"
#include "nn/lazy.h"

namespace hearth::utils {

namespace {

/// A tensor of the same sizes, strides and dtype on the meta device.
Tensor on_meta(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  return empty_strided(tensor.sizes(), tensor.strides(),
                       TensorOptions(tensor.scalar_type()).device(Device("meta")));
}

/// Takes the gradients away from a model's and an optimizer's tensors until it is destroyed.
class WithoutGradients {
 public:
  WithoutGradients(const nn::Module& model, const optim::Optimizer& optimizer) {
    for (const Tensor& parameter : model.parameters()) take(parameter);
    for (const Tensor& buffer : model.buffers()) take(buffer);
    for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
      for (const Tensor& parameter : group.params()) take(parameter);
  }
  /// In reverse order: if the model and the optimizer share a tensor, its first entry has the
  /// gradient.
  ~WithoutGradients() {
    for (; !saved_.empty(); saved_.pop_back()) set(saved_.back().tensor, saved_.back().grad);
  }
  WithoutGradients(const WithoutGradients&) = delete;
  WithoutGradients& operator=(const WithoutGradients&) = delete;

  static void set(const Tensor& tensor, const Tensor& grad) {
    if (grad.defined() || tensor.grad().defined()) tensor.mutable_grad() = grad;
  }

 private:
  struct Saved {
    Tensor tensor, grad;
  };

  void take(const Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_leaf()) return;
    saved_.push_back({tensor, tensor.grad()});
    set(tensor, {});
  }

  std::vector<Saved> saved_;
};

/// Moves a model's tensors to the meta device until it is destroyed.
class OnMeta {
 public:
  explicit OnMeta(nn::Module& model) {
    try {
      for (const Tensor& parameter : model.parameters()) replace(parameter);
      for (const Tensor& buffer : model.buffers()) replace(buffer);
    } catch (...) {
      restore();
      throw;
    }
  }
  ~OnMeta() { restore(); }
  OnMeta(const OnMeta&) = delete;
  OnMeta& operator=(const OnMeta&) = delete;

 private:
  struct Saved {
    Tensor tensor, data;
  };

  void replace(const Tensor& tensor) {
    if (!tensor.defined()) return;
    const Tensor data = tensor.data(), meta = on_meta(data);
    saved_.push_back({tensor, data});
    tensor.set_data(meta);
  }

  /// In reverse order, since a shared tensor may have been replaced twice.
  void restore() {
    for (; !saved_.empty(); saved_.pop_back()) {
      const Saved& saved = saved_.back();
      if (saved.tensor.is_leaf()) WithoutGradients::set(saved.tensor, {});
      saved.tensor.set_data(saved.data);
    }
  }

  std::vector<Saved> saved_;
};

/// Gives an optimizer empty state until it is destroyed.
class WithoutState {
 public:
  explicit WithoutState(optim::Optimizer& optimizer) : optimizer_(optimizer) {
    state_.swap(optimizer.state());
  }
  ~WithoutState() {
    optimizer_.state().clear();
    state_.swap(optimizer_.state());
  }
  WithoutState(const WithoutState&) = delete;
  WithoutState& operator=(const WithoutState&) = delete;

 private:
  optim::Optimizer& optimizer_;
  optim::Optimizer::StateMap state_;
};

/// The device of the model's parameters; the CPU for a model on the meta device.
Device counted_device(const nn::Module& model) {
  std::optional<Device> device;
  for (const Tensor& parameter : model.parameters()) {
    if (!parameter.defined() || parameter.device().is_meta()) continue;
    if (!device) device = parameter.device();
    HEARTH_CHECK_AS(ValueError, parameter.device() == *device,
                    "predict_memory(): models on several devices are not supported; this one is "
                    "on ",
                    *device, " and ", parameter.device());
  }
  return device.value_or(kCPU);
}

void check_can_predict(const nn::Module& model) {
  model.apply([](const nn::Module& part) {
    HEARTH_CHECK_AS(ValueError, !nn::detail::is_lazy(part),
                    "predict_memory(): the sizes of a lazy module are not known yet; call the "
                    "model once first");
    const auto* const parallel = dynamic_cast<const nn::detail::DataParallelModule*>(&part);
    HEARTH_CHECK_AS(ValueError, !parallel || parallel->devices().empty(),
                    "predict_memory(): nn::DataParallel is not supported; predict the module in it "
                    "with the part of the batch that one device computes");
    HEARTH_CHECK_AS(ValueError, !dynamic_cast<const nn::PipelineImpl*>(&part),
                    "predict_memory(): nn::Pipeline is not supported; predict its stages one by "
                    "one");
  });
}

}  // namespace

MemoryPrediction predict_step_memory(
    nn::Module& model, const std::function<Tensor(const std::vector<Tensor>&)>& loss_of,
    optim::Optimizer& optimizer, const std::vector<Tensor>& inputs) {
  for (const Tensor& input : inputs)
    HEARTH_CHECK_AS(ValueError, input.defined(), "predict_memory(): an input is undefined");
  check_can_predict(model);
  const AutoGradMode with_gradients(true);
  const Device device = counted_device(model);
  const nn::GeneratorStateGuard generator(kCPU), device_generator(device);
  const MetaMemory memory(device);
  const WithoutState without_state(optimizer);
  const WithoutGradients without_gradients(model, optimizer);
  const OnMeta on_meta_device(model);
  std::vector<Tensor> batch;
  for (const Tensor& input : inputs) batch.push_back(on_meta(input));
  try {
    // The first step creates the optimizer's state; the second has it from its beginning.
    for (int step = 0; step < 2; ++step) {
      optimizer.zero_grad();
      Tensor loss = loss_of(batch);
      HEARTH_CHECK_AS(ValueError, loss.defined(), "the loss is undefined");
      loss.backward();
      optimizer.step();
    }
  } catch (Error& error) {
    error.append_line(
        "in predict_memory(), which runs the step on the meta device: all tensors of forward() and "
        "of the loss must be parameters, buffers or inputs, and no values may be read");
    throw;
  }
  return {memory.stats(), memory.summary()};
}

}  // namespace hearth::utils

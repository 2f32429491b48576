#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/cuda.h"
#include "hearth/nn/pimpl.h"
#include "hearth/nn/scatter_gather.h"

// Data-parallel training in one process: each device computes a part of the batch with its own copy
// of the module. Parameters and gradients are copied between devices in a few large blocks.
namespace hearth::nn {

namespace parallel {

namespace detail {

/// Calls work(0), …, work(count - 1), each in its own thread (the first in the caller's) with the
/// caller's modes and, if `devices` has any, its own current device. Afterwards, throws the error
/// of the lowest number, if any, with its device's name.
HEARTH_API void run_in_parallel(size_t count, const std::vector<Device>& devices,
                                const std::function<void(size_t)>& work);

/// Clones of the module on the devices. Gradients of their parameters are added to the module's.
HEARTH_API std::vector<std::shared_ptr<Module>> replicate(const std::shared_ptr<Module>& module,
                                                          const std::vector<Device>& devices);

/// All GPUs; throws if there are none.
HEARTH_API std::vector<Device> all_gpus();

[[noreturn]] HEARTH_API void fail_other_type(const Module& module, const Module& clone);

}  // namespace detail

/// A copy of the module per device, made by clone(), so that the module must derive from Cloneable.
/// Gradients of the copies are summed in the parameters of `module`.
template <class M>
std::vector<std::shared_ptr<M>> replicate(const std::shared_ptr<M>& module,
                                          const std::vector<Device>& devices) {
  std::vector<std::shared_ptr<M>> replicas;
  for (const std::shared_ptr<Module>& copy : detail::replicate(module, devices)) {
    replicas.push_back(std::dynamic_pointer_cast<M>(copy));
    if (!replicas.back()) detail::fail_other_type(*module, *copy);
  }
  return replicas;
}
template <class M>
std::vector<ModuleHolder<M>> replicate(const ModuleHolder<M>& module,
                                       const std::vector<Device>& devices) {
  const std::vector<std::shared_ptr<M>> replicas = replicate(module.ptr(), devices);
  return std::vector<ModuleHolder<M>>(replicas.begin(), replicas.end());
}

/// modules[i]->forward(inputs[i]) for all i at the same time, on the devices if given. After all
/// calls have ended, throws the error of the lowest i, if any.
template <class M>
std::vector<Tensor> parallel_apply(
    std::vector<M>& modules, const std::vector<Tensor>& inputs,
    const std::optional<std::vector<Device>>& devices = std::nullopt) {
  HEARTH_CHECK(modules.size() == inputs.size(), "Must have as many inputs as modules");
  HEARTH_CHECK(!devices || modules.size() == devices->size(),
               "Must have as many devices as modules");
  std::vector<Tensor> outputs(modules.size());
  detail::run_in_parallel(modules.size(), devices.value_or(std::vector<Device>()), [&](size_t i) {
    const Device device = devices ? (*devices)[i] : inputs[i].device();
    outputs[i] = call_forward(*modules[i], inputs[i]);
    if (outputs[i].defined()) outputs[i] = outputs[i].to(device);
  });
  return outputs;
}

/// module(input) with the rows of `input` divided among the devices (default: all GPUs); the result
/// is on output_device (default: the first device). This copies the module at each call; a
/// DataParallel keeps its copies.
template <class M>
Tensor data_parallel(M module, Tensor input,
                     std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  if (!devices) devices = detail::all_gpus();
  HEARTH_CHECK(!devices->empty(), "Expected at least one device");
  const Device target = output_device.value_or(devices->front());
  std::vector<Tensor> inputs = scatter(input, *devices, std::nullopt, dim);
  if (devices->size() == 1) {
    module->to(devices->front());
    const Tensor output = call_forward(*module, inputs[0]);
    return output.defined() ? output.to(target) : output;
  }
  devices->resize(inputs.size(), devices->front());
  auto replicas = replicate(module, *devices);
  return gather(parallel_apply(replicas, inputs, devices), target, dim);
}

}  // namespace parallel

/// Options of DataParallel.
struct HEARTH_API DataParallelOptions {
  DataParallelOptions() = default;
  DataParallelOptions(std::vector<Device> devices) : devices_(std::move(devices)) {}
  HEARTH_ARG(std::optional<std::vector<Device>>, devices);  ///< by default all GPUs
  HEARTH_ARG(std::optional<Device>, output_device);         ///< by default the first device
  HEARTH_ARG(int64_t, dim) = 0;  ///< the dimension along which inputs are divided
  /// The least number of rows per device; 1 divides every batch, as PyTorch does. By default, the
  /// sizes of parameters and arguments decide whether another device saves time.
  HEARTH_ARG(std::optional<int64_t>, min_rows);
};

namespace detail {

/// The sizes of the tensors among the arguments of a call.
struct HEARTH_API BatchSize {
  struct Argument {
    int64_t rows, elements;
    std::vector<int64_t> row;  // the sizes of the other dimensions
    bool are_indices;          // integers: each is a position (src/nn/parameter_uses.h)
  };
  explicit BatchSize(int64_t batch_dim) : dim(batch_dim) {}
  void add(const Tensor& tensor);
  int64_t dim;
  int64_t rows = 0;  // of the argument with the most
  std::vector<Argument> arguments;
};

/// The part of DataParallel that does not depend on the module's type.
class HEARTH_API DataParallelModule : public Module {
 public:
  DataParallelModule(std::shared_ptr<Module> module, DataParallelOptions options);
  const std::vector<Device>& devices() const { return devices_; }  ///< empty without GPUs
  Device output_device() const { return output_device_; }
  int64_t dim() const { return options_.dim(); }
  /// Makes the next call copy the module to the other devices again. Call it after changes of
  /// options or hooks; parameters, buffers, submodules and training mode are kept equal without it.
  void reset_replicas();
  void pretty_print(std::ostream& stream) const override;

 protected:
  /// The module, and copies of its current parameters, buffers and modes on the next count - 1
  /// devices. The caller holds the mutex.
  std::vector<std::shared_ptr<Module>> replicas(size_t count);
  /// The devices that share a batch of this size. The choice does not depend on measured times, so
  /// that the results of a program are the same in each run.
  std::vector<Device> devices_for(const BatchSize& batch);

  std::mutex mutex_;  // the copies serve one call at a time

 private:
  struct Replica {
    std::shared_ptr<Module> module;
    std::vector<Tensor> parameters, buffers;     // in the order of the original's
    std::vector<std::shared_ptr<Module>> parts;  // module->modules()
  };
  void check_device() const;
  void warn_of_idle(size_t count);
  void warn_of_small_batch(int64_t rows, int64_t count);
  void make_replicas();

  std::shared_ptr<Module> original_;
  DataParallelOptions options_;
  std::vector<Device> devices_;
  Device output_device_{DeviceType::CPU};
  std::vector<Replica> replicas_;                 // on devices_[1], devices_[2], …
  std::vector<std::shared_ptr<Module>> made_of_;  // original_->modules() when replicas_ were made
  bool warned_ = false;
  int64_t multiprocessors_ = 1;  // of the first device
};

}  // namespace detail

/// Calls the module on all devices, each with a part of the arguments' rows, and joins the results.
/// Arguments may be tensors, lists, tuples, maps and optionals of them; other values go to each
/// device. The module itself runs on the first device, where it must be; the others have copies.
/// Changes of the copies' buffers are lost. A batch that is too small to gain from several devices
/// uses fewer of them. Without GPUs, DataParallel only calls the module.
template <class M>
class DataParallelImpl : public detail::DataParallelModule {
 public:
  explicit DataParallelImpl(std::shared_ptr<M> wrapped, DataParallelOptions options = {})
      : DataParallelModule(wrapped, std::move(options)), module(std::move(wrapped)) {}
  explicit DataParallelImpl(const ModuleHolder<M>& wrapped, DataParallelOptions options = {})
      : DataParallelImpl(wrapped.ptr(), std::move(options)) {}

  template <class... Args>
  auto forward(const Args&... args) {
    const auto body = [this](const auto&... values) { return apply_parts(values...); };
    return run_module(*this, body, args...);
  }

  std::shared_ptr<M> module;

 private:
  template <class... Args>
  auto apply_parts(const Args&... args) {
    using Result = std::decay_t<decltype(call_forward(*module, std::declval<Args&>()...))>;
    if (devices().empty()) return Result(call_forward(*module, Args(args)...));
    detail::BatchSize batch(dim());
    (parallel::detail::each_tensor(args, [&](const Tensor& tensor) { batch.add(tensor); }), ...);
    const std::lock_guard lock(mutex_);
    parallel::detail::Split split(devices_for(batch), dim());
    (parallel::detail::each_tensor(args, [&](const Tensor& tensor) { split.count_parts(tensor); }),
     ...);
    const std::vector<std::shared_ptr<Module>> modules = replicas(split.parts());
    std::vector<std::optional<Result>> results(modules.size());
    // The parts are made here, so that the graph has the same order in each run.
    using Parts = std::tuple<Args...>;
    std::vector<Parts> parts;
    for (size_t i = 0; i < modules.size(); ++i)
      parts.emplace_back(parallel::detail::with_tensors(
          args, [&](const Tensor& tensor) { return split.part(tensor, i); })...);
    parallel::detail::run_in_parallel(modules.size(), devices(), [&](size_t i) {
      const auto call = [&](auto&... values) {
        results[i] = call_forward(static_cast<M&>(*modules[i]), values...);
      };
      std::apply(call, parts[i]);
    });
    return parallel::gather(
        parallel::detail::selected(results, [](const auto& result) { return *result; }),
        output_device(), dim());
  }
};

/// The holder of DataParallelImpl: `nn::DataParallel model(net);`.
template <class M>
class DataParallel : public ModuleHolder<DataParallelImpl<M>> {
 public:
  using ModuleHolder<DataParallelImpl<M>>::ModuleHolder;
  using Impl = DataParallelImpl<M>;
  explicit DataParallel(const ModuleHolder<M>& module, DataParallelOptions options = {})
      : ModuleHolder<DataParallelImpl<M>>(
            std::make_shared<DataParallelImpl<M>>(module, std::move(options))) {}
  explicit DataParallel(std::shared_ptr<M> module, DataParallelOptions options = {})
      : ModuleHolder<DataParallelImpl<M>>(
            std::make_shared<DataParallelImpl<M>>(std::move(module), std::move(options))) {}
};
template <class Holder>
requires detail::is_holder<Holder> DataParallel(const Holder&)
->DataParallel<typename Holder::ContainedType>;
template <class Holder>
requires detail::is_holder<Holder> DataParallel(const Holder&, DataParallelOptions)
->DataParallel<typename Holder::ContainedType>;
template <class M>
DataParallel(std::shared_ptr<M>) -> DataParallel<M>;
template <class M>
DataParallel(std::shared_ptr<M>, DataParallelOptions) -> DataParallel<M>;

}  // namespace hearth::nn

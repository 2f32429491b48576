#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/distributed/grad_bucket.h"
#include "hearth/distributed/process_group.h"
#include "hearth/nn/pimpl.h"
#include "hearth/nn/scatter_gather.h"

namespace hearth::distributed {
class Reducer;
}

// Data-parallel training in several processes: each computes a part of the batch, and the gradients
// are averaged while backward computes them.
namespace hearth::nn::parallel {

/// Options of DistributedDataParallel, with Python's names and defaults.
struct HEARTH_API DistributedDataParallelOptions {
  /// The one GPU of the module, to which forward() moves its arguments; nullopt: they are not
  /// moved.
  HEARTH_ARG(std::optional<std::vector<Device>>, device_ids);
  HEARTH_ARG(std::optional<Device>, output_device);  ///< without effect; needs a module on one GPU
  HEARTH_ARG(int64_t, dim) = 0;                      ///< without effect: each process has one batch
  /// Whether to copy buffers, from rank 0 (in join(): from a rank with data), before the first
  /// forward() and each that follows a synchronised one.
  HEARTH_ARG(bool, broadcast_buffers) = true;
  /// Whether to verify the parameters, and to take rank 0's parameters and buffers.
  HEARTH_ARG(bool, init_sync) = true;
  HEARTH_ARG(distributed::ProcessGroupPtr, process_group);  ///< null: the default group
  /// The size of a bucket of gradients in MiB; nullopt: 1 for the first bucket, 25 for the others.
  HEARTH_ARG(std::optional<double>, bucket_cap_mb);
  /// Whether forward() may leave parameters unused. If so, each call searches the graph of the
  /// module's outputs: tensors, or lists, tuples, maps and optionals of them.
  HEARTH_ARG(bool, find_unused_parameters) = false;
  HEARTH_ARG(bool, gradient_as_bucket_view) = false;  ///< gradients are views of the buckets
  /// Whether all iterations have the same graph and the same unused parameters.
  HEARTH_ARG(bool, static_graph) = false;
};

/// Options of DistributedDataParallelImpl::join, with Python's names and defaults.
struct HEARTH_API JoinOptions {
  /// Whether gradients are divided by the number of all ranks; if false, by the number of ranks
  /// that still have data.
  HEARTH_ARG(bool, divide_by_initial_world_size) = true;
  HEARTH_ARG(bool, enable) = true;  ///< if false, join() only calls its function
  /// Whether all ranks throw as soon as one has no data left.
  HEARTH_ARG(bool, throw_on_early_termination) = false;
};

namespace detail {

class UnevenInputs;

/// The part of DistributedDataParallel that does not depend on the module's type.
class HEARTH_API DistributedDataParallelModule : public Module {
 public:
  DistributedDataParallelModule(std::shared_ptr<Module> module,
                                DistributedDataParallelOptions options);
  ~DistributedDataParallelModule() override;

  /// During its lifetime, backward passes add gradients on this rank without communication. The
  /// backward pass of the next forward() outside it averages the sums of all ranks. The guard must
  /// enclose forward().
  class HEARTH_API NoSync {
   public:
    explicit NoSync(DistributedDataParallelModule& model)
        : model_(model), former_(std::exchange(model.syncs_gradients_, false)) {}
    ~NoSync() { model_.syncs_gradients_ = former_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DistributedDataParallelModule& model_;
    bool former_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(*this); }

  /// Calls `train`, in which ranks may call forward() and backward() different numbers of times. A
  /// rank that returns early takes part in the communication of the others, with gradients of 0,
  /// until all have returned. Then all ranks copy the parameters and buffers of one that had data
  /// last.
  void join(const std::function<void()>& train, const JoinOptions& options = {});

  /// Replaces the all_reduce of the gradients; call it once, before training.
  void register_comm_hook(distributed::CommHook hook);
  void _set_static_graph();  ///< the option static_graph(true), before training

  const DistributedDataParallelOptions& options() const { return options_; }
  const distributed::ProcessGroupPtr& process_group() const { return group_; }
  void pretty_print(std::ostream& stream) const override;

 protected:
  void before_forward();
  void after_forward(const std::vector<Tensor>& outputs);
  /// The argument on the module's device.
  template <class T>
  T on_device(const T& argument) const {
    if (!options_.device_ids()) return argument;
    const Device device = options_.device_ids()->front();
    return with_tensors(argument, [&](const Tensor& tensor) { return tensor.to(device); });
  }

 private:
  friend class UnevenInputs;
  void check_devices() const;
  void sync_module_states(int root);
  void sync_buffers(int root);
  bool will_sync_buffers() const;

  std::shared_ptr<Module> original_;
  DistributedDataParallelOptions options_;
  distributed::ProcessGroupPtr group_;
  std::shared_ptr<distributed::Reducer> reducer_;
  bool syncs_gradients_ = true;
  bool last_forward_synced_ = true;       // if so, the next forward() broadcasts the buffers
  std::unique_ptr<UnevenInputs> uneven_;  // during join()
};

}  // namespace detail

/// Calls the module, and averages the gradients of all ranks in backward. All ranks must construct
/// it, and call forward() and backward() equally often, except in join(). Parameters may not be
/// added or frozen afterwards. Its state_dict() has the prefix "module.".
template <class M>
class DistributedDataParallelImpl : public detail::DistributedDataParallelModule {
 public:
  explicit DistributedDataParallelImpl(std::shared_ptr<M> wrapped,
                                       DistributedDataParallelOptions options = {})
      : DistributedDataParallelModule(wrapped, std::move(options)), module(std::move(wrapped)) {}
  explicit DistributedDataParallelImpl(const ModuleHolder<M>& wrapped,
                                       DistributedDataParallelOptions options = {})
      : DistributedDataParallelImpl(wrapped.ptr(), std::move(options)) {}

  template <class... Args>
  auto forward(const Args&... args) {
    const auto body = [this](const auto&... values) { return call(values...); };
    return run_module(*this, body, args...);
  }

  std::shared_ptr<M> module;

 private:
  template <class... Args>
  auto call(const Args&... args) {
    before_forward();
    auto result = call_forward(*module, Args(this->on_device(args))...);
    std::vector<Tensor> outputs;
    detail::each_tensor(result, [&](const Tensor& tensor) { outputs.push_back(tensor); });
    after_forward(outputs);
    return result;
  }
};

/// The holder of DistributedDataParallelImpl: `DistributedDataParallel model(net);`.
template <class M>
class DistributedDataParallel : public ModuleHolder<DistributedDataParallelImpl<M>> {
 public:
  using ModuleHolder<DistributedDataParallelImpl<M>>::ModuleHolder;
  using Impl = DistributedDataParallelImpl<M>;
  explicit DistributedDataParallel(const ModuleHolder<M>& module,
                                   DistributedDataParallelOptions options = {})
      : ModuleHolder<Impl>(std::make_shared<Impl>(module, std::move(options))) {}
  explicit DistributedDataParallel(std::shared_ptr<M> module,
                                   DistributedDataParallelOptions options = {})
      : ModuleHolder<Impl>(std::make_shared<Impl>(std::move(module), std::move(options))) {}
};
template <class Holder>
requires nn::detail::is_holder<Holder> DistributedDataParallel(const Holder&)
->DistributedDataParallel<typename Holder::ContainedType>;
template <class Holder>
requires nn::detail::is_holder<Holder> DistributedDataParallel(const Holder&,
                                                               DistributedDataParallelOptions)
->DistributedDataParallel<typename Holder::ContainedType>;
template <class M>
DistributedDataParallel(std::shared_ptr<M>) -> DistributedDataParallel<M>;
template <class M>
DistributedDataParallel(std::shared_ptr<M>, DistributedDataParallelOptions)
    -> DistributedDataParallel<M>;

}  // namespace hearth::nn::parallel

#include "hearth/nn/data_parallel.h"

#include <algorithm>
#include <ostream>

#include "nn/parameter_uses.h"
#include "nn/replicate.h"
#include "nn/resolved_device.h"

namespace hearth::nn::detail {

namespace {

namespace copies = parallel::detail;

// A multiprocessor does about this many multiply-adds in the 5 microseconds of a kernel's launch.
constexpr int64_t kMultiplyAddsPerLaunch = int64_t{1} << 20;
// Copying a parameter to another device and its gradient back takes less time than this many uses
// of it (bench/parallel.cpp; GPUs that are connected by PCIe need more).
constexpr int64_t kUsesPerCopy = 128;

/// How often a device must use each parameter, to be busier than the host is with launching its
/// kernels and copying its parameters.
int64_t uses_for_a_device(const ParameterSizes& parameters, int64_t multiprocessors) {
  return std::max(kUsesPerCopy, multiprocessors * kMultiplyAddsPerLaunch * parameters.count /
                                    parameters.elements);
}

/// Returns `tensors[name]` for each name in `wanted`.
std::vector<Tensor> in_order(const OrderedDict<std::string, Tensor>& wanted,
                             const OrderedDict<std::string, Tensor>& tensors) {
  std::vector<Tensor> result;
  result.reserve(wanted.size());
  for (const auto& item : wanted) result.push_back(tensors[item.key()]);
  return result;
}

/// Sets the training modes of a copy to those of the original.
void take_training(const std::vector<std::shared_ptr<Module>>& from,
                   const std::vector<std::shared_ptr<Module>>& to) {
  // train() also changes the modes of submodules; they come later in the list and are set again.
  for (size_t i = 0; i < from.size(); ++i)
    if (to[i]->is_training() != from[i]->is_training()) to[i]->train(from[i]->is_training());
}

}  // namespace

void BatchSize::add(const Tensor& tensor) {
  const int64_t batch_dim = dim < 0 ? dim + tensor.dim() : dim;
  if (batch_dim < 0 || batch_dim >= tensor.dim()) return;  // refused when it is divided
  Argument argument{tensor.size(batch_dim), tensor.numel(), tensor.sizes().vec(),
                    !tensor.is_floating_point() && !tensor.is_complex()};
  argument.row.erase(argument.row.begin() + batch_dim);
  rows = std::max(rows, argument.rows);
  arguments.push_back(std::move(argument));
}

DataParallelModule::DataParallelModule(std::shared_ptr<Module> module, DataParallelOptions options)
    : original_(std::move(module)), options_(std::move(options)) {
  HEARTH_CHECK(original_, "DataParallel needs a module, but got an empty pointer");
  if (options_.devices())
    devices_ = resolved(*options_.devices());
  else if (cuda::is_available())
    devices_ = copies::all_gpus();
  for (size_t i = 0; i < devices_.size(); ++i)
    HEARTH_CHECK_AS(ValueError,
                    std::find(devices_.begin(), devices_.begin() + static_cast<std::ptrdiff_t>(i),
                              devices_[i]) == devices_.begin() + static_cast<std::ptrdiff_t>(i),
                    "Each device of a DataParallel may be given once, but ", devices_[i],
                    " is given twice");
  HEARTH_CHECK_AS(ValueError, options_.min_rows().value_or(1) > 0,
                  "Expected min_rows to be positive, but got ", options_.min_rows().value_or(1));
  if (!devices_.empty()) output_device_ = resolved(options_.output_device().value_or(devices_[0]));
  if (!devices_.empty() && devices_[0].is_cuda())
    multiprocessors_ = cuda::get_device_properties(devices_[0].index()).multi_processor_count;
  register_module("module", original_);
}

void DataParallelModule::pretty_print(std::ostream& stream) const { stream << "DataParallel"; }

void DataParallelModule::reset_replicas() {
  const std::lock_guard lock(mutex_);
  replicas_.clear();
}

void DataParallelModule::check_device() const {
  const auto check = [this](const Tensor& tensor) {
    HEARTH_CHECK(tensor.device() == devices_[0],
                 "module must have its parameters and buffers on device ", devices_[0],
                 " (device_ids[0]) but found one of them on device: ", tensor.device());
  };
  for (const Tensor& tensor : original_->parameters()) check(tensor);
  for (const Tensor& tensor : original_->buffers()) check(tensor);
}

void DataParallelModule::make_replicas() {
  replicas_.clear();
  // If a copy fails, the list stays empty, so that the next call makes all of them.
  std::vector<Replica> made;
  const auto parameters = original_->named_parameters(), buffers = original_->named_buffers();
  for (size_t i = 1; i < devices_.size(); ++i) {
    Replica replica;
    replica.module = copies::clone_on(*original_, devices_[i]);
    replica.parameters = in_order(parameters, replica.module->named_parameters());
    replica.buffers = in_order(buffers, replica.module->named_buffers());
    replica.parts = replica.module->modules();
    made.push_back(std::move(replica));
  }
  replicas_ = std::move(made);
  made_of_ = original_->modules();
}

std::vector<Device> DataParallelModule::devices_for(const BatchSize& batch) {
  const auto all = static_cast<int64_t>(devices_.size());
  if (batch.rows == 0) return devices_;  // no tensors to divide: each device gets all arguments
  int64_t count = all;
  if (const std::optional<int64_t>& min_rows = options_.min_rows()) {
    count = std::clamp<int64_t>(batch.rows / *min_rows, 1, all);
  } else if (all > 1) {
    const ParameterSizes sizes(*original_);
    if (sizes.elements == 0) return devices_;
    const int64_t uses = uses_of(sizes, batch);
    count = std::clamp<int64_t>(uses / uses_for_a_device(sizes, multiprocessors_), 1, all);
    if (count < std::min(all, batch.rows)) warn_of_small_batch(batch.rows, count);
  }
  return {devices_.begin(), devices_.begin() + count};
}

void DataParallelModule::warn_of_small_batch(int64_t rows, int64_t count) {
  if (warned_) return;
  warned_ = true;
  warn(hearth::detail::str("DataParallel: a batch of ", rows, " rows is too small to gain from ",
                           devices_.size(), " devices, so that it uses ", count,
                           " of them. Pass larger batches, or "
                           "DataParallelOptions().min_rows(1) to divide all"));
}

void DataParallelModule::warn_of_idle(size_t count) {
  if (count == devices_.size() || warned_ || options_.min_rows().value_or(1) > 1) return;
  warned_ = true;
  warn(hearth::detail::str("DataParallel: a batch has only ", count, " part(s) for ",
                           devices_.size(), " devices, so the other devices are idle. Pass ",
                           "larger batches or fewer devices"));
}

std::vector<std::shared_ptr<Module>> DataParallelModule::replicas(size_t count) {
  check_device();
  warn_of_idle(count);
  std::vector<std::shared_ptr<Module>> result{original_};
  if (count <= 1) return result;
  std::vector<Tensor> trained = original_->parameters(), constant;
  const std::vector<Tensor> buffers = original_->buffers();
  const std::vector<std::shared_ptr<Module>> parts = original_->modules();
  const bool fit = !replicas_.empty() && parts == made_of_ &&
                   trained.size() == replicas_[0].parameters.size() &&
                   buffers.size() == replicas_[0].buffers.size();
  if (!fit) make_replicas();
  std::vector<std::vector<Tensor>> trained_copies(count - 1), constant_copies(count - 1);
  for (size_t k = 0; k + 1 < count; ++k) {
    take_training(parts, replicas_[k].parts);
    trained_copies[k] = replicas_[k].parameters;
    result.push_back(replicas_[k].module);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool is_trained = buffers[i].requires_grad();
    (is_trained ? trained : constant).push_back(buffers[i]);
    for (size_t k = 0; k + 1 < count; ++k)
      (is_trained ? trained_copies : constant_copies)[k].push_back(replicas_[k].buffers[i]);
  }
  copies::link_copies(trained, trained_copies, /*copies_data=*/true);
  copies::copy_values(constant, constant_copies);
  return result;
}

}  // namespace hearth::nn::detail

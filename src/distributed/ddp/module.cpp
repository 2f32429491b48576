#include <algorithm>
#include <ostream>
#include <vector>

#include "distributed/ddp/reducer.h"
#include "distributed/ddp/uneven_inputs.h"
#include "distributed/same_tensors.h"
#include "distributed/sharding/zero_partition.h"
#include "distributed/tensor_groups.h"
#include "distributed/world.h"
#include "hearth/cuda.h"

namespace hearth::nn::parallel::detail {

namespace {

constexpr double kMebibyte = 1 << 20;
constexpr double kDefaultFirstBucket = 1, kDefaultBucket = 25;  // MiB

OrderedDict<std::string, Tensor> trained_parameters(const Module& module) {
  OrderedDict<std::string, Tensor> trained;
  for (const auto& item : module.named_parameters())
    if (item.value().requires_grad()) trained.insert(item.key(), item.value());
  return trained;
}

distributed::ReducerOptions reducer_options(const DistributedDataParallelOptions& options) {
  const auto bytes = [&](double standard) {
    return static_cast<int64_t>(options.bucket_cap_mb().value_or(standard) * kMebibyte);
  };
  distributed::ReducerOptions result;
  result.first_bucket_bytes = bytes(kDefaultFirstBucket);
  result.bucket_bytes = bytes(kDefaultBucket);
  result.find_unused_parameters = options.find_unused_parameters() && !options.static_graph();
  result.gradient_as_bucket_view = options.gradient_as_bucket_view();
  result.static_graph = options.static_graph();
  return result;
}

}  // namespace

DistributedDataParallelModule::DistributedDataParallelModule(std::shared_ptr<Module> module,
                                                             DistributedDataParallelOptions options)
    : original_(std::move(module)), options_(std::move(options)) {
  HEARTH_CHECK(original_, "DistributedDataParallel needs a module, but got an empty pointer");
  group_ = distributed::resolve(options_.process_group());
  HEARTH_CHECK_AS(ValueError, group_->getRank() >= 0,
                  "DistributedDataParallel: this process does not belong to the process group");
  const OrderedDict<std::string, Tensor> parameters = trained_parameters(*original_);
  const auto check = [&] {
    HEARTH_CHECK(
        !parameters.is_empty(),
        "DistributedDataParallel is not needed when a module doesn't have any parameter that "
        "requires a gradient.");
    check_devices();
    HEARTH_CHECK_AS(ValueError, options_.bucket_cap_mb().value_or(1) > 0,
                    "bucket_cap_mb must be positive, but got ",
                    options_.bucket_cap_mb().value_or(1));
  };
  if (options_.init_sync())
    distributed::check_same_tensors(group_, original_->named_parameters(), check);
  else
    check();
  register_module("module", original_);
  if (options_.init_sync()) sync_module_states(0);
  reducer_ = std::make_shared<distributed::Reducer>(group_, parameters, reducer_options(options_));
  reducer_->watch_gradients();
}

DistributedDataParallelModule::~DistributedDataParallelModule() = default;

void DistributedDataParallelModule::check_devices() const {
  std::vector<Device> devices;
  std::string names;
  for (const Tensor& tensor : original_->parameters()) {
    const Device device = tensor.device();
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) continue;
    names += (devices.empty() ? "" : ", ") + device.str();
    devices.push_back(device);
  }
  const bool is_on_one_gpu = devices.size() == 1 && devices[0].is_cuda();
  const auto& ids = options_.device_ids();
  HEARTH_CHECK_AS(ValueError, !ids || ids->size() == 1,
                  "device_ids can only be None or contain a single element.");
  HEARTH_CHECK_AS(ValueError, !(ids || options_.output_device()) || is_on_one_gpu,
                  "DistributedDataParallel device_ids and output_device arguments only work with "
                  "single-device/multiple-device GPU modules or CPU modules, but got module "
                  "parameters on ",
                  names, ". Move the module to the GPU first, or leave these options out");
  if (!ids) return;
  Device id = ids->front();
  if (id.is_cuda() && !id.has_index()) id.set_index(DeviceIndex(cuda::current_device()));
  HEARTH_CHECK_AS(ValueError, id == devices[0], "DistributedDataParallel: device_ids is ", id.str(),
                  ", but the module's parameters are on ", names);
}

void DistributedDataParallelModule::pretty_print(std::ostream& stream) const {
  stream << "DistributedDataParallel";
}

void DistributedDataParallelModule::sync_module_states(int root) {
  distributed::broadcast_coalesced(*group_, original_->parameters(), root);
  sync_buffers(root);
}

void DistributedDataParallelModule::sync_buffers(int root) {
  distributed::broadcast_coalesced(*group_, original_->buffers(), root);
}

bool DistributedDataParallelModule::will_sync_buffers() const {
  return last_forward_synced_ && options_.broadcast_buffers() && !original_->buffers().empty();
}

void DistributedDataParallelModule::before_forward() {
  if (GradMode::is_enabled() && syncs_gradients_) reducer_->prepare_for_forward();
  const int root = uneven_ ? uneven_->announce_forward() : 0;
  if (will_sync_buffers()) sync_buffers(root);
}

void DistributedDataParallelModule::after_forward(const std::vector<Tensor>& outputs) {
  last_forward_synced_ = GradMode::is_enabled() && syncs_gradients_;
  if (last_forward_synced_) reducer_->prepare_for_backward(outputs);
}

void DistributedDataParallelModule::join(const std::function<void()>& train,
                                         const JoinOptions& options) {
  HEARTH_CHECK(train, "join() needs a function");
  HEARTH_CHECK(!uneven_, "join() cannot be called inside join()");
  if (!options.enable()) return train();
  HEARTH_CHECK(!distributed::are_updated_by_zero(original_->parameters()),
               "join() cannot train with a ZeroRedundancyOptimizer, because ranks without data do "
               "not take part in its step(); use another optimizer, or give all ranks equally many "
               "batches");
  uneven_ = std::make_unique<UnevenInputs>(*this, options);
  try {
    train();
    uneven_->finish();
  } catch (...) {
    uneven_.reset();
    reducer_->set_divisor(group_->getSize());
    throw;
  }
  uneven_.reset();
}

void DistributedDataParallelModule::register_comm_hook(distributed::CommHook hook) {
  reducer_->set_comm_hook(std::move(hook));
}

void DistributedDataParallelModule::_set_static_graph() { reducer_->set_static_graph(); }

}  // namespace hearth::nn::parallel::detail

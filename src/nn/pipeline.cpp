#include "hearth/nn/pipeline.h"

#include <algorithm>
#include <numeric>
#include <ostream>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "nn/resolved_device.h"
#include "nn/skip_store.h"
#include "nn/stage_copy.h"

namespace hearth::nn {

namespace {

std::vector<int64_t> equal_balance(size_t modules, size_t stages) {
  std::vector<int64_t> balance(stages, static_cast<int64_t>(modules / stages));
  for (size_t i = 0; i < modules % stages; ++i) ++balance[i];
  return balance;
}

void check_balance(const std::vector<int64_t>& balance, size_t modules, size_t stages) {
  HEARTH_CHECK_AS(ValueError, balance.size() == stages, "Pipeline: balance has ", balance.size(),
                  " entries for ", stages, " devices; give one number of modules per device");
  for (const int64_t count : balance)
    HEARTH_CHECK_AS(ValueError, count > 0, "Pipeline: each stage needs a module, but there are ",
                    modules, " modules for ", stages, " devices. Give fewer devices");
  const int64_t sum = std::accumulate(balance.begin(), balance.end(), int64_t{0});
  HEARTH_CHECK_AS(ValueError, sum == static_cast<int64_t>(modules), "Pipeline: balance is for ",
                  sum, " modules, but the Sequential has ", modules);
}

}  // namespace

std::vector<PipelineAction> pipeline_actions(PipelineSchedule schedule, int64_t stage,
                                             int64_t stages, int64_t chunks) {
  HEARTH_CHECK(0 <= stage && stage < stages && chunks > 0, "There is no stage ", stage, " of ",
               stages, " with ", chunks, " micro-batches");
  const int64_t ahead =
      schedule == PipelineSchedule::GPipe ? chunks : std::min(stages - 1 - stage, chunks);
  std::vector<PipelineAction> actions;
  for (int64_t i = 0; i < chunks + ahead; ++i) {
    if (i < chunks) actions.push_back({false, i});
    if (i >= ahead) actions.push_back({true, i - ahead});
  }
  return actions;
}

PipelineImpl::PipelineImpl(Sequential modules, PipelineOptions options)
    : options_(std::move(options)) {
  options_.devices(detail::resolved(options_.devices()));
  const std::vector<Device>& devices = options_.devices();
  HEARTH_CHECK_AS(ValueError, !devices.empty(), "Pipeline: at least one device is needed");
  HEARTH_CHECK_AS(ValueError, options_.chunks() >= 0,
                  "Pipeline: the number of micro-batches must be positive, but got ",
                  options_.chunks());
  if (options_.chunks() == 0) options_.chunks(static_cast<int64_t>(devices.size()));
  if (options_.balance().empty()) options_.balance(equal_balance(modules->size(), devices.size()));
  check_balance(options_.balance(), modules->size(), devices.size());
  const std::vector<std::string> names = modules->named_children().keys();
  size_t next = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    Stage& stage = stages_.emplace_back(Stage{{}, devices[i]});
    for (int64_t k = 0; k < options_.balance()[i]; ++k, ++next) {
      AnyModule module = *(modules->begin() + static_cast<std::ptrdiff_t>(next));
      module.ptr()->to(stage.device);
      register_module(names[next], module.ptr());
      stage.modules.push_back(std::move(module));
    }
  }
}

void PipelineImpl::pretty_print(std::ostream& stream) const { stream << "Pipeline"; }

std::vector<Tensor> PipelineImpl::micro_batches(const Tensor& input, const char* name) const {
  HEARTH_CHECK(input.dim() > 0, "Pipeline: the ", name, " has no batch dimension");
  const int64_t rows = input.size(0);
  HEARTH_CHECK_AS(ValueError, rows >= chunks(), "Pipeline: the ", name, " has ", rows,
                  " row(s), fewer than the ", chunks(),
                  " micro-batches. Use larger batches or PipelineOptions::chunks(", rows, ")");
  return input.tensor_split(chunks(), 0);
}

Tensor PipelineImpl::run_stage(size_t stage, const Tensor& input, int64_t chunk) {
  Stage& part = stages_[stage];
  try {
    const cuda::OptionalDeviceGuard device(part.device.is_cuda() ? std::optional(part.device)
                                                                 : std::nullopt);
    AnyValue value{input};
    for (AnyModule& module : part.modules) value = module.any_forward(std::move(value));
    const Tensor* output = value.try_get<Tensor>();
    HEARTH_CHECK(output, "Pipeline: stages pass one tensor, but the last module of stage ", stage,
                 " returns another type. Pass other tensors by skip::stash");
    return *output;
  } catch (Error& error) {
    error.add_context(hearth::detail::str("in stage ", stage, " on device ", part.device,
                                          ", micro-batch ", chunk));
    throw;
  }
}

Tensor PipelineImpl::forward(const Tensor& input) {
  const auto body = [this](const Tensor& batch) {
    std::vector<Tensor> values = micro_batches(batch, "input");
    const size_t count = values.size();
    std::vector<skip::Store> stores(count);
    std::vector<StreamMark> computed(count);
    // In each cycle, stage s runs the micro-batch that stage s - 1 ran in the last one.
    for (size_t cycle = 0; cycle < count + stages() - 1; ++cycle)
      for (size_t stage = 0; stage < stages(); ++stage) {
        if (cycle < stage || cycle - stage >= count) continue;
        const size_t chunk = cycle - stage;
        skip::Store& store = stores[chunk];
        store.is_pipeline = true;
        store.stage = stage;
        store.device = stages_[stage].device;
        const skip::StoreScope scope(store);
        // Copied here and not at the end of the last stage, so that backward copies the gradient
        // right after it is computed.
        const Tensor on_device = copy_to_stage(values[chunk], store.device, computed[chunk]);
        values[chunk] = run_stage(stage, on_device, static_cast<int64_t>(chunk));
        computed[chunk] = StreamMark(store.device);
      }
    for (const skip::Store& store : stores) skip::check_all_popped(store);
    return cat(values, 0);
  };
  return run_module(*this, body, input);
}

}  // namespace hearth::nn

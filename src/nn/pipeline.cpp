#include "hearth/nn/pipeline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "nn/error_context.h"
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
    HEARTH_CHECK_AS(ValueError, count > 0, "Pipeline: each stage needs a module, but ", modules,
                    " modules are divided among ", stages, " devices so that a stage has ", count,
                    ". Give fewer devices or another balance");
  int64_t sum = 0;
  for (const int64_t count : balance) sum = count > INT64_MAX - sum ? INT64_MAX : sum + count;
  HEARTH_CHECK_AS(ValueError, sum == static_cast<int64_t>(modules), "Pipeline: balance is for ",
                  sum, " modules, but the Sequential has ", modules);
}

/// The modules, parameters and buffers of all stages, to find those that two stages share.
class StageParts {
 public:
  void add(const Module& module, const std::string& name, size_t stage) {
    for (const auto& item : module.named_modules(name))
      add_one(item.value().get(), "module", item.key(), stage);
    for (const auto& item : module.named_parameters())
      add_one(item->unsafeGetTensorImpl(), "parameter", name + "." + item.key(), stage);
    for (const auto& item : module.named_buffers())
      add_one(item->unsafeGetTensorImpl(), "buffer", name + "." + item.key(), stage);
  }

 private:
  struct Owner {
    size_t stage;
    std::string name;
  };
  void add_one(const void* part, const char* kind, const std::string& name, size_t stage) {
    const auto [found, is_new] = owners_.try_emplace(part, Owner{stage, name});
    const Owner& owner = found->second;
    HEARTH_CHECK_AS(ValueError, owner.stage == stage, "Pipeline: the ", kind, " '", name,
                    "' of stage ", stage, " is also '", owner.name, "' of stage ", owner.stage,
                    ". Stages cannot share parts, because each is on its own device. Choose "
                    "PipelineOptions::balance so that one stage has both");
  }
  std::map<const void*, Owner> owners_;
};

void check_not_shared(const SequentialImpl& modules, const std::vector<int64_t>& balance) {
  const std::vector<std::string> names = modules.named_children().keys();
  StageParts parts;
  size_t next = 0;
  for (size_t stage = 0; stage < balance.size(); ++stage)
    for (int64_t k = 0; k < balance[stage]; ++k, ++next)
      parts.add(*modules[next], names[next], stage);
}

}  // namespace

std::vector<PipelineAction> pipeline_actions(PipelineSchedule schedule, int64_t stage,
                                             int64_t stages, int64_t chunks) {
  HEARTH_CHECK(0 <= stage && stage < stages && chunks > 0, "There is no stage ", stage, " of ",
               stages, " with ", chunks, " micro-batches");
  // The micro-batches by which the stage's forwards are ahead of its backwards.
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
                  "Pipeline: the number of micro-batches must not be negative, but got ",
                  options_.chunks());
  if (options_.chunks() == 0) options_.chunks(static_cast<int64_t>(devices.size()));
  if (options_.balance().empty()) options_.balance(equal_balance(modules->size(), devices.size()));
  check_balance(options_.balance(), modules->size(), devices.size());
  check_not_shared(*modules, options_.balance());
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
    HEARTH_CHECK(output->defined(), "Pipeline: the last module of stage ", stage,
                 " returned an undefined tensor");
    return *output;
  } catch (...) {
    detail::rethrow_with_context(hearth::detail::str("in stage ", stage, " on device ", part.device,
                                                     ", micro-batch ", chunk));
  }
}

Tensor PipelineImpl::forward(const Tensor& input) {
  const auto body = [this](const Tensor& batch) {
    std::vector<Tensor> values = micro_batches(batch, "input");
    const size_t count = values.size();
    std::vector<skip::Store> stores(count);
    std::vector<StreamMark> computed(count);
    // In each cycle, stage s runs the micro-batch that stage s - 1 ran in the previous cycle. The
    // stages are issued from the last to the first, because backward reverses the order: a stage's
    // backward is then issued before the copy of its next gradient, for which its stream waits.
    for (size_t cycle = 0; cycle < count + stages() - 1; ++cycle)
      for (size_t stage = stages(); stage-- > 0;) {
        if (cycle < stage || cycle - stage >= count) continue;
        const size_t chunk = cycle - stage;
        skip::Store& store = stores[chunk];
        store.is_pipeline = true;
        store.stage = stage;
        store.device = stages_[stage].device;
        const skip::StoreScope scope(store);
        // Copied here and not by the previous stage, so that backward copies the gradient right
        // after it is computed.
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

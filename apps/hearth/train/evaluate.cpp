#include "evaluate.h"

#include <algorithm>

#include "hearth/hearth.h"
#include "names.h"
#include "processes.h"

namespace hearth::app {

namespace {

/// Limits of a batch: examples, and elements of all inputs, because large images need much memory.
constexpr int64_t kMaxExamples = 1000, kMaxNumbers = 4'000'000;

int64_t batch_size_for(const Examples& examples) {
  int64_t numbers = 1;
  for (const int64_t size : examples.input_sizes()) numbers *= std::max<int64_t>(size, 1);
  return std::clamp<int64_t>(kMaxNumbers / numbers, 1, kMaxExamples);
}

/// Sums over the examples that were evaluated.
class Sums {
 public:
  Sums(nn::AnyModule& model, const EvaluationOptions& options) : model_(model), options_(options) {
    if (options.classes > 0) confusion_ = zeros({options.classes * options.classes}, kLong);
  }

  /// Adds a batch, in parts if memory does not suffice for the whole.
  void add(const data::Example<>& batch) {
    for (int64_t start = 0, size = batch.data.size(0); start < size;) {
      const int64_t count = std::min(max_examples_, size - start);
      try {
        add_part(batch.data.narrow(0, start, count), batch.target.narrow(0, start, count));
        start += count;
      } catch (const OutOfMemoryError&) {
        if (count == 1) throw;
        max_examples_ = count / 2;
        options_.device.is_cuda() ? cuda::empty_cache() : empty_cpu_cache();
      }
    }
  }

  Evaluation result() const {
    std::vector<double> sums{loss_, correct_, count_};
    if (options_.processes) sums = options_.processes->sums(std::move(sums));
    Evaluation result{sums[0] / sums[2], sums[1] / sums[2], confusion_};
    if (confusion_.defined())
      result.confusion = confusion_.view({options_.classes, options_.classes});
    return result;
  }

 private:
  void add_part(const Tensor& inputs, const Tensor& host_targets) {
    const Tensor targets = host_targets.to(options_.device);
    const Tensor scores =
        scores_of(model_, inputs.to(options_.device), options_.device, options_.amp);
    const Tensor loss = cross_entropy_loss(scores, targets, {}, Reduction::Sum);
    Tensor cells;
    if (confusion_.defined())
      cells = (targets * options_.classes + scores.argmax(1))
                  .flatten()
                  .cpu()
                  .bincount({}, confusion_.numel());
    const double correct = correct_in(scores, targets).item<double>();
    // Nothing above has changed the sums, so that a part which did not fit can be added again.
    if (cells.defined()) confusion_ += cells;
    correct_ += correct;
    loss_ += loss.item<double>();
    count_ += static_cast<double>(targets.numel());
  }

  nn::AnyModule& model_;
  const EvaluationOptions& options_;
  Tensor confusion_;
  double loss_ = 0, correct_ = 0, count_ = 0;
  int64_t max_examples_ = kMaxExamples;  // per part
};

}  // namespace

std::optional<ScalarType> amp_dtype(const std::string& amp) {
  if (amp == "off") return std::nullopt;
  HEARTH_CHECK(amp == "bf16" || amp == "fp16", "'", printable(amp),
               "' is not a dtype of autocast; use off, bf16 or fp16");
  return amp == "fp16" ? kHalf : kBFloat16;
}

Tensor scores_of(nn::AnyModule& model, const Tensor& inputs, Device device,
                 std::optional<ScalarType> amp) {
  const amp::autocast autocast(device, amp, amp.has_value());
  return model.forward(inputs).to(kFloat);
}

Tensor correct_in(const Tensor& scores, const Tensor& targets) {
  return scores.argmax(1).eq(targets).sum();
}

Evaluation evaluate(nn::AnyModule& model, const Examples& examples,
                    const EvaluationOptions& options) {
  const NoGradGuard no_grad;
  const auto module = model.ptr();
  const bool was_training = module->is_training();
  module->eval();
  if (options.processes) options.processes->share_buffers(*module);
  Sums sums(model, options);
  const bool is_shared = options.processes && options.processes->are_several();
  const auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      is_shared ? examples.part(options.processes->rank(), options.processes->count()) : examples,
      data::DataLoaderOptions(static_cast<size_t>(batch_size_for(examples)))
          .workers(static_cast<size_t>(options.num_workers))
          .pin_memory(options.device.is_cuda()));
  for (const data::Example<>& batch : *loader) sums.add(batch);
  module->train(was_training);
  return sums.result();
}

}  // namespace hearth::app

#include "evaluate.h"

#include <algorithm>

#include "hearth/hearth.h"

namespace hearth::app {

namespace {

constexpr size_t kBatch = 1000;

/// Sums over the examples that were evaluated.
class Sums {
 public:
  Sums(nn::AnyModule& model, const EvaluationOptions& options)
      : model_(model),
        options_(options),
        confusion_(zeros({options.classes * options.classes}, kLong)) {}

  /// Adds a batch, in parts if memory does not suffice for the whole.
  void add(const data::Example<>& batch) {
    for (int64_t start = 0, size = batch.data.size(0); start < size;) {
      const int64_t count = std::min(most_, size - start);
      try {
        add_part(batch.data.narrow(0, start, count), batch.target.narrow(0, start, count));
        start += count;
      } catch (const OutOfMemoryError&) {
        if (count == 1) throw;
        most_ = count / 2;
        options_.device.is_cuda() ? cuda::empty_cache() : empty_cpu_cache();
      }
    }
  }

  Evaluation result() const {
    const int64_t count = confusion_.sum().item<int64_t>();
    return {loss_ / static_cast<double>(count),
            confusion_.view({options_.classes, options_.classes})};
  }

 private:
  void add_part(const Tensor& inputs, const Tensor& on_host) {
    const Tensor targets = on_host.to(options_.device);
    const Tensor scores =
        scores_of(model_, inputs.to(options_.device), options_.device, options_.amp);
    const Tensor loss = cross_entropy_loss(scores, targets, {}, Reduction::Sum);
    const Tensor cells = (targets * options_.classes + scores.argmax(1)).flatten().cpu();
    confusion_ += cells.bincount({}, confusion_.numel());
    loss_ += loss.item<double>();
  }

  nn::AnyModule& model_;
  const EvaluationOptions& options_;
  Tensor confusion_;
  double loss_ = 0;
  int64_t most_ = kBatch;
};

}  // namespace

std::optional<ScalarType> amp_dtype(const std::string& amp) {
  if (amp == "off") return std::nullopt;
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

double Evaluation::accuracy() const {
  return static_cast<double>(confusion.diagonal().sum().item<int64_t>()) /
         static_cast<double>(confusion.sum().item<int64_t>());
}

Evaluation evaluate(nn::AnyModule& model, const Examples& examples,
                    const EvaluationOptions& options) {
  const NoGradGuard no_grad;
  const auto module = model.ptr();
  const bool was_training = module->is_training();
  module->eval();
  Sums sums(model, options);
  const auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      examples, data::DataLoaderOptions(kBatch)
                    .workers(static_cast<size_t>(options.num_workers))
                    .pin_memory(options.device.is_cuda()));
  for (const data::Example<>& batch : *loader) sums.add(batch);
  module->train(was_training);
  return sums.result();
}

}  // namespace hearth::app

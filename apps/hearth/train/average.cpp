#include "average.h"

namespace hearth::app {

namespace {

using optim::swa_utils::AveragedModelOptions;
using optim::swa_utils::get_ema_multi_avg_fn;

/// Lets the tensors use the memory of the sources.
void share(std::vector<Tensor> tensors, const std::vector<Tensor>& sources) {
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].set_data(sources[i].detach());
}

}  // namespace

Average::Average(const nn::AnyModule& model, double decay)
    : average_(model.ptr(), AveragedModelOptions().multi_avg_fn(get_ema_multi_avg_fn(decay))),
      model_(model.clone()) {}

nn::AnyModule& Average::model() {
  // At each call, because load() gives the average new memory.
  share(model_.ptr()->parameters(), average_.module()->parameters());
  share(model_.ptr()->buffers(), average_.module()->buffers());
  return model_;
}

}  // namespace hearth::app

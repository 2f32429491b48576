#pragma once

#include "hearth/optim/adam.h"

namespace hearth::optim {

using AdamWOptions = BasicAdamOptions<true>;  ///< options of AdamW
using AdamWParamState = AdamParamState;       ///< AdamW's state of one parameter

/// Adam with decoupled weight decay: p -= lr * weight_decay * p before each update of p.
class HEARTH_API AdamW : public Optimizer {
 public:
  explicit AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
  void after_load() override;
};

}  // namespace hearth::optim

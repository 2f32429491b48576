#pragma once

#include "hearth/operators.h"
#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Adapts loaded state to a parameter: replaces tensors by copies on the parameter's device. Copies
/// of floating-point tensors have the parameter's dtype, copies with the parameter's sizes its
/// memory format. Throws for state that does not fit.
class Adapter final : public Fields {
 public:
  Adapter(const OptimizerParamState& state, const Tensor& param, int64_t index)
      : state_(state), param_(param.detach()), index_(index) {}
  void field(const std::string&, bool&) override {}
  void field(const std::string& name, int64_t& value) override {
    HEARTH_CHECK_AS(ValueError, name != "step" || value >= 0, "loaded state dict contains a step ",
                    value, " for parameter ", index_);
  }
  void field(const std::string&, double&) override {}
  void field(const std::string&, std::string&) override {}
  void field(const std::string& name, Tensor& value) override {
    if (!value.defined()) return;
    HEARTH_CHECK(state_.fits(name, value, param_), "loaded state dict contains '", name,
                 "' of sizes ", value.sizes(), " for parameter ", index_, ", whose sizes are ",
                 param_.sizes());
    const ScalarType dtype = value.is_floating_point() ? param_.scalar_type() : value.scalar_type();
    const auto options = TensorOptions(dtype).device(param_.device());
    const Tensor copy = value.sizes().equals(param_.sizes()) ? empty_like(param_, options)
                                                             : empty(value.sizes(), options);
    value = copy.copy_(value.detach());
  }
  void nested(const std::string&, const std::function<void(Fields&)>& body) override {
    body(*this);
  }
  bool loading() const override { return false; }
  bool has(const std::string&) const override { return false; }

 private:
  const OptimizerParamState& state_;
  const Tensor param_;
  const int64_t index_;
};

}  // namespace hearth::optim

#pragma once

#include "hearth/nn/cloneable.h"
#include "hearth/nn/parametrize.h"

namespace hearth::nn::utils::parametrize::detail {

/// The trained tensors from which one parameter is computed, and its parametrizations, the modules
/// "0", "1", …
class ParametrizationListImpl : public Cloneable<ParametrizationListImpl> {
 public:
  /// Computes `value`, a parameter that is reused as the trained tensor if the step has only one,
  /// for the member of the owner that `member` finds.
  ParametrizationListImpl(const Tensor& value, FindMember find, Step step);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  void append(Step step);
  Tensor compute() const;  ///< the parameter's present value
  const std::vector<Tensor>& originals() const { return originals_; }
  FindMember member() const { return find_; }
  /// Identifies the list and its clones to the owner's hook.
  const std::shared_ptr<const int>& mark() const { return mark_; }

 private:
  FindMember find_;
  std::shared_ptr<const int> mark_ = std::make_shared<const int>();
  std::vector<Tensor> originals_;
  std::vector<Step> steps_;
};

/// The lists by parameter name: the child "parametrizations" of a module.
class ParametrizationsImpl : public Cloneable<ParametrizationsImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  std::shared_ptr<ParametrizationListImpl> find(const std::string& name) const;
};

/// The module's lists, or null.
std::shared_ptr<ParametrizationsImpl> parametrizations_of(const Module& module);

/// Gives a clone of the module clones of its lists; returns the module's.
std::shared_ptr<Module> copy_parametrizations(const Module& module, Module& clone,
                                              const std::optional<Device>& device);

/// Throws PyTorch's error unless the module has such a parameter, plain or computed; returns its
/// value.
Tensor parametrized_value(const Module& module, const std::string& name);

}  // namespace hearth::nn::utils::parametrize::detail

#pragma once

#include "hearth/nn/cloneable.h"
#include "hearth/nn/parametrize.h"

namespace hearth::nn::utils::parametrize::detail {

/// The trained tensors from which one parameter is computed, and its parametrizations, the modules
/// "0", "1", …
class ParametrizationListImpl : public Cloneable<ParametrizationListImpl> {
 public:
  /// Parametrizes the parameter `value`; `find` returns the owner's member that holds it. If there
  /// is only one trained tensor, that is `value` itself.
  ParametrizationListImpl(const Tensor& value, FindMember find, Step step);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  void append(Step step);
  Tensor compute() const;  ///< returns the parameter's current value
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

/// The child "parametrizations" of a module, which contains the lists by parameter name.
class ParametrizationsImpl : public Cloneable<ParametrizationsImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  std::shared_ptr<ParametrizationListImpl> find(const std::string& name) const;
};

/// Returns the module's lists, or null.
std::shared_ptr<ParametrizationsImpl> parametrizations_of(const Module& module);

/// Adds clones of the module's lists to a clone of the module, and returns the module's lists; null
/// if it has none.
std::shared_ptr<Module> copy_parametrizations(const Module& module, Module& clone,
                                              const std::optional<Device>& device);

/// Returns the value of the module's parameter of this name, plain or computed; throws PyTorch's
/// error if there is none.
Tensor parametrized_value(const Module& module, const std::string& name);

}  // namespace hearth::nn::utils::parametrize::detail

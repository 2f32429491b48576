#pragma once

#include <memory>
#include <optional>

#include "hearth/nn/module.h"

namespace hearth::nn {

namespace detail {

/// The part of Cloneable that does not depend on the module's type.
class HEARTH_API CloneableModule : public Module {
 public:
  using Module::Module;

  /// Registers new parameters, buffers and modules with initial values.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

 private:
  /// A copy by the C++ copy constructor, which shares tensors and modules.
  virtual CloneableModule* new_copy() const = 0;
  /// Copy assignment; false if the other module has another type.
  virtual bool assign(const Module& other) = 0;
  void clone_(Module& other, const std::optional<Device>& device) final;
};

}  // namespace detail

/// Base of modules with clone(): `class Net : public Cloneable<Net>`. Register all parameters,
/// buffers and modules in reset(), and call it in the constructor.
template <class Derived>
class Cloneable : public detail::CloneableModule {
 public:
  using CloneableModule::CloneableModule;

 private:
  CloneableModule* new_copy() const final {
    return new Derived(static_cast<const Derived&>(*this));
  }
  bool assign(const Module& other) final {
    const auto* same = dynamic_cast<const Derived*>(&other);
    if (same) static_cast<Derived&>(*this) = *same;
    return same != nullptr;
  }
};

}  // namespace hearth::nn

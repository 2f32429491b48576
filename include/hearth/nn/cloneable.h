#pragma once

#include <memory>
#include <optional>

#include "hearth/nn/module.h"

namespace hearth::nn {

namespace detail {

/// What Cloneable need not say again for each module's type.
class HEARTH_API CloneableModule : public Module {
 public:
  using Module::Module;

  /// Registers everything anew, with new values.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

 private:
  /// A copy in the sense of C++: it shares what is registered.
  virtual CloneableModule* new_copy() const = 0;
  /// Becomes such a copy; false if the other module is of another type.
  virtual bool assign(const Module& other) = 0;
  void clone_(Module& other, const std::optional<Device>& device) final;
};

}  // namespace detail

/// Gives `class Net : public Cloneable<Net>` a clone(). All parameters, buffers and modules are
/// registered in reset(), which the constructor calls, too.
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

#pragma once

#include <memory>
#include <optional>

#include "hearth/demangle.h"
#include "hearth/nn/module.h"

namespace hearth::nn {

/// Gives `class Net : public Cloneable<Net>` a clone(). All parameters, buffers and modules are
/// registered in reset(), which the constructor calls, too.
template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Registers everything anew, with new values.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    const auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->remake(
        *this, [&] { copy->reset(); }, device);
    return copy;
  }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    const auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
    HEARTH_CHECK(clone,
                 "Attempted to clone submodule, but it is of a different type than the submodule "
                 "it was to be cloned into");
    static_cast<Derived&>(*this) = *clone;
    this->set_path(this->path());
  }
};

}  // namespace hearth::nn

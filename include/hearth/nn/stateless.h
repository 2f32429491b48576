#pragma once

#include <iosfwd>
#include <type_traits>

#include "hearth/arg.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

namespace detail {

struct NoOptions {};

/// Base of modules without parameters and buffers.
template <class Derived, class Options>
class Stateless : public Cloneable<Derived> {
 public:
  Stateless() requires std::is_default_constructible_v<Options>
  = default;
  Stateless(const Options& options_) : options(options_) {}
  void reset() override {}

  Options options;
};

}  // namespace detail

/// Declares a module of one input and without parameters: the class NameImpl, whose forward() and
/// pretty_print() are defined elsewhere, and its holder Name.
#define HEARTH_STATELESS_MODULE(Name, Options_, Input)                           \
  class HEARTH_API Name##Impl : public detail::Stateless<Name##Impl, Options_> { \
   public:                                                                       \
    using detail::Stateless<Name##Impl, Options_>::Stateless;                    \
    Tensor forward(Input input);                                                 \
    void pretty_print(std::ostream& stream) const override;                      \
  };                                                                             \
  HEARTH_MODULE(Name)

}  // namespace hearth::nn

#pragma once

#include <iosfwd>
#include <type_traits>

#include "hearth/arg.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

namespace detail {

struct NoOptions {};

/// Base of modules that hold nothing but options.
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

/// Declares the module Name of one tensor, which holds nothing but Options_: NameImpl, whose
/// forward() and pretty_print() remain to be written, and its holder.
#define HEARTH_STATELESS_MODULE(Name, Options_, Input)                           \
  class HEARTH_API Name##Impl : public detail::Stateless<Name##Impl, Options_> { \
   public:                                                                       \
    using detail::Stateless<Name##Impl, Options_>::Stateless;                    \
    Tensor forward(Input input);                                                 \
    void pretty_print(std::ostream& stream) const override;                      \
  };                                                                             \
  HEARTH_MODULE(Name)

}  // namespace hearth::nn

#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

/// A function of a tensor as a module: Functional(relu), or Functional(elu, 1, 1, 1) with the
/// function's further arguments.
class HEARTH_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;  ///< a function of one tensor

  explicit FunctionalImpl(Function function);
  template <class F, class... Args, std::enable_if_t<(sizeof...(Args) > 0), int> = 0>
  explicit FunctionalImpl(F function, Args&&... args)
      : FunctionalImpl(Function(
            [function, ... bound = std::decay_t<Args>(std::forward<Args>(args))](
                Tensor input) -> Tensor { return function(std::move(input), bound...); })) {}

  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);
  Tensor operator()(Tensor input) { return forward(std::move(input)); }
  bool is_serializable() const override { return false; }  ///< functions cannot be saved

 private:
  Function function_;
};
HEARTH_MODULE(Functional);

}  // namespace hearth::nn

#pragma once

#include <functional>
#include <memory>
#include <type_traits>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

using StateMaker = std::function<std::unique_ptr<OptimizerParamState>()>;
/// What Optimizer's save and load do, with states made by `make_state`.
HEARTH_API void save_optimizer(serialize::OutputArchive& archive, const Optimizer& optimizer);
HEARTH_API void load_optimizer(serialize::InputArchive& archive, Optimizer& optimizer,
                               const StateMaker& make_state);

/// Settings and state of an optimizer whose state and options have these types: what save and load
/// of an optimizer of one's own call.
template <class ParamState, class Options>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  static_assert(std::is_base_of_v<OptimizerOptions, Options>);
  save_optimizer(archive, optimizer);
}
template <class ParamState, class Options>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  static_assert(std::is_base_of_v<OptimizerOptions, Options>);
  load_optimizer(archive, optimizer, [] { return std::make_unique<ParamState>(); });
}

}  // namespace hearth::optim

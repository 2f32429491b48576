#pragma once

#include <functional>
#include <memory>
#include <type_traits>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

/// Creates an empty state.
using StateMaker = std::function<std::unique_ptr<OptimizerParamState>()>;
/// Saves the options and states of an optimizer.
HEARTH_API void save_optimizer(serialize::OutputArchive& archive, const Optimizer& optimizer);
/// Loads the options and states that save_optimizer saved; make_state() creates the states.
HEARTH_API void load_optimizer(serialize::InputArchive& archive, Optimizer& optimizer,
                               const StateMaker& make_state);

/// Saves or loads options and states of these types, for save() and load() of your own optimizers.
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

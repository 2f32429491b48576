#pragma once

#include "functors/special.h"
#include "ops/pointwise.h"

namespace hearth {

/// launch and grad of the ops that compute a special function (functors/special.h).
void launch_special(const OpRecord& op, const void* args, LaunchContext& context);
void grad_special(const OpRecord& op, const void* args, GradContext& context);

/// The properties of an op that computes a special function; integers are converted to the default
/// float dtype.
constexpr OpInfo special_info(const char* name, DtypeSet dtypes, const char* node = "") {
  return {.name = name, .node = node, .dtypes = dtypes, .promote = Promote::kFloat};
}

/// The op's record. Inputs are promoted and broadcast like the inputs of pointwise ops.
template <const OpInfo& info, fn::Special function>
inline constexpr OpRecord special_record{
    .info = &info,
    .args_size = sizeof(NoArgs),
    .copy_args = &detail::copy_args<NoArgs>,
    .destroy_args = &detail::destroy_args<NoArgs>,
    .arguments = &arguments_of<NoArgs>,
    .infer = &infer_pointwise,
    .launch = &launch_special,
    .grad = info.non_differentiable ? nullptr : &grad_special,
    .saves = [](const OpRecord&, const void*, SlotSet) { return in_slot(0) | in_slot(1); },
    .functor = fn::number_of_special(function)};

/// A call of the op.
template <const OpInfo& info, fn::Special function, class... T>
auto special(const T&... inputs) {
  return Invocation<special_record<info, function>, NoArgs, InputPointers<T...>>(NoArgs{},
                                                                                 inputs...);
}

}  // namespace hearth

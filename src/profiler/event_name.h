#pragma once

#include <string>

#include "core/observer.h"

namespace hearth::profiler {

/// Whether the call writes its result to its first input.
inline bool is_inplace(const ObservedCall& call) {
  return !call.outputs.empty() && call.inputs.count > 0 && call.outputs[0].is_same(call.inputs[0]);
}

/// "aten::add_" for an in-place call of add.
inline std::string op_event_name(const OpInfo& info, bool is_inplace_call) {
  std::string name = std::string("aten::") + info.name;
  if (is_inplace_call && !name.ends_with('_')) name += '_';
  return name;
}

}  // namespace hearth::profiler

#pragma once

#include <functional>

#include "hearth/nn/any_value.h"
#include "hearth/tensor.h"

namespace hearth::distributed {

/// Calls visit(tensor), which may replace the tensor, for the tensors in an argument or a result of
/// a module's forward(). Returns false for unknown types, which may contain tensors too.
bool visit_module_tensors(nn::AnyValue& value, const std::function<void(Tensor&)>& visit);

}  // namespace hearth::distributed

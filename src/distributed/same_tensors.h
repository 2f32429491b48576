#pragma once

#include <functional>
#include <string>

#include "hearth/distributed/process_group.h"
#include "hearth/ordered_dict.h"

namespace hearth::distributed {

/// Throws on all ranks, naming a rank and a tensor, unless all ranks have equally many tensors with
/// the names, sizes, strides, dtypes and requires_grad of rank 0's. If `check` throws on a rank,
/// the others throw an error with the number of that rank.
void check_same_tensors(const ProcessGroupPtr& group,
                        const OrderedDict<std::string, Tensor>& tensors,
                        const std::function<void()>& check);

}  // namespace hearth::distributed

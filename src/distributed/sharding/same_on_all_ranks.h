#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hearth/distributed/process_group.h"
#include "hearth/tensor.h"

namespace hearth::distributed {

/// Texts that must be equal on all ranks: a line per parameter or other item.
using Descriptions = std::vector<std::string>;
/// "'fc.weight': Float [3, 4]".
std::string describe_parameter(const std::string& name, const Tensor& param);

/// The parts of the error for different items: "the ranks `have different parameters`. … All ranks
/// must `create the same module`".
struct DifferenceText {
  const char* function;
  const char* difference;
  const char* requirement;
};
/// Throws on all ranks, with the first difference, unless `describe` returns the same lines on all
/// ranks. If `describe` throws on a rank, the others throw too, with the number of that rank. Every
/// rank of the group must call this function.
void check_same_on_all_ranks(const DifferenceText& text,
                             const std::function<Descriptions()>& describe,
                             const ProcessGroupPtr& group);
/// Throws on all ranks, with the number and the error of the first rank whose `error` is not empty.
void check_all_succeeded(const std::string& error, const ProcessGroupPtr& group);

}  // namespace hearth::distributed

#pragma once

#include "tests/support/op_table.h"

namespace hearth::testing {

/// The arguments of a reduction.
struct ReductionArgs {
  std::vector<int64_t> dims;  // empty: all
  bool keepdim = false;
};

/// Maps a group, the elements that are reduced to one output, to that output.
using GroupFunction = std::function<double(const std::vector<double>&)>;

/// Applies f to the elements of each group, which are in row-major order.
Array reduce_groups(const Array& in, const ReductionArgs& args, const GroupFunction& f);

/// A row for a reduction of one tensor.
Row reduction_row(std::string name, std::string covers, std::function<Tensor(const Tensor&)> op,
                  ReductionArgs args, GroupFunction reference, Draw draw = Draw::kNormal);

using LineFunction = std::function<std::vector<double>(const std::vector<double>&)>;
/// Applies f to each line along dim; f may change the length of the lines.
Array map_lines(const Array& in, int64_t dim, const LineFunction& f);

}  // namespace hearth::testing

#pragma once

#include "tests/support/op_table.h"

namespace hearth::testing {

/// Which dimensions go away: a reduction's arguments as a reference sees them.
struct Over {
  std::vector<int64_t> dims;  // empty: all
  bool keepdim = false;
};

/// What becomes of one group of elements.
using Fold = std::function<double(const std::vector<double>&)>;

/// Folds the elements of each group; f sees a group's values in order.
Array fold(const Array& in, const Over& over, const Fold& f);

/// A row for a reduction of one tensor.
Row fold_row(std::string name, std::string covers, std::function<Tensor(const Tensor&)> op,
             Over over, Fold reference, Draw draw = Draw::kNormal);

/// The array with f applied to each of its lines along dim; f may change their length.
using Lines = std::function<std::vector<double>(const std::vector<double>&)>;
Array along(const Array& in, int64_t dim, const Lines& f);

}  // namespace hearth::testing

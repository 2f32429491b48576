#pragma once

#include <string>
#include <vector>

#include "hearth/tensor.h"

namespace hearth::app {

// `matrix` is a confusion matrix, int64 [classes, classes]: rows are the true classes, columns the
// predicted ones. `names` has a name for each class.

/// The matrix as a table, with one more column: the share of each class's examples that were
/// recognised.
std::string confusion_text(const Tensor& matrix, const std::vector<std::string>& names);
/// Draws the matrix as the content of a PNG file.
std::string confusion_png(const Tensor& matrix, const std::vector<std::string>& names);

}  // namespace hearth::app

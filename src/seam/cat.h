#pragma once

#include <vector>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = the concatenation of the inputs along dim. The inputs have out's dtype and, except along
/// dim, out's sizes; along dim, their sizes add up to out's size.
struct CatParams {
  std::vector<View> in;
  View out;
  int dim = 0;
};

}  // namespace hearth

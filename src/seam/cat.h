#pragma once

#include <vector>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = the concatenation of the inputs along dim. All have out's dtype and, except along dim, its
/// sizes; their sizes along dim add up to that of out.
struct CatParams {
  std::vector<View> in;
  View out;
  int dim = 0;
};

}  // namespace hearth

#pragma once

#include <vector>

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out = the inputs one after the other along dim. All have out's dtype and, except along dim, its
/// sizes; the sizes along dim add up to out's.
struct CatParams {
  std::vector<View> in;
  View out;
  int dim = 0;
};

namespace cpu {
void run(const CatParams& params, Ctx& ctx);
}
namespace cuda {
void run(const CatParams& params, Ctx& ctx);
}

}  // namespace hearth

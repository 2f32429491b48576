#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out[p] = in[p with its coordinate dim replaced by index[p]] for every position p of index. The
/// index is int64 or int32, with the sizes of out and as many dimensions as in; in dimensions other
/// than dim it may be smaller than in. A 0-d view counts as a 1-d view of one element. An index
/// outside [0, in.sizes[dim]) is a kIndexOutOfRange fault (index, dim, size).
struct GatherParams {
  View in, index, out;
  int dim = 0;
};

}  // namespace hearth

// index and index_put as IndexJobs; index_loop.cpp and index_move.cpp have the loops.
#include "seam/index.h"

#include "kernels/cpu/index_loop.h"

namespace hearth::cpu {

void run(const IndexParams& params, Ctx& ctx) {
  read_indexed({params.from.origin, params.from.indices, params.out, true},
               copy_from_table(element_size(params.out.dtype)), ctx);
}

void run(const IndexPutParams& params, Ctx& ctx) {
  const ScalarType dtype = params.values.dtype;
  const IndexJob job{params.to.origin, params.to.indices, params.values, true};
  if (params.accumulate) return combine_indexed(job, add_to_table(dtype), ctx);
  write_indexed(job, copy_to_table(element_size(dtype)), ctx);
}

}  // namespace hearth::cpu

// Gather as an IndexJob; index_loop.cpp and index_move.cpp have the loops.
#include "seam/gather.h"

#include "kernels/cpu/gather_job.h"

namespace hearth::cpu {

void run(const GatherParams& params, Ctx& ctx) {
  with_gather_job(params.in, params.index, params.out, params.dim, [&](const IndexJob& job) {
    read_indexed(job, copy_from_table(element_size(params.in.dtype)), ctx);
  });
}

}  // namespace hearth::cpu

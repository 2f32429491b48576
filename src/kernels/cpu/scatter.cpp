// Scatter as an IndexJob; index_loop.cpp, index_combine.cpp and index_move.cpp have the loops.
#include "seam/scatter.h"

#include "kernels/cpu/gather_job.h"

namespace hearth::cpu {

namespace {

void scatter(const IndexJob& job, const ScatterParams& params, Ctx& ctx) {
  const ScalarType dtype = params.out.dtype;
  switch (params.combine) {
    case Combine::kAdd: return combine_indexed(job, add_to_table(dtype), ctx);
    case Combine::kMultiply: return combine_indexed(job, multiply_table(dtype), ctx);
    case Combine::kReplace: return write_indexed(job, copy_to_table(element_size(dtype)), ctx);
    case Combine::kMaximum: return write_indexed(job, extreme_table(dtype, true), ctx);
    case Combine::kMinimum: return write_indexed(job, extreme_table(dtype, false), ctx);
  }
}

}  // namespace

void run(const ScatterParams& params, Ctx& ctx) {
  with_gather_job(params.out, params.index, params.src, params.dim,
                  [&](const IndexJob& job) { scatter(job, params, ctx); });
}

}  // namespace hearth::cpu

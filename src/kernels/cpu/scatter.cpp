#include "seam/scatter.h"

#include "kernels/cpu/gather_job.h"

namespace hearth::cpu {

namespace {

Mover combination(const ScatterParams& params) {
  switch (params.combine) {
    case Combine::kReplace: return copy_to_table(element_size(params.out.dtype));
    case Combine::kMultiply: return multiply_table(params.out.dtype);
    case Combine::kMaximum: return extreme_table(params.out.dtype, true);
    case Combine::kMinimum: return extreme_table(params.out.dtype, false);
    default: return add_to_table(params.out.dtype);
  }
}

}  // namespace

void run(const ScatterParams& params, Ctx& ctx) {
  with_gather_job(params.out, params.index, params.src, params.dim,
                  [&](const IndexJob& job) { write_indexed(job, combination(params), ctx); });
}

}  // namespace hearth::cpu

#include "seam/index.h"

#include "kernels/cpu/index_loop.h"

namespace hearth::cpu {

void run(const IndexParams& params, Ctx& ctx) {
  read_indexed({params.from.origin, params.from.indices, params.out, true},
               copy_from_table(element_size(params.out.dtype)), ctx);
}

void run(const IndexPutParams& params, Ctx& ctx) {
  const ScalarType dtype = params.values.dtype;
  write_indexed({params.to.origin, params.to.indices, params.values, true},
                params.accumulate ? add_to_table(dtype) : copy_to_table(element_size(dtype)), ctx);
}

}  // namespace hearth::cpu

#if defined(__x86_64__)

#include "kernels/cpu/pointwise_block.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

extern const PointwiseTable kAvx2Pointwise;
constinit const PointwiseTable kAvx2Pointwise = TableMaker<Avx2Isa>::make(fn::All{});

}  // namespace hearth::cpu

#endif

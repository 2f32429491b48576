#if defined(__x86_64__)

#include "kernels/cpu/pointwise_block.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

extern const PointwiseTable kAvx512Pointwise;
constinit const PointwiseTable kAvx512Pointwise = TableMaker<Avx512Isa>::make(fn::All{});

}  // namespace hearth::cpu

#endif

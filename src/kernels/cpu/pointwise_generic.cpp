#if !defined(__x86_64__)

#include "kernels/cpu/pointwise_block.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

extern const PointwiseTable kGenericPointwise;
constinit const PointwiseTable kGenericPointwise = TableMaker<GenericIsa>::make(fn::All{});

}  // namespace hearth::cpu

#endif

#include "kernels/cpu/convert_table.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

const ConvertTable* conversions(AtLevel<IsaLevel::kAvx2>) { return &convert_table<Avx2Isa>; }

}  // namespace hearth::cpu

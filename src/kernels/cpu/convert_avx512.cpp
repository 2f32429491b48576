#include "kernels/cpu/convert_table.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

const ConvertTable* conversions(AtLevel<IsaLevel::kAvx512>) { return &convert_table<Avx512Isa>; }

}  // namespace hearth::cpu

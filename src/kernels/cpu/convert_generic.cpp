#include "kernels/cpu/convert_table.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

const ConvertTable* conversions(AtLevel<IsaLevel::kGeneric>) { return &convert_table<GenericIsa>; }

}  // namespace hearth::cpu

#include "kernels/cpu/batch_norm_loops.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

constexpr BatchNormTable batch_norm_table_generic = batch_norm_table_of<GenericIsa>;

}  // namespace hearth::cpu

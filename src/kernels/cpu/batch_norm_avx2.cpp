#include "kernels/cpu/batch_norm_loops.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

constexpr BatchNormTable batch_norm_table_avx2 = batch_norm_table_of<Avx2Isa>;

}  // namespace hearth::cpu

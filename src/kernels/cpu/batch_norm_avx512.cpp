#include "kernels/cpu/batch_norm_loops.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

constexpr BatchNormTable batch_norm_table_avx512 = batch_norm_table_of<Avx512Isa>;

}  // namespace hearth::cpu

#include "kernels/cpu/row_norm_loops.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

constexpr RowNormTable row_norm_table_avx512 = row_norm_table_of<Avx512Isa>;

}  // namespace hearth::cpu

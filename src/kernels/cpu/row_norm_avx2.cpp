#include "kernels/cpu/row_norm_loops.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

constexpr RowNormTable row_norm_table_avx2 = row_norm_table_of<Avx2Isa>;

}  // namespace hearth::cpu

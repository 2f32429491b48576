#include "kernels/cpu/minmax_dim_loops.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

constexpr MinMaxTable minmax_dim_table_avx2 = make_minmax_dim_table<Avx2Isa>();

}  // namespace hearth::cpu

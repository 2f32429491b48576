#include "kernels/cpu/minmax_dim_loops.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

constexpr MinMaxTable minmax_dim_table_avx512 = make_minmax_dim_table<Avx512Isa>();

}  // namespace hearth::cpu

#include "kernels/cpu/optim_loops.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

constexpr OptimTable optim_table_avx512 = make_optim_table<Avx512Isa>();

}  // namespace hearth::cpu

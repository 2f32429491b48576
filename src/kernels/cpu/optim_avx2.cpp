#include "kernels/cpu/optim_loops.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

constexpr OptimTable optim_table_avx2 = make_optim_table<Avx2Isa>();

}  // namespace hearth::cpu

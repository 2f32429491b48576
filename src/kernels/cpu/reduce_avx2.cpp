#include "kernels/cpu/reduce_loops.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

constexpr ReduceTable reduce_table_avx2 = make_reduce_table<Avx2Isa>();

}  // namespace hearth::cpu

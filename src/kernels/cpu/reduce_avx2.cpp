#include "kernels/cpu/vec_avx2.h"
#include "kernels/cpu/reduce_loops.h"

namespace hearth::cpu {

constexpr ReduceTable reduce_table_avx2 = make_reduce_table<Avx2Isa>();

}  // namespace hearth::cpu

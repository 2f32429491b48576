#include "kernels/cpu/reduce_loops.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

constexpr ReduceTable reduce_table_avx512 = make_reduce_table<Avx512Isa>();

}  // namespace hearth::cpu

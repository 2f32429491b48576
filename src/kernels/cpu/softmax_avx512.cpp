#include "kernels/cpu/softmax_loops.h"
#include "kernels/cpu/vec_avx512.h"

namespace hearth::cpu {

constexpr SoftmaxTable softmax_table_avx512 = softmax_table_of<Avx512Isa>;

}  // namespace hearth::cpu

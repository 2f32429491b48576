#include "kernels/cpu/softmax_loops.h"
#include "kernels/cpu/vec_avx2.h"

namespace hearth::cpu {

constexpr SoftmaxTable softmax_table_avx2 = softmax_table_of<Avx2Isa>;

}  // namespace hearth::cpu

#include "kernels/cpu/softmax_loops.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

constexpr SoftmaxTable softmax_table_generic = softmax_table_of<GenericIsa>;

}  // namespace hearth::cpu

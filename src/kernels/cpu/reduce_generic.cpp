#include "kernels/cpu/vec_generic.h"
#include "kernels/cpu/reduce_loops.h"

namespace hearth::cpu {

constexpr ReduceTable reduce_table_generic = make_reduce_table<GenericIsa>();

}  // namespace hearth::cpu

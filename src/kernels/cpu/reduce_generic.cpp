#include "kernels/cpu/reduce_loops.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

constexpr ReduceTable reduce_table_generic = make_reduce_table<GenericIsa>();

}  // namespace hearth::cpu

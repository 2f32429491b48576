#include "kernels/cpu/optim_loops.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

constexpr OptimTable optim_table_generic = make_optim_table<GenericIsa>();

}  // namespace hearth::cpu

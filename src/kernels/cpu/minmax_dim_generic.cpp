#include "kernels/cpu/minmax_dim_loops.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

constexpr MinMaxTable minmax_dim_table_generic = make_minmax_dim_table<GenericIsa>();

}  // namespace hearth::cpu

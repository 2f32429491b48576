#include "kernels/cpu/row_norm_loops.h"
#include "kernels/cpu/vec_generic.h"

namespace hearth::cpu {

constexpr RowNormTable row_norm_table_generic = row_norm_table_of<GenericIsa>;

}  // namespace hearth::cpu

#include "functors/activation.h"
#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

HEARTH_DEFINE_POINTWISE(gelu, (), pointwise(fn::Gelu{}, self))

}  // namespace hearth

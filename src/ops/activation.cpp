#include "functors/activation.h"
#include "ops/define.h"
#include "ops/pointwise.h"

namespace hearth {

HEARTH_DEFINE_POINTWISE(gelu, (), pointwise(fn::Gelu{}, self))
HEARTH_DEFINE_POINTWISE(softsign, (), pointwise(fn::Softsign{}, self))

}  // namespace hearth

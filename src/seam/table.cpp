#include "seam/table.h"

#include "hearth/error.h"
#include "seam/backend.h"

namespace hearth {

void run_kernel(Ctx& ctx, const ParamsType& type, const void* params) {
  Backend& backend = ctx.backend();
  HEARTH_CHECK_AS(NotImplementedError, backend.kernels().kernels[static_cast<int>(type.id)],
                  type.name, " has no ", backend.name(), " kernel in this build");
  backend.run_kernel(type, params, ctx);
}

}  // namespace hearth

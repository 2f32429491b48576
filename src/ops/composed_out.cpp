#include "ops/composed_out.h"

#include "hearth/autograd.h"
#include "ops/binding.h"

namespace hearth {

Tensor& copy_to_out(const char* name, Tensor& out, const Tensor& result) {
  HEARTH_CHECK(!result.requires_grad() && !(modes.grad_enabled && out.requires_grad()), name,
               "(): functions with out=... arguments don't support automatic differentiation, but "
               "one of the arguments requires grad.");
  HEARTH_CHECK(out.device() == result.device(),
               "Expected all tensors to be on the same device, but found at least two devices, ",
               out.device(), " and ", result.device(), "! (argument out of ", name, ")");
  prepare_out(out, Dims(result.sizes()), result.scalar_type());
  return out.copy_(result);
}

}  // namespace hearth

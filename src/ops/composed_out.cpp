#include "ops/composed_out.h"

#include "autograd/tangents.h"
#include "hearth/autograd.h"
#include "ops/binding.h"
#include "ops/promote.h"

namespace hearth {

Tensor& write_out(const char* op, Tensor& out, const std::function<Tensor()>& compute) {
  const NoAutocast no_autocast;
  const Tensor result = compute();
  HEARTH_CHECK(!result.requires_grad() && !(modes.records() && out.requires_grad()), op,
               "(): functions with out=... arguments don't support automatic differentiation, but "
               "one of the arguments requires grad.");
  HEARTH_CHECK_AS(NotImplementedError, !autograd::wants_derivative(result),
                  "Trying to use forward AD with ", op,
                  " that does not support it because it is an out= function");
  check_same_device(op, "out", result.device(), out.device());
  prepare_out(out, Dims(result.sizes()), result.scalar_type());
  return out.copy_(result);
}

Tensor& write_inplace(Tensor& self, const std::function<Tensor()>& compute) {
  const NoAutocast no_autocast;
  const Tensor result = compute();
  check_castable(result.scalar_type(), self.scalar_type());
  return self.copy_(result);
}

}  // namespace hearth

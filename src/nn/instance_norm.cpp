#include "hearth/nn/instance_norm.h"

#include <ostream>

#include "hearth/operators.h"
#include "nn/norm_base.h"

namespace hearth::nn {

namespace functional {

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  if (options.use_input_stats() && input.dim() >= 2)
    HEARTH_CHECK_AS(
        ValueError, input.numel() == 0 || input.numel() != input.size(0) * input.size(1),
        "Expected more than 1 spatial element when training, got input size ", input.sizes());
  return hearth::instance_norm(input, options.weight(), options.bias(), options.running_mean(),
                               options.running_var(), options.use_input_stats(), options.momentum(),
                               options.eps());
}

}  // namespace functional

template <size_t D, class Derived>
void InstanceNormImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const InstanceNormOptions& o = this->options;
  stream << hearth::detail::str("InstanceNorm", D, "d(", o.num_features(), ", eps=", o.eps(),
                                ", momentum=", o.momentum(), ", affine=", o.affine(),
                                ", track_running_stats=", o.track_running_stats(), ")");
}

template <size_t D, class Derived>
Tensor InstanceNormImpl<D, Derived>::forward(const Tensor& input) {
  return run_module(static_cast<Derived&>(*this), &InstanceNormImpl::normalize, input);
}

template <size_t D, class Derived>
Tensor InstanceNormImpl<D, Derived>::normalize(const Tensor& input) {
  const bool is_unbatched = input.dim() == D + 1;
  HEARTH_CHECK(is_unbatched || input.dim() == D + 2, "expected ", D + 1, "D or ", D + 2,
               "D input (got ", input.dim(), "D input)");
  const InstanceNormOptions& o = this->options;
  const Tensor result = functional::instance_norm(
      is_unbatched ? input.unsqueeze(0) : input,
      functional::InstanceNormFuncOptions()
          .running_mean(this->running_mean)
          .running_var(this->running_var)
          .weight(this->weight)
          .bias(this->bias)
          .use_input_stats(this->is_training() || !o.track_running_stats())
          .momentum(o.momentum())
          .eps(o.eps()));
  return is_unbatched ? result.squeeze(0) : result;
}

#define HEARTH_INSTANCE_NORM(D)                                                \
  template class NormImplBase<D, InstanceNorm##D##dImpl, InstanceNormOptions>; \
  template class InstanceNormImpl<D, InstanceNorm##D##dImpl>;
HEARTH_INSTANCE_NORM(1)
HEARTH_INSTANCE_NORM(2)
HEARTH_INSTANCE_NORM(3)
#undef HEARTH_INSTANCE_NORM

}  // namespace hearth::nn

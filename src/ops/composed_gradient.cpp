#include "ops/composed_gradient.h"

#include "autograd/tangents.h"
#include "core/modes.h"
#include "hearth/autograd.h"

namespace hearth {

/// Records the formula and differentiates it. The inputs enter as aliases, so that gradients stop
/// there even if one input was computed from another.
void composed_gradient(GradContext& context, int num_inputs,
                       const std::function<std::vector<Tensor>(const Tensor* in)>& formula) {
  const bool create_graph = modes.records();
  const AutoGradMode on(true);
  std::vector<Tensor> in(static_cast<size_t>(num_inputs));
  for (int i = 0; i < num_inputs; ++i)
    if (const Tensor value = context.in(i); value.defined()) {
      in[size_t(i)] = value.alias();
      // A leaf that was frozen after the forward pass still gets its gradient.
      if (context.needs(i) && !value.requires_grad())
        in[size_t(i)] = value.detach().requires_grad_();
    }
  const std::vector<Tensor> results = formula(in.data());
  autograd::variable_list outputs, gradients, wanted;
  for (size_t i = 0; i < results.size(); ++i)
    if (context.grad(int(i)).defined() && results[i].defined() && results[i].requires_grad()) {
      outputs.push_back(results[i]);
      gradients.push_back(context.grad(int(i)).to(results[i].scalar_type()));
    }
  for (int i = 0; i < num_inputs; ++i)
    if (context.needs(i)) wanted.push_back(in[size_t(i)]);
  const auto grads = autograd::grad(outputs, wanted, gradients, create_graph, create_graph, true);
  for (int i = 0, k = 0; i < num_inputs; ++i)
    if (context.needs(i)) context.set(i, grads[size_t(k++)]);
}

void check_no_gradient(const Tensor& input, const char* op, const char* name) {
  HEARTH_CHECK(!autograd::wants_derivative(input), "The function '", op,
               "' is not differentiable with respect to argument '", name,
               "'. This input cannot have requires_grad True.");
}

}  // namespace hearth

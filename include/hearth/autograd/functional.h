#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "hearth/autograd.h"

/// Products with Jacobians and Hessians of functions of tensors, as in Python's
/// torch.autograd.functional. Each function has a form for one tensor and one for lists.
///
/// The results have no history unless create_graph is set; then they can be differentiated with
/// respect to the inputs. With `strict`, an output that does not depend on an input is an error;
/// otherwise its derivatives are zeros.
namespace hearth::autograd::functional {

using Function = std::function<Tensor(const Tensor&)>;
using ListFunction = std::function<variable_list(const variable_list&)>;

/// An output and its derivative.
using Derivative = std::pair<Tensor, Tensor>;
using ListDerivative = std::pair<variable_list, variable_list>;

/// func(inputs), and the product of v and the Jacobian. v has the outputs' sizes; it may be left
/// out if the output is one number.
HEARTH_API ListDerivative vjp(const ListFunction& func, const variable_list& inputs,
                              const variable_list& v = {}, bool create_graph = false,
                              bool strict = false);
HEARTH_API Derivative vjp(const Function& func, const Tensor& input, const Tensor& v = {},
                          bool create_graph = false, bool strict = false);

/// func(inputs), and the product of the Jacobian and v, by two backward passes. v has the inputs'
/// sizes; it may be left out if the input is one number.
HEARTH_API ListDerivative jvp(const ListFunction& func, const variable_list& inputs,
                              const variable_list& v = {}, bool create_graph = false,
                              bool strict = false);
HEARTH_API Derivative jvp(const Function& func, const Tensor& input, const Tensor& v = {},
                          bool create_graph = false, bool strict = false);

/// The direction in which jacobian(), and hessian() the second time, differentiates.
enum class Strategy {
  ReverseMode,  ///< a backward pass for each element of the outputs
  ForwardMode,  ///< a call of the function for each element of the inputs (forward_ad.h)
};

/// The Jacobian: for output i and input j, a tensor with the sizes of output i followed by those of
/// input j.
HEARTH_API std::vector<variable_list> jacobian(const ListFunction& func,
                                               const variable_list& inputs,
                                               bool create_graph = false, bool strict = false,
                                               Strategy strategy = Strategy::ReverseMode);
HEARTH_API Tensor jacobian(const Function& func, const Tensor& input, bool create_graph = false,
                           bool strict = false, Strategy strategy = Strategy::ReverseMode);

/// The Hessian of a function whose output is one number: for inputs i and j, a tensor with the
/// sizes of input i followed by those of input j.
HEARTH_API std::vector<variable_list> hessian(
    const ListFunction& func, const variable_list& inputs, bool create_graph = false,
    bool strict = false, Strategy outer_jacobian_strategy = Strategy::ReverseMode);
HEARTH_API Tensor hessian(const Function& func, const Tensor& input, bool create_graph = false,
                          bool strict = false,
                          Strategy outer_jacobian_strategy = Strategy::ReverseMode);

/// func(inputs), which is one number, and the product of v and its Hessian. v has the inputs'
/// sizes; it may be left out if the input is one number.
HEARTH_API std::pair<Tensor, variable_list> vhp(const ListFunction& func,
                                                const variable_list& inputs,
                                                const variable_list& v = {},
                                                bool create_graph = false, bool strict = false);
HEARTH_API Derivative vhp(const Function& func, const Tensor& input, const Tensor& v = {},
                          bool create_graph = false, bool strict = false);

/// The same product from the other side; it costs more than vhp.
HEARTH_API std::pair<Tensor, variable_list> hvp(const ListFunction& func,
                                                const variable_list& inputs,
                                                const variable_list& v = {},
                                                bool create_graph = false, bool strict = false);
HEARTH_API Derivative hvp(const Function& func, const Tensor& input, const Tensor& v = {},
                          bool create_graph = false, bool strict = false);

}  // namespace hearth::autograd::functional

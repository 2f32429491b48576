#include "hearth/autograd/functional.h"

#include <algorithm>

#include "hearth/autograd/forward_ad.h"
#include "hearth/operators.h"

namespace hearth::autograd::functional {

namespace {

/// Inputs of the user's function that require gradients: with create_graph, still part of the
/// inputs' graph.
variable_list as_inputs(const variable_list& tensors, bool create_graph, bool need_graph = true) {
  variable_list result;
  for (const Tensor& tensor : tensors) {
    HEARTH_CHECK(tensor.defined(),
                 "The inputs given to a function of autograd::functional must be "
                 "defined tensors");
    if (create_graph && tensor.requires_grad())
      result.push_back(tensor.alias());
    else
      result.push_back(need_graph ? tensor.detach().requires_grad_() : tensor.detach());
  }
  return result;
}

/// Results for the user: without history unless create_graph.
variable_list as_results(variable_list tensors, bool create_graph) {
  for (Tensor& tensor : tensors)
    if (!create_graph && tensor.defined()) tensor = tensor.detach();
  return tensors;
}

/// Throws the error of strict mode for an input without influence.
void check_dependent(const std::string& output, const Tensor& derivative, size_t input,
                     bool strict) {
  HEARTH_CHECK(!strict || derivative.defined(), output,
               " of the user-provided function is independent of input ", input,
               ". This is not allowed in strict mode.");
}
void check_dependent(const Tensor& derivative, size_t input, bool strict) {
  check_dependent("The output", derivative, input, strict);
}
/// Throws the error of strict mode for a Jacobian without a graph.
void check_graph(const Tensor& derivative, size_t input, bool strict, bool create_graph) {
  HEARTH_CHECK(!strict || !create_graph || derivative.requires_grad(),
               "The jacobian of the user-provided function is independent of input ", input,
               ". This is not allowed in strict mode when create_graph=True.");
}

void check_outputs(const variable_list& outputs, bool strict) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    HEARTH_CHECK_AS(TypeError, outputs[i].defined(), "Output ", i,
                    " of the user-provided function is undefined");
    HEARTH_CHECK(!strict || outputs[i].requires_grad(), "Output ", i,
                 " of the user-provided function does not require gradients. The outputs must be "
                 "computed in a differentiable manner from the input when running in strict mode.");
  }
}

/// The vector of a product, checked against the tensors that it multiplies; ones if it was left
/// out. `role` describes these tensors.
variable_list as_vector(const variable_list& v, const variable_list& tensors, const char* role) {
  const bool left_out = v.empty() || (v.size() == 1 && !v[0].defined());
  if (left_out) {
    HEARTH_CHECK(tensors.size() == 1 && tensors[0].numel() == 1,
                 "The vector v can only be None if ", role,
                 " a single Tensor with a single element.");
    return {ones_like(tensors[0].detach())};
  }
  HEARTH_CHECK(v.size() == tensors.size(), "v is a tuple of invalid length: should be ",
               tensors.size(), " but got ", v.size(), ".");
  for (size_t i = 0; i < v.size(); ++i) {
    const std::string entry = v.size() > 1 ? detail::str("Entry ", i, " in v") : std::string("v");
    HEARTH_CHECK(v[i].defined(), entry, " is undefined");
    HEARTH_CHECK(v[i].sizes().equals(tensors[i].sizes()), entry, " has invalid size: should be ",
                 tensors[i].sizes(), " but got ", v[i].sizes(), ".");
  }
  return v;
}
constexpr const char* kOutputRole = "the user-provided function returns";
constexpr const char* kInputRole = "the input to the user-provided function is";

/// The gradients of those outputs that require one; undefined where an output does not depend on an
/// input.
variable_list gradients(const variable_list& outputs, const variable_list& inputs,
                        const variable_list& weights, bool create_graph,
                        bool retain_graph = false) {
  variable_list roots, factors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    HEARTH_CHECK(outputs[i].is_complex() == weights[i].is_complex(),
                 "For complex Tensors, both grad_output and output are required to have the same "
                 "dtype. Mismatch in dtype: grad_output[",
                 i, "] has a dtype of ", name_of(weights[i].scalar_type()), " and output[", i,
                 "] has a dtype of ", name_of(outputs[i].scalar_type()), ".");
    roots.push_back(outputs[i]);
    factors.push_back(weights[i].to(outputs[i].scalar_type()));
  }
  if (roots.empty()) return variable_list(inputs.size());
  return grad(roots, inputs, factors, retain_graph || create_graph, create_graph, true);
}

/// Zeros in place of undefined derivatives, which are errors in strict mode; with create_graph,
/// strict mode also requires that the derivatives have a graph.
void complete(variable_list& derivatives, const variable_list& like, bool strict,
              bool create_graph) {
  for (size_t i = 0; i < derivatives.size(); ++i) {
    check_dependent(derivatives[i], i, strict);
    check_graph(derivatives[i], i, strict, create_graph);
    if (!derivatives[i].defined()) derivatives[i] = zeros_like(like[i].detach());
  }
}

/// Throws unless a function returned one number.
void check_number(const char* name, const variable_list& outputs) {
  HEARTH_CHECK(outputs.size() == 1, "The function given to ", name,
               " should return a single Tensor");
  HEARTH_CHECK(outputs[0].defined() && outputs[0].numel() == 1,
               "The Tensor returned by the function given to ", name,
               " should contain a single element");
}

/// Throws unless the gradients depend on the inputs, in strict mode.
void check_second_order(const variable_list& derivatives, bool strict) {
  for (size_t i = 0; strict && i < derivatives.size(); ++i) {
    check_dependent(derivatives[i], i, strict);
    HEARTH_CHECK(derivatives[i].requires_grad(),
                 "While computing the hessian, found that the jacobian of the user-provided "
                 "function with respect to input ",
                 i,
                 " is independent of the input. This is not allowed in strict mode. You should "
                 "ensure that your function is twice differentiable and that the jacobian depends "
                 "on the inputs (this would be violated by a linear function for example).");
  }
}

ListFunction as_list(const Function& func) {
  return [&func](const variable_list& inputs) { return variable_list{func(inputs[0])}; };
}
variable_list list_of(const Tensor& v) { return v.defined() ? variable_list{v} : variable_list(); }
Derivative first_of(ListDerivative&& result) {
  return {std::move(result.first[0]), std::move(result.second[0])};
}

/// The products of the Jacobian and `v`: the derivative of the gradient by its own weights.
variable_list product_by_two_passes(const variable_list& outputs, const variable_list& inputs,
                                    const variable_list& v, bool create_graph, bool strict) {
  variable_list weights(outputs.size()), leaves;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].defined() && outputs[i].requires_grad())
      leaves.push_back(weights[i] = zeros_like(outputs[i].detach()).requires_grad_());
  const variable_list derivatives = gradients(outputs, inputs, weights, true);
  for (size_t i = 0; strict && i < inputs.size(); ++i) check_dependent(derivatives[i], i, strict);
  const variable_list products = gradients(derivatives, leaves, v, create_graph);
  for (size_t i = 0, k = 0; i < weights.size(); ++i)
    if (weights[i].defined()) weights[i] = products[k++];
  return weights;
}

}  // namespace

ListDerivative vjp(const ListFunction& func, const variable_list& inputs, const variable_list& v,
                   bool create_graph, bool strict) {
  const AutoGradMode on(true);
  const variable_list in = as_inputs(inputs, create_graph);
  const variable_list outputs = func(in);
  check_outputs(outputs, strict);
  const variable_list weights = as_vector(v, outputs, kOutputRole);
  variable_list products = gradients(outputs, in, weights, create_graph);
  complete(products, in, strict, create_graph);
  return {as_results(outputs, create_graph), as_results(std::move(products), create_graph)};
}

ListDerivative jvp(const ListFunction& func, const variable_list& inputs, const variable_list& v,
                   bool create_graph, bool strict) {
  const AutoGradMode on(true);
  const variable_list in = as_inputs(inputs, create_graph);
  const variable_list direction = as_vector(v, in, kInputRole);
  const variable_list outputs = func(in);
  check_outputs(outputs, strict);
  variable_list products = product_by_two_passes(outputs, in, direction, create_graph, strict);
  complete(products, outputs, strict, create_graph);
  return {as_results(outputs, create_graph), as_results(std::move(products), create_graph)};
}

namespace {

/// rows[i] reshaped to the sizes of `output` followed by those of `input`.
Tensor joined(const variable_list& rows, const Tensor& output, const Tensor& input) {
  std::vector<int64_t> sizes = output.sizes().vec();
  sizes.insert(sizes.end(), input.sizes().begin(), input.sizes().end());
  return rows.empty() ? zeros(sizes, input.options()) : stack(rows).view(sizes);
}

std::vector<variable_list> jacobian_by_rows(const variable_list& outputs, const variable_list& in,
                                            bool create_graph, bool strict) {
  std::vector<variable_list> result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<variable_list> rows(in.size());  // rows[j]: the gradients of input j
    const Tensor elements = outputs[i].reshape({-1});
    for (int64_t e = 0; e < elements.numel(); ++e) {
      const Tensor element = elements[e];
      HEARTH_CHECK(!element.is_complex(),
                   "grad can be implicitly created only for real scalar outputs but got ",
                   name_of(element.scalar_type()));
      variable_list row =
          gradients({element}, in, {ones_like(element.detach())}, create_graph, true);
      for (size_t j = 0; j < in.size(); ++j) {
        check_dependent(detail::str("Output ", i), row[j], j, strict);
        check_graph(row[j], j, strict, create_graph);
        rows[j].push_back(row[j].defined() ? row[j] : zeros_like(in[j].detach()));
      }
    }
    variable_list& blocks = result.emplace_back();
    for (size_t j = 0; j < in.size(); ++j) blocks.push_back(joined(rows[j], outputs[i], in[j]));
  }
  return result;
}

/// The Jacobian by one call of the function for each element of the inputs, whose tangent is 1.
std::vector<variable_list> jacobian_by_columns(const ListFunction& func,
                                               const variable_list& inputs) {
  const AutoGradMode off(false);
  const forward_ad::DualLevel level;
  std::vector<variable_list> result;  // result[i][j], for output i and input j
  for (size_t j = 0; j < inputs.size(); ++j) {
    std::vector<variable_list> columns;  // columns[i]: the tangents of output i
    variable_list outputs;
    for (int64_t e = 0; e < std::max<int64_t>(inputs[j].numel(), 1); ++e) {
      variable_list duals;  // func may write to them
      for (const Tensor& input : inputs) duals.push_back(input.clone());
      Tensor direction = zeros(inputs[j].sizes(), inputs[j].options());
      if (direction.numel() > 0) direction.view({-1})[e].fill_(1);
      duals[j] = forward_ad::make_dual(duals[j], direction);
      outputs = func(duals);
      check_outputs(outputs, false);
      columns.resize(outputs.size());
      for (size_t i = 0; i < outputs.size() && direction.numel() > 0; ++i) {
        const Tensor tangent = outputs[i]._fw_grad(0);
        columns[i].push_back(tangent.defined() ? tangent : zeros_like(outputs[i]));
      }
    }
    result.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor block = joined(columns[i], inputs[j], outputs[i]);
      std::vector<int64_t> order;  // the output's dimensions before the input's
      for (int64_t d = 0; d < block.dim(); ++d)
        order.push_back((d + inputs[j].dim()) % std::max<int64_t>(block.dim(), 1));
      result[i].push_back(block.permute(order));
    }
  }
  return result;
}

}  // namespace

std::vector<variable_list> jacobian(const ListFunction& func, const variable_list& inputs,
                                    bool create_graph, bool strict, Strategy strategy) {
  if (strategy == Strategy::ForwardMode) {
    HEARTH_CHECK(
        !strict,
        "torch.autograd.functional.jacobian: `strict=True` and `strategy=\"forward-mode\"` "
        "are not supported together (yet). Please either set `strict=False` or "
        "`strategy=\"reverse-mode\"`.");
    HEARTH_CHECK_AS(NotImplementedError, !create_graph,
                    "torch.autograd.functional.jacobian: `create_graph=True` and "
                    "`strategy=\"forward-mode\"` are not supported together (yet). Please either "
                    "set `create_graph=False` or `strategy=\"reverse-mode\"`.");
    return jacobian_by_columns(func, as_inputs(inputs, false, false));
  }
  const AutoGradMode on(true);
  const variable_list in = as_inputs(inputs, create_graph);
  const variable_list outputs = func(in);
  check_outputs(outputs, strict);
  std::vector<variable_list> blocks = jacobian_by_rows(outputs, in, create_graph, strict);
  for (variable_list& row : blocks) row = as_results(std::move(row), create_graph);
  return blocks;
}

namespace {

/// func's output, which must be one number, and its gradients with their graph.
std::pair<Tensor, variable_list> number_and_gradients(const char* name, const ListFunction& func,
                                                      const variable_list& in, bool strict) {
  const variable_list outputs = func(in);
  check_number(name, outputs);
  check_outputs(outputs, strict);
  return {outputs[0], gradients(outputs, in, {ones_like(outputs[0].detach())}, true)};
}

using Product = variable_list (*)(const variable_list& first, const variable_list& in,
                                  const variable_list& direction, bool create_graph, bool strict);

/// vhp or hvp, which differ in the way from the first gradients to the product.
std::pair<Tensor, variable_list> hessian_product(const char* name, Product product,
                                                 const ListFunction& func,
                                                 const variable_list& inputs,
                                                 const variable_list& v, bool create_graph,
                                                 bool strict) {
  const AutoGradMode on(true);
  const variable_list in = as_inputs(inputs, create_graph);
  const variable_list direction = as_vector(v, in, kInputRole);
  auto [output, first] = number_and_gradients(name, func, in, strict);
  check_second_order(first, strict);
  variable_list products = product(first, in, direction, create_graph, strict);
  complete(products, in, strict, create_graph);
  return {as_results({output}, create_graph)[0], as_results(std::move(products), create_graph)};
}

variable_list product_by_one_pass(const variable_list& first, const variable_list& in,
                                  const variable_list& direction, bool create_graph, bool) {
  return gradients(first, in, direction, create_graph);
}

}  // namespace

std::vector<variable_list> hessian(const ListFunction& func, const variable_list& inputs,
                                   bool create_graph, bool strict,
                                   Strategy outer_jacobian_strategy) {
  const ListFunction gradient = [&](const variable_list& in) {
    const AutoGradMode on(true);
    for (const Tensor& input : in) input.requires_grad_();
    variable_list result = number_and_gradients("hessian", func, in, strict).second;
    for (size_t i = 0; i < result.size(); ++i)
      if (!result[i].defined()) result[i] = zeros_like(in[i].detach());
    check_second_order(result, strict);
    return result;
  };
  return jacobian(gradient, inputs, create_graph, strict, outer_jacobian_strategy);
}

std::pair<Tensor, variable_list> vhp(const ListFunction& func, const variable_list& inputs,
                                     const variable_list& v, bool create_graph, bool strict) {
  return hessian_product("vhp", product_by_one_pass, func, inputs, v, create_graph, strict);
}

std::pair<Tensor, variable_list> hvp(const ListFunction& func, const variable_list& inputs,
                                     const variable_list& v, bool create_graph, bool strict) {
  return hessian_product("hvp", product_by_two_passes, func, inputs, v, create_graph, strict);
}

Derivative vjp(const Function& func, const Tensor& input, const Tensor& v, bool create_graph,
               bool strict) {
  return first_of(vjp(as_list(func), {input}, list_of(v), create_graph, strict));
}
Derivative jvp(const Function& func, const Tensor& input, const Tensor& v, bool create_graph,
               bool strict) {
  return first_of(jvp(as_list(func), {input}, list_of(v), create_graph, strict));
}
Tensor jacobian(const Function& func, const Tensor& input, bool create_graph, bool strict,
                Strategy strategy) {
  return jacobian(as_list(func), {input}, create_graph, strict, strategy)[0][0];
}
Tensor hessian(const Function& func, const Tensor& input, bool create_graph, bool strict,
               Strategy outer_jacobian_strategy) {
  return hessian(as_list(func), {input}, create_graph, strict, outer_jacobian_strategy)[0][0];
}
Derivative vhp(const Function& func, const Tensor& input, const Tensor& v, bool create_graph,
               bool strict) {
  auto [output, product] = vhp(as_list(func), {input}, list_of(v), create_graph, strict);
  return {std::move(output), std::move(product[0])};
}
Derivative hvp(const Function& func, const Tensor& input, const Tensor& v, bool create_graph,
               bool strict) {
  auto [output, product] = hvp(as_list(func), {input}, list_of(v), create_graph, strict);
  return {std::move(output), std::move(product[0])};
}

}  // namespace hearth::autograd::functional

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/nn/module.h"

// Parametrizations: parameters that are computed from other tensors. A module's member `weight` or
// `bias` is recomputed before each forward() (of a user's module: before each call through a
// holder, Sequential or AnyModule). state_dict() has Python's keys,
// "parametrizations.weight.original".
namespace hearth::nn::utils {

namespace parametrize {

namespace detail {

/// Finds a module's member by name; null if there is none.
using FindMember = Tensor* (*)(Module& module, const std::string& name);
template <class M>
Tensor* find_member(Module& module, [[maybe_unused]] const std::string& name) {
  [[maybe_unused]] M& self = static_cast<M&>(module);
  if constexpr (requires { self.weight = Tensor(); })
    if (name == "weight") return &self.weight;
  if constexpr (requires { self.bias = Tensor(); })
    if (name == "bias") return &self.bias;
  return nullptr;
}
/// find_member for the module type of a holder or another pointer.
template <class Pointer>
FindMember find_member_of(Pointer& module) {
  return &find_member<std::decay_t<decltype(*module)>>;
}

/// A parametrization and its type-erased functions.
struct Step {
  std::shared_ptr<Module> module;
  Tensor (*forward)(Module& self, const std::vector<Tensor>& originals);
  /// Computes the originals of a value; null if the value is its own original.
  std::vector<Tensor> (*right_inverse)(Module& self, const Tensor& value);
};
template <class P>
Step step_of(std::shared_ptr<P> module) {
  Step step{module,
            [](Module& self, const std::vector<Tensor>& originals) {
              return Tensor(static_cast<P&>(self).forward(originals.front()));
            },
            nullptr};
  if constexpr (requires(const Tensor& value) { module->right_inverse(value); })
    step.right_inverse = [](Module& self, const Tensor& value) {
      return std::vector<Tensor>{static_cast<P&>(self).right_inverse(value)};
    };
  return step;
}

HEARTH_API void add(Module& module, const std::string& name, FindMember find, Step step);
HEARTH_API void remove(Module& module, const std::string& name, FindMember find, bool keep_value);

}  // namespace detail

/// Computes the parameter `name` of a holder's module as parametrization.forward(original), where
/// `original` is the trained tensor; sizes and dtype must stay the same. If the parametrization has
/// right_inverse(value), it computes `original` from the parameter's value. Further
/// parametrizations are applied to the result of the previous one.
template <class Pointer, class P>
Pointer register_parametrization(Pointer module, const std::string& name, P parametrization) {
  if constexpr (requires { parametrization.ptr(); })
    detail::add(*module, name, detail::find_member_of(module),
                detail::step_of(parametrization.ptr()));
  else
    detail::add(*module, name, detail::find_member_of(module), detail::step_of(parametrization));
  return module;
}

/// Whether a parameter has a parametrization; without a name, whether any parameter has one.
HEARTH_API bool is_parametrized(const Module& module, const std::string& name = "");

/// Removes the parametrizations of a parameter. The parameter keeps its current value; without
/// leave_parametrized, it gets the value of its original, which must be a single tensor.
template <class Pointer>
Pointer remove_parametrizations(Pointer module, const std::string& name,
                                bool leave_parametrized = true) {
  detail::remove(*module, name, detail::find_member_of(module), leave_parametrized);
  return module;
}

}  // namespace parametrize

namespace parametrizations {

namespace detail {
using parametrize::detail::find_member_of;
using parametrize::detail::FindMember;
HEARTH_API void weight_norm(Module& module, const std::string& name, FindMember find,
                            std::optional<int64_t> dim);
HEARTH_API void spectral_norm(Module& module, const std::string& name, FindMember find,
                              int n_power_iterations, double eps, std::optional<int64_t> dim);
HEARTH_API void orthogonal(Module& module, const std::string& name, FindMember find,
                           const std::string& map);
}  // namespace detail

/// weight = g * v / |v|: trains the norms g and the directions v of the slices along dim (nullopt:
/// one norm of all elements).
template <class Pointer>
Pointer weight_norm(Pointer module, const std::string& name = "weight",
                    std::optional<int64_t> dim = 0) {
  detail::weight_norm(*module, name, detail::find_member_of(module), dim);
  return module;
}

/// Divides the weight, as a matrix whose rows are its slices along dim (by default 0, for
/// transposed convolutions 1), by its largest singular value. Each forward() in training mode
/// improves the approximation of the singular value by n_power_iterations power iterations.
template <class Pointer>
Pointer spectral_norm(Pointer module, const std::string& name = "weight",
                      int n_power_iterations = 1, double eps = 1e-12,
                      std::optional<int64_t> dim = std::nullopt) {
  detail::spectral_norm(*module, name, detail::find_member_of(module), n_power_iterations, eps,
                        dim);
  return module;
}

/// Computes a weight with orthonormal rows (columns if there are more rows than columns) from the
/// trained tensor by "matrix_exp" (the default for square weights), "cayley" or "householder" (the
/// default for other weights).
template <class Pointer>
Pointer orthogonal(Pointer module, const std::string& name = "weight",
                   const std::string& orthogonal_map = "") {
  detail::orthogonal(*module, name, detail::find_member_of(module), orthogonal_map);
  return module;
}

}  // namespace parametrizations

}  // namespace hearth::nn::utils

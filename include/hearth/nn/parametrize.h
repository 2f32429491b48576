#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/nn/module.h"

// Parametrizations: parameters that are computed from others. Before each forward() of the module,
// or rather of its call through a holder, Sequential or AnyModule if it is a user's, its member
// `weight` or `bias` is computed anew. state_dict() has Python's keys,
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
/// find_member for what a holder or another pointer points to.
template <class Pointer>
FindMember find_member_of(Pointer& module) {
  return &find_member<std::decay_t<decltype(*module)>>;
}

/// A parametrization, and how to call it.
struct Step {
  std::shared_ptr<Module> module;
  Tensor (*forward)(Module& self, const std::vector<Tensor>& originals);
  /// The originals of a value; null if they are the value.
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

/// Computes the parameter `name` of a module, given by its holder, with the parametrization, whose
/// forward() gets the trained tensor and returns one of its sizes and dtype. If it has a
/// right_inverse(value), this sets the trained tensor. Further ones get the result of the former.
template <class Pointer, class P>
Pointer register_parametrization(Pointer module, const std::string& name, P parametrization) {
  if constexpr (requires { parametrization.ptr(); })
    detail::add(*module, name, detail::find_member_of(module),
                detail::step_of(parametrization.ptr()));
  else
    detail::add(*module, name, detail::find_member_of(module), detail::step_of(parametrization));
  return module;
}

/// Whether a parameter has a parametrization; without a name, whether any has.
HEARTH_API bool is_parametrized(const Module& module, const std::string& name = "");

/// Makes the parameter a plain one: with its present value, or with that of the one tensor from
/// which it was computed.
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

/// weight = g v / |v|: trains the norms g of the slices along dim and their directions v; nullopt:
/// one norm of all elements.
template <class Pointer>
Pointer weight_norm(Pointer module, const std::string& name = "weight",
                    std::optional<int64_t> dim = 0) {
  detail::weight_norm(*module, name, detail::find_member_of(module), dim);
  return module;
}

/// Divides the weight, as a matrix whose rows are its slices along dim (by default 0, of transposed
/// convolutions 1), by its largest singular value, approximated by power iterations, of which each
/// forward() in training mode does some.
template <class Pointer>
Pointer spectral_norm(Pointer module, const std::string& name = "weight",
                      int n_power_iterations = 1, double eps = 1e-12,
                      std::optional<int64_t> dim = std::nullopt) {
  detail::spectral_norm(*module, name, detail::find_member_of(module), n_power_iterations, eps,
                        dim);
  return module;
}

/// A weight with orthonormal rows, or columns if it has more rows: "matrix_exp" (by default for
/// square weights), "cayley" or "householder" (by default for others) of the trained tensor.
template <class Pointer>
Pointer orthogonal(Pointer module, const std::string& name = "weight",
                   const std::string& orthogonal_map = "") {
  detail::orthogonal(*module, name, detail::find_member_of(module), orthogonal_map);
  return module;
}

}  // namespace parametrizations

}  // namespace hearth::nn::utils

#pragma once

#include <type_traits>

#include "c10/namespaces.h"
#include "hearth/nn/any.h"

// torch::detail's traits of modules.
namespace hearth::detail {

/// Whether a class has one function forward().
template <class T>
struct has_forward : std::bool_constant<nn::detail::HasForward<T>> {};
/// Whether a class is a module.
template <class M>
using is_module = std::is_base_of<nn::Module, std::decay_t<M>>;
template <class M, class T = void>
using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

}  // namespace hearth::detail

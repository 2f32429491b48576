#pragma once

#include <deque>
#include <type_traits>

#include "ATen/core/List.h"
#include "ATen/core/ivalue.h"
#include "c10/util/Exception.h"
#include "hearth/optim/serialize.h"
#include "torch/serialize/archive.h"

// LibTorch's macros for the serialize functions of optimizers that programs define: each saves or
// loads one TORCH_ARG of `this`, and needs an argument called `archive`.
namespace hearth::optim {

template <class T>
c10::List<T> deque_to_list(const std::deque<T>& values) {
  c10::List<T> list;
  for (const T& value : values) list.push_back(value);
  return list;
}
template <class T>
std::deque<T> list_to_deque(const c10::List<T>& list) {
  std::deque<T> values;
  for (size_t i = 0; i < list.size(); ++i) values.push_back(list.get(i));
  return values;
}

}  // namespace hearth::optim

/// Does not save an undefined tensor.
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name)                               \
  do {                                                                       \
    const c10::IValue value_of_##name(name());                               \
    if (!value_of_##name.isTensor() || value_of_##name.toTensor().defined()) \
      archive.write(#name, value_of_##name);                                 \
  } while (false)
/// Only a tensor may be missing.
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)                 \
  do {                                                              \
    c10::IValue value_of_##name;                                    \
    if (archive.try_read(#name, value_of_##name))                   \
      name(value_of_##name.to<T>());                                \
    else                                                            \
      TORCH_INTERNAL_ASSERT((std::is_base_of_v<torch::Tensor, T>)); \
  } while (false)
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(T, name)                             \
  do {                                                                                   \
    c10::IValue value_of_##name;                                                         \
    if (archive.try_read(#name, value_of_##name)) name(value_of_##name.toOptional<T>()); \
  } while (false)
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(name) \
  archive.write(#name, c10::IValue(::hearth::optim::deque_to_list(name())))
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(T, name)                                          \
  do {                                                                                             \
    c10::IValue value_of_##name;                                                                   \
    archive.read(#name, value_of_##name);                                                          \
    name(::hearth::optim::list_to_deque(value_of_##name.to<c10::List<typename T::value_type>>())); \
  } while (false)
/// Saves or loads the groups' options and the parameters' states of `self`.
#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Name) \
  ::hearth::optim::serialize<Name##ParamState, Name##Options>(archive, self)

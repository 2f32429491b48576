#pragma once

#include <optional>
#include <vector>

#include "c10/core/DeviceType.h"
#include "c10/core/DispatchKeySet.h"
#include "c10/util/Warning.h"
#include "hearth/autocast.h"
#include "hearth/tensor.h"

// LibTorch's deprecated functions of autocast, which name the device in place of an argument.
namespace hearth::autocast {

#define HEARTH_DEPRECATED_AUTOCAST(IS_ENABLED, SET_ENABLED, GET_DTYPE, SET_DTYPE, DEVICE_TYPE)    \
  inline bool IS_ENABLED() {                                                                      \
    TORCH_WARN_DEPRECATION("at::autocast::" #IS_ENABLED                                           \
                           "() is deprecated. Please use "                                        \
                           "at::autocast::is_autocast_enabled(" #DEVICE_TYPE ") instead.");       \
    return is_autocast_enabled(DEVICE_TYPE);                                                      \
  }                                                                                               \
  inline void SET_ENABLED(bool enabled) {                                                         \
    TORCH_WARN_DEPRECATION("at::autocast::" #SET_ENABLED                                          \
                           "(enabled) is deprecated. Please use "                                 \
                           "at::autocast::set_autocast_enabled(" #DEVICE_TYPE                     \
                           ", enabled) instead.");                                                \
    set_autocast_enabled(DEVICE_TYPE, enabled);                                                   \
  }                                                                                               \
  inline ScalarType GET_DTYPE() {                                                                 \
    TORCH_WARN_DEPRECATION("at::autocast::" #GET_DTYPE                                            \
                           "() is deprecated. Please use "                                        \
                           "at::autocast::get_autocast_dtype(" #DEVICE_TYPE ") instead.");        \
    return get_autocast_dtype(DEVICE_TYPE);                                                       \
  }                                                                                               \
  inline void SET_DTYPE(ScalarType dtype) {                                                       \
    TORCH_WARN_DEPRECATION("at::autocast::" #SET_DTYPE                                            \
                           "(dtype) is deprecated. Please use "                                   \
                           "at::autocast::set_autocast_dtype(" #DEVICE_TYPE ", dtype) instead."); \
    set_autocast_dtype(DEVICE_TYPE, dtype);                                                       \
  }
HEARTH_DEPRECATED_AUTOCAST(is_enabled, set_enabled, get_autocast_gpu_dtype, set_autocast_gpu_dtype,
                           at::kCUDA)
HEARTH_DEPRECATED_AUTOCAST(is_cpu_enabled, set_cpu_enabled, get_autocast_cpu_dtype,
                           set_autocast_cpu_dtype, at::kCPU)
#undef HEARTH_DEPRECATED_AUTOCAST

/// The tensor in this dtype, if autocast casts it: if it is floating-point but not float64, and on
/// a device of this type.
inline Tensor cached_cast(ScalarType dtype, const Tensor& tensor, DeviceType device_type = kCUDA) {
  const bool is_eligible = tensor.defined() && tensor.device().type() == device_type &&
                           tensor.is_floating_point() && tensor.scalar_type() != kDouble;
  return is_eligible ? tensor.to(dtype) : tensor;
}
inline std::optional<Tensor> cached_cast(ScalarType dtype, const std::optional<Tensor>& tensor,
                                         DeviceType device_type = kCUDA) {
  if (!tensor) return std::nullopt;
  return cached_cast(dtype, *tensor, device_type);
}
inline std::vector<Tensor> cached_cast(ScalarType dtype, const TensorList& tensors,
                                       DeviceType device_type = kCUDA) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(cached_cast(dtype, tensor, device_type));
  return result;
}
/// Other arguments are returned unchanged.
template <class T>
T cached_cast(ScalarType, T value, DeviceType = kCUDA) {
  return value;
}

}  // namespace hearth::autocast

#pragma once

#include <initializer_list>
#include <vector>

#include "hearth/tensor.h"

namespace hearth::nn::utils {

/// Scales the gradients so that their total norm is at most max_norm; returns the original norm
/// (for norm_type 0, the number of gradients).
HEARTH_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                  double norm_type = 2.0, bool error_if_nonfinite = false);
inline double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm,
                              double norm_type = 2.0, bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}
inline double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type, error_if_nonfinite);
}

/// The norm of all tensors together, on the first tensor's device. norm_type may be any number or
/// infinity; for norm_type 0, the result is the number of tensors that are not zero.
HEARTH_API Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type = 2.0,
                                 bool error_if_nonfinite = false);
/// The norm of the parameters' gradients. For parameters that fully_shard has divided, it is the
/// norm over all ranks; all ranks must call it, with a norm_type above 0.
HEARTH_API Tensor norm_of_gradients(const std::vector<Tensor>& parameters, double norm_type = 2.0);
/// Scales the gradients by min(1, max_norm / (total_norm + 1e-6)).
HEARTH_API void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                      const Tensor& total_norm);

/// Clamps each element of the gradients to [-clip_value, clip_value].
HEARTH_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
inline void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}
inline void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{parameter}, clip_value);
}

/// Concatenates all parameters to one vector.
HEARTH_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Makes the parameters consecutive views of the vector.
HEARTH_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace hearth::nn::utils

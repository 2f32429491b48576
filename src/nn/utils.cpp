#include "hearth/nn/utils.h"

#include <cmath>
#include <unordered_set>

#include "hearth/autograd.h"
#include "hearth/operators.h"

namespace hearth::nn::utils {

namespace {

/// The defined gradients, without duplicates if a parameter is listed twice.
std::vector<Tensor> gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> grads;
  std::unordered_set<const void*> known;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined() && known.insert(parameter.unsafeGetTensorImpl()).second)
      grads.push_back(parameter.grad());
  return grads;
}

/// The norm of all gradients together, on the first one's device.
Tensor total_norm(const std::vector<Tensor>& grads, double norm_type) {
  if (norm_type == 0) return full({}, static_cast<double>(grads.size()), grads[0].options());
  std::vector<Tensor> norms;
  for (const Tensor& grad : grads)
    norms.push_back(grad.norm(Scalar(norm_type)).to(grads[0].device()));
  return norms.size() == 1 ? norms[0] : stack(norms).norm(Scalar(norm_type));
}

void check_one_device(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters)
    HEARTH_CHECK(parameter.device() == parameters[0].device(),
                 "Found two parameters on different devices, this is currently not supported.");
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty()) return 0;
  const Tensor norm = total_norm(grads, norm_type);
  if (error_if_nonfinite)
    HEARTH_CHECK(std::isfinite(norm.item().toDouble()), "The total norm of order ", norm_type,
                 " for gradients from `parameters` is non-finite, so it cannot be clipped. To "
                 "disable this error and scale the gradients with the non-finite norm anyway, set "
                 "`error_if_nonfinite=false`");
  const Tensor factor = (max_norm / (norm + 1e-6)).clamp_max(1.0);
  for (const Tensor& grad : grads) grad.mul_(factor.to(grad.device()));
  return norm.item().toDouble();
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& grad : gradients(parameters)) grad.clamp_(-clip_value, clip_value);
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.view(-1));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  int64_t begin = 0;
  for (const Tensor& parameter : parameters) {
    const int64_t end = begin + parameter.numel();
    parameter.set_data(vec.slice(0, begin, end).view_as(parameter).data());
    begin = end;
  }
}

}  // namespace hearth::nn::utils

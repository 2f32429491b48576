// Clipping of gradients. The norm of all gradients of a device and dtype is one call (except of
// order 0), and so is their scaling; clip_grad_value_ clamps them one by one.

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "hearth/autograd.h"
#include "hearth/nn/utils.h"
#include "hearth/operators.h"
#include "hearth/shards.h"

namespace hearth::nn::utils {

namespace {

/// Returns the defined gradients, without duplicates if a parameter is listed twice.
std::vector<Tensor> gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> grads;
  grads.reserve(parameters.size());
  std::unordered_set<const void*> seen;
  for (const Tensor& parameter : parameters) {
    const Tensor& grad = parameter.mutable_grad();
    if (grad.defined() && seen.insert(parameter.unsafeGetTensorImpl()).second)
      grads.push_back(grad);
  }
  return grads;
}

/// Returns the tensors in groups of one device and dtype.
std::vector<std::vector<Tensor>> grouped(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<Tensor>> groups;
  for (const Tensor& tensor : tensors) {
    const auto matches = [&tensor](const std::vector<Tensor>& group) {
      return group[0].device() == tensor.device() && group[0].scalar_type() == tensor.scalar_type();
    };
    auto group = std::find_if(groups.begin(), groups.end(), matches);
    if (group == groups.end()) group = groups.insert(groups.end(), std::vector<Tensor>());
    group->push_back(tensor);
  }
  return groups;
}

/// Returns the norm of norms, on the device of the first norm.
Tensor norm_of_norms(const std::vector<Tensor>& norms, double norm_type) {
  if (norms.size() == 1) return norms[0];
  std::vector<Tensor> moved;
  for (const Tensor& norm : norms) moved.push_back(norm.to(norms[0].device()));
  return stack(moved).norm(Scalar(norm_type));
}

void check_finite(double norm, double norm_type) {
  HEARTH_CHECK(std::isfinite(norm), "The total norm of order ", norm_type,
               " for gradients from `parameters` is non-finite, so it cannot be clipped. To "
               "disable this error and scale the gradients with the non-finite norm anyway, set "
               "`error_if_nonfinite=false`");
}

/// Returns the norm of the gradients of sharded parameters, over all ranks.
Tensor norm_over_ranks(const std::vector<Tensor>& parameters, double norm_type, ShardRanks& ranks) {
  HEARTH_CHECK_AS(ValueError, norm_type > 0,
                  "norm_type must be above 0 for parameters that fully_shard has "
                  "divided, but it is ",
                  norm_type);
  std::vector<Tensor> parts;
  for (const Tensor& grad : gradients(parameters))
    if (grad.numel() > 0) parts.push_back(grad);
  const Tensor own = get_total_norm(parts, norm_type)
                         .to(parameters[0].options().dtype(kDouble).requires_grad(false));
  if (std::isinf(norm_type)) {
    ranks.max(own);
    return own;
  }
  const Tensor sum = own.pow(norm_type);
  ranks.sum(sum);
  return sum.pow(1 / norm_type);
}

void scale(const std::vector<Tensor>& grads, double max_norm, const Tensor& total_norm) {
  for (const std::vector<Tensor>& group : grouped(grads)) {
    const bool is_reachable = total_norm.is_cpu() || total_norm.device() == group[0].device();
    _fused_clip_(group, is_reachable ? total_norm : total_norm.to(group[0].device()), max_norm);
  }
}

}  // namespace

Tensor norm_of_gradients(const std::vector<Tensor>& parameters, double norm_type) {
  const NoGradGuard no_grad;
  const std::vector<ShardRanksPtr> all_ranks = shard_ranks_of(parameters);
  if (all_ranks.empty()) return get_total_norm(gradients(parameters), norm_type);
  std::vector<Tensor> whole, norms;
  std::vector<std::vector<Tensor>> divided(all_ranks.size());
  for (const Tensor& parameter : parameters) {
    const auto ranks = std::find(all_ranks.begin(), all_ranks.end(), shard_ranks_of(parameter));
    const bool is_whole = ranks == all_ranks.end();
    (is_whole ? whole : divided[size_t(ranks - all_ranks.begin())]).push_back(parameter);
  }
  for (size_t i = 0; i < all_ranks.size(); ++i)
    norms.push_back(norm_over_ranks(divided[i], norm_type, *all_ranks[i]));
  if (!whole.empty()) norms.push_back(get_total_norm(gradients(whole), norm_type).to(kDouble));
  return norm_of_norms(norms, norm_type);
}

Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type,
                      bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  if (tensors.empty()) return zeros({});
  std::vector<Tensor> norms;
  // The total norm of order 0 is the number of tensors that are not all 0.
  if (norm_type == 0)
    for (const Tensor& tensor : tensors) norms.push_back(tensor.norm(0).ne(0).to(tensor.options()));
  else
    for (const std::vector<Tensor>& group : grouped(tensors))
      norms.push_back(_fused_total_norm(group, norm_type));
  const Tensor norm = norm_of_norms(norms, norm_type);
  if (error_if_nonfinite) check_finite(norm.item().toDouble(), norm_type);
  return norm;
}

void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                           const Tensor& total_norm) {
  const NoGradGuard no_grad;
  scale(gradients(parameters), max_norm, total_norm);
}

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty() && shard_ranks_of(parameters).empty()) return 0;
  // As in LibTorch, the norm of order 0 is the number of gradients.
  const Tensor norm = norm_type == 0 ? full({}, static_cast<double>(grads.size()))
                                     : norm_of_gradients(parameters, norm_type);
  if (error_if_nonfinite) check_finite(norm.item().toDouble(), norm_type);
  scale(grads, max_norm, norm);
  return norm.item().toDouble();
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& grad : gradients(parameters)) grad.clamp_(-clip_value, clip_value);
}

}  // namespace hearth::nn::utils

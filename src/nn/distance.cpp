#include "hearth/nn/distance.h"

#include <ostream>

#include "hearth/operators.h"

namespace hearth::nn {

using hearth::detail::str;

namespace functional {

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                         const CosineSimilarityFuncOptions& options) {
  return hearth::cosine_similarity(x1, x2, options.dim(), options.eps());
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                         const PairwiseDistanceFuncOptions& options) {
  return hearth::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

Tensor pdist(const Tensor& input, double p) { return hearth::pdist(input, p); }

}  // namespace functional

namespace F = functional;

Tensor CosineSimilarityImpl::forward(const Tensor& x1, const Tensor& x2) {
  return run_module(
      *this,
      [this](const Tensor& a, const Tensor& b) { return F::cosine_similarity(a, b, options); }, x1,
      x2);
}

void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  stream << str("CosineSimilarity(dim=", options.dim(), ", eps=", options.eps(), ")");
}

Tensor PairwiseDistanceImpl::forward(const Tensor& x1, const Tensor& x2) {
  return run_module(
      *this,
      [this](const Tensor& a, const Tensor& b) { return F::pairwise_distance(a, b, options); }, x1,
      x2);
}

void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  stream << str("PairwiseDistance(p=", options.p(), ", eps=", options.eps(),
                ", keepdim=", options.keepdim(), ")");
}

}  // namespace hearth::nn

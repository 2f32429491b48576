#pragma once

#include <cstdint>

#include "hearth/nn/stateless.h"

// Distances and similarities of vectors.
namespace hearth::nn {

/// Options of CosineSimilarity.
struct HEARTH_API CosineSimilarityOptions {
  HEARTH_ARG(int64_t, dim) = 1;    ///< the dimension of the vectors
  HEARTH_ARG(double, eps) = 1e-8;  ///< lower limit of each of the two norms
};
/// Options of PairwiseDistance.
struct HEARTH_API PairwiseDistanceOptions {
  HEARTH_ARG(double, p) = 2.0;        ///< the p of the p-norm
  HEARTH_ARG(double, eps) = 1e-6;     ///< added to each difference
  HEARTH_ARG(bool, keepdim) = false;  ///< whether the last dimension stays, with size 1
};

/// x1 · x2 / (max(|x1|, eps) * max(|x2|, eps)) of the vectors along dim.
class HEARTH_API CosineSimilarityImpl
    : public detail::Stateless<CosineSimilarityImpl, CosineSimilarityOptions> {
 public:
  using detail::Stateless<CosineSimilarityImpl, CosineSimilarityOptions>::Stateless;
  Tensor forward(const Tensor& x1, const Tensor& x2);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(CosineSimilarity);

/// |x1 - x2 + eps|_p of the vectors in the last dimension.
class HEARTH_API PairwiseDistanceImpl
    : public detail::Stateless<PairwiseDistanceImpl, PairwiseDistanceOptions> {
 public:
  using detail::Stateless<PairwiseDistanceImpl, PairwiseDistanceOptions>::Stateless;
  Tensor forward(const Tensor& x1, const Tensor& x2);
  void pretty_print(std::ostream& stream) const override;
};
HEARTH_MODULE(PairwiseDistance);

namespace functional {
using CosineSimilarityFuncOptions = CosineSimilarityOptions;  ///< options of cosine_similarity
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;  ///< options of pairwise_distance
/// As CosineSimilarity.
HEARTH_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                                    const CosineSimilarityFuncOptions& options = {});
/// As PairwiseDistance.
HEARTH_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                                    const PairwiseDistanceFuncOptions& options = {});
/// |input[i] - input[j]|_p for each pair of rows i < j.
HEARTH_API Tensor pdist(const Tensor& input, double p = 2.0);
}  // namespace functional

}  // namespace hearth::nn

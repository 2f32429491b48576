#pragma once

#include <cstdint>

#include "hearth/nn/stateless.h"

namespace hearth::nn {

/// Options of CosineSimilarity.
struct HEARTH_API CosineSimilarityOptions {
  HEARTH_ARG(int64_t, dim) = 1;    ///< the vectors' dimension
  HEARTH_ARG(double, eps) = 1e-8;  ///< the least norm
};
/// Options of PairwiseDistance.
struct HEARTH_API PairwiseDistanceOptions {
  HEARTH_ARG(double, p) = 2.0;        ///< the distance is a p-norm
  HEARTH_ARG(double, eps) = 1e-6;     ///< added to differences
  HEARTH_ARG(bool, keepdim) = false;  ///< whether the vectors' dimension stays, with size 1
};

/// Declares a function of two tensors as a module.
#define HEARTH_DISTANCE(Name)                                                         \
  class HEARTH_API Name##Impl : public detail::Stateless<Name##Impl, Name##Options> { \
   public:                                                                            \
    using detail::Stateless<Name##Impl, Name##Options>::Stateless;                    \
    Tensor forward(const Tensor& input1, const Tensor& input2);                       \
    void pretty_print(std::ostream& stream) const override;                           \
  };                                                                                  \
  HEARTH_MODULE(Name)

/// x1 · x2 / (max(|x1|, eps) max(|x2|, eps)).
HEARTH_DISTANCE(CosineSimilarity);
/// |x1 - x2 + eps|_p along the last dimension.
HEARTH_DISTANCE(PairwiseDistance);
#undef HEARTH_DISTANCE

namespace functional {

using CosineSimilarityFuncOptions = CosineSimilarityOptions;  ///< options of cosine_similarity
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;  ///< options of pairwise_distance

HEARTH_API Tensor
cosine_similarity(const Tensor& x1, const Tensor& x2,
                  const CosineSimilarityFuncOptions& options = {});  ///< as CosineSimilarity
HEARTH_API Tensor
pairwise_distance(const Tensor& x1, const Tensor& x2,
                  const PairwiseDistanceFuncOptions& options = {});  ///< as PairwiseDistance
/// The distances of the rows i < j of a matrix.
HEARTH_API Tensor pdist(const Tensor& input, double p = 2.0);

}  // namespace functional

}  // namespace hearth::nn

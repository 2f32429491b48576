#include "hearth/nn/distance.h"

#include <ostream>

#include "hearth/operators.h"

namespace hearth::nn {

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

#define HEARTH_FORWARD(Name, function)                                                            \
  Tensor Name##Impl::forward(const Tensor& input1, const Tensor& input2) {                        \
    return run_module(                                                                            \
        *this,                                                                                    \
        [this](const Tensor& x, const Tensor& y) { return functional::function(x, y, options); }, \
        input1, input2);                                                                          \
  }
HEARTH_FORWARD(CosineSimilarity, cosine_similarity)
HEARTH_FORWARD(PairwiseDistance, pairwise_distance)
#undef HEARTH_FORWARD

void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  stream << "CosineSimilarity(dim=" << options.dim() << ", eps=" << options.eps() << ")";
}
void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  stream << "PairwiseDistance(p=" << options.p() << ", eps=" << options.eps()
         << ", keepdim=" << (options.keepdim() ? "true" : "false") << ")";
}

}  // namespace hearth::nn

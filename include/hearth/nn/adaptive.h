#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/linear.h"
#include "hearth/nn/module_list.h"

namespace hearth::nn {

/// The result of AdaptiveLogSoftmaxWithLoss.
struct HEARTH_API ASMoutput {
  ASMoutput(Tensor output_, double loss_);
  Tensor output;  ///< the log-probabilities of the targets
  double loss;    ///< the mean of -output
};

/// Options of AdaptiveLogSoftmaxWithLoss.
struct HEARTH_API AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes,
                                    std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  HEARTH_ARG(int64_t, in_features);           ///< columns of the input
  HEARTH_ARG(int64_t, n_classes);             ///< classes, frequent ones first
  HEARTH_ARG(std::vector<int64_t>, cutoffs);  ///< the first class of each cluster
  HEARTH_ARG(double, div_value) = 4.;         ///< divides the features for each further cluster
  HEARTH_ARG(bool, head_bias) = false;        ///< whether the head has a bias
};

/// log_softmax over many classes: the head has scores of the frequent classes and of clusters of
/// rarer classes; each cluster has projections of its own (Grave et al.).
class HEARTH_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes,
                                 std::vector<int64_t> cutoffs);
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_);
  /// `input` is [N, in_features] or [in_features], `target` has the classes, [N] or [].
  ASMoutput forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;
  /// The log-probabilities of all classes from the head's scores.
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);
  Tensor log_prob(const Tensor& input);  ///< the log-probabilities of all classes
  Tensor predict(const Tensor& input);   ///< the most probable class

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;  ///< options.cutoffs() and n_classes
  int64_t shortlist_size = 0;    ///< classes with scores in the head
  int64_t n_clusters = 0;        ///< clusters of the other classes
  int64_t head_size = 0;         ///< shortlist_size + n_clusters
  Linear head = nullptr;
  ModuleList tail;  ///< a Sequential of two Linear for each cluster

 private:
  ASMoutput loss_of(const Tensor& input, const Tensor& target);
  Tensor in_cluster(size_t cluster, const Tensor& input);
};
HEARTH_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace hearth::nn

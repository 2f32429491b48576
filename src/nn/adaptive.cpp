#include "hearth/nn/adaptive.h"

#include <cmath>
#include <ostream>

#include "hearth/nn/sequential.h"
#include "hearth/operators.h"

namespace hearth::nn {

namespace {

/// Throws unless the cutoffs increase, from at least 1 to less than the number of classes.
void check_cutoffs(const std::vector<int64_t>& cutoffs, int64_t n_classes) {
  HEARTH_CHECK(!cutoffs.empty(), "cutoffs should be a sequence of length larger than 0");
  int64_t previous = 0;
  bool is_valid = true;
  for (const int64_t cutoff : cutoffs) {
    is_valid &= cutoff > previous && cutoff < n_classes;
    previous = cutoff;
  }
  HEARTH_CHECK(is_valid,
               "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
               "order, where each value is between 1 and n_classes-1");
}

void check_sizes(const Tensor& input, const Tensor& target) {
  HEARTH_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  HEARTH_CHECK(target.dim() == 0 || (input.dim() > 0 && input.size(0) == target.size(0)),
               "Input and target should have the same size in the batch dimension.");
  HEARTH_CHECK(input.dim() == target.dim() + 1, target.dim(), "D target tensor expects ",
               target.dim() + 1, "D input tensors, but found inputs with size ", input.sizes());
}

void check_range(const Tensor& target, int64_t n_classes) {
  if (target.numel() == 0) return;
  const int64_t min_target = target.min().item<int64_t>(),
                max_target = target.max().item<int64_t>();
  HEARTH_CHECK(min_target >= 0 && max_target < n_classes, "Target values should be in [0, ",
               n_classes - 1, "], but values in range [", min_target, ", ", max_target,
               "] were found. ");
}

}  // namespace

ASMoutput::ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(int64_t in_features,
                                                               int64_t n_classes,
                                                               std::vector<int64_t> cutoffs_)
    : AdaptiveLogSoftmaxWithLossImpl(
          AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs_))) {}
AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(
    AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  check_cutoffs(options.cutoffs(), options.n_classes());
  cutoffs = options.cutoffs();
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = int64_t(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  const int64_t features = options.in_features();
  head =
      register_module("head", Linear(LinearOptions(features, head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const auto hidden = int64_t(double(features) / std::pow(options.div_value(), double(i + 1)));
    const int64_t classes = cutoffs[i + 1] - cutoffs[i];
    Linear inner(LinearOptions(features, hidden).bias(false));  // its weights are drawn first
    tail->push_back(Sequential(inner, Linear(LinearOptions(hidden, classes).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (size_t i = 0; i < tail->size(); ++i)
    for (const auto& layer : tail->at<SequentialImpl>(i).children())
      layer->as<Linear>()->reset_parameters();
}

/// Returns the log-probabilities of a cluster's classes, given that the class is in the cluster.
Tensor AdaptiveLogSoftmaxWithLossImpl::in_cluster(size_t cluster, const Tensor& input) {
  return tail->at<SequentialImpl>(cluster).forward(input).log_softmax(1);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  return run_module(*this, &AdaptiveLogSoftmaxWithLossImpl::loss_of, input, target);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::loss_of(const Tensor& input, const Tensor& target) {
  check_sizes(input, target);
  check_range(target, options.n_classes());
  const bool is_batched = target.dim() == 1;
  const Tensor x = is_batched ? input : input.unsqueeze(0);
  const Tensor y = is_batched ? target : target.unsqueeze(0);
  const Tensor head_target = y.clone();
  Tensor output = zeros({y.size(0)}, x.options());
  for (size_t i = 0; i < size_t(n_clusters); ++i) {
    const Tensor rows = y.ge(cutoffs[i]).logical_and(y.lt(cutoffs[i + 1])).nonzero().flatten();
    if (rows.numel() == 0) continue;
    head_target.index_fill_(0, rows, shortlist_size + int64_t(i));
    const Tensor cluster_target = y.index_select(0, rows).sub(cutoffs[i]).unsqueeze(1);
    const Tensor log_probs = in_cluster(i, x.index_select(0, rows)).gather(1, cluster_target);
    output = output.index_add(0, rows, log_probs.squeeze(1));
  }
  output = output + head->forward(x).log_softmax(1).gather(1, head_target.unsqueeze(1)).squeeze(1);
  const double loss = output.neg().mean().item<double>();
  return {is_batched ? output : output.squeeze(0), loss};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input,
                                                          const Tensor& head_output) {
  const Tensor head_log_probs = head_output.log_softmax(1);
  std::vector<Tensor> parts{head_log_probs.slice(1, 0, shortlist_size)};
  for (size_t i = 0; i < size_t(n_clusters); ++i)
    parts.push_back(in_cluster(i, input) +
                    head_log_probs.select(1, shortlist_size + int64_t(i)).unsqueeze(1));
  return cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  return _get_full_log_prob(input, head->forward(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  const Tensor scores = head->forward(input), output = scores.argmax(1);
  const Tensor rows = output.ge(shortlist_size).nonzero().flatten();
  if (rows.numel() == 0) return output;
  const Tensor log_probs =
      _get_full_log_prob(input.index_select(0, rows), scores.index_select(0, rows));
  return output.index_copy(0, rows, log_probs.argmax(1));
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << "AdaptiveLogSoftmaxWithLoss";
}

}  // namespace hearth::nn

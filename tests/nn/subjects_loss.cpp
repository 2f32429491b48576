// Creates the modules of tests/oracle/nn_cases_loss.py.
#include "hearth/operators.h"
#include "tests/nn/cases.h"

namespace hearth::testing {

namespace {

using namespace hearth::nn;

Tensor margin_weights() { return values_of(6) + 1.5; }

Table margins() {
  return {
      {"hinge_embedding",
       plain(+[] { return HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(0.7)); })},
      {"margin_ranking", plain(+[] {
         return MarginRankingLoss(MarginRankingLossOptions().margin(0.3).reduction(kSum));
       })},
      {"cosine_embedding",
       plain(+[] { return CosineEmbeddingLoss(CosineEmbeddingLossOptions().margin(0.1)); })},
      {"multi_margin", plain(+[] { return MultiMarginLoss(); })},
      {"multi_margin_options", plain(+[] {
         return MultiMarginLoss(
             MultiMarginLossOptions().p(2).margin(0.4).weight(margin_weights()).reduction(kNone));
       })},
      {"multilabel_margin", plain(+[] { return MultiLabelMarginLoss(); })},
      {"soft_margin", plain(+[] { return SoftMarginLoss(kMean); })},
      {"multilabel_soft_margin", plain(+[] {
         return MultiLabelSoftMarginLoss(
             MultiLabelSoftMarginLossOptions().weight(margin_weights()));
       })},
      {"triplet_margin", plain(+[] { return TripletMarginLoss(); })},
      {"triplet_margin_options", plain(+[] {
         return TripletMarginLoss(
             TripletMarginLossOptions().margin(0.5).p(1).eps(1e-3).swap(true).reduction(kNone));
       })},
      {"triplet_margin_with_distance", plain(+[] {
         return TripletMarginWithDistanceLoss(
             TripletMarginWithDistanceLossOptions()
                 .distance_function([](const Tensor& a, const Tensor& b) {
                   return 1 - nn::functional::cosine_similarity(a, b);
                 })
                 .margin(0.6)
                 .swap(true));
       })},
      {"triplet_margin_with_default_distance",
       plain(+[] { return TripletMarginWithDistanceLoss(); })}};
}

Table likelihoods() {
  return {{"huber", plain(+[] { return HuberLoss(HuberLossOptions().delta(0.3)); })},
          {"kl_div", plain(+[] { return KLDivLoss(kBatchMean); })},
          {"kl_div_log",
           plain(+[] { return KLDivLoss(KLDivLossOptions().reduction(kNone).log_target(true)); })},
          {"poisson_nll", plain(+[] { return PoissonNLLLoss(); })},
          {"poisson_nll_full", plain(+[] {
             return PoissonNLLLoss(PoissonNLLLossOptions().log_input(false).full(true).eps(1e-4));
           })},
          {"gaussian_nll", plain(+[] { return GaussianNLLLoss(); })},
          {"gaussian_nll_full", plain(+[] {
             return GaussianNLLLoss(GaussianNLLLossOptions().full(true).eps(0.5).reduction(kNone));
           })},
          {"ctc", plain(+[] { return CTCLoss(); })},
          {"ctc_options", plain(+[] {
             return CTCLoss(CTCLossOptions().blank(1).reduction(kSum).zero_infinity(true));
           })}};
}

Subject adaptive_softmax() {
  AdaptiveLogSoftmaxWithLoss module(
      AdaptiveLogSoftmaxWithLossOptions(8, 10, {4, 6}).div_value(2).head_bias(true));
  return {module.ptr(), [module](const Tensors& in) mutable -> Tensors {
            const auto result = module(in[0], in[1]);
            return {result.output, full({}, result.loss), module->log_prob(in[0]),
                    module->predict(in[0])};
          }};
}

Table bags() {
  return {{"embedding_bag", plain(+[] { return EmbeddingBag(5, 3); })},
          {"embedding_bag_rows", plain(+[] { return EmbeddingBag(5, 3); })},
          {"embedding_bag_sum", plain(+[] {
             return EmbeddingBag(
                 EmbeddingBagOptions(5, 3).max_norm(1.0).norm_type(1).mode(kSum).padding_idx(1));
           })},
          {"embedding_bag_max", plain(+[] {
             return EmbeddingBag(
                 EmbeddingBagOptions(5, 3).mode(kMax).include_last_offset(true).padding_idx(-1));
           })},
          {"embedding_bag_by_freq",
           plain(+[] { return EmbeddingBag(EmbeddingBagOptions(5, 3).scale_grad_by_freq(true)); })},
          {"adaptive_log_softmax", adaptive_softmax}};
}

}  // namespace

Table loss_subjects() {
  Table table = margins();
  table.merge(likelihoods());
  table.merge(bags());
  return table;
}

}  // namespace hearth::testing

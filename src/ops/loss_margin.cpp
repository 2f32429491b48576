// Losses with a margin, and poisson_nll_loss.
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "ops/define.h"
#include "ops/losses.h"

namespace hearth {

namespace {

/// max(t, 0), whose gradient at 0 is 0.
Tensor positive_part(const Tensor& t) { return t.clamp_min(0); }

/// The arguments of the losses with a margin.
struct MarginArgs {
  double margin;
  int64_t reduction;
  HEARTH_FIELDS(margin, reduction)
};

struct HingeEmbeddingLoss {
  using Args = MarginArgs;
  static constexpr OpInfo info{.name = "hinge_embedding_loss", .amp = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& target) {
    const Tensor dissimilar = positive_part(args.margin - self);
    return reduced(only_where(target.ne(1), dissimilar) + only_where(target.ne(-1), self),
                   args.reduction);
  }
};

struct MarginRankingLoss {
  using Args = MarginArgs;
  static constexpr OpInfo info{.name = "margin_ranking_loss", .amp = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& input1, const Tensor& input2,
                        const Tensor& target) {
    return reduced(positive_part(target.neg() * (input1 - input2) + args.margin), args.reduction);
  }
};

struct CosineEmbeddingLoss {
  using Args = MarginArgs;
  static constexpr OpInfo info{.name = "cosine_embedding_loss", .amp = Amp::kFloat32};
  static void check(const Tensor& input1, const Tensor& input2, const Tensor& target) {
    HEARTH_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    const int64_t dims = target.dim() + 1;
    HEARTH_CHECK(input1.dim() == dims && input2.dim() == dims, target.dim(),
                 "D target tensor expects ", dims, "D input tensors, but found inputs with sizes ",
                 input1.sizes(), " and ", input2.sizes(), ".");
  }
  static Tensor compute(const Args& args, const Tensor& input1, const Tensor& input2,
                        const Tensor& target) {
    check(input1, input2, target);
    constexpr double kEpsilon = 1e-12;
    const int64_t dim = target.dim();
    const auto square = [&](const Tensor& t) { return t.mul(t).sum(dim) + kEpsilon; };
    const Tensor cosine = input1.mul(input2).sum(dim).div((square(input1) * square(input2)).sqrt());
    return reduced(only_where(target.eq(1), 1 - cosine) +
                       only_where(target.eq(-1), positive_part(cosine - args.margin)),
                   args.reduction);
  }
};

struct TripletMarginLoss {
  struct Args {
    double margin, p, eps;
    bool swap;
    int64_t reduction;
    HEARTH_FIELDS(margin, p, eps, swap, reduction)
  };
  static constexpr OpInfo info{
      .name = "triplet_margin_loss", .arguments = "anchor,positive,negative", .amp = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& anchor, const Tensor& positive,
                        const Tensor& negative) {
    HEARTH_CHECK(anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
                 "The anchor, positive, and negative tensors are expected to have the same number "
                 "of dimensions, but got: anchor ",
                 anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(),
                 "D inputs");
    const auto distance = [&](const Tensor& a, const Tensor& b) {
      return pairwise_distance(a, b, args.p, args.eps);
    };
    Tensor negative_distance = distance(anchor, negative);
    if (args.swap) negative_distance = negative_distance.minimum(distance(positive, negative));
    return reduced(positive_part(distance(anchor, positive) - negative_distance + args.margin),
                   args.reduction);
  }
};

struct PoissonNllLoss {
  struct Args {
    bool log_input, full;
    double eps;
    int64_t reduction;
    HEARTH_FIELDS(log_input, full, eps, reduction)
  };
  static constexpr OpInfo info{.name = "poisson_nll_loss", .amp = Amp::kFloat32};
  static Tensor compute(const Args& args, const Tensor& input, const Tensor& target) {
    const Tensor loss =
        args.log_input ? input.exp() - target * input : input - target * (input + args.eps).log();
    return reduced(args.full ? (loss + stirling(target)).to(loss.scalar_type()) : loss,
                   args.reduction);
  }
  /// Stirling's approximation of log(target!), for targets above 1.
  static Tensor stirling(const Tensor& target) {
    const Tensor log = target.log();
    constexpr double kLog2Pi = 1.83787706640934548356;
    return only_where(target.gt(1), target * log - target + (log + kLog2Pi) * 0.5);
  }
};

}  // namespace

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin,
                            int64_t reduction) {
  return compose<HingeEmbeddingLoss>({margin, reduction}, self, target);
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, int64_t reduction) {
  return compose<MarginRankingLoss>({margin, reduction}, input1, input2, target);
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, int64_t reduction) {
  return compose<CosineEmbeddingLoss>({margin, reduction}, input1, input2, target);
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, int64_t reduction) {
  return compose<TripletMarginLoss>({margin, p, eps, swap, reduction}, anchor, positive, negative);
}
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, int64_t reduction) {
  return compose<PoissonNllLoss>({log_input, full, eps, reduction}, input, target);
}

}  // namespace hearth

"""PyTorch's calls for the rows of losses (calls.py has all)."""

import torch
import torch.nn.functional as F

from widened import widened


def losses(function, **arguments):
    """The results of a loss for each reduction."""
    def call(*inputs):
        return [function(*inputs, reduction=r, **arguments) for r in ("none", "mean", "sum")]

    return call


def nll_loss(x, target, weight):
    return losses(F.nll_loss, weight=weight, ignore_index=1)(x, target)


def cross_entropy(smoothing):
    def call(x, target, weight):
        return F.cross_entropy(x, target, weight, reduction="sum", label_smoothing=smoothing)

    return call


def entropy(x, target, weight):
    return losses(F.binary_cross_entropy, weight=weight)(0.45 * x, 0.45 * target)


def weighted_logit_entropy(x, target, weight, pos_weight):
    # PyTorch's loss has no derivatives with respect to the weights.
    likelihood = pos_weight * target * F.logsigmoid(x) + (1 - target) * F.logsigmoid(-x)
    loss = -weight * likelihood
    return loss, loss.mean(), loss.sum()


def cosine_embedding(a, b):
    return F.cosine_embedding_loss(a, b, torch.ones(len(a)), reduction="none")


def hinge_embedding(x):
    return F.hinge_embedding_loss(x, -torch.ones(len(x), dtype=torch.long), reduction="none")


def ctc(targets, input_lengths, target_lengths, blank=0):
    """The losses for the log_softmax of the scores."""
    def call(scores):
        return losses(F.ctc_loss, input_lengths=input_lengths, target_lengths=target_lengths, blank=blank)(
            scores.log_softmax(2), torch.tensor(targets))

    return call


def multi_margin_squared(x, target, weight):
    return losses(F.multi_margin_loss, p=2, margin=0.4, weight=weight)(x, target)


CALLS = {
    "nll_loss": nll_loss,
    "cross_entropy": cross_entropy(0),
    "cross_entropy_smoothed": cross_entropy(0.2),
    "cross_entropy_probabilities": cross_entropy(0.1),
    "mse_loss": losses(F.mse_loss),
    "l1_loss": losses(F.l1_loss),
    "smooth_l1_loss": losses(F.smooth_l1_loss, beta=0.7),
    "huber_loss": losses(F.huber_loss, delta=0.6),
    "binary_cross_entropy": entropy,
    "binary_cross_entropy_with_logits": losses(F.binary_cross_entropy_with_logits),
    "binary_cross_entropy_with_logits_weighted": widened(weighted_logit_entropy),
    "kl_div": losses(F.kl_div),
    "kl_div_log_target": losses(F.kl_div, log_target=True),
    "cosine_embedding_loss": cosine_embedding,
    "hinge_embedding_loss": hinge_embedding,
    "margin_ranking_loss": lambda a, b, t: F.margin_ranking_loss(a, b, t, 0.5, reduction="none"),
    "triplet_margin_loss": lambda a, p, n: F.triplet_margin_loss(a, p, n, swap=True, reduction="none"),
    "poisson_nll_loss": lambda x, t: F.poisson_nll_loss(x, t, full=True, reduction="none"),
    "soft_margin_loss": losses(F.soft_margin_loss),
    "multi_margin_loss": widened(losses(F.multi_margin_loss)),
    "multi_margin_loss_squared": widened(multi_margin_squared),
    "multilabel_margin_loss": widened(lambda x, t: losses(F.multilabel_margin_loss)(x, t - 1)),
    "ctc_loss_joined": ctc([1, 2, 1, 1], (5, 4, 3), (2, 2, 0)),
    "ctc_loss_padded": ctc([[1, 2, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], (5, 4, 3), (2, 2, 0)),
    "ctc_loss_other_blank": ctc([0, 1, 0, 1], (5, 1), (3, 1), 2),
}
# The positions of the floating-point inputs without gradients, by row.
CONSTANT = {
    "binary_cross_entropy": (2,),
    "nll_loss": (2,),
    "cross_entropy": (2,),
    "cross_entropy_smoothed": (2,),
    "cross_entropy_probabilities": (2,),
    "margin_ranking_loss": (2,),
    "soft_margin_loss": (1,),
    "multi_margin_loss_squared": (2,),
}

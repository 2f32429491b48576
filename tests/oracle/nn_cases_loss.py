"""Cases of nn_cases.py: more losses, EmbeddingBag and AdaptiveLogSoftmaxWithLoss."""

import torch
from torch import nn

from nn_values import plain, values_of


def margin_cases(x, other, third):
    signs = torch.tensor([1.0, -1, 1, -1])
    labels = torch.tensor([[3, 0, -1, 1, 1, 1], [2, -1, 0, 0, 0, 0], [-1] * 6, [5, 4, 3, 2, 1, 0]])
    classes = torch.tensor([1, 0, 5, 3])
    weight = values_of(6) + 1.5
    yield ("hinge_embedding", lambda: nn.HingeEmbeddingLoss(margin=0.7),
           [x, signs.unsqueeze(1).expand(4, 6).contiguous()], plain)
    yield ("margin_ranking", lambda: nn.MarginRankingLoss(margin=0.3, reduction="sum"),
           [x, other, signs.unsqueeze(1).expand(4, 6).contiguous()], plain)
    yield ("cosine_embedding", lambda: nn.CosineEmbeddingLoss(margin=0.1), [x, other, signs], plain)
    yield "multi_margin", nn.MultiMarginLoss, [x, classes], plain
    yield ("multi_margin_options",
           lambda: nn.MultiMarginLoss(p=2, margin=0.4, weight=weight, reduction="none"),
           [x, classes], plain)
    yield "multilabel_margin", nn.MultiLabelMarginLoss, [x, labels], plain
    yield "soft_margin", nn.SoftMarginLoss, [x, signs.unsqueeze(1).expand(4, 6).contiguous()], plain
    yield ("multilabel_soft_margin", lambda: nn.MultiLabelSoftMarginLoss(weight=weight),
           [x, (other > 0).float()], plain)
    yield "triplet_margin", nn.TripletMarginLoss, [x, other, third], plain
    yield ("triplet_margin_options",
           lambda: nn.TripletMarginLoss(margin=0.5, p=1, eps=1e-3, swap=True, reduction="none"),
           [x, other, third], plain)
    yield ("triplet_margin_with_distance",
           lambda: nn.TripletMarginWithDistanceLoss(
               distance_function=lambda a, b: 1 - nn.functional.cosine_similarity(a, b), margin=0.6,
               swap=True), [x, other, third], plain)
    yield ("triplet_margin_with_default_distance", nn.TripletMarginWithDistanceLoss,
           [x, other, third], plain)


def likelihood_cases(x, other):
    rates = (other * 2).exp()
    lengths = torch.tensor([5, 4]), torch.tensor([2, 3])
    targets = torch.tensor([[1, 2, 0], [3, 3, 2]])
    yield "huber", lambda: nn.HuberLoss(delta=0.3), [x, other], plain
    yield ("kl_div", lambda: nn.KLDivLoss(reduction="batchmean"),
           [x.log_softmax(1), other.softmax(1)], plain)
    yield ("kl_div_log", lambda: nn.KLDivLoss(reduction="none", log_target=True),
           [x.log_softmax(1), other.log_softmax(1)], plain)
    yield "poisson_nll", nn.PoissonNLLLoss, [x, rates], plain
    yield ("poisson_nll_full", lambda: nn.PoissonNLLLoss(log_input=False, full=True, eps=1e-4),
           [x.exp(), rates], plain)
    yield "gaussian_nll", nn.GaussianNLLLoss, [x, other, rates], plain
    yield ("gaussian_nll_full", lambda: nn.GaussianNLLLoss(full=True, eps=0.5, reduction="none"),
           [x, other, rates[:, 0]], plain)
    yield ("ctc", nn.CTCLoss, [values_of(5, 2, 4).log_softmax(2), targets, *lengths], plain)
    yield ("ctc_options", lambda: nn.CTCLoss(blank=1, reduction="sum", zero_infinity=True),
           [values_of(5, 2, 4).log_softmax(2), torch.tensor([2, 0, 3, 3, 2]), lengths[0] - 2,
            lengths[1]], plain)


def bag_cases():
    flat, offsets = torch.tensor([1, 2, 4, 1, 0, 3]), torch.tensor([0, 2, 2, 5])
    yield "embedding_bag", lambda: nn.EmbeddingBag(5, 3), [flat, offsets], plain
    yield "embedding_bag_rows", lambda: nn.EmbeddingBag(5, 3), [flat.reshape(2, 3)], plain
    yield ("embedding_bag_sum",
           lambda: nn.EmbeddingBag(5, 3, max_norm=1.0, norm_type=1.0, mode="sum", padding_idx=1),
           [flat, offsets, values_of(6)], plain)
    yield ("embedding_bag_max",
           lambda: nn.EmbeddingBag(5, 3, mode="max", include_last_offset=True, padding_idx=-1),
           [flat, torch.tensor([0, 2, 2, 6])], plain)
    yield ("embedding_bag_by_freq", lambda: nn.EmbeddingBag(5, 3, scale_grad_by_freq=True),
           [flat, offsets], plain)


def adaptive_cases():
    def all_of(m, x, y):
        output, loss = m(x, y)
        return output, loss.detach(), m.log_prob(x), m.predict(x)  # C++'s loss is a number

    def make():
        return nn.AdaptiveLogSoftmaxWithLoss(8, 10, [4, 6], div_value=2.0, head_bias=True)

    yield ("adaptive_log_softmax", make, [values_of(5, 8), torch.tensor([1, 9, 4, 7, 0])], all_of)


def cases():
    x = values_of(4, 6)
    other, third = (x * 5).sin(), (x * 3 + 1).cos()
    yield from margin_cases(x, other, third)
    yield from likelihood_cases(x, other)
    yield from bag_cases()
    yield from adaptive_cases()

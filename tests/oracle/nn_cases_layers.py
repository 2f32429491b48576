"""Cases of nn_cases.py: more activations, dropout and norms; padding, distances, shuffles, lazy
modules and parametrizations.
"""

import torch
from torch import nn
from torch.nn.utils import parametrizations

from nn_values import plain, twice, values_of


def activations():
    x, image = values_of(4, 6), values_of(2, 4, 4, 5)
    yield "relu6", nn.ReLU6, [x * 9], plain
    yield "selu", nn.SELU, [x], plain
    yield "celu", lambda: nn.CELU(0.5), [x], plain
    yield "glu", nn.GLU, [x], plain
    yield "glu_channels", lambda: nn.GLU(1), [image], plain
    yield "mish", nn.Mish, [x], plain
    yield "log_sigmoid", nn.LogSigmoid, [x], plain
    yield "softmin", lambda: nn.Softmin(1), [x], plain
    yield "softmax2d", nn.Softmax2d, [image], plain
    yield "softsign", nn.Softsign, [x], plain
    yield "tanhshrink", nn.Tanhshrink, [x], plain
    yield "threshold", lambda: nn.Threshold(0.2, 3), [x], plain
    yield "hardtanh", lambda: nn.Hardtanh(-0.3, 0.6), [x], plain
    yield "hardshrink", lambda: nn.Hardshrink(0.4), [x], plain
    yield "softshrink", lambda: nn.Softshrink(0.4), [x], plain
    yield "hardsigmoid", nn.Hardsigmoid, [x * 5], plain
    yield "prelu", nn.PReLU, [x], plain
    yield "prelu_channels", lambda: nn.PReLU(4, 0.1), [image], plain
    yield "rrelu_dropout", lambda: nn.RReLU(0.1, 0.6), [x], twice


def dropouts():
    signal, image = values_of(3, 4, 2), values_of(2, 4, 4, 5)
    volume = values_of(2, 4, 2, 1, 2)
    yield "dropout1d", lambda: nn.Dropout1d(0.4), [signal], plain
    yield "dropout1d_unbatched", lambda: nn.Dropout1d(0.4), [values_of(6, 2)], plain
    yield "dropout3d", lambda: nn.Dropout3d(0.4), [volume], plain
    yield "dropout3d_unbatched", lambda: nn.Dropout3d(0.4), [values_of(6, 2, 1, 2)], plain
    yield "alpha_dropout", lambda: nn.AlphaDropout(0.3), [values_of(4, 6)], plain
    yield "feature_alpha_dropout", lambda: nn.FeatureAlphaDropout(0.3), [image], plain


def paddings():
    inputs = [values_of(2, 3, 5), values_of(1, 2, 3, 4),
              values_of(1, 2, 3, 2, 3)]
    widths = [(2, 1), (1, 2, 0, 1), (1, 0, 1, 1, 0, 1)]
    for kind in ("Reflection", "Replication", "Circular", "Zero", "Constant"):
        for d in (1, 2, 3):
            make, width = getattr(nn, f"{kind}Pad{d}d"), widths[d - 1]
            more = (1.5,) if kind == "Constant" else ()
            yield (f"{kind.lower()}_pad{d}d", lambda make=make, width=width, more=more:
                   make(width, *more), [inputs[d - 1]], plain)
    yield "zero_pad_negative", lambda: nn.ZeroPad2d((1, -1, -2, 0)), [inputs[1]], plain


def distances_and_shuffles():
    x = values_of(4, 6)
    yield "cosine_similarity", nn.CosineSimilarity, [x, x.sin().roll(1, 0)], plain
    yield ("cosine_similarity_dim", lambda: nn.CosineSimilarity(0, 1e-3), [x, x.sin().roll(1, 0)],
           plain)
    yield "pairwise_distance", nn.PairwiseDistance, [x, x.cos()], plain
    yield ("pairwise_distance_options", lambda: nn.PairwiseDistance(1.5, 1e-3, True), [x, x.cos()],
           plain)
    yield "pixel_shuffle", lambda: nn.PixelShuffle(2), [values_of(2, 8, 2, 3)], plain
    yield "pixel_unshuffle", lambda: nn.PixelUnshuffle(2), [values_of(2, 2, 4, 6)], plain
    yield "channel_shuffle", lambda: nn.ChannelShuffle(2), [values_of(2, 6, 2, 2)], plain


def norms():
    signal, image = values_of(2, 3, 5), values_of(2, 4, 4, 5)
    volume = values_of(2, 3, 2, 2, 3)
    yield "batch_norm3d", lambda: nn.BatchNorm3d(3), [volume], twice
    yield "instance_norm1d", lambda: nn.InstanceNorm1d(3), [signal], twice
    yield "instance_norm1d_unbatched", lambda: nn.InstanceNorm1d(3), [signal[0]], plain
    yield ("instance_norm2d", lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
           [image], twice)
    yield ("instance_norm3d", lambda: nn.InstanceNorm3d(3, eps=1e-3, momentum=0.3, affine=True,
                                                        track_running_stats=True), [volume], twice)
    yield "rms_norm", lambda: nn.RMSNorm([4, 5]), [image], plain
    yield ("rms_norm_plain", lambda: nn.RMSNorm(5, eps=1e-2, elementwise_affine=False), [image],
           plain)
    for name, value in (("signal", signal), ("image", image), ("volume", volume)):
        yield (f"local_response_norm_{name}",
               lambda: nn.LocalResponseNorm(2, alpha=0.3, beta=0.6, k=1.2), [value * 2], plain)
    yield "local_response_norm_wide", lambda: nn.LocalResponseNorm(9, alpha=0.5), [image * 2], plain
    for size in (3, 4, 9):
        yield (f"cross_map_lrn2d_{size}", lambda size=size: nn.CrossMapLRN2d(size, 0.4, 0.6, 2),
               [image * 2], lambda m, x: m(x.detach()))  # PyTorch's gradient does not match its values


def materialized(module, *sizes):
    """A lazy module, called once with zeros."""
    module(torch.zeros(sizes))
    return module


def lazies():
    x, signal, image = (values_of(*sizes) for sizes in ((4, 6), (2, 3, 5), (2, 4, 4, 5)))
    yield "lazy_linear", lambda: materialized(nn.LazyLinear(3), 1, 6), [x], plain
    yield ("lazy_conv1d", lambda: materialized(nn.LazyConv1d(2, 3, bias=False), 3, 5), [signal], plain)
    yield ("lazy_conv2d", lambda: materialized(nn.LazyConv2d(2, 3, padding=1, groups=2), 1, 4, 4, 4),
           [image], plain)
    yield ("lazy_conv_transpose2d", lambda: materialized(nn.LazyConvTranspose2d(2, 3, stride=2), 1, 4, 4, 4),
           [image], plain)
    yield "lazy_batch_norm2d", lambda: materialized(nn.LazyBatchNorm2d(), 1, 4, 4, 5), [image], twice
    yield ("lazy_instance_norm1d", lambda: materialized(nn.LazyInstanceNorm1d(
        affine=True, track_running_stats=True), 1, 3, 5), [signal], twice)


def stepped(module, x):
    """The result after one step of gradient descent."""
    module(x.detach()).square().sum().backward()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter -= 0.3 * parameter.grad
            parameter.grad = None
    return module(x)


def parametrized():
    x, image = values_of(4, 6), values_of(2, 4, 4, 5)
    weight, spectral = parametrizations.weight_norm, parametrizations.spectral_norm
    orthogonal = parametrizations.orthogonal
    yield "weight_norm", lambda: weight(nn.Linear(6, 3)), [x], stepped
    yield "weight_norm_dim1", lambda: weight(nn.Conv2d(4, 3, 2), dim=1), [image], stepped
    yield "weight_norm_all", lambda: weight(nn.Linear(6, 3), dim=None), [x], stepped
    yield "spectral_norm", lambda: spectral(nn.Linear(6, 3)), [x], twice
    yield ("spectral_norm_transposed",
           lambda: spectral(nn.ConvTranspose2d(4, 2, 3), n_power_iterations=2), [image], twice)
    yield "spectral_norm_vector", lambda: spectral(nn.PReLU(4)), [image], stepped
    yield "spectral_norm_of_weight_norm", lambda: spectral(weight(nn.Linear(6, 3))), [x], twice
    yield "orthogonal", lambda: orthogonal(nn.Linear(6, 3)), [x], stepped
    yield "orthogonal_tall", lambda: orthogonal(nn.Linear(6, 8, bias=False)), [x], stepped
    yield "orthogonal_square", lambda: orthogonal(nn.Linear(6, 6)), [x], stepped
    yield "orthogonal_cayley", lambda: orthogonal(nn.Linear(6, 6), "weight", "cayley"), [x], stepped
    yield "orthogonal_batch", lambda: orthogonal(nn.Conv2d(4, 2, (3, 2))), [image], stepped


def cases():
    for family in (activations, dropouts, paddings, distances_and_shuffles, norms, lazies, parametrized):
        yield from family()

"""Cases of nn_cases.py: more convolutions and pools, of one to three dimensions; folds."""

import torch
from torch import nn

from nn_values import plain, values_of


def with_output_size(*size):
    return lambda module, *inputs: module(*inputs, output_size=list(size))


def indices(*sizes):
    """Indices for unpooling: every second element."""
    count = torch.Size(sizes[2:]).numel()
    return (torch.arange(count) * 2).reshape(sizes[2:]).expand(sizes).contiguous()


def cases():
    line, image, volume = values_of(2, 4, 7), values_of(2, 4, 4, 5), values_of(2, 4, 4, 3, 5)
    samples = torch.tensor([0.3, 0.55, 0.7, 0.05])[:, None]

    yield ("conv3d", lambda: nn.Conv3d(4, 2, (3, 1, 2), stride=(2, 1, 1), padding=(1, 0, 1),
                                       dilation=(1, 1, 2), groups=2), [volume], plain)
    yield "conv3d_same", lambda: nn.Conv3d(4, 2, (2, 3, 2), padding="same"), [volume], plain
    yield ("conv1d_same_circular",
           lambda: nn.Conv1d(4, 2, 4, padding="same", padding_mode="circular"), [line], plain)
    for mode in ("reflect", "replicate", "circular"):
        yield (f"conv1d_{mode}", lambda mode=mode: nn.Conv1d(4, 2, 3, padding=2, padding_mode=mode),
               [line], plain)
        yield (f"conv3d_{mode}",
               lambda mode=mode: nn.Conv3d(4, 2, 2, padding=(1, 2, 0), padding_mode=mode),
               [volume], plain)
    yield ("conv_transpose1d", lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, groups=2,
                                                          output_padding=1), [line], plain)
    yield ("conv_transpose1d_size", lambda: nn.ConvTranspose1d(4, 2, 3, stride=3, dilation=2),
           [line], with_output_size(24))
    yield ("conv_transpose3d", lambda: nn.ConvTranspose3d(4, 2, 2, stride=(1, 2, 1), padding=(0, 1, 0),
                                                          dilation=(2, 1, 1)), [volume], plain)
    yield ("conv_transpose3d_size", lambda: nn.ConvTranspose3d(4, 2, 2, stride=2), [volume],
           with_output_size(9, 6, 11))

    yield "max_pool1d", lambda: nn.MaxPool1d(3, stride=2, padding=1), [line], plain
    yield ("max_pool1d_indices", lambda: nn.MaxPool1d(3, dilation=2, return_indices=True), [line],
           plain)
    yield "max_pool3d", lambda: nn.MaxPool3d((2, 3, 2), padding=1, ceil_mode=True), [volume], plain
    yield ("max_pool3d_indices", lambda: nn.MaxPool3d(2, stride=1, return_indices=True), [volume],
           plain)
    yield ("avg_pool1d", lambda: nn.AvgPool1d(3, padding=1, count_include_pad=False), [line], plain)
    yield ("avg_pool3d", lambda: nn.AvgPool3d((2, 3, 2), stride=2, padding=(1, 1, 0),
                                              divisor_override=5), [volume], plain)
    yield "adaptive_avg_pool1d", lambda: nn.AdaptiveAvgPool1d(3), [line], plain
    yield "adaptive_avg_pool3d", lambda: nn.AdaptiveAvgPool3d((None, 2, 3)), [volume], plain
    yield ("adaptive_max_pool1d", lambda: nn.AdaptiveMaxPool1d(3, return_indices=True), [line],
           plain)
    yield ("adaptive_max_pool2d", lambda: nn.AdaptiveMaxPool2d((3, None), return_indices=True),
           [image], plain)
    yield ("adaptive_max_pool3d", lambda: nn.AdaptiveMaxPool3d((2, None, 3), return_indices=True),
           [volume], plain)
    yield "lp_pool1d", lambda: nn.LPPool1d(3, 2), [line + 2], plain
    yield "lp_pool2d", lambda: nn.LPPool2d(2, (2, 3), stride=1), [image + 2], plain
    yield "lp_pool3d", lambda: nn.LPPool3d(1.5, 2, ceil_mode=True), [volume + 2], plain
    yield ("fractional_max_pool2d",
           lambda: nn.FractionalMaxPool2d(2, output_size=(3, 2), return_indices=True,
                                          _random_samples=samples.expand(2, 4, 2)),
           [image], plain)
    yield ("fractional_max_pool3d",
           lambda: nn.FractionalMaxPool3d((2, 1, 2), output_ratio=(0.5, 0.7, 0.6),
                                          return_indices=True,
                                          _random_samples=samples.expand(2, 4, 3)),
           [volume], plain)
    yield "fractional_max_pool2d_drawn", lambda: nn.FractionalMaxPool2d(2, 3), [image], plain
    yield "max_unpool1d", lambda: nn.MaxUnpool1d(2), [line, indices(2, 4, 7)], plain
    yield ("max_unpool2d", lambda: nn.MaxUnpool2d(3, stride=2, padding=1),
           [image, indices(2, 4, 4, 5)], with_output_size(8, 9))
    yield ("max_unpool3d", lambda: nn.MaxUnpool3d((2, 3, 2), stride=2),
           [volume, indices(2, 4, 4, 3, 5)], with_output_size(2, 4, 8, 7, 11))
    yield ("unfold", lambda: nn.Unfold((2, 3), dilation=(2, 1), padding=1, stride=(1, 2)), [image],
           plain)
    yield ("fold", lambda: nn.Fold((4, 5), (2, 2), padding=(1, 0), stride=(2, 1)),
           [values_of(2, 8, 12)], plain)

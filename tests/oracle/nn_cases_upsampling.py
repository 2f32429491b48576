"""Cases of nn_cases.py: interpolation, grid_sample and affine_grid."""

import torch
from torch import nn
from torch.nn import functional as F

from nn_values import plain, values_of


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def cases():
    signal, image, volume = values_of(2, 3, 7), values_of(2, 3, 5, 6), values_of(1, 2, 3, 4, 5)

    def module(**options):
        return lambda: nn.Upsample(**options)

    def call(function):
        return lambda: Call(function)

    def resized(**options):
        return call(lambda x: F.interpolate(x, **options))

    yield "upsample_nearest", module(scale_factor=2.0), [image], plain
    yield "upsample_nearest1d", module(size=3), [signal], plain
    yield "upsample_nearest3d", module(scale_factor=(1.4, 2.0, 0.49)), [volume], plain
    yield ("upsample_linear", module(size=(11,), mode="linear", align_corners=True), [signal], plain)
    yield ("upsample_bilinear", module(scale_factor=(1.3, 0.49), mode="bilinear"), [image], plain)
    yield ("upsample_bicubic", module(size=(1, 13), mode="bicubic", align_corners=False), [image],
           plain)
    yield ("upsample_trilinear", module(size=(5, 1, 7), mode="trilinear", align_corners=True),
           [volume], plain)
    yield "upsampling_nearest2d", lambda: nn.UpsamplingNearest2d(size=(7, 4)), [image], plain
    yield "upsampling_bilinear2d", lambda: nn.UpsamplingBilinear2d(scale_factor=2), [image], plain
    for rank, x in enumerate((signal, image, volume), 1):
        size = (4, 9, 2)[:rank]
        yield f"interpolate_exact{rank}d", resized(size=size, mode="nearest-exact"), [x], plain
        yield f"interpolate_area{rank}d", resized(size=size, mode="area"), [x], plain
    yield ("interpolate_recomputed",
           resized(scale_factor=(1.3, 1.7), mode="bilinear", align_corners=False,
                   recompute_scale_factor=True), [image], plain)
    for mode in ("bilinear", "bicubic"):
        yield (f"interpolate_{mode}_antialias",
               resized(size=(2, 9), mode=mode, antialias=True, align_corners=False), [image], plain)
        yield (f"interpolate_{mode}_antialias_corners",
               resized(scale_factor=(0.49, 0.7), mode=mode, antialias=True, align_corners=True),
               [image], plain)
    yield ("interpolate_pixel", resized(size=(3, 2), mode="bicubic", align_corners=True),
           [values_of(1, 2, 1, 1)], plain)

    grid, points = values_of(2, 3, 4, 2) * 1.7, values_of(1, 2, 2, 3, 3) * 1.3
    for number, (mode, padding) in enumerate([("bilinear", "zeros"), ("bilinear", "reflection"),
                                              ("nearest", "border"), ("bicubic", "border")]):
        sample = call(lambda x, g, m=mode, p=padding, a=bool(number % 2): F.grid_sample(
            x, g, m, p, align_corners=a))
        numbers = grid / 2 if mode == "bicubic" else grid  # outside the image, the gradient is a rounding error
        yield f"grid_sample_{mode}_{padding}", sample, [image, numbers], plain
        yield (f"grid_of_{mode}_{padding}", call(lambda g, x, s=sample: s()(x, g)),
               [numbers, image], plain)
    for mode in ("bilinear", "bicubic"):
        yield (f"grid_sample3d_{mode}",
               call(lambda x, g, m=mode: F.grid_sample(x, g, m, align_corners=False)),
               [volume, points], plain)
    yield ("affine_grid", call(lambda t: F.affine_grid(t, [2, 1, 3, 4], align_corners=False)),
           [values_of(2, 2, 3)], plain)
    yield ("affine_grid3d", call(lambda t: F.affine_grid(t, [1, 1, 2, 1, 3], align_corners=True)),
           [values_of(1, 3, 4)], plain)

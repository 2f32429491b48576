"""PyTorch's calls for the rows of layers: activations, convolutions, pooling, normalisation, embedding,
attention, recurrence and interpolation (calls.py has all)."""

import torch
import torch.nn.functional as F

from widened import widened


def batch_norm(training):
    def call(x, weight, bias, mean, var):
        mean, var = (None if t is None else t.clone() for t in (mean, var))
        out = F.batch_norm(x, mean, var, weight, bias, training, 0.3, 1e-3)
        return (out,) if mean is None else (out, mean, var)

    return call


def conv(name, **arguments):
    return lambda x, weight, bias: getattr(torch, name)(x, weight, bias, **arguments)


def pool(name, *arguments, **named):
    return lambda x: getattr(F, name)(x, *arguments, **named)


def fractional_pool(name, dims):
    def call(x):
        samples = torch.tensor([0.3, 0.55], dtype=x.dtype).reshape(1, 2, 1).expand(2, 2, dims)
        return getattr(torch._C._nn, name)(x, [2] * dims, [3] * dims, samples)

    return call


def unpool(name, size, *arguments):
    def call(x):
        spatial = x.shape[-len(size):]
        indices = (torch.arange(spatial.numel()) * 2).reshape(spatial).expand(x.shape)
        return getattr(torch._C._nn, name)(x, indices.contiguous(), size, *arguments)

    return call


def bag(mode, last=False, padding=None):
    def call(table, indices, scale=None):
        offsets = torch.tensor([0, 2, 2, 5])
        if last:
            # PyTorch's CPU counts or adds also the indices after the last offset.
            indices, scale = indices[:5], None if scale is None else scale[:5]
        return torch.embedding_bag(table, indices, offsets, False, mode, False, scale, last, padding)[0]

    return call


def attention(**options):
    return lambda q, k, v, mask=None: F.scaled_dot_product_attention(q, k, v, mask, **options)


def network(name, layers=1, directions=1, biases=True, batch_first=False, batch_sizes=None):
    """A recurrent network of x, the states and the parameters."""
    def call(x, h, *rest):
        states, parameters = ((h, rest[0]), rest[1:]) if name == "lstm" else (h, rest)
        options = (biases, layers, 0.0, True, directions == 2)
        function = getattr(torch, name)
        if batch_sizes:
            return function(x, torch.tensor(batch_sizes), states, parameters, *options)
        return function(x, states, parameters, *options, batch_first)

    return call


def lstm_cell(x, h, c, *parameters):
    return torch.lstm_cell(x, (h, c), *parameters)


LENGTHS = BATCH_SIZES = (4, 3, 3, 1)


def pack(batch_first):
    return lambda x: torch._pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first)[0]


def unpack(batch_first, length):
    return lambda x: torch._pad_packed_sequence(x, torch.tensor(BATCH_SIZES), batch_first, -3, length)[0]


def pad_sequence(batch_first, side):
    return lambda *xs: torch.nn.utils.rnn.pad_sequence(xs, batch_first, 2, side)


def upsample(name, size=None, scales=None, corners=None):
    """`size` or `scales` is given; corners=None stands for a function without align_corners."""
    def call(x):
        options = () if corners is None else (corners,)
        return getattr(torch._C._nn, name)(x, size, *options, scales)

    return widened(call) if name.endswith("_aa") else call


def grid_samplers():
    """The rows' names end with the modes of interpolation and padding. PyTorch rounds coordinates to half
    types."""
    rows = {("2d", mode, padding, (mode + padding) % 2 == 1) for mode in range(3) for padding in range(3)}
    rows |= {("2d", 0, 2, True), ("3d", 0, 0, False), ("3d", 1, 2, False), ("3d", 2, 1, True)}
    return {
        f"grid_sampler_{dims}_{mode}{padding}" + ("_corners" if corners else ""):
            widened(lambda x, grid, options=(mode, padding, corners): torch.grid_sampler(x, grid, *options))
        for dims, mode, padding, corners in rows
    }


def affine_grid(size, corners):
    return widened(lambda theta: torch.affine_grid_generator(theta, size, corners))


CALLS = {
    "pad_constant": lambda x: F.pad(x, (1, 2)),
    "pad_reflect": lambda x: F.pad(x, (1, 2), "reflect"),
    "pad_reflect_2d": lambda x: F.pad(x, (1, 2) * 2, "reflect"),
    "pad_reflect_3d": lambda x: F.pad(x, (1, 2) * 3, "reflect"),
    "pad_replicate": lambda x: F.pad(x, (1, 2), "replicate"),
    "pad_replicate_2d": lambda x: F.pad(x, (1, 2) * 2, "replicate"),
    "pad_replicate_3d": lambda x: F.pad(x, (1, 2) * 3, "replicate"),
    "pad_circular": lambda x: F.pad(x, (1, 2), "circular"),
    "embedding": lambda w, i: torch.embedding(w, i),
    "embedding_padding": lambda w, i: torch.embedding(w, i, 1),
    "embedding_by_frequency": lambda w, i: torch.embedding(w, i, -1, True),
    "one_hot": lambda x: F.one_hot(x, 4),
    "linear_without_bias": F.linear,
    "batch_norm_training": batch_norm(True),
    "batch_norm_evaluation": batch_norm(False),
    "conv1d": conv("conv1d", padding=1),
    "conv2d_general": conv("conv2d", stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
    "conv2d_grouped": conv("conv2d", padding=(1, 0), groups=2),
    "conv1d_same": conv("conv1d", padding="same", dilation=3),
    "conv2d_same": conv("conv2d", padding="same", dilation=(1, 3)),
    "conv3d_same": conv("conv3d", padding="same", dilation=(1, 1, 3)),
    "conv3d": conv("conv3d", stride=(1, 2, 1), padding=(0, 1, 1), dilation=(1, 1, 2)),
    "conv_transpose1d": conv("conv_transpose1d", stride=2, padding=1, output_padding=1),
    "conv_transpose2d": conv("conv_transpose2d", stride=(2, 1), padding=(1, 0), output_padding=(1, 0)),
    "conv_transpose2d_general": conv(
        "conv_transpose2d", stride=(2, 3), padding=(1, 2), output_padding=(2, 1), groups=2, dilation=(3, 1)
    ),
    "conv_transpose3d": conv("conv_transpose3d", stride=(1, 2, 1), padding=(0, 1, 0), output_padding=(0, 1, 0)),
    "convolution": lambda x, w, b: torch.convolution(x, w, b, (1, 1), (0, 1), (1, 1), False, (0, 0), 1),
    "max_pool2d_with_indices": pool("max_pool2d", 2, return_indices=True),
    "max_pool2d": pool("max_pool2d", 3, 2, 1, (1, 2), True),
    "max_pool2d_dilated": pool("max_pool2d", 3, 2, 1, (2, 1), True),
    "max_pool1d": pool("max_pool1d", 3, 2, 1),
    "max_pool1d_with_indices": pool("max_pool1d", 2, return_indices=True),
    "avg_pool2d": pool("avg_pool2d", (2, 3), (2, 1)),
    "avg_pool2d_divisor": pool("avg_pool2d", 3, 2, 1, True, True, 5),
    "avg_pool2d_without_padding": pool("avg_pool2d", 3, 2, 1, True, False),
    "avg_pool1d": pool("avg_pool1d", 3, 2),
    "adaptive_avg_pool2d": pool("adaptive_avg_pool2d", (3, 2)),
    "adaptive_avg_pool2d_to_one": pool("adaptive_avg_pool2d", 1),
    "adaptive_avg_pool1d": pool("adaptive_avg_pool1d", 3),
    "adaptive_max_pool2d": pool("adaptive_max_pool2d", (3, 2), return_indices=True),
    "adaptive_max_pool1d": pool("adaptive_max_pool1d", 3, return_indices=True),
    "max_pool3d_with_indices": pool("max_pool3d", 2, (1, 2, 2), return_indices=True),
    "max_pool3d": pool("max_pool3d", 3, 2, 1, (1, 2, 1), True),
    "avg_pool3d": widened(pool("avg_pool3d", (2, 2, 3), (1, 2, 1))),
    "avg_pool3d_divisor": widened(pool("avg_pool3d", 3, 2, 1, True, True, 5)),
    "avg_pool3d_without_padding": widened(pool("avg_pool3d", 3, 2, 1, True, False)),
    "adaptive_avg_pool3d": pool("adaptive_avg_pool3d", (2, 3, 2)),
    "adaptive_avg_pool3d_to_one": pool("adaptive_avg_pool3d", 1),
    "adaptive_max_pool3d": pool("adaptive_max_pool3d", (2, 3, 2), return_indices=True),
    "fractional_max_pool2d": fractional_pool("fractional_max_pool2d", 2),
    "fractional_max_pool3d": fractional_pool("fractional_max_pool3d", 3),
    "max_unpool2d": unpool("max_unpool2d", (3, 5)),
    "max_unpool3d": unpool("max_unpool3d", (3, 2, 2), (2, 2, 2), (0, 0, 0)),
    "im2col": lambda x: torch._C._nn.im2col(x, (2, 3), (2, 1), (1, 1), (1, 2)),
    "col2im": lambda x: torch._C._nn.col2im(x, (4, 5), (2, 3), (2, 1), (1, 1), (1, 2)),
    "conv_tbc": lambda x, w, b: torch.conv_tbc(x, w, b, 1),
    "conv_depthwise3d": conv(
        "conv3d", stride=(1, 2, 1), padding=(0, 1, 1), dilation=(1, 1, 2), groups=2),
    "pixel_shuffle": lambda x: torch.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda x: torch.pixel_unshuffle(x, 2),
    "glu": lambda x: F.glu(x, -1),
    "glu_first": lambda x: F.glu(x, 0),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "elu_scaled": lambda x: torch.ops.aten.elu(x, 0.5, 2, 1.5),
    "celu": lambda x: F.celu(x, 0.5),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "softplus_scaled": lambda x: F.softplus(x, 2, 1),
    "log_sigmoid": F.logsigmoid,
    "hardtanh": lambda x: F.hardtanh(x, 0, 1),
    "threshold": lambda x: F.threshold(x, 1, 20),
    "hardshrink": lambda x: F.hardshrink(x, 0.75),
    "softshrink": lambda x: F.softshrink(x, 0.75),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2),
    "softmax_last": lambda x: x.softmax(-1),
    "softmax_first": lambda x: x.softmax(0),
    "softmax_vector": lambda x: x.softmax(0),
    "log_softmax_last": lambda x: x.log_softmax(-1),
    "log_softmax_dim1": lambda x: x.log_softmax(1),
    "log_softmax_vector": lambda x: x.log_softmax(0),
    "layer_norm": lambda x, w, b: F.layer_norm(x, (5,), w, b, 1e-3),
    "group_norm": lambda x, w, b: F.group_norm(x, 3, w, b, 1e-3),
    "rms_norm": lambda x, w: F.rms_norm(x, (2, 4), w, 1e-3),
    "instance_norm": lambda x, w, b: F.instance_norm(x, None, None, w, b, True, 0.1, 1e-3),
    "embedding_bag_sum": bag(0),
    "embedding_bag_mean": bag(1),
    "embedding_bag_max": bag(2),
    "embedding_bag_weighted": bag(0),
    "embedding_bag_sum_padded": bag(0, padding=2),
    "embedding_bag_mean_padded": bag(1, True, 2),
    "embedding_bag_max_padded": bag(2, padding=2),
    "embedding_bag_weighted_padded": bag(0, True, 2),
    "attention": attention(),
    "attention_causal": attention(is_causal=True),
    "attention_scaled": attention(scale=-0.7),
    "attention_shared_heads": attention(enable_gqa=True),
    "attention_bool_mask": attention(),
    "attention_added_mask": attention(),
    "attention_composed": attention(),
    # So small a probability drops nothing.
    "attention_dropout": attention(dropout_p=1e-12),
    "lstm_deep": network("lstm", 2, 2, biases=False, batch_first=True),
    "gru_deep": network("gru", 2, 2, biases=False, batch_first=True),
    "lstm_packed": network("lstm", 1, 2, batch_sizes=(3, 2, 2, 1)),
    "gru_packed": network("gru", 1, 2, batch_sizes=(3, 2, 2, 1)),
    "rnn_tanh_packed": network("rnn_tanh", 1, 2, batch_sizes=(3, 2, 2, 1)),
    "lstm_projected": network("lstm", 2, 2),
    "lstm_cell": lstm_cell,
    "pack_padded_sequence": pack(False),
    "pack_padded_sequence_batch_first": pack(True),
    "pad_packed_sequence": unpack(False, 0),
    "pad_packed_sequence_batch_first": unpack(True, 6),
    "pad_sequence": pad_sequence(False, "right"),
    "pad_sequence_left": pad_sequence(True, "left"),
    "affine_grid_generator2": affine_grid((2, 1, 3, 1), False),
    "affine_grid_generator2_corners": affine_grid((2, 1, 3, 1), True),
    "affine_grid_generator3": affine_grid((1, 2, 2, 3, 4), False),
    "affine_grid_generator3_corners": affine_grid((1, 2, 2, 3, 4), True),
    "upsample_nearest1d": upsample("upsample_nearest1d", (8,)),
    "upsample_nearest1d_factor": upsample("upsample_nearest1d", scales=(0.49,)),
    "upsample_nearest2d": upsample("upsample_nearest2d", (7, 3)),
    "upsample_nearest2d_factor": upsample("upsample_nearest2d", scales=(1.3, 0.49)),
    "upsample_nearest3d": upsample("upsample_nearest3d", (2, 5, 7)),
    "_upsample_nearest_exact1d": upsample("_upsample_nearest_exact1d", (8,)),
    "_upsample_nearest_exact2d": upsample("_upsample_nearest_exact2d", (7, 3)),
    "_upsample_nearest_exact3d_factor": upsample("_upsample_nearest_exact3d", scales=(1.4, 1.6, 1.4)),
    "upsample_linear1d": upsample("upsample_linear1d", (8,), corners=False),
    "upsample_linear1d_corners": upsample("upsample_linear1d", (3,), corners=True),
    "upsample_bilinear2d": upsample("upsample_bilinear2d", (7, 3), corners=False),
    "upsample_bilinear2d_factor": upsample("upsample_bilinear2d", scales=(1.3, 0.49), corners=False),
    "upsample_bilinear2d_corners": upsample("upsample_bilinear2d", (1, 9), corners=True),
    "upsample_trilinear3d": upsample("upsample_trilinear3d", (2, 5, 7), corners=False),
    "upsample_trilinear3d_factor": upsample("upsample_trilinear3d", scales=(1.4, 1.6, 1.4), corners=False),
    "upsample_bicubic2d": upsample("upsample_bicubic2d", (7, 3), corners=False),
    "upsample_bicubic2d_corners": upsample("upsample_bicubic2d", (6, 9), corners=True),
    "_upsample_bilinear2d_aa": upsample("_upsample_bilinear2d_aa", (2, 7), corners=False),
    "_upsample_bilinear2d_aa_corners": upsample("_upsample_bilinear2d_aa", (2, 3), corners=True),
    "_upsample_bicubic2d_aa": upsample("_upsample_bicubic2d_aa", (2, 7), corners=False),
}
CALLS |= {name: network(name) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")} | grid_samplers()
# The positions of the floating-point inputs without gradients, by row.
CONSTANT = {
    "batch_norm_training": (3, 4),
    "batch_norm_evaluation": (3, 4),
    "attention_bool_mask": (3,),
    "attention_added_mask": (3,),
    "attention_dropout": (3,),
}

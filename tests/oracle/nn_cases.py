#!/usr/bin/env python3
"""Writes tests/fixtures/nn_cases.txt: PyTorch modules created from a seed, outputs and gradients.

    .venv-peer/bin/python tests/oracle/nn_cases.py

A case is a line "case <name> <seed>", one line "<key> <dtype> <sizes> <values>" per tensor, and a
line "end". Sizes are written "2x3", or "-" for a 0-d tensor; floats have nine digits, which
identify a float32. The keys are init.<parameter or buffer>, in.<number>, out.<number>,
grad.in.0, grad.<parameter> and after.<buffer>. The gradients are those of the sum of
output[i] * (i + 1) over all elements of all outputs.
"""

from pathlib import Path

import torch
from torch import nn

import nn_cases_layers
import nn_cases_loss
import nn_cases_pooling
import nn_cases_rnn
import nn_cases_upsampling
from nn_values import plain, twice, values_of

SEED = 1234


def flattened(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value for tensor in flattened(part)]


def text_of(tensor):
    sizes = "x".join(map(str, tensor.shape)) or "-"
    numbers = tensor.detach().reshape(-1).tolist()
    texts = [f"{x:.9g}" for x in numbers]
    return " ".join([str(tensor.dtype).removeprefix("torch."), sizes, *texts])


def backward(outputs):
    total = sum((o * torch.arange(1, o.numel() + 1).reshape(o.shape)).sum()
                for o in outputs if o.requires_grad)
    if isinstance(total, torch.Tensor):
        total.backward()


def write_case(out, name, make, inputs, call):
    torch.manual_seed(SEED)
    module = make()
    lines = [f"case {name} {SEED}"]
    state = {key: tensor.clone() for key, tensor in module.state_dict().items()}
    lines += [f"init.{key} {text_of(tensor)}" for key, tensor in state.items()]
    inputs = [x.clone().requires_grad_(x.is_floating_point() and i == 0)
              for i, x in enumerate(inputs)]
    lines += [f"in.{i} {text_of(x)}" for i, x in enumerate(inputs)]
    outputs = flattened(call(module, *inputs))
    lines += [f"out.{i} {text_of(x)}" for i, x in enumerate(outputs)]
    backward(outputs)
    lines += [f"grad.in.{i} {text_of(x.grad)}" for i, x in enumerate(inputs) if x.grad is not None]
    lines += [f"grad.{key} {text_of(p.grad)}" for key, p in module.named_parameters()
              if p.grad is not None]
    lines += [f"after.{key} {text_of(b)}" for key, b in module.named_buffers()]
    out.write("\n".join(lines + ["end"]) + "\n")


def cases():
    x = values_of(4, 6)
    image = values_of(2, 4, 4, 5)
    sequence = values_of(3, 2, 4)
    classes = torch.tensor([1, 0, 2, 1])
    positive = values_of(4, 6).sigmoid()
    target = (values_of(4, 6) * 3).sin().sigmoid()

    yield "linear", lambda: nn.Linear(6, 3), [x], plain
    yield "linear_no_bias", lambda: nn.Linear(6, 3, bias=False), [x], plain
    yield "bilinear", lambda: nn.Bilinear(6, 2, 3), [x, values_of(4, 2)], plain
    yield "flatten", lambda: nn.Flatten(1, 2), [image], plain
    yield "unflatten", lambda: nn.Unflatten(1, (2, 3)), [x], plain
    yield ("conv1d", lambda: nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2),
           [values_of(2, 4, 7)], plain)
    yield "conv2d", lambda: nn.Conv2d(4, 3, (3, 2), padding=(1, 0), dilation=(2, 1)), [image], plain
    yield "conv2d_same", lambda: nn.Conv2d(4, 2, (3, 2), padding="same"), [image], plain
    for mode in ("reflect", "replicate", "circular"):
        yield (f"conv2d_{mode}", lambda mode=mode: nn.Conv2d(4, 2, 3, padding=1, padding_mode=mode),
               [image], plain)
    yield ("conv2d_same_reflect",
           lambda: nn.Conv2d(4, 2, (4, 2), padding="same", padding_mode="reflect"), [image], plain)
    yield ("conv_transpose2d",
           lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1), [image], plain)
    yield ("conv_transpose2d_size", lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1),
           [image], lambda m, y: m(y, output_size=[8, 9]))
    yield "max_pool2d", lambda: nn.MaxPool2d(2, stride=(2, 1), padding=1), [image], plain
    yield ("avg_pool2d",
           lambda: nn.AvgPool2d((3, 2), stride=2, padding=1, count_include_pad=False),
           [image], plain)
    yield "adaptive_avg_pool2d", lambda: nn.AdaptiveAvgPool2d((None, 4)), [image], plain

    yield "relu", nn.ReLU, [x], plain
    yield "leaky_relu", lambda: nn.LeakyReLU(0.2), [x], plain
    yield "elu", lambda: nn.ELU(0.7), [x], plain
    yield "gelu", nn.GELU, [x], plain
    yield "gelu_tanh", lambda: nn.GELU("tanh"), [x], plain
    yield "silu", nn.SiLU, [x], plain
    yield "sigmoid", nn.Sigmoid, [x], plain
    yield "tanh", nn.Tanh, [x], plain
    yield "softplus", lambda: nn.Softplus(2, 1), [x], plain
    yield "hardswish", nn.Hardswish, [x * 4], plain
    yield "softmax", lambda: nn.Softmax(1), [x], plain
    yield "log_softmax", lambda: nn.LogSoftmax(0), [x], plain
    yield "dropout", lambda: nn.Dropout(0.3), [x], plain
    yield "dropout2d", lambda: nn.Dropout2d(0.4), [image], plain

    yield "batch_norm1d", lambda: nn.BatchNorm1d(6), [x], twice
    yield "batch_norm2d_cumulative", lambda: nn.BatchNorm2d(4, momentum=None), [image], twice
    yield ("batch_norm2d_plain",
           lambda: nn.BatchNorm2d(4, affine=False, track_running_stats=False), [image], twice)
    yield "layer_norm", lambda: nn.LayerNorm([4, 5], eps=1e-3), [image], plain
    yield "group_norm", lambda: nn.GroupNorm(2, 4), [image], plain
    yield ("embedding", lambda: nn.Embedding(7, 3, padding_idx=1),
           [torch.tensor([[1, 2], [6, 2]])], plain)
    yield ("embedding_max_norm", lambda: nn.Embedding(5, 4, max_norm=1.0),
           [torch.tensor([0, 3, 3])], plain)

    yield "rnn", lambda: nn.RNN(4, 3, nonlinearity="relu"), [sequence], plain
    yield "rnn_layers", lambda: nn.RNN(4, 3, num_layers=2, bidirectional=True), [sequence], plain
    yield "lstm", lambda: nn.LSTM(4, 3, num_layers=2, batch_first=True), [sequence], plain
    state = values_of(2, 2, 3)
    yield ("lstm_state", lambda: nn.LSTM(4, 3, bidirectional=True), [sequence, state, state / 2],
           lambda m, y, h, c: m(y, (h, c)))
    yield "gru", lambda: nn.GRU(4, 3, num_layers=2, bias=False), [sequence], plain
    yield "gru_state", lambda: nn.GRU(4, 3, bidirectional=True), [sequence, state], plain

    weight = torch.tensor([0.5, 2.0, 1.0])
    scores = values_of(4, 3)
    yield "cross_entropy", nn.CrossEntropyLoss, [scores, classes], plain
    yield ("cross_entropy_options",
           lambda: nn.CrossEntropyLoss(weight=weight, ignore_index=0, label_smoothing=0.1),
           [scores, classes], plain)
    yield "nll", lambda: nn.NLLLoss(weight=weight, reduction="sum"), [scores, classes], plain
    yield "mse", nn.MSELoss, [x, target], plain
    yield "l1", lambda: nn.L1Loss(reduction="none"), [x, target], plain
    yield "smooth_l1", lambda: nn.SmoothL1Loss(beta=0.4), [x, target], plain
    yield "bce", nn.BCELoss, [positive, target], plain
    yield ("bce_with_logits",
           lambda: nn.BCEWithLogitsLoss(weight=values_of(6) + 2, pos_weight=values_of(6) + 1.5),
           [x, target], plain)
    yield from attention_cases()
    yield from nn_cases_layers.cases()
    yield from nn_cases_upsampling.cases()
    yield from nn_cases_rnn.cases()
    yield from nn_cases_loss.cases()
    yield from nn_cases_pooling.cases()
    yield "training", SmallNet, [values_of(4, 1, 8, 8), torch.tensor([3, 0, 4, 1])], train


def attention_cases():
    query, memory = values_of(3, 2, 8), values_of(5, 2, 8)
    narrow, short = values_of(5, 2, 6), values_of(5, 2, 4)
    padding = torch.tensor([[False] * 5, [False, True, False, False, True]])
    bool_mask = torch.ones(3, 5, dtype=torch.bool).triu(2)
    float_mask = values_of(4, 3, 5)

    def with_other_dims():
        return nn.MultiheadAttention(8, 2, kdim=6, vdim=4, add_bias_kv=True, add_zero_attn=True)

    yield "mha", lambda: nn.MultiheadAttention(8, 2), [query], lambda m, x: m(x, x, x)
    yield ("mha_dropout", lambda: nn.MultiheadAttention(8, 4, dropout=0.3, bias=False), [query],
           lambda m, x: m(x, x, x, need_weights=False)[0])
    yield ("mha_masks", lambda: nn.MultiheadAttention(8, 2), [query, memory, padding, bool_mask],
           lambda m, q, k, pad, mask: m(q, k, k, pad, True, mask, False))
    yield ("mha_added_mask", lambda: nn.MultiheadAttention(8, 2), [query, memory, float_mask],
           lambda m, q, k, mask: m(q, k, k, need_weights=False, attn_mask=mask)[0])
    yield ("mha_dims", with_other_dims, [query, narrow, short, padding],
           lambda m, q, k, v, pad: m(q, k, v, pad))
    yield ("mha_batch_first", lambda: nn.MultiheadAttention(8, 2, batch_first=True),
           [values_of(2, 3, 8), values_of(2, 5, 8)], lambda m, q, k: m(q, k, k))
    yield ("mha_unbatched", lambda: nn.MultiheadAttention(8, 2), [values_of(3, 8)],
           lambda m, x: m(x, x, x))
    yield ("encoder_layer_dropout", lambda: nn.TransformerEncoderLayer(8, 2, 16), [query, padding[:, :3]],
           lambda m, x, pad: m(x, None, pad))
    yield ("encoder_layer_norm_first",
           lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", 1e-3, batch_first=True,
                                              norm_first=True),
           [values_of(2, 3, 8), torch.ones(3, 3, dtype=torch.bool).triu(1)], plain)
    yield ("decoder_layer_dropout", lambda: nn.TransformerDecoderLayer(8, 2, 16), [query, memory, padding],
           lambda m, x, y, pad: m(x, y, memory_key_padding_mask=pad))
    yield ("decoder_layer_norm_first",
           lambda: nn.TransformerDecoderLayer(8, 4, 16, 0.0, norm_first=True), [query, memory], plain)
    layer = lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    yield ("encoder", lambda: nn.TransformerEncoder(layer(), 2, nn.LayerNorm(8)), [query], plain)
    decoder_layer = lambda: nn.TransformerDecoderLayer(8, 2, 16, 0.0)
    yield ("decoder", lambda: nn.TransformerDecoder(decoder_layer(), 2, nn.LayerNorm(8)),
           [query, memory], plain)

    def transformer():
        module = nn.Transformer(8, 2, 1, 2, 16, 0.1)
        torch.manual_seed(SEED)  # the C++ API draws other random numbers for the copied layers
        module._reset_parameters()
        for parameter in module.parameters():
            if parameter.dim() == 1:
                nn.init.constant_(parameter, 0.25)
        return module

    yield ("transformer_dropout", transformer, [memory, query, padding],
           lambda m, source, target, pad: m(source, target, src_key_padding_mask=pad))


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3)
        self.norm = nn.BatchNorm2d(3)
        self.conv2 = nn.Conv2d(3, 4, 3, padding=1)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(36, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv1(x)))
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        return torch.log_softmax(self.fc(self.drop(x.flatten(1))), 1)


def train(module, x, labels):
    """The losses of 20 steps of gradient descent."""
    losses = []
    x = x.detach()
    for _ in range(20):
        module.zero_grad()
        loss = nn.functional.nll_loss(module(x), labels)
        loss.backward()
        losses.append(loss.detach())
        with torch.no_grad():
            for parameter in module.parameters():
                parameter -= 0.1 * parameter.grad
    return torch.stack(losses)


def main():
    path = Path(__file__).resolve().parent.parent / "fixtures" / "nn_cases.txt"
    with open(path, "w") as out:
        for name, make, inputs, call in cases():
            write_case(out, name, make, inputs, call)
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()

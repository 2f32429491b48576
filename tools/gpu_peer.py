#!/usr/bin/env python3
"""The benchmarks of bench/gpu.cpp in PyTorch: the same names, sizes and method of measuring.
For attention, PyTorch calls its fused operator.

gpu_peer.py [group...]; HEARTH_BENCH_SMALL=1 makes all sizes small.
"""

import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

SMALL = "HEARTH_BENCH_SMALL" in os.environ
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def size(full, divisor=64):
    return max(full // divisor, 2) if SMALL else full


def timed(call, calls):
    if DEVICE == "cpu":  # only to test the script
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) * 1e6 / calls
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / calls


def microseconds(call):
    timed(call, 2)  # warms up
    # A round takes about 50 ms, as far as 3 to 100 calls allow.
    calls = int(min(max(50000 / max(timed(call, 1), 1), 3), 100))
    return min(timed(call, calls) for _ in range(1 if SMALL else 5))


def report(name, call):
    try:
        result = f"{microseconds(call):.2f}"
    except Exception as error:  # the other rows still run
        result = "failed: " + (str(error).splitlines() or [type(error).__name__])[0]
    print(f"{name}\t{result}", flush=True)


def randn(*sizes, dtype=torch.float32):
    return torch.randn(sizes, device=DEVICE, dtype=dtype)


def leaf(*sizes, dtype=torch.float32):
    return randn(*sizes, dtype=dtype).requires_grad_()


def random_indices(end, *sizes):
    return torch.randint(end, sizes, device=DEVICE)


def pointwise(dtype, suffix):
    large, side = size(1 << 26), size(8192, 8)
    a, b = randn(large, dtype=dtype), randn(large, dtype=dtype)
    matrix, row = randn(side, side, dtype=dtype), randn(side, dtype=dtype)
    other = torch.bfloat16 if dtype == torch.float32 else torch.float32
    mask = matrix > 1
    report("add" + suffix, lambda: torch.add(a, b))
    report("add number" + suffix, lambda: torch.add(a, 2.5))
    report("add row" + suffix, lambda: torch.add(matrix, row))
    report("gelu" + suffix, lambda: F.gelu(a))
    report("to the other dtype" + suffix, lambda: a.to(other))
    report("transposed copy" + suffix, lambda: matrix.t().contiguous())
    report("dropout" + suffix, lambda: torch.dropout(a, 0.5, True))
    report("randn" + suffix, lambda: randn(large, dtype=dtype))
    report("cat" + suffix, lambda: torch.cat([matrix, matrix], 1))
    report("masked_fill" + suffix, lambda: matrix.masked_fill(mask, 0))


def reductions(dtype, suffix):
    side = size(8192, 8)
    a, matrix = randn(size(1 << 26), dtype=dtype), randn(side, side, dtype=dtype)
    report("sum" + suffix, lambda: a.sum())
    report("sum of rows" + suffix, lambda: matrix.sum(1))
    report("sum of columns" + suffix, lambda: matrix.sum(0))
    report("max of rows" + suffix, lambda: matrix.max(1))
    report("argmax of rows" + suffix, lambda: matrix.argmax(1))
    report("var of rows" + suffix, lambda: matrix.var(1, unbiased=True))
    report("norm" + suffix, lambda: a.norm())


def products(dtype, suffix):
    side, batches = size(4096, 16), size(64, 16)
    a, b, bias = randn(side, side, dtype=dtype), randn(side, side, dtype=dtype), randn(side, dtype=dtype)
    batch = randn(batches, size(512, 8), size(512, 8), dtype=dtype)
    report("matmul 4096" + suffix, lambda: torch.matmul(a, b))
    report("matmul 4096 transposed" + suffix, lambda: torch.matmul(a, b.t()))
    report("addmm 4096" + suffix, lambda: torch.addmm(bias, a, b))
    report("bmm 64 x 512" + suffix, lambda: torch.bmm(batch, batch))


def forward_and_backward(name, suffix, leaves, call):
    def forward():
        with torch.no_grad():
            call()

    ones = []

    def backward():
        out = call()
        if not ones:
            ones.append(torch.ones_like(out))
        for leaf_tensor in leaves:
            leaf_tensor.grad = None
        out.backward(ones[0])

    report(name + suffix, forward)
    report(name + " and backward" + suffix, backward)


def layers(dtype, suffix):
    rows, width, vocabulary = size(8192, 8), size(1024, 8), size(50257, 16)
    x, w, b = leaf(rows, width, dtype=dtype), leaf(width, dtype=dtype), leaf(width, dtype=dtype)
    forward_and_backward("softmax", suffix, [x], lambda: torch.softmax(x, 1))
    forward_and_backward("layer_norm", suffix, [x, w, b], lambda: F.layer_norm(x, (width,), w, b))
    forward_and_backward("rms_norm", suffix, [x, w], lambda: F.rms_norm(x, (width,), w, 1e-5))
    logits = leaf(size(2048, 16), vocabulary, dtype=dtype)
    target = random_indices(vocabulary, logits.size(0))
    forward_and_backward("cross_entropy", suffix, [logits], lambda: F.cross_entropy(logits, target))
    table, ids = leaf(vocabulary, width, dtype=dtype), random_indices(vocabulary, rows)
    forward_and_backward("embedding", suffix, [table], lambda: F.embedding(ids, table))
    image = leaf(size(64, 16), 64, 56, 56, dtype=dtype)
    scale, shift = leaf(64, dtype=dtype), leaf(64, dtype=dtype)
    leaves = [image, scale, shift]
    forward_and_backward("batch_norm", suffix, leaves,
                         lambda: torch.batch_norm(image, scale, shift, None, None, True, 0.1, 1e-5, True))
    forward_and_backward("group_norm", suffix, leaves, lambda: F.group_norm(image, 8, scale, shift))
    forward_and_backward("max_pool2d", suffix, [image], lambda: F.max_pool2d(image, 3, 2, 1))
    forward_and_backward("avg_pool2d", suffix, [image], lambda: F.avg_pool2d(image, 2))


def convolutions(dtype, suffix):
    n = size(64, 16)
    image = leaf(n, 64, 56, 56, dtype=dtype)
    channels_last = randn(n, 64, 56, 56, dtype=dtype).contiguous(memory_format=torch.channels_last)
    channels_last.requires_grad_()
    w3, w1 = leaf(64, 64, 3, 3, dtype=dtype), leaf(256, 64, 1, 1, dtype=dtype)
    depth, bias = leaf(64, 1, 3, 3, dtype=dtype), leaf(64, dtype=dtype)
    forward_and_backward("conv2d 3x3", suffix, [image, w3, bias], lambda: F.conv2d(image, w3, bias, 1, 1))
    forward_and_backward("conv2d 3x3, channels last", suffix, [channels_last, w3, bias],
                         lambda: F.conv2d(channels_last, w3, bias, 1, 1))
    forward_and_backward("conv2d 1x1", suffix, [image, w1], lambda: F.conv2d(image, w1))
    forward_and_backward("conv2d depthwise", suffix, [image, depth],
                         lambda: F.conv2d(image, depth, None, 1, 1, 1, 64))


def attention(dtype, suffix):
    sizes = (size(8, 4), size(16, 8), size(1024, 16), 64)
    q, k, v = (leaf(*sizes, dtype=dtype) for _ in range(3))
    forward_and_backward("attention", suffix, [q, k, v], lambda: F.scaled_dot_product_attention(q, k, v))


def order(_dtype, _suffix):
    large = size(1 << 24)
    line, lines = randn(large), randn(size(4096), 4096)
    sparse = lines > 2
    report("sort of one line", lambda: line.sort())
    report("sort of lines", lambda: lines.sort(1))
    report("topk 50 of lines", lambda: lines.topk(50, 1))
    report("cumsum of one line", lambda: line.cumsum(0))
    report("cumsum of lines", lambda: lines.cumsum(1))
    report("nonzero", lambda: torch.nonzero(sparse))
    report("randperm", lambda: torch.randperm(large, device=DEVICE))
    rows, count = size(100000), size(8192)
    table, rows_to_add = randn(rows, 256), randn(count, 256)
    index, row_indices = random_indices(rows, count, 256), random_indices(rows, count)
    total = torch.zeros(rows, 256, device=DEVICE)
    report("gather", lambda: torch.gather(table, 0, index))
    report("index_select", lambda: table.index_select(0, row_indices))
    report("scatter_add", lambda: torch.scatter_add(total, 0, index, rows_to_add))
    report("index_add", lambda: total.index_add(0, row_indices, rows_to_add))
    report("index_put_ accumulate", lambda: total.index_put_((row_indices,), rows_to_add, True))


def small(_dtype, _suffix):
    four, matrix, one = randn(4), randn(4, 4), randn(1)
    report("add of 4", lambda: torch.add(four, four))
    report("matmul of 4 x 4", lambda: torch.matmul(matrix, matrix))
    report("item", lambda: one.item())
    x = leaf(1024, 1024)
    report("gelu, sum, backward", lambda: F.gelu(x).sum().backward())


def optimizer_row(name, make):
    parameters = []
    for i in range(size(300, 10)):
        parameters.append(leaf(size(1 << 20) if i % 3 == 0 else 1000 + i))
        parameters[-1].grad = torch.randn_like(parameters[-1])
    optimizer = make(parameters)
    report(name, optimizer.step)
    report("clip_grad_norm_, " + name, lambda: nn.utils.clip_grad_norm_(parameters, 1))


def optimizers(_dtype, _suffix):
    optimizer_row("SGD", lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9))
    optimizer_row("AdamW", lambda p: torch.optim.AdamW(p, 1e-3))


def step_row(name, parameters, loss):
    optimizer = torch.optim.AdamW(parameters, 1e-4)

    def step():
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    report(name, step)


def mlp_step(suffix):
    n, wide = size(512, 16), size(4096, 32)
    net = nn.Sequential(nn.Linear(784, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(),
                        nn.Linear(wide, 10)).to(DEVICE)
    x, target = randn(n, 784), random_indices(10, n)
    step_row("MLP step" + suffix, net.parameters(), lambda: F.cross_entropy(net(x), target))


def cnn_step(suffix):
    n, channels, parts = size(128, 32), 3, []
    for following in (64, 128, 256):
        parts += [nn.Conv2d(channels, following, 3, padding=1, bias=False), nn.BatchNorm2d(following),
                  nn.ReLU(), nn.MaxPool2d(2)]
        channels = following
    net = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10)).to(DEVICE)
    x, target = randn(n, 3, 32, 32), random_indices(10, n)
    step_row("CNN step" + suffix, net.parameters(), lambda: F.cross_entropy(net(x), target))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.width, self.heads = width, heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        n, length, _ = x.shape
        parts = self.qkv(self.first(x)).view(n, length, 3, self.heads, self.width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        y = x + self.out(mixed.reshape(n, length, self.width))
        return y + self.down(F.gelu(self.up(self.second(y))))


def transformer_step(suffix):
    n, length, width, vocabulary = size(8, 4), size(512, 16), size(768, 12), size(50257)
    net = nn.Sequential(nn.Embedding(vocabulary, width), Block(width, size(12, 6)),
                        Block(width, size(12, 6)), nn.Linear(width, vocabulary)).to(DEVICE)
    ids, target = random_indices(vocabulary, n, length), random_indices(vocabulary, n * length)
    step_row("transformer step" + suffix, net.parameters(),
             lambda: F.cross_entropy(net(ids).flatten(0, 1), target))


def steps(dtype, suffix):
    with torch.autocast(DEVICE, torch.bfloat16, enabled=dtype == torch.bfloat16):
        mlp_step(suffix)
        cnn_step(suffix)
        transformer_step(suffix)


# Whether a group runs in bfloat16 after float32.
GROUPS = {pointwise: True, reductions: True, products: True, layers: True, convolutions: True,
          attention: True, order: False, small: False, optimizers: False, steps: True}


def main():
    wanted = sys.argv[1:]
    for group, has_bfloat16 in GROUPS.items():
        if wanted and group.__name__ not in wanted:
            continue
        for dtype in (torch.float32, torch.bfloat16) if has_bfloat16 else (torch.float32,):
            try:
                group(dtype, "" if dtype == torch.float32 else ", bfloat16")
            except Exception as error:  # from building the inputs
                print(f"{group.__name__}\tfailed: {error}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times in PyTorch what bench/gpu.cpp times in Hearth: the same names, sizes and way of measuring."""

import torch

LARGE = 1 << 26
CALLS = 100


def microseconds(call):
    best = float("inf")
    for round_number in range(6):  # the first warms up
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(CALLS):
            call()
        end.record()
        end.synchronize()
        if round_number > 0:
            best = min(best, start.elapsed_time(end) * 1000 / CALLS)
    return best


def report(name, call):
    print(f"{name}\t{microseconds(call):.2f}", flush=True)


def pointwise(dtype, suffix):
    a, b = (torch.randn(LARGE, device="cuda", dtype=dtype) for _ in range(2))
    matrix = torch.randn(8192, 8192, device="cuda", dtype=dtype)
    row = torch.randn(8192, device="cuda", dtype=dtype)
    report("add" + suffix, lambda: torch.add(a, b))
    report("add number" + suffix, lambda: torch.add(a, 2.5))
    report("add row" + suffix, lambda: torch.add(matrix, row))
    report("gelu" + suffix, lambda: torch.nn.functional.gelu(a))
    report("transposed copy" + suffix, lambda: matrix.t().contiguous())
    report("dropout" + suffix, lambda: torch.dropout(a, 0.5, True))
    report("sum" + suffix, lambda: a.sum())
    report("sum of rows" + suffix, lambda: matrix.sum(1))
    report("sum of columns" + suffix, lambda: matrix.sum(0))
    report("max of rows" + suffix, lambda: matrix.max(1))
    report("cat" + suffix, lambda: torch.cat([matrix, matrix], 1))


def products(dtype, suffix):
    a, b = (torch.randn(4096, 4096, device="cuda", dtype=dtype) for _ in range(2))
    bias = torch.randn(4096, device="cuda", dtype=dtype)
    batch = torch.randn(64, 512, 512, device="cuda", dtype=dtype)
    report("matmul 4096" + suffix, lambda: torch.matmul(a, b))
    report("matmul 4096 transposed" + suffix, lambda: torch.matmul(a, b.t()))
    report("addmm 4096" + suffix, lambda: torch.addmm(bias, a, b))
    report("bmm 64 x 512" + suffix, lambda: torch.bmm(batch, batch))


def others():
    image = torch.randn(64, 64, 56, 56, device="cuda")
    channel = torch.ones(64, device="cuda")
    mean, var = torch.zeros(64, device="cuda"), torch.ones(64, device="cuda")
    report("batch_norm", lambda: torch.batch_norm(image, channel, channel, mean, var, True, 0.1, 1e-5, True))
    table = torch.randn(100000, 256, device="cuda")
    index = torch.randint(100000, (8192, 256), device="cuda")
    report("gather", lambda: torch.gather(table, 0, index))
    total, part = torch.zeros(100000, 256, device="cuda"), torch.randn(8192, 256, device="cuda")
    report("scatter_add", lambda: torch.scatter_add(total, 0, index, part))
    sparse = torch.randn(8192, 8192, device="cuda") > 2
    report("nonzero", lambda: torch.nonzero(sparse))
    small = torch.randn(4, device="cuda")
    report("add of 4", lambda: torch.add(small, small))
    leaf = torch.randn(1024, 1024, device="cuda", requires_grad=True)
    report("gelu, sum, backward", lambda: torch.nn.functional.gelu(leaf).sum().backward())


pointwise(torch.float32, "")
pointwise(torch.bfloat16, ", bfloat16")
products(torch.float32, "")
products(torch.bfloat16, ", bfloat16")
others()

#!/usr/bin/env python3
"""Writes tests/fixtures/print_cases.txt: tensors and the texts that PyTorch prints for them.

A case is a line "case <dtype> <sizes> <requires_grad> <values>", PyTorch's text, and a line "end".
Sizes are written "2x3", or "-" for a 0-d tensor. The values (floats in hexadecimal, complex numbers
as two) are repeated until the tensor is full.
"""

import math
import random
import re
import sys
from pathlib import Path

import torch

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
FLOATS8 = [torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz, torch.float8_e8m0fnu]
COMPLEX = [torch.complex64, torch.complex128]
SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan")]
SIZES = [(), (1,), (3,), (7,), (23,), (2, 3), (3, 1), (1, 19), (2, 2, 3), (2, 1, 2, 2),
         (1, 1, 1, 1, 2)]
LARGE = [(1001,), (40, 30), (7, 150), (4, 8, 40), (2, 3, 7, 30), (1200, 1), (1, 1100),
         (5, 1, 300)]
EMPTY = [(0,), (0, 3), (2, 0, 1)]


def numbers(count, rng):
    """Random real numbers of one kind, such as whole numbers or numbers of very different
    magnitudes, sometimes with infinities, zeros and NaN among them."""
    kind = rng.randrange(7)
    draw = [lambda: rng.uniform(-1, 1),
            lambda: rng.gauss(0, 100),
            lambda: float(rng.randint(-20, 20)),
            lambda: float(rng.randint(0, 10**rng.randint(1, 9))),
            lambda: rng.gauss(0, 10) * 10.0**rng.randint(-8, 8),
            lambda: rng.uniform(1, 2) * 1e-5,
            lambda: rng.choice([0.5, 1.0, 2.5])][kind]
    values = [draw() for _ in range(count)]
    if rng.random() < 0.35:
        for _ in range(rng.randint(1, 3)):
            values[rng.randrange(count)] = rng.choice(SPECIAL)
    return values


def elements(dtype, count, rng):
    if dtype in COMPLEX:
        return [complex(a, b) for a, b in zip(numbers(count, rng), numbers(count, rng))]
    if dtype == torch.float8_e8m0fnu:  # PyTorch prints its smallest number, which 0 becomes, as 0
        return [v or 1.0 for v in numbers(count, rng)]
    if dtype in FLOATS + FLOATS8:
        return numbers(count, rng)
    if dtype == torch.bool:
        return [rng.random() < 0.5 for _ in range(count)]
    info = torch.iinfo(dtype)
    bound = rng.choice([9, 100, info.max])
    return [rng.randint(max(info.min, -bound), min(info.max, bound)) for _ in range(count)]


def text_of(value):
    if isinstance(value, complex):
        return f"{text_of(value.real)} {text_of(value.imag)}"
    return re.sub(r"\.?0*p", "p", value.hex()) if isinstance(value, float) else str(int(value))


def case(dtype, size, rng):
    total = math.prod(size)
    count = max(1, min(total, 24 + rng.randrange(9)))
    base = torch.tensor(elements(dtype, count, rng), dtype=dtype)
    repeats = -(-total // base.numel())  # rounded up
    tensor = base.repeat(repeats)[:total].reshape(size)
    needs_grad = dtype in FLOATS + COMPLEX and rng.random() < 0.25
    tensor.requires_grad_(needs_grad)
    name = str(dtype).removeprefix("torch.")
    sizes = "x".join(map(str, size)) or "-"
    values = " ".join(text_of(v) for v in base.tolist())
    return f"case {name} {sizes} {int(needs_grad)} {values}\n{tensor!r}\nend\n"


def main():
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    dtypes = FLOATS + INTEGERS + COMPLEX + [torch.bool]
    cases = [case(rng.choice(FLOATS), size, rng) for size in SIZES for _ in range(6)]
    cases += [case(dtype, rng.choice(SIZES), rng) for dtype in dtypes for _ in range(6)]
    common = [*FLOATS, *COMPLEX, torch.int64, torch.bool]
    cases += [case(rng.choice(common), size, rng) for size in LARGE for _ in range(2)]
    cases += [case(dtype, rng.choice(EMPTY), rng) for dtype in dtypes]
    cases += [case(dtype, rng.choice(SIZES), rng) for dtype in UNSIGNED + FLOATS8 for _ in range(4)]
    default = Path(__file__).resolve().parent.parent / "fixtures" / "print_cases.txt"
    output = Path(sys.argv[2]) if len(sys.argv) > 2 else default
    output.write_text("".join(cases))


if __name__ == "__main__":
    main()

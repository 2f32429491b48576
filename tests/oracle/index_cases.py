#!/usr/bin/env python3
"""Writes tests/fixtures/index_cases.txt: index expressions and PyTorch's results.

    index_cases.py [seed [number of cases [output file]]]

A case is one line of fields separated by " | ":
  - the sizes of the indexed tensor, whose elements are 0, 1, 2, ...
  - the indices: N (None), E (...), i3 (a number), bT, bF (booleans), s1:5:2 (a slice; parts may be
    absent), t2x3:0,1,... (an int64 tensor), u2x3:... (int32), m3:0,1,1 (a mask)
  - the sizes of the result
  - the result's elements
  - the gradient of sum(result * (1, 2, ...))
  - the sizes of a value, whose elements are -1, -2, ...
  - the tensor's elements after the value is assigned to the indexed part
An empty list is "-". If PyTorch fails, the fields after the indices are "error" and its message.
"""

import random
import sys
from math import prod as product
from pathlib import Path

import torch


def joined(values, separator):
    return separator.join(str(int(v)) for v in values) or "-"


def tensor_index(kind, values):
    name = f"{kind}{joined(values.shape, 'x')}:{joined(values.reshape(-1).tolist(), ',')}"
    return name, values


def slice_index(size, rng):
    parts = [rng.choice([None, rng.randint(-size - 2, size + 2)]) for _ in range(2)]
    parts.append(rng.choice([None, 1, 2, 3]))
    return "s" + ":".join("" if p is None else str(p) for p in parts), slice(*parts)


def index_for(sizes, shape, rng):
    """An index for the first of `sizes`, and the number of dimensions that it consumes."""
    size = sizes[0]
    kind = rng.choice("iisssttttumm")
    if kind == "i":
        # Sometimes out of range by one.
        value = rng.randint(-size - (rng.random() < 0.03), size - (rng.random() > 0.03))
        return (f"i{value}", value), 1
    if kind == "s":
        return slice_index(size, rng), 1
    if kind == "m":
        dims = rng.randint(1, min(2, len(sizes)))
        draws = torch.tensor([rng.random() for _ in range(product(sizes[:dims]))])
        mask = (draws < 0.5).reshape(sizes[:dims])
        misfit = dims == 1 and rng.random() < 0.03
        return tensor_index("m", torch.cat([mask, mask]) if misfit else mask), dims
    own_shape = rng.choice([shape, shape, shape[1:], (1,) * len(shape), ()])
    if rng.random() < 0.03:
        own_shape = (5,)
    numbers = [rng.randint(-size, size - 1) for _ in range(product(own_shape))]
    values = torch.tensor(numbers, dtype=torch.int64).reshape(own_shape)
    return tensor_index(kind, values.int() if kind == "u" else values), 1


def expression(sizes, rng):
    shape = rng.choice([(2,), (3,), (2, 2), (1, 3), (0,)])
    names, values, dim, ellipsis = [], [], 0, False
    while dim < len(sizes) and rng.random() < 0.85:
        if rng.random() < 0.12:
            pick = rng.choice([("N", None), ("bT", True), ("bF", False), ("N", None)])
        elif not ellipsis and rng.random() < 0.1:
            ellipsis = True
            dim += rng.randint(0, len(sizes) - dim)
            pick = ("E", ...)
        else:
            pick, used = index_for(sizes[dim:], shape, rng)
            dim += used
        names.append(pick[0])
        values.append(pick[1])
    if rng.random() < 0.03:
        names += ["i0"] * (len(sizes) + 1)
        values += [0] * (len(sizes) + 1)
    # After "...", an index may be applied to a dimension of another size; PyTorch's error is a case.
    return (names, tuple(values)) if names else expression(sizes, rng)


def value_for(result, rng):
    sizes = [rng.choice([n, n, 1]) for n in result.shape[rng.randint(0, result.dim()):]]
    return -torch.arange(1, product(sizes) + 1, dtype=torch.float).reshape(sizes)


def case(rng):
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    names, index = expression(sizes, rng)
    head = f"{joined(sizes, 'x')} | {' '.join(names)}"
    source = torch.arange(product(sizes), dtype=torch.float).reshape(sizes).requires_grad_()
    try:
        result = source[index]
    except IndexError as error:
        text = str(error).splitlines()[0]
        # PyTorch's text counts the dimensions after moving those of index tensors to the front.
        is_omitted = "out of bounds" in text and any(name[0] in "tu" for name in names)
        return None if is_omitted else f"{head} | error | {text}"
    weights = torch.arange(1, result.numel() + 1, dtype=torch.float).reshape(result.shape)
    (result * weights).sum().backward()
    target, value = source.detach().clone(), value_for(result, rng)
    target[index] = value
    fields = [head, joined(result.shape, "x"), joined(result.reshape(-1).tolist(), ","),
              joined(source.grad.reshape(-1).tolist(), ","), joined(value.shape, "x"),
              joined(target.reshape(-1).tolist(), ",")]
    return " | ".join(fields)


def main():
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    default = Path(__file__).resolve().parent.parent / "fixtures" / "index_cases.txt"
    output = Path(sys.argv[3]) if len(sys.argv) > 3 else default
    cases = [case(rng) for _ in range(count)]
    output.write_text("".join(f"{line}\n" for line in cases if line))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes tests/fixtures/dtype_cases.txt: PyTorch's conversions from and to the dtypes without kernels.

to_float <dtype> <bits>        the float32 number of each of the 256 codes, in hexadecimal
from_float <dtype> <runs>      codes of all float16 numbers and of the float32 numbers halfway to the
                               next one, in the order of their bits, as <code>*<count>
convert <from> <to> <bytes> <bytes>   numbers, each converted by itself, in hexadecimal
"""

import itertools
from pathlib import Path

import torch

FLOAT8 = (torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz,
          torch.float8_e8m0fnu)
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
REAL = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
INTEGERS = [0, 1, 2, 3, 100, 127, 200, 255, 300, 449, 481, 2**11 + 1, 2**15 - 1, 2**16 - 1, 2**24 + 1, 2**31 - 1,
            2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1025, 2**64 - 1]
NUMBERS = [0.0, -0.0, 0.3, -0.7, 1.5, -1.0, 3.1, 17.0, -33.0, 255.5, 447.0, 465.0, 70000.0, 3e9, 1e10, 1.8e19, 1e-3, 1e-8,
           -1e-40, 3e38, float("inf"), -float("inf"), float("nan")]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def bytes_of(tensor):
    return bytes(tensor.reshape(1).view(torch.uint8).tolist()).hex()


def numbers(dtype, target):
    """Tensors of one element that convert to `target` as C++ or x86 instructions define."""
    if dtype == torch.bool:
        return [torch.tensor(False), torch.tensor(True)]
    if dtype in FLOAT8:
        # NaN of float8_e8m0fnu becomes 0 or the lowest integer, as the compiler chooses.
        codes = range(0, 255 if target in UNSIGNED + SIGNED else 256, 5)
        return [torch.tensor([code], dtype=torch.uint8).view(dtype) for code in codes]
    if dtype in UNSIGNED + SIGNED:
        info = torch.iinfo(dtype)
        values = [v for v in INTEGERS if v <= info.max] + [-v for v in INTEGERS if -v >= info.min and v > 0]
        return [torch.tensor(v, dtype=dtype) for v in values]
    if dtype in COMPLEX:
        return [torch.tensor(complex(v, 2), dtype=dtype) for v in NUMBERS]
    return [torch.tensor(v, dtype=torch.float64).to(dtype) for v in NUMBERS]


def codes(dtype):
    halves = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.float16).float().view(torch.int32)
    both = torch.stack([halves, halves + 0x1000], 1).reshape(-1).view(torch.float32)
    runs = itertools.groupby(both.to(dtype).view(torch.uint8).tolist())
    return " ".join(f"{code}*{len(list(run))}" for code, run in runs)


def main():
    lines = []
    for dtype in FLOAT8:
        bits = torch.arange(256, dtype=torch.uint8).view(dtype).float().view(torch.int32)
        lines.append(f"to_float {name_of(dtype)} " + " ".join(f"{b & 0xffffffff:x}" for b in bits.tolist()))
        lines.append(f"from_float {name_of(dtype)} {codes(dtype)}")
    stored, all_dtypes = FLOAT8 + UNSIGNED, FLOAT8 + UNSIGNED + SIGNED + REAL + COMPLEX + (torch.bool,)
    for source, target in itertools.product(all_dtypes, all_dtypes):
        if source == target or (source not in stored and target not in stored):
            continue
        given = numbers(source, target)
        lines.append(" ".join(["convert", name_of(source), name_of(target), "".join(map(bytes_of, given)),
                               "".join(bytes_of(number.to(target)) for number in given)]))
    path = Path(__file__).resolve().parent.parent / "fixtures" / "dtype_cases.txt"
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

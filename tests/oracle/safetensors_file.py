#!/usr/bin/env python3
"""Exchanges safetensors files between Python's package and Hearth.

safetensors_file.py write PATH   writes the fixture python.safetensors
safetensors_file.py check PATH   checks a file that tests/io/archive.cpp wrote into $HEARTH_KEEP_FILES
"""

import json
import sys

import torch
from safetensors import safe_open
from safetensors.torch import save_file


def write(path):
    tensors = {
        "matrix": torch.arange(6, dtype=torch.float32).view(2, 3) - 2.5,
        "bool": torch.tensor([True, False, True]),
        "scalar": torch.tensor(-7),
        "empty": torch.zeros(0, 3),
        "complex64": torch.complex(torch.arange(2.0), torch.ones(2)),
    }
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.float16,
                  torch.bfloat16, torch.float64):
        tensors[str(dtype).removeprefix("torch.")] = torch.arange(5).to(dtype)
    for dtype in (torch.uint16, torch.uint32, torch.uint64, torch.float8_e5m2, torch.float8_e4m3fn,
                  torch.float8_e5m2fnuz, torch.float8_e4m3fnuz, torch.float8_e8m0fnu):
        tensors[str(dtype).removeprefix("torch.")] = torch.tensor([1.0, 128.0]).to(dtype)
    save_file(tensors, path, metadata={"made_by": "python"})


def check(path):
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        values = json.loads(file.metadata()["hearth"])["values"]
    assert torch.equal(tensors["net.weight"], torch.arange(6.0).view(2, 3)), tensors
    assert torch.equal(tensors["net.mask"], torch.tensor([True, False])), tensors
    assert torch.equal(tensors["half"], torch.arange(5).to(torch.bfloat16)), tensors
    assert values == {"step": 5, "lr": 0.1, "name": "a \"name\"", "done": False}, values
    print("ok")


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])

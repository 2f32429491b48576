#!/usr/bin/env python3
"""Carries the weights of the models in zoo.py from Python to Hearth and back, as .pt and as
safetensors. The tensors must come back with equal dtypes and values, and Hearth's outputs must
equal Python's within 1e-4.

    cmake --build --preset release --target hearth
    .venv-peer/bin/python tests/oracle/weights_round_trip.py [build folder]

The default folder is build/release. Needs torch, numpy and safetensors.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import zoo

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release").resolve()


def compile_program(path):
    flags = ["-std=c++20", f"-I{ROOT}", f"-I{ROOT}/include", f"-L{BUILD}", "-lhearth", f"-Wl,-rpath,{BUILD}"]
    subprocess.run(["g++", ROOT / "tests" / "oracle" / "weights_round_trip.cpp", "-o", path, *flags], check=True)


def save(folder):
    """Writes all models and returns them with their outputs."""
    image = torch.sin(torch.arange(3 * 64 * 64) * 0.11).reshape(1, 3, 64, 64)
    models = {name: (make, lambda model: model(image)) for name, make in zoo.MODELS.items()} | zoo.LANGUAGE_MODELS
    result = {}
    for name, (make, run) in models.items():
        torch.manual_seed(0)
        model = make().eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if not parameter.any():
                    parameter.normal_(0, 0.02)
            output = run(model)
        state = zoo.state_of(model)
        torch.save(model.state_dict(), folder / f"{name}.pt")
        save_file({key: tensor.contiguous() for key, tensor in state.items()}, folder / f"{name}.safetensors")
        result[name] = (model, state, output)
    return result


def check(folder, name, model, state, output):
    for read, suffix in ((lambda p: torch.load(p, weights_only=True), ".pt"), (load_file, ".safetensors")):
        path = folder / f"{name}_back{suffix}"
        back = read(path)
        assert back.keys() == state.keys(), (name, suffix)
        for key, tensor in back.items():
            assert tensor.dtype == state[key].dtype and torch.equal(tensor, state[key]), (name, suffix, key)
        # GPT-2's output layer is the embedding's tensor, which Hearth's files have once.
        model.load_state_dict(back, strict=name != "gpt2")
        ours = torch.from_numpy(np.load(f"{path}.npy"))
        torch.testing.assert_close(ours, output.reshape(ours.shape), rtol=1e-4, atol=1e-4)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = save(folder)
        compile_program(folder / "weights_round_trip")
        done = subprocess.run([folder / "weights_round_trip", folder], check=True, capture_output=True, text=True)
        assert set(done.stdout.split()) == set(models), done.stdout
        for name, parts in models.items():
            check(folder, name, *parts)
    print(len(models), "models: all weights came back unchanged")


if __name__ == "__main__":
    sys.exit(main())

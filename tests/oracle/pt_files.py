#!/usr/bin/env python3
"""Exchanges files of torch.save, torch.jit.save and NumPy between Python and Hearth.

pt_files.py write FOLDER   writes the files of tests/fixtures/pt, except those whose name begins with
                           libtorch_, which come from libtorch_archives.cpp
pt_files.py check FOLDER   checks the files that tests/io wrote into $HEARTH_KEEP_FILES
"""

import io
import os
import pickle
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "pt"
DTYPES = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32,
          torch.float64, torch.bfloat16, torch.complex64, torch.complex128, torch.bool)
STORED = (torch.uint16, torch.uint32, torch.uint64, torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz,
          torch.float8_e4m3fnuz, torch.float8_e8m0fnu)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
        self.bn = torch.nn.BatchNorm1d(2)
        self.scale = torch.nn.Parameter(torch.full((2,), 1.5))
        with torch.no_grad():
            start = 0
            for p in (self.scale, *self.fc.parameters(), *self.bn.parameters()):
                p.copy_(torch.arange(start, start + p.numel()).view(p.shape) / 8)
                start += p.numel()

    def forward(self, x):
        return self.bn(self.fc(x)) * self.scale


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


def dtypes():
    return {str(t).removeprefix("torch."): torch.arange(5).to(t) for t in DTYPES}


def stored():
    """Dtypes without a class of storages, whose storages are bytes; two of them share one."""
    tensors = {str(t).removeprefix("torch."): torch.arange(1, 5).to(t) for t in STORED}
    return tensors | {"transposed": tensors["uint32"].view(2, 2).t(), "row": tensors["uint32"][1:3]}


def values():
    return {"none": None, "bool": True, "int": -3, "large": 1 << 40, "negative": -(1 << 40), "float": 2.5,
            "text": "é", "list": [1, 2.5, "x", [False]], "tuple": (1, (2, 3), ()), "empty": {}, 7: "seven",
            "size": torch.Size([2, 3]), "dtype": torch.float32, "device": torch.device("cuda", 1),
            "ordered": OrderedDict(a=1), "bytes255": 255, "short": 65535, "word": 65536}


def builtins():
    """Values of other classes that torch.load(weights_only=True) accepts."""
    return {"set": {1, "a", (2, 3)}, "empty": set(), "bytes": bytes(range(256)), "bytearray": bytearray(b"a\xff"),
            "none": bytearray(), "complex": 1.5 - 2j}


def shared():
    base = torch.arange(12.0).view(3, 4)
    shared_list = [1]
    return {"base": base, "transposed": base.t(), "row": base[1], "column": base[:, 2],
            "strided": base[::2, 1:3], "expanded": base[0, :1].expand(5, 1), "scalar": base[2, 3],
            "empty": torch.zeros(0, 3), "parameter": torch.nn.Parameter(torch.ones(2)),
            "grad": torch.zeros(1, requires_grad=True), "buffer": torch.nn.Buffer(torch.ones(1)),
            "again": [shared_list, shared_list]}


def step(optimizer, weight, bias):
    def closure():
        optimizer.zero_grad()
        loss = weight.pow(2).sum() + (bias + 1).pow(2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)


def new_optimizer(optimizer_class, **options):
    weight = torch.arange(4.0).view(2, 2).requires_grad_()
    bias = torch.zeros(2).requires_grad_()
    groups = {torch.optim.LBFGS: [weight, bias], torch.optim.Muon: [weight]}.get(
        optimizer_class, [{"params": [weight]}, {"params": [bias], "lr": 0.25}])
    return optimizer_class(groups, lr=0.1, **options), weight, bias


def stepped(optimizer_class, steps=2, **options):
    optimizer, weight, bias = new_optimizer(optimizer_class, **options)
    for _ in range(steps):
        step(optimizer, weight, bias)
    return optimizer.state_dict()


def resumed(optimizer_class, file):
    """The optimizer's state in a file, and the parameters after one more step."""
    optimizer, weight, bias = new_optimizer(optimizer_class)
    optimizer.load_state_dict(torch.load(file, weights_only=True))
    state = optimizer.state_dict()
    step(optimizer, weight, bias)
    return state, [weight.detach(), bias.detach()]


def rezip(data, method, change=lambda name, content: content):
    """The archive with another compression; `change` replaces the contents of its files."""
    source, target = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name in source.namelist():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            archive.writestr(info, change(name, source.read(name)))
    return target.getvalue()


def to_big_endian(name, content):
    if name.endswith("byteorder"):
        return b"big"
    return np.frombuffer(content, "<f4").byteswap().tobytes() if "/data/" in name else content


def stored_to_big_endian(name, content):
    if "/data/" not in name:
        return to_big_endian(name, content)
    width = STORED[int(name.rsplit("/")[-1])].itemsize
    return np.frombuffer(content, f"u{width}").byteswap().tobytes()


def lazy():
    """A lazy conjugate, a lazy negative, both, and views of them."""
    z = torch.tensor([[1 + 2j, 3 - 4j], [5j, -6 + 0j]])
    return {"conj": z.conj(), "neg": z.clone().conj().imag, "both": z.t().conj(), "row": z.conj()[1]}


def saved(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


def scaled():
    """The state of a gradient scaler after a skipped step and one more."""
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0, growth_interval=7)
    param = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([param])
    for factor in (float("inf"), 1.0):
        optimizer.zero_grad()
        scaler.scale(param.sum() * factor).backward()
        scaler.step(optimizer)
        scaler.update()
    return scaler.state_dict()


def write_torch(folder):
    torch.manual_seed(0)
    files = {"dtypes": dtypes(), "values": values(), "builtins": builtins(), "lazy": lazy(), "shared": shared(), "tensor": torch.arange(6.0).view(2, 3).t(),
             "list": [torch.ones(2), torch.zeros(1, dtype=torch.int64)], "module": Net().state_dict(),
             "adam": stepped(torch.optim.Adam, betas=(0.8, 0.9), amsgrad=True),
             "sgd": stepped(torch.optim.SGD, momentum=0.5, nesterov=True),
             "sgd_plain": stepped(torch.optim.SGD),
             "rmsprop": stepped(torch.optim.RMSprop, centered=True, momentum=0.5),
             "adamw": stepped(torch.optim.AdamW), "adagrad": stepped(torch.optim.Adagrad),
             "adafactor": stepped(torch.optim.Adafactor), "muon": stepped(torch.optim.Muon),
             "grad_scaler": scaled(),
             "lbfgs": stepped(torch.optim.LBFGS, max_iter=4, history_size=4),
             "lbfgs_first": stepped(torch.optim.LBFGS, steps=1, max_iter=1)}
    for name, value in files.items():
        torch.save(value, folder / f"{name}.pt")
    floats = {"a": torch.arange(3.0), "b": torch.arange(4.0).view(2, 2)}
    (folder / "deflated.pt").write_bytes(rezip(saved(floats), zipfile.ZIP_DEFLATED))
    (folder / "big_endian.pt").write_bytes(rezip(saved(floats), zipfile.ZIP_STORED, to_big_endian))
    (folder / "old.pt").write_bytes(saved(floats, _use_new_zipfile_serialization=False))
    (folder / "unknown_order.pt").write_bytes(
        rezip(saved(floats), zipfile.ZIP_STORED, lambda name, content: b"BIG" if name.endswith("byteorder") else content))
    (folder / "new_version.pt").write_bytes(
        rezip(saved(floats), zipfile.ZIP_STORED, lambda name, content: b"11" if name.endswith("/version") else content))
    (folder / "stored.pt").write_bytes(saved(stored()))
    (folder / "big_endian_stored.pt").write_bytes(rezip(saved(stored()), zipfile.ZIP_STORED, stored_to_big_endian))
    byte = torch.arange(1, 13, dtype=torch.uint8)
    pairs = {"uint8_uint16": [byte, byte.view(torch.uint16)], "uint16_uint8": [byte.view(torch.uint16), byte],
             "uint8_float8": [byte, byte.view(torch.float8_e4m3fn)]}
    for name, pair in pairs.items():
        (folder / f"big_endian_{name}.pt").write_bytes(
            rezip(saved(pair), zipfile.ZIP_STORED, lambda name, content: b"big" if name.endswith("byteorder") else content))
    (folder / "complex32.pt").write_bytes(saved({"a": torch.zeros(4, dtype=torch.uint8).view(torch.complex32)}))
    (folder / "protocol4.pt").write_bytes(saved(floats, pickle_protocol=4))
    torch.serialization.set_crc32_options(False)
    (folder / "unchecked.pt").write_bytes(saved(floats))
    torch.serialization.set_crc32_options(True)
    (folder / "meta.pt").write_bytes(saved({"shape": torch.empty(2, device="meta")}))
    (folder / "evil.pt").write_bytes(saved({"a": torch.ones(1), "b": Evil()}))
    net = Net().eval()
    torch.jit.save(torch.jit.trace(net, torch.ones(1, 2)), folder / "traced.pt")
    torch.jit.save(torch.jit.script(net), folder / "scripted.pt")
    torch.jit.save(torch.jit.script(torch.nn.LSTM(2, 3)), folder / "scripted_lstm.pt")


ARRAYS = {"f32": np.arange(6, dtype=np.float32).reshape(2, 3), "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
          "scalar": np.array(-7), "empty": np.zeros((0, 3), np.int16), "big": np.arange(3, dtype=">i4"),
          "bool": np.array([True, False]), "c64": np.array([1 + 2j], np.complex64), "u8": np.arange(3, dtype=np.uint8),
          "u16": np.array([1, 65535], np.uint16), "u32": np.array([1, 2**32 - 1], ">u4"),
          "u64": np.array([1, 2**64 - 1], np.uint64), "f16": np.arange(3, dtype=np.float16), "c128": np.array([[3 - 4j]])}


def write_numpy(folder):
    for name in ("f32", "fortran"):
        np.save(folder / f"{name}.npy", ARRAYS[name])
    for version in ((2, 0), (3, 0)):
        with open(folder / f"version{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, ARRAYS["f32"], version)
    np.savez(folder / "arrays.npz", **ARRAYS)
    np.savez_compressed(folder / "compressed.npz", ones=np.ones((100,), np.float32))


def write(folder):
    folder.mkdir(exist_ok=True)
    write_torch(folder)
    write_numpy(folder)


def assert_equal(found, expected, path=""):
    if isinstance(expected, torch.Tensor):
        assert isinstance(found, torch.Tensor) and found.dtype == expected.dtype, path
        assert torch.equal(found, expected), (path, found, expected)
        assert found.stride() == expected.stride(), (path, found.stride(), expected.stride())
        assert found.requires_grad == expected.requires_grad, path
    elif isinstance(expected, dict):
        assert list(found) == list(expected), (path, list(found))
        for key in expected:
            assert_equal(found[key], expected[key], f"{path}.{key}")
    elif isinstance(expected, (list, tuple)):
        assert type(found) in (list, tuple) and isinstance(found, tuple) == isinstance(expected, tuple), path
        assert len(found) == len(expected), path
        for i, (a, b) in enumerate(zip(found, expected)):
            assert_equal(a, b, f"{path}.{i}")
    else:
        expected = str(expected) if isinstance(expected, torch.dtype) else expected
        assert found == expected and type(found) is type(expected), (path, found, expected)


def check_torch(folder):
    for name, expected in {"dtypes": dtypes(), "stored": stored(), "values": values(), "shared": shared(),
                           "module": Net().state_dict()}.items():
        for mmap in (False, True):
            found = torch.load(folder / f"again_{name}.pt", weights_only=True, mmap=mmap)
            assert_equal(found, expected, name)
    number = torch.load(folder / "again_complex.pt", weights_only=True)
    assert_equal(number, builtins()["complex"], "complex")
    found = torch.load(folder / "again_shared.pt", weights_only=True)
    keys = ("base", "transposed", "row", "column", "strided", "expanded", "scalar")
    assert len({found[key].untyped_storage().data_ptr() for key in keys}) == 1, "storage is shared"
    net = Net()
    net.load_state_dict(torch.load(folder / "hearth_module.pt", weights_only=True))
    assert torch.equal(net.fc.weight, torch.full((2, 2), 0.5)), net.fc.weight
    scaler = torch.amp.GradScaler("cpu")
    scaler.load_state_dict(torch.load(folder / "again_grad_scaler.pt", weights_only=True))
    assert scaler.state_dict() == scaled(), scaler.state_dict()
    for name, optimizer_class in {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}.items():
        parameters = [torch.zeros(2, 2, requires_grad=True), torch.zeros(2, requires_grad=True)]
        optimizer = optimizer_class([{"params": [p]} for p in parameters], lr=1.0)
        optimizer.load_state_dict(torch.load(folder / f"again_{name}.pt", weights_only=True))
        expected = torch.load(FIXTURES / f"{name}.pt", weights_only=True)
        assert_equal(optimizer.state_dict()["state"], expected["state"], name)
        groups = optimizer.state_dict()["param_groups"]
        assert [g["lr"] for g in groups] == [0.1, 0.25], groups
        for p in parameters:
            p.grad = torch.ones_like(p)
        optimizer.step()
    check_none_and_lists(folder)


def check_none_and_lists(folder):
    """Checks optimizers whose state dicts contain None or lists."""
    for optimizer_class in (torch.optim.LBFGS, torch.optim.Muon, torch.optim.Adafactor):
        name = optimizer_class.__name__.lower()
        found, parameters = resumed(optimizer_class, folder / f"again_{name}.pt")
        expected, expected_parameters = resumed(optimizer_class, FIXTURES / f"{name}.pt")
        for group, expected_group in zip(found["param_groups"], expected["param_groups"]):
            for key in set(expected_group) - {"foreach"}:
                assert_equal(group[key], expected_group[key], f"{name}.{key}")
        for number, state in expected["state"].items():
            for key in set(state) - {"al"}:
                assert type(found["state"][number][key]) is type(state[key]), (name, key)
        torch.testing.assert_close(parameters, expected_parameters, msg=name)


def check_numpy(folder):
    found = np.load(folder / "again_arrays.npz")
    assert sorted(found) == sorted(ARRAYS), sorted(found)
    for name, expected in ARRAYS.items():
        assert found[name].dtype == expected.dtype.newbyteorder("="), name
        assert np.array_equal(found[name], expected) and found[name].shape == expected.shape, name
    assert np.array_equal(np.load(folder / "again_f32.npy"), ARRAYS["f32"])


def check(folder):
    check_torch(folder)
    check_numpy(folder)
    print("pt_files: ok")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](Path(sys.argv[2]))

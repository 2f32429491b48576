#!/usr/bin/env python3
"""Recomputes the rows of Hearth's op table with PyTorch and compares values, dtypes and gradients.

    HEARTH_ORACLE_FILE=/tmp/rows.jsonl build/release/test_ops --gtest_filter=Oracle.Dump
    .venv-peer/bin/python tests/oracle/compare.py /tmp/rows.jsonl

With HEARTH_ORACLE_AUTOCAST=1 for the first command and --autocast for the second, both run under
autocast on the CPU. A call that fails in Hearth must fail in PyTorch, and vice versa.
"""

import json
import sys

import torch

from calls import CALLS, CONSTANT

TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
AUTOCAST = "--autocast" in sys.argv
# Larger, because products of rounded inputs are added in different orders and rounded again.
AUTOCAST_TOLERANCE = 6e-2
# Ops that return float32, but whose inner products PyTorch computes in the autocast dtype.
PRODUCTS_INSIDE = ("bilinear", "cosine_similarity", "cosine_embedding_loss")
# PyTorch's error for an op that accepts only the autocast dtype; Hearth computes in the inputs'
# widest dtype.
LENIENT = "Unexpected floating ScalarType in at::autocast::prioritize"

HALVES = ("float16", "bfloat16")
ANY = ("float16", "bfloat16", "float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool")
# Intended differences: the row, a part of the problem's text, the dtypes of the first input, the
# largest difference of a value (None if the problem is not such a difference), and the reason.
EXPLAINED = [
    ("_unique2", "is not implemented", ANY, None, "Hearth fails only if a gradient is computed"),
    ("unique_dim", "is not implemented", ANY, None, "as _unique2"),
    ("unique_consecutive", "is not implemented", ANY, None, "as _unique2"),
    ("binary_cross_entropy", "not differentiable with respect to argument 'weight'", ANY, None,
     "Hearth has that derivative"),
    ("binary_cross_entropy_with_logits_weighted", "not differentiable with respect to argument", ANY, None, "as binary_cross_entropy"),
    ("hardsigmoid", "gradient 0", ("float64",), 1e-7, "PyTorch rounds 1/6 to float32 even for float64"),
    ("std_mean", "gradient 0", HALVES, 0.2, "the gradients of two outputs are rounded before they are added"),
    ("log_softmax_vector", "gradient 0", HALVES, 1.0, "PyTorch adds 2,500 gradients one after another in half precision"),
    ("conv3d_same", "gradient 0", HALVES, 0.1, "PyTorch pads and adds in float16"),
    ("gelu", "output 0 is inf", ("float32", "bfloat16"), None, "at infinity PyTorch's vectorised code gives NaN, its scalar code infinity"),
    ("softsign", "gradient 0 is 0 at [2]", HALVES + ("float32", "float64"), None, "at infinity the slope is 0"),
    ("relu6", "gradient 0 is 2.5 at [4]", ("float64",), 2.5, "at NaN PyTorch's float64 gives 0, its other dtypes do not"),
    ("hardtanh", "gradient 0 is 2.5 at [4]", ("float64",), 2.5, "as relu6"),
    ("pow", "gradient 0 is inf at [146]", HALVES, None, "PyTorch rounds 1e4 - 1 to a half type, and so to an even number"),
    *((name, "Hearth says it is an error", ANY, None, "calls.py composes this step of PyTorch's ops, which promote mixed dtypes")
      for name in ("fused_rmsprop", "fused_rmsprop_momentum", "fused_rmsprop_centered",
                   "fused_rmsprop_centered_momentum")),
    ("index_copy", "expected to have the same dtype", ANY, None, "under autocast Hearth also promotes to float64"),
    ("group_norm", "expected scalar type Float but found", ANY, None, "Hearth accepts a float32 bias without a weight"),
]
# Differences in which Hearth should follow PyTorch: counted and listed at the end.
DEVIATIONS = [
    ("huber_loss", "has dtype", ANY, None, "Hearth gives the common dtype, PyTorch the input's"),
    ("addr", "must have the same dtype", ANY, None, "Hearth promotes, PyTorch throws"),
]


def found_in(known, case, problem):
    """The entry of one of the lists above that matches the problem, or None."""
    message, size = problem
    first = next((entry["dtype"] for entry in case["inputs"] if entry), None)
    for entry in known:
        name, text, dtypes, limit, _ = entry
        is_within_limit = limit is not None and size is not None and size <= limit
        fits = is_within_limit or (limit is None and size is None)
        if name == case["row"] and text in message and first in dtypes and fits:
            return entry
    return None


def tensor(entry):
    if entry is None:
        return None
    return torch.tensor(entry["values"], dtype=torch.float64).to(getattr(torch, entry["dtype"])).reshape(entry["sizes"])


def listed(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def gradients(outputs, leaves):
    """The gradients of the sum over outputs and elements i of (i % 5 - 1.5) * out[i]."""
    total = 0
    for out in outputs:
        if out.requires_grad:
            weights = torch.arange(out.numel(), dtype=torch.float64) % 5 - 1.5
            total = total + (out.double() * weights.reshape(out.shape)).sum()
    if not isinstance(total, torch.Tensor):
        return []
    wanted = [x for x in leaves if x is not None and x.requires_grad]
    grads = torch.autograd.grad(total, wanted, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wanted, grads)]


def difference(ours, theirs, name, tolerance):
    """The problem's text and, if only values differ, by how much; None if there is no problem."""
    if ours is None:
        return (f"{name} is missing", None) if theirs.count_nonzero() else None
    if ours.dtype != theirs.dtype:
        return f"{name} has dtype {ours.dtype}, PyTorch's has {theirs.dtype}", None
    if ours.shape != theirs.shape:
        return f"{name} has sizes {list(ours.shape)}, PyTorch's has {list(theirs.shape)}", None
    ours, theirs = ours.double(), theirs.double()
    if torch.allclose(ours, theirs, tolerance, tolerance, equal_nan=True):
        return None
    wrong = ~torch.isclose(ours, theirs, tolerance, tolerance, equal_nan=True)
    index = wrong.nonzero()[0].tolist()
    text = f"{name} is {ours[tuple(index)]:g} at {index}, PyTorch's {theirs[tuple(index)]:g}"
    if not bool((ours[wrong].isfinite() & theirs[wrong].isfinite()).all()):
        return text, None
    largest = (ours[wrong] - theirs[wrong]).abs().max().item()
    return f"{text}; it differs by up to {largest:g}", largest


def tolerance_of(leaves, outputs, name):
    """The tolerance of the least exact dtype among inputs and outputs; larger under autocast, which
    also rounds the inputs of products."""
    dtypes = {t.dtype for t in [*leaves, *outputs] if t is not None}
    if AUTOCAST and (dtypes & {torch.float16, torch.bfloat16} or name in PRODUCTS_INSIDE):
        return AUTOCAST_TOLERANCE
    return max(TOLERANCE.get(dtype, 0) for dtype in dtypes)


def points_at_values(case, index):
    """Whether each index is that of an element equal to the value. PyTorch may choose any."""
    x, values = tensor(case["inputs"][0]), tensor(case["outputs"][0])
    if x.dim() == 0:
        return bool((index == 0).all())
    return bool((index >= 0).all() and (index < x.shape[-1]).all() and torch.equal(x.gather(-1, index), values))


def disagreement(case):
    """The first problem of a case, as difference() returns it, or None."""
    name = case["row"]
    call = CALLS.get(name) or getattr(torch, name, None) or getattr(torch.Tensor, name)
    leaves = [tensor(entry) for entry in case["inputs"]]
    constant = CONSTANT.get(name, ())
    for i, leaf in enumerate(leaves):
        if leaf is not None and leaf.is_floating_point() and i not in constant:
            leaf.requires_grad_()
    with torch.autocast("cpu", enabled=AUTOCAST):
        outputs = listed(call(*leaves))
    if case.get("fails"):
        gradients(outputs, leaves)
        return "Hearth says it is an error", None
    if len(outputs) != len(case["outputs"]):
        return f"{len(case['outputs'])} outputs, PyTorch has {len(outputs)}", None
    tolerance = tolerance_of(leaves, outputs, name)
    for i, (entry, theirs) in enumerate(zip(case["outputs"], outputs)):
        ours = tensor(entry)
        if name == "mode" and i == 1 and points_at_values(case, ours):
            continue
        if problem := difference(ours, theirs.detach(), f"output {i}", tolerance):
            return problem
    if name == "mode" and not torch.equal(tensor(case["outputs"][1]), outputs[1]):
        return None  # the gradient goes to another one of several equal elements
    wanted = gradients(outputs, leaves)
    if len(wanted) != len(case["grads"]):
        return f"{len(case['grads'])} gradients, PyTorch has {len(wanted)}", None
    for i, (entry, theirs) in enumerate(zip(case["grads"], wanted)):
        if problem := difference(tensor(entry), theirs, f"gradient {i}", tolerance):
            return problem
    return None


def refused(case, error):
    """The problem of a call in which PyTorch raised the error, or None if Hearth failed too. An
    error of a type that PyTorch does not raise for wrong inputs is a mistake of this script."""
    message = (str(error).splitlines() or [""])[0]
    if not isinstance(error, (RuntimeError, IndexError, ValueError)):
        return f"this script is wrong: {type(error).__name__}: {message}", None
    return None if case.get("fails") else (f"PyTorch says: {message}", None)


def main():
    names, cases, problems, lenient = set(), 0, 0, 0
    used = {}
    with open(sys.argv[1]) as file:
        for line in file:
            case = json.loads(line)
            names.add(case["row"])
            cases += 1
            try:
                problem = disagreement(case)
            except Exception as error:
                problem = refused(case, error)
            if not problem:
                continue
            if LENIENT in problem[0]:
                lenient += 1
            elif entry := found_in(EXPLAINED, case, problem) or found_in(DEVIATIONS, case, problem):
                used[entry] = used.get(entry, 0) + 1
            else:
                problems += 1
                shapes = ", ".join("-" if e is None else f"{e['dtype']}{e['sizes']}" for e in case["inputs"])
                print(f"{case['row']}({shapes}): {problem[0]}")
    for entry in DEVIATIONS:
        if entry in used:
            print(f"deviation: {entry[0]}: {entry[4]} ({used[entry]} cases)")
    explained = sum(used.get(entry, 0) for entry in EXPLAINED)
    deviating = sum(used.get(entry, 0) for entry in DEVIATIONS)
    print(f"{len(names)} ops, {cases} cases, {problems} disagreements, {explained} explained, "
          f"{deviating} deviations, {lenient} under autocast with a dtype that PyTorch does not accept")
    return problems != 0


if __name__ == "__main__":
    sys.exit(main())

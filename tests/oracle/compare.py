#!/usr/bin/env python3
"""Recomputes the rows of Hearth's op table with PyTorch and compares values, dtypes and gradients.

    HEARTH_ORACLE_FILE=/tmp/rows.jsonl build/release/test_ops --gtest_filter=Oracle.Dump
    .venv-peer/bin/python tests/oracle/compare.py /tmp/rows.jsonl

With HEARTH_ORACLE_AUTOCAST=1 for the first command and --autocast for the second, both run under
autocast on the CPU. A call that fails in Hearth must fail in PyTorch, and vice versa. calls.py and calls_*.py
have PyTorch's calls, explained.py the differences that are expected.
"""

import json
import sys
import warnings

import torch

from calls import CALLS, CONSTANT, call_of
from explained import DEVIATIONS, EXPLAINED, EXPLAINED_AUTOCAST, found_in

TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
AUTOCAST = "--autocast" in sys.argv
# Larger, because products of rounded inputs are added in different orders and rounded again.
AUTOCAST_TOLERANCE = 6e-2
# Ops that return float32, but whose inner products PyTorch computes in the autocast dtype.
PRODUCTS_INSIDE = ("bilinear", "cosine_similarity", "cosine_embedding_loss")
# PyTorch's error for an op that accepts only the autocast dtype; Hearth computes in the inputs'
# widest dtype.
LENIENT = "Unexpected floating ScalarType in at::autocast::prioritize"


def tensor(entry):
    if entry is None:
        return None
    result = torch.tensor(entry["values"], dtype=torch.float64).reshape(entry["sizes"])
    result = result.to(getattr(torch, entry["dtype"]))
    # PyTorch's conversion to bfloat16 gives NaN a sign.
    return result.masked_fill_(result.isnan(), float("nan")) if result.is_floating_point() else result


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
    others = int(wrong.sum()) - 1
    where = f"{index} and {others} others" if others else str(index)
    text = f"{name} is {ours[tuple(index)]:g} at {where}, PyTorch's {theirs[tuple(index)]:g}"
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


def call_in_pytorch(case):
    """The leaves of the case's call, and its outputs."""
    leaves = [tensor(entry) for entry in case["inputs"]]
    constant = CONSTANT.get(case["row"], ())
    for i, leaf in enumerate(leaves):
        if leaf is not None and leaf.is_floating_point() and i not in constant:
            leaf.requires_grad_()
    with torch.autocast("cpu", enabled=AUTOCAST):
        return leaves, listed(call_of(case["row"])(*leaves))


def disagreements(case):
    """Yields the problems of a case, as difference() returns them."""
    leaves, outputs = call_in_pytorch(case)
    if case.get("fails"):
        gradients(outputs, leaves)
        yield "Hearth says it is an error", None
        return
    if len(outputs) != len(case["outputs"]):
        yield f"{len(case['outputs'])} outputs, PyTorch has {len(outputs)}", None
        return
    name = case["row"]
    tolerance = tolerance_of(leaves, outputs, name)
    for i, (entry, theirs) in enumerate(zip(case["outputs"], outputs)):
        ours = tensor(entry)
        if name == "mode" and i == 1 and points_at_values(case, ours):
            continue
        yield difference(ours, theirs.detach(), f"output {i}", tolerance)
    if name == "mode" and not torch.equal(tensor(case["outputs"][1]), outputs[1]):
        return  # the gradient goes to another one of several equal elements
    wanted = gradients(outputs, leaves)
    if len(wanted) != len(case["grads"]):
        yield f"{len(case['grads'])} gradients, PyTorch has {len(wanted)}", None
        return
    for i, (entry, theirs) in enumerate(zip(case["grads"], wanted)):
        yield difference(tensor(entry), theirs, f"gradient {i}", tolerance)


def problems_of(case):
    """All problems of a case. PyTorch's error is one, unless Hearth fails too; an error of a type that PyTorch does
    not raise for wrong inputs is a mistake of this script."""
    problems = []
    try:
        for problem in disagreements(case):
            problems += [problem] if problem else []
    except Exception as error:
        message = (str(error).splitlines() or [""])[0]
        if not isinstance(error, (RuntimeError, IndexError, ValueError)):
            problems.append((f"this script is wrong: {type(error).__name__}: {message}", None))
        elif not case.get("fails"):
            problems.append((f"PyTorch says: {message}", None))
    return problems


class Comparison:
    """The counts of the cases with each result."""

    def __init__(self):
        self.rows, self.cases, self.disagreements, self.failures, self.lenient = set(), 0, 0, 0, 0
        self.uses = dict.fromkeys(EXPLAINED + (DEVIATIONS + EXPLAINED_AUTOCAST if AUTOCAST else []), 0)

    def add(self, case):
        problems = problems_of(case)
        self.rows.add(case["row"])
        self.cases += 1
        self.failures += bool(case.get("fails")) and not problems
        unexplained = [problem for problem in problems if not self.explain(case, problem)]
        if unexplained:
            self.disagreements += 1
            shapes = ", ".join("-" if e is None else f"{e['dtype']}{e['sizes']}" for e in case["inputs"])
            print(f"{case['row']}({shapes}): {unexplained[0][0]}")

    def explain(self, case, problem):
        """Counts the problem if it is an expected one."""
        if LENIENT in problem[0]:
            self.lenient += 1
            return True
        entry = found_in(self.uses, case, problem)
        if entry:
            self.uses[entry] += 1
        return entry is not None

    def print_summary(self):
        deviations = {}
        for entry in DEVIATIONS if AUTOCAST else []:
            name = f"{entry.row}: {entry.reason}"
            deviations[name] = deviations.get(name, 0) + self.uses[entry]
        for name, count in deviations.items():
            if count:
                print(f"deviation: {name} ({count} times)")
        for row in sorted(set(CALLS) - self.rows):
            print(f"not in the file: {row}, which has an entry in calls.py")
        explained, deviating = (sum(n for entry, n in self.uses.items() if (entry in DEVIATIONS) == deviates)
                                for deviates in (False, True))
        print(f"{len(self.rows)} ops, {self.cases} cases, {self.disagreements} disagreements, {explained} differences "
              f"explained, {deviating} deviations, {self.failures} errors in both, {self.lenient} under autocast with "
              f"a dtype that PyTorch does not accept")


def main():
    warnings.simplefilter("ignore")  # of deprecated functions, which have rows too
    comparison = Comparison()
    with open(sys.argv[1]) as file:
        for line in file:
            comparison.add(json.loads(line))
    comparison.print_summary()
    return comparison.disagreements != 0


if __name__ == "__main__":
    sys.exit(main())

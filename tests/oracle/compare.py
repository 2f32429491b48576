#!/usr/bin/env python3
"""Recomputes what Hearth's op table computed with PyTorch and compares values, dtypes and gradients.

    HEARTH_ORACLE_FILE=/tmp/rows.jsonl build/release/test_ops --gtest_filter=Oracle.Dump
    .venv-peer/bin/python tests/oracle/compare.py /tmp/rows.jsonl

With HEARTH_ORACLE_AUTOCAST=1 for the first and --autocast for the second both run under autocast on
the CPU, and what is an error in one must be in the other.
"""

import json
import sys

import torch

TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
AUTOCAST = "--autocast" in sys.argv
# Products of rounded inputs: where both round, they do so after sums of different order.
AUTOCAST_TOLERANCE = 6e-2
# PyTorch has no half type but the autocast dtype there; Hearth takes the widest of what comes in.
LENIENT = "Unexpected floating ScalarType in at::autocast::prioritize"


def same(x, *_):
    return x


def batch_norm(training):
    def call(x, weight, bias, mean, var):
        mean, var = (None if t is None else t.clone() for t in (mean, var))
        out = torch.nn.functional.batch_norm(x, mean, var, weight, bias, training, 0.3, 1e-3)
        return (out,) if mean is None else (out, mean, var)

    return call


def written(method):
    def call(self, *others):
        copy = self.clone()
        getattr(copy, method)(*others)
        return copy

    return call


# Where the row's name is not that of the function, or the row has arguments of its own.
CALLS = {
    "gelu": torch.nn.functional.gelu,
    "add_alpha": lambda a, b: torch.add(a, b, alpha=3),
    "sub": lambda a, b: torch.sub(a, b, alpha=2),
    "add_number": lambda x: torch.add(x, 3, alpha=2),
    "sub_number": lambda x: torch.sub(x, 3, alpha=2),
    "mul_number": lambda x: x * 3,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "fmod_number": lambda x: torch.fmod(x, 3),
    "sum_dim": lambda x: x.sum(1),
    "sum_keepdim": lambda x: x.sum(-1, keepdim=True),
    "sum_dims": lambda x: x.sum((0, -1)),
    "sum_to_size": lambda x, y: x.sum_to_size(y.shape),
    "mean_dim": lambda x: x.mean(0),
    "mean_dims_keepdim": lambda x: x.mean((-1, 0), keepdim=True),
    "max_dim": lambda x: x.max(1),
    "max_dim_keepdim": lambda x: x.max(-1, keepdim=True),
    "min_dim": lambda x: x.min(1),
    "min_dim_keepdim": lambda x: x.min(-1, keepdim=True),
    "amax_dims": lambda x: x.amax((0, -1), keepdim=True),
    "amin_dim": lambda x: x.amin(1),
    "argmax_dim": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(keepdim=True),
    "argmin_dim": lambda x: x.argmin(-2, keepdim=True),
    "aminmax_dim": lambda x: torch.aminmax(x, dim=-1, keepdim=True),
    "var_dim": lambda x: x.var(1, correction=0, keepdim=True),
    "std": lambda x: x.std(correction=0),
    "std_correction": lambda x: x.std((0, -1), correction=1.5),
    "var_mean": lambda x: torch.var_mean(x, 1, keepdim=True),
    "std_mean": lambda x: torch.std_mean(x, 1, keepdim=True),
    "prod_dim": lambda x: x.prod(1),
    "logsumexp": lambda x: x.logsumexp(1),
    "norm_0": lambda x: x.norm(0),
    "norm_1": lambda x: x.norm(1, 1),
    "norm_3": lambda x: x.norm(3, (0, -1), keepdim=True),
    "norm_half": lambda x: x.norm(0.5, 1),
    "norm_inf": lambda x: x.norm(float("inf"), 0),
    "norm_minus_inf": lambda x: x.norm(-float("inf"), 1, keepdim=True),
    "count_nonzero_dim": lambda x: x.count_nonzero(1),
    "nansum": lambda x: x.nansum(1),
    "all_dim": lambda x: x.all(1),
    "any_dims": lambda x: x.any((0, -1), keepdim=True),
    "cumsum": lambda x: x.cumsum(0),
    "cumsum_last": lambda x: x.cumsum(-1),
    "cumprod": lambda x: x.cumprod(1),
    "cumprod_zeros": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: x.logcumsumexp(-1),
    "cummax": lambda x: x.cummax(1),
    "cummax_ties": lambda x: x.cummax(0),
    "cummin": lambda x: x.cummin(0),
    "cummin_ties": lambda x: x.cummin(1),
    "sort": lambda x: x.sort(-1, stable=True),
    "sort_descending": lambda x: x.sort(0, descending=True, stable=True),
    "sort_ties": lambda x: x.sort(0, stable=True),
    "sort_ties_descending": lambda x: x.sort(-1, descending=True, stable=True),
    "topk": lambda x: x.topk(2),
    "topk_smallest": lambda x: x.topk(2, 0, largest=False),
    # PyTorch does not say which of equal elements it takes.
    "topk_ties": lambda x: tuple(t.narrow(-1, 0, 2) for t in x.sort(-1, descending=True, stable=True)),
    "kthvalue": lambda x: x.kthvalue(2, 1, keepdim=True),
    "median_dim": lambda x: x.median(1, keepdim=True),
    "nanmedian_dim": lambda x: x.nanmedian(1, keepdim=True),
    "mode": lambda x: x.mode(-1, keepdim=True),
    "searchsorted": lambda s, x: torch.searchsorted(s.detach().sort()[0], x.detach()),
    "_unique2": lambda x: torch._unique2(x, True, True, True),
    "unique_consecutive": lambda x: torch.unique_consecutive(x, True, True),
    "unique_dim": lambda x: torch._VF.unique_dim(x, 0, True, True, True),
    "bincount": lambda x: torch.bincount(x, minlength=2),
    "addmm_scaled": lambda c, a, b: torch.addmm(c, a, b, beta=2, alpha=3),
    "addmm_without_self": lambda c, a, b: torch.addmm(c, a, b, beta=0),
    "select": lambda x: x.select(1, -1),
    "slice": lambda x: x[:, 1::2],
    "narrow": lambda x: x.narrow(-2, 1, 1),
    "permute": lambda x: x.permute(2, 0, -2),
    "transpose": lambda x: x.transpose(0, -1),
    "expand": lambda x: x.expand(2, -1, 4),
    "view": lambda x: x.contiguous().view(2, -1),
    "reshape": lambda x: x.reshape(-1, 2),
    "flatten": lambda x: x.flatten(1),
    "unsqueeze": lambda x: x.unsqueeze(-2),
    "squeeze_dim": lambda x: x.squeeze(-1),
    "alias": torch.ops.aten.alias,
    "as_strided": lambda x: x.contiguous().as_strided((3, 2), (1, 1), 1),
    "cat": lambda *xs: torch.cat(xs),
    "cat_last": lambda *xs: torch.cat(xs, -1),
    "stack": lambda *xs: torch.stack(xs, 1),
    "split": lambda x: x.split(2),
    "split_sizes": lambda x: x.split([1, 0, 4]),
    "chunk": lambda x: x.chunk(4),
    "gather": lambda x, i: x.gather(1, i),
    # PyTorch has no gradient where src is larger than the index.
    "scatter_add": lambda x, i, s: x.scatter_add(1, i, s[: i.shape[0], : i.shape[1]]),
    "index": lambda x, i: x[i],
    "index_apart": lambda x, i, j: x[i, :, j],
    "index_put": lambda x, i, v: x.clone().index_put_((i,), v),
    "index_put_accumulate": lambda x, i, v: x.clone().index_put_((i,), v, accumulate=True),
    "contiguous": lambda x: x.contiguous(),
    "to_double": lambda x: x.to(torch.float64, copy=True),
    "to_another_device_and_back": same,
    "copy_": written("copy_"),
    "fill_": written("fill_"),
    "zero_": written("zero_"),
    "batch_norm_training": batch_norm(True),
    "batch_norm_evaluation": batch_norm(False),
    "arange": lambda x: torch.arange(2, 2 + 3 * len(x), 3, dtype=x.dtype),
    "linspace": lambda x: torch.linspace(-1, 2, len(x), dtype=x.dtype),
}
for _op in ("eq", "ne", "lt", "le", "gt", "ge"):
    CALLS[_op + "_number"] = lambda x, op=_op: getattr(torch, op)(x, 1)


def tensor(entry):
    if entry is None:
        return None
    return torch.tensor(entry["values"], dtype=torch.float64).to(getattr(torch, entry["dtype"])).reshape(entry["sizes"])


def listed(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def gradients(outputs, leaves):
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


def difference(ours, theirs, what):
    """What is wrong, or None."""
    if ours is None:
        return None if not theirs.count_nonzero() else f"{what} is missing"
    if ours.dtype != theirs.dtype:
        return f"{what} has dtype {ours.dtype}, PyTorch's has {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"{what} has sizes {list(ours.shape)}, PyTorch's has {list(theirs.shape)}"
    tolerance = TOLERANCE.get(ours.dtype, 0)
    if AUTOCAST and tolerance:
        tolerance = AUTOCAST_TOLERANCE
    if not torch.allclose(ours.double(), theirs.double(), tolerance, tolerance, equal_nan=True):
        return f"{what} differs by {(ours.double() - theirs.double()).abs().max().item():g}"
    return None


def disagreement(case):
    name = case["row"]
    call = CALLS.get(name) or getattr(torch, name, None) or getattr(torch.Tensor, name)
    leaves = [tensor(entry) for entry in case["inputs"]]
    constant = {"batch_norm_training": (3, 4), "batch_norm_evaluation": (3, 4)}.get(name, ())
    for i, leaf in enumerate(leaves):
        if leaf is not None and leaf.is_floating_point() and i not in constant:
            leaf.requires_grad_()
    with torch.autocast("cpu", enabled=AUTOCAST):
        outputs = listed(call(*leaves))
    if case.get("fails"):
        return "Hearth says it is an error"
    if len(outputs) != len(case["outputs"]):
        return f"{len(case['outputs'])} outputs, PyTorch has {len(outputs)}"
    for i, (entry, theirs) in enumerate(zip(case["outputs"], outputs)):
        if problem := difference(tensor(entry), theirs.detach(), f"output {i}"):
            return problem
    wanted = gradients(outputs, leaves)
    if len(wanted) != len(case["grads"]):
        return f"{len(case['grads'])} gradients, PyTorch has {len(wanted)}"
    for i, (entry, theirs) in enumerate(zip(case["grads"], wanted)):
        if problem := difference(tensor(entry), theirs, f"gradient {i}"):
            return problem
    return None


def refused(case, says):
    """What is wrong with PyTorch's error, or None."""
    if case.get("fails") or LENIENT in says:
        return None
    return f"PyTorch says: {says.splitlines()[0]}"


def main():
    names, cases, problems = set(), 0, 0
    with open(sys.argv[1]) as file:
        for line in file:
            case = json.loads(line)
            names.add(case["row"])
            cases += 1
            try:
                problem = disagreement(case)
            except Exception as error:
                problem = refused(case, str(error))
            if problem:
                problems += 1
                shapes = ", ".join("-" if e is None else f"{e['dtype']}{e['sizes']}" for e in case["inputs"])
                print(f"{case['row']}({shapes}): {problem}")
    print(f"{len(names)} ops, {cases} cases, {problems} disagreements")
    return problems != 0


if __name__ == "__main__":
    sys.exit(main())

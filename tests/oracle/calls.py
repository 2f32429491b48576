"""PyTorch's calls for the rows of Hearth's op table. This file has the elementwise ops and call_of(), which finds
all calls."""

import torch
import torch.nn.functional as F

import calls_complex
import calls_linalg
import calls_losses
import calls_nn
import calls_optim
import calls_shapes


def frexp(x):
    mantissa, exponent = torch.frexp(x)
    return mantissa, exponent.long()


# By the row's name. call_of() finds the other rows' functions by their names.
CALLS = {
    "add_alpha": lambda a, b: torch.add(a, b, alpha=3),
    "sub": lambda a, b: torch.sub(a, b, alpha=2),
    "add_number": lambda x: torch.add(x, 3, alpha=2),
    "sub_number": lambda x: torch.sub(x, 3, alpha=2),
    "mul_number": lambda x: x * 3,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "fmod_number": lambda x: torch.fmod(x, 3),
    "arange": lambda x: torch.arange(2, 2 + 3 * len(x), 3, dtype=x.dtype),
    "linspace": lambda x: torch.linspace(-1, 2, len(x), dtype=x.dtype),
    "frexp": frexp,
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "remainder_number": lambda x: torch.remainder(x, 3),
    "round_decimals": lambda x: torch.round(x, decimals=1),
    "round_tens": lambda x: torch.round(x, decimals=-1),
    "nan_to_num": lambda x: torch.nan_to_num(x, 1, 2, 3),
    "clamp_numbers": lambda x: torch.clamp(x, 0, 1),
    "clamp_min_number": lambda x: torch.clamp_min(x, 0),
    "clamp_max_number": lambda x: torch.clamp_max(x, 1),
    "clamp_above": lambda x: torch.clamp(x, max=1),
    "pow_sqrt": lambda x: x.pow(0.5),
    "pow_rsqrt": lambda x: x.pow(-0.5),
    "pow_of_number": lambda x: torch.pow(2, x),
    "lerp_number": lambda a, b: torch.lerp(a, b, 0.3),
    "addcmul": lambda x, a, b: torch.addcmul(x, a, b, value=2),
    "addcdiv": lambda x, a, b: torch.addcdiv(x, a, b, value=0.5),
    "special_ndtri": lambda x: torch.special.ndtri(x * 0.5 + 0.5),
    "logit": lambda x: torch.logit(x, 0.25),
    "mvlgamma": lambda x: torch.mvlgamma(x + 1, 3),
    "polygamma": lambda x: torch.polygamma(2, x),
}
for _op in ("eq", "ne", "lt", "le", "gt", "ge"):
    CALLS[_op + "_number"] = lambda x, op=_op: getattr(torch, op)(x, 1)
# The positions of the floating-point inputs without gradients, by row.
CONSTANT = {
    "igamma": (0,),
    "igammac": (0,),
    "special_zeta": (0,),
}
for _part in (calls_complex, calls_linalg, calls_losses, calls_nn, calls_optim, calls_shapes):
    CALLS |= _part.CALLS
    CONSTANT |= getattr(_part, "CONSTANT", {})

# Where a function with a row's name is looked up, without the prefix.
PLACES = [(torch, ""), (torch.Tensor, ""), (torch.special, "special_"), (torch.linalg, "linalg_"), (F, ""),
          (torch.ops.aten, "")]


def call_of(name):
    """The function that makes the row's call in PyTorch."""
    if name in CALLS:
        return CALLS[name]
    for place, prefix in PLACES:
        if name.startswith(prefix) and hasattr(place, name.removeprefix(prefix)):
            return getattr(place, name.removeprefix(prefix))
    raise LookupError(f"no function of PyTorch has the row's name, and calls.py has no entry for {name}")

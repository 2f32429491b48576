"""Values and gradients of complex operators, by PyTorch: writes tests/fixtures/complex_cases.txt.

Each line is a name, then sections "z", "w", "y", "dz" and "dw" of numbers in hexadecimal: the real and
imaginary parts of each element of the two operands (2 x 3), of the result, and of the operands' gradients. The gradient of
element k of the result is (1 + k/2) - (k/3)j, or the real part of this if the result is real.
"""
import pathlib

import torch

VALUES = [[1 + 2j, -0.5 + 0j, 0 + 0j, 0.3 - 1.2j, -2 - 0.7j, 0 + 1.5j], [0.4 - 0.3j, 2 + 0j, 1.1 + 0.9j, -1 + 0.2j, 0 - 2j, -0.6 + 0j]]

UNARY = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "sin", "cos", "tan", "asin",
         "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "abs", "angle", "sgn", "neg", "conj",
         "conj_physical", "sum", "mean", "prod", "var", "std"]
FUNCTIONS = {name: (lambda name: lambda z, w: getattr(torch, name)(z))(name) for name in UNARY}
FUNCTIONS |= {
    "real": lambda z, w: z.real, "imag": lambda z, w: z.imag, "add": lambda z, w: z.add(w, alpha=1 - 2j),
    "sub": lambda z, w: z.sub(w, alpha=0.5j), "mul": lambda z, w: z * w, "div": lambda z, w: z / w, "pow": lambda z, w: z**w,
    "pow_number": lambda z, w: z**2.5, "pow_complex_number": lambda z, w: z**(1 - 1j), "pow_zero": lambda z, w: z**0,
    "number_pow": lambda z, w: torch.pow(-2, z), "cumsum": lambda z, w: z.cumsum(1), "cumprod": lambda z, w: z.cumprod(1),
    "prod_dim": lambda z, w: z.prod(1), "mm": lambda z, w: z @ w.mT, "vdot": lambda z, w: torch.vdot(z.flatten(), w.flatten()),
    "dot": lambda z, w: torch.dot(z.flatten(), w.flatten()), "lerp": lambda z, w: z.lerp(w, 0.3 + 0.1j),
    "addcmul": lambda z, w: z.addcmul(z, w, value=2j), "addcdiv": lambda z, w: z.addcdiv(z, w, value=2j),
    "norm": lambda z, w: z.norm(), "norm_1": lambda z, w: z.norm(1), "norm_inf": lambda z, w: torch.linalg.vector_norm(z, float("inf")),
    "complex": lambda z, w: torch.complex(z.real, w.imag), "polar": lambda z, w: torch.polar(z.abs() + 1, w.real),
    "where": lambda z, w: torch.where(z.real > 0, z, w), "real_times_complex": lambda z, w: z.real * w, "masked_fill": lambda z, w:
    z.masked_fill(w.real > 0, 1 + 1j), "cat": lambda z, w: torch.cat([z, w.conj()]), "var_dim": lambda z, w: z.var(1),
    "float_power": lambda z, w: z.float_power(3),
    # On both sides of the branch cut: the imaginary parts are 0 and -0.
    "acosh_cut": lambda z, w: torch.complex(z.real.abs() * -1 - 1.5, w.imag * 0).acosh(),
}


def text(tensor):
    """The real and imaginary parts of a tensor's elements."""
    numbers = tensor.detach().to(torch.complex128).resolve_conj().flatten().tolist()
    return " ".join(f"{z.real.hex()} {z.imag.hex()}" for z in numbers)


def line(name, function):
    """One case."""
    z, w = (torch.tensor(values, dtype=torch.complex128).view(2, 3).requires_grad_() for values in VALUES)
    y = function(z, w)
    order = torch.arange(y.numel(), dtype=torch.float64).view(y.shape)
    grad = torch.complex(1 + order / 2, -order / 3)
    y.backward(grad if y.is_complex() else grad.real)
    gradients = [torch.zeros_like(t) if t.grad is None else t.grad for t in (z, w)]
    return f"{name} z {text(z)} w {text(w)} y {text(y)} dz {text(gradients[0])} dw {text(gradients[1])}\n"


if __name__ == "__main__":
    target = pathlib.Path(__file__).parents[1] / "fixtures" / "complex_cases.txt"
    target.write_text("".join(line(name, function) for name, function in FUNCTIONS.items()))

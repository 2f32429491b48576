"""PyTorch's calls for the rows of complex numbers and Fourier transforms (calls.py has all). The rows' inputs
and outputs are the real and imaginary parts."""

import torch

I = 1j


def parts(z):
    """The real and imaginary parts of a complex tensor; a real tensor itself."""
    return (z.real.clone(), z.imag.clone()) if z.is_complex() else (z,)


def of_parts(function):
    """The function of complex tensors, as one of pairs of real and imaginary parts."""
    def call(*inputs):
        return parts(function(*(torch.complex(*inputs[i:i + 2]) for i in range(0, len(inputs), 2))))

    return call


def polar(a, b):
    # PyTorch's derivative of polar has the wrong sign for the negative moduli in these inputs.
    return torch.complex(a.real * a.imag.cos(), a.real * a.imag.sin()) * b


def in_place(a, b):
    return a.clone().mul_(b).add_(a.imag).div_(b).conj_physical_()


def write_parts(a, b):
    z = a * 1
    z.real.mul_(b.imag)
    torch.view_as_real(z).sin_()
    return z * b


def views(z):
    return z.t().reshape(2, 6)[1][0:6:2].unsqueeze(1).expand(3, 2) * z.split(2, 1)[-1].squeeze()


def joins(a, b):
    return torch.cat([a.flip(0), b]) * torch.stack([b, b, b]).view(6).roll(1, 0).clone()


def indexing(a, b):
    places = torch.tensor([2, 0, 2])
    target = a.clone().index_put_((places,), b, True)
    return (target[places] * a.index_select(0, places)
            + a.gather(0, places) * a.scatter_add(0, places, b).narrow(0, 0, 3))


def masks(a, b):
    target = a.tril() * 1
    target[0].copy_(b)
    mask = torch.tensor([[False, False], [True, False]])
    return torch.constant_pad_nd(target.masked_fill(mask, 3).view(4), (1, 0), 2)


def conversions(z):
    z = z.to(torch.complex128).to(z.dtype)
    return torch.view_as_complex((z.real * z.imag).contiguous()) * z.select(1, 0)


FUNCTIONS = {
    "parts": lambda z: z.real * z.imag,
    "add": lambda a, b: a.add(b, alpha=I),
    "sub": lambda a, b: a.sub(b, alpha=2 - I),
    "pow_of_number": lambda a, b: torch.pow(-2, a * 0.25) + b,
    "pow_by_number": lambda a, b: a.pow(2.5) * b.pow(3).pow(I),
    "roots": lambda a, b: a.pow(0.5) * b.pow(-0.5),
    "addcmul": lambda a, b: a.addcmul(a, b, value=I),
    "addcdiv": lambda a, b: a.addcdiv(a, b, value=I),
    "lerp": lambda a, b: a.lerp(b, a),
    "where": lambda a, b: torch.where(a.real > 0, a, b),
    "masked_fill": lambda a, b: a.masked_fill(b.real > 0, I) * b,
    "mixed": lambda a, b: (a.real * b + b.imag) / b.real - I * a.imag,
    "mixed_pow": lambda a, b: a.real.pow(b),
    "polar": polar,
    "in_place": in_place,
    "write_parts": write_parts,
    "mm_adjoint": lambda a, b: a.mH.matmul(b),
    "addmm": lambda c, a, b: c.addmm(a, b, beta=I, alpha=2 + I) + c.addmm(a, b, beta=2, alpha=0.5),
    "bmm": lambda a, b, c: c.baddbmm(a, b) - a.bmm(b) * 2,
    "dot": lambda a, b: a.dot(b) * (a.vdot(b) + torch.linalg.vecdot(a, b)) / 2,
    "mv": lambda m, v, c: c.addmv(m, v) + m.mv(v),
    "einsum": lambda a, b: torch.einsum("ik,jk->ij", a, b),
    "sum": lambda z: z.sum(0) + z.mean() * 2,
    "prod": lambda z: z.prod(1) * z.prod(),
    "cumsum": lambda z: z.cumsum(0) * z.cumprod(0),
    "norm": lambda z: torch.linalg.vector_norm(z) + z.norm(3),
    "var": lambda z: z.var() + z.std(0, False),
    "views": views,
    "joins": joins,
    "indexing": indexing,
    "masks": masks,
    "conversions": conversions,
    # PyTorch has no derivative of the complex silu.
    "silu": lambda z: z * z.sigmoid(),
}
# The rows with the name of a function and no options.
FUNCTIONS |= {
    name: getattr(torch, name)
    for name in (
        "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "log10", "log2", "exp2", "expm1", "log1p", "rsqrt", "sigmoid", "reciprocal", "neg", "conj", "sgn",
        "square", "abs", "angle", "mul", "div", "pow", "mm")
}
CALLS = {"complex_" + name: of_parts(function) for name, function in FUNCTIONS.items()}


def transform(name, arguments, of_real):
    """A function of torch.fft, of a real tensor or of parts."""
    def call(x):
        return getattr(torch.fft, name)(x, *arguments)

    return (lambda x: parts(call(x))) if of_real else of_parts(call)


def transforms():
    """The rows of torch.fft: their sizes or lengths, dimensions and norms."""
    lines = {"": (None, -1, "backward"), "_odd": (None, 1, "forward"), "_cut": (6, 0, "ortho"),
             "_padded": (17, -1, "forward")}
    planes = {"": (None, (-2, -1), None), "_sizes": ((3, 4), (2, 0), "ortho")}
    result = {}
    for base in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        for dims, rows in (("", lines), ("2", planes), ("n", planes)):
            for suffix, arguments in rows.items():
                row, name = f"fft_{base}{dims}{suffix}", base + dims
                if base not in ("rfft", "ihfft"):
                    result[row] = transform(name, arguments, False)
                if base not in ("irfft", "hfft"):
                    result[row + "_real"] = transform(name, arguments, True)
    return result


CALLS |= transforms()
CALLS |= {
    "stft": lambda x, window: parts(x.stft(4, 2, window=window, center=False, return_complex=True)),
    "istft": lambda re, im, window: torch.complex(re, im).istft(4, 2, window=window, center=False),
}

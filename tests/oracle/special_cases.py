#!/usr/bin/env python3
"""Writes tests/fixtures/special_cases.txt: values of the special functions.

A line is a function's name in torch.special and then its cases, "x:value" or "x:y:value". Values are
mpmath's, after a comparison with PyTorch's; those of limits(), at 0, infinities, NaN and invalid
arguments, are PyTorch's. Finite arguments are multiples of 1/128, powers of ten or powers of two, up
to the sign.
"""

import math
import sys
from pathlib import Path

import mpmath
import torch
from mpmath import mp, mpf, pi

mp.dps = 60
EVERYWHERE = [-31.265625, -11.375, -4.015625, -2.109375, -1.359375, -0.640625, -0.09375, 0.03125,
              0.296875, 0.734375, 1.578125, 2.96875, 5.09375, 7.953125, 8.03125, 14.765625,
              99.546875]
POSITIVE = [0.015625] + [x for x in EVERYWHERE if x > 0] + [640.03125]
PROBABILITIES = [1e-250, 1e-20, 1e-3, 0.078125, 0.453125, 0.546875, 0.921875, 0.984375]
LIMITS = [0.0, math.inf, -math.inf, math.nan, -3.0]
ABSCISSAS = [-1.0, -0.703125, 0.234375, 0.609375, 1.0, 2.578125]
PAIR_LIMITS = LIMITS + [1.5, 1e300]
DEGREES = [0, 1, 2, 3, 6, 7, 11]


def gamma_log(x):
    return mpmath.log(abs(mpmath.gamma(x)))


def ndtri(p):
    if p > 0.4:
        return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)
    start = -mpmath.sqrt(-2 * mpmath.log(p))
    return mpmath.findroot(lambda x: mpmath.log(mpmath.ncdf(x)) - mpmath.log(p), start)


def recurrence(first, step):
    """The polynomials p_0 = 1, p_1 = first(x), p_{k+1} = step(x, k, p_k, p_{k-1})."""
    def value(x, n):
        before, p = mpf(1), first(x)
        for k in range(1, int(n)):
            before, p = p, step(x, k, p, before)
        return mpf(1) if n == 0 else p
    return value


def chebyshev(first, shift=False):
    f = recurrence(first, lambda x, k, p, before: 2 * x * p - before)
    return (lambda x, n: f(2 * x - 1, n)) if shift else f


def polynomials():
    firsts = {"t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1,
              "w": lambda x: 2 * x + 1}
    for kind, first in firsts.items():
        yield f"chebyshev_polynomial_{kind}", chebyshev(first)
        yield f"shifted_chebyshev_polynomial_{kind}", chebyshev(first, shift=True)
    yield "hermite_polynomial_h", recurrence(
        lambda x: 2 * x, lambda x, k, p, before: 2 * x * p - 2 * k * before)
    yield "hermite_polynomial_he", recurrence(
        lambda x: x, lambda x, k, p, before: x * p - k * before)
    yield "laguerre_polynomial_l", recurrence(
        lambda x: 1 - x, lambda x, k, p, before: ((2 * k + 1 - x) * p - k * before) / (k + 1))
    yield "legendre_polynomial_p", recurrence(
        lambda x: x, lambda x, k, p, before: ((2 * k + 1) * x * p - k * before) / (k + 1))


# A name, mpmath's function, and the arguments.
ONE = [
    ("airy_ai", mpmath.airyai, EVERYWHERE[:-1] + [1e20, -1e10, -1e12, -2.0**40]),
    ("bessel_j0", lambda x: mpmath.besselj(0, x), EVERYWHERE),
    ("bessel_j1", lambda x: mpmath.besselj(1, x), EVERYWHERE),
    ("bessel_y0", lambda x: mpmath.bessely(0, x), POSITIVE),
    ("bessel_y1", lambda x: mpmath.bessely(1, x), POSITIVE),
    ("digamma", mpmath.digamma, EVERYWHERE + [1.4609375, 1e-20]),
    ("entr", lambda x: -x * mpmath.log(x), POSITIVE),
    ("erfcx", lambda x: mpmath.exp(x * x) * mpmath.erfc(x), EVERYWHERE[1:] + [1e10]),
    ("gammaln", gamma_log, EVERYWHERE + [1e10]),
    ("i0", lambda x: mpmath.besseli(0, x), EVERYWHERE),
    ("i0e", lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), EVERYWHERE),
    ("i1", lambda x: mpmath.besseli(1, x), EVERYWHERE),
    ("i1e", lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), EVERYWHERE),
    ("log_ndtr", lambda x: mpmath.log1p(-mpmath.ncdf(-x)) if x > 0 else mpmath.log(mpmath.ncdf(x)),
     EVERYWHERE),
    ("logit", lambda x: mpmath.log(x / (1 - x)), PROBABILITIES),
    ("modified_bessel_k0", lambda x: mpmath.besselk(0, x), POSITIVE),
    ("modified_bessel_k1", lambda x: mpmath.besselk(1, x), POSITIVE),
    ("ndtri", ndtri, PROBABILITIES),
    ("scaled_modified_bessel_k0", lambda x: mpmath.besselk(0, x) * mpmath.exp(x), POSITIVE),
    ("scaled_modified_bessel_k1", lambda x: mpmath.besselk(1, x) * mpmath.exp(x), POSITIVE),
    ("sinc", lambda x: mpmath.sin(pi * x) / (pi * x), EVERYWHERE),
    ("spherical_bessel_j0", lambda x: mpmath.sin(x) / x, EVERYWHERE),
]
GAMMA_PAIRS = [(a, x) for a in (0.015625, 0.453125, 1.0, 3.921875, 40.5)
               for x in (0.0078125, 0.453125, 1.265625, 4.515625, 38.75)] + [
    (230.5, 200.25), (230.5, 250.75), (5000.25, 4900.5), (5000.25, 5100.0), (5000.25, 1000.5)]
ZETA_PAIRS = [(s, q) for s in (1.015625, 1.5, 2.0, 7.0, 31.0)
              for q in (0.015625, 0.75, 3.5, 40.25)] + [
    (2.0, 1e10), (2.0, -2.25), (3.0, -7.875), (8.0, -0.328125), (31.0, -0.5),
    (21.0, -1.5), (31.0, -1.5), (3.0, -20.5), (9.0, -40.5), (5.0, -30.484375), (5.0, -30.515625)]
TWO = [
    ("gammainc", lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), GAMMA_PAIRS),
    ("gammaincc", lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True), GAMMA_PAIRS),
    ("xlog1py", lambda a, b: a * mpmath.log1p(b), [(2.5, 1e-20), (-1.25, 3.5), (3.0, -0.984375)]),
    ("zeta", lambda s, q: mpmath.zeta(s, q), ZETA_PAIRS),
    ("polygamma", lambda n, x: mpmath.psi(int(n), x),
     [(n, x) for n in (0, 1, 2, 5, 10)
      for x in (0.09375, 1.578125, 9.953125, 120.5, -0.640625, -3.265625, -1.5)]),
] + [(name, f, [(x, n) for x in ABSCISSAS for n in DEGREES])
      for name, f in polynomials()]

# The functions in which PyTorch 2.15 is wrong by up to 2e-5 in places.
IMPRECISE = {"airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"}


def torch_value(name, arguments):
    f = getattr(torch.special, name)
    if name == "polygamma":
        return f(int(arguments[0]), torch.tensor(arguments[1], dtype=torch.double)).item()
    return f(*(torch.tensor(a, dtype=torch.double) for a in arguments)).item()


def agree(name, value, theirs):
    tolerance = 1e-4 if name in IMPRECISE else 1e-9
    return abs(theirs - value) <= tolerance * abs(value) + 1e-14


def cases(name, f, arguments):
    for at in arguments:
        at = at if isinstance(at, tuple) else (at,)
        value = float(mpmath.re(f(*(mpf(a) for a in at))))
        if not agree(name, value, torch_value(name, at)):
            print(f"{name}{at}: {value}, in PyTorch {torch_value(name, at)}", file=sys.stderr)
        yield at, value


def limits(name, arity):
    if arity == 1:
        for x in LIMITS:
            value = torch_value(name, (x,))
            # Leaves out -3 where it is an ordinary argument.
            if x == 0 or not math.isfinite(value) or math.isinf(x):
                yield (x,), value
    elif "polynomial" in name:
        yield from (((x, n), torch_value(name, (x, n))) for x, n in
                    [(0.5, -1.0), (0.5, math.nan), (math.nan, 3.0), (0.5, 2.75), (2.5, 5000.0)])
    elif name == "xlog1py" or name.startswith("gammainc"):
        yield from (((a, b), torch_value(name, (a, b)))
                    for a in PAIR_LIMITS for b in PAIR_LIMITS)


def main():
    lines = []
    for arity, functions in ((1, ONE), (2, TWO)):
        for name, f, arguments in functions:
            found = list(cases(name, f, arguments)) + list(limits(name, arity))
            texts = [":".join(f"{number!r}" for number in (*map(float, at), float(value)))
                     for at, value in found]
            lines.append(" ".join([name, *texts]))
    target = Path(__file__).resolve().parents[1] / "fixtures" / "special_cases.txt"
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

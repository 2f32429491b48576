#!/usr/bin/env python3
"""Writes src/functors/special_*_tables.h: series of the special functions, computed with mpmath."""

import subprocess
from fractions import Fraction
from pathlib import Path

import mpmath
from mpmath import cos, exp, log, mp, mpf, pi, sin, sqrt

mp.dps = 50
FUNCTORS = Path(__file__).resolve().parent.parent / "src" / "functors"
HEAD = """#pragma once

// Written by tools/special_tables.py: do not edit.NOTE

#include "functors/special_chebyshev.h"

namespace hearth::fn::special {
"""
OVER = ' "f(x) over t" means that the argument is t.'
ZETA = "\n// zeta is 2/3 x^1.5."
TAIL = """
}  // namespace hearth::fn::special
"""


def listed(values):
    return ", ".join(mpmath.nstr(mpf(v), 20, min_fixed=0, max_fixed=0) for v in values)


def series(name, comment, f, low, high, accuracy=1):
    """A function that evaluates the Chebyshev series of f on [low, high]."""
    middle, half = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    return f"""
/// {comment}
HEARTH_SCALAR double {name}(double x) {{
  static constexpr double c[] = {{{listed(chebyshev(f, low, high, accuracy))}}};
  return chebyshev((x - {mpmath.nstr(middle, 17)}) / {mpmath.nstr(half, 17)}, c);
}}
"""


def power_series(name, comment, values):
    """A function that evaluates a polynomial, whose coefficients begin with the constant."""
    return f"""
/// {comment}
HEARTH_SCALAR double {name}(double x) {{
  static constexpr double c[] = {{{listed(values)}}};
  return polynomial(x, c);
}}
"""


def constant(name, comment, x):
    """A number as the sum of two doubles."""
    high = mpf(float(x))
    return f"""
/// {comment}
inline constexpr TwoParts {name}{{{listed([high, x - high])}}};
"""


def chebyshev(f, low, high, accuracy):
    """The coefficients of f on [low, high], up to the last above 2^-55 * accuracy * min |f|."""
    n = 64
    nodes = [cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [f(low + (high - low) * (t + 1) / 2) for t in nodes]
    c = [2 * sum(v * cos(pi * j * (2 * k + 1) / (2 * n)) for k, v in enumerate(values)) / n
         for j in range(n)]
    c[0] /= 2
    scale = min(abs(v) for v in values) * accuracy
    last = max(j for j in range(n) if abs(c[j]) > scale * mpf(2) ** -55)
    return c[:last + 1]


J, Y, I, K = mpmath.besselj, mpmath.bessely, mpmath.besseli, mpmath.besselk


def hankel(order, part):
    """P or x * Q of the expansion of J and Y, as a function of z = 25 / x^2."""
    def f(z):
        x = 5 / sqrt(z)
        phase = x - pi * (2 * order + 1) / 4
        j, y = J(order, x) * sqrt(pi * x / 2), Y(order, x) * sqrt(pi * x / 2)
        return (j * cos(phase) + y * sin(phase)) if part == "p" else (
            x * (y * cos(phase) - j * sin(phase)))
    return f


def roots():
    """The first two roots of J0, the first of J1, and the positive one of digamma."""
    return [mpmath.findroot(lambda x: J(0, x), 2.4), mpmath.findroot(lambda x: J(0, x), 5.5),
            mpmath.findroot(lambda x: J(1, x), 3.8), mpmath.findroot(mpmath.digamma, 1.46)]


def airy_right(u):
    """2 sqrt(pi) x^(1/4) exp(zeta) Ai(x), where u = 1 / zeta."""
    zeta = 1 / u
    x = (3 * zeta / 2) ** (mpf(2) / 3)
    return 2 * sqrt(pi) * x ** 0.25 * exp(zeta) * mpmath.airyai(x)


def airy_left(part):
    """The factors of sin and of -cos / zeta in sqrt(pi) x^(1/4) Ai(-x), where u = 1 / zeta^2."""
    def f(u):
        zeta = 1 / sqrt(u)
        x = (3 * zeta / 2) ** (mpf(2) / 3)
        scale = sqrt(pi) * x ** 0.25
        a, b = mpmath.airyai(-x) * scale, mpmath.airybi(-x) * scale
        phase = zeta + pi / 4
        return a * sin(phase) + b * cos(phase) if part == "sin" else (
            zeta * (b * sin(phase) - a * cos(phase)))
    return f


def temme(rows, columns):
    """The Taylor coefficients in eta of c_k (DLMF 8.12.10), k < rows."""
    n = columns + 2 * rows + 6  # each row takes two more of the row before it
    # The coefficients of mu = lambda - 1, for which mu mu' = eta (1 + mu).
    m = [Fraction(0), Fraction(1)]
    for k in range(2, n + 2):
        # The coefficient of eta^k in mu mu' - eta mu = eta, solved for m[k].
        known = sum(m[i] * (k + 1 - i) * m[k + 1 - i] for i in range(2, k))
        m.append((m[k - 1] - known) / (k + 1))
    # 1 / mu = inverse(eta) / eta.
    inverse = [Fraction(1)]
    for k in range(1, n + 1):
        inverse.append(-sum(m[i + 1] * inverse[k - i] for i in range(1, k + 1)))
    gamma = stirling(rows)
    c = [inverse[j + 1] for j in range(n)]
    result = [c]
    for k in range(1, rows):
        # c_k = c_{k-1}' / eta + (-1)^k gamma_k / mu; the terms in 1 / eta cancel.
        factor = (-1) ** k * gamma[k]
        assert c[1] + factor * inverse[0] == 0
        c = [(j + 2) * c[j + 2] + factor * inverse[j + 1] for j in range(len(c) - 2)]
        result.append(c)
    return [[mpf(v.numerator) / v.denominator for v in row[:columns]] for row in result]


def stirling(count):
    """The coefficients of Gamma's asymptotic series in 1 / z."""
    b = [Fraction(0)] * (count + 1)
    for k in range(1, count + 1):  # log: B_2j / (2j (2j - 1)) z^(1 - 2j)
        if k % 2:
            numerator, denominator = mpmath.bernfrac(k + 1)
            b[k] = Fraction(int(numerator), int(denominator)) / ((k + 1) * k)
    g = [Fraction(1)]
    for k in range(1, count + 1):
        g.append(sum(j * b[j] * g[k - j] for j in range(1, k + 1)) / k)
    return g


def bessel_tables():
    j0a, j0b, j1a, _ = roots()
    for n in (0, 1):
        yield series(f"i{n}_near", f"exp(-x) I{n}(x){' / x' * n} on [0, 8].",
                     lambda x: exp(-x) * I(n, x) / x ** n, 0, 8)
        yield series(f"i{n}_far", f"sqrt(x) exp(-x) I{n}(x) over 8 / x in [0, 1].",
                     lambda u: scaled_i(n, 8 / u), 0, 1)
    yield series("k0_near", "K0(x) + log(x / 2) I0(x) over x^2 in [0, 4].",
                 lambda z: K(0, sqrt(z)) + log(sqrt(z) / 2) * I(0, sqrt(z)), 0, 4)
    yield series("k1_near", "x (K1(x) - log(x / 2) I1(x)) over x^2 in [0, 4].",
                 lambda z: sqrt(z) * (K(1, sqrt(z)) - log(sqrt(z) / 2) * I(1, sqrt(z))), 0, 4)
    for n in (0, 1):
        yield series(f"k{n}_far", f"sqrt(x) exp(x) K{n}(x) over 2 / x in [0, 1].",
                     lambda u: scaled_k(n, 2 / u), 0, 1)
    yield constant("j0_root_a", "The first root of J0.", j0a)
    yield constant("j0_root_b", "The second root of J0.", j0b)
    yield constant("j1_root", "The first positive root of J1.", j1a)
    yield series("j0_near", "J0(x) / ((x^2 - a^2) (x^2 - b^2)), with its first roots a and b, "
                 "over x^2 in [0, 25].",
                 lambda z: J(0, sqrt(z)) / ((z - j0a ** 2) * (z - j0b ** 2)), 0, 25)
    yield series("j1_near", "J1(x) / (x (x^2 - a^2)), with its first positive root a, "
                 "over x^2 in [0, 25].",
                 lambda z: J(1, sqrt(z)) / (sqrt(z) * (z - j1a ** 2)), 0, 25)
    yield series("y0_near", "Y0(x) - 2 / pi log(x) J0(x) over x^2 in [0, 25].",
                 lambda z: Y(0, sqrt(z)) - log(z) / pi * J(0, sqrt(z)), 0, 25, 0.1)
    yield series("y1_near", "(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x over x^2 in [0, 25].",
                 lambda z: (Y(1, sqrt(z)) - log(z) / pi * J(1, sqrt(z)) + 2 / pi / sqrt(z)) /
                 sqrt(z), 0, 25, 0.1)
    for n in (0, 1):
        form = f"in Hankel's form of J{n} and Y{n} (DLMF 10.17.3), over 25 / x^2 in [0, 1]."
        yield series(f"hankel_p{n}", f"P {form}", hankel(n, "p"), 0, 1)
        yield series(f"hankel_q{n}", f"x Q {form}", hankel(n, "q"), 0, 1)


def airy_tables():
    root = mpmath.airyaizero(1)
    yield constant("airy_root", "The first root of Ai.", root)
    yield series("airy_middle", "Ai(x) / (x - root) on [-4, 1].",
                 lambda x: mpmath.airyai(x) / (x - root), -4, 1)
    yield series("airy_right", "2 sqrt(pi) x^(1/4) exp(zeta) Ai(x) over 1 / zeta in [0, 1.5].",
                 airy_right, 0, mpf(3) / 2)
    yield series("airy_left_sin", "The factor of sin in sqrt(pi) x^(1/4) Ai(-x), over 1 / zeta^2.",
                 airy_left("sin"), 0, mpf(36) / 1024)
    yield series("airy_left_cos",
                 "The factor of -cos / zeta in sqrt(pi) x^(1/4) Ai(-x), over 1 / zeta^2.",
                 airy_left("cos"), 0, mpf(36) / 1024)


def gamma_tables():
    root = roots()[3]
    yield constant("digamma_root", "The positive root of the digamma function.", root)
    yield series("digamma_near", "digamma(x) / (x - root) on [1, 2].",
                 lambda x: mpmath.digamma(x) / (x - root), 1, 2)
    yield power_series("lgamma1p_tail",
                       "The sum of (-x)^k (zeta(k + 2) - 1) / (k + 2) over 0 <= k < 18.",
                       [(-1) ** k * (mpmath.zeta(k) - 1) / k for k in range(2, 20)])
    for k, row in enumerate(temme(7, 22)):
        yield power_series(f"temme_{k}", f"The factor of a^-{k} in Temme's expansion "
                           "(igamma_uniform); x is eta.", row[:22 - 2 * k])


def scaled_i(order, x):
    return sqrt(x) * exp(-x) * I(order, x)


def scaled_k(order, x):
    return sqrt(x) * exp(x) * K(order, x)


def main():
    for name, tables, note in [("bessel", bessel_tables, OVER), ("airy", airy_tables, OVER + ZETA),
                               ("gamma", gamma_tables, "")]:
        file = FUNCTORS / f"special_{name}_tables.h"
        file.write_text(HEAD.replace("NOTE", note) + "".join(tables()) + TAIL)
        subprocess.run(["clang-format", "-i", file], check=True)


if __name__ == "__main__":
    main()

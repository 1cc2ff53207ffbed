#!/usr/bin/env python3
"""Writes the table that tests/complex.rs compares with: python3 make_complex.py > complex.txt

Each line is one op on complex numbers: `op type : a b [c d] => re im within`. The result is NumPy's in extended precision (x86's 80 bits);
`within` is the distance that the formula in the op's definition may be off: a number of roundings (the unit roundoff is 2^-53, 2^-24),
times what they are relative to. Real ops are taken to be off by one rounding, functions by two.
"""
import numpy as np

np.seterr(divide="ignore")
rng = np.random.default_rng(20261)
Z = np.clongdouble

# op: the result, the roundings, what they are relative to.
ONE = {
    "exp": (np.exp, 6, abs),
    "log": (np.log, 8, lambda v: max(1, abs(v))),
    "log2": (lambda z: np.log(z) / np.log(np.longdouble(2)), 12, lambda v: max(2, abs(v))),
    "log10": (lambda z: np.log(z) / np.log(np.longdouble(10)), 12, lambda v: max(1, abs(v))),
    "sqrt": (np.sqrt, 10, abs),
    "rsqrt": (lambda z: 1 / np.sqrt(z), 22, abs),
    "reciprocal": (lambda z: 1 / z, 10, abs),
    "sin": (np.sin, 6, abs),
    "cos": (np.cos, 6, abs),
    "sinh": (np.sinh, 6, abs),
    "cosh": (np.cosh, 6, abs),
    "tanh": (np.tanh, 24, abs),
    "tan": (np.tan, 24, abs),
    "expm1": (np.expm1, 12, lambda v: max(1, abs(v))),
    "log1p": (np.log1p, 12, lambda v: max(1, abs(v))),
    "asin": (np.arcsin, 32, abs),
    "acos": (np.arccos, 32, lambda v: max(1, abs(v))),
    "atan": (np.arctan, 32, abs),
    "asinh": (np.arcsinh, 32, abs),
    "acosh": (np.arccosh, 32, lambda v: max(1, abs(v))),
    "atanh": (np.arctanh, 32, abs),
    "conj": (np.conj, 0, abs),
    "neg": (np.negative, 0, abs),
}
TWO = {
    "add": (lambda z, w: z + w, 1),
    "sub": (lambda z, w: z - w, 1),
    "mul": (lambda z, w: z * w, 3),
    "div": (lambda z, w: z / w, 10),
}


def numbers(count, dtype):
    """Of all directions and of magnitudes from a 64th to 4, and some on the axes."""
    size = 2 ** rng.uniform(-6, 2, count)
    angle = rng.uniform(-np.pi, np.pi, count)
    z = list(size * np.exp(1j * angle)) + [1, -1, 1j, -1j, 2 - 2j, 0.5, -3, 3e-3j]
    return np.array(z, np.complex128).astype(dtype)


def line(op, name, operands, value, within):
    parts = [repr(float(p)) for z in operands for p in (z.real, z.imag)]
    print(op, name, ":", *parts, "=>", repr(float(value.real)), repr(float(value.imag)), repr(float(within)))


print("# Made by make_complex.py; do not edit.")
for name, dtype, unit in [("complex<f64>", np.complex128, 2.0**-53), ("complex<f32>", np.complex64, 2.0**-24)]:
    for op, (f, roundings, scale) in ONE.items():
        for z in numbers(16, dtype):
            value = f(Z(z))
            if not np.isfinite(value):  # a pole
                continue
            # The result itself is printed in f64.
            line(op, name, [z], value, (roundings * unit + 2.0**-53) * float(scale(value)))
    for op, (f, roundings) in TWO.items():
        for z, w in zip(numbers(16, dtype), rng.permutation(numbers(16, dtype))):
            value = f(Z(z), Z(w))
            size = abs(z) + abs(w) if op in ("add", "sub") else abs(value)
            line(op, name, [z, w], value, (roundings * unit + 2.0**-53) * float(size))
    for z, w in zip(numbers(16, dtype), rng.permutation(numbers(16, dtype))):
        value = Z(z) ** Z(w)
        grown = 1 + float(abs(Z(w)) * max(1, abs(np.log(Z(z)))))
        line("pow", name, [z, w], value, 16 * grown * (unit + 2.0**-53) * float(abs(value)))

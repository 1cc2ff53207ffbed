#!/usr/bin/env python3
"""Writes tests/data/math_f64.txt: true values of the f64 functions at a few hundred points each, by mpmath.

One line a point: name, operands as bits in hex, the nearest f64 as bits, and what it differs from the truth by, in units
in the last place. Run from the crate's folder: `python3 tools/reference_f64.py > tests/data/math_f64.txt`.
"""
import random
import struct
from mpmath import mp, mpf
import mpmath as m

mp.prec = 1400
random.seed(20)


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def from_bits(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def nearest(v):
    """The f64 nearest to v, and (v - it) in its last place; handles subnormals and overflow."""
    if v == 0:
        return 0.0, 0.0
    if abs(v) >= mpf(2) ** 1024 * (1 - mpf(2) ** -54):
        return (float("inf") if v > 0 else float("-inf")), 0.0
    exponent = max(int(m.floor(m.log(abs(v), 2))), -1022)
    if abs(v) < mpf(2) ** exponent and exponent > -1022:
        exponent -= 1
    ulp = mpf(2) ** (exponent - 52)
    count = m.nint(v / ulp)
    rest = v / ulp - count
    value = float(count * ulp) if count != 0 else (0.0 if v > 0 else -0.0)
    return value, float(rest)


def erfcinv(y):
    """Halley's method: from the asymptotic series where that begins well."""
    if y > 1:
        return -erfcinv(2 - y)
    if y > mpf("0.05"):
        x = m.erfinv(float(1 - y)) if y != 1 else mpf(0)
    else:
        x = m.sqrt(-m.log(y * m.sqrt(m.pi) * m.sqrt(-m.log(y))))
    for _ in range(12):
        step = (m.erfc(x) - y) / (-2 / m.sqrt(m.pi) * m.exp(-x * x))
        step = step / (1 + x * step)
        x -= step
        if abs(step) < abs(x) * mpf(2) ** -200:
            break
    return x


def erfinv(x):
    """Near zero the series, as 1 - x would lose what x is."""
    if abs(x) < mpf(2) ** -100:
        return x * m.sqrt(m.pi) / 2
    return erfcinv(1 - x)


FUNCTIONS = {
    "exp": (m.exp, (-750, 711)), "exp2": (lambda x: mpf(2) ** x, (-1080, 1026)), "expm1": (m.expm1, (-45, 711)),
    "sigmoid": (lambda x: 1 / (1 + m.exp(-x)), (-750, 50)), "tanh": (m.tanh, (-25, 25)),
    "sinh": (m.sinh, (-712, 712)), "cosh": (m.cosh, (-712, 712)),
    "log": (m.log, None), "log2": (lambda x: m.log(x, 2), None), "log10": (m.log10, None), "log1p": (m.log1p, (-1, 4)),
    "sin": (m.sin, (-100, 100)), "cos": (m.cos, (-100, 100)), "tan": (m.tan, (-100, 100)),
    "asin": (m.asin, (-1, 1)), "acos": (m.acos, (-1, 1)), "atan": (m.atan, (-5, 5)),
    "asinh": (m.asinh, (-10, 10)), "acosh": (m.acosh, (1, 10)), "atanh": (m.atanh, (-1, 1)),
    "erf": (m.erf, (-6, 6)), "erfc": (m.erfc, (-6, 28)), "rsqrt": (lambda x: 1 / m.sqrt(x), None),
}
# Behind the functions of two operands, so that those keep their points.
INVERSES = {"erfinv": (erfinv, (-1, 1)), "erfcinv": (erfcinv, (0, 2))}
DOMAIN = {
    "log": (0, None), "log2": (0, None), "log10": (0, None), "rsqrt": (0, None), "log1p": (-1, None), "asin": (-1, 1),
    "acos": (-1, 1), "acosh": (1, None), "atanh": (-1, 1), "erfinv": (-1, 1), "erfcinv": (0, 2),
}
# Beyond these the result is plainly infinity, zero or one, and mpmath takes long.
GREATEST = {"exp": 800, "exp2": 1200, "expm1": 800, "sigmoid": 800, "tanh": 100, "sinh": 800, "cosh": 800, "erf": 40, "erfc": 40}


def points(name, span):
    for _ in range(110):
        if span:
            yield random.uniform(*span)
    for _ in range(110):
        exponent = random.randrange(1, 2046) if random.random() < 0.4 else random.randrange(983, 1063)
        yield from_bits(random.getrandbits(1) << 63 | exponent << 52 | random.getrandbits(52))
    for _ in range(12):
        yield from_bits(random.getrandbits(1) << 63 | random.getrandbits(52) >> random.randrange(52))
    for near in (1.0, -1.0, 0.5, -0.5, 2.0, 20.0, 0.7071067811865476, 1.4142135623730951, 0.41421356237309503, 1.5707963267948966):
        for step in (-2, -1, 1, 2):
            yield from_bits(bits(near) + step)
        yield near


def unary(functions):
    for name, (function, span) in functions.items():
        low, high = DOMAIN.get(name, (None, None))
        for x in points(name, span):
            outside = (low is not None and x <= low) or (high is not None and x >= high) or abs(x) > GREATEST.get(name, 1e400)
            if outside or x == 0:
                continue
            value, rest = nearest(function(mpf(x)))
            print(f"{name} {bits(x):016x} 0 {bits(value):016x} {rest:.4f}")


def main():
    unary(FUNCTIONS)
    for _ in range(400):
        x = random.uniform(0, 5) if random.random() < 0.5 else from_bits(random.randrange(1, 2046) << 52 | random.getrandbits(52))
        bound = 745 / abs(float(m.log(x))) * 1.02
        y = random.uniform(-bound, bound)
        value, rest = nearest(mpf(x) ** mpf(y))
        print(f"pow {bits(x):016x} {bits(y):016x} {bits(value):016x} {rest:.4f}")
    for _ in range(200):
        y, x = (from_bits(random.getrandbits(1) << 63 | random.randrange(983, 1063) << 52 | random.getrandbits(52)) for _ in "yx")
        value, rest = nearest(m.atan2(mpf(y), mpf(x)))
        print(f"atan2 {bits(y):016x} {bits(x):016x} {bits(value):016x} {rest:.4f}")
    unary(INVERSES)


if __name__ == "__main__":
    main()

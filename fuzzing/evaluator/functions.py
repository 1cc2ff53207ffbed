"""Elementary functions, within the bounds of docs/math.md and exact where docs/dialects/fusion.md says so.

A function is computed in a wider type than the program does (float64, or longdouble for f64) at both ends of an interval, and the
bound is added there. `SLACK` covers the error of the reference itself, in units of its last place.
"""

import math

import numpy as np

from values import WIDE, interval, ulp

SLACK = 8


def erf(x):
    """Python's, which is the C library's: within 1 ulp of a double."""
    flat = [math.erf(v) for v in np.asarray(x, np.float64).ravel().tolist()]
    return np.asarray(flat, np.float64).reshape(np.shape(x)).astype(x.dtype)


def erfc(x):
    """Python's, which is the C library's: within 6 ulp of a double."""
    flat = [math.erfc(v) for v in np.asarray(x, np.float64).ravel().tolist()]
    return np.asarray(flat, np.float64).reshape(np.shape(x)).astype(x.dtype)


def inverse_erf(a, v):
    """The number whose erf is `a` and whose erfc is `v`, `a + v = 1`: bisection, in float64, on the logarithm of erfc where that is small."""
    a, v = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(v, np.float64))
    low, high = np.zeros(a.shape), np.full(a.shape, 28.0)
    small = v < 0.03
    logarithm = np.log(np.where(v > 0, v, 1))
    for _ in range(110):
        z = (low + high) / 2
        fraction = z + 0.5
        for k in range(200, 0, -1):
            fraction = z + k / 2 / fraction
        tail = -np.log(np.sqrt(np.pi) * fraction) - z * z
        below = np.where(small & (z > 1), tail > logarithm, np.where(a < 0.5, erf(z) < a, erfc(z) > v))
        low, high = np.where(below, z, low), np.where(below, high, z)
    tiny = a < 1e-9
    z = np.where(tiny, a * np.sqrt(np.pi) / 2, (low + high) / 2)
    return np.where(v > 0, z, np.where(v == 0, np.inf, np.nan))


def erfinv(x):
    return np.copysign(inverse_erf(np.abs(x), 1 - np.abs(x)), x).astype(x.dtype)


def erfcinv(x):
    return np.where(x > 1, -inverse_erf(x - 1, 2 - x), inverse_erf(1 - x, x)).astype(x.dtype)


def lgamma_of_one(x):
    if math.isinf(x) or x <= 0 and x == math.floor(x):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


def lgamma(x):
    flat = [lgamma_of_one(float(one)) for one in np.ravel(x)]
    return np.array(flat, x.dtype).reshape(np.shape(x))


def bowl(low, high):
    """`lgamma` over an interval, which is convex between its poles: no less below the middle than it is above that at an end, and nowhere less than
    -0.125 (its least value is -0.1215, at 1.4616) where that end is infinite; NaN where a pole may lie in it."""
    ends = lgamma(low), lgamma(high)
    most, lesser = np.maximum(*ends), np.minimum(*ends)
    middle = 2 * lgamma((low + high) / 2) - np.where(np.isinf(most), 0, most)
    least = np.where(np.isinf(most), np.where(np.isinf(lesser), lesser, -0.125), np.minimum(lesser, middle))
    torn = (low <= 0) & (np.ceil(low) <= high) & (low != high)
    return np.where(torn, np.nan, least), np.where(torn, np.nan, most)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def is_power_of_two(x):
    return np.frexp(x)[0] == 0.5


def whole(x):
    return np.isfinite(x) & (x == np.floor(x))


class Function:
    """`bound` in ulp, the wider function, where it is exact besides at NaN and infinities, the least value it may have,
    and whether it falls."""

    def __init__(self, bound, wide, exact=None, least=None, greatest=None, known=None, trusted=None, falls=False, absolute=0.0):
        self.bound, self.wide, self.exact = bound, wide, exact
        self.least, self.greatest, self.known, self.trusted, self.falls = least, greatest, known, trusted, falls
        self.absolute = absolute  # of the result, or of 1 where that is smaller


def zero(x):
    return x == 0


def one(x):
    return x == 1


FUNCTIONS = {
    "exp": Function(1.0, np.exp, zero, least=0),
    "exp2": Function(1.0, np.exp2, whole, least=0, known=lambda x: np.ldexp(np.ones_like(x), np.clip(x, -9999, 9999).astype(int))),
    "expm1": Function(1.5, np.expm1, zero),
    "sigmoid": Function(2.5, sigmoid, zero, least=0),
    "tanh": Function(2.5, np.tanh, zero),
    "log": Function(1.0, np.log, one),
    "log2": Function(1.0, np.log2, is_power_of_two, known=lambda x: (np.frexp(x)[1] - 1).astype(x.dtype)),
    "log10": Function(1.0, np.log10, one),
    "log1p": Function(1.75, np.log1p, zero),
    "asin": Function(2.0, np.arcsin, zero),
    "acos": Function(1.5, np.arccos, one, least=0, falls=True),
    "atan": Function(2.25, np.arctan, zero),
    "sinh": Function(2.75, np.sinh, zero),
    "cosh": Function(2.0, np.cosh, zero),  # of the magnitude
    "asinh": Function(2.5, np.arcsinh, zero),
    "acosh": Function(2.5, np.arccosh, one, least=0),
    "atanh": Function(2.5, np.arctanh, zero),
    "erf": Function(1.5, erf, zero, trusted=2.0**-52),
    "erfc": Function(4.0, erfc, zero, least=0, trusted=6 * 2.0**-52, falls=True),
    "erfinv": Function(2.5, erfinv, zero, trusted=8 * 2.0**-52),
    "erfcinv": Function(3.0, erfcinv, one, trusted=8 * 2.0**-52, falls=True),
    # The error of the C library's, and the stated one.
    "lgamma": Function(1.0, lgamma, lambda x: (x == 1) | (x == 2), absolute=2.0**-44),
}
WAVES = {"sin": Function(1.0, np.sin, zero), "cos": Function(1.0, np.cos, zero), "tan": Function(2.5, np.tan, zero)}


def error(f, y, target):
    """The greatest distance of a result from `y`."""
    finite = np.minimum(np.abs(y), np.finfo(target).max)
    slack = f.trusted if f.trusted else SLACK * np.finfo(y.dtype).eps
    return f.bound * ulp(y, target) + slack * finite + f.absolute * np.maximum(finite, 1)


def apply(name, x):
    """The function of a value."""
    f = FUNCTIONS.get(name) or WAVES[name]
    target = x.lo.dtype
    wide = np.longdouble if name in WAVES else WIDE[target]
    low, high = x.lo.astype(wide), x.hi.astype(wide)
    at_low = f.wide(low)
    at_high = at_low if x.known else f.wide(high)
    if name in WAVES and not x.known:
        at_low, at_high = wave(name, low, high)
    if name == "lgamma" and not x.known:
        at_low, at_high = bowl(low, high)
    if f.falls:
        at_low, at_high = at_high, at_low
    lo = at_low - error(f, at_low, target)
    hi = at_high + error(f, at_high, target)
    if f.least is not None:
        lo = np.where(lo < f.least, wide(f.least), lo)
    return interval(x.dtype, lo, hi, x.open, *exactly(f, x, low, at_low))


def exactly(f, x, low, at_low):
    """Where the result is known to the bit, and what it is."""
    beyond = np.isnan(at_low) | np.isinf(low) | np.isinf(at_low)
    if f.exact is None:
        return x.exact() & beyond, at_low
    special = f.exact(low)
    known = np.where(special, f.known(low), at_low) if f.known else at_low
    return x.exact() & (beyond | special), known


def wave(name, low, high):
    """Sine, cosine and tangent over an interval; NaN where a pole may lie in it."""
    middle, radius = (low + high) / 2, (high - low) / 2
    if name == "tan":
        half = np.longdouble(math.pi) / 2
        torn = (np.floor((low + half) / (2 * half)) != np.floor((high + half) / (2 * half))) | (radius > 0.5)
        return np.where(torn, np.nan, np.tan(low)), np.where(torn, np.nan, np.tan(high))
    at = np.sin(middle) if name == "sin" else np.cos(middle)
    return np.maximum(at - radius, -1), np.minimum(at + radius, 1)


def power(x, y):
    """`pow`: within 1 ulp; with the special values of C99, which NumPy has from the C library."""
    f = Function(1.0, None)
    target = x.lo.dtype
    wide = WIDE[target]
    corners = [np.power(a.astype(wide), b.astype(wide)) for a in {id(x.lo): x.lo, id(x.hi): x.hi}.values() for b in {id(y.lo): y.lo, id(y.hi): y.hi}.values()]
    lo, hi = np.minimum.reduce(corners), np.maximum.reduce(corners)
    exact = x.exact() & y.exact()
    # Over a base that may be zero or negative a power is monotone only piece by piece.
    around = (x.lo <= 0) & ~exact
    even = y.exact() & whole(y.lo) & (np.fmod(y.lo, 2) == 0) & (y.lo > 0)
    odd = y.exact() & whole(y.lo) & ~even & (y.lo > 0)
    lo = np.where(around & even, np.where(x.hi >= 0, wide(0), lo), lo)
    lo = np.where(around & ~even & ~odd, np.nan, lo)
    lo, hi = lo - error(f, lo, target), hi + error(f, hi, target)
    first = corners[0]
    special = np.isnan(first) | np.isinf(x.lo) | np.isinf(y.lo) | (y.lo == 0) | (x.lo == 1) | (x.lo == 0)
    open = x.open if y.open is None else y.open if x.open is None else x.open | y.open
    return interval(x.dtype, lo, hi, open, exact & special, first)


def angle(y, x):
    """`atan2`: within 3 ulp; monotone along each side of a rectangle, which must not touch the cut along the negative x axis."""
    f = Function(3.0, None)
    target = y.lo.dtype
    wide = WIDE[target]
    ends = lambda v: [v.lo] if v.known else [v.lo, v.hi]
    corners = [np.arctan2(a.astype(wide), b.astype(wide)) for a in ends(y) for b in ends(x)]
    lo, hi = np.minimum.reduce(corners), np.maximum.reduce(corners)
    exact = y.exact() & x.exact()
    torn = ~exact & (y.lo <= 0) & (y.hi >= 0) & (x.lo <= 0)
    lo = np.where(torn, np.nan, lo)
    lo, hi = lo - error(f, lo, target), hi + error(f, hi, target)
    first = corners[0]
    open = y.open if x.open is None else x.open if y.open is None else y.open | x.open
    return interval(y.dtype, lo, hi, open, exact & (np.isnan(first) | (first == 0)), first)

"""Elementwise ops: arithmetic, comparison, choice, conversion; definitions from docs/dialects/fusion.md.

Ops with one IEEE 754 result are done by NumPy in the type in which the program computes, at the ends of intervals, and rounded once:
rounding is monotone, so the ends stay ends.
"""

import math

import numpy as np

import functions
from values import FLOATS, STORED, Value, computes, either, elements, interval, narrow, to_odd

BITWISE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
ROUNDINGS = {"ceil": np.ceil, "floor": np.floor, "round": np.rint, "trunc": np.trunc}
PREDICATES = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


# --- how an op is done on intervals ------------------------------------------------------------------------------------------------


def lifted(native, bounds, *values):
    """`native` where every operand is known or one is NaN, which stays NaN; else `bounds` of the values."""
    dtype, open = values[0].dtype, either(*(v.open for v in values))
    known = native(*(v.lo for v in values))
    if all(v.known for v in values):
        return Value(dtype, narrow(known, dtype), open=open)
    exact, nan = True, False
    for value in values:
        exact, nan = exact & value.exact(), nan | np.isnan(value.lo)
    lo, hi = bounds(*values)
    return interval(dtype, lo, hi, open, exact | nan, known)


def rising(native):
    """Bounds of a function that never falls in any of its operands."""
    return lambda *values: (native(*(v.lo for v in values)), native(*(v.hi for v in values)))


def corners(native):
    """Bounds of a function that is monotone in each operand while the other stands still."""

    def bounds(a, b):
        found = [native(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        return np.minimum.reduce(found), np.maximum.reduce(found)

    return bounds


# --- arithmetic ---------------------------------------------------------------------------------------------------------------------


def add(a, b, same):
    return lifted(np.add, rising(np.add), a, b)


def sub(a, b, same):
    if same:
        return lifted(np.subtract, lambda a, _: (np.zeros_like(a.lo) - np.zeros_like(a.lo), (a.hi - a.hi) * 0), a, b)
    return lifted(np.subtract, lambda a, b: (a.lo - b.hi, a.hi - b.lo), a, b)


def mul(a, b, same):
    return lifted(np.multiply, square if same else corners(np.multiply), a, b)


def square(a, _):
    low, high = a.lo * a.lo, a.hi * a.hi
    return np.where((a.lo <= 0) & (a.hi >= 0), 0, np.minimum(low, high)), np.maximum(low, high)


def div(a, b, same):
    def bounds(a, b):
        lo, hi = corners(np.divide)(a, b)
        torn = (b.lo <= 0) & (b.hi >= 0) & ~b.exact()
        return np.where(torn, np.nan, lo), hi

    return lifted(np.divide, bounds, a, b)


def floored(x, y):
    """`fusion.remainder`, in the computation type."""
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def rest(native, a, b):
    """A remainder, where both ends of `a` have the same quotient."""

    def bounds(a, b):
        lo, hi = native(a.lo, b.lo), native(a.hi, b.lo)
        # The same quotient at both ends: the remainders are as far from each other as the ends.
        whole = (lo <= hi) & (np.abs((a.hi - a.lo) - (hi - lo)) <= 0.25 * np.abs(b.lo)) & ((a.lo >= 0) | (a.hi <= 0))
        whole &= b.exact() & (a.hi - a.lo < 0.5 * np.abs(b.lo))
        return np.where(whole, lo, np.nan), hi

    return lifted(native, bounds, a, b)


def with_signs(choose, pick_negative):
    """`maximum` and its kin, with -0 < +0."""

    def native(x, y):
        found = choose(x, y)
        negative = pick_negative(np.signbit(x), np.signbit(y))
        return np.where((x == 0) & (y == 0), np.where(negative, x.dtype.type(-0.0), x.dtype.type(0.0)), found)

    return native


EXTREMES = {
    "maximum": with_signs(np.maximum, np.logical_and),
    "minimum": with_signs(np.minimum, np.logical_or),
    "fmax": with_signs(np.fmax, np.logical_and),
    "fmin": with_signs(np.fmin, np.logical_or),
}


def extreme(name, a, b):
    if not a.is_float:
        # NumPy's maximum of truth values is `or`.
        return integers(np.maximum if name in ("maximum", "fmax") else np.minimum, a, b)
    native = EXTREMES[name]
    if name in ("maximum", "minimum"):
        return lifted(native, rising(native), a, b)
    open = either(a.open, b.open)
    lo, hi = native(a.lo, b.lo), native(a.hi, b.hi)
    if a.known and b.known:
        return Value(a.dtype, lo, open=open)
    # One NaN leaves the other, whatever is known of it.
    exact = (a.exact() & b.exact()) | (np.isnan(lo) & np.isnan(hi))
    return interval(a.dtype, lo, hi, open, exact, lo)


def clamp(x, low, high):
    return extreme("minimum", extreme("maximum", x, low), high)


def pow_(a, b, same):
    return functions.power(a, b)


def atan2(a, b, same):
    return functions.angle(a, b)


def nextafter(a, b, same):
    def bounds(a, b):
        return np.nextafter(a.lo, a.lo.dtype.type(-np.inf)), np.nextafter(a.hi, a.hi.dtype.type(np.inf))

    return lifted(np.nextafter, bounds, a, b)


FLOAT_BINARY = {
    "nextafter": nextafter,
    "add": add, "sub": sub, "mul": mul, "div": div, "pow": pow_, "atan2": atan2,
    "rem": lambda a, b, same: rest(np.fmod, a, b),
    "remainder": lambda a, b, same: rest(floored, a, b),
}


def integers(native, *values):
    """An op on integers: what is open stays open."""
    return Value(values[0].dtype, native(*(v.lo for v in values)), open=either(*(v.open for v in values)))


def int_div(a, b):
    safe = np.where(b == 0, 1, b)
    if a.dtype.kind == "u":
        return np.where(b == 0, 0, a // safe.astype(a.dtype)).astype(a.dtype)
    least = np.iinfo(a.dtype).min
    wraps = (a == least) & (b == -1)
    safe = np.where(wraps, 1, safe).astype(a.dtype)
    floor = a // safe
    short = (floor * safe != a) & ((a < 0) != (safe < 0))
    return np.where(b == 0, 0, np.where(wraps, least, floor + short)).astype(a.dtype)


def int_rem(a, b):
    return np.where(b == 0, a, a - int_div(a, b) * b).astype(a.dtype)


def int_remainder(a, b):
    rest = int_rem(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest).astype(a.dtype)


def shift(left):
    def native(a, b):
        beyond = (b < 0) | (b >= 8 * a.dtype.itemsize)
        count = np.where(beyond, 0, b).astype(a.dtype)
        if left:
            return np.where(beyond, 0, np.left_shift(a, count)).astype(a.dtype)
        return np.where(beyond, np.where(a < 0, -1, 0).astype(a.dtype), np.right_shift(a, count)).astype(a.dtype)

    return native


def lshr(a, b):
    plain = a.astype(f"u{a.dtype.itemsize}")
    return np.where(b < 0, 0, shift(False)(plain, b).astype(a.dtype)).astype(a.dtype)


def gcd(a, b):
    """Of any width: the magnitude of the least value wraps."""
    wide = np.frompyfunc(math.gcd, 2, 1)(a.astype(object), b.astype(object))
    width = 8 * a.dtype.itemsize
    return np.asarray(wide & ((1 << width) - 1), np.uint64).astype(f"u{a.dtype.itemsize}").view(a.dtype)


INT_BINARY = {
    "gcd": gcd,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": int_div, "rem": int_rem,
    "remainder": int_remainder, "lshr": lshr,
    "shl": shift(True), "shr": shift(False), **BITWISE,
}


def binary(name, a, b, same):
    if name in EXTREMES:
        return extreme(name, a, b)
    if a.is_float:
        return FLOAT_BINARY[name](a, b, same)
    native = INT_BINARY[name]
    return integers(lambda x, y: native(*np.broadcast_arrays(x, y)), a, b)


# --- one operand --------------------------------------------------------------------------------------------------------------------


def absolute(x):
    def bounds(x):
        low, high = np.abs(x.lo), np.abs(x.hi)
        return np.where((x.lo <= 0) & (x.hi >= 0), 0, np.minimum(low, high)), np.maximum(low, high)

    return lifted(np.abs, bounds, x)


def rsqrt(x):
    def bounds(x):
        lo, hi = 1 / np.sqrt(x.hi), 1 / np.sqrt(x.lo)
        return lo, np.where(x.lo <= 0, np.nan, hi)

    return lifted(lambda x: 1 / np.sqrt(x), bounds, x)


def reciprocal(x):
    def bounds(x):
        torn = (x.lo <= 0) & (x.hi >= 0)
        return np.where(torn, np.nan, 1 / x.hi), 1 / x.lo

    return lifted(lambda x: 1 / x, bounds, x)


def sign(x):
    return np.where(x == 0, x, np.sign(x))


def silu(x):
    """In the computation type, rounded once."""
    wide = cast(x, "f32") if x.dtype in ("f16", "bf16") else x
    y = FLOAT_BINARY["mul"](wide, functions.apply("sigmoid", wide), False)
    return y if wide is x else cast(y, x.dtype)


FLOAT_UNARY = {
    "neg": lambda x: lifted(np.negative, lambda x: (-x.hi, -x.lo), x),
    "abs": absolute,
    "sqrt": lambda x: lifted(np.sqrt, rising(np.sqrt), x),
    "rsqrt": rsqrt,
    "silu": silu,
    "cosh": lambda x: functions.apply("cosh", absolute(x)),
    "reciprocal": reciprocal,
    "sign": lambda x: lifted(sign, rising(sign), x),
    "relu": lambda x: extreme("maximum", x, Value(x.dtype, np.zeros((), x.lo.dtype))),
}
INT_UNARY = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "relu": lambda x: np.maximum(x, 0),
    "not": np.invert,
}


def unary(name, x):
    if name == "isnan":
        return Value("i1", np.isnan(x.lo), open=x.open)
    if name == "isfinite":
        finite = np.isfinite(x.lo)
        return Value("i1", finite, open=either(x.open, finite != np.isfinite(x.hi)))
    if not x.is_float:
        return integers(INT_UNARY[name], x)
    if name in ROUNDINGS:
        return lifted(ROUNDINGS[name], rising(ROUNDINGS[name]), x)
    if name in FLOAT_UNARY:
        return FLOAT_UNARY[name](x)
    return functions.apply(name, x)


# --- comparison and choice ----------------------------------------------------------------------------------------------------------


def compare(predicate, a, b):
    native = PREDICATES[predicate]
    found, open = native(a.lo, b.lo), either(a.open, b.open)
    if a.known and b.known:
        return Value("i1", found, open=open)
    # The intervals are apart, or both are known: -0 and +0 are equal.
    nan = np.isnan(a.lo) | np.isnan(b.lo)
    sure = nan | ((a.lo == a.hi) & (b.lo == b.hi))
    ends = [native(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    if predicate in ("eq", "ne"):
        apart = (a.hi < b.lo) | (b.hi < a.lo)
        sure = sure | apart
    else:
        sure = sure | np.logical_and.reduce(ends) | ~np.logical_or.reduce(ends)
    return Value("i1", found, open=either(open, ~sure))


def where(c, a, b):
    lo = np.where(c.lo, a.lo, b.lo)
    chosen = None
    if a.open is not None or b.open is not None:
        none = np.zeros((), bool)
        chosen = np.where(c.lo, none if a.open is None else a.open, none if b.open is None else b.open)
    if not a.is_float:
        return Value(a.dtype, lo, open=either(chosen, None if c.open is None else c.open & (a.lo != b.lo)))
    hi = lo if a.known and b.known else np.where(c.lo, a.hi, b.hi)
    if c.open is None:
        return Value(a.dtype, lo, hi, chosen)
    # Either of the two: all from the least to the greatest.
    least, greatest = np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi)
    low, high = np.where(c.open, least, lo), np.where(c.open, greatest, hi)
    other = either(a.open, b.open)
    chosen = either(chosen, None if other is None else c.open & other)
    return interval(a.dtype, low, high, chosen, ~c.open & Value(a.dtype, lo, hi).exact(), lo)


# --- conversion ---------------------------------------------------------------------------------------------------------------------


def cast(x, to):
    if x.is_float and to in FLOATS:
        wide = np.float64 if x.dtype == "f64" else x.lo.dtype
        target = computes(to)
        change = lambda v: narrow(v.astype(wide) if target.itemsize < 8 else v.astype(target), to)
        lo = change(x.lo)
        return Value(to, lo, open=x.open) if x.known else interval(to, lo, change(x.hi), x.open, x.exact(), lo)
    if to == "i1":
        open = x.open if not x.is_float else either(x.open, (x.lo != x.hi) & (x.lo <= 0) & (x.hi >= 0))
        return Value(to, x.lo != 0, open=open)
    if x.is_float:
        lo, hi = to_int(x.lo, to), to_int(x.hi, to)
        return Value(to, lo, open=either(x.open, lo != hi))
    if to not in FLOATS:
        return Value(to, x.lo.astype(computes(to)), open=x.open)
    return from_int(x, to)


def to_int(x, to):
    target = computes(to)
    zero, least, greatest = (target.type(n) for n in (0, np.iinfo(target).min, np.iinfo(target).max))
    inside = (x > float(least)) & (x < float(greatest))
    whole = np.where(inside, np.trunc(x), 0).astype(target)
    return np.where(inside, whole, np.where(np.isnan(x), zero, np.where(x > 0, greatest, least)))


def from_int(x, to):
    wide = x.lo.astype(np.longdouble)
    # Every 64-bit integer is a longdouble; f64 and f32 are rounded from there at once, the others by way of an odd double.
    exact = wide.astype(computes(to)) if to in ("f64", "f32") else narrow(to_odd(wide, np.float64), to)
    if x.open is None or x.dtype != "i1":
        return Value(to, exact, open=x.open)
    return interval(to, np.where(x.open, 0, exact), np.where(x.open, 1, exact), None, ~x.open, exact)


def bitcast(x, to):
    open = x.open if not x.is_float else either(x.open, ~x.exact() | np.isnan(x.lo))
    return Value(to, elements(stored(x.lo, x.dtype), to, x.lo.shape), open=open)


def stored(held, dtype):
    """The bytes of elements, NaN apart."""
    if dtype == "bf16":
        return (held.view(np.uint32) >> 16).astype("<u2").tobytes()
    return held.astype(STORED[dtype]).tobytes()

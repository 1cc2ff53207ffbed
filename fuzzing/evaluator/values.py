"""Values as intervals: for each element the least and the greatest number that a correct execution may give.

A value holds arrays `lo` and `hi` of its logical shape, numbers of its element type: f32 and narrower floats in float32, f64 in float64,
integers in their own types. Where an element is known to the bit the two are the same bits, and a value that is known everywhere
holds one array twice. `open` marks elements of which nothing is said: a comparison of numbers within their own errors decided them.
A zero whose sign is not known reaches from -0 to +0.
"""

import collections
import fractions

import numpy as np

np.seterr(all="ignore")

# Floats of 8 bits or fewer: steps to a power of two, the least number but zero, and the numbers without a sign, zero included.
SMALL = {"f8E4M3FN": (8, 2.0**-9, 127), "f8E5M2": (4, 2.0**-16, 124), "f4E2M1FN": (2, 0.5, 8)}
# The bit of their sign.
SIGN = {"f8E4M3FN": 128, "f8E5M2": 128, "f4E2M1FN": 8}
SCALE = "f8E8M0FNU"
FLOATS = {"f64": np.float64} | dict.fromkeys(["f32", "f16", "bf16", *SMALL, SCALE], np.float32)
INTEGERS = {
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "index": np.int64,
    "ui64": np.uint64, "ui32": np.uint32, "ui16": np.uint16, "ui8": np.uint8, "i1": np.bool_,
}
# Complex types and the types of their parts.
COMPLEX = {"complex<f32>": "f32", "complex<f64>": "f64"}
STORED = {
    "f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<u2", "i1": "u1", **dict.fromkeys([*SMALL, SCALE], "u1"),
    **{name: np.dtype(kind).newbyteorder("<").str for name, kind in INTEGERS.items() if name != "i1"},
}
BITS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}
# The unit roundoff and the next wider type of the type that computes.
UNIT = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
WIDE = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}


# An axis: whether it is a b axis, and whether its extent is a number in the text of the program.
Axis = collections.namedtuple("Axis", "broadcast static")


def computes(dtype):
    """The NumPy type in which elements of `dtype` are held."""
    return np.dtype(FLOATS.get(dtype) or INTEGERS[dtype])


class Value:
    """An interval for each element, and an [`Axis`] for each axis."""

    def __init__(self, dtype, lo, hi=None, open=None, axes=None):
        self.dtype, self.lo = dtype, np.asarray(lo)
        self.hi = self.lo if hi is None else np.asarray(hi)
        self.open = None if open is None or not np.any(open) else np.broadcast_to(open, self.lo.shape)
        self.axes = [Axis(False, True)] * self.lo.ndim if axes is None else list(axes)

    @property
    def known(self):
        """Whether every element is known to the bit or open."""
        return self.hi is self.lo

    @property
    def is_float(self):
        return self.dtype in FLOATS

    def exact(self):
        """Which elements are known to the bit; every NaN is."""
        if self.known:
            return np.ones(self.lo.shape, bool)
        bits = BITS[self.lo.dtype]
        return (self.lo.view(bits) == self.hi.view(bits)) | (np.isnan(self.lo) & np.isnan(self.hi))

    def moved(self, move, axes):
        """The same elements elsewhere."""
        lo = move(self.lo)
        hi = lo if self.known else move(self.hi)
        return Value(self.dtype, lo, hi, None if self.open is None else move(self.open), axes)


def either(*masks):
    """The elements that any of the masks has; None for none."""
    found = None
    for mask in masks:
        if mask is not None:
            found = mask if found is None else found | mask
    return found


def interval(dtype, lo, hi, open, exact=None, known=None):
    """A value of bounds in the type that computes, which are rounded to `dtype`.

    `exact` says where the value is `known` to the bit. NaN and infinite bounds that are not known make an element open.
    """
    torn = np.isnan(lo) | np.isnan(hi)
    lo, hi = narrow(np.asarray(lo), dtype), narrow(np.asarray(hi), dtype)
    # Where a number may have become infinite or not, nothing more is said.
    lost = torn | np.isnan(lo) | np.isnan(hi) | ((np.isinf(lo) | np.isinf(hi)) & (lo != hi))
    lo = np.where(lo == 0, np.copysign(lo, -1), lo)
    hi = np.where(hi == 0, np.abs(hi), hi)
    if exact is not None:
        known = narrow(np.asarray(known), dtype)
        lo, hi = np.where(exact, known, lo), np.where(exact, known, hi)
        lost = lost & ~exact
    return Value(dtype, lo, hi, either(open, lost if np.any(lost) else None))


# --- rounding -----------------------------------------------------------------------------------------------------------------------


def narrow(x, dtype):
    """Rounds float32 (float64 for f64), or something wider, to `dtype` once, to nearest even."""
    if dtype == "f64":
        return x.astype(np.float64)
    if dtype == "f32":
        return x.astype(np.float32)
    if x.dtype == np.longdouble:
        x = to_odd(x, np.float64)
    if dtype == "f16":
        return x.astype(np.float16).astype(np.float32)
    x = to_odd(x, np.float32) if x.dtype == np.float64 else x
    if dtype in SMALL:
        return to_small(x, dtype)
    return to_scale(x) if dtype == SCALE else to_bf16(x)


def numbers(dtype):
    """The numbers of a float of 8 bits or fewer by their bits, as float64, and what is at the bits behind them."""
    if dtype == SCALE:
        return 2.0 ** np.arange(-127, 128), np.nan
    steps, unit, count = SMALL[dtype]
    bits = np.arange(count)
    power = np.maximum(bits // steps, 1) - 1
    values = (bits - power * steps) * unit * 2.0**power
    return values, (np.inf if dtype == "f8E5M2" else np.nan)


def to_small(x, dtype):
    """To a float of 8 bits or fewer with a sign; what is beyond the numbers is infinite where the type has that, else the greatest."""
    values, beyond = numbers(dtype)
    magnitude = np.abs(np.asarray(x, np.float32)).astype(np.float64)
    above = np.clip(np.searchsorted(values, magnitude), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    up = (magnitude - low > high - magnitude) | ((magnitude - low == high - magnitude) & (above % 2 == 0))
    last = 2 * values[-1] - values[-2]
    rounded = np.where(up, high, low)
    if beyond == np.inf:
        rounded = np.where(magnitude >= (values[-1] + last) / 2, np.inf, rounded)
    rounded = np.copysign(np.where(np.isnan(x), np.nan, rounded), x)
    if dtype == "f4E2M1FN":  # Without NaN.
        rounded = np.where(np.isnan(x), -0.0, rounded)
    return rounded.astype(np.float32)


def to_scale(x):
    """To the nearest power of two, half-way to the greater, above the least to the next; NaN for what is no positive number in the range."""
    x = np.asarray(x, np.float32).astype(np.float64)
    good = np.isfinite(x) & (x > 0)
    fraction, power = np.frexp(np.where(good, x, 1))
    power = np.maximum(power - (fraction < np.where(power == -126, np.nextafter(0.5, 1), 0.75)), -127)
    return np.where(good & (power < 128), np.ldexp(1.0, np.minimum(power, 127)), np.nan).astype(np.float32)


def to_odd(x, target):
    """Rounds so that rounding once more gives what rounding at once gives: a result that is not exact gets an odd last bit."""
    near = x.astype(target)
    back = near.astype(x.dtype)
    bits = np.int64 if target == np.float64 else np.int32
    wrong = (back != x) & np.isfinite(back) & (near.view(bits) & 1 == 0)
    toward = np.where(x > back, np.inf, -np.inf).astype(target)
    large = np.isinf(back) & np.isfinite(x)
    near = np.where(wrong, np.nextafter(near, toward), near)
    return np.where(large, np.copysign(np.finfo(target).max, near), near)


def to_bf16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), np.float32(np.nan), rounded.astype(np.uint32).view(np.float32))


def literal(text, dtype):
    """A number as it is written, rounded once."""
    target = computes(dtype)
    if text in ("true", "false"):
        return np.asarray(text == "true", target)
    if dtype not in FLOATS:
        return np.asarray(int(text, 0) % (1 << 64), np.uint64).astype(target)
    if text.startswith("0x"):
        word = np.asarray(int(text, 16), np.uint64)
        size = np.dtype(STORED[dtype]).itemsize
        return elements(word.astype(f"<u{size}").tobytes(), dtype, ())
    exact = fractions.Fraction(text)
    near = np.asarray(float(exact))
    if dtype == "f64":
        return near
    if fractions.Fraction(float(near)) != exact and near.view(np.int64) & 1 == 0:
        near = np.nextafter(near, np.inf if exact > fractions.Fraction(float(near)) else -np.inf)
    return narrow(np.asarray(near), dtype) if dtype != "f32" else np.asarray(near, np.float32)


# --- bytes --------------------------------------------------------------------------------------------------------------------------


def elements(data, dtype, shape):
    """Elements of `dtype` from little-endian bytes, as they are held."""
    raw = np.frombuffer(data, STORED[dtype]).reshape(shape)
    if dtype == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if dtype in SMALL or dtype == SCALE:
        values, beyond = numbers(dtype)
        sign = 0 if dtype == SCALE else SIGN[dtype]
        table = np.full(sign or 256, np.nan)
        table[: len(values)] = values
        if beyond == np.inf:
            table[len(values)] = beyond
        table = np.concatenate([table, -table]) if sign else table
        return table.astype(np.float32)[raw]
    if dtype == "i1":
        return raw & 1 != 0
    return raw.astype(computes(dtype))


def ulp(y, target):
    """The distance of neighbours in `target` around `y`, in the type of `y`."""
    # Three quarters of the greatest number lie in its binade, and have a neighbour.
    near = np.minimum(np.abs(y), 0.75 * np.finfo(target).max).astype(target)
    return np.spacing(near).astype(np.asarray(y).dtype)

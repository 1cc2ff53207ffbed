"""Elementwise ops beside PyTorch and NumPy."""

import pathlib
import re

import numpy as np
import torch

from .values import PARTS, TYPES, Exact, Within, computes, is_float, narrow, ulp, widen

MATH = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/math.md"


def bounds():
    """The bounds of docs/math.md, in units in the last place: of f32 and of f64."""
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|", MATH.read_text(), flags=re.M)
    return {name: {"f32": float(f32), "f64": float(f64)} for name, f32, f64 in rows}


BOUNDS = bounds()


def by_torch(function):
    """A function of PyTorch on arrays of NumPy."""
    return lambda *arrays: function(*(torch.from_numpy(np.array(array, copy=True)) for array in arrays)).numpy()


# --- one operand --------------------------------------------------------------------------------------------------------------------


def exact_floats(function, integers=None):
    """An op that the type that computes makes exactly; on integers another function."""

    def draw(d):
        dtype = d.dtype()
        raw = d.raw(dtype, d.shape())
        if not is_float(dtype):
            return "{}", [(dtype, raw)], [Exact(dtype, np.asarray(integers(raw), raw.dtype))]
        return "{}", [(dtype, raw)], [Exact(dtype, narrow(function(d, widen(raw, dtype)), dtype))]

    return draw


def torched(function):
    return lambda d, *xs: by_torch(function)(*xs)


def on_bits(function):
    """An op that changes a float's sign bit at most."""

    def draw(d):
        dtype = d.dtype()
        raw = d.raw(dtype, d.shape())
        if not is_float(dtype):
            return "{}", [(dtype, raw)], [Exact(dtype, function(raw))]
        held = raw if dtype not in ("f16", "bf16") else raw.view(np.float16)
        return "{}", [(dtype, raw)], [Exact(dtype, function(held).view(raw.dtype), payloads=True)]

    return draw


# Functions that PyTorch alone has in f64: their own error there is within so many units in the last place.
SLACK = 16


def function(name, wide, torch_function=None):
    """A function within the bound of docs/math.md: `wide` is NumPy's in long double, or PyTorch's in f64 with `SLACK`."""

    def reference(raw, dtype):
        x = widen(raw, dtype)
        if wide is not None:
            return wide(x.astype(np.longdouble)), 0
        return by_torch(torch_function)(x.astype(np.float64)).astype(np.longdouble), SLACK

    def draw(d):
        dtype = d.dtype()
        raw = d.raw(dtype, d.shape())
        value, slack = reference(raw, dtype)
        compute = computes(dtype)
        bound = BOUNDS[name][compute] * ulp(value, compute) + slack * ulp(value, "f64")
        # Half of the least subnormal is no number: there the reference has no value.
        lost = (name == "erfcinv") & (np.abs(widen(raw, dtype)) < 1e-300) & (widen(raw, dtype) != 0)
        return "{}", [(dtype, raw)], [Within(dtype, value, bound, lost)]

    return draw


def lgamma(d):
    """Within 2^-46 of its result, or of 1 where that is smaller (docs/math.md); PyTorch's in f64 may err by as much."""
    dtype = d.dtype()
    raw = d.raw(dtype, d.shape())
    value = by_torch(torch.special.gammaln)(widen(raw, dtype).astype(np.float64)).astype(np.longdouble)
    bound = 2 * np.longdouble(2) ** -46 * np.maximum(np.abs(value), 1)
    return "{}", [(dtype, raw)], [Within(dtype, value, bound)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def complex_parts(d, dtype):
    """Complex numbers of two draws."""
    shape = d.shape()
    raw = np.empty(shape, TYPES[dtype][0])
    raw.real, raw.imag = d.raw(PARTS[dtype], shape), d.raw(PARTS[dtype], shape)
    return raw


def of_parts(d):
    dtype = d.dtype()
    shape = d.shape()
    parts = [d.raw(dtype, shape) for _ in range(2)]
    to = next(to for to, of in PARTS.items() if of == dtype)
    raw = np.empty(shape, TYPES[to][0])
    raw.real, raw.imag = parts
    return "{}, {}", [(dtype, part) for part in parts], [Exact(to, raw)]


def part_of(function):
    def draw(d):
        dtype = d.dtype()
        raw = complex_parts(d, dtype)
        return "{}", [(dtype, raw)], [Exact(PARTS[dtype], np.array(function(raw)))]

    return draw


def conj(d):
    dtype = d.dtype()
    raw = complex_parts(d, dtype)
    return "{}", [(dtype, raw)], [Exact(dtype, by_torch(lambda x: torch.conj(x).resolve_conj())(raw))]


def silu(d):
    dtype = d.dtype()
    raw = d.raw(dtype, d.shape())
    x, compute = widen(raw, dtype).astype(np.longdouble), computes(dtype)
    factor, value = sigmoid(x), by_torch(torch.nn.functional.silu)(widen(raw, dtype).astype(np.float64))
    value = np.where(np.isfinite(value), x * factor, value)
    bound = BOUNDS["sigmoid"][compute] * ulp(factor, compute) * np.abs(x) + ulp(value, compute)
    return "{}", [(dtype, raw)], [Within(dtype, value, np.where(np.isfinite(x), bound, 0))]


def sqrt(d, x):
    value = np.sqrt(x)
    peer = by_torch(torch.sqrt)(x)
    d.differs("sqrt-rounding", (value != peer) & ~np.isnan(value))
    return value


def rsqrt(d, x):
    return (1 / np.sqrt(x)).astype(x.dtype)


def relu(d):
    dtype = d.dtype()
    raw = d.raw(dtype, d.shape())
    if not is_float(dtype):
        return "{}", [(dtype, raw)], [Exact(dtype, np.maximum(raw, 0).astype(raw.dtype))]
    x = widen(raw, dtype)
    value = by_torch(torch.relu)(x)
    value = np.where(d.differs("relu-zero", (x == 0) & np.signbit(x) & np.signbit(value)), 0, value).astype(x.dtype)
    return "{}", [(dtype, raw)], [Exact(dtype, narrow(value, dtype))]


def sign(d, x):
    d.differs("sign-nan", np.isnan(x))
    d.differs("sign-zero", (x == 0) & np.signbit(x))
    return np.where(np.isnan(x) | (x == 0), x, by_torch(torch.sign)(x)).astype(x.dtype)


def test(function):
    def draw(d):
        dtype = d.dtype()
        raw = d.raw(dtype, d.shape())
        return "{}", [(dtype, raw)], [Exact("i1", by_torch(function)(widen(raw, dtype)))]

    return draw


# --- two operands -------------------------------------------------------------------------------------------------------------------


def operands(d, count=2, dtype=None):
    """Operands of one type: one of them may be of rank 0."""
    dtype = dtype or d.dtype()
    shape = d.shape()
    scalar = int(d.rng.integers(count)) if d.chance(0.15) else None
    raws = []
    for at in range(count):
        of = () if at == scalar else shape
        raws.append(d.like(dtype, of, raws[0]) if raws and raws[0].shape == of else d.raw(dtype, of))
    return dtype, [np.asarray(raw) for raw in raws]


def texts(count):
    return ", ".join(["{}"] * count)


def binary(floats, integers=None, count=2):
    """An op of several operands that is exact: floats in the type that computes, integers in their own."""

    def draw(d):
        dtype, raws = operands(d, count)
        inputs = [(dtype, raw) for raw in raws]
        raws = np.broadcast_arrays(*raws)
        if is_float(dtype):
            result = narrow(floats(d, *(widen(raw, dtype) for raw in raws)), dtype)
        else:
            result = np.asarray((integers or floats)(d, *raws)).astype(raws[0].dtype)
        return texts(count), inputs, [Exact(dtype, result.reshape(raws[0].shape))]

    return draw


def plain(function):
    return lambda d, *xs: function(*xs)


def least_by_minus_one(x, y):
    return (x == np.iinfo(x.dtype).min) & (y == -1) if x.dtype.kind == "i" else np.zeros(x.shape, bool)


def divided(torch_function, by_zero, name):
    """An integer division: PyTorch's but where the divisor is 0 or the quotient overflows."""

    def apply(d, x, y):
        zero, over = d.differs(name, y == 0), least_by_minus_one(x, y)
        safe = np.where(zero | over, 1, y).astype(y.dtype)
        if x.dtype.kind == "u":
            quotient = x // safe if name == "div-zero" else x % safe
        else:
            quotient = by_torch(torch_function)(x, safe)
        quotient = np.where(over, x if name == "div-zero" else 0, quotient)
        return np.where(zero, by_zero(x), quotient).astype(x.dtype)

    return apply


def fmod(d, x, y):
    """The remainder of C, which NumPy has: PyTorch's vectors give NaN where the quotient is large."""
    value, peer = np.fmod(x, y), by_torch(torch.fmod)(x, y)
    d.differs("fmod-overflow", np.isnan(peer) & ~np.isnan(value))
    return value


def remainder(d, x, y):
    r = fmod(d, x, y)
    return np.where((r != 0) & ((r < 0) != (y < 0)), r + y, r).astype(x.dtype)


def extreme(greater, ignore):
    """`maximum` and its cousins: NumPy's but for zeros of two signs."""
    function = {(True, False): np.maximum, (False, False): np.minimum, (True, True): np.fmax, (False, True): np.fmin}[greater, ignore]

    def apply(d, x, y):
        if x.dtype.kind == "f":
            # A signalling NaN is as any other.
            x, y = (np.where(np.isnan(part), part.dtype.type(np.nan), part) for part in (x, y))
        value = function(x, y)
        if x.dtype.kind == "f":
            zeros = (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
            value = np.where(zeros, 0.0 if greater else -0.0, value).astype(x.dtype)
            d.differs("ordered-zeros", zeros)
        return value

    return apply


def clamp(d, x, low, high):
    value = by_torch(torch.clamp)(x, low, high)
    if x.dtype.kind != "f":
        return np.minimum(np.maximum(x, low), high)
    ordered = extreme(False, False)(d, extreme(True, False)(d, x, low), high)
    zeros = (value == 0) & (ordered == 0)
    return np.where(zeros, ordered, value).astype(x.dtype)


def shift(kind):
    def apply(d, x, y):
        width = 8 * x.dtype.itemsize
        word = x.view(f"u{x.dtype.itemsize}")
        outside = (y.astype(np.int64) < 0) & (y.dtype.kind == "i") | (y.view(word.dtype) >= width)
        by = np.where(outside, 0, y).astype(x.dtype)
        fill = np.where(x < 0, -1, 0) if kind == "shr" and x.dtype.kind == "i" else np.zeros(x.shape, np.int64)
        if kind == "lshr":
            moved = np.right_shift(word, by.view(word.dtype)).view(x.dtype)
        else:
            moved = (np.left_shift if kind == "shl" else np.right_shift)(x, by)
        return np.where(outside, fill.astype(x.dtype), moved).astype(x.dtype)

    return apply


def gcd(d, x, y):
    return np.gcd(x, y)


def function_of_two(name, wide):
    def draw(d):
        dtype, raws = operands(d)
        xs = np.broadcast_arrays(*(widen(raw, dtype).astype(np.longdouble) for raw in raws))
        value, compute = wide(*xs), computes(dtype)
        bound = BOUNDS[name][compute] * ulp(value, compute)
        return "{}, {}", [(dtype, raw) for raw in raws], [Within(dtype, value, bound)]

    return draw


def compare(d):
    dtype, raws = operands(d)
    predicate = d.one(["eq", "ne", "lt", "le", "gt", "ge"])
    xs = np.broadcast_arrays(*(widen(raw, dtype) if is_float(dtype) else raw for raw in raws))
    if dtype in ("ui16", "ui32", "ui64"):
        function = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}[predicate]
        result = function(*xs)
    else:
        result = by_torch(getattr(torch, predicate))(*xs)
    return "{}, {} predicate " + predicate, [(dtype, raw) for raw in raws], [Exact("i1", np.asarray(result))]


def where(d):
    dtype, raws = operands(d, 2, d.one(d.every))
    shape = np.broadcast_shapes(*(raw.shape for raw in raws))
    condition = d.raw("i1", shape)
    result = np.where(condition, *raws).astype(raws[0].dtype)
    return texts(3), [("i1", condition), *((dtype, raw) for raw in raws)], [Exact(dtype, result, payloads=True)]


# --- conversions --------------------------------------------------------------------------------------------------------------------


def cast(d):
    source, target = d.dtype(), d.one(d.types[0])
    raw = d.raw(source, d.shape())
    return "{} to " + target, [(source, raw)], [Exact(target, converted(d, raw, source, target))]


def converted(d, raw, source, target):
    """Elements converted as `fusion.cast` does."""
    held = TYPES[target][0]
    x = widen(raw, source) if is_float(source) else raw
    if target == "i1":
        return x != 0
    if target == "f8E8M0FNU":
        d.differs("scale-sign", np.asarray(x) <= 0)
    if is_float(target) and is_float(source):
        return narrow(x, target)
    if is_float(target):
        # A long double holds every integer of 64 bits.
        return narrow(x.astype(np.longdouble), target)
    if not is_float(source):
        return x.astype(held)
    info = np.iinfo(held)
    whole = np.trunc(x.astype(np.longdouble))
    outside = ~((whole >= info.min) & (whole <= info.max))
    d.differs("cast-saturates", outside)
    inside = np.where(outside, 0, whole)
    value = inside.astype(np.uint64).astype(held) if held is np.uint64 else inside.astype(np.int64).astype(held)
    value = np.where(whole > info.max, info.max, value)
    return np.where(whole < info.min, info.min, value).astype(held)


def bitcast(d):
    source = d.one([dtype for dtype in d.types[0] if dtype != "i1"])
    width = np.dtype(TYPES[source][0]).itemsize
    target = d.one([dtype for dtype in d.types[0] if dtype != "i1" and np.dtype(TYPES[dtype][0]).itemsize == width])
    raw = d.raw(source, d.shape())
    return "{} to " + target, [(source, raw)], [Exact(target, raw.view(TYPES[target][0]), payloads=True)]


DRAWS = {
    "complex": of_parts, "real": part_of(np.real), "imag": part_of(np.imag), "conj": conj,
    "neg": on_bits(lambda x: np.negative(x) if x.dtype.kind != "u" else (0 - x).astype(x.dtype)),
    "abs": on_bits(np.abs),
    "sign": exact_floats(sign, np.sign),
    "ceil": exact_floats(torched(torch.ceil)),
    "floor": exact_floats(torched(torch.floor)),
    "round": exact_floats(torched(torch.round)),
    "trunc": exact_floats(torched(torch.trunc)),
    "exp": function("exp", np.exp),
    "exp2": function("exp2", np.exp2),
    "expm1": function("expm1", np.expm1),
    "log": function("log", np.log),
    "log2": function("log2", np.log2),
    "log10": function("log10", np.log10),
    "log1p": function("log1p", np.log1p),
    "sqrt": exact_floats(sqrt),
    "rsqrt": exact_floats(rsqrt),
    "reciprocal": exact_floats(torched(torch.reciprocal)),
    "sin": function("sin", np.sin),
    "cos": function("cos", np.cos),
    "tan": function("tan", np.tan),
    "asin": function("asin", np.arcsin),
    "acos": function("acos", np.arccos),
    "atan": function("atan", np.arctan),
    "sinh": function("sinh", np.sinh),
    "cosh": function("cosh", np.cosh),
    "tanh": function("tanh", np.tanh),
    "asinh": function("asinh", np.arcsinh),
    "acosh": function("acosh", np.arccosh),
    "atanh": function("atanh", np.arctanh),
    "erf": function("erf", None, torch.special.erf),
    "erfc": function("erfc", None, torch.special.erfc),
    "erfinv": function("erfinv", None, torch.special.erfinv),
    "erfcinv": function("erfcinv", None, lambda x: -torch.special.ndtri(x / 2) * 0.5**0.5),
    "lgamma": lgamma,
    "sigmoid": function("sigmoid", sigmoid),
    "silu": silu,
    "relu": relu,
    "not": on_bits(np.invert),
    "isnan": test(torch.isnan),
    "isfinite": test(torch.isfinite),
    "add": binary(plain(np.add)),
    "sub": binary(plain(np.subtract)),
    "mul": binary(plain(np.multiply)),
    "div": binary(torched(torch.div), divided(lambda x, y: torch.div(x, y, rounding_mode="trunc"), np.zeros_like, "div-zero")),
    "rem": binary(fmod, divided(torch.fmod, lambda x: x, "rem-zero")),
    "remainder": binary(remainder, divided(torch.remainder, lambda x: x, "rem-zero")),
    "pow": function_of_two("pow", np.power),
    "atan2": function_of_two("atan2", np.arctan2),
    "nextafter": binary(torched(torch.nextafter)),
    "maximum": binary(extreme(True, False)),
    "minimum": binary(extreme(False, False)),
    "fmax": binary(extreme(True, True)),
    "fmin": binary(extreme(False, True)),
    "gcd": binary(gcd),
    "and": binary(plain(np.bitwise_and)),
    "or": binary(plain(np.bitwise_or)),
    "xor": binary(plain(np.bitwise_xor)),
    "shl": binary(shift("shl")),
    "shr": binary(shift("shr")),
    "lshr": binary(shift("lshr")),
    "compare": compare,
    "where": where,
    "clamp": binary(clamp, count=3),
    "cast": cast,
    "bitcast": bitcast,
}

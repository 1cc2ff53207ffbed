#!/usr/bin/env python3
"""Writes the tables that tests/numpy.rs compares with: python3 make.py > numpy.txt

Each line is one op on one list of operands: `op [clause] : type bits bits ... ; type bits ... => type bits ...`, bits in
hexadecimal. Functions are computed by numpy in f64 and rounded to f32, then to the 16-bit type where it is one: the
definition of the dialect. Integer results are computed with Python's unbounded integers. Needs NumPy and `ml_dtypes` (made with 0.6).
"""
import math
import operator
import ml_dtypes
import numpy as np

FLOATS = ["f64", "f32", "f16", "bf16"]
INTS = {
    "i64": (64, True), "i32": (32, True), "i16": (16, True), "i8": (8, True),
    "ui64": (64, False), "ui32": (32, False), "ui16": (16, False), "ui8": (8, False),
}
rng = np.random.default_rng(20240)


def to_bf16(x32):
    bits = np.asarray(x32, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x32), np.uint64(0x7FC0), rounded & 0xFFFF).astype(np.uint16)


def f64_to_f32_odd(x):
    """To odd, so that the second rounding is right."""
    x = np.asarray(x, np.float64)
    f = x.astype(np.float32)
    bits = f.view(np.uint32).copy()
    inexact = (f.astype(np.float64) != x) & ~np.isnan(x)
    away = inexact & (np.abs(f.astype(np.float64)) > np.abs(x))
    bits[away] -= 1
    bits[inexact] |= 1
    return bits.view(np.float32)


def bits(dtype, x):
    """The bits of f64 values, rounded once to the type."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        if dtype == "f64":
            return x.view(np.uint64)
        if dtype == "f32":
            return x.astype(np.float32).view(np.uint32)
        if dtype == "f16":
            return x.astype(np.float16).view(np.uint16)
        return to_bf16(f64_to_f32_odd(x))


def value(dtype, b):
    """The f64 value of bits."""
    if dtype == "bf16":
        return (b.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    width = {"f64": np.float64, "f32": np.float32, "f16": np.float16}[dtype]
    return b.view(width).astype(np.float64)


def compute(dtype, f64):
    """A result of f64, as arithmetic on the type rounds it: to f32 first for the 16-bit types."""
    if dtype == "f64":
        return f64
    with np.errstate(all="ignore"):
        return np.asarray(f64, np.float64).astype(np.float32).astype(np.float64)


def text(dtype, b):
    return dtype + " " + " ".join(format(int(v), "x") for v in np.atleast_1d(b))


def line(op, clause, operands, result):
    print(op, clause, ":", " ; ".join(text(*o) for o in operands), "=>", text(*result))


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 3.0, 1e-5, 65504.0, 1e-7, 3e38, -7.25]
TINY = {"f64": 5e-324, "f32": 1e-45, "f16": 6e-8, "bf16": 1e-40}


def samples(dtype, low=-8.0, high=8.0, count=14):
    return bits(dtype, np.array(SPECIAL + [TINY[dtype]] + list(rng.uniform(low, high, count))))


def quiet(f, *args):
    with np.errstate(all="ignore"):
        return f(*args)


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e / (1 + e), 1 / (1 + e))


def erf(x):
    return np.array([math.erf(v) for v in x])


def erfc(x):
    return np.array([math.erfc(v) for v in x])


def relu(x):
    return np.where(np.isnan(x), x, np.where(x > 0, x, 0.0))


UNARY = {
    "neg": np.negative, "abs": np.abs, "sign": lambda x: np.where(x == 0, x, np.sign(x)), "ceil": np.ceil,
    "floor": np.floor, "round": np.rint, "trunc": np.trunc, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log1p": np.log1p, "sqrt": np.sqrt, "reciprocal": lambda x: 1 / x,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh, "erf": erf, "sigmoid": sigmoid, "relu": relu,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "erfc": erfc, "log10": np.log10,
}


def remainder(a, b):
    """PyTorch's: unlike NumPy's, a zero keeps the sign of `a`."""
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rem": np.fmod, "pow": np.power,
    "atan2": np.arctan2, "remainder": remainder,
}


def ordered(a, b, sign, ignore):
    if math.isnan(a) or math.isnan(b):
        return (b if math.isnan(a) else a) if ignore else math.nan
    if a == b:
        negative = math.copysign(1, a) < 0
        return (b if negative else a) if sign > 0 else (a if negative else b)
    return max(a, b) if sign > 0 else min(a, b)


def floats():
    for dtype in FLOATS:
        x = samples(dtype)
        v = value(dtype, x)
        for op, f in UNARY.items():
            line(op, "-", [(dtype, x)], (dtype, bits(dtype, compute(dtype, quiet(f, v)))))
        root = compute(dtype, quiet(np.sqrt, v))
        line("rsqrt", "-", [(dtype, x)], (dtype, bits(dtype, compute(dtype, quiet(lambda r: 1 / r, root)))))
        line("isnan", "-", [(dtype, x)], ("i1", np.isnan(v)))
        line("isfinite", "-", [(dtype, x)], ("i1", np.isfinite(v)))
        y = samples(dtype, -3.0, 3.0, 14)[rng.permutation(len(x))]
        w = value(dtype, y)
        for op, f in BINARY.items():
            line(op, "-", [(dtype, x), (dtype, y)], (dtype, bits(dtype, compute(dtype, quiet(f, v, w)))))
        for op, sign, ignore in [("maximum", 1, 0), ("minimum", -1, 0), ("fmax", 1, 1), ("fmin", -1, 1)]:
            result = [ordered(a, b, sign, ignore) for a, b in zip(v, w)]
            line(op, "-", [(dtype, x), (dtype, y)], (dtype, bits(dtype, result)))
        for predicate in ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]:
            word = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
            line("compare", word[predicate], [(dtype, x), (dtype, y)], ("i1", getattr(np, predicate)(v, w)))
        for op, f in [("sum", np.add), ("prod", np.multiply)]:
            acc = np.float64 if dtype == "f64" else np.float32
            short = bits(dtype, rng.uniform(0.5, 2.0, 33))
            reduction = f.accumulate(value(dtype, short).astype(acc), dtype=acc)[-1]
            line(op, "dims", [(dtype, short)], (dtype, bits(dtype, [reduction])))


def wrap(dtype, n):
    width, signed = INTS[dtype]
    n &= (1 << width) - 1
    return n - (1 << width) if signed and n >> (width - 1) else n


def int_bits(dtype, values):
    width, _ = INTS[dtype]
    return np.array([n & ((1 << width) - 1) for n in values], dtype=object)


def int_range(dtype):
    width, signed = INTS[dtype]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def numpy_type(dtype):
    width, signed = INTS[dtype]
    return np.dtype(f"{'int' if signed else 'uint'}{width}")


def int_samples(dtype):
    low, high = int_range(dtype)
    edge = [0, 1, -1, 2, 7, -7, low, high, low + 1, high - 1, 64, 100]
    return [n for n in edge if low <= n <= high] + [int(rng.integers(low, high, endpoint=True, dtype=numpy_type(dtype))) for _ in range(10)]


def truncated(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shl(a, count, width):
    return a << count if 0 <= count < width else 0


def shr(a, count, width):
    return a >> (count if 0 <= count < width else width)


def ints():
    for dtype, (width, _) in INTS.items():
        x = int_samples(dtype)
        y = [x[i] for i in rng.permutation(len(x))]
        small = [int(n) for n in rng.integers(-3 if INTS[dtype][1] else 0, 9, len(x))]
        small[:4] = [width, width - 1, 0, 127]
        pairs = {
            "add": (y, lambda a, b: a + b), "sub": (y, lambda a, b: a - b), "mul": (y, lambda a, b: a * b),
            "div": (y, truncated), "rem": (y, lambda a, b: a - truncated(a, b) * b if b else a),
            "remainder": (y, lambda a, b: a % b if b else a),
            "and": (y, lambda a, b: a & b), "or": (y, lambda a, b: a | b), "xor": (y, lambda a, b: a ^ b),
            "gcd": (y, math.gcd), "maximum": (y, max), "minimum": (y, min),
            "shl": (small, lambda a, b: shl(a, b, width)), "shr": (small, lambda a, b: shr(a, b, width)),
            "lshr": (small, lambda a, b: shr(a & ((1 << width) - 1), b, width)),
        }
        for op, (other, f) in pairs.items():
            result = [wrap(dtype, f(a, b)) for a, b in zip(x, other)]
            line(op, "-", [(dtype, int_bits(dtype, x)), (dtype, int_bits(dtype, other))], (dtype, int_bits(dtype, result)))
        relations = {
            "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
        }
        for word, f in relations.items():
            line("compare", word, [(dtype, int_bits(dtype, x)), (dtype, int_bits(dtype, y))], ("i1", [f(a, b) for a, b in zip(x, y)]))
        singles = {"neg": lambda a: -a, "abs": abs, "sign": lambda a: (a > 0) - (a < 0), "relu": lambda a: max(a, 0), "not": lambda a: ~a}
        for op, f in singles.items():
            line(op, "-", [(dtype, int_bits(dtype, x))], (dtype, int_bits(dtype, [wrap(dtype, f(a)) for a in x])))
        for op, f in [("sum", sum), ("prod", math.prod), ("max", max), ("min", min)]:
            line(op, "dims", [(dtype, int_bits(dtype, x))], (dtype, int_bits(dtype, [wrap(dtype, f(x))])))


def round_int(dtype, n):
    """An integer to the nearest float of the type, halves to even, through exact rational arithmetic."""
    precision, top = {"f64": (53, 1024), "f32": (24, 128), "f16": (11, 16), "bf16": (8, 128)}[dtype]
    size = abs(n)
    shift = max(size.bit_length() - precision, 0)
    kept, rest = size >> shift, size & ((1 << shift) - 1)
    half = 1 << (shift - 1) if shift else 0
    kept += shift and (rest > half or (rest == half and kept & 1))
    size = kept << shift
    return math.copysign(math.inf if size >= 1 << top else float(size), n) if n else 0.0


def casts():
    extra = [127.5, 128.0, -128.9, -129.0, 255.9, 256.0, 2147483647.0, 2147483648.0, -2147483649.0, 9.3e18, -9.3e18, 0.99,
             32767.9, 32768.0, -32769.0, 65535.5, 65536.0, 4294967295.5, 4294967296.0, 9223372036854775808.0, 1.8e19, 1.9e19]
    for source in FLOATS:
        x = np.concatenate([samples(source), bits(source, extra)])
        v = value(source, x)
        for target in FLOATS:
            line("cast", target, [(source, x)], (target, bits(target, v)))
        for target in INTS:
            low, high = int_range(target)
            whole = [0 if math.isnan(a) else low if a <= low else high if a >= high else int(a) for a in v]
            line("cast", target, [(source, x)], (target, int_bits(target, whole)))
        line("cast", "i1", [(source, x)], ("i1", ~(v == 0)))
    for source in INTS:
        x = int_samples(source)
        for target in FLOATS:
            line("cast", target, [(source, int_bits(source, x))], (target, bits(target, [round_int(target, n) for n in x])))
        for target in INTS:
            line("cast", target, [(source, int_bits(source, x))], (target, int_bits(target, [wrap(target, n) for n in x])))
        line("cast", "i1", [(source, int_bits(source, x))], ("i1", [n != 0 for n in x]))


def small_casts():
    """All floats of 8 and of 4 bits to f32; to them the f32 at which results change, the neighbours of those, and special ones."""
    for name in ["f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN"]:
        width = int(name[1])
        held = getattr(ml_dtypes, f"float{width}_{name[2:].lower()}")
        every = np.arange(2**width, dtype=np.uint8)
        wide = every.view(held).astype(np.float32)
        line("cast", "f32", [(name, every)], ("f32", wide.view(np.uint32)))
        numbers = np.unique(wide[np.isfinite(wide)]).astype(np.float64)
        middles = ((numbers[1:] + numbers[:-1]) / 2).astype(np.float32)
        ends = np.float32([464, 1e9, 61440, 2.0**-127, 2.0**-128, 2.0**-149, 1.5 * 2.0**127, 3.4e38, 0.0])
        near = np.concatenate([numbers.astype(np.float32), middles, ends])
        near = np.concatenate([f(near, np.float32(to)) for f, to in [(np.copysign, 1), (np.nextafter, np.inf), (np.nextafter, -np.inf)]])
        x = np.concatenate([near, -near, np.float32([np.inf, -np.inf, np.nan, 1.0])])
        with np.errstate(all="ignore"):
            small = x.astype(held)
        if name == "f8E4M3FN":
            # There it is NaN.
            small = np.where(np.abs(x) > 464, np.copysign(np.float32(448), x), small.astype(np.float32)).astype(held)
        line("cast", name, [("f32", x.view(np.uint32))], (name, small.view(np.uint8)))


print("# Made by make.py; do not edit.")
floats()
ints()
casts()
small_casts()

"""Random bits and numbers; definitions from docs/dialects/fusion.md. The bits are exact, so there is one number for each element.
"""

import numpy as np

import elementwise
import functions
from values import Axis, Value, computes, either

PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
LOW = np.uint64(0xFFFFFFFF)


def halves(bits):
    """Lower and upper 32 bits, as 64-bit numbers."""
    return bits & LOW, bits >> np.uint64(32)


def block(index, seed, offset):
    """The four words of Philox 4x32-10, as 64-bit numbers."""
    c0, c1 = halves(index.astype(np.uint64))
    c2, c3 = halves(offset.astype(np.uint64))
    k0, k1 = halves(seed.astype(np.uint64))
    for _ in range(10):
        low0, high0 = halves(c0 * np.uint64(0xD2511F53))
        low1, high1 = halves(c2 * np.uint64(0xCD9E8D57))
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & LOW, (k1 + np.uint64(0xBB67AE85)) & LOW
    return c0, c1, c2, c3


def philox(word, index, seed, offset):
    words = block(*np.broadcast_arrays(index.lo, seed.lo, offset.lo))
    made = words["xyzw".index(word)].astype(np.uint32).view(np.int32)
    return Value("i32", made, open=either(index.open, seed.open, offset.open))


def fraction(op, dtype, seed, offset, first, odd):
    """From 0 to 1, of the words from `first` on, the last bit set where `odd`."""
    shape = [extent.length for extent in op.clauses["shape"]]
    index = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    words = block(*np.broadcast_arrays(index, seed.lo, offset.lo))
    bits = PRECISION[dtype]
    if bits > 32:
        made = (words[first] >> np.uint64(5)) << np.uint64(26) | words[first + 1] >> np.uint64(6)
    else:
        made = words[first] >> np.uint64(32 - bits)
    made = made | np.uint64(1 if odd else 0)
    axes = [Axis(False, extent.static) for extent in op.clauses["shape"]]
    return Value(dtype, np.ldexp(made.astype(np.float64), -bits).astype(computes(dtype)), open=either(seed.open, offset.open), axes=axes)


def uniform(op, seed, offset):
    return fraction(op, op.clauses["of"], seed, offset, 0, False)


def normal(op, seed, offset):
    dtype = op.clauses["of"]
    compute = "f64" if dtype == "f64" else "f32"
    number = lambda n: Value(compute, np.asarray(n, computes(compute)))
    u = fraction(op, compute, seed, offset, 0, True)
    v = fraction(op, compute, seed, offset, 2 if compute == "f64" else 1, False)
    square = elementwise.binary("mul", functions.apply("log", u), number(-2), False)
    angle = elementwise.binary("mul", v, number(2 * np.pi), False)
    made = elementwise.binary("mul", elementwise.unary("sqrt", square), functions.apply("cos", angle), False)
    made = made if dtype == compute else elementwise.cast(made, dtype)
    made.axes = u.axes
    return made


def bernoulli(op, p, seed, offset):
    compute = "f64" if p.dtype == "f64" else "f32"
    u = fraction(op, compute, seed, offset, 0, False)
    found = elementwise.compare("lt", u, p if p.dtype == compute else elementwise.cast(p, compute))
    found.axes = u.axes
    return found

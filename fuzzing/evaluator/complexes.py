"""Complex numbers as pairs of real values; the formulas from docs/dialects/fusion.md.

Every op of a formula is the real one of [`elementwise`], so that bounds follow from the bounds of those, and what is known to the bit
stays known where each of them is exact. Ops that move, choose or add elements do so with both parts.
"""

import math

import numpy as np

import elementwise
import lambdas
from values import COMPLEX, Axis, Value, computes


class Complex:
    """A real and an imaginary part, values of one shape; a part of rank 0 stands for all elements."""

    def __init__(self, re, im, axes=None):
        shape = np.broadcast_shapes(re.lo.shape, im.lo.shape)
        self.parts = [part.moved(lambda a: np.broadcast_to(a, shape), None) for part in (re, im)]
        self.dtype = next(name for name, part in COMPLEX.items() if part == re.dtype)
        self.axes = self.parts[0].axes if axes is None else axes

    @property
    def axes(self):
        return self.parts[0].axes

    @axes.setter
    def axes(self, axes):
        for part in self.parts:
            part.axes = list(axes)

    @property
    def lo(self):
        """An array of its shape."""
        return self.parts[0].lo


def part(value, which):
    """One part of a complex value, and a real value itself."""
    return value.parts[which] if isinstance(value, Complex) else value


def by_parts(one, operands):
    """An op that does with each part what it does with reals."""
    found = [one(*(part(value, which) for value in operands)) for which in (0, 1)]
    return Complex(*found, axes=found[0].axes)


# --- formulas -----------------------------------------------------------------------------------------------------------------------


class Num:
    """A real value with operators; a number beside it is a constant of its element type."""

    def __init__(self, value):
        self.value = value

    def number(self, x):
        return Num(Value(self.value.dtype, np.asarray(x, computes(self.value.dtype))))

    def binary(self, name, other):
        other = other if isinstance(other, Num) else self.number(other)
        return Num(elementwise.binary(name, self.value, other.value, same=self.value is other.value))

    def of(self, name):
        return Num(elementwise.unary(name, self.value))

    def is_(self, predicate, other):
        other = other if isinstance(other, Num) else self.number(other)
        return Num(elementwise.compare(predicate, self.value, other.value))

    def then(self, a, b):
        """`a` where this holds, else `b`."""
        return Num(elementwise.where(self.value, a.value, b.value))

    __add__ = lambda self, other: self.binary("add", other)
    __sub__ = lambda self, other: self.binary("sub", other)
    __mul__ = lambda self, other: self.binary("mul", other)
    __truediv__ = lambda self, other: self.binary("div", other)
    __neg__ = lambda self: self.of("neg")
    __and__ = lambda self, other: self.binary("and", other)
    __or__ = lambda self, other: self.binary("or", other)


def chosen(condition, z, w):
    return condition.then(z[0], w[0]), condition.then(z[1], w[1])


def infinite(x):
    return x.of("abs").is_("eq", np.inf)


def is_zero(z):
    return z[0].is_("eq", 0) & z[1].is_("eq", 0)


def negative(x):
    """Whether the sign bit of a number is set."""
    lo, hi = (np.signbit(end) & ~np.isnan(end) for end in (x.value.lo, x.value.hi))
    return Num(Value("i1", lo, open=elementwise.either(x.value.open, lo != hi)))


def times(z, w):
    (a, b), (c, d) = z, w
    return a * c - b * d, a * d + b * c


def quotient(z, w):
    (a, b), (c, d) = z, w
    r = d / c
    s = c.number(1) / (c + d * r)
    steep = (a + b * r) * s, (b - a * r) * s
    r = c / d
    s = c.number(1) / (c * r + d)
    flat = (a * r + b) * s, (b * r - a) * s
    size = c.of("abs")
    found = chosen(size.is_("ge", d.of("abs")), steep, flat)
    return chosen(is_zero(w), (a / size, b / size), found)


def inverse(z):
    return quotient((z[0].number(1), z[0].number(0)), z)


def sizes(z):
    """h and r of `fusion.abs`."""
    endless = infinite(z[0]) | infinite(z[1])
    a, b = z[0].of("abs"), z[1].of("abs")
    h = endless.then(a.number(np.inf), a.binary("maximum", b))
    r = a.binary("minimum", b) / h
    return h, (endless | h.is_("eq", 0)).then(r.number(0), r)


def magnitude(z):
    h, r = sizes(z)
    return h * (r * r + 1).of("sqrt")


def lost(x):
    """Where a number is infinite or NaN, and so no angle."""
    return x.of("isfinite").of("not")


def turning(z, size, found):
    """An exponential where its angle is zero or no number: `size` is what it is without one."""
    a, b = z
    re = (lost(b) & infinite(a)).then(size, found[0])
    im = (lost(b) & a.is_("eq", -np.inf)).then(signed(b.number(0), b), found[1])
    return chosen(b.is_("eq", 0), (size, b), (re, im))


def exp(z):
    a, b = z
    e = a.of("exp")
    return turning(z, e, (e * b.of("cos"), e * b.of("sin")))


def log(z):
    h, r = sizes(z)
    return h.of("log") + (r * r).of("log1p") / 2, z[1].binary("atan2", z[0])


def over(z, number):
    return z[0] / number, z[1] / number


def sqrt(z):
    a, b = z
    h, r = sizes(z)
    t = h.of("sqrt") * ((a.of("abs") / h + (r * r + 1).of("sqrt")) / 2).of("sqrt")
    t = infinite(a).then(t.number(np.inf), t)
    right = t, b / (t + t)
    left = b.of("abs") / (t + t), negative(b).then(-t, t)
    found = chosen(a.is_("ge", 0), right, left)
    found = chosen(h.is_("eq", 0), (h.number(0), b), found)
    return chosen(infinite(b), (h.number(np.inf), b), found)


def odd_wave(g, t):
    """`sinh g cos t` and `cosh g sin t`."""
    along = g.of("sinh") * t.of("cos")
    along = (lost(t) & g.is_("eq", 0)).then(g, along)
    along = (lost(t) & infinite(g)).then(g.number(np.inf), along)
    return along, t.is_("eq", 0).then(t, g.of("cosh") * t.of("sin"))


def even_wave(g, t):
    """`cosh g cos t` and `sinh g sin t`."""
    along = g.of("cosh") * t.of("cos")
    along = (lost(t) & infinite(g)).then(g.number(np.inf), along)
    across = (lost(t) & g.is_("eq", 0)).then(g.number(0), g.of("sinh") * t.of("sin"))
    return along, t.is_("eq", 0).then(signed(t, g), across)


def sine(z):
    im, re = odd_wave(z[1], z[0])
    return re, im


def cosine(z):
    return even_wave(-z[1], z[0])


def sinh(z):
    return odd_wave(*z)


def cosh(z):
    return even_wave(*z)


def tanh(z):
    a, b = z
    t, c = a.of("tanh"), a.of("cosh")
    u = (lost(b) & infinite(a)).then(signed(b.number(0), b), b.of("tan"))
    square = u * u
    d = (t * t) * square + 1
    re = (lost(b) & a.is_("eq", 0)).then(a, t * (square + 1) / d)
    return re, b.is_("eq", 0).then(b, u / (c * c) / d)


def tan(z):
    """`-i tanh(iz)`"""
    a, b = z
    p, q = tanh((-b, a))
    return q, -p


def expm1(z):
    a, b = z
    less, half = a.of("expm1"), (b / 2).of("sin")
    return turning(z, less, (less * b.of("cos") - half * half * 2, a.of("exp") * b.of("sin")))


def small(x):
    return x.of("abs").is_("lt", 0.5)


def log1p(z):
    a, b = z
    re, im = log((a + 1, b))
    near = (a * (a + 2) + b * b).of("log1p") / 2
    return (small(a) & small(b)).then(near, re), im


def far(z):
    """Where a part is 2^30 or more, and ln |z| + ln 2."""
    return sizes(z)[0].is_("ge", 2.0**30), log(z)[0] + math.log(2)


def signed(x, of):
    return negative(of).then(-x, x)


def roots(z):
    a, b = z
    return sqrt((a.number(1) - a, -b)), sqrt((a + 1, b))


def asin(z):
    a, b = z
    (c, d), (e, f) = roots(z)
    near = a.binary("atan2", c * e - d * f), (c * f - d * e).of("asinh")
    there, size = far(z)
    re, im = chosen(there, (a.binary("atan2", b.of("abs")), signed(size, b)), near)
    return a.is_("eq", 0).then(a, re), im


def acos(z):
    a, b = z
    (c, d), (e, f) = roots(z)
    near = c.binary("atan2", e) * 2, (e * d - f * c).of("asinh")
    there, size = far(z)
    re, im = chosen(there, (b.of("abs").binary("atan2", a), -signed(size, b)), near)
    return a.is_("eq", 0).then(a.number(math.pi / 2), re), im


def acosh(z):
    a, b = z
    (c, d), (e, f) = sqrt((a - 1, b)), sqrt((a + 1, b))
    near = (c * e + d * f).of("asinh"), d.binary("atan2", e) * 2
    there, size = far(z)
    re, im = chosen(there, (size, b.binary("atan2", a)), near)
    return re, a.is_("eq", 0).then(signed(b.number(math.pi / 2), b), im)


def atanh(z):
    a, b = z
    m = a.of("abs")
    n, square = m.number(1) - m, b * b
    pole = (log((m + 1, b))[0] - log((n, b))[0]) / 2
    x = (small(n) & small(b)).then(pole, (m * 4 / (n * n + square)).of("log1p") / 4)
    there = far(z)[0]
    h, r = sizes(z)
    fades = infinite(h).then(a.number(0), m / h / h / (r * r + 1))
    angle = (b * 2).binary("atan2", (a.number(1) - a) * (a + 1) - square) / 2
    right = b.of("isnan").then(b, signed(b.number(math.pi / 2), b))
    return a.is_("eq", 0).then(a, signed(there.then(fades, x), a)), there.then(right, angle)


def asinh(z):
    u, v = asin((-z[1], z[0]))
    return v, -u


def atan(z):
    u, v = atanh((z[1], -z[0]))
    return -v, u


def sigmoid(z):
    right = z[0].is_("ge", 0)
    a, b = exp(chosen(right, (-z[0], -z[1]), z))
    return quotient(chosen(right, (a.number(1), a.number(0)), (a, b)), (a + 1, b))


def power(z, w):
    one, zero = z[0].number(1), z[0].number(0)
    found = exp(times(w, log(z)))
    found = chosen(is_zero(z) & w[0].is_("gt", 0), (zero, zero), found)
    return chosen(is_zero(w), (one, zero), found)


def conjugate(z):
    return z[0], -z[1]


# Of one complex number, of two, and of one with a real value.
UNARY = {
    "neg": lambda z: (-z[0], -z[1]), "conj": conjugate, "reciprocal": inverse, "exp": exp, "log": log, "sqrt": sqrt,
    "exp2": lambda z: exp((z[0] * math.log(2), z[1] * math.log(2))),
    "log2": lambda z: over(log(z), math.log(2)), "log10": lambda z: over(log(z), math.log(10)),
    "rsqrt": lambda z: inverse(sqrt(z)), "sin": sine, "cos": cosine, "tan": tan, "sinh": sinh, "cosh": cosh, "tanh": tanh,
    "expm1": expm1, "log1p": log1p, "asin": asin, "acos": acos, "acosh": acosh, "atanh": atanh,
    "asinh": asinh, "atan": atan,
    "sigmoid": sigmoid, "silu": lambda z: times(z, sigmoid(z)),
}
BINARY = {
    "add": lambda z, w: (z[0] + w[0], z[1] + w[1]), "sub": lambda z, w: (z[0] - w[0], z[1] - w[1]),
    "mul": times, "div": quotient, "pow": power,
}
PARTS = {
    "real": lambda z: z[0], "imag": lambda z: z[1], "abs": magnitude,
    "isnan": lambda z: z[0].of("isnan") | z[1].of("isnan"), "isfinite": lambda z: z[0].of("isfinite") & z[1].of("isfinite"),
}


def elementwise_op(clauses, name, operands):
    """An elementwise op with a complex operand or result; the caller knows its axes."""
    if name == "complex":
        return Complex(*operands)
    if name == "where":
        return by_parts(elementwise.where, operands)
    if name == "cast":
        to = COMPLEX[clauses["to"]]
        (x,) = operands
        if isinstance(x, Complex):
            return by_parts(lambda a: elementwise.cast(a, to), operands)
        return Complex(elementwise.cast(x, to), Value(to, np.zeros((), computes(to))))
    numbers = [tuple(Num(one) for one in z.parts) for z in operands]
    if name == "compare":
        (a, b), (c, d) = numbers
        equal = clauses["predicate"] == "eq"
        found = a.is_("eq", c) & b.is_("eq", d) if equal else a.is_("ne", c) | b.is_("ne", d)
        return found.value
    if name in PARTS:
        return PARTS[name](*numbers).value
    found = (UNARY.get(name) or BINARY[name])(*numbers)
    return Complex(*(one.value for one in found))


def steps(z, dim):
    """One, without an axis, and the products from there on up to each index of it, in their order."""
    of = lambda k: tuple(Num(one.value.moved(lambda a: np.take(a, k, dim), None)) for one in z)
    rest = tuple(n for d, n in enumerate(z[0].value.lo.shape) if d != dim)
    found = [(z[0].number(np.ones(rest)), z[0].number(np.zeros(rest)))]
    for k in range(z[0].value.lo.shape[dim]):
        found.append(times(found[-1], of(k)))
    return found


def product(x, dims, keepdim):
    """From 1 on, in the order of the indices, the last axis first."""
    z = tuple(Num(one) for one in x.parts)
    for dim in sorted(dims, reverse=True):
        z = steps(z, dim)[-1]
    shape = [1 if d in dims else n for d, n in enumerate(x.lo.shape) if keepdim or d not in dims]
    return Complex(*(one.value.moved(lambda a: a.reshape(shape), None) for one in z))


def products(x, dim):
    """The products up to each index of an axis."""
    found = steps(tuple(Num(one) for one in x.parts), dim)
    axes = [Axis(a.broadcast and d != dim, a.static) for d, a in enumerate(x.axes)]
    return Complex(*(lambdas.stacked([step[which].value for step in found], dim, axes) for which in (0, 1)), axes=axes)

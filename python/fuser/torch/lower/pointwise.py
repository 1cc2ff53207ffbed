"""Elementwise ops. Each row names the rule of promotion and the computation in the promoted type."""

from __future__ import annotations

import math

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND

from ..emit import FLOATS, NARROW, PARTS, Unsupported, Value, dtype_of
from .table import Context, convert, row

FLOAT = KIND.INT_TO_FLOAT
SAME = KIND.DEFAULT


def pointwise(*names, count, kind=SAME, rounded=()):
    """A row whose first `count` arguments are promoted together and broadcast; others go to the computation as they are.

    `rounded` names those that torch rounds to a narrow common type where they are numbers or have no axes; it reads others of these in f32.
    """

    def enter(compute):
        def lower(c: Context, *args, **rest):
            common = c.promoted(count, kind)
            more = args[count:]
            return c.elementwise(args[:count], common, lambda e, *xs: compute(e, *xs, *more, **rest), rounded)

        row(*names)(lower)
        return compute

    return enter


def one(e, x, number):
    """A number beside `x`, of its type."""
    return e.constant(number, x.dtype)


def floats_only(x):
    if x.dtype not in FLOATS:
        raise Unsupported(f"elements of {x.dtype}")


# Unary ops that are one op of Fuser. Integers and truth values become floats first.
for _name in (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc sigmoid"
).split():
    pointwise(f"aten.{_name}.default", count=1, kind=FLOAT)(lambda e, x, op=_name: getattr(e, op)(x))

# Unary ops that keep the type.
for _name in ("neg", "relu"):
    pointwise(f"aten.{_name}.default", count=1)(lambda e, x, op=_name: numeric(getattr(e, op), x))


def numeric(op, *xs):
    if xs[0].dtype == "i1":
        raise Unsupported("arithmetic of truth values")
    return op(*xs)


@pointwise("aten.sign.default", "aten.sgn.default", count=1)
def _(e, x):
    """The sign of NaN is 0; that of a complex number has its direction, and the length 1."""
    if x.dtype == "i1":
        return x
    if x.dtype in PARTS:
        length = e.part("abs", x)
        return e.where(e.compare(length, one(e, length, 0), "eq"), one(e, x, 0), e.complex(*(e.div(part, length) for part in e.parts(x))))
    made = e.sign(x)
    return made if x.dtype not in FLOATS else e.where(e.elementwise("isnan", x, dtype="i1"), one(e, x, 0), made)


@pointwise("aten.abs.default", count=1)
def _(e, x):
    if x.dtype in PARTS:
        return e.part("abs", x)
    return x if x.dtype == "i1" else e.abs(x)


# Complex numbers and their parts.


@pointwise("aten.complex.default", count=2)
def _(e, x, y):
    return e.complex(x, y)


@pointwise("aten.polar.default", count=2)
def _(e, length, angle):
    return e.complex(e.mul(length, e.cos(angle)), e.mul(length, e.sin(angle)))


@pointwise("aten.angle.default", count=1, kind=FLOAT)
def _(e, x):
    if x.dtype in PARTS:
        real, imaginary = e.parts(x)
        return e.atan2(imaginary, real)
    return e.where(e.compare(x, one(e, x, 0), "lt"), one(e, x, math.pi), e.where(e.compare(x, x, "ne"), x, one(e, x, 0)))


@pointwise("aten.conj_physical.default", "aten._conj_physical.default", count=1)
def _(e, x):
    return e.conj(x) if x.dtype in PARTS else x


# Rounding: integers are what they are.
for _name in ("ceil", "floor", "round", "trunc"):
    pointwise(f"aten.{_name}.default", count=1)(lambda e, x, op=_name: getattr(e, op)(x) if x.dtype in FLOATS else x)


@pointwise("aten.silu.default", count=1)
def _(e, x):
    floats_only(x)
    return e.silu(x)


@pointwise("aten.square.default", count=1)
def _(e, x):
    return numeric(e.mul, x, x)


@row("aten.isnan.default", "aten.isinf.default", "aten.isfinite.default")
def _(c, x):
    name = str(c.node.target).split(".")[1]
    if x.dtype not in FLOATS and (x.dtype not in PARTS or name == "isinf"):
        raise Unsupported(f"elements of {x.dtype}")
    if name == "isinf":
        wide = c.e.cast(x, "f32") if x.dtype in ("f16", "bf16") else x
        return c.e.compare(c.e.abs(wide), c.e.constant(math.inf, wide.dtype), "eq")
    return c.e.elementwise(name, x, dtype="i1")


# Arithmetic. `or` and `and` are the sum and the product of truth values; `alpha` multiplies the second operand.


def _scaled(e, y, alpha):
    if alpha == 1:
        return y
    return e.mul(y, one(e, y, alpha))


@pointwise("aten.add.Tensor", "aten.add.Scalar", count=2, rounded=(0, 1))
def _add(e, x, y, alpha=1):
    if x.dtype == "i1":
        if alpha is not True and alpha != 1:
            raise Unsupported("a scaled sum of truth values")
        return e.or_(x, y)
    return e.add(x, _scaled(e, y, alpha))


@pointwise("aten.sub.Tensor", "aten.sub.Scalar", count=2, rounded=(0, 1))
def _(e, x, y, alpha=1):
    return numeric(e.sub, x, _scaled(e, y, alpha))


@pointwise("aten.rsub.Tensor", "aten.rsub.Scalar", count=2, rounded=(0, 1))
def _(e, x, y, alpha=1):
    return numeric(e.sub, y, _scaled(e, x, alpha))


@pointwise("aten.mul.Tensor", "aten.mul.Scalar", count=2, rounded=(0,))
def _mul(e, x, y):
    return e.and_(x, y) if x.dtype == "i1" else e.mul(x, y)


@pointwise("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor", count=2, kind=FLOAT, rounded=(0,))
def _div(e, x, y):
    return e.div(x, y)


def dividable(x, y, by):
    """torch raises where an integer is divided by 0: integers are divided by numbers alone here."""
    if x.dtype not in FLOATS and (not isinstance(by, (bool, int, float)) or int(by) == 0):
        raise Unsupported("integers divided by what may be 0, for which torch raises")
    return x, y


@row("aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.floor_divide.default", "aten.floor_divide.Scalar")
def _(c, x, y, rounding_mode="floor"):
    common = c.promoted(2, FLOAT if rounding_mode is None else SAME)
    compute = {None: _div, "trunc": _div_trunc, "floor": _div_floor}[rounding_mode]
    if dtype_of(common) in NARROW:
        # torch rounds the steps in the elements that fill no vector, and no others.
        raise Unsupported("a rounded quotient of narrow floats")
    by = None if rounding_mode is None else y
    return c.elementwise((x, y), common, compute if by is None else lambda e, a, b: compute(e, *dividable(a, b, by)))


def _div_trunc(e, x, y):
    return e.trunc(e.div(x, y)) if x.dtype in FLOATS else numeric(e.div, x, y)


def _div_floor(e, x, y):
    """torch's: from the exact remainder, so that a quotient just below an integer is not rounded up to it."""
    if x.dtype == "i1":
        raise Unsupported("arithmetic of truth values")
    zero = one(e, y, 0)
    rest = e.rem(x, y)
    turned = e.elementwise("xor", e.compare(y, zero, "lt"), e.compare(rest, zero, "lt"), dtype="i1")
    turned = e.elementwise("and", e.compare(rest, zero, "ne"), turned, dtype="i1")
    if x.dtype not in FLOATS:
        return e.sub(e.div(x, y), e.cast(turned, x.dtype))
    quotient = e.sub(e.div(e.sub(x, rest), y), e.cast(turned, x.dtype))
    down = e.floor(quotient)
    down = e.add(down, e.cast(e.compare(e.sub(quotient, down), one(e, x, 0.5), "gt"), x.dtype))
    # A zero has the sign of the quotient.
    whole = e.div(x, y)
    down = e.where(e.compare(quotient, one(e, x, 0), "eq"), e.mul(whole, one(e, x, 0)), down)
    return e.where(e.compare(y, zero, "eq"), whole, down)


@row("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
def _(c, x, y):
    return c.elementwise((x, y), c.promoted(2), lambda e, a, b: numeric(e.remainder, *dividable(a, b, y)))


@row("aten.fmod.Tensor", "aten.fmod.Scalar")
def _(c, x, y):
    return c.elementwise((x, y), c.promoted(2), lambda e, a, b: numeric(e.rem, *dividable(a, b, y)))


for _name, _op in (("maximum", "maximum"), ("minimum", "minimum")):
    pointwise(f"aten.{_name}.default", count=2, rounded=(0, 1))(lambda e, x, y, op=_op: getattr(e, op)(x, y))
for _name in ("fmax", "fmin"):
    _exact = {"fmax": "maximum", "fmin": "minimum"}[_name]
    pointwise(f"aten.{_name}.default", count=2, rounded=(0, 1))(
        lambda e, x, y, op=_name, exact=_exact: getattr(e, op if x.dtype in FLOATS else exact)(x, y)
    )
pointwise("aten.atan2.default", count=2, kind=FLOAT)(lambda e, x, y: e.atan2(x, y))


@row("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def _(c, x, y):
    exponent = y if isinstance(y, (int, float)) and not isinstance(y, bool) else None
    return c.elementwise((x, y), c.promoted(2), lambda e, a, b: _pow(e, a, b, exponent))


def _pow(e, x, y, exponent):
    """Exponents that torch computes by products and roots are computed so."""
    if exponent is not None and x.dtype != "i1" and float(exponent).is_integer() and 0 <= exponent <= 8:
        if exponent > 3 and (x.dtype in FLOATS or x.dtype in PARTS):
            return e.pow(x, y)
        return _power(e, x, int(exponent))
    if x.dtype not in FLOATS and x.dtype not in PARTS:
        raise Unsupported("powers of integers")
    if exponent == 0.5:
        return e.sqrt(x)
    if exponent == -0.5:
        return e.rsqrt(x)
    if exponent == -1:
        return e.reciprocal(x)
    return e.pow(x, y)


def _power(e, x, exponent):
    if exponent == 0:
        return e.broadcast(one(e, x, 1), x.shape) if x.rank else one(e, x, 1)
    result = x
    for _ in range(exponent - 1):
        result = e.mul(result, x)
    return result


# Comparisons: numbers are rounded to the common type first.
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    pointwise(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar", count=2, rounded=(0, 1))(
        lambda e, x, y, predicate=_name: e.compare(x, y, predicate)
    )


# Bits and truth.
for _name in ("and", "or", "xor"):
    _overloads = [f"aten.bitwise_{_name}.{kind}" for kind in ("Tensor", "Scalar", "Scalar_Tensor")]
    _overloads += [f"aten.__{_name}__.{kind}" for kind in ("Tensor", "Scalar")]
    pointwise(*_overloads, count=2)(lambda e, x, y, op=_name: e.elementwise(op, x, y))
pointwise("aten.bitwise_not.default", count=1)(lambda e, x: e.not_(x))


def _truth(c, x):
    return convert(c.e, x, "i1") if isinstance(x, Value) else c.e.constant(bool(x), "i1")


@row("aten.logical_not.default")
def _(c, x):
    return c.e.not_(_truth(c, x))


for _name in ("and", "or", "xor"):

    @row(f"aten.logical_{_name}.default")
    def _(c, x, y, op=_name):
        return c.e.elementwise(op, *c.broadcast([_truth(c, x), _truth(c, y)], c.shape), dtype="i1")


# Choice.


@row("aten.where.self", "aten.where.ScalarSelf", "aten.where.ScalarOther", "aten.where.Scalar")
def _(c, condition, x, y):
    name = c.dtype
    values = c.broadcast([_truth(c, condition), c.value(x, name), c.value(y, name)], c.shape)
    return c._shaped(c.e.where(*values))


@row("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def _(c, x, mask, value):
    values = c.broadcast([_truth(c, mask), c.value(value, c.dtype), x], c.shape)
    return c.e.where(*values)


@row("aten.clamp.default", "aten.clamp.Tensor", "aten.clamp_min.default", "aten.clamp_max.default", "aten.clamp_min.Tensor",
     "aten.clamp_max.Tensor", "aten.hardtanh.default")  # fmt: skip
def _(c, x, low=None, high=None, **given):
    name = str(c.node.target).split(".")[1]
    low, high = given.get("min", given.get("min_val", low)), given.get("max", given.get("max_val", high))
    if name == "clamp_max":
        low, high = None, low if high is None else high
    if name == "hardtanh":
        low, high = -1.0 if low is None else low, 1.0 if high is None else high
    limits = [("maximum", low), ("minimum", high)]
    kept = [(op, limit) for op, limit in limits if limit is not None]
    # The result's type is the promoted one.
    values = c.broadcast([c.value(v, c.dtype) for v in (x, *(limit for _, limit in kept))], c.shape)
    result = values[0]
    for (op, _), limit in zip(kept, values[1:]):
        result = c.e.elementwise(op, result, limit, dtype=c.dtype)
    return result


# Conversions and copies.


@row("aten._to_copy.default", "aten.clone.default", "aten.lift_fresh_copy.default", "prims.convert_element_type.default")
def _(c, x, *_, **given):
    if given.get("layout") not in (None, torch.strided) or given.get("device", c.val.device) != c.val.device:
        raise Unsupported("a copy to another device or layout")
    return convert(c.e, x, c.dtype)


@row("aten.copy.default")
def _(c, x, source, non_blocking=False):
    return c.e.broadcast(convert(c.e, source, c.dtype), c.shape)


# Activations and their gradients.


@pointwise("aten.gelu.default", count=1)
def _(e, x, approximate="none"):
    floats_only(x)
    if approximate == "tanh":
        return e.mul(e.mul(one(e, x, 0.5), x), e.add(one(e, x, 1), e.tanh(_gelu_inner(e, x))))
    return e.mul(e.mul(x, one(e, x, 0.5)), e.add(one(e, x, 1), e.erf(e.mul(x, one(e, x, math.sqrt(0.5))))))


def _gelu_inner(e, x):
    cube = e.mul(e.mul(x, x), x)
    return e.mul(one(e, x, math.sqrt(2 / math.pi)), e.add(x, e.mul(one(e, x, 0.044715), cube)))


@pointwise("aten.gelu_backward.default", count=2)
def _(e, g, x, approximate="none"):
    half, unit = one(e, x, 0.5), one(e, x, 1)
    if approximate == "tanh":
        t = e.tanh(_gelu_inner(e, x))
        left = e.mul(half, e.add(unit, t))
        slope = e.mul(one(e, x, math.sqrt(2 / math.pi)), e.add(unit, e.mul(one(e, x, 3 * 0.044715), e.mul(x, x))))
        right = e.mul(e.mul(e.mul(half, x), e.sub(unit, e.mul(t, t))), slope)
        return e.mul(g, e.add(left, right))
    cdf = e.mul(half, e.add(unit, e.erf(e.mul(x, one(e, x, math.sqrt(0.5))))))
    pdf = e.mul(e.exp(e.mul(e.mul(x, x), one(e, x, -0.5))), one(e, x, 1 / math.sqrt(2 * math.pi)))
    return e.mul(g, e.add(cdf, e.mul(x, pdf)))


@pointwise("aten.silu_backward.default", count=2)
def _(e, g, x):
    s, unit = e.sigmoid(x), one(e, x, 1)
    return e.mul(e.mul(g, s), e.add(unit, e.mul(x, e.sub(unit, s))))


@pointwise("aten.tanh_backward.default", count=2)
def _(e, g, y):
    return e.mul(g, e.sub(one(e, y, 1), e.mul(y, y)))


@pointwise("aten.sigmoid_backward.default", count=2)
def _(e, g, y):
    return e.mul(e.mul(g, e.sub(one(e, y, 1), y)), y)


@pointwise("aten.threshold_backward.default", count=2)
def _(e, g, x, threshold):
    return e.where(e.compare(x, one(e, x, threshold), "le"), one(e, g, 0), g)


@row("aten.native_dropout_backward.default")
def _(c, g, mask, scale):
    def compute(e, g, m):
        return e.mul(g, e.mul(m, one(e, g, scale)))

    return c.elementwise((g, mask), c.val.dtype, compute)


@pointwise("aten.leaky_relu.default", count=1)
def _(e, x, slope=0.01):
    floats_only(x)
    return e.where(e.compare(x, one(e, x, 0), "gt"), x, e.mul(x, one(e, x, slope)))


@pointwise("aten.leaky_relu_backward.default", count=2)
def _(e, g, x, slope, is_result=False):
    return e.where(e.compare(x, one(e, x, 0), "gt"), g, e.mul(g, one(e, g, slope)))


@pointwise("aten.softplus.default", count=1)
def _(e, x, beta=1, threshold=20):
    floats_only(x)
    scaled = e.mul(x, one(e, x, beta))
    soft = e.div(e.log1p(e.exp(scaled)), one(e, x, beta))
    return e.where(e.compare(scaled, one(e, x, threshold), "gt"), x, soft)


@pointwise("aten.hardsigmoid.default", count=1)
def _hard_sigmoid(e, x):
    floats_only(x)
    inner = e.minimum(e.maximum(e.add(x, one(e, x, 3)), one(e, x, 0)), one(e, x, 6))
    return e.div(inner, one(e, x, 6))


@pointwise("aten.hardswish.default", count=1)
def _(e, x):
    floats_only(x)
    inner = e.minimum(e.maximum(e.add(x, one(e, x, 3)), one(e, x, 0)), one(e, x, 6))
    return e.div(e.mul(x, inner), one(e, x, 6))


# Sums of products.


@pointwise("aten.addcmul.default", count=3)
def _(e, x, a, b, value=1):
    return e.add(x, numeric(e.mul, _scaled(e, a, value), b))


@pointwise("aten.addcdiv.default", count=3)
def _(e, x, a, b, value=1):
    floats_only(x)
    return e.add(x, e.div(_scaled(e, a, value), b))


@row("prims.fma.default")
def _(c, x, y, z):
    return c.elementwise((x, y, z), c.val.dtype, lambda e, x, y, z: e.add(e.mul(x, y), z))


@row("aten.lerp.Scalar", "aten.lerp.Tensor")
def _(c, x, end, weight):
    def compute(e, x, end, w):
        gap = e.sub(end, x)
        near = e.add(x, e.mul(w, gap))
        far = e.sub(end, e.mul(gap, e.sub(one(e, w, 1), w)))
        if isinstance(weight, (int, float)):
            return near if abs(weight) < 0.5 else far
        return e.where(e.compare(e.abs(w), one(e, w, 0.5), "lt"), near, far)

    return c.elementwise((x, end, weight), c.val.dtype, compute)


@pointwise("aten.xlogy.Tensor", count=2, kind=FLOAT)
def _(e, x, y):
    made = e.where(e.compare(x, one(e, x, 0), "eq"), one(e, x, 0), e.mul(x, e.log(y)))
    return e.where(e.elementwise("isnan", y, dtype="i1"), y, made)


@row("aten.fill.Scalar", "aten.fill.Tensor")
def _(c, x, value):
    return c.e.broadcast(c.value(value, c.dtype), c.shape)

"""Products, convolutions, attention, transforms and sorts: rows for whole programs. In `torch.compile` torch's libraries compute them."""

from __future__ import annotations

from ..emit import Unsupported, Value, dtype_of, product
from .shape import cut
from .table import COMPUTE, Row, each, wide

#: Rows that `fuser.torch.import_exported` has besides `ROWS`.
WHOLE: dict[str, Row] = {}


def row(*names):
    def enter(lower):
        for name in names:
            WHOLE[name] = Row(COMPUTE, lower)
        return lower

    return enter


def _floats(x):
    if not x.dtype.startswith(("f", "bf")):
        raise Unsupported(f"a product of {x.dtype}")


def _product(c, op, a, b, shape):
    """A product in the type that accumulates."""
    _floats(a)
    to = wide(a.dtype)
    return Value(c.e.raw(op, (a, b), f"to {to}"), to, shape)


def _result(c, x):
    return c.e.cast(x, c.dtype)


@row("aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default", "aten.matmul.default")
def _(c, a, b):
    return _result(c, _product(c, "matmul", a, b, c.shape))


@row("aten.linear.default")
def _(c, x, weight, bias=None):
    y = _product(c, "linear", x, weight, c.shape)
    if bias is not None:
        y = c.e.add(y, c.e.broadcast(c.e.cast(bias, y.dtype), y.shape))
    return _result(c, y)


@row("aten.addmm.default", "aten.baddbmm.default", "aten.addmv.default")
def _(c, bias, a, b, beta=1, alpha=1):
    e, y = c.e, _product(c, "matmul", a, b, c.shape)
    if alpha != 1:
        y = e.mul(y, e.constant(alpha, y.dtype))
    if beta == 0:
        return _result(c, y)
    bias = e.cast(bias, y.dtype)
    if beta != 1:
        bias = e.mul(bias, e.constant(beta, y.dtype))
    return _result(c, e.add(y, e.broadcast(bias, y.shape)))


@row("aten.scaled_dot_product_attention.default")
def _(c, q, k, v, mask=None, dropout=0.0, causal=False, scale=None, enable_gqa=False):
    if dropout:
        raise Unsupported("attention with dropout")
    e, batch = c.e, c.shape[:-2]
    q, k, v = (e.cast(x, c.dtype) for x in (q, k, v))
    if enable_gqa:
        k, v = (_heads(e, x, batch[-1]) for x in (k, v))
    q, k, v = (e.broadcast(x, (*batch, *x.shape[-2:])) for x in (q, k, v))
    operands = [q, k, v]
    if mask is not None:
        kind = "i1" if mask.dtype == "i1" else q.dtype
        operands.append(e.broadcast(e.cast(mask, kind), (*batch, q.shape[-2], k.shape[-2])))
    clauses = "" if scale is None else f"scale {float(scale)!r}"
    clauses += " causal" if causal else ""
    return Value(e.raw("sdpa", operands, clauses.strip()), q.dtype, c.shape)


def _heads(e, x, heads):
    """Heads of keys or values, each for as many heads of queries in sequence."""
    own = x.shape[-3]
    if not isinstance(own, int) or not isinstance(heads, int) or own == 0 or heads % own:
        raise Unsupported("groups of heads of unknown number")
    if own == heads:
        return x
    shape = (*x.shape[:-2], heads // own, *x.shape[-2:])
    axes = [a for a in range(len(shape)) if a != len(shape) - 3]
    return e.reshape(e.broadcast(x, shape, axes), (*x.shape[:-3], heads, *x.shape[-2:]))


@row("aten.convolution.default")
def _(c, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    e, dims = c.e, x.rank - 2
    _floats(x)
    stride, padding, dilation, output_padding = (each(n, dims) for n in (stride, padding, dilation, output_padding))
    kernel = weight.shape[2:]
    batch, channels = x.shape[:2]
    # An axis of groups stands in front of the channels, unless there is one group.
    grouped = () if groups == 1 else (groups,)
    space = list(range(len(grouped) + 2, len(grouped) + 2 + dims))
    x = e.reshape(x, (batch, *grouped, channels // groups, *x.shape[2:]))
    if transposed:
        weight = e.reshape(weight, (*grouped, channels // groups, *weight.shape[1:]))
        weight = e.permute(weight, [*range(len(grouped)), len(grouped) + 1, len(grouped), *space])
        weight = Value(e.raw("flip", (weight,), f"dims {space}"), weight.dtype, weight.shape)
        reach = [d * (n - 1) - p for d, n, p in zip(dilation, kernel, padding)]
        clauses = {"low": reach, "high": [r + o for r, o in zip(reach, output_padding)], "base_dilation": stride}
    else:
        weight = e.reshape(weight, (*grouped, weight.shape[0] // groups, *weight.shape[1:]))
        clauses = {"strides": stride, "low": padding, "high": padding}
    clauses["dilation"] = dilation
    text = " ".join(["groups"] * len(grouped) + [f"{name} {list(numbers)}" for name, numbers in clauses.items()])
    to = wide(x.dtype)
    shape = (batch, *grouped, c.shape[1] // groups, *c.shape[2:])
    y = Value(e.raw("convolution", (x, weight), f"{text} to {to}"), to, shape)
    y = e.reshape(y, c.shape)
    if bias is not None:
        y = e.add(y, e.broadcast(e.cast(bias, to), y.shape, [1]))
    return _result(c, y)


def _transform(c, parts, dims, inverse=False):
    """Transforms along some axes; an inverse one divides by the length."""
    for dim in dims:
        names = c.e.many("fft", parts, f"dim {dim}" + (" inverse" if inverse else ""), 2)
        parts = [Value(name, x.dtype, x.shape) for name, x in zip(names, parts)]
    return parts


def _normalized(c, parts, shape, dims, mode, inverse=False):
    """torch divides by the length, its root, or nothing, by `mode`."""
    exponent, count = (1 if inverse else 0) - mode / 2, product([shape[d] for d in dims])
    if exponent == 0:
        return parts
    if not isinstance(count, int):
        raise Unsupported("a transform along a named extent")
    return [c.e.mul(x, c.e.constant(count**exponent, x.dtype)) for x in parts]


@row("aten._fft_c2c.default")
def _(c, x, dims, mode, forward):
    dims = [d % x.rank for d in dims]
    return c.e.complex(*_normalized(c, _transform(c, c.e.parts(x), dims, not forward), x.shape, dims, mode, not forward))


@row("aten._fft_r2c.default")
def _(c, x, dims, mode, onesided):
    dims = [d % x.rank for d in dims]
    if onesided and not isinstance(c.shape[dims[-1]], int):
        raise Unsupported("half of a transform along a named extent")
    parts = _transform(c, [x, c.e.full(c.e.constant(0, x.dtype), x.shape)], dims[-1:])
    parts = [cut(c, part, dims[-1], 0, c.shape[dims[-1]]) for part in parts]
    return c.e.complex(*_normalized(c, _transform(c, parts, dims[:-1]), x.shape, dims, mode))


@row("aten._fft_c2r.default")
def _(c, x, dims, mode, length):
    dims = [d % x.rank for d in dims]
    if not isinstance(length, int):
        raise Unsupported("a transform along a named extent")
    # The other half of a line has the conjugates, from the end.
    half, last = length // 2 + 1, dims[-1]
    x = c.e.complex(*_transform(c, c.e.parts(x), dims[:-1], True))
    rest = cut(c, x, last, 1, length - half)
    rest = c.e.conj(Value(c.e.raw("flip", (rest,), f"dims [{last}]"), rest.dtype, rest.shape))
    x = c.e.cat([cut(c, x, last, 0, half), rest], last)
    return _normalized(c, _transform(c, c.e.parts(x), [last], True), c.shape, dims, mode, True)[0]


@row("aten.sort.default", "aten.sort.stable")
def _(c, x, *given, **named):
    given = dict(zip(("stable",) * ("stable" in str(c.node.target)) + ("dim", "descending"), given)) | named
    if x.rank == 0:
        raise Unsupported("a sort of a scalar")
    dim = given.get("dim", -1) % x.rank
    down = " descending" if given.get("descending", False) else ""
    order = Value(c.e.raw("argsort", (x,), f"dim {dim} of i64{down}"), "i64", c.shape)
    return [c.e.take_along(x, order, dim), order]


@row("aten.topk.default")
def _(c, x, count, dim=-1, largest=True, sorted=True):
    if x.rank == 0 or not isinstance(count, int):
        raise Unsupported("the first of an unknown number")
    smallest = "" if largest else " smallest"
    names = c.e.many("topk", (x,), f"dim {dim % x.rank} first {count} of i64{smallest}", 2)
    return [Value(name, dtype_of(val.dtype), c.shape) for name, val in zip(names, c.vals)]

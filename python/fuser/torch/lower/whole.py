"""Products, convolutions, attention and pools: rows for whole programs. In `torch.compile` torch's libraries compute them."""

from __future__ import annotations

import functools
import itertools
import math

from ..emit import Unsupported, Value, dtype_of
from .table import COMPUTE, Row, wide

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
    stride, padding, dilation, output_padding = (_each(n, dims) for n in (stride, padding, dilation, output_padding))
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


def _each(numbers, dims):
    numbers = [numbers] if isinstance(numbers, int) else list(numbers)
    return numbers * dims if len(numbers) == 1 else numbers


def _windows(c, x, kernel, stride, padding, dilation, border, places):
    """A tensor for each place of a window: what stands there in all windows."""
    e, dims = c.e, len(kernel)
    front = x.rank - dims
    # A window of the last row may begin in the border that `ceil_mode` adds.
    reach = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(places, stride, dilation, kernel)]
    if not all(isinstance(n, int) for n in (*x.shape[front:], *places)):
        raise Unsupported("windows along a named extent")
    high = [max(r - n - p, p) for r, n, p in zip(reach, x.shape[front:], padding)]
    x = e.pad(x, e.constant(border, x.dtype), [0] * front + list(padding), [0] * front + high)
    for at in itertools.product(*map(range, kernel)):
        starts = [0] * front + [a * d for a, d in zip(at, dilation)]
        spans = [(n - 1) * s + 1 for n, s in zip(places, stride)]
        part = e.slice(x, starts, [*x.shape[:front], *spans])
        yield e.slice(part, [0] * x.rank, [*x.shape[:front], *places], [1] * front + list(stride))


@row("aten.max_pool2d_with_indices.default", "aten.max_pool2d.default", "aten.max_pool1d.default")
def _(c, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    dims = 1 if "1d" in str(c.node.target) else 2
    kernel, padding, dilation = (_each(n, dims) for n in (kernel, padding, dilation))
    stride = _each(stride, dims) if stride else kernel
    if any(user.args[1:] == (1,) for user in c.node.users if len(c.vals) > 1):
        raise Unsupported("the indices of a pool")
    _floats(x)
    places = c.shape[-dims:]
    all_windows = _windows(c, x, kernel, stride, padding, dilation, -math.inf, places)
    made = functools.reduce(c.e.maximum, all_windows)
    return [made, None] if len(c.vals) > 1 else made


@row("aten.avg_pool2d.default", "aten.avg_pool1d.default")
def _(c, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    e, dims = c.e, 1 if "1d" in str(c.node.target) else 2
    kernel, padding = (_each(n, dims) for n in (kernel, padding))
    stride = _each(stride, dims) if stride else kernel
    if ceil_mode or (any(padding) and not count_include_pad and not divisor_override):
        raise Unsupported("windows of different sizes")
    _floats(x)
    x = e.cast(x, wide(x.dtype))
    total = functools.reduce(e.add, _windows(c, x, kernel, stride, padding, [1] * dims, 0.0, c.shape[-dims:]))
    return _result(c, e.div(total, e.constant(divisor_override or math.prod(kernel), total.dtype)))


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

"""Reductions, and ops that walk an axis."""

from __future__ import annotations

from ..emit import Unsupported, product
from .table import convert, row, wide


def _axes(c, x, dim):
    return c.dims(dim, x.rank)


@row("aten.sum.default", "aten.sum.dim_IntList")
def _(c, x, dim=None, keepdim=False, dtype=None):
    # Integers and truth values are summed as i64; narrow floats in f32, rounded once.
    return c.e.reduce("sum", convert(c.e, x, c.dtype), _axes(c, x, dim), keepdim)


@row("aten.mean.default", "aten.mean.dim")
def _(c, x, dim=None, keepdim=False, dtype=None):
    return c.e.reduce("mean", convert(c.e, x, c.dtype), _axes(c, x, dim), keepdim)


@row("aten.prod.default", "aten.prod.dim_int")
def _(c, x, dim=None, keepdim=False, dtype=None):
    return c.e.reduce("prod", convert(c.e, x, c.dtype), _axes(c, x, dim), keepdim)


def _not_empty(x, axes):
    if any(not isinstance(x.shape[a], int) or x.shape[a] == 0 for a in axes if isinstance(x.shape[a], int)):
        raise Unsupported("an empty axis, which torch refuses")


@row("aten.amax.default", "aten.max.default")
def _(c, x, dim=None, keepdim=False):
    axes = _axes(c, x, dim)
    _not_empty(x, axes)
    return c.e.reduce("max", x, axes, keepdim)


@row("aten.amin.default", "aten.min.default")
def _(c, x, dim=None, keepdim=False):
    axes = _axes(c, x, dim)
    _not_empty(x, axes)
    return c.e.reduce("min", x, axes, keepdim)


@row("aten.any.default", "aten.any.dim", "aten.any.dims")
def _(c, x, dim=None, keepdim=False):
    return _truths(c, x, dim, keepdim, "max")


@row("aten.all.default", "aten.all.dim", "aten.all.dims")
def _(c, x, dim=None, keepdim=False):
    return _truths(c, x, dim, keepdim, "min")


def _truths(c, x, dim, keepdim, op):
    made = c.e.reduce(op, convert(c.e, x, "i1"), _axes(c, x, dim), keepdim)
    return c.e.cast(made, c.dtype)


def _place(c, x, dim, keepdim, op):
    if not x.rank:
        raise Unsupported("a tensor without axes")
    if dim is None:
        x, dim = c.e.reshape(x, [product(x.shape)]), 0
        if keepdim:
            raise Unsupported("all axes kept")
    if x.dtype == "i1":
        raise Unsupported("elements of i1")
    dim %= x.rank
    _not_empty(x, [dim])
    shape = [n for axis, n in enumerate(x.shape) if axis != dim]
    if keepdim:
        shape.insert(dim, 1)
    return c.e.along(op, x, dim, "i64", shape, "of i64" + (" keepdim" if keepdim else ""))


@row("aten.argmax.default")
def _(c, x, dim=None, keepdim=False):
    return _place(c, x, dim, keepdim, "argmax")


@row("aten.argmin.default")
def _(c, x, dim=None, keepdim=False):
    return _place(c, x, dim, keepdim, "argmin")


@row("aten.max.dim")
def _(c, x, dim, keepdim=False):
    place = _place(c, x, dim, keepdim, "argmax")
    return [c.e.reduce("max", x, [dim % x.rank], keepdim), place]


@row("aten.min.dim")
def _(c, x, dim, keepdim=False):
    place = _place(c, x, dim, keepdim, "argmin")
    return [c.e.reduce("min", x, [dim % x.rank], keepdim), place]


# Variances: computed in the type that accumulates, rounded once. `n - correction` below 0 counts as 0.


def _moments(c, x, dim, correction, keepdim):
    axes = _axes(c, x, dim)
    correction = 1 if correction is None else correction
    if int(correction) != correction:
        raise Unsupported(f"a correction of {correction}")
    count = product([x.shape[a] for a in axes])
    if not isinstance(count, int) or count <= correction or not axes:
        raise Unsupported("fewer elements than the correction, or an unknown number")
    return c.e.var_mean(c.e.cast(x, wide(x.dtype)), axes, int(correction), keepdim)


@row("aten.var.correction")
def _(c, x, dim=None, correction=None, keepdim=False):
    return c.e.cast(_moments(c, x, dim, correction, keepdim)[0], c.dtype)


@row("aten.std.correction")
def _(c, x, dim=None, correction=None, keepdim=False):
    return c.e.cast(c.e.sqrt(_moments(c, x, dim, correction, keepdim)[0]), c.dtype)


@row("aten.var_mean.correction")
def _(c, x, dim=None, correction=None, keepdim=False):
    return [c.e.cast(x, c.dtype) for x in _moments(c, x, dim, correction, keepdim)]


@row("aten.cumsum.default")
def _(c, x, dim, dtype=None):
    x = convert(c.e, x, c.dtype)
    if not x.rank:
        return x
    return c.e.along("cumsum", x, dim % x.rank)


# Softmax: in the type that accumulates, rounded once.


def _shifted(c, x, dim):
    """The exponentials along `dim` less the greatest, their sum, and the differences."""
    e = c.e
    x = e.cast(x, wide(x.dtype))
    if not x.rank:
        raise Unsupported("a tensor without axes")
    dim %= x.rank
    over = lambda y: e.broadcast(y, x.shape, [a for a in range(x.rank) if a != dim])  # noqa: E731
    difference = e.sub(x, over(e.reduce("max", x, [dim])))
    powers = e.exp(difference)
    return powers, e.reduce("sum", powers, [dim]), difference, over, x


@row("aten._softmax.default")
def _(c, x, dim, half_to_float=False):
    powers, total, _, over, _ = _shifted(c, x, dim)
    return c.e.cast(c.e.div(powers, over(total)), c.dtype)


@row("aten._safe_softmax.default")
def _(c, x, dim, dtype=None):
    # A row that is masked as a whole gives zeros.
    e = c.e
    powers, total, _, over, wide_x = _shifted(c, convert(e, x, c.dtype), dim)
    least = e.compare(e.reduce("max", wide_x, [dim % x.rank]), e.constant(float("-inf"), wide_x.dtype), "eq")
    made = e.where(over(least), e.constant(0, wide_x.dtype), e.div(powers, over(total)))
    return e.cast(made, c.dtype)


@row("aten._log_softmax.default")
def _(c, x, dim, half_to_float=False):
    _, total, difference, over, _ = _shifted(c, x, dim)
    return c.e.cast(c.e.sub(difference, over(c.e.log(total))), c.dtype)


@row("aten._softmax_backward_data.default")
def _(c, g, y, dim, dtype):
    e = c.e
    g, y = e.cast(g, wide(g.dtype)), e.cast(y, wide(y.dtype))
    dim %= y.rank
    part = e.mul(g, y)
    total = e.broadcast(e.reduce("sum", part, [dim]), y.shape, [a for a in range(y.rank) if a != dim])
    return e.cast(e.sub(part, e.mul(y, total)), c.dtype)


@row("aten._log_softmax_backward_data.default")
def _(c, g, y, dim, dtype):
    e = c.e
    g, y = e.cast(g, wide(g.dtype)), e.cast(y, wide(y.dtype))
    dim %= y.rank
    total = e.broadcast(e.reduce("sum", g, [dim]), y.shape, [a for a in range(y.rank) if a != dim])
    return e.cast(e.sub(g, e.mul(e.exp(y), total)), c.dtype)

"""Reads and writes at indices that are data.

torch counts negative indices of `index` and `index_put` from the end, and raises for those out of range; Fuser brings what is out of
range into the axis, or puts it nowhere. Other ops refuse negative indices, so that nothing is to be done there.
"""

from __future__ import annotations

from ..emit import Unsupported, Value, product, same
from .table import convert, row


def _indices(e, x):
    if x.dtype not in ("i64", "i32"):
        raise Unsupported(f"indices of {x.dtype}")
    return e.tensor(x)


def _wrapped(e, index, extent):
    """Indices below 0 are counted from the end."""
    index = _indices(e, index)
    below = e.compare(index, e.constant(0, index.dtype), "lt")
    return e.where(below, e.add(index, e.size(extent, index.dtype)), index)


@row("aten.embedding.default")
def _(c, table, indices, padding=-1, by_frequency=False, sparse=False):
    return c.e.take(table, _indices(c.e, indices), 0)


@row("aten.embedding_dense_backward.default")
def _(c, g, indices, count, padding, by_frequency):
    e = c.e
    if by_frequency:
        raise Unsupported("gradients scaled by frequency")
    indices = _indices(e, indices)
    if padding >= 0:
        # An index below 0 puts nothing anywhere.
        indices = e.where(e.compare(indices, e.constant(padding, indices.dtype), "eq"), e.constant(-1, indices.dtype), indices)
    rows = product(indices.shape)
    updates = e.reshape(g, [rows, g.shape[-1]])
    zeros = e.full(e.constant(0, g.dtype), c.shape)
    return e.put("index_put", zeros, e.reshape(indices, [rows]), updates, 0, "add")


@row("aten.index_select.default")
def _(c, x, dim, indices):
    if not x.rank:
        raise Unsupported("a tensor without axes")
    indices = _indices(c.e, indices)
    if not indices.rank:
        indices = c.e.reshape(indices, [1])
    return c.e.take(x, indices, dim % x.rank)


@row("aten.gather.default")
def _(c, x, dim, indices, sparse_grad=False):
    if not x.rank or not indices.rank:
        raise Unsupported("a tensor without axes")
    dim %= x.rank
    # Along other axes the indices may be fewer than the elements.
    shape = [n if axis == dim else m for axis, (n, m) in enumerate(zip(x.shape, indices.shape))]
    return c.e.take_along(c.e.slice(x, [0] * x.rank, shape), _indices(c.e, indices), dim)


def _flat(c, x, indices):
    """One axis and one index in place of the axes and indices that stand side by side."""
    e = c.e
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    if not axes or axes != list(range(axes[0], axes[-1] + 1)):
        raise Unsupported("indices of axes that are not side by side")
    given = [indices[a] for a in axes]
    if len({index.dtype for index in given}) > 1:
        given = [e.cast(_indices(e, index), "i64") for index in given]
    rank = max(index.rank for index in given)
    shape = _joined([index.shape for index in given], rank)
    flat = None
    for axis, index in zip(axes, given):
        index = e.broadcast(_wrapped(e, index, x.shape[axis]), shape)
        if flat is not None:
            index = e.add(e.mul(flat, e.size(x.shape[axis], index.dtype)), index)
        flat = index
    first, last = axes[0], axes[-1]
    merged = x.shape[:first] + (product([x.shape[a] for a in axes]),) + x.shape[last + 1 :]
    return first, merged, flat, shape


def _joined(shapes, rank):
    joined = [1] * rank
    for shape in shapes:
        for axis, n in enumerate(shape, rank - len(shape)):
            if n != 1:
                if joined[axis] != 1 and not same(joined[axis], n):
                    raise Unsupported("extents that may differ")
                joined[axis] = n
    return tuple(joined)


@row("aten.index.Tensor", "aten._unsafe_index.Tensor")
def _(c, x, indices):
    dim, merged, flat, _ = _flat(c, x, indices)
    if any(isinstance(n, int) and n == 0 for n in merged):
        raise Unsupported("an empty tensor")
    return c.e.take(c.e.reshape(x, merged), flat, dim)


@row("aten.index_put.default", "aten._unsafe_index_put.default")
def _(c, x, indices, values, accumulate=False):
    e = c.e
    dim, merged, flat, shape = _flat(c, x, indices)
    if accumulate and x.dtype == "i1":
        raise Unsupported("sums of truth values")
    updates = merged[:dim] + shape + merged[dim + 1 :]
    values = e.broadcast(convert(e, values, x.dtype), updates)
    rows = product(shape)
    values = e.reshape(values, merged[:dim] + (rows,) + merged[dim + 1 :])
    made = e.put("index_put", e.reshape(x, merged), e.reshape(flat, [rows]), values, dim, "add" if accumulate else "set")
    return e.reshape(made, c.shape)


@row("aten.index_add.default")
def _(c, x, dim, indices, source, alpha=1):
    e = c.e
    if x.dtype == "i1" or not x.rank:
        raise Unsupported("sums of truth values, or no axes")
    indices = _indices(e, indices)
    indices = indices if indices.rank else e.reshape(indices, [1])
    if alpha != 1:
        source = e.mul(source, e.constant(alpha, source.dtype))
    return e.put("index_put", e.plain(x), indices, source, dim % x.rank, "add")


@row("aten.index_copy.default")
def _(c, x, dim, indices, source):
    e = c.e
    if not x.rank:
        raise Unsupported("a tensor without axes")
    indices = _indices(e, indices)
    indices = indices if indices.rank else e.reshape(indices, [1])
    return e.put("index_put", e.plain(x), indices, source, dim % x.rank, "set")


_COMBINE = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "add": "add", "multiply": "mul"}


def _scattered(c, x, dim, indices, source, combine):
    e = c.e
    if not x.rank or not indices.rank:
        raise Unsupported("a tensor without axes")
    if combine in ("add", "mul") and x.dtype == "i1":
        raise Unsupported("sums of truth values")
    dim %= x.rank
    indices = _indices(e, indices)
    for axis, (n, m) in enumerate(zip(x.shape, indices.shape)):
        if axis != dim and not same(n, m):
            raise Unsupported("fewer indices than elements along another axis")
    if isinstance(source, Value) and source.rank:
        source = e.slice(source, [0] * x.rank, indices.shape)
    else:
        source = e.broadcast(c.value(source, x.dtype), indices.shape)
    return e.put("scatter", e.plain(x), indices, convert(e, source, x.dtype), dim, combine)


@row("aten.scatter.src", "aten.scatter.value")
def _(c, x, dim, indices, source):
    return _scattered(c, x, dim, indices, source, "set")


@row("aten.scatter_add.default")
def _(c, x, dim, indices, source):
    return _scattered(c, x, dim, indices, source, "add")


@row("aten.scatter_reduce.two")
def _(c, x, dim, indices, source, reduce, include_self=True):
    if not include_self or reduce not in _COMBINE:
        raise Unsupported(f"scatter by {reduce}, or without the element itself")
    return _scattered(c, x, dim, indices, source, _COMBINE[reduce])

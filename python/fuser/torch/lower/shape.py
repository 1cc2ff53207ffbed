"""Ops that move elements, and ops that make tensors of numbers."""

from __future__ import annotations

import torch

from ..emit import PARTS, Unsupported, Value, extent, product, simple
from .table import CONSTANT, VIEW, convert, row

view = lambda *names: row(*names, kind=VIEW)  # noqa: E731
constant = lambda *names: row(*names, kind=CONSTANT)  # noqa: E731

#: Windows of more parts are read at indices. Slices are faster, but the text grows with them.
_BLOCKS = 8


@view("aten.detach.default", "aten.alias.default")
def _(c, x):
    return x


@view("aten.view.default", "aten._unsafe_view.default", "aten.reshape.default")
def _(c, x, size):
    return c.e.reshape(x, c.shape)


@view("aten.expand.default")
def _(c, x, size, implicit=False):
    return c.e.broadcast(x, c.shape)


@view("aten.permute.default")
def _(c, x, dims):
    return c.e.permute(x, [d % x.rank for d in dims])


@view("aten.t.default")
def _(c, x):
    return c.e.permute(x, list(range(x.rank))[::-1])


@view("aten.transpose.int")
def _(c, x, a, b):
    if not x.rank:
        return x
    dims = list(range(x.rank))
    dims[a], dims[b] = dims[b], dims[a]
    return c.e.permute(x, dims)


@view("aten.unsqueeze.default")
def _(c, x, dim):
    return c.e.unsqueeze(x, dim % (x.rank + 1))


@view("aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze.default")
def _(c, x, dim=None):
    dims = range(x.rank) if dim is None else c.dims(dim, x.rank) if dim != [] else ()
    return c.e.squeeze(x, [d for d in dims if isinstance(x.shape[d], int) and x.shape[d] == 1])


def cut(c, x, dim, start, length, step=1):
    """`length` elements of axis `dim` from `start` on."""
    starts, shape, strides = [0] * x.rank, list(x.shape), [1] * x.rank
    starts[dim], shape[dim], strides[dim] = start, length, step
    return c.e.slice(x, starts, shape, None if step == 1 else strides)


def first_of(start, extent):
    """The place from which a slice begins, counted from the end where it is negative."""
    start = 0 if start is None else start
    if isinstance(start, int) and start < 0:
        start = simple(start + extent)
    if isinstance(start, int) and isinstance(extent, int):
        return min(max(start, 0), extent)
    return start


@view("aten.slice.Tensor")
def _(c, x, dim=0, start=None, end=None, step=1):
    dim %= x.rank
    length = c.shape[dim]
    return cut(c, x, dim, 0 if length == 0 else first_of(start, x.shape[dim]), length, step)


@view("aten.select.int")
def _(c, x, dim, index):
    dim %= x.rank
    if isinstance(index, int) and index < 0:
        index = simple(index + x.shape[dim])
    return c.e.squeeze(cut(c, x, dim, index, 1), [dim])


@view("aten.split.Tensor", "aten.split_with_sizes.default", "aten.unsafe_split.Tensor", "aten.unsafe_split_with_sizes.default")
def _(c, x, sizes, dim=0):
    dim %= x.rank
    parts, start = [], 0
    for val in c.vals:
        length = extent(val.shape[dim])
        parts.append(cut(c, x, dim, start, length))
        start = simple(start + length)
    return parts


@view("aten.unbind.int")
def _(c, x, dim=0):
    dim %= x.rank
    return [c.e.squeeze(cut(c, x, dim, i, 1), [dim]) for i in range(len(c.vals))]


@view("aten.unfold.default")
def _(c, x, dim, size, step):
    if not x.rank:
        return cut(c, c.e.unsqueeze(x, 0), 0, 0, size)
    dim %= x.rank
    length, places = x.shape[dim], c.shape[dim]
    if not all(isinstance(n, int) for n in (size, step, length, places)):
        raise Unsupported("windows along a named extent")
    e, blocks = c.e, -(-size // step)
    if not blocks:
        return e.broadcast(e.constant(0, x.dtype), c.shape)
    if blocks <= _BLOCKS:
        # Rows of `step` elements: a window is a row and parts of those behind it.
        rows, high = places + blocks - 1, [0] * x.rank
        high[dim] = max(rows * step - length, 0)
        x = e.pad(cut(c, x, dim, 0, min(rows * step, length)), e.constant(0, x.dtype), [0] * x.rank, high)
        x = e.reshape(x, x.shape[:dim] + (rows, step) + x.shape[dim + 1 :])
        x = e.cat([cut(c, cut(c, x, dim, i, places), dim + 1, 0, min(step, size - i * step)) for i in range(blocks)], dim + 1)
    else:
        begin = e.mul(e.iota(0, [places, size], "i64"), e.constant(step, "i64"))
        x = e.take(x, e.add(begin, e.iota(1, [places, size], "i64")), dim)
    return e.permute(x, [axis for axis in range(x.rank) if axis != dim + 1] + [dim + 1])


def _is_reshape(c, x, val, size, stride, offset):
    """True if strides name the elements of a dense row-major tensor in their order."""
    numbers = (*size, *stride, *x.shape, *val.stride())
    if not all(isinstance(n, int) for n in numbers) or offset not in (None, 0) or val.storage_offset() != 0:
        return False
    dense = lambda shape, strides: all(  # noqa: E731
        n == 1 or s == product(shape[axis + 1 :]) for axis, (n, s) in enumerate(zip(shape, strides))
    )
    return dense(x.shape, val.stride()) and dense(size, stride) and product(size) == product(x.shape)


@view("aten.as_strided.default")
def _(c, x, size, stride, offset=None):
    if not _is_reshape(c, x, c.node.args[0].meta["val"], size, stride, offset):
        raise Unsupported("strides that are no reshape")
    return c.e.reshape(x, c.shape)


@row("aten.as_strided_scatter.default")
def _(c, x, source, size, stride, offset=None):
    if not _is_reshape(c, x, c.node.args[0].meta["val"], size, stride, offset):
        raise Unsupported("strides that are no reshape")
    return c.e.reshape(convert(c.e, source, x.dtype), c.shape)


# Complex numbers as pairs, and their parts.


@view("aten.view_as_complex.default")
def _(c, x):
    return c.e.complex(*(c.e.squeeze(cut(c, x, x.rank - 1, i, 1), [x.rank - 1]) for i in (0, 1)))


@view("aten.view_as_real.default")
def _(c, x):
    return c.e.cat([c.e.unsqueeze(part, x.rank) for part in c.e.parts(x)], x.rank)


@view("aten.real.default", "aten.imag.default")
def _(c, x):
    return c.e.part(str(c.node.target).split(".")[1], x) if x.dtype in PARTS else x


@view("aten._conj.default", "aten.conj.default")
def _(c, x):
    return c.e.conj(x) if x.dtype in PARTS else x


@view("aten._neg_view.default")
def _(c, x):
    return c.e.neg(x)


@view("aten.resolve_conj.default", "aten.resolve_neg.default")
def _(c, x):
    return x


# Tensors from others.


@row("aten.cat.default")
def _(c, tensors, dim=0):
    # Tensors of one empty axis take part in any shape, and add nothing.
    kept = [x for x in tensors if not (x.rank == 1 and x.shape[0] == 0)] or tensors[:1]
    if not kept[0].rank:
        raise Unsupported("tensors without axes")
    return c.e.cat([convert(c.e, x, c.dtype) for x in kept], dim % kept[0].rank)


@row("aten.stack.default")
def _(c, tensors, dim=0):
    dim %= tensors[0].rank + 1
    return c.e.cat([c.e.unsqueeze(convert(c.e, x, c.dtype), dim) for x in tensors], dim)


@row("aten.constant_pad_nd.default")
def _(c, x, amounts, value=0):
    low, high = [0] * x.rank, [0] * x.rank
    starts, shape = [0] * x.rank, list(x.shape)
    for k in range(len(amounts) // 2):
        axis = x.rank - 1 - k
        before, after = amounts[2 * k], amounts[2 * k + 1]
        if not (isinstance(before, int) and isinstance(after, int)):
            raise Unsupported("amounts that are symbols")
        starts[axis] = max(-before, 0)
        shape[axis] = simple(shape[axis] - starts[axis] - max(-after, 0))
        low[axis], high[axis] = max(before, 0), max(after, 0)
    x = c.e.slice(x, starts, shape)
    return c.e.pad(x, c.value(value, x.dtype), low, high)


@row("aten.flip.default")
def _(c, x, dims):
    dims = sorted({d % x.rank for d in dims}) if x.rank else []
    if not dims:
        return x
    return Value(c.e.raw("flip", (x,), f"dims {dims}"), x.dtype, x.shape, x.repeated)


@row("aten.roll.default")
def _(c, x, shifts, dims=()):
    shape = x.shape
    shifts = [shifts] if isinstance(shifts, int) else shifts
    if not dims:
        x, dims = c.e.reshape(x, [product(shape)]), [0]
    dims = [dims] if isinstance(dims, int) else dims
    for shift, dim in zip(shifts, dims):
        x = c.e.along("roll", x, dim % x.rank, clauses=f"shift {shift}")
    return c.e.reshape(x, shape)


@row("aten.repeat.default")
def _(c, x, counts):
    x = c.e.tensor(x)
    old = (1,) * (len(counts) - x.rank) + x.shape
    pairs = [n for pair in zip(counts, old) for n in pair]
    kept = [2 * axis + 1 for axis in range(len(counts) - x.rank, len(counts))]
    return c.e.reshape(c.e.broadcast(x, pairs, kept), c.shape)


@row("aten.tril.default", "aten.triu.default")
def _(c, x, diagonal=0):
    e, rank = c.e, x.rank
    rows, columns = e.iota(rank - 2, x.shape, "i64"), e.iota(rank - 1, x.shape, "i64")
    edge = e.elementwise("sub", columns, rows, dtype="i64")
    kept = e.compare(edge, e.constant(diagonal, "i64"), "le" if "tril" in str(c.node.target) else "ge")
    return e.where(kept, x, e.constant(0, x.dtype))


# Parts put into a tensor.


def _between(c, whole, part, dim, start, length):
    """`whole`, in which `length` elements of axis `dim` from `start` on are those of `part`."""
    end = simple(start + length)
    rest = simple(whole.shape[dim] - end)
    parts = [cut(c, whole, dim, 0, start), c.e.broadcast(part, c.shape[:dim] + (length,) + c.shape[dim + 1 :]), cut(c, whole, dim, end, rest)]
    return c.e.cat([x for x in parts if not (isinstance(x.shape[dim], int) and x.shape[dim] == 0)] or parts[1:2], dim)


@row("aten.slice_scatter.default")
def _(c, x, source, dim=0, start=None, end=None, step=1):
    if step != 1:
        raise Unsupported("parts at a distance")
    dim %= x.rank
    length = extent(c.node.args[1].meta["val"].shape[dim])
    return _between(c, x, convert(c.e, source, x.dtype), dim, first_of(start, x.shape[dim]), length)


@row("aten.select_scatter.default")
def _(c, x, source, dim, index):
    dim %= x.rank
    if not isinstance(index, int):
        raise Unsupported("an index that is a symbol")
    index = simple(index + x.shape[dim]) if index < 0 else index
    return _between(c, x, c.e.unsqueeze(convert(c.e, source, x.dtype), dim), dim, index, 1)


@row("aten.slice_backward.default")
def _(c, g, sizes, dim, start, end, step):
    rank = len(c.shape)
    dim %= rank
    if step != 1:
        g = _apart(c, g, dim, first_of(start, c.shape[dim]), step)
    low, high = [0] * rank, [0] * rank
    low[dim] = first_of(start, c.shape[dim]) if g.shape[dim] != 0 else 0
    high[dim] = simple(c.shape[dim] - low[dim] - g.shape[dim])
    return c.e.pad(g, c.e.constant(0, g.dtype), low, high)


def _apart(c, g, dim, start, step):
    """The elements along `dim` with `step - 1` zeros behind each, as far as the result reaches."""
    e, length = c.e, g.shape[dim]
    if not all(isinstance(n, int) for n in (start, step, length, c.shape[dim])):
        raise Unsupported("parts at a distance in an axis of unknown length")
    rows = [step - 1 if axis == dim + 1 else 0 for axis in range(g.rank + 1)]
    spread = e.pad(e.unsqueeze(g, dim + 1), e.constant(0, g.dtype), [0] * (g.rank + 1), rows)
    spread = e.reshape(spread, g.shape[:dim] + (length * step,) + g.shape[dim + 1 :])
    return cut(c, spread, dim, 0, min(length * step, c.shape[dim] - start))


@row("aten.select_backward.default")
def _(c, g, sizes, dim, index):
    rank = len(c.shape)
    dim %= rank
    index = simple(index + c.shape[dim]) if isinstance(index, int) and index < 0 else index
    low, high = [0] * rank, [0] * rank
    low[dim], high[dim] = index, simple(c.shape[dim] - index - 1)
    return c.e.pad(c.e.unsqueeze(g, dim), c.e.constant(0, g.dtype), low, high)


# Tensors of numbers. Operands give shapes and types alone.


def _filled(c, value):
    return c.e.broadcast(c.value(value, c.dtype), c.shape)


@constant("aten.zeros.default", "aten.zeros_like.default", "aten.new_zeros.default")
def _(c, *_, **__):
    return _filled(c, 0)


@constant("aten.ones.default", "aten.ones_like.default", "aten.new_ones.default")
def _(c, *_, **__):
    return _filled(c, 1)


def number(x):
    """A number among a constant's arguments, which may be a symbol's node."""
    if isinstance(x, torch.fx.Node):
        return extent(x.meta["val"])
    return x


@constant("aten.full.default", "aten.full_like.default")
def _(c, _, value, **__):
    return _filled(c, number(value))


@constant("aten.new_full.default")
def _(c, _, size, value, **__):
    return _filled(c, number(value))


@constant("aten.scalar_tensor.default")
def _(c, value, **_):
    return c.value(number(value), c.dtype)


@constant("aten.arange.default", "aten.arange.start", "aten.arange.start_step")
def _(c, *limits, **given):
    limits = [number(n) for n in limits]
    start = 0 if len(limits) < 2 else limits[0]
    step = given.get("step", limits[2] if len(limits) > 2 else 1)
    if isinstance(start, float) or isinstance(step, float) or c.dtype in ("f16", "bf16"):
        raise Unsupported("a range of fractions")
    e = c.e
    x = e.iota(0, c.shape, "i64")
    if step != 1:
        x = e.elementwise("mul", x, c.value(step, "i64"), dtype="i64")
    if start != 0:
        x = e.elementwise("add", x, c.value(start, "i64"), dtype="i64")
    return e.cast(x, c.dtype)

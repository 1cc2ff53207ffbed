"""Pools: reductions over windows that move along the last axes."""

from __future__ import annotations

import functools
import itertools
import math

from ..emit import Unsupported
from .table import each, row, wide


class Windows:
    """The windows of an op along the last axes: for each axis the length, the step, the border and the distance of elements."""

    def __init__(self, c, x, kernel, stride, padding, dilation=1):
        name = str(c.node.target)
        self.c, self.dims = c, next(n for n in (1, 2, 3) if f"{n}d" in name)
        self.space, self.places = x.shape[-self.dims :], c.shape[-self.dims :]
        if not all(isinstance(n, int) for n in (*self.space, *self.places)):
            raise Unsupported("windows along a named extent")
        self.kernel, self.padding, self.dilation = (each(n, self.dims) for n in (kernel, padding, dilation))
        self.stride = each(stride, self.dims) if stride else self.kernel

    def of(self, x, border, padding=None):
        """For each element of a window a tensor that has that element of all windows."""
        e, front = self.c.e, x.rank - self.dims
        padding = self.padding if padding is None else padding
        # A window of the last row may begin in the border that `ceil_mode` adds.
        reach = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(self.places, self.stride, self.dilation, self.kernel)]
        high = [max(r - n - p, p) for r, n, p in zip(reach, x.shape[front:], padding)]
        x = e.pad(x, e.constant(border, x.dtype), [0] * front + list(padding), [0] * front + high)
        for at in itertools.product(*map(range, self.kernel)):
            starts = [0] * front + [a * d for a, d in zip(at, self.dilation)]
            yield e.slice(x, starts, [*x.shape[:front], *self.places], [1] * front + list(self.stride))

    def counts(self, dtype, with_border):
        """The elements of each window, with the border or without, but without what `ceil_mode` adds."""
        grown = [n + 2 * p if with_border else n for n, p in zip(self.space, self.padding)]
        ones = self.c.e.full(self.c.e.constant(1, dtype), grown)
        return functools.reduce(self.c.e.add, self.of(ones, 0, [0] * self.dims if with_border else None))


def _floats(x):
    if not x.dtype.startswith(("f", "bf")):
        raise Unsupported(f"a pool of {x.dtype}")


@row("aten.max_pool1d.default", "aten.max_pool2d.default", "aten.max_pool2d_with_indices.default", "aten.max_pool3d_with_indices.default")
def _(c, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    _floats(x)
    e, windows = c.e, Windows(c, x, kernel, stride, padding, dilation)
    given = list(windows.of(x, -math.inf))
    best = functools.reduce(e.maximum, given)
    if len(c.vals) == 1:
        return best
    # The index of an element counts from the first of its plane, and is -1 in the border. A NaN wins, the last of several.
    steps = [math.prod(windows.space[axis + 1 :]) for axis in range(windows.dims)]
    kind = "i32" if math.prod(windows.space) < 1 << 31 else "i64"
    along = [e.mul(e.iota(axis, windows.space, kind), e.constant(step, kind)) for axis, step in enumerate(steps)]
    plane = functools.reduce(e.add, along)
    most, found = None, None
    for value, index in zip(given, windows.of(plane, -1)):
        index = e.broadcast(index, c.shape)
        if found is None:
            most, found = value, index
            continue
        wins = e.or_(e.compare(value, most, "gt"), e.compare(value, value, "ne"))
        wins = e.or_(wins, e.compare(found, e.constant(0, kind), "lt"))
        most, found = e.where(wins, value, most), e.where(wins, index, found)
    return [best, e.cast(found, "i64")]


@row("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def _(c, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    _floats(x)
    e, windows = c.e, Windows(c, x, kernel, stride, padding)
    x = e.cast(x, wide(x.dtype))
    total = functools.reduce(e.add, windows.of(x, 0.0))
    if divisor_override or not (ceil_mode or (any(windows.padding) and not count_include_pad)):
        return e.cast(e.div(total, e.constant(divisor_override or math.prod(windows.kernel), x.dtype)), c.dtype)
    return e.cast(e.div(total, e.broadcast(windows.counts(x.dtype, count_include_pad), total.shape)), c.dtype)

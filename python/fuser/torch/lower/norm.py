"""Normalizations and losses, with their gradients: computed in the type that accumulates, each result rounded once."""

from __future__ import annotations

from ..emit import Unsupported, dtype_of, product
from .table import row, wide


def _wide(e, *xs):
    """The operands in the type that accumulates; `None` stays."""
    return [x if x is None else e.cast(x, wide(x.dtype)) for x in xs]


def _count(x, axes):
    return product([x.shape[a] for a in axes])


def _as_results(c, *made):
    """Each result in the type that torch has for it."""
    return [None if x is None else c.e.cast(x, dtype_of(val.dtype)) for x, val in zip(made, c.vals)]


# Layer normalization: over the last axes.


@row("aten.native_layer_norm.default")
def _(c, x, shape, weight, bias, eps):
    e = c.e
    x, weight, bias = _wide(e, x, weight, bias)
    axes = list(range(x.rank - len(shape), x.rank))
    if not axes or _count(x, axes) == 0 or _count(x, range(x.rank)) == 0:
        raise Unsupported("an empty tensor")
    variance, mean = e.var_mean(x, axes, 0, True)
    rstd = e.rsqrt(e.add(variance, e.constant(eps, x.dtype)))
    y = e.mul(e.sub(x, e.broadcast(mean, x.shape)), e.broadcast(rstd, x.shape))
    if weight is not None:
        y = e.mul(y, e.broadcast(weight, x.shape))
    if bias is not None:
        y = e.add(y, e.broadcast(bias, x.shape))
    return _as_results(c, y, mean, rstd)


@row("aten.native_layer_norm_backward.default")
def _(c, g, x, shape, mean, rstd, weight, bias, mask):
    e = c.e
    g, x, mean, rstd, weight = _wide(e, g, x, mean, rstd, weight)
    axes = list(range(x.rank - len(shape), x.rank))
    outer = list(range(x.rank - len(shape)))
    if not axes or _count(x, range(x.rank)) == 0:
        raise Unsupported("an empty tensor")
    spread = lambda y: e.broadcast(y, x.shape)  # noqa: E731
    normal = e.mul(e.sub(x, spread(mean)), spread(rstd))
    dx = dw = db = None
    if mask[0]:
        inner = g if weight is None else e.mul(g, spread(weight))
        first = spread(e.reduce("mean", inner, axes, True))
        second = spread(e.reduce("mean", e.mul(inner, normal), axes, True))
        dx = e.mul(spread(rstd), e.sub(e.sub(inner, first), e.mul(normal, second)))
    if mask[1] and weight is not None:
        dw = e.reduce("sum", e.mul(g, normal), outer)
    if mask[2] and bias is not None:
        db = e.reduce("sum", g, outer)
    return _as_results(c, dx, dw, db)


# Group normalization: the axes after the first two are one; channels are cut into groups.


@row("aten.native_group_norm.default")
def _(c, x, weight, bias, batch, channels, size, groups, eps):
    e, shape = c.e, x.shape
    if 0 in (batch, channels, size):
        raise Unsupported("an empty tensor")
    x, weight, bias = _wide(e, x, weight, bias)
    grouped = (batch, groups, channels // groups, size)
    x = e.reshape(x, grouped)
    variance, mean = e.var_mean(x, [2, 3], 0, False)
    rstd = e.rsqrt(e.add(variance, e.constant(eps, x.dtype)))
    y = e.mul(e.sub(x, e.broadcast(mean, grouped, [0, 1])), e.broadcast(rstd, grouped, [0, 1]))
    if weight is not None:
        y = e.mul(y, e.broadcast(e.reshape(weight, grouped[1:3]), grouped, [1, 2]))
    if bias is not None:
        y = e.add(y, e.broadcast(e.reshape(bias, grouped[1:3]), grouped, [1, 2]))
    return _as_results(c, e.reshape(y, shape), mean, rstd)


@row("aten.native_group_norm_backward.default")
def _(c, g, x, mean, rstd, weight, batch, channels, size, groups, mask):
    e, shape = c.e, x.shape
    if 0 in (batch, channels, size):
        raise Unsupported("an empty tensor")
    g, x, mean, rstd, weight = _wide(e, g, x, mean, rstd, weight)
    grouped = (batch, groups, channels // groups, size)
    g, x = e.reshape(g, grouped), e.reshape(x, grouped)
    spread = lambda y: e.broadcast(y, grouped, [0, 1])  # noqa: E731
    normal = e.mul(e.sub(x, spread(mean)), spread(rstd))
    dx = dw = db = None
    if mask[0]:
        inner = g if weight is None else e.mul(g, e.broadcast(e.reshape(weight, grouped[1:3]), grouped, [1, 2]))
        first, second = e.reduce("mean", inner, [2, 3]), e.reduce("mean", e.mul(inner, normal), [2, 3])
        dx = e.reshape(e.mul(spread(rstd), e.sub(e.sub(inner, spread(first)), e.mul(normal, spread(second)))), shape)
    if mask[1]:
        dw = e.reshape(e.reduce("sum", e.mul(g, normal), [0, 3]), [channels])
    if mask[2]:
        db = e.reshape(e.reduce("sum", g, [0, 3]), [channels])
    return _as_results(c, dx, dw, db)


# Batch normalization: over all axes but the second.


def _normalized(c, x, weight, bias, mean, rstd):
    e = c.e
    spread = lambda y: e.broadcast(y, x.shape, [1])  # noqa: E731
    y = e.mul(e.sub(x, spread(mean)), spread(rstd))
    if weight is not None:
        y = e.mul(y, spread(weight))
    return y if bias is None else e.add(y, spread(bias))


@row("aten._native_batch_norm_legit_functional.default")
def _(c, x, weight, bias, running_mean, running_var, training, momentum, eps):
    e = c.e
    if not training:
        raise Unsupported("running statistics that are read")
    x, weight, bias, old_mean, old_var = _wide(e, x, weight, bias, running_mean, running_var)
    axes = [a for a in range(x.rank) if a != 1]
    count = _count(x, axes)
    if not isinstance(count, int) or count < 2:
        raise Unsupported("an unknown number of elements, or fewer than two")
    variance, mean = e.var_mean(x, axes, 0, False)
    rstd = e.rsqrt(e.add(variance, e.constant(eps, x.dtype)))
    y = _normalized(c, x, weight, bias, mean, rstd)

    def moved(old, new):
        kept = e.mul(old, e.constant(1 - momentum, old.dtype))
        return e.add(kept, e.mul(new, e.constant(momentum, new.dtype)))

    unbiased = e.mul(variance, e.constant(count / (count - 1), variance.dtype))
    return _as_results(c, y, mean, rstd, moved(old_mean, mean), moved(old_var, unbiased))


@row("aten._native_batch_norm_legit_no_training.default")
def _(c, x, weight, bias, mean, variance, momentum, eps):
    e = c.e
    x, weight, bias, mean, variance = _wide(e, x, weight, bias, mean, variance)
    rstd = e.rsqrt(e.add(variance, e.constant(eps, x.dtype)))
    empty = e.full(e.constant(0, x.dtype), [0])
    return _as_results(c, _normalized(c, x, weight, bias, mean, rstd), empty, empty)


@row("aten.native_batch_norm_backward.default")
def _(c, g, x, weight, running_mean, running_var, mean, rstd, training, eps, mask):
    e = c.e
    g, x, weight, running_mean, running_var, mean, rstd = _wide(e, g, x, weight, running_mean, running_var, mean, rstd)
    axes = [a for a in range(x.rank) if a != 1]
    count = _count(x, axes)
    if not isinstance(count, int) or count == 0:
        raise Unsupported("an unknown number of elements, or none")
    if not training:
        mean, rstd = running_mean, e.rsqrt(e.add(running_var, e.constant(eps, x.dtype)))
    spread = lambda y: e.broadcast(y, x.shape, [1])  # noqa: E731
    normal = e.mul(e.sub(x, spread(mean)), spread(rstd))
    total, along = e.reduce("sum", g, axes), e.reduce("sum", e.mul(g, normal), axes)
    dx = dw = db = None
    if mask[0]:
        scale = rstd if weight is None else e.mul(rstd, weight)
        if training:
            part = e.constant(1 / count, x.dtype)
            inner = e.sub(g, spread(e.mul(total, part)))
            inner = e.sub(inner, e.mul(normal, spread(e.mul(along, part))))
        else:
            inner = g
        dx = e.mul(inner, spread(scale))
    if mask[1]:
        dw = along
    if mask[2]:
        db = total
    return _as_results(c, dx, dw, db)


# The loss of a class: the target's element of each row, where the target is not ignored.


def _targets(c, x, target, weight, ignored):
    """The axis of classes, the targets with 0 in place of what is ignored, and the weight of each."""
    e = c.e
    axis = 0 if x.rank == 1 else 1
    if target.rank != x.rank - 1:
        raise Unsupported("targets of another rank")
    kept = e.compare(target, e.constant(ignored, target.dtype), "ne")
    safe = e.where(kept, target, e.constant(0, target.dtype))
    unit = e.constant(1, x.dtype) if weight is None else e.take(weight, safe, 0)
    weights = e.where(kept, unit, e.constant(0, x.dtype))
    return axis, safe, weights, kept


@row("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def _(c, x, target, weight, reduction, ignored):
    e = c.e
    x, weight = _wide(e, x, weight)
    axis, safe, weights, kept = _targets(c, x, target, weight, ignored)
    picked = e.squeeze(e.take_along(x, e.unsqueeze(safe, axis), axis), [axis])
    # What is ignored gives 0, whatever stands there.
    loss = e.where(kept, e.neg(e.mul(picked, weights)), e.constant(0, x.dtype))
    axes = list(range(target.rank))
    if reduction == 0:
        if not target.rank:
            raise Unsupported("one target without a reduction")
        return _as_results(c, loss, e.constant(0, x.dtype))
    total, whole = e.reduce("sum", loss, axes), e.reduce("sum", weights, axes)
    return _as_results(c, e.div(total, whole) if reduction == 1 else total, whole)


@row("aten.nll_loss_backward.default", "aten.nll_loss2d_backward.default")
def _(c, g, x, target, weight, reduction, ignored, total):
    e = c.e
    g, x, weight, total = _wide(e, g, x, weight, total)
    axis, safe, weights, kept = _targets(c, x, target, weight, ignored)
    if reduction == 1:
        g = e.div(g, total)
    part = e.neg(e.mul(weights, g if not g.rank else e.broadcast(g, target.shape)))
    part = e.where(kept, part, e.constant(0, x.dtype))
    dims = [a for a in range(x.rank) if a != axis]
    classes = e.iota(axis, x.shape, "i64")
    hit = e.compare(classes, e.broadcast(e.cast(safe, "i64"), x.shape, dims), "eq")
    return _as_results(c, e.where(hit, e.broadcast(part, x.shape, dims), e.constant(0, x.dtype)))

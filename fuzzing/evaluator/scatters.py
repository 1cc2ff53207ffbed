"""Scatters: parts or elements are put into a tensor at indices along an axis; definitions from docs/dialects/fusion.md.

Every update meets every place of its line, in an array with one axis more: the element of `dest` comes first along it, then the updates.
"""

import numpy as np

import reductions
from values import Axis, Value, computes

REDUCTIONS = {"add": "sum", "mul": "prod", "max": "max", "min": "min"}
SCATTERS = {"index_put": True, "scatter": False}


def neutral(combine, dtype):
    kind = computes(dtype)
    if kind == np.bool_:
        return kind.type(combine == "min")
    if combine in ("max", "min"):
        if kind.kind == "f":
            return kind.type(-np.inf if combine == "max" else np.inf)
        return kind.type(np.iinfo(kind).min if combine == "max" else np.iinfo(kind).max)
    return kind.type(combine == "mul")


def apply(name, dest, indices, updates, dim, combine):
    """`dest` with the updates in it."""
    whole = SCATTERS[name]
    walked = dim + 1
    own = indices.lo.astype(np.int64)
    if whole:
        own = own.reshape([-1 if d == dim else 1 for d in range(dest.lo.ndim)])
    place = np.arange(dest.lo.shape[dim]).reshape([-1 if d == dim else 1 for d in range(dest.lo.ndim + 1)])
    shape = list(dest.lo.shape)
    shape.insert(walked, updates.lo.shape[dim])
    hits = np.broadcast_to(np.expand_dims(own, dim) == place, shape)

    def met(first, others, none):
        others = np.where(hits, np.broadcast_to(np.expand_dims(others, dim), shape), none)
        return np.concatenate([np.expand_dims(first, walked), others], axis=walked)

    nothing = neutral(combine, dest.dtype)
    lo = met(dest.lo, updates.lo, nothing)
    hi = lo if dest.known and updates.known else met(dest.hi, updates.hi, nothing)
    open = None
    if dest.open is not None or updates.open is not None:
        none = np.zeros((), bool)
        opens = [none if v.open is None else v.open for v in (dest, updates)]
        open = met(*(np.broadcast_to(o, v.lo.shape) for o, v in zip(opens, (dest, updates))), False)
    joined = Value(dest.dtype, lo, hi, open)
    if combine == "set":
        first = np.ones_like(np.expand_dims(dest.lo, walked), bool)
        order = np.arange(shape[walked] + 1).reshape([-1 if d == walked else 1 for d in range(len(shape))])
        last = np.where(np.concatenate([first, hits], axis=walked), order, 0).max(axis=walked, keepdims=True)
        found = joined.moved(lambda a: np.squeeze(np.take_along_axis(a, last, axis=walked), walked), None)
    else:
        found = reductions.apply(REDUCTIONS[combine], joined, [walked], False)
    unsure = ~indices.exact() if indices.open is None else ~indices.exact() | indices.open
    if unsure.any():
        line = unsure.any() if whole else unsure.any(axis=dim, keepdims=True)
        line = np.broadcast_to(line, found.lo.shape)
        found = Value(found.dtype, found.lo, found.hi, line if found.open is None else found.open | line)
    parts = (dest, updates) if whole else (dest, updates, indices)
    all_once = lambda d: d != dim and all(part.axes[d].broadcast for part in parts)
    found.axes = [Axis(all_once(d), axis.static) for d, axis in enumerate(dest.axes)]
    return found

"""Sorts along an axis; definitions from docs/dialects/fusion.md.

An element of a sorted line lies between those of the sorted least and the sorted greatest elements; an index is known where no other
element can stand in its place.
"""

import numpy as np

from values import Axis, Value, computes, interval

SORTS = {"sort", "argsort", "topk"}


def order(x, descending):
    """The indices that sort the last axis: NaN is the greatest, what is equal keeps its order."""
    if x.dtype.kind == "f":
        keys = [np.where(np.isnan(x), 0, x), np.isnan(x)]
    else:
        keys = [x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)]
    if descending:
        keys = [~key if key.dtype == np.bool_ or key.dtype.kind in "iu" else -key for key in keys]
    return np.lexsort(keys, axis=-1)


def apply(name, x, clauses):
    """The values, their indices, or both."""
    dim, first = clauses["dim"], clauses.get("first")
    descending = not clauses.get("smallest") if name == "topk" else bool(clauses.get("descending"))
    length = x.lo.shape[dim]
    kept = length if first is None else first
    ends = [np.moveaxis(a, dim, -1) for a in (x.lo, x.hi)]
    at = order(ends[0], descending)
    back = lambda a: np.moveaxis(a[..., :kept], -1, dim)
    axes = [Axis(axis.broadcast and d != dim, axis.static if d != dim or first is None else True) for d, axis in enumerate(x.axes)]
    lost = None if x.open is None else np.broadcast_to(x.open.any(axis=dim, keepdims=True), x.lo.shape)
    lost = None if lost is None else np.moveaxis(lost, dim, -1)
    exact = np.take_along_axis(np.moveaxis(x.exact(), dim, -1), at, -1)
    low = np.take_along_axis(ends[0], at, -1)
    found = []
    if name != "argsort":
        if x.known:
            found.append(Value(x.dtype, back(low), open=None if lost is None else back(lost), axes=axes))
        else:
            high = np.take_along_axis(ends[1], order(ends[1], descending), -1)
            known = np.broadcast_to(exact.all(axis=-1, keepdims=True), low.shape) | (np.isnan(low) & np.isnan(high))
            value = interval(x.dtype, back(low), back(high), None if lost is None else back(lost), back(known), back(low))
            value.axes = axes
            found.append(value)
    if name != "sort":
        unsure = np.zeros(low.shape, bool)
        if not x.known and length:
            # As numbers in ascending order, NaN behind all.
            least, most = (np.take_along_axis(np.where(np.isnan(a), np.inf, a), at, -1) for a in ends)
            if descending:
                least, most = -most, -least
            greatest = np.maximum.accumulate(most, -1)[..., :-1] >= least[..., 1:]
            smallest = np.flip(np.minimum.accumulate(np.flip(least, -1), -1), -1)[..., 1:] <= most[..., :-1]
            all_exact = exact.all(axis=-1, keepdims=True)
            unsure[..., 1:] |= greatest & ~all_exact
            unsure[..., :-1] |= smallest & ~all_exact
        if lost is not None:
            unsure = unsure | lost
        of = clauses["of"]
        found.append(Value(of, back(at).astype(computes(of)), open=back(unsure), axes=axes))
    return found

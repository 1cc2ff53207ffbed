"""Attention; the definition from docs/dialects/fusion.md.

Scores, weights, their sum and the weighted values are intervals, each widened by the errors of its arithmetic. Rows with a score that is no
number, and values that are none, leave elements open; a row that leaves out all keys gives 0.
"""

import numpy as np

from reductions import gamma
from values import UNIT, WIDE, Axis, interval


def ends(x, wide):
    return x.lo.astype(wide), x.hi.astype(wide)


def opened(x):
    return np.zeros(x.lo.shape, bool) if x.open is None else x.open


def sdpa(q, k, v, bias, scale, causal):
    target, wide = q.lo.dtype, WIDE[q.lo.dtype]
    unit, batch = wide(UNIT[target]), q.lo.shape[:-2]
    (queries, terms), (keys, columns) = q.lo.shape[-2:], v.lo.shape[-2:]
    space = batch + (queries, keys)
    # Scores: corners of all products, summed.
    corners = [a[..., :, None, :] * b[..., None, :, :] for a in ends(q, wide) for b in ends(k, wide)]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    tiny = np.finfo(target).smallest_subnormal.astype(wide)
    error = (gamma(terms + 1, target) * np.maximum(abs(low), abs(high))).sum(-1) + terms * tiny
    low, high = low.sum(-1) - error, high.sum(-1) + error
    if scale is None:
        factor, loose = 1 / np.sqrt(wide(max(terms, 1))), 4 * unit
    else:
        factor, loose = wide(target.type(scale)), 0
    low, high = np.minimum(low * factor, high * factor), np.maximum(low * factor, high * factor)
    wider = lambda low, high, by: (low - abs(low) * by - tiny, high + abs(high) * by + tiny)
    low, high = wider(low, high, loose + 2 * unit)
    lost = opened(q).any(-1)[..., :, None] | opened(k).any(-1)[..., None, :] | np.zeros(space, bool)
    left_out = np.zeros(space, bool)
    if bias is not None and bias.dtype == "i1":
        left_out |= ~bias.lo.astype(bool)
        lost |= opened(bias) | ~bias.exact()
    elif bias is not None:
        own = ends(bias, wide)
        left_out |= (own[0] == -np.inf) & (own[1] == -np.inf) & np.isfinite(low) & np.isfinite(high)
        low, high = wider(low + own[0], high + own[1], 2 * unit)
        lost |= opened(bias)
    if causal:
        behind = np.arange(keys)[None, :] > np.arange(queries)[:, None]
        left_out |= behind
        lost &= ~behind
    # Whatever a key that is left out holds.
    sure = ~lost & left_out
    low, high = (np.where(left_out, -np.inf, end) for end in (low, high))
    finite = np.isfinite(low) & np.isfinite(high)
    lost = (lost | (~finite & ~left_out)).any(-1)
    none = sure.all(-1)
    middle = np.where(finite, (low + high) / 2, -np.inf).max(-1, initial=-np.inf)
    base = np.where(np.isfinite(middle), middle, 0)[..., None]
    greatest = np.where(finite, high, -np.inf).max(-1, initial=-np.inf)[..., None]
    distance = np.where(finite, abs(greatest - low), 0)
    # The exponential itself within four units in the last place.
    by = (4 + keys / 16 + 2 * distance + 10) * unit
    flushed = np.finfo(target).smallest_normal.astype(wide)
    near = np.where(finite, np.exp(low - base) * (1 - by), 0)
    far = np.where(finite, np.exp(high - base) * (1 + by), 0)
    # Relative to the greatest score a weight that is not normal may be 0.
    most = np.exp(np.where(np.isfinite(greatest), greatest, base) - base)
    least, most = np.maximum(near - flushed * most, 0), far + flushed * most
    sums = [least.sum(-1) * (1 - gamma(keys + 1, target)), most.sum(-1) * (1 + gamma(keys + 1, target))]
    # Weighted values: products of the ends.
    values = [end[..., None, :, :] for end in ends(v, wide)]
    odd = ~(np.isfinite(values[0]) & np.isfinite(values[1]))
    values = [np.where(odd, 0, end) for end in values]
    corners = [w[..., None] * x for w in (least, most) for x in values]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    error = (gamma(keys + 2, target) * np.maximum(abs(low), abs(high))).sum(-2) + keys * tiny
    low, high = low.sum(-2) - error, high.sum(-2) + error
    quotients = [a / s[..., None] for a in (low, high) for s in sums]
    low, high = wider(np.minimum.reduce(quotients), np.maximum.reduce(quotients), 2 * unit)
    result = batch + (queries, columns)
    hidden = (opened(v)[..., None, :, :] | odd).any(-2)
    open = np.broadcast_to(lost[..., None] | (hidden & ~none[..., None]), result)
    none = np.broadcast_to(none[..., None], result)
    low, high = (np.where(none, 0, np.where(open, np.nan, end)) for end in (low, high))
    found = interval(q.dtype, low, high, open & ~none, none, np.zeros(result, wide))
    rows = q.axes[:-1] + v.axes[-1:]
    found.axes = [Axis(False, axis.static) for axis in rows]
    return found

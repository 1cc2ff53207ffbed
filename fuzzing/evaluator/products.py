"""Products: sums of products along an axis of both operands; definitions from docs/dialects/fusion.md.

Each product is rounded or held exactly by a fused step, and the sums come in any order: n terms lie within gamma(n) times the sum of the
magnitudes of the exact sum, and half the least number for each product that underflows. A sum is known to the bit where no partial sum of
any order needs more bits than the type has: then no product does either.
"""

import numpy as np

from reductions import gamma, quantum, special_sum
from values import UNIT, WIDE, Axis, either, interval


def joined(pairs):
    """The axes of a result: a b axis where every operand that has it has it so."""
    return [Axis(all(axis.broadcast for axis in own), all(axis.static for axis in own)) for own in pairs]


def matmul(a, b, to, c=None):
    rows = lambda x: (x if x.ndim > 1 else x[None, :])[..., :, None, :]
    columns = lambda x: np.swapaxes(x if x.ndim > 1 else x[:, None], -1, -2)[..., None, :, :]
    batch_a, batch_b = a.axes[:-2], b.axes[:-2]
    batch = joined(zip(batch_a, batch_b)) if batch_a and batch_b else batch_a + batch_b
    gone = [d for d, x in ((-2, a), (-1, b)) if x.lo.ndim == 1]
    shape = lambda found: np.squeeze(found, tuple(gone))
    whole = lambda found: np.expand_dims(found, tuple(gone))
    axes = batch + a.axes[-2:-1] + b.axes[-1:] * (b.lo.ndim > 1)
    axes = axes if c is None else joined(zip(axes, c.axes))
    return contract((a, rows), (b, columns), None if c is None else (c, whole), to, axes, shape)


def linear(x, weight, to, bias=None):
    rows, columns = lambda x: x[..., None, :], lambda w: w
    axes, same = x.axes[:-1] + weight.axes[:1], lambda found: found
    if bias is not None:
        first = len(axes) - len(bias.axes)
        axes = axes[:first] + joined(zip(axes[first:], bias.axes))
    return contract((x, rows), (weight, columns), None if bias is None else (bias, same), to, axes, same)


PRODUCTS = {"matmul": matmul, "linear": linear}


def contract(left, right, added, to, axes, shape):
    """The sums along the last axis of the products of both operands, brought to one shape, and of what is added."""
    (a, of_a), (b, of_b) = left, right
    target, wide = a.lo.dtype, WIDE[a.lo.dtype]
    ends_a, ends_b = [[of(x.lo).astype(wide), of(x.hi).astype(wide)] for x, of in ((a, of_a), (b, of_b))]
    corners = [x * y for x in ends_a for y in ends_b]
    terms = [corners[0], np.minimum.reduce(corners), np.maximum.reduce(corners)]
    exact = of_a(a.exact()) & of_b(b.exact())
    grain = of_a(quantum(a.lo)) * of_b(quantum(b.lo))
    opens = [None if x.open is None else of(x.open) for x, of in ((a, of_a), (b, of_b))]
    open = either(*[None if o is None else np.broadcast_to(o, exact.shape) for o in opens])
    if added is not None:
        bias, of_bias = added
        behind = lambda all, last: np.concatenate([all, np.broadcast_to(last[..., None], all.shape[:-1] + (1,))], -1)
        own = [of_bias(end.astype(wide)) for end in (bias.lo, bias.lo, bias.hi)]
        terms = [behind(all, last) for all, last in zip(terms, own)]
        exact, grain = behind(exact, of_bias(bias.exact())), behind(grain, of_bias(quantum(bias.lo)))
        if open is not None or bias.open is not None:
            none = np.zeros((), bool)
            open = np.broadcast_to(none if open is None else open, exact.shape[:-1] + (exact.shape[-1] - 1,))
            open = behind(open, of_bias(np.broadcast_to(none if bias.open is None else bias.open, bias.lo.shape)))
    first, low, high = terms
    n = first.shape[-1]
    how = {"axis": -1}
    finite = np.isfinite(low) & np.isfinite(high)
    size = np.where(finite, np.maximum(np.abs(low), np.abs(high)), 0).sum(**how)
    tiny = np.finfo(target).smallest_subnormal.astype(wide)
    error = gamma(n, target) * size + (n + 2) * np.finfo(wide).eps * size + n * tiny
    fits = size <= np.where(exact & np.isfinite(first), grain, np.inf).min(**how, initial=np.inf) / UNIT[target]
    special = (~np.isfinite(first) & exact).any(**how) & (exact | finite).all(**how)
    safe = size * (1 + gamma(n + 1, target)) < np.finfo(target).max
    sum = first.sum(**how)
    known = np.where(special, special_sum(first, exact, how), np.where(sum == 0, wide(0), sum))
    low, high = (np.where(safe, end.sum(**how) + by, np.nan) for end, by in ((low, -error), (high, error)))
    open = None if open is None else shape(open.any(**how))
    is_known = safe & (special | (exact.all(**how) & fits))
    found = interval(to, shape(low), shape(high), open, shape(is_known), shape(known))
    found.axes = axes
    return found

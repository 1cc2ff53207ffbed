"""Draws of attention, beside PyTorch's in f64."""

import numpy as np
import torch

from .values import Within, computes, narrow, ulp, unit, widen


def extents(d, number):
    return [int(d.one([0, 1, 2, 3, 5, 8, 9, 17])) for _ in range(number)]


def elements(d, dtype, shape, odd):
    """Small elements; with `odd` a few that are no finite numbers."""
    raw = d.small(dtype, shape)
    if odd:
        some = d.rng.random(shape) < 0.05
        pool = narrow(np.array([np.nan, np.inf, -np.inf]), dtype)
        raw = np.where(some, pool[d.rng.integers(3, size=shape)], raw).astype(raw.dtype)
    return np.asarray(raw).reshape(shape)


def added(d, dtype, space, batch):
    """A bias or a mask, what it adds to the scores in f64, and the keys that it leaves out; nothing at times."""
    kind = d.one(["none", "none", "bias", "mask"])
    shape = space if d.chance(0.5) else space[len(batch):]
    if kind == "none":
        return [], np.zeros(space), np.zeros(space, bool)
    if kind == "mask":
        mask = np.asarray(d.rng.random(shape) < 0.7)
        return [("i1", mask)], np.zeros(space), np.broadcast_to(~mask, space)
    bias = d.small(dtype, shape)
    out = narrow(np.array([-np.inf]), dtype)[0]
    bias = np.where(d.rng.random(shape) < 0.2, out, bias).astype(bias.dtype).reshape(shape)
    return [(dtype, bias)], np.broadcast_to(widen(bias, dtype).astype(np.float64), space), np.zeros(space, bool)


def sdpa(d):
    dtype = d.dtype()
    queries, keys, terms, columns = extents(d, 4)
    batch = tuple(extents(d, int(d.rng.integers(0, 3))))
    q = elements(d, dtype, batch + (queries, terms), d.chance(0.15))
    k = elements(d, dtype, batch + (keys, terms), d.chance(0.15))
    v = elements(d, dtype, batch + (keys, columns), d.chance(0.15))
    inputs, bias, left_out = added(d, dtype, batch + (queries, keys), batch)
    clauses, scale = "", None
    if d.chance(0.5):
        scale = float(d.one([0.5, 0.125, 2.0, -1.0]))
        clauses += f" scale {scale}"
    if d.chance(0.4):
        clauses += " causal"
        left_out = left_out | (np.arange(keys)[None, :] > np.arange(queries)[:, None])
    wide = [widen(x, dtype).astype(np.float64) for x in (q, k, v)]
    factor = scale if scale is not None else max(terms, 1) ** -0.5
    value = by_torch(wide, np.where(left_out, -np.inf, bias), factor)
    inputs = [(dtype, q), (dtype, k), (dtype, v)] + inputs
    return ", ".join(["{}"] * len(inputs)) + clauses, inputs, [within(d, dtype, wide, (bias, left_out), factor, value)]


def by_torch(wide, bias, factor):
    tensors = [torch.from_numpy(np.array(x))[None, None] for x in (*wide, bias)]
    # What broadcasts is whole: batch axes of four operands are the same.
    made = torch.nn.functional.scaled_dot_product_attention(*tensors[:3], attn_mask=tensors[3], scale=factor)
    return made[0, 0].numpy()


def within(d, dtype, wide, added, factor, value):
    """PyTorch's values, and how far ours may be from them: the roundings of the definition, once in our type and once in PyTorch's."""
    q, k, v = wide
    bias, left_out = added
    keys, terms = k.shape[-2:]
    finite = lambda x: np.where(np.isfinite(x), x, 0)
    turned = np.swapaxes(k, -1, -2)
    scores = q @ turned * factor
    hidden = (left_out & ~np.isfinite(scores)).any(-1)
    magnitude = np.abs(finite(q)) @ np.abs(finite(turned)) * abs(factor)
    scores = scores + bias
    none = (left_out | (scores == -np.inf)).all(-1)
    lost = ((np.isnan(scores) | (scores == np.inf)) & ~left_out).any(-1)
    kept = np.where(left_out | ~np.isfinite(scores), -np.inf, scores)
    greatest = finite(kept.max(-1, initial=-np.inf))[..., None]
    distance = np.where(np.isfinite(kept), greatest - kept, 0)
    weights = np.exp(kept - greatest)
    parts = weights / np.where(weights.sum(-1) > 0, weights.sum(-1), 1)[..., None]
    total = 0
    for compute in (computes(dtype), "f64"):
        u = float(unit(compute))
        gamma = lambda n: n * u / (1 - n * u)
        off = (gamma(terms + 6) * magnitude + 2 * u * np.abs(finite(bias))).max(-1, initial=0)[..., None]
        apart = 2 * off + (16 + keys / 16 + 2 * distance) * u
        apart = np.minimum(apart.max(-1, initial=0)[..., None], 1)
        total = total + (2 * np.expm1(apart) + gamma(2 * keys + 4)) * (parts @ np.abs(finite(v)))
        # Weights that are not normal may be 0, and products below the normal ones lose bits.
        total = total + (keys + 2) * ulp(np.zeros(()), compute) + keys * np.finfo("f8" if compute == "f64" else "f4").tiny * np.abs(finite(v)).max(-2, initial=0)[..., None, :]
    # A row without keys is 0 here.
    empty = np.broadcast_to(none[..., None], value.shape)
    d.differs("sdpa-empty", empty & np.isnan(value))
    # Nor is a key that is left out looked at.
    hidden = np.broadcast_to((hidden & ~lost & ~none)[..., None], value.shape)
    d.differs("sdpa-hidden", hidden & np.isnan(value))
    value = np.where(hidden, parts @ finite(v), value)
    value = np.where(empty, 0, np.where(lost[..., None], np.nan, value))
    odd = ~np.isfinite(v).all(-2)[..., None, :] & ~empty
    return Within(dtype, value.astype(np.longdouble), np.where(empty, 0, total), np.broadcast_to(odd, value.shape))


DRAWS = {"sdpa": sdpa}

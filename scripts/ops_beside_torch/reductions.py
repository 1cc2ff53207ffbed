"""Reductions, scans and products beside PyTorch and NumPy."""

import numpy as np
import torch

from .elementwise import by_torch
from .shapes import integers
from .values import TYPES, Exact, Within, computes, is_float, narrow, ulp, unit, widen


def axes(d, rank):
    return [k for k in range(rank) if d.chance(0.5)]


def operand(d, least=1, most=3):
    dtype = d.dtype()
    shape = d.shape(least, most)
    # Sums of numbers of all magnitudes are mostly infinite: half of the draws are of ordinary ones.
    raw = d.small(dtype, shape) if d.chance(0.5) else d.raw(dtype, shape)
    return dtype, np.asarray(raw).reshape(shape)


def clauses(d, raw):
    dims, keep = axes(d, raw.ndim), d.chance(0.3)
    return f"{{}} dims {integers(dims)}" + (" keepdim" if keep else ""), dims, keep


def wide_sum(x, dims, keep):
    return np.sum(x.astype(np.longdouble), axis=tuple(dims), keepdims=keep, dtype=np.longdouble)


def summed(x, dtype, dims, keep, terms):
    """The sum of floats, the bound for any order of additions in `dtype`, and where a partial sum may overflow."""
    total, magnitude = wide_sum(x, dims, keep), wide_sum(np.where(np.isfinite(x), np.abs(x), 0), dims, keep)
    u = unit(dtype)
    bound = terms * u / (1 - terms * u) * magnitude
    return total, bound, ~np.isnan(total) & (magnitude * (1 + 2 * terms * u) >= np.finfo(TYPES[dtype][0]).max)


def count(raw, dims):
    return int(np.prod([raw.shape[k] for k in dims], dtype=np.int64))


def sum_(d):
    dtype, raw = operand(d)
    text, dims, keep = clauses(d, raw)
    if not is_float(dtype):
        result = np.sum(raw.astype(np.int64), axis=tuple(dims), keepdims=keep, dtype=np.int64).astype(raw.dtype)
        return text, [(dtype, raw)], [Exact(dtype, result)]
    if not dims:
        return text, [(dtype, raw)], [Exact(dtype, raw)]
    total, bound, lost = summed(widen(raw, dtype), computes(dtype), dims, keep, count(raw, dims))
    return text, [(dtype, raw)], [Within(dtype, total, bound, lost)]


def mean(d):
    dtype, raw = operand(d)
    text, dims, keep = clauses(d, raw)
    if not dims:
        return text, [(dtype, raw)], [Exact(dtype, raw)]
    n, compute = count(raw, dims), computes(dtype)
    total, bound, lost = summed(widen(raw, dtype), compute, dims, keep, n)
    value = total / n if n else total * np.nan
    return text, [(dtype, raw)], [Within(dtype, value, bound / max(n, 1) + ulp(value, compute), lost)]


def var_mean(d):
    dtype, raw = operand(d)
    text, dims, keep = clauses(d, raw)
    correction = int(d.rng.integers(2))
    text = text.replace(" keepdim", "") + f" correction {correction}" + (" keepdim" if keep else "")
    n, compute, u = count(raw, dims), computes(dtype), unit(computes(dtype))
    x = widen(raw, dtype).astype(np.longdouble)
    total, bound, lost = summed(x, compute, dims, True, n)
    middle = total / n if n else total * np.nan
    off = bound / max(n, 1) + ulp(middle, compute)
    distance = np.abs(x - middle)
    # Each difference is wrong by the mean's error and a rounding, and so is its square.
    error = off + u * (distance + off)
    square_error = 2 * distance * error + error**2 + u * (distance + error) ** 2
    _, more, over = summed((distance + error) ** 2, compute, dims, True, n + 1)
    value = wide_sum(distance**2, dims, True)
    divisor = n - correction
    variance = value / divisor if divisor > 0 else value * np.nan
    wrong = (wide_sum(square_error, dims, True) + more) / max(divisor, 1) + ulp(variance, compute) + ulp(variance * 0, compute)
    lost = lost | over | (np.isfinite(value) & (value > np.finfo(TYPES[compute][0]).max / 4))
    results = [Within(dtype, variance, wrong, lost), Within(dtype, middle, off, lost)]
    for result in results:
        shape = result.value.shape if keep else tuple(m for k, m in enumerate(raw.shape) if k not in dims)
        for field in ("value", "bound", "open"):
            part = np.broadcast_to(getattr(result, field), result.value.shape) if field != "value" else result.value
            setattr(result, field, part if field == "value" else part.reshape(shape))
        result.value = result.value.reshape(shape)
    return text, [(dtype, raw)], results


def prod(d):
    dtype, raw = operand(d)
    text, dims, keep = clauses(d, raw)
    if not is_float(dtype):
        result = np.prod(raw.astype(np.int64), axis=tuple(dims), keepdims=keep, dtype=np.int64).astype(raw.dtype)
        return text, [(dtype, raw)], [Exact(dtype, result)]
    if not dims:
        return text, [(dtype, raw)], [Exact(dtype, raw)]
    x, n, compute = widen(raw, dtype).astype(np.longdouble), count(raw, dims), computes(dtype)
    value = np.prod(x, axis=tuple(dims), keepdims=keep)
    u = unit(compute)
    # An order of multiplications may pass through overflow or underflow where the magnitudes of some factors together do.
    logs = np.where((x != 0) & np.isfinite(x), np.log2(np.abs(np.where(x == 0, 1, x))), 0)
    above = np.sum(np.maximum(logs, 0), axis=tuple(dims), keepdims=keep)
    below = np.sum(np.minimum(logs, 0), axis=tuple(dims), keepdims=keep)
    limit = 2 ** (TYPES[compute][1][0] - 1) - 4
    lost = (above > limit) | (below < -limit)
    return text, [(dtype, raw)], [Within(dtype, value, n * u / (1 - n * u) * np.abs(value), lost)]


def ordered(x):
    """Keys of floats in the order of `maximum`: -0 before +0. No NaN."""
    word = x.view(np.int32 if x.dtype == np.float32 else np.int64)
    return np.where(word < 0, np.iinfo(word.dtype).min - word - 1, word)


def extreme(greatest, ignore):
    function, none = (np.max, -np.inf) if greatest else (np.min, np.inf)

    def draw(d):
        dtype, raw = operand(d)
        text, dims, keep = clauses(d, raw)
        over = dict(axis=tuple(dims), keepdims=keep)
        if not is_float(dtype):
            held = raw.dtype
            empty = (not greatest if held == np.bool_ else (np.iinfo(held).min if greatest else np.iinfo(held).max))
            d.differs("empty-extreme", np.array(count(raw, dims) == 0 and raw.ndim > 0))
            return text, [(dtype, raw)], [Exact(dtype, np.asarray(function(raw, initial=empty, **over), held))]
        if not dims:
            return text, [(dtype, raw)], [Exact(dtype, raw)]
        x = widen(raw, dtype)
        nan = np.isnan(x)
        keys = np.where(nan, np.iinfo(np.int64).min if greatest else np.iinfo(np.int64).max, ordered(x).astype(np.int64))
        limit = ordered(np.array(none, x.dtype)).astype(np.int64)
        best = function(keys, initial=limit, **over).astype(np.int32 if x.dtype == np.float32 else np.int64)
        value = np.where(best < 0, np.iinfo(best.dtype).min - best - 1, best).astype(best.dtype).view(x.dtype)
        if not ignore:
            value = np.where(np.any(nan, **over), np.array(np.nan, x.dtype), value)
            if count(raw, dims):
                peer = (torch.amax if greatest else torch.amin)(torch.from_numpy(x.copy()), dim=dims, keepdim=keep).numpy()
                value = np.where(d.differs("ordered-zeros", (peer == 0) & (np.signbit(peer) != np.signbit(value))), value, peer)
        d.differs("empty-extreme", np.array(count(raw, dims) == 0))
        return text, [(dtype, raw)], [Exact(dtype, narrow(value.astype(x.dtype), dtype))]

    return draw


def arg_extreme(greatest):
    def draw(d):
        dtype, raw = operand(d)
        dim, of, keep = int(d.rng.integers(raw.ndim)), d.one(["i64", "i32"]), d.chance(0.3)
        x = widen(raw, dtype) if is_float(dtype) else raw
        if raw.shape[dim] == 0:
            shape = list(raw.shape)
            shape[dim : dim + 1] = [1] if keep else []
            result = np.full(shape, np.iinfo(TYPES[of][0]).max)
            d.differs("empty-arg", np.ones(shape, bool))
        else:
            result = (np.argmax if greatest else np.argmin)(x, axis=dim, keepdims=keep)
        text = f"{{}} dim {dim} of {of}" + (" keepdim" if keep else "")
        return text, [(dtype, raw)], [Exact(of, np.asarray(result).astype(TYPES[of][0]))]

    return draw


# --- scans --------------------------------------------------------------------------------------------------------------------------


def scan(function):
    def draw(d):
        dtype, raw = operand(d)
        dim = int(d.rng.integers(raw.ndim))
        x = widen(raw, dtype) if is_float(dtype) else raw
        result = function.accumulate(x, axis=dim, dtype=x.dtype) if raw.size else x
        result = narrow(result, dtype) if is_float(dtype) else result
        return f"{{}} dim {dim}", [(dtype, raw)], [Exact(dtype, result)]

    return draw


def scan_extreme(greatest):
    function = np.maximum if greatest else np.minimum

    def draw(d):
        dtype, raw = operand(d)
        dim = int(d.rng.integers(raw.ndim))
        text = f"{{}} dim {dim}"
        if not is_float(dtype) or not raw.size:
            return text, [(dtype, raw)], [Exact(dtype, function.accumulate(raw, axis=dim) if raw.size else raw)]
        x = widen(raw, dtype)
        peer = (torch.cummax if greatest else torch.cummin)(torch.from_numpy(x.copy()), dim).values.numpy()
        nan = np.maximum.accumulate(np.isnan(x), axis=dim)
        best = function.accumulate(np.where(np.isnan(x), 0, ordered(x)), axis=dim).astype(np.int32 if x.dtype == np.float32 else np.int64)
        value = np.where(best < 0, np.iinfo(best.dtype).min - best - 1, best).astype(best.dtype).view(x.dtype)
        zeros = d.differs("ordered-zeros", ~nan & (peer == 0) & (value == 0) & (np.signbit(peer) != np.signbit(value)))
        return text, [(dtype, raw)], [Exact(dtype, narrow(np.where(zeros, value, peer).astype(x.dtype), dtype))]

    return draw


# --- products -----------------------------------------------------------------------------------------------------------------------


def product(dtype, to, a, b, bias=None):
    """A product of matrices and its bound: each product rounded or not, in any order."""
    compute = computes(dtype)
    a, b = (widen(part, dtype).astype(np.longdouble) for part in (a, b))
    # PyTorch has no long double: its f64 holds the exact products of f32 and less.
    multiply = np.matmul if dtype == "f64" else lambda x, y: by_torch(torch.matmul)(x.astype(np.float64), y.astype(np.float64)).astype(np.longdouble)
    finite = [np.where(np.isfinite(part), np.abs(part), 0) for part in (a, b)]
    value, magnitude = multiply(a, b), np.matmul(*finite)
    terms = a.shape[-1] + 1
    if bias is not None:
        bias = widen(bias, dtype).astype(np.longdouble)
        value, magnitude, terms = value + bias, magnitude + np.where(np.isfinite(bias), np.abs(bias), 0), terms + 1
    u = unit(compute)
    bound = terms * u / (1 - terms * u) * magnitude + terms * ulp(np.zeros(()), compute)
    lost = ~np.isnan(value) & (magnitude * (1 + 2 * terms * u) >= np.finfo(TYPES[compute][0]).max)
    return Within(to, np.asarray(value), bound, lost)


def to_clause(d, dtype):
    to = computes(dtype) if d.chance(0.3) else dtype
    return to, f" to {to}" if to != dtype or d.chance(0.2) else ""


def floats(d, dtype, shape):
    return np.asarray(d.small(dtype, shape) if d.chance(0.8) else d.raw(dtype, shape)).reshape(shape)


def extents(d, number):
    return [int(d.one([0, 1, 2, 3, 5, 7, 8, 9, 17])) for _ in range(number)]


def matmul(d):
    dtype = d.dtype()
    m, n, k = extents(d, 3)
    batch = extents(d, int(d.rng.integers(0, 2)))
    left, right = [m, k], [k, n]
    kind = d.one(["matrices", "matrices", "row", "column", "dot", "left", "right"])
    if kind in ("row", "dot"):
        left = [k]
    if kind in ("column", "dot"):
        right = [k]
    if kind in ("left", "matrices"):
        left = batch + left
    if kind in ("right", "matrices"):
        right = batch + right
    a, b = floats(d, dtype, tuple(left)), floats(d, dtype, tuple(right))
    to, clause = to_clause(d, dtype)
    return "{}, {}" + clause, [(dtype, a), (dtype, b)], [product(dtype, to, a, b)]


def linear(d):
    dtype = d.dtype()
    n, k = extents(d, 2)
    x = floats(d, dtype, tuple(extents(d, int(d.rng.integers(0, 3))) + [k]))
    weight = floats(d, dtype, (n, k))
    bias = floats(d, dtype, (n,)) if d.chance(0.5) else None
    to, clause = to_clause(d, dtype)
    inputs = [(dtype, raw) for raw in (x, weight, bias) if raw is not None]
    return ", ".join(["{}"] * len(inputs)) + clause, inputs, [product(dtype, to, x, weight.T, bias)]


DRAWS = {
    "sum": sum_, "prod": prod, "max": extreme(True, False), "min": extreme(False, False), "max_num": extreme(True, True),
    "min_num": extreme(False, True), "mean": mean, "var_mean": var_mean, "argmax": arg_extreme(True), "argmin": arg_extreme(False),
    "cumsum": scan(np.add), "cumprod": scan(np.multiply), "cummax": scan_extreme(True), "cummin": scan_extreme(False),
    "matmul": matmul, "linear": linear,
}

"""Ops that read or write at indices, and sorts, beside PyTorch and NumPy."""

import numpy as np
import torch

from .elementwise import converted
from .reductions import ordered
from .shapes import torch_move
from .values import SMALL, TYPES, Exact, Within, computes, is_float, narrow, unit, widen


def operand(d, least=1, most=3):
    dtype = d.dtype()
    return dtype, np.asarray(d.raw(dtype, d.shape(least, most)))


def indices(d, shape, extent):
    """Indices of an axis, of which some draws have a few out of range."""
    of = d.one(["i64", "i32"])
    low, high = (-3, extent + 3) if d.chance(0.3) or extent == 0 else (0, extent)
    raw = d.rng.integers(low, high, size=shape).astype(TYPES[of][0])
    if d.chance(0.1):
        raw = np.where(d.rng.random(shape) < 0.2, np.iinfo(raw.dtype).max if d.chance(0.5) else np.iinfo(raw.dtype).min, raw).astype(raw.dtype)
    return of, np.asarray(raw)


def clamped(d, index, extent):
    d.differs("index-clamped", (index < 0) | (index >= extent))
    return np.clip(index.astype(np.int64), 0, max(extent - 1, 0))


def zeros(shape, dtype):
    """What an axis without elements gives: zeros, which a scale is not."""
    zero = narrow(np.float64(0), dtype) if is_float(dtype) else np.array(0, TYPES[dtype][0])
    return np.broadcast_to(zero, shape).astype(zero.dtype)


def take(d):
    dtype, raw = operand(d)
    dim = int(d.rng.integers(raw.ndim))
    of, index = indices(d, d.shape(0, 2)[:2], raw.shape[dim])
    if raw.size // max(raw.shape[dim], 1) * index.size > 4000:
        index = index.reshape(-1)[:3].copy()
    if raw.shape[dim] == 0:
        clamped(d, index, 0)
        result = zeros(raw.shape[:dim] + index.shape + raw.shape[dim + 1 :], dtype)
    else:
        safe = clamped(d, index, raw.shape[dim])
        flat = torch_move(raw, lambda t: t.index_select(dim, torch.from_numpy(safe.reshape(-1))))
        result = flat.reshape(raw.shape[:dim] + index.shape + raw.shape[dim + 1 :])
    return f"{{}}, {{}} dim {dim}", [(dtype, raw), (of, index)], [Exact(dtype, np.array(result), payloads=True)]


def starts(d, raw, shape, dims):
    """Starts of a part of `shape` along `dims`, of which some draws lie outside, and where the part lies then."""
    inputs, first = [], [0] * raw.ndim
    for dim in dims:
        of = d.one(["i64", "i32"])
        room = raw.shape[dim] - shape[dim]
        start = np.array(d.rng.integers(-4, room + 5), TYPES[of][0])
        if d.chance(0.1):
            start = np.array(d.one([np.iinfo(start.dtype).min, np.iinfo(start.dtype).max]), start.dtype)
        inputs.append((of, start))
        first[dim] = int(np.clip(int(start), 0, room))
        d.differs("index-clamped", np.array(first[dim] != int(start)))
    return inputs, tuple(slice(at, at + extent) for at, extent in zip(first, shape))


def part(d):
    """A tensor, the shape of a part of it, and the axes along which that may be shorter."""
    dtype, raw = operand(d)
    dims = [dim for dim in range(raw.ndim) if d.chance(0.6)] or [0]
    shape = [int(d.rng.integers(extent + 1)) if dim in dims else extent for dim, extent in enumerate(raw.shape)]
    return dtype, raw, dims, shape


def dynamic_slice(d):
    dtype, raw, dims, shape = part(d)
    inputs, where = starts(d, raw, shape, dims)
    operands = ", ".join(["{}"] * (1 + len(dims)))
    result = torch_move(raw, lambda t: t[where].clone()) if raw.size else raw[where]
    return f"{operands} dims {dims} shape {shape}", [(dtype, raw), *inputs], [Exact(dtype, np.array(result), payloads=True)]


def dynamic_update_slice(d):
    dtype, raw, dims, shape = part(d)
    updates = np.asarray(d.raw(dtype, tuple(shape)))
    inputs, where = starts(d, raw, shape, dims)
    operands = ", ".join(["{}"] * (2 + len(dims)))
    result = raw.copy()
    result[where] = updates
    return f"{operands} dims {dims}", [(dtype, raw), (dtype, updates), *inputs], [Exact(dtype, result, payloads=True)]


def take_along(d):
    dtype, raw = operand(d)
    dim = int(d.rng.integers(raw.ndim))
    shape = list(raw.shape)
    shape[dim] = int(d.one([0, 1, 2, 5, 9]))
    of, index = indices(d, tuple(shape), raw.shape[dim])
    if raw.shape[dim] == 0:
        clamped(d, index, 0)
        result = zeros(shape, dtype)
    else:
        safe = clamped(d, index, raw.shape[dim])
        result = torch_move(raw, lambda t: t.gather(dim, torch.from_numpy(safe)))
    return f"{{}}, {{}} dim {dim}", [(dtype, raw), (of, index)], [Exact(dtype, result, payloads=True)]


def one_hot(d):
    of = d.one(["i64", "i32"])
    shape, extent, to = d.shape(0, 2), int(d.one([0, 1, 2, 5, 10])), d.one(d.every)
    of, index = indices(d, shape, extent)
    dim = int(d.rng.integers(index.ndim + 1))
    d.differs("one-hot-outside", (index < 0) | (index >= extent))
    hot = np.expand_dims(index, dim) == np.arange(extent).reshape([-1 if k == dim else 1 for k in range(index.ndim + 1)])
    result = converted(d, hot.astype(np.int64), "i64", to)
    return f"{{}} dim {dim} shape [{extent}] of {to}", [(of, index)], [Exact(to, np.array(result))]


# --- scatters -----------------------------------------------------------------------------------------------------------------------


def put(d, dtype, dest, dim, index, updates, combine):
    """`dest` with updates put at full indices along an axis, those out of range nowhere."""
    held = dest.dtype
    inside = (index >= 0) & (index < dest.shape[dim])
    d.differs("scatter-outside", ~inside)
    spread = np.indices(updates.shape) if updates.ndim else np.zeros((0,))
    places = [np.where(inside, index, 0) if k == dim else spread[k] for k in range(dest.ndim)]
    kept = tuple(part[inside] for part in places)
    news = updates[inside]
    if combine == "set":
        result = dest.copy()
        for place, value in zip(zip(*kept), news):
            result[place] = value
        return Exact(dtype, result, payloads=True)
    if not is_float(dtype):
        function = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[combine]
        result = dest.copy()
        function.at(result, kept, news)
        return Exact(dtype, result.astype(held))
    x, fresh = widen(dest, dtype), widen(np.array(news), dtype)
    if combine in ("max", "min"):
        function = np.maximum if combine == "max" else np.minimum
        nan, result = np.isnan(x), np.where(np.isnan(x), 0, ordered(x)).astype(np.int64)
        np.logical_or.at(nan, kept, np.isnan(fresh))
        function.at(result, kept, np.where(np.isnan(fresh), 0, ordered(fresh)).astype(np.int64))
        word = result.astype(np.int32 if x.dtype == np.float32 else np.int64)
        value = np.where(word < 0, np.iinfo(word.dtype).min - word - 1, word).astype(word.dtype).view(x.dtype)
        return Exact(dtype, narrow(np.where(nan, np.array(np.nan, x.dtype), value).astype(x.dtype), dtype))
    wide, new = x.astype(np.longdouble), fresh.astype(np.longdouble)
    count = np.ones(x.shape)
    np.add.at(count, kept, 1)
    u = unit(computes(dtype))
    gamma = count * u / (1 - count * u)
    limit = np.finfo(x.dtype).max
    if combine == "add":
        value, magnitude = wide.copy(), np.abs(wide)
        np.add.at(value, kept, new)
        np.add.at(magnitude, kept, np.abs(new))
        return Within(dtype, value, gamma * magnitude, np.isfinite(magnitude) & (magnitude * 1.001 >= limit))
    value, above, below = wide.copy(), np.zeros(x.shape), np.zeros(x.shape)
    np.multiply.at(value, kept, new)
    for part, place in ((wide, slice(None)), (new, kept)):
        logs = np.where((part != 0) & np.isfinite(part), np.log2(np.abs(np.where(part == 0, 1, part))), 0).astype(float)
        np.add.at(above, place, np.maximum(logs, 0))
        np.add.at(below, place, np.minimum(logs, 0))
    most = 2 ** (TYPES[computes(dtype)][1][0] - 1) - 4
    return Within(dtype, value, gamma * np.abs(value), (above > most) | (below < -most))


def combined(d, dtype):
    if dtype in SMALL:
        return "set"
    return d.one(["set", "max", "min"] if dtype == "i1" else ["set", "add", "mul", "max", "min"])


def elements(d, dtype, shape):
    return np.asarray(d.small(dtype, shape) if d.chance(0.5) else d.raw(dtype, shape)).reshape(shape)


def scatter(d):
    dtype = d.dtype()
    dest = elements(d, dtype, d.shape(1))
    dim = int(d.rng.integers(dest.ndim))
    shape = list(dest.shape)
    shape[dim] = int(d.one([0, 1, 2, 7, 9]))
    of, index = indices(d, tuple(shape), dest.shape[dim])
    updates, combine = elements(d, dtype, tuple(shape)), combined(d, dtype)
    result = put(d, dtype, dest, dim, index, updates, combine)
    if combine == "set" and index.size and index.min() >= 0 and index.max() < dest.shape[dim] and len({*index.ravel()}) == index.size:
        peer = torch_move(dest, lambda t: t.scatter(dim, torch.from_numpy(index.astype(np.int64)), torch.from_numpy(updates.view(f"i{updates.dtype.itemsize}"))))
        assert (peer.view(f"i{peer.dtype.itemsize}") == result.raw.view(f"i{peer.dtype.itemsize}")).all()
    return f"{{}}, {{}}, {{}} dim {dim} combine {combine}", [(dtype, dest), (of, index), (dtype, updates)], [result]


def index_put(d):
    dtype = d.dtype()
    dest = elements(d, dtype, d.shape(1))
    dim = int(d.rng.integers(dest.ndim))
    shape = list(dest.shape)
    shape[dim] = int(d.one([0, 1, 2, 7, 9]))
    of, index = indices(d, (shape[dim],), dest.shape[dim])
    updates, combine = elements(d, dtype, tuple(shape)), combined(d, dtype)
    wide = np.broadcast_to(index.reshape([-1 if k == dim else 1 for k in range(dest.ndim)]), shape)
    result = put(d, dtype, dest, dim, wide, updates, combine)
    return f"{{}}, {{}}, {{}} dim {dim} combine {combine}", [(dtype, dest), (of, index), (dtype, updates)], [result]


# --- sorts --------------------------------------------------------------------------------------------------------------------------


def order(raw, dtype, dim, descending):
    """The order of a stable sort, by PyTorch where it has the type."""
    x = widen(raw, dtype) if is_float(dtype) else raw
    if x.dtype in (np.uint16, np.uint32, np.uint64):
        keys = np.iinfo(x.dtype).max - x if descending else x
        return np.argsort(keys, axis=dim, kind="stable")
    return torch.sort(torch.from_numpy(x.copy()), dim=dim, descending=descending, stable=True).indices.numpy()


def sorted_operand(d):
    dtype, raw = operand(d)
    dim, descending = int(d.rng.integers(raw.ndim)), d.chance(0.5)
    first = int(d.rng.integers(raw.shape[dim] + 1)) if d.chance(0.4) else None
    found = np.take(order(raw, dtype, dim, descending), range(raw.shape[dim] if first is None else first), axis=dim)
    clause = (f" first {first}" if first is not None else "") + (" descending" if descending else "")
    return dtype, raw, dim, found, clause


def sort(d):
    dtype, raw, dim, found, clause = sorted_operand(d)
    return f"{{}} dim {dim}{clause}", [(dtype, raw)], [Exact(dtype, np.take_along_axis(raw, found, dim), payloads=True)]


def argsort(d):
    dtype, raw, dim, found, clause = sorted_operand(d)
    of = d.one(["i64", "i32"])
    return f"{{}} dim {dim} of {of}{clause}", [(dtype, raw)], [Exact(of, found.astype(TYPES[of][0]))]


def topk(d):
    dtype, raw = operand(d)
    dim, smallest, of = int(d.rng.integers(raw.ndim)), d.chance(0.5), d.one(["i64", "i32"])
    first = int(d.rng.integers(raw.shape[dim] + 1))
    found = np.take(order(raw, dtype, dim, not smallest), range(first), axis=dim)
    text = f"{{}} dim {dim} first {first} of {of}" + (" smallest" if smallest else "")
    values = np.take_along_axis(raw, found, dim)
    x = widen(raw, dtype) if is_float(dtype) else raw
    if raw.size and first and x.dtype not in (np.bool_, np.uint16, np.uint32, np.uint64):
        peer = torch.topk(torch.from_numpy(x.copy()), first, dim, largest=not smallest)
        same = np.take_along_axis(x, found, dim)
        assert np.array_equal(peer.values.numpy(), same, equal_nan=is_float(dtype))
        d.differs("topk-ties", peer.indices.numpy() != found)
    return text, [(dtype, raw)], [Exact(dtype, values, payloads=True), Exact(of, found.astype(TYPES[of][0]))]


DRAWS = {
    "take": take, "take_along": take_along, "one_hot": one_hot, "scatter": scatter, "index_put": index_put,
    "dynamic_slice": dynamic_slice, "dynamic_update_slice": dynamic_update_slice,
    "sort": sort, "argsort": argsort, "topk": topk,
}

"""Ops that make or move elements, and random numbers, beside PyTorch and NumPy."""

import numpy as np
import torch

from .elementwise import BOUNDS, converted
from .values import SMALL, TYPES, Exact, Within, computes, is_float, narrow, ulp, widen


def integers(numbers):
    return "[" + ", ".join(str(int(n)) for n in numbers) + "]"


def moved(text, dtype, raw, result, stored_once=()):
    return text, [(dtype, raw)], [Exact(dtype, np.array(result), True, tuple(stored_once))]


def operand(d, least=0, most=3):
    dtype = d.dtype()
    return dtype, np.asarray(d.raw(dtype, d.shape(least, most)))


# --- creation -----------------------------------------------------------------------------------------------------------------------


def literal(value, dtype):
    if dtype == "i1":
        return "true" if value else "false"
    if not is_float(dtype):
        return str(int(value))
    word = int(np.asarray(value).view(f"u{np.dtype(TYPES[dtype][0]).itemsize}"))
    return f"0x{word:0{2 * np.dtype(TYPES[dtype][0]).itemsize}X}"


def constant(d):
    dtype, shape = d.one(d.every), d.shape(0, 2)
    raw = np.asarray(d.raw(dtype, shape if d.chance(0.5) else ()))
    if raw.shape == shape and shape != () and raw.size <= 40 and raw.size > 0:
        def nested(part):
            return literal(part, dtype) if part.ndim == 0 else "[" + ", ".join(nested(np.asarray(p)) for p in part) + "]"

        text = f"value dense<{nested(raw)}> : tensor<{'x'.join(map(str, shape))}x{dtype}>"
        return text, [], [Exact(dtype, raw, payloads=True)]
    value = np.asarray(d.raw(dtype, ()))
    of = "".join(f"{n}x" for n in shape)
    return f"value {literal(value, dtype)} : tensor<{of}{dtype}>", [], [Exact(dtype, np.full(shape, value), payloads=True)]


def full(d):
    dtype, shape = d.dtype(), d.shape()
    raw = np.asarray(d.raw(dtype, ()))
    return moved(f"{{}} shape {integers(shape)}", dtype, raw, np.full(shape, raw))


def iota(d):
    shape, dtype = d.shape(1), d.one([t for t in d.every if t != "i1" and t not in SMALL])
    dim = int(d.rng.integers(len(shape)))
    index = np.arange(shape[dim], dtype=np.int64).reshape([-1 if k == dim else 1 for k in range(len(shape))])
    result = converted(d, np.broadcast_to(index, shape).copy(), "i64", dtype)
    return f"dim {dim} shape {integers(shape)} of {dtype}", [], [Exact(dtype, np.array(result))]


# --- shapes -------------------------------------------------------------------------------------------------------------------------


def broadcast(d):
    dtype, raw = operand(d, 0, 2)
    rank = raw.ndim + int(d.rng.integers(0, 3))
    dims = sorted(int(k) for k in d.rng.choice(rank, raw.ndim, replace=False)) if raw.ndim else []
    shape = [raw.shape[dims.index(k)] if k in dims else d.one([0, 1, 2, 3, 5]) for k in range(rank)]
    placed = raw.reshape([raw.shape[dims.index(k)] if k in dims else 1 for k in range(rank)])
    return moved(f"{{}} dims {integers(dims)} shape {integers(shape)}", dtype, raw, np.broadcast_to(placed, shape), set(range(rank)) - set(dims))


def expand(d):
    dtype = d.dtype()
    shape = [1 if d.chance(0.5) else n for n in d.shape(1)]
    raw = d.raw(dtype, tuple(shape))
    wide = [d.one([0, 1, 2, 5, 7]) if n == 1 and d.chance(0.7) else n for n in shape]
    return moved(f"{{}} shape {integers(wide)}", dtype, raw, torch_move(raw, lambda t: t.expand(wide)), [k for k, n in enumerate(shape) if n != wide[k]])


def torch_move(raw, move):
    """Elements moved by PyTorch, as integers of their width, so that bits are kept."""
    words = torch.from_numpy(np.array(raw).view(f"i{raw.dtype.itemsize}"))
    return move(words).contiguous().numpy().view(raw.dtype)


def squeeze(d):
    dtype = d.dtype()
    shape = [1 if d.chance(0.5) else n for n in d.shape(1)]
    raw = d.raw(dtype, tuple(shape))
    dims = [k for k, n in enumerate(shape) if n == 1 and d.chance(0.7)]
    return moved(f"{{}} dims {integers(dims)}", dtype, raw, torch_move(raw, lambda t: t.squeeze(dims)) if dims else raw)


def permute(d):
    dtype, raw = operand(d, 1, 4)
    dims = [int(k) for k in d.rng.permutation(raw.ndim)]
    return moved(f"{{}} dims {integers(dims)}", dtype, raw, torch_move(raw, lambda t: t.permute(dims)))


def reshape(d):
    dtype, raw = operand(d, 0, 4)
    left, shape = raw.size, []
    while left > 1 and len(shape) < 3:
        factors = [n for n in range(1, left + 1) if left % n == 0]
        shape.append(d.one(factors))
        left //= shape[-1]
    shape = [0, *shape[:1]] if raw.size == 0 else [*shape, left] if left > 1 or d.chance(0.3) else shape
    return moved(f"{{}} shape {integers(shape)}", dtype, raw, torch_move(raw, lambda t: t.reshape(shape)))


def identity(clause=""):
    def draw(d):
        dtype, raw = operand(d)
        return moved("{}" + (clause if d.chance(0.5) else ""), dtype, raw, raw)

    return draw


def slice_(d):
    dtype, raw = operand(d, 1)
    starts, shape, strides = [], [], []
    for n in raw.shape:
        start, stride = int(d.rng.integers(n + 1)), int(d.one([1, 1, 2, 3]))
        most = (n - start + stride - 1) // stride
        starts.append(start), strides.append(stride), shape.append(int(d.rng.integers(most + 1)))
    text = f"{{}} starts {integers(starts)} shape {integers(shape)}" + (f" strides {integers(strides)}" if max(strides) > 1 else "")
    part = tuple(slice(s, s + n * t, t) for s, n, t in zip(starts, shape, strides))
    return moved(text, dtype, raw, torch_move(raw, lambda t: t[part]))


def flip(d):
    dtype, raw = operand(d, 1)
    dims = [k for k in range(raw.ndim) if d.chance(0.6)]
    return moved(f"{{}} dims {integers(dims)}", dtype, raw, torch_move(raw, lambda t: t.flip(dims)))


def pad(d):
    dtype, raw = operand(d, 1, 2)
    value = np.asarray(d.raw(dtype, ()))
    low, high = ([int(d.one([0, 0, 1, 2, 5])) for _ in raw.shape] for _ in range(2))
    result = np.pad(raw, list(zip(low, high)), constant_values=value)
    return f"{{}}, {{}} low {integers(low)} high {integers(high)}", [(dtype, raw), (dtype, value)], [Exact(dtype, result, payloads=True)]


def cat(d):
    dtype, first = operand(d, 1)
    dim = int(d.rng.integers(first.ndim))
    raws = [first]
    for _ in range(int(d.rng.integers(0, 4))):
        shape = list(first.shape)
        shape[dim] = int(d.one([0, 1, 2, 5]))
        raws.append(d.raw(dtype, tuple(shape)))
    text = ", ".join(["{}"] * len(raws)) + f" dim {dim}"
    return text, [(dtype, raw) for raw in raws], [Exact(dtype, np.concatenate(raws, dim), payloads=True)]


def roll(d):
    dtype, raw = operand(d, 1)
    dim, shift = int(d.rng.integers(raw.ndim)), int(d.rng.integers(-70, 70))
    return moved(f"{{}} dim {dim} shift {shift}", dtype, raw, torch_move(raw, lambda t: t.roll(shift, dim)))


# --- random numbers -----------------------------------------------------------------------------------------------------------------


def blocks(index, seed, offset):
    """Philox 4x32-10 as Random123 defines it, in integers of 64 bits: the four words of each block."""
    low = np.uint64(0xFFFFFFFF)
    index, seed, offset = (np.asarray(part).astype(np.int64).view(np.uint64) for part in (index, seed, offset))
    x, y, z, w = index & low, index >> np.uint64(32), offset & low, offset >> np.uint64(32)
    key = [seed & low, seed >> np.uint64(32)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x, y, z, w = (second >> np.uint64(32)) ^ y ^ key[0], second & low, (first >> np.uint64(32)) ^ w ^ key[1], first & low
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return np.broadcast_arrays(x, y, z, w)


def philox(d):
    shape = d.shape()
    raws = [np.asarray(d.raw("i64", shape if d.chance(0.7) or at == 0 else ())) for at in range(3)]
    word = int(d.rng.integers(4))
    result = blocks(*raws)[word].astype(np.uint32).view(np.int32)
    return "{}, {}, {} word " + "xyzw"[word], [("i64", raw) for raw in raws], [Exact("i32", np.array(result))]


def even(words, dtype, odd=False):
    """Multiples of a power of two from words of a block, one of 32 bits or two: evenly distributed from 0 to 1."""
    if dtype == "f64":
        number, count = (words[0] >> np.uint64(5) << np.uint64(26)) | words[1] >> np.uint64(6), 53
    else:
        count = TYPES[dtype][1][1] + 1
        number = words[0] >> np.uint64(32 - count)
    number = number | np.uint64(1) if odd else number
    return number.astype(np.longdouble) * np.longdouble(2.0) ** -count


def key(d, shape):
    seed, offset = (np.asarray(d.raw("i64", ())) for _ in range(2))
    return seed, offset, blocks(np.arange(np.prod(shape, dtype=np.int64)).reshape(shape), seed, offset)


def uniform(d):
    shape, dtype = d.shape(), d.one(["f64", "f32", "f16", "bf16"])
    seed, offset, words = key(d, shape)
    result = narrow(even(words[:2], dtype), dtype)
    return f"{{}}, {{}} shape {integers(shape)} of {dtype}", [("i64", seed), ("i64", offset)], [Exact(dtype, np.array(result))]


def normal(d):
    shape, dtype = d.shape(), d.one(["f64", "f32", "f16", "bf16"])
    seed, offset, words = key(d, shape)
    compute = computes(dtype)
    # The ops of the definition in turn, each with its error: log, times -2, square root; cosine of the rounded angle.
    u, v = even(words[:2], compute, odd=True), even(words[2:] if dtype == "f64" else words[1:2], compute)
    log = np.log(u)
    radius = np.sqrt(-2 * log)
    wrong = BOUNDS["log"][compute] * ulp(log, compute)
    radius_wrong = wrong / np.maximum(radius, np.sqrt(2 * wrong)) + ulp(radius, compute)
    turn = np.asarray(2 * np.pi, TYPES[compute][0]).astype(np.longdouble) if compute == "f64" else np.longdouble(np.float32(2 * np.pi))
    angle = turn * v
    cosine = np.cos(angle)
    cosine_wrong = ulp(angle, compute) + BOUNDS["cos"][compute] * ulp(cosine, compute)
    value = radius * cosine
    bound = radius_wrong * (np.abs(cosine) + cosine_wrong) + radius * cosine_wrong + ulp(value, compute)
    return f"{{}}, {{}} shape {integers(shape)} of {dtype}", [("i64", seed), ("i64", offset)], [Within(dtype, value, bound)]


def bernoulli(d):
    shape, dtype = d.shape(), d.dtype(0)
    p = np.asarray(d.one([d.raw(dtype, ()), narrow(d.rng.random(()), dtype)]))
    seed, offset, words = key(d, shape)
    result = even(words[:2], computes(dtype)) < widen(p, dtype)
    return f"{{}}, {{}}, {{}} shape {integers(shape)}", [(dtype, p), ("i64", seed), ("i64", offset)], [Exact("i1", np.array(result))]


def size(d):
    shape = d.shape()
    return f"shape {integers(shape)}", [], [Scalar("index", np.asarray(np.prod(shape, dtype=np.int64)))]


class Scalar(Exact):
    """A scalar result."""

    type = "index"


DRAWS = {
    "constant": constant, "full": full, "iota": iota, "size": size, "broadcast": broadcast, "expand": expand, "squeeze": squeeze,
    "permute": permute, "reshape": reshape, "copy": identity(" dense"), "segment_set": identity(), "slice": slice_, "flip": flip, "pad": pad,
    "cat": cat, "roll": roll, "philox": philox, "uniform": uniform, "normal": normal, "bernoulli": bernoulli,
}
assert [int(word) for word in blocks(0, 0, 0)] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], "the known answer of Random123"

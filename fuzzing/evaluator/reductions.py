"""Reductions: sums and products in any order, extremes, variance and mean; definitions from docs/dialects/fusion.md.

A sum of n terms in any order lies within gamma(n - 1) times the sum of the magnitudes of the exact one (gamma(k) = k u / (1 - k u),
Higham, Accuracy and Stability of Numerical Algorithms, 4.2). It is known to the bit where no partial sum of any order needs more bits
than the type has: all terms are multiples of one power of two, and their magnitudes sum to less than 2^24 (2^53) of it.
"""

import numpy as np

from values import UNIT, WIDE, Axis, Value, computes, interval


def gamma(k, target):
    unit = UNIT[np.dtype(target)]
    return k * unit / (1 - k * unit)


def count(shape, dims):
    return int(np.prod([shape[d] for d in dims], dtype=np.int64))


def reduced(x, dims, keepdim):
    """How an array is reduced to the shape of the result, and its axes."""
    axes = [Axis(False, True) if d in dims else a for d, a in enumerate(x.axes) if keepdim or d not in dims]
    return {"axis": tuple(dims), "keepdims": bool(keepdim)}, axes


def apply(name, x, dims, keepdim):
    """One value for all elements along `dims`."""
    if not dims:
        return x.moved(lambda a: a, x.axes)
    how, axes = reduced(x, dims, keepdim)
    open = None if x.open is None else x.open.any(**how)
    n = count(x.lo.shape, dims)
    if not x.is_float:
        found = Value(x.dtype, integer(name, x.lo, how), open=open)
    elif name == "sum":
        found = total(x, how, n, open)
    elif name == "prod":
        found = product(x, how, n, open)
    else:
        found = extreme(name, x, how, n, open)
    found.axes = axes
    return found


def integer(name, x, how):
    if name in ("sum", "prod"):
        reduce = np.add.reduce if name == "sum" else np.multiply.reduce
        return reduce(x.astype(np.int64), **how).astype(x.dtype)
    if x.dtype == np.bool_:
        return np.any(x, **how) if name == "max" else np.all(x, **how)
    limits = np.iinfo(x.dtype)
    if name == "max":
        return np.max(x, initial=limits.min, **how)
    return np.min(x, initial=limits.max, **how)


def extreme(name, x, how, n, open):
    top = name.startswith("max")
    empty = np.asarray(-np.inf if top else np.inf, x.lo.dtype)
    choose = {"max": np.maximum, "min": np.minimum, "max_num": np.fmax, "min_num": np.fmin}[name]

    def native(a):
        found = choose.reduce(a, initial=empty if not name.endswith("num") or n == 0 else np.nan, **how)
        if name.endswith("num"):
            found = np.where(np.isnan(found), empty, found)
        # -0 < +0, and NumPy takes either.
        zeros, negative = a == 0, np.signbit(a)
        plus, minus = (zeros & ~negative).any(**how), (zeros & negative).any(**how)
        sign_is_plus = plus if top else ~minus
        return np.where(found == 0, np.where(sign_is_plus, a.dtype.type(0.0), a.dtype.type(-0.0)), found)

    lo = native(x.lo)
    return Value(x.dtype, lo, lo if x.known else native(x.hi), open)


def quantum(x):
    """The greatest power of two of which an element is a multiple; infinity for 0."""
    mantissa, exponent = np.frexp(np.abs(x.astype(np.float64)))
    bits = (mantissa * 2.0**53).astype(np.int64)
    low = (bits & -bits).astype(np.float64)
    return np.where(x == 0, np.inf, np.ldexp(low, exponent - 53))


def total(x, how, n, open):
    target, wide = x.lo.dtype, WIDE[x.lo.dtype]
    lo, hi = x.lo.astype(wide), x.hi.astype(wide)
    finite = np.isfinite(lo) & np.isfinite(hi)
    magnitude = np.where(finite, np.maximum(np.abs(lo), np.abs(hi)), 0)
    size = magnitude.sum(**how)
    error = gamma(max(n - 1, 0), target) * size + (n + 2) * np.finfo(wide).eps * size
    low, high = lo.sum(**how) - error, hi.sum(**how) + error
    exact = x.exact()
    known = lo.sum(**how)
    known = np.where(known == 0, wide(0), known)
    bits = 1 / UNIT[target]
    fits = size <= bits * np.where(exact & np.isfinite(lo), quantum(lo), np.inf).min(**how, initial=np.inf)
    all_exact = exact.all(**how)
    only_minus = ((x.lo == 0) & np.signbit(x.lo)).all(**how) & (n > 0)
    # Infinities and NaN decide, if the finite terms cannot overflow on their own.
    special = (~np.isfinite(lo) & exact).any(**how) & (exact | finite).all(**how)
    safe = size * (1 + gamma(n + 1, target)) < np.finfo(target).max
    low, high = np.where(safe, low, np.nan), np.where(safe, high, np.nan)
    known = np.where(special, special_sum(lo, exact, how), known)
    return interval(x.dtype, low, high, open, safe & (special | (all_exact & fits & ~only_minus)), known)


def special_sum(lo, exact, how):
    """The sum of what is no finite number."""
    return np.where(np.isfinite(lo) | ~exact, 0, lo).sum(**how)


def product(x, how, n, open):
    target, wide = x.lo.dtype, WIDE[x.lo.dtype]
    lo, hi = x.lo.astype(wide), x.hi.astype(wide)
    most, least = np.maximum(np.abs(lo), np.abs(hi)), np.minimum(np.abs(lo), np.abs(hi))
    growing = np.maximum(most, 1).prod(**how)
    tiny = np.finfo(target).smallest_subnormal.astype(wide)
    middle = (lo + hi) / 2
    at = middle.prod(**how)
    relative = (1 + gamma(n, target)) * (1 + (n + 2) * np.finfo(wide).eps)
    radius = most.prod(**how) * relative - np.abs(middle).prod(**how) + n * tiny * growing * relative
    safe = growing * relative < np.finfo(target).max
    whole = (lo == np.trunc(lo)).all(**how) & (np.maximum(most, 1).prod(**how) <= 1 / UNIT[target])
    exact = x.exact().all(**how) & whole & safe
    # What is no finite number goes through unless a zero meets an infinity on the way, which the order may decide.
    nan = (np.isnan(lo) & x.exact()).any(**how)
    low, high = np.where(safe, at - radius, np.nan), np.where(safe, at + radius, np.nan)
    return interval(x.dtype, low, high, open, exact | nan, np.where(nan, wide(np.nan), at))


def var_mean(x, dims, correction, keepdim):
    """Both results, with the mean unrounded between them."""
    how, axes = reduced(x, dims, keepdim)
    open = None if x.open is None else x.open.any(**how)
    n = count(x.lo.shape, dims)
    target, wide = x.lo.dtype, WIDE[x.lo.dtype]
    lo, hi = x.lo.astype(wide), x.hi.astype(wide)
    unit = UNIT[target]
    spread = {"axis": tuple(dims), "keepdims": True}
    size = np.maximum(np.abs(lo), np.abs(hi)).sum(**spread)
    low, high = lo.sum(**spread), hi.sum(**spread)
    slack = gamma(max(n - 1, 0), target) * size + (n + 2) * np.finfo(wide).eps * size
    with np.errstate(all="ignore"):
        low, high = (low - slack) / np.asarray(n, wide), (high + slack) / np.asarray(n, wide)
    tiny = np.finfo(target).smallest_subnormal.astype(wide)
    low, high = low - unit * np.abs(low) - tiny, high + unit * np.abs(high) + tiny
    far = np.maximum(hi - low, high - lo)
    near = np.maximum(np.maximum(lo - high, low - hi), 0)
    # A subtraction, a square, n - 1 sums, a division: each rounds once.
    roundings = gamma(n + 4, target)
    least, most = (near**2).sum(**spread) * (1 - roundings), (far**2).sum(**spread) * (1 + roundings)
    # The sum of squares may become infinite where the variance would not, and the sum where the mean would not.
    greatest = np.finfo(target).max
    infinite = least > greatest
    safe = size * (1 + gamma(n + 1, target)) < greatest
    sure = safe & (infinite | (most < greatest))
    low, high = np.where(safe, low, np.nan), np.where(safe, high, np.nan)
    least = np.where(sure, np.where(infinite, np.inf, least / np.asarray(n - correction, wide) - n * tiny), np.nan)
    most = np.where(sure, np.where(infinite, np.inf, most / np.asarray(n - correction, wide) + n * tiny), np.nan)
    nan = np.full(low.shape, n <= correction or n == 0)
    no_mean = np.full(low.shape, n == 0)
    shape = lambda a: a if keepdim else np.squeeze(a, tuple(dims))
    special = (~np.isfinite(lo) & x.exact()).any(**spread) & (np.isfinite(lo) | x.exact()).all(**spread)
    decided = special_sum(lo, x.exact(), spread)
    found = []
    for ends, known, value in (((least, most), nan | special, wide(np.nan)), ((low, high), no_mean | special, np.where(special, decided, wide(np.nan)))):
        known = known & np.broadcast_to(safe | ~special | nan, known.shape)
        one = interval(x.dtype, shape(ends[0]), shape(ends[1]), open, shape(known), shape(np.broadcast_to(value, known.shape)))
        one.axes = axes
        found.append(one)
    return found


def mean(x, dims, keepdim):
    """The mean of `var_mean`; nothing is reduced over no axes."""
    return var_mean(x, dims, 0, keepdim)[1] if dims else x.moved(lambda a: a, x.axes)


def arg(name, x, dim, keepdim, of):
    """The index of an extreme. Open where another element, not known to the bit, may be it."""
    axes = [Axis(False, True) if d == dim else a for d, a in enumerate(x.axes) if keepdim or d != dim]
    shape = lambda a: a if keepdim else np.squeeze(a, dim)
    if x.lo.shape[dim] == 0:
        none = np.full([1 if d == dim else n for d, n in enumerate(x.lo.shape)], np.iinfo(computes(of)).max)
        return Value(of, shape(none).astype(computes(of)), axes=axes)
    ends, other = (x.lo, x.hi) if name == "argmax" else (x.hi, x.lo)
    at = (np.argmax if name == "argmax" else np.argmin)(ends, axis=dim, keepdims=True)
    best = np.take_along_axis(ends, at, axis=dim)
    open = None if x.open is None else shape(x.open.any(axis=dim, keepdims=True))
    if not x.known:
        exact = x.exact()
        index = np.arange(x.lo.shape[dim]).reshape([-1 if d == dim else 1 for d in range(x.lo.ndim)])
        reaches = other >= best if name == "argmax" else other <= best
        sure = exact & np.take_along_axis(exact, at, axis=dim)
        unsure = shape(((index != at) & (reaches | np.isnan(other)) & ~sure).any(axis=dim, keepdims=True))
        open = unsure if open is None else open | unsure
    return Value(of, shape(at).astype(computes(of)), open=open, axes=axes)

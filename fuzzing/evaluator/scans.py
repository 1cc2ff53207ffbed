"""Scans: along an axis the elements are put together one after the other, and every step is kept; definitions from docs/dialects/fusion.md.

The order is defined, and each step rounds once in the type that computes. Rounding keeps the order of numbers, so the ends of an
interval go through the same steps as the numbers in it.
"""

import numpy as np

from values import Axis, Value, interval


def ends_of_sum(a, b):
    return a[0] + b[0], a[1] + b[1]


def ends_of_product(a, b):
    products = [x * y for x in a for y in b]
    return np.minimum.reduce(products), np.maximum.reduce(products)


def greatest(a, b):
    """-0 < +0, and NumPy takes either."""
    found = np.maximum(a, b)
    minus = np.signbit(a) & np.signbit(b)
    return np.where(found == 0, np.where(minus, -found.dtype.type(0), found.dtype.type(0)), found)


def ends_of_max(a, b):
    return greatest(a[0], b[0]), greatest(a[1], b[1])


def ends_of_min(a, b):
    return -greatest(-a[0], -b[0]), -greatest(-a[1], -b[1])


# How two intervals are put together, and the function of two integers.
STEPS = {
    "cumsum": (ends_of_sum, np.add),
    "cumprod": (ends_of_product, np.multiply),
    "cummax": (ends_of_max, np.maximum),
    "cummin": (ends_of_min, np.minimum),
}


def apply(name, x, dim):
    """A value of the same shape; the axis `dim` is stored in full."""
    ends, function = STEPS[name]
    axes = [Axis(a.broadcast and d != dim, a.static) for d, a in enumerate(x.axes)]
    open = None if x.open is None else np.logical_or.accumulate(x.open, axis=dim)
    if not x.is_float:
        return Value(x.dtype, function.accumulate(x.lo, axis=dim, dtype=x.lo.dtype), open=open, axes=axes)
    lo, hi, exact = (np.moveaxis(a, dim, 0).copy() for a in (x.lo, x.hi, x.exact()))
    for k in range(1, len(lo)):
        # What is NaN stays NaN, whatever comes.
        nan = exact[k] & np.isnan(lo[k]) | exact[k - 1] & np.isnan(lo[k - 1])
        found = ends((lo[k - 1], hi[k - 1]), (lo[k], hi[k]))
        lo[k], hi[k] = (np.where(nan, np.nan, end) for end in found)
        exact[k] = exact[k] & exact[k - 1] | nan
    lo, hi, exact = (np.moveaxis(a, 0, dim) for a in (lo, hi, exact))
    found = interval(x.dtype, lo, hi, open, exact, lo)
    found.axes = axes
    return found

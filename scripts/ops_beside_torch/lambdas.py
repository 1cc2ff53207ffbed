"""Folds and scans with a lambda beside NumPy, which goes through the elements one by one as they do."""

import numpy as np

from .values import SMALL, Exact, is_float, narrow, widen

# The steps of a lambda, and NumPy's function for each.
STEPS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


def steps(d, keep):
    """One accumulator or two: the second takes the square of each element. `keep` keeps what they are after each."""
    dtype = d.one([dtype for dtype in d.types[0] if dtype not in ("i1", "index", *SMALL)])
    shape = d.shape(1, 3)
    raw = np.asarray(d.small(dtype, shape) if d.chance(0.5) else d.raw(dtype, shape)).reshape(shape)
    dim, name, both = int(d.rng.integers(raw.ndim)), d.one(list(STEPS)), d.chance(0.4)
    begin = [int(n) for n in d.rng.integers(0, 4, size=1 + both)]

    def apply(function, a, b):
        if not is_float(dtype):
            return function(a, b)
        return narrow(function(widen(a, dtype), widen(b, dtype)), dtype)

    elements = np.moveaxis(raw, dim, 0)
    start = [narrow(np.float64(n), dtype) if is_float(dtype) else np.array(n, raw.dtype) for n in begin]
    state = [np.broadcast_to(n, elements.shape[1:]).astype(raw.dtype) for n in start]
    kept = [[] for _ in state]
    for element in elements:
        taken = [element, apply(np.multiply, element, element)][: 1 + both]
        state = [apply(STEPS[name], a, e).astype(raw.dtype) for a, e in zip(state, taken)]
        for list_, a in zip(kept, state):
            list_.append(a)
    if keep:
        results = [np.moveaxis(np.array(k, raw.dtype).reshape(elements.shape), 0, dim) for k in kept]
    else:
        results = state
    numbers = ", ".join(f"{n}.0" if is_float(dtype) else str(n) for n in begin)
    more = ["%s", "%q"][: 1 + both]
    arguments = ", ".join(f"{name}: {dtype}" for name in [*more, "%e"])
    lines = [f"    %s1 = fusion.{name} %s, %e"]
    if both:
        lines += ["    %e2 = fusion.mul %e, %e", f"    %q1 = fusion.{name} %q, %e2"]
    lines.append("    fusion.yield " + ", ".join(f"{a}1" for a in more))
    text = f"{{}} dim {dim} init [{numbers}] {{{{\n  ^bb0({arguments}):\n" + "\n".join(lines) + "\n  }}"
    return text, [(dtype, raw)], [Exact(dtype, np.array(r)) for r in results]


def last(d):
    dtype = d.one([dtype for dtype in d.types[0] if dtype not in ("i1", "index", *SMALL)])
    shape = d.shape(1, 3)
    raw = np.asarray(d.raw(dtype, shape)).reshape(shape)
    dim, other = int(d.rng.integers(raw.ndim)), int(d.rng.integers(4))
    if raw.shape[dim]:
        result = np.take(raw, -1, axis=dim)
    else:
        number = narrow(np.float64(other), dtype) if is_float(dtype) else np.array(other, raw.dtype)
        result = np.broadcast_to(number, np.delete(raw.shape, dim)).astype(raw.dtype)
    number = f"{other}.0" if is_float(dtype) else str(other)
    return f"{{}} dim {dim} otherwise {number}", [(dtype, raw)], [Exact(dtype, np.array(result), payloads=True)]


DRAWS = {"fold": lambda d: steps(d, False), "scan": lambda d: steps(d, True), "last": last}

"""Folds and scans with a lambda: index after index, for all other indices at once; definitions from docs/dialects/fusion.md."""

import numpy as np

from values import Axis, Value, computes, either, literal, narrow


def number(text, dtype):
    """A number of `init`, which has a type of its own: f64 or i64 where none is written. Rounded once to `dtype`."""
    text, _, own = (part.strip() for part in text.partition(":"))
    whole = text in ("true", "false") or (text.startswith("0x") and not own.startswith(("f", "bf"))) or text.lstrip("-").isdigit()
    if whole or computes(dtype).kind not in "f":
        return literal(text, dtype)
    own = own or "f64"
    read = literal(text, own)
    return read if own == dtype else narrow(np.asarray(read), dtype)


def spread(value, shape, axes):
    """The value at all indices: what a lambda makes of constants, or of what is stored once, is repeated."""
    return value.moved(lambda a: np.broadcast_to(a, shape), axes)


def element(value, dim, index):
    axes = [a for d, a in enumerate(value.axes) if d != dim]
    return value.moved(lambda a: np.take(a, index, axis=dim), axes)


def walk(op, operands, axes, results):
    """The accumulators before the first element and after each; `results` evaluates an op of the lambda."""
    dim, body = op.clauses["dim"], op.body
    shape = tuple(n for d, n in enumerate(operands[0].lo.shape) if d != dim)
    kept = [a for d, a in enumerate(axes) if d != dim]
    numbers = op.clauses["init"]
    types = [type.dtype for _, type in body.parameters]
    state = [Value(t, number(text, t)) for text, t in zip(numbers, types)]
    states = [[spread(value, shape, kept) for value in state]]
    for index in range(operands[0].lo.shape[dim]):
        arguments = states[-1] + [element(x, dim, index) for x in operands]
        values = {name: value for (name, _), value in zip(body.parameters, arguments)}
        for inner in body.ops:
            found = results(inner, inner.name.partition(".")[2], [values[name] for name in inner.operands])
            values.update(zip(inner.results, found))
        states.append([spread(values[name], shape, kept) for name in body.returned])
    return states, kept


def fold(op, operands, axes, results):
    return walk(op, operands, axes, results)[0][-1]


def scan(op, operands, axes, results):
    states, kept = walk(op, operands, axes, results)
    dim = op.clauses["dim"]
    axes = kept[:dim] + [Axis(False, axes[dim].static)] + kept[dim:]
    return [stacked(list(steps), dim, axes) for steps in zip(*states)]


def stacked(steps, dim, axes):
    """The steps behind the first, along a new axis."""
    first, later = steps[0], steps[1:]
    if not later:
        return first.moved(lambda a: np.empty(a.shape[:dim] + (0,) + a.shape[dim:], a.dtype), axes)
    lo = np.stack([value.lo for value in later], dim)
    hi = None if all(value.known for value in later) else np.stack([value.hi for value in later], dim)
    masks = [np.zeros(value.lo.shape, bool) if value.open is None else value.open for value in later]
    return Value(first.dtype, lo, hi, either(np.stack(masks, dim)), axes)


def last(clauses, value):
    dim = clauses["dim"]
    if value.lo.shape[dim]:
        return element(value, dim, -1)
    axes = [a for d, a in enumerate(value.axes) if d != dim]
    shape = tuple(n for d, n in enumerate(value.lo.shape) if d != dim)
    return spread(Value(value.dtype, literal(clauses["otherwise"], value.dtype)), shape, axes)


LAMBDAS = {"fold": fold, "scan": scan}

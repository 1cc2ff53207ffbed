"""Evaluates a program: shapes and element types are inferred here, from the definitions of the ops, and must be those that are written.
"""

import collections

import numpy as np

import attention
import complexes
import elementwise
import fir
import functions
import lambdas
import products
import randoms
import reductions
import scans
import scatters
import sorts
from complexes import Complex
from values import COMPLEX, Axis, Value, computes, either, literal

UNARY = set(elementwise.INT_UNARY) | set(elementwise.FLOAT_UNARY) | set(elementwise.ROUNDINGS) | set(functions.FUNCTIONS)
UNARY |= set(functions.WAVES) | {"isnan", "isfinite"}
BINARY = set(elementwise.EXTREMES) | set(elementwise.INT_BINARY) | set(elementwise.FLOAT_BINARY)
ARGS = {"argmax", "argmin"}
# Ops that do with each part of a complex number what they do with a real one, besides those of `MOVES`.
BY_PARTS = {"sum", "mean", "cumsum", *scatters.SCATTERS}
REDUCTIONS = {"sum", "prod", "max", "min", "max_num", "min_num"}


class Wrong(Exception):
    """The text says one thing and the definitions another."""


def lengths(shape):
    return [extent.length for extent in shape]


def plain(shape):
    return [Axis(False, extent.static) for extent in shape]


def marked(shape):
    return [Axis(extent.broadcast, extent.static) for extent in shape]


class Program:
    """The values of a program, by name, and what occurred in it."""

    def __init__(self, text, extents, inputs):
        self.parameters, self.result_types, self.ops, self.returned = fir.Parser(text, extents).parse()
        if len(self.parameters) != len(inputs):
            raise Wrong(f"{len(self.parameters)} parameters and {len(inputs)} inputs")
        self.values, self.seen = {}, collections.Counter()
        for (name, type), value in zip(self.parameters, inputs):
            self.agrees(name, value, type)
            value.axes = marked(type.shape)
            self.values[name] = value

    def run(self):
        """The results."""
        for op in self.ops:
            self.execute(op)
        found = [self.value(name) for name in self.returned]
        if len(found) != len(self.result_types):
            raise Wrong(f"{len(found)} results, the signature has {len(self.result_types)}")
        for name, value, type in zip(self.returned, found, self.result_types):
            self.agrees(name, value, type)
        return found

    def value(self, name):
        return self.values[name[:-2] if name.endswith("#0") and name not in self.values else name]

    def agrees(self, name, value, type):
        """The value has the type that is written; `b1` is `1`."""
        shape = [(length, axis.broadcast and length != 1) for length, axis in zip(value.lo.shape, value.axes)]
        wanted = [have if e.length is None else e.length for e, have in zip(type.shape, value.lo.shape)]
        wanted = [(length, e.broadcast and length != 1) for length, e in zip(wanted, type.shape)]
        if value.dtype != type.dtype or len(shape) != len(type.shape) or shape != wanted:
            raise Wrong(f"{name} is written {type.dtype} {type.shape}, it is {value.dtype} {shape}")

    def execute(self, op):
        dialect, _, name = op.name.partition(".")
        if dialect != "fusion":
            raise Wrong(f"{op.name} is no fusion op")
        operands = [self.value(operand) for operand in op.operands]
        found = self.results(op, name, operands)
        for result, value in zip(op.results, found):
            self.values[result] = value
        for result, value, type in zip(op.results, found, op.types):
            self.agrees(result, value, type)

    def results(self, op, name, operands):
        if name == "complex" or op.clauses.get("to") in COMPLEX or any(isinstance(o, Complex) for o in operands):
            if name == "var_mean":
                found = [self.results(op, name, [part]) for part in operands[0].parts]
                var = elementwise.binary("add", found[0][0], found[1][0], same=False)
                var.axes = found[0][0].axes
                return [var, complexes.Complex(found[0][1], found[1][1], axes=found[0][1].axes)]
            return [self.of_complex(op, name, operands)]
        if name == "var_mean":
            return reductions.var_mean(operands[0], op.clauses["dims"], op.clauses["correction"], op.clauses.get("keepdim"))
        if name == "mean":
            return [reductions.mean(operands[0], op.clauses["dims"], op.clauses.get("keepdim"))]
        if name in ARGS:
            return [reductions.arg(name, operands[0], op.clauses["dim"], op.clauses.get("keepdim"), op.clauses["of"])]
        if name in REDUCTIONS:
            return [reductions.apply(name, operands[0], op.clauses["dims"], op.clauses.get("keepdim"))]
        if name in products.PRODUCTS:
            first, second, *bias = operands
            return [products.PRODUCTS[name](first, second, op.clauses.get("to", first.dtype), *bias)]
        if name == "sdpa":
            q, k, v, *bias = operands
            scale = op.clauses.get("scale")
            scale = None if scale is None else literal(scale, op.types[0].dtype)
            return [attention.sdpa(q, k, v, bias[0] if bias else None, scale, op.clauses.get("causal"))]
        if name in lambdas.LAMBDAS:
            return lambdas.LAMBDAS[name](op, operands, joined(operands), self.results)
        if name in scans.STEPS:
            return [scans.apply(name, operands[0], op.clauses["dim"])]
        if name in sorts.SORTS:
            return sorts.apply(name, operands[0], op.clauses)
        if name in scatters.SCATTERS:
            return [scatters.apply(name, *operands, op.clauses["dim"], op.clauses["combine"])]
        if name in MOVES:
            return [MOVES[name](op.clauses, *operands)]
        if name in SOURCES:
            return [SOURCES[name](op, *operands)]
        found = self.elementwise(op, name, operands)
        found.axes = joined(operands)
        return [found]

    def of_complex(self, op, name, operands):
        clauses = op.clauses
        if name == "prod":
            found = complexes.product(operands[0], clauses["dims"], clauses.get("keepdim"))
            found.axes = reductions.reduced(operands[0], clauses["dims"], clauses.get("keepdim"))[1]
            return found
        if name == "cumprod":
            return complexes.products(operands[0], clauses["dim"])
        if name == "full" or name in MOVES or name in BY_PARTS:
            if clauses.get("combine", "set") not in ("set", "add"):
                raise Wrong(f"fusion.{name} of complex numbers does not {clauses['combine']}")
            return complexes.by_parts(lambda *parts: self.results(op, name, parts)[0], operands)
        found = complexes.elementwise_op(clauses, name, operands)
        found.axes = joined(operands)
        return found

    def elementwise(self, op, name, operands):
        if name in UNARY:
            return elementwise.unary(name, *operands)
        if name in BINARY:
            return elementwise.binary(name, *operands, same=op.operands[0] == op.operands[1])
        if name == "philox":
            return randoms.philox(op.clauses["word"], *operands)
        if name == "compare":
            return elementwise.compare(op.clauses["predicate"], *operands)
        if name == "where":
            return elementwise.where(*operands)
        if name == "clamp":
            return elementwise.clamp(*operands)
        if name == "cast":
            return elementwise.cast(*operands, op.clauses["to"])
        if name == "bitcast":
            return elementwise.bitcast(*operands, op.clauses["to"])
        raise Wrong(f"fusion.{name} is not defined")


def joined(operands):
    """The axes of elementwise operands: plain where any is."""
    shaped = [o for o in operands if o.lo.ndim]
    if not shaped:
        return []
    if any(o.lo.shape != shaped[0].lo.shape for o in shaped):
        raise Wrong(f"shapes {[o.lo.shape for o in shaped]} do not agree")
    return [Axis(all(o.axes[d].broadcast for o in shaped), shaped[0].axes[d].static) for d in range(shaped[0].lo.ndim)]


# --- values from nothing ------------------------------------------------------------------------------------------------------------


def constant(op):
    value, type = op.clauses["value"], op.types[0]
    if not isinstance(value, tuple):
        return Value(type.dtype, np.broadcast_to(literal(value, type.dtype), lengths(type.shape)), axes=marked(type.shape))
    items = [part for part in value[1].replace("[", " ").replace("]", " ").replace(",", " ").split()]
    found = np.asarray([literal(item, type.dtype) for item in items], computes(type.dtype))
    shape = lengths(type.shape)
    if len(items) == 1 and "[" not in value[1]:
        return Value(type.dtype, np.broadcast_to(found[0], shape), axes=marked(type.shape))
    return Value(type.dtype, found.reshape(shape), axes=marked(type.shape))


def full(op, value):
    shape = op.clauses["shape"]
    return value.moved(lambda a: np.broadcast_to(a, lengths(shape)), plain(shape))


def iota(op):
    shape, dim = lengths(op.clauses["shape"]), op.clauses["dim"]
    index = np.arange(shape[dim], dtype=np.int64).reshape([-1 if d == dim else 1 for d in range(len(shape))])
    found = elementwise.cast(Value("i64", index), op.clauses["of"])
    return found.moved(lambda a: np.broadcast_to(a, shape), plain(op.clauses["shape"]))


def size(op):
    product = 1
    for length in lengths(op.clauses["shape"]):
        product *= length
    wrapped = (product + (1 << 63)) % (1 << 64) - (1 << 63)
    return Value("index", np.asarray(wrapped, np.int64))


SOURCES = {
    "constant": constant, "full": full, "iota": iota, "size": size,
    "uniform": randoms.uniform, "normal": randoms.normal, "bernoulli": randoms.bernoulli,
}

# --- values elsewhere ---------------------------------------------------------------------------------------------------------------


def broadcast(clauses, x):
    shape, dims = lengths(clauses["shape"]), clauses["dims"]
    for axis, dim in enumerate(dims):
        if shape[dim] not in (None, x.lo.shape[axis]):
            raise Wrong(f"broadcast of {x.lo.shape} to {shape}")
        shape[dim] = x.lo.shape[axis]
    new = clauses["shape"]
    axes = [x.axes[dims.index(d)] if d in dims else Axis(True, new[d].static) for d in range(len(shape))]
    middle = [shape[d] if d in dims else 1 for d in range(len(shape))]
    return x.moved(lambda a: np.broadcast_to(a.reshape(middle), shape), axes)


def expand(clauses, x):
    new = clauses["shape"]
    shape = [have if extent.length is None else extent.length for extent, have in zip(new, x.lo.shape)]
    if any(have not in (1, want) for want, have in zip(shape, x.lo.shape)):
        raise Wrong(f"expand of {x.lo.shape} to {shape}")
    # `1` grows to `[B]` where B is 1, too; `[B]` stays.
    grows = [axis.static and (not extent.static or want != have) for axis, extent, want, have in zip(x.axes, new, shape, x.lo.shape)]
    axes = [Axis(True, extent.static) if grown else axis for axis, extent, grown in zip(x.axes, new, grows)]
    return x.moved(lambda a: np.broadcast_to(a, shape), axes)


def squeeze(clauses, x):
    dims = tuple(clauses["dims"])
    return x.moved(lambda a: np.squeeze(a, dims), [axis for d, axis in enumerate(x.axes) if d not in dims])


def permute(clauses, x):
    dims = clauses["dims"]
    return x.moved(lambda a: np.transpose(a, dims), [x.axes[d] for d in dims])


def reshape(clauses, x):
    shape = clauses["shape"]
    if int(np.prod(lengths(shape))) != x.lo.size:
        raise Wrong(f"reshape of {x.lo.shape} to {shape}")
    return x.moved(lambda a: a.reshape(lengths(shape)), marked(shape))


def copy(clauses, x):
    return x.moved(lambda a: a, [Axis(False, axis.static) for axis in x.axes] if clauses.get("dense") else x.axes)


def slice_(clauses, x):
    new = clauses["shape"]
    shape = [have if extent.length is None else extent.length for extent, have in zip(new, x.lo.shape)]
    strides = clauses.get("strides") or [1] * len(shape)
    parts = []
    for start, length, stride, have in zip(clauses["starts"], shape, strides, x.lo.shape):
        if length and start + (length - 1) * stride >= have:
            raise Wrong(f"slice {clauses} of {x.lo.shape}")
        parts.append(slice(start, start + max(length - 1, 0) * stride + (length > 0), stride))
    return x.moved(lambda a: a[tuple(parts)], [Axis(axis.broadcast, extent.static) for axis, extent in zip(x.axes, new)])


def flip(clauses, x):
    return x.moved(lambda a: np.flip(a, clauses["dims"]), x.axes)


def roll(clauses, x):
    return x.moved(lambda a: np.roll(a, clauses["shift"], clauses["dim"]), x.axes)


def one_hot(clauses, indices):
    dim, (own,) = clauses["dim"], clauses["shape"]
    place = np.arange(own.length).reshape([-1 if d == dim else 1 for d in range(indices.lo.ndim + 1)])
    here = np.expand_dims(indices.lo.astype(np.int64), dim) == place
    unsure = ~indices.exact() if indices.open is None else ~indices.exact() | indices.open
    open = np.broadcast_to(np.expand_dims(unsure, dim), here.shape)
    axes = indices.axes[:dim] + [Axis(False, own.static)] + indices.axes[dim:]
    return Value(clauses["of"], here.astype(computes(clauses["of"])), open=open, axes=axes)


def pad(clauses, x, value):
    low, high = clauses["low"], clauses["high"]
    amounts = list(zip(low, high))
    axes = [Axis(axis.broadcast and amount == (0, 0), axis.static) for axis, amount in zip(x.axes, amounts)]
    around = lambda a, v: np.pad(a, amounts, constant_values=v) if a.ndim else a
    lo = around(x.lo, value.lo)
    hi = lo if x.known and value.known else around(x.hi, value.hi)
    open = None
    if x.open is not None or value.open is not None:
        none = np.zeros((), bool)
        open = around(np.broadcast_to(none if x.open is None else x.open, x.lo.shape), none if value.open is None else value.open)
    return Value(x.dtype, lo, hi, open, axes)


def joined_but(dim, parts):
    axes = []
    for d in range(parts[0].lo.ndim):
        static = all(part.axes[d].static for part in parts) if d == dim else parts[0].axes[d].static
        axes.append(Axis(d != dim and all(part.axes[d].broadcast for part in parts), static))
    return axes


def cat(clauses, *parts):
    dim = clauses["dim"]
    axes = joined_but(dim, parts)
    if len(parts) == 1:
        axes = parts[0].axes
    join = lambda arrays: np.concatenate(arrays, axis=dim)
    lo = join([part.lo for part in parts])
    hi = lo if all(part.known for part in parts) else join([part.hi for part in parts])
    opens = [part.open for part in parts]
    open = None
    if either(*(o.any() if o is not None else None for o in opens)) is not None:
        open = join([np.zeros(p.lo.shape, bool) if o is None else o for p, o in zip(parts, opens)])
    return Value(parts[0].dtype, lo, hi, open, axes)


def gathered(x, indices, dim, axes, elements, spread):
    length = x.lo.shape[dim]
    held = np.clip(indices.lo.astype(np.int64), 0, max(length - 1, 0))
    some = lambda a: a if length else np.zeros(a.shape[:dim] + (1,) + a.shape[dim + 1:], a.dtype)
    value = x.moved(lambda a: elements(some(a), held), axes)
    unsure = ~indices.exact() if indices.open is None else ~indices.exact() | indices.open
    if unsure.any() and length > 1:
        unsure = np.broadcast_to(spread(unsure), value.lo.shape)
        open = unsure if value.open is None else value.open | unsure
        value = Value(value.dtype, value.lo, value.hi, open, axes)
    return value


def take(clauses, x, indices):
    dim = clauses["dim"]
    behind = (1,) * (x.lo.ndim - dim - 1)
    axes = x.axes[:dim] + indices.axes + x.axes[dim + 1:]
    return gathered(x, indices, dim, axes, lambda a, i: np.take(a, i, axis=dim), lambda u: u.reshape(u.shape + behind))


def take_along(clauses, x, indices):
    dim = clauses["dim"]
    pairs = enumerate(zip(x.axes, indices.axes))
    axes = [own if d == dim else Axis(have.broadcast and own.broadcast, have.static) for d, (have, own) in pairs]
    return gathered(x, indices, dim, axes, lambda a, i: np.take_along_axis(a, i, axis=dim), lambda u: u)


def begins(clauses, whole, part, starts):
    """The first index of a part along each axis, and whether one is open."""
    first, open = [0] * whole.lo.ndim, False
    for dim, start in zip(clauses["dims"], starts, strict=True):
        room = whole.lo.shape[dim] - part[dim]
        first[dim] = min(max(int(start.lo.reshape(())), 0), room)
        unsure = not start.exact().all() or (start.open is not None and start.open.any())
        open |= bool(unsure and room)
    return first, open


def dynamic_slice(clauses, x, *starts):
    new = clauses["shape"]
    shape = [have if extent.length is None else extent.length for extent, have in zip(new, x.lo.shape)]
    first, open = begins(clauses, x, shape, starts)
    parts = tuple(slice(f, f + n) for f, n in zip(first, shape))
    value = x.moved(lambda a: a[parts], [Axis(axis.broadcast, extent.static) for axis, extent in zip(x.axes, new)])
    return Value(value.dtype, value.lo, value.hi, np.ones(value.lo.shape, bool), value.axes) if open else value


def dynamic_update_slice(clauses, x, updates, *starts):
    first, open = begins(clauses, x, updates.lo.shape, starts)
    parts = tuple(slice(f, f + n) for f, n in zip(first, updates.lo.shape))
    pairs = enumerate(zip(x.axes, updates.axes))
    axes = [Axis(a.broadcast and b.broadcast and d not in clauses["dims"], a.static) for d, (a, b) in pairs]

    def put(a, b):
        whole = np.array(a)
        whole[parts] = b
        return whole

    lo = put(x.lo, updates.lo)
    hi = lo if x.known and updates.known else put(x.hi, updates.hi)
    none = lambda v: np.zeros(v.lo.shape, bool) if v.open is None else v.open
    opens = np.ones(lo.shape, bool) if open else put(none(x), none(updates))
    return Value(x.dtype, lo, hi, opens, axes)


MOVES = {
    "last": lambdas.last,
    "broadcast": broadcast, "expand": expand, "squeeze": squeeze, "permute": permute, "reshape": reshape, "copy": copy,
    "segment_set": copy, "slice": slice_, "flip": flip, "pad": pad, "cat": cat,
    "take": take, "take_along": take_along, "dynamic_slice": dynamic_slice, "dynamic_update_slice": dynamic_update_slice,
    "roll": roll, "one_hot": one_hot,
}

"""Text of a program, op by op, with the shapes and element types that lowerings ask for.

An `Emitter` writes lines of the `fusion` dialect for one piece of a graph. Names count upwards, so that equal pieces have equal text and
are compiled once. Extents are integers or sympy expressions of torch's symbols; an expression that is no polynomial is one named extent.
"""

from __future__ import annotations

import math
import re
import zlib

import sympy
import torch

DTYPES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "ui8", torch.bool: "i1",
    torch.complex64: "complex<f32>", torch.complex128: "complex<f64>",
}  # fmt: skip
FLOATS = {"f64", "f32", "f16", "bf16"}
NARROW = {"f16", "bf16"}
#: The types of the parts of complex numbers.
PARTS = {"complex<f32>": "f32", "complex<f64>": "f64"}


class Unsupported(Exception):
    """The reason why a node stays with torch."""


class Value:
    """A value of the program: its name, element type and extents.

    `repeated` says that it may have axes that are stored once; `bare` that it is a scalar, not a tensor of rank 0.
    """

    __slots__ = ("name", "dtype", "shape", "repeated", "bare")

    def __init__(self, name, dtype, shape, repeated=False, bare=False):
        self.name, self.dtype, self.shape, self.repeated, self.bare = name, dtype, tuple(shape), repeated, bare

    @property
    def rank(self):
        return len(self.shape)


def dtype_of(dtype):
    """Fuser's name of a torch element type."""
    try:
        return DTYPES[dtype]
    except KeyError:
        raise Unsupported(f"element type {str(dtype).removeprefix('torch.')}") from None


def extent(size):
    """A size of torch's as an integer, or as an expression of symbols."""
    if isinstance(size, int):
        return size
    if isinstance(size, torch.SymInt):
        known = size.node.maybe_as_int()
        return known if known is not None else simple(size.node.expr)
    if isinstance(size, sympy.Expr):
        return simple(size)
    raise Unsupported(f"an extent of type {type(size).__name__}")


def simple(expression):
    """The sum of products in which equal extents look equal; integers where the expression is one."""
    if isinstance(expression, int):
        return expression
    expression = sympy.expand(expression)
    return int(expression) if expression.is_Integer else expression


def same(a, b):
    """True if two extents are the same for every value of the symbols."""
    return a == b or simple(sympy.sympify(a) - b) == 0


def product(extents):
    result = 1
    for n in extents:
        result = result * n
    return simple(result)


def symbols(size, into):
    """Adds to `into` the named extents of an extent, by the names that the text has."""
    if isinstance(size, int):
        return
    for term in sympy.Add.make_args(size):
        for factor in sympy.Mul.make_args(term):
            base = factor.as_base_exp()[0] if _is_power(factor) else factor
            if not base.is_Integer:
                into[_symbol(base)] = base


def _is_power(factor):
    base, exponent = factor.as_base_exp()
    return base.is_Symbol and exponent.is_Integer and exponent > 0


def _symbol(atom):
    if atom.is_Symbol:
        return re.sub(r"\W", "_", atom.name)
    text = str(atom)
    return f"e{zlib.crc32(text.encode()):08x}"


def polynomial(size):
    """The text of an extent, without brackets."""
    if isinstance(size, int):
        return str(size)
    terms = []
    for term in sympy.Add.make_args(size):
        coefficient, factors = term.as_coeff_mul()
        if not sympy.sympify(coefficient).is_Integer:
            raise Unsupported(f"the extent {size}, which is no polynomial with integers")
        words = []
        for factor in factors:
            base, power = factor.as_base_exp() if _is_power(factor) else (factor, 1)
            words += [_symbol(base)] * int(power)
        coefficient = int(coefficient)
        if abs(coefficient) != 1 or not words:
            words.insert(0, str(abs(coefficient)))
        terms.append(("-" if coefficient < 0 else "+", "*".join(words)))
    terms.sort(key=lambda term: (term[0] == "-", term[1]))
    sign, first = terms[0]
    text = ("-" if sign == "-" else "") + first
    return text + "".join(f" {sign} {word}" for sign, word in terms[1:])


def extent_text(size):
    return str(size) if isinstance(size, int) else f"[{polynomial(size)}]"


def type_text(dtype, shape, order=None):
    axes = "".join(f"{extent_text(n)}x" for n in shape)
    layout = f", [{', '.join(map(str, order))}]" if order is not None and len(shape) > 1 else ""
    return f"tensor<{axes}{dtype}{layout}>"


class Emitter:
    """Lines of one program."""

    def __init__(self):
        self.lines, self.inputs, self._count, self._constants = [], [], 0, {}
        self.place = ""  # the location that the next lines have
        self.places = []

    def input(self, dtype, shape, order=None, name=None):
        name = name or f"i{len(self.inputs)}"
        self.inputs.append(f"%{name}: {type_text(dtype, shape, order)}")
        return Value(name, dtype, shape)

    def raw(self, op, operands, clauses="", result=None):
        """A line with one result; returns its name."""
        return self.many(op, operands, clauses, 1, result)[0]

    def many(self, op, operands, clauses, count, result=None):
        names = [f"v{self._count + i}" for i in range(count)]
        self._count += count
        made = ", ".join(f"%{name}" for name in names)
        taken = ", ".join(f"%{x.name}" for x in operands)
        parts = (f"{made} = fusion.{op}", taken, clauses, f": {result}" if result else "")
        self.lines.append(" ".join(part for part in parts if part))
        self.places.append(self.place)
        return names

    # Scalars.

    def constant(self, value, dtype):
        """A scalar of `dtype`, as torch makes it of a Python number."""
        if dtype in PARTS:
            return self.complex(*(self.constant(part, PARTS[dtype]) for part in (complex(value).real, complex(value).imag)))
        text = _literal(value, dtype)
        key = (text, dtype)
        if key not in self._constants:
            self._constants[key] = self.raw("constant", (), f"value {text} : {dtype}")
        return Value(self._constants[key], dtype, (), bare=True)

    def size(self, n, dtype):
        """An extent as a scalar."""
        if isinstance(n, int):
            return self.constant(n, dtype)
        name = self.raw("size", (), f"shape [{extent_text(n)}]")
        return Value(self.raw("cast", (Value(name, "index", ()),), f"to {dtype}"), dtype, (), bare=True)

    # Elementwise ops.

    def elementwise(self, op, *operands, dtype=None, clauses=""):
        """Operands are scalars or have one shape."""
        shaped = [x for x in operands if x.rank] or [x for x in operands if not x.bare] or list(operands)
        first = shaped[0]
        repeated = all(x.repeated for x in shaped)
        name = self.raw(op, operands, clauses)
        return Value(name, dtype or operands[-1].dtype, first.shape, repeated, first.bare)

    def cast(self, x, dtype):
        if x.dtype == dtype:
            return x
        return self.elementwise("cast", x, dtype=dtype, clauses=f"to {dtype}")

    def compare(self, a, b, predicate):
        return self.elementwise("compare", a, b, dtype="i1", clauses=f"predicate {predicate}")

    def complex(self, real, imaginary):
        return self.elementwise("complex", real, imaginary, dtype=f"complex<{real.dtype}>")

    def part(self, op, z):
        """A real number of a complex one: `real`, `imag` or `abs`."""
        return self.elementwise(op, z, dtype=PARTS[z.dtype])

    def parts(self, z):
        return self.part("real", z), self.part("imag", z)

    def where(self, condition, then, otherwise):
        return self.elementwise("where", condition, then, otherwise, dtype=then.dtype)

    def __getattr__(self, op):
        """`e.add(x, y)`: an elementwise op by its name, whose operands have the result's element type."""
        if op.startswith("_"):
            raise AttributeError(op)
        op = op.rstrip("_")
        return lambda *operands: self.elementwise(op, *operands)

    # Shapes.

    def tensor(self, x):
        """`x` as a tensor: a scalar becomes one of rank 0."""
        if not x.bare:
            return x
        return Value(self.raw("full", (x,), "shape []"), x.dtype, ())

    def broadcast(self, x, shape, dims=None):
        """torch's broadcast of `x` to `shape`: axes meet from the last; `dims` says where the axes of `x` go instead."""
        x = self.tensor(x)
        if dims is None:
            dims = range(len(shape) - x.rank, len(shape))
        dims = list(dims)
        wanted = [shape[d] for d in dims]
        if any(not same(n, w) for n, w in zip(x.shape, wanted)):
            for n, w in zip(x.shape, wanted):
                if not same(n, w) and n != 1:
                    raise Unsupported(f"extents {n} and {w} that may differ")
            x = Value(self.raw("expand", (x,), f"shape {_list(wanted)}"), x.dtype, wanted, True)
        if len(shape) == x.rank and dims == list(range(x.rank)):
            return x
        return Value(self.raw("broadcast", (x,), f"dims {dims} shape {_list(shape)}"), x.dtype, shape, True)

    def plain(self, x):
        """`x` with every element stored."""
        if not x.repeated:
            return x
        return Value(self.raw("copy", (x,), "dense"), x.dtype, x.shape)

    def reshape(self, x, shape):
        x = self.plain(self.tensor(x))
        if len(shape) == x.rank and all(map(same, shape, x.shape)):
            return x
        if not same(product(shape), product(x.shape)):
            raise Unsupported("a view whose number of elements is not provably the same")
        return Value(self.raw("reshape", (x,), f"shape {_list(shape)}"), x.dtype, shape)

    def permute(self, x, dims):
        if list(dims) == list(range(x.rank)):
            return x
        shape = [x.shape[d] for d in dims]
        return Value(self.raw("permute", (x,), f"dims {list(dims)}"), x.dtype, shape, x.repeated)

    def squeeze(self, x, dims):
        dims = sorted(dims)
        if not dims:
            return x
        shape = [n for axis, n in enumerate(x.shape) if axis not in dims]
        return Value(self.raw("squeeze", (x,), f"dims {dims}"), x.dtype, shape, x.repeated)

    def unsqueeze(self, x, *new):
        """Axes of extent 1 at the places `new` of the result."""
        x = self.tensor(x)
        rank = x.rank + len(new)
        old = [axis for axis in range(rank) if axis not in new]
        shape = [1] * rank
        for axis, n in zip(old, x.shape):
            shape[axis] = n
        return Value(self.raw("broadcast", (x,), f"dims {old} shape {_list(shape)}"), x.dtype, shape, True)

    def slice(self, x, starts, shape, strides=None):
        if all(n == 0 for n in starts) and all(map(same, shape, x.shape)) and not strides:
            return x
        clauses = f"starts {_list(starts)} shape {_list(shape)}" + (f" strides {list(strides)}" if strides else "")
        return Value(self.raw("slice", (x,), clauses), x.dtype, shape, x.repeated)

    def pad(self, x, value, low, high):
        shape = [simple(n + a + b) for n, a, b in zip(x.shape, low, high)]
        if all(map(same, shape, x.shape)):
            return x
        clauses = f"low {_list(low)} high {_list(high)}"
        return Value(self.raw("pad", (self.tensor(x), value), clauses), x.dtype, shape, x.repeated)

    def cat(self, operands, dim):
        if len(operands) == 1:
            return operands[0]
        shape = list(operands[0].shape)
        shape[dim] = simple(sum(x.shape[dim] for x in operands))
        name = self.raw("cat", operands, f"dim {dim}")
        return Value(name, operands[0].dtype, shape, all(x.repeated for x in operands))

    def full(self, value, shape):
        return Value(self.raw("full", (value,), f"shape {_list(shape)}"), value.dtype, shape)

    def iota(self, dim, shape, dtype):
        return Value(self.raw("iota", (), f"dim {dim} shape {_list(shape)} of {dtype}"), dtype, shape)

    def random(self, kind, seed, offset, shape, dtype):
        """`uniform` or `normal`: numbers of a seed."""
        name = self.raw(kind, (seed, self.constant(offset, "i64")), f"shape {_list(shape)} of {dtype}")
        return Value(name, dtype, shape)

    # Reductions.

    def reduce(self, op, x, dims, keepdim=False, dtype=None, clauses=""):
        dims = sorted(dims)
        x = self.tensor(x)
        if not dims:
            return x
        name = self.raw(op, (x,), f"dims {dims} {clauses}" + (" keepdim" if keepdim else ""))
        return Value(name, dtype or x.dtype, _reduced(x.shape, dims, keepdim), x.repeated)

    def var_mean(self, x, dims, correction, keepdim):
        clauses = f"dims {sorted(dims)} correction {correction}" + (" keepdim" if keepdim else "")
        names = self.many("var_mean", (x,), clauses, 2)
        shape = _reduced(x.shape, dims, keepdim)
        return [Value(name, dtype, shape, x.repeated) for name, dtype in zip(names, (PARTS.get(x.dtype, x.dtype), x.dtype))]

    def along(self, op, x, dim, dtype=None, shape=None, clauses=""):
        """An op with the clause `dim`."""
        name = self.raw(op, (x,), f"dim {dim} {clauses}".rstrip())
        return Value(name, dtype or x.dtype, x.shape if shape is None else shape, x.repeated)

    # Indices that are data.

    def take(self, x, indices, dim):
        shape = x.shape[:dim] + indices.shape + x.shape[dim + 1 :]
        return Value(self.raw("take", (x, indices), f"dim {dim}"), x.dtype, shape, x.repeated or indices.repeated)

    def take_along(self, x, indices, dim):
        name = self.raw("take_along", (x, indices), f"dim {dim}")
        return Value(name, x.dtype, indices.shape, indices.repeated)

    def put(self, op, dest, indices, updates, dim, combine):
        """`index_put` or `scatter`."""
        name = self.raw(op, (dest, indices, updates), f"dim {dim} combine {combine}")
        return Value(name, dest.dtype, dest.shape, dest.repeated)

    # The program.

    def result(self, x, shape, order):
        """`x` as a result: stored densely in the order of axes `order`. Returns the name and the type."""
        x = self.tensor(x)
        kind = type_text(x.dtype, shape, order)
        if not all(map(same, x.shape, shape)):
            raise Unsupported(f"a lowering that gives {x.shape} in place of {tuple(shape)}")
        if x.repeated or x.rank > 1 or x.name.startswith("i"):
            return self.raw("copy", (x,), "dense", kind), kind
        return x.name, kind

    def text(self, results, aliases=(), places=False):
        """The program; `aliases` has the number of the input that each result overwrites, or `None`."""
        aliases = aliases or [None] * len(results)
        types = ", ".join(kind if alias is None else f"{kind} {{alias = {alias}}}" for (_, kind), alias in zip(results, aliases))
        body = "".join(f"  {line}{place if places else ''}\n" for line, place in zip(self.lines, self.places))
        returned = ", ".join(f"%{name}" for name, _ in results)
        return f"task.program @piece({', '.join(self.inputs)}) -> ({types}) {{\n{body}  task.return {returned}\n}}\n"


def _reduced(shape, dims, keepdim):
    if keepdim:
        return [1 if axis in dims else n for axis, n in enumerate(shape)]
    return [n for axis, n in enumerate(shape) if axis not in dims]


def _list(extents):
    return f"[{', '.join(extent_text(n) for n in extents)}]"


def _literal(value, dtype):
    if dtype == "i1":
        return "true" if value else "false"
    if dtype not in FLOATS:
        value = int(value)
        bits = int(re.search(r"\d+", dtype).group())
        low = 0 if dtype.startswith("u") else -(1 << (bits - 1))
        return str((value - low) % (1 << bits) + low)
    value = float(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    mantissa, e, exponent = repr(value).partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent

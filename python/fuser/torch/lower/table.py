"""Rows, and the context in which one is applied to a node of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import sympy
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
from torch._prims_common import elementwise_dtypes
from torch.fx import map_arg

from ..emit import NARROW, PARTS, Unsupported, Value, dtype_of, extent, same

#: The op computes elements; it stands in one piece.
COMPUTE = "compute"
#: The op renames elements of its operand. Every piece that reads it repeats it, and torch makes a view where torch reads it.
VIEW = "view"
#: The op makes a tensor of no elements of others. Every piece that reads it repeats it.
CONSTANT = "constant"


@dataclass(frozen=True)
class Row:
    kind: str
    lower: Callable[..., Any]


#: By the name of the overload, such as `aten.add.Tensor`.
ROWS: dict[str, Row] = {}


def row(*names, kind=COMPUTE):
    """Enters a function for these ops into the table."""

    def enter(lower):
        for name in names:
            ROWS[name] = Row(kind, lower)
        return lower

    return enter


class Context:
    """A node that is lowered: its emitter, and the tensor or tensors that torch says it gives."""

    def __init__(self, emitter, node):
        self.e, self.node = emitter, node
        val = node.meta["val"]
        self.vals = list(val) if isinstance(val, (tuple, list)) else [val]

    @property
    def val(self):
        return self.vals[0]

    @property
    def dtype(self):
        return dtype_of(self.val.dtype)

    @property
    def shape(self):
        return self.shape_of(self.val)

    @staticmethod
    def shape_of(val):
        return tuple(map(extent, val.shape))

    def promoted(self, count, kind=KIND.DEFAULT, first=0):
        """The element type in which torch computes with the arguments, rounding of narrow floats left out."""
        fakes = map_arg(tuple(self.node.args[first : first + count]), lambda n: n.meta["val"])
        fakes = [x for x in fakes if x is not None]
        return elementwise_dtypes(*fakes, type_promotion_kind=kind)[1]

    def value(self, x, dtype):
        """An argument as a value of an element type: a tensor, a number, or an extent."""
        if isinstance(x, Value):
            return convert(self.e, x, dtype)
        if isinstance(x, sympy.Expr):
            return self.e.size(x, dtype)
        if isinstance(x, (bool, int, float, complex)):
            return self.e.constant(x, dtype)
        raise Unsupported(f"an argument of type {type(x).__name__}")

    def broadcast(self, values, shape):
        """Tensors brought to one shape; scalars stay."""
        return [self.e.broadcast(x, shape) if x.rank or x.rank < len(shape) == 0 else x for x in values]

    def elementwise(self, args, common, compute, rounded=()):
        """`compute` of the arguments in the element type `common`, narrow floats in f32, rounded once to the result's type.

        `rounded` lists the arguments that are rounded to `common` first even if they are numbers.
        """
        name = dtype_of(common)
        wide = "f32" if name in NARROW else name
        narrow = [self.value(x, name) if i in rounded or is_tensor(x) else x for i, x in enumerate(args)]
        values = [self.value(x, wide) for x in narrow]
        result = compute(self.e, *self.broadcast(values, self.shape))
        return convert(self.e, self._shaped(result), self.dtype)

    def _shaped(self, result):
        """Scalars alone may have been computed with, where the result has axes."""
        if result.rank < len(self.shape):
            return self.e.broadcast(result, self.shape)
        return result

    def dims(self, dims, rank):
        """Axes counted from the first; all where none are named."""
        if dims is None or (isinstance(dims, (list, tuple)) and not dims):
            return list(range(rank))
        dims = [dims] if isinstance(dims, int) else dims
        return sorted({d % rank if rank else 0 for d in dims} if rank else set())


def is_tensor(x):
    return isinstance(x, Value) and x.rank > 0


def wide(dtype):
    """The type in which torch accumulates."""
    return "f32" if dtype in NARROW else dtype


def each(numbers, dims):
    """A number for each axis of a window, where one may stand for all."""
    numbers = [numbers] if isinstance(numbers, int) else list(numbers)
    return numbers * dims if len(numbers) == 1 else numbers


def convert(e, x, to):
    """torch's conversion: floats to narrow integers go by way of i64, of which the low bits stay. Complex numbers lose a part."""
    if x.dtype in PARTS and to not in PARTS:
        if to == "i1":
            return e.compare(x, e.constant(0, x.dtype), "ne")
        x = e.part("real", x)
    if x.dtype.startswith(("f", "bf")) and to in ("i8", "i16", "ui8"):
        x = e.cast(x, "i64")
    return e.cast(x, to)


def lowered(emitter, node, read, rows=ROWS):
    """The results of a node, as a list; `read` gives the values of the nodes that it takes."""
    row = rows[str(node.target)]
    context = Context(emitter, node)
    take = (lambda n: n) if row.kind == CONSTANT else read
    args, kwargs = map_arg(tuple(node.args), take), map_arg(dict(node.kwargs), take)
    made = row.lower(context, *args, **kwargs)
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    for x, val in zip(made, context.vals, strict=True):
        if x is None or val is None:
            if (x is None) != (val is None) and rows is ROWS:
                raise Unsupported("a result that torch leaves out")
            continue
        shape = Context.shape_of(val)
        if x.dtype != dtype_of(val.dtype) or len(x.shape) != len(shape) or not all(map(same, x.shape, shape)):
            raise Unsupported(f"a lowering that gives {x.dtype} {x.shape} where torch has {val.dtype} {shape}")
    return made


#: Elementwise ops by the modules that define them; reductions, normalizations and writes at indices are not repeated.
_REPEATED = (".pointwise", ".random", ".shape")


def repeatable(name):
    """True if the backward may compute the op again at the cost of arithmetic alone."""
    return ROWS[name].lower.__module__.endswith(_REPEATED)

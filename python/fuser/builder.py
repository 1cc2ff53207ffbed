"""Programs made op by op: the methods, their documentation and their arguments are the compiler's table of ops."""

from __future__ import annotations

import math
import numbers
import sys
from typing import Any, Iterable, Sequence

from . import _fuser

_TABLE = {row["name"]: row for row in _fuser.op_table()}
_HERE = __file__


class Value:
    """A value of a program that is being built. Only its builder's ops take it."""

    __slots__ = ("builder", "name")

    def __init__(self, builder: Builder, name: str):
        self.builder, self.name = builder, name

    def __repr__(self) -> str:
        return f"%{self.name}"

    def _binary(op: str):  # noqa: N805
        def method(self: Value, other: Value) -> Value:
            if not isinstance(other, Value):
                return NotImplemented
            return getattr(self.builder, op)(self, other)

        method.__doc__ = f"`builder.{op}(self, other)`"
        return method

    __add__, __sub__, __mul__, __truediv__ = map(_binary, ("add", "sub", "mul", "div"))
    __pow__, __matmul__ = map(_binary, ("pow", "matmul"))
    del _binary

    def __neg__(self) -> Value:
        return self.builder.neg(self)


def _tensor(dtype: str, shape: Sequence[int | str]) -> str:
    return "tensor<" + "".join(f"{_extent(n)}x" for n in shape) + dtype + ">"


def _extent(extent: int | str) -> str:
    return str(extent) if isinstance(extent, numbers.Integral) else f"[{extent}]"


def _number(value: Any) -> str:
    if isinstance(value, numbers.Integral):  # bool is one
        return str(value).lower()
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"a clause takes a finite number, not {value}")
    text = repr(value)
    return text if any(c in text for c in ".e") else text + ".0"


def _float_literal(text: str) -> str:
    """A literal as the grammar has it: with a point before the exponent."""
    mantissa, e, exponent = text.partition("e")
    return text if not e or "." in mantissa else f"{mantissa}.0e{exponent}"


def _clause(op: str, name: str, kind: str, value: Any) -> str:
    if kind == "flag":
        return name if value else ""
    if kind in ("integers", "amounts", "extents"):
        if isinstance(value, (str, numbers.Integral)):
            raise TypeError(f"{op}: `{name}` takes a list, not {value!r}")
        items = (_extent(n) if kind == "extents" else str(n) for n in value)
        return f"{name} [{', '.join(items)}]"
    if kind == "strings":
        return f"{name} [{', '.join(_quoted(text) for text in value)}]"
    if kind == "string":
        return f"{name} {_quoted(value)}"
    if kind == "symbol":
        return f"{name} @{str(value).lstrip('@')}"
    if kind.startswith("keyword:"):
        words = kind.removeprefix("keyword:").split("|")
        if value not in words:
            raise ValueError(f"{op}: `{name}` is one of {', '.join(words)}, not {value!r}")
        return f"{name} {value}"
    if kind in ("integer", "number"):
        return f"{name} {_float_literal(_number(value))}"
    return f"{name} {value}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class Builder:
    """Builds a program op by op.

        >>> import fuser
        >>> b = fuser.Builder("center")
        >>> x = b.input("x", "f32", ["B", 1024])
        >>> mean = b.mean(x, dims=[1])
        >>> y = x - b.broadcast(mean, dims=[0], shape=["B", 1024])
        >>> program = b.build(y)
        >>> program.inputs
        [{'name': 'x', 'dtype': 'f32', 'shape': ['B', 1024]}]

    A method is an op of the `fusion` dialect, with its operands in order and its clauses by name; `help(fuser.Builder.broadcast)` shows
    the definition. Extents are numbers or names. Types are inferred by the compiler, which reports mistakes when the program is built, at the
    lines of the caller.
    """

    def __init__(self, name: str = "main"):
        self._name, self._inputs, self._lines, self._count = name, [], [], 0
        self._names: set[str] = set()

    def input(self, name: str, dtype: str, shape: Sequence[int | str] = ()) -> Value:
        """An input of the program: a tensor, or a scalar where `shape` is empty."""
        name = self._fresh(name)
        self._inputs.append(f"%{name}: {_tensor(dtype, shape) if len(shape) else dtype}")
        return Value(self, name)

    def constant(self, value: Any, dtype: str) -> Value:
        """A scalar constant."""
        if isinstance(value, (bool, numbers.Integral)) and not dtype.startswith(("f", "bf", "complex")):
            text = _number(value)
        else:
            text = _float_literal(_number(float(value)))
        return self._emit("constant", [], f"value {text} : {dtype}", 1, None)[0]

    def build(self, *results: Value) -> _fuser.Program:
        """The program with these results, verified."""
        return _fuser.Program.parse(self.text(*results), None, f"@{self._name}")

    def text(self, *results: Value) -> str:
        """The text of the program with these results."""
        names = [self._own(r).name for r in results]
        # A program without results says what type each value has.
        inferred = _fuser.Program.parse(self._module("()", ""), None, f"@{self._name}")
        types = ", ".join(inferred.type_of(name) for name in names)
        return self._module(f"({types})", ", ".join(f"%{name}" for name in names))

    def _module(self, types: str, returned: str) -> str:
        body = "".join(f"  {line}\n" for line in self._lines)
        inputs = ", ".join(self._inputs)
        return f"task.program @{self._name}({inputs}) -> {types} {{\n{body}  task.return {returned}\n}}\n"

    def _own(self, value: Any) -> Value:
        if not isinstance(value, Value):
            raise TypeError(f"{value!r} is no value of a program; constants are made by `constant`")
        if value.builder is not self:
            raise ValueError(f"{value!r} belongs to another builder")
        return value

    def _fresh(self, name: str | None) -> str:
        if name is None:
            name, self._count = f"v{self._count}", self._count + 1
            while name in self._names:
                name, self._count = f"v{self._count}", self._count + 1
        if name in self._names:
            raise ValueError(f"there is a value %{name} already")
        self._names.add(name)
        return name

    def _emit(self, op: str, operands: Iterable[Any], clauses: str, results: int, name: str | None) -> list[Value]:
        taken = ", ".join(f"%{self._own(x).name}" for x in operands)
        names = [self._fresh(name if results == 1 else None) for _ in range(results)]
        given = ", ".join(f"%{n}" for n in names)
        parts = " ".join(part for part in (f"{given} = fusion.{op}", taken, clauses) if part)
        self._lines.append(parts + _location())
        return [Value(self, n) for n in names]


def _location() -> str:
    """The place of the caller outside of this file."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == _HERE:
        frame = frame.f_back
    if frame is None:
        return ""
    return f" loc({_quoted(frame.f_code.co_filename)}:{frame.f_lineno}:1)"


def _method(row: dict):
    op, clauses = row["name"], {name: kind for name, kind, _, _ in row["clauses"]}
    required = [name for name, _, needed, _ in row["clauses"] if needed]
    variadic = any(v for _, v, _ in row["operands"])
    count = len(row["operands"])
    results = len(row["results"])

    def method(self: Builder, *operands: Value, name: str | None = None, **given: Any):
        if not variadic and len(operands) != count:
            raise TypeError(f"{op} takes {count} operands, {len(operands)} were given")
        unknown = [key for key in given if key not in clauses]
        if unknown:
            has = ", ".join(clauses) or "none"
            raise TypeError(f"{op} has no clause `{unknown[0]}` (it has {has})")
        missing = [key for key in required if key not in given]
        if missing:
            raise TypeError(f"{op} needs the clause `{missing[0]}`")
        words = [_clause(op, key, clauses[key], value) for key, value in given.items() if value is not None]
        made = self._emit(op, operands, " ".join(w for w in words if w), results, name)
        return made[0] if results == 1 else tuple(made)

    method.__name__ = op
    method.__qualname__ = f"Builder.{op}"
    method.__doc__ = _documentation(row)
    return method


def _documentation(row: dict) -> str:
    lines = [row["summary"][:1].upper() + row["summary"][1:] + ".", "", row["doc"], ""]
    lines += [f"    {name}: {doc}" for name, _, doc in row["operands"]]
    lines += [f"    {name} ({kind}{'' if needed else ', optional'}): {doc}" for name, kind, needed, doc in row["clauses"]]
    return "\n".join(lines + ["", f"    {row['example']}"])


for _row in _TABLE.values():
    # Ops with regions are written as text; a constant has a method of its own.
    if not _row["regions"] and not hasattr(Builder, _row["name"]):
        _key = _row["name"] + "_" * (_row["name"] in {"and", "or", "not"})
        setattr(Builder, _key, _method(_row))
del _row, _key

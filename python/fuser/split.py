"""A program in parts: each segment as a program of its own, and running them in order as the whole.

`Split` says which value of which part is which of the whole, and which values nobody needs once a part has run. `SplitCompiled` holds
the arrays by their numbers in the whole, hands each part its arguments and drops what is no longer needed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Iterator, Sequence

from ._fuser import Compiled, Program


@dataclass(frozen=True)
class Value:
    """A value of the whole program."""

    index: int
    name: str
    type: str
    original: bool
    """True if the program has it; false for one that passes made."""


@dataclass(frozen=True)
class Part:
    """A segment as a program. Numbers are those of values of the whole."""

    name: str
    kind: str
    program: Program
    arguments: tuple[int, ...]
    """The value that each input is, in order."""
    results: tuple[int, ...]
    """The value that each result is, in order."""
    frees: tuple[int, ...]
    """The values that nobody needs once the part has run."""
    values: dict[str, int | None]
    """The number of each value of the part in the whole, by its name; `None` for what passes made and nobody else reads."""
    extents: tuple[str, ...]
    """The named extents that no argument of the part has."""


class Split(Sequence[Part]):
    """A program in parts, in run order."""

    def __init__(self, program: Program, map: dict[str, Any], programs: list[Program], options: dict[str, Any]):
        self.program = program
        self.map = map
        """All of the map: docs/segmentation.md has its fields."""
        self.values = tuple(Value(row["index"], row["name"], row["type"], row["original"]) for row in map["values"])
        self.inputs: tuple[int, ...] = tuple(map["inputs"])
        self.outputs: tuple[int, ...] = tuple(map["outputs"])
        self.extents: dict[int, str] = {row["index"]: row["name"] for row in map["extents"]}
        self.options = options
        self._parts = tuple(self._part(row, part) for row, part in zip(map["segments"], programs))

    def _part(self, row: dict[str, Any], program: Program) -> Part:
        of = [value["original"] for value in row["values"]]
        return Part(
            name=row["name"], kind=row["kind"], program=program, arguments=tuple(of[v] for v in row["inputs"]),
            results=tuple(of[v] for v in row["outputs"]), frees=tuple(row["frees"]),
            values={value["name"]: value["original"] for value in row["values"]},
            extents=tuple(self.extents[number] for number in row["extents"]),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, key):
        return self._parts[key]

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    def __repr__(self) -> str:
        return f"<fuser.Split of @{self.program.name}: {', '.join(part.name for part in self) or 'no segments'}>"

    def compile(self, *, threads: int | None = None) -> SplitCompiled:
        """All parts as one callable, which takes and gives what the whole program does."""
        return SplitCompiled(self, threads)


class SplitCompiled:
    """The parts of a program, compiled; called as the whole is. `run` tells of each step."""

    def __init__(self, split: Split, threads: int | None = None):
        self.split = split
        self._threads = threads
        self._parts: dict[tuple, Compiled] = {}
        # Shapes, element types and names of arguments are checked by the whole program's own rules.
        self._whole = split.program.compile(threads=threads, **split.options)
        for part in split:
            if not part.extents:
                self.part(part)

    def part(self, part: Part, extents: dict[str, int] | None = None) -> Compiled:
        """A part with code; `extents` are the lengths that its arguments do not tell."""
        lengths = tuple((extents or {}).get(name, 0) for name in part.extents)
        key = (part.name, lengths)
        if key not in self._parts:
            options = dict(self.split.options)
            given = {name: length for name, length in (options["shapes"] or {}).items() if name in part.extents}
            options["shapes"] = {**given, **dict(zip(part.extents, lengths))}
            self._parts[key] = part.program.compile(threads=self._threads, **options)
        return self._parts[key]

    def run(self, *arguments: Any, **named: Any) -> Iterator[tuple[Part, dict[int, Any]]]:
        """Runs part by part; gives after each the part and the arrays that are alive, by their numbers. Ends with the results as value of the
        generator (`StopIteration.value`)."""
        split = self.split
        given, extents = self._whole.bind(*arguments, **named)
        table = dict(zip(split.inputs, given))
        overwritten = [(result, argument) for result, argument in enumerate(split.program.aliases) if argument is not None]
        for _, argument in overwritten:
            # Other arguments may lie in the same memory, and later parts may read these.
            table[split.inputs[argument]] = _copy(given[argument])
        for part in split:
            results = self.part(part, extents).call_list([table[number] for number in part.arguments])
            table.update(zip(part.results, results))
            del results
            for number in part.frees:
                table.pop(number, None)
            yield part, table
        return self._results(table, given, overwritten)

    def _results(self, table: dict[int, Any], given: list[Any], overwritten: list[tuple[int, int]]) -> Any:
        outputs, seen = [], set(self.split.inputs)
        into = dict(overwritten)
        for position, number in enumerate(self.split.outputs):
            array = table[number]
            if position in into:
                array = _written(given[into[position]], array)
            elif number in seen:
                array = _copy(array)
            seen.add(number)
            outputs.append(_as(array, given))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        steps = self.run(*arguments, **named)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value


def _is_numpy(array: Any, kind: str) -> bool:
    """True for an `ndarray` or a `generic` of NumPy, which may not be installed."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(array, getattr(numpy, kind))


def _copy(array: Any) -> Any:
    """The elements in memory of their own; arrays that never change stay."""
    if hasattr(array, "clone"):
        return array.clone()
    return array.copy() if _is_numpy(array, "ndarray") else array


def _written(argument: Any, result: Any) -> Any:
    """The argument with the elements of a result that overwrites it; the result where the argument never changes."""
    if hasattr(argument, "copy_"):
        return argument.copy_(result)
    if _is_numpy(argument, "ndarray"):
        argument[...] = result
        return argument
    return result


def _as(array: Any, given: list[Any]) -> Any:
    """An array of the library that made the first argument: a part without arguments gives NumPy's."""
    first = next((x for x in given if hasattr(x, "__dlpack__")), None)
    if first is None or type(first) is type(array) or _is_numpy(first, "generic"):
        return array
    if hasattr(first, "clone"):
        import torch

        return torch.from_dlpack(array)
    return array

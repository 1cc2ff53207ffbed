"""Segments of a program as Python objects: what they are, what crosses between them, and why they are not one.

Everything here is read from what the compiler says (`Program.report`, `fuser-opt --explain=json`); nothing is decided or computed but sums.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Iterator, Sequence, Union, overload

from . import picture, plot

Bytes = Union[int, str]
"""A number, or a polynomial over the names of extents that were not given, such as `"4*A*B"`."""


@dataclass(frozen=True)
class Crossing:
    """A value that a segment reads or writes: its name, its type and its bytes in memory."""

    name: str
    type: str
    bytes: Bytes

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True)
class Cost:
    """A price by the model of the target. `time_ns` is an estimate, not a measurement."""

    read_bytes: int
    write_bytes: int
    workspace_bytes: int
    kernels: int
    launches: int
    time_ns: int

    @property
    def bytes(self) -> int:
        """All bytes that cross slow memory."""
        return self.read_bytes + self.write_bytes + self.workspace_bytes


@dataclass(frozen=True)
class Cut:
    """The values that one segment hands to another, and the reasons that the two are not one."""

    source: str
    target: str
    values: tuple[str, ...]
    bytes: int
    kind: str
    """`boundary` (somebody asked for it), `refused` (no kernel can do both) or `price` (one would not be cheaper)."""
    reasons: tuple[str, ...]
    """Sentences, as `Program.explain` has them."""
    together: Cost | None
    """The price of one kernel for both, where there can be one."""
    apart: Cost

    def __str__(self) -> str:
        return "\n  ".join([f"cut {self.source} -> {self.target}: {', '.join(self.values)}, {self.bytes} bytes", *self.reasons])


@dataclass(frozen=True)
class Segment:
    """A segment: the ops of one kernel, view, copy or call of a library."""

    name: str
    kind: str
    ops: tuple[str, ...]
    """Its ops, each by the name of its first result."""
    kernels: int
    launches: int
    sweeps: int
    read_bytes: Bytes
    write_bytes: Bytes
    inputs: tuple[Crossing, ...]
    outputs: tuple[Crossing, ...]
    time_ns: int
    cuts: tuple[Cut, ...] = field(repr=False)
    """The cuts between this segment and others."""

    def __str__(self) -> str:
        return (f"{self.name}: {self.kind}, {len(self.ops)} ops, reads {self.read_bytes} bytes, writes {self.write_bytes}, "
                f"launches {self.launches}")  # fmt: skip

    def _repr_html_(self) -> str:
        return picture.table([self])


class Segments(Sequence[Segment]):
    """The segments of a program in run order, with totals. `segments["s0"]` is the one of a name."""

    def __init__(self, drawing: dict[str, Any]):
        self.report: dict[str, Any] = drawing["report"]
        """The segment report: `Program.with_segments` takes it."""
        self.explanation: dict[str, Any] = drawing["explanation"]
        """The same with prices and reasons, as `fuser-opt --explain=json` has it."""
        types = drawing["types"]
        notes = {note["name"]: note for note in self.explanation["segments"]}
        self.cuts = tuple(_cut(cut) for cut in self.explanation["cuts"])
        self.total = _cost(self.explanation["total"])
        self.target: str = self.explanation["target"]
        self.extents: dict[str, int] = self.explanation["extents"]
        """The lengths that prices rest on; `assumed` are those that nobody gave."""
        self.assumed: tuple[str, ...] = tuple(self.explanation["assumed"])
        self._list = tuple(self._segment(row, notes.get(row["name"]), types) for row in self.report["segments"])

    def _segment(self, row, note, types) -> Segment:
        def values(access):
            rows = (value for value in row["values"] if value["access"] == access)
            return tuple(Crossing(v["name"], types.get(v["name"], "?"), v["bytes"]) for v in rows)

        cost = note["cost"] if note else {"kernels": 0, "launches": 0, "time_ns": 0}
        return Segment(
            name=row["name"], kind=row["kind"], ops=tuple(row["ops"]), kernels=cost["kernels"], launches=cost["launches"], sweeps=row["sweeps"],
            read_bytes=row["read_bytes"], write_bytes=row["write_bytes"], inputs=values("read"), outputs=values("write"),
            time_ns=cost["time_ns"], cuts=tuple(cut for cut in self.cuts if row["name"] in (cut.source, cut.target)),
        )  # fmt: skip

    @property
    def program(self) -> str:
        """The program's symbol."""
        return self.report["program"]

    @property
    def total_bytes(self) -> Bytes:
        """All bytes that segments read and write."""
        return self.report["total_bytes"]

    @property
    def read_bytes(self) -> Bytes:
        return self.report["read_bytes"]

    @property
    def write_bytes(self) -> Bytes:
        return self.report["write_bytes"]

    @property
    def crossing_bytes(self) -> Bytes:
        """Bytes of the values that cross between segments, each once."""
        return self.report["crossing_bytes"]

    @property
    def kernels(self) -> int:
        return self.total.kernels

    @property
    def launches(self) -> int:
        return self.total.launches

    @property
    def time_ns(self) -> int:
        """The time of all segments by the model, in nanoseconds."""
        return self.total.time_ns

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._list)

    @overload
    def __getitem__(self, key: Union[int, str]) -> Segment: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Segment, ...]: ...
    def __getitem__(self, key):
        if not isinstance(key, str):
            return self._list[key]
        name = key.lstrip("@")
        for segment in self._list:
            if segment.name == name:
                return segment
        raise KeyError(f"no segment {name!r}; there are {', '.join(s.name for s in self._list) or 'none'}")

    def __contains__(self, item: object) -> bool:
        return item in self._list or any(segment.name == item for segment in self._list)

    def __str__(self) -> str:
        total = f"total: {self.total_bytes} bytes, {picture.count(self.kernels, 'kernel')}, {picture.count(self.launches, 'launch')}"
        return "\n".join([*map(str, self._list), *map(str, self.cuts), total])

    def __repr__(self) -> str:
        return f"<fuser.Segments of @{self.program}: {', '.join(s.name for s in self._list) or 'none'}>"

    def plot_bytes(self, axes: Any = None) -> Any:
        """Bars of the bytes that each segment reads and writes, on matplotlib's `axes` or on new ones, which are returned."""
        return plot.bytes_of(self, axes)

    def plot_roofline(self, axes: Any = None) -> Any:
        """The segments under the roofs of the target, by the model: operations for a byte, and operations in a nanosecond."""
        return plot.roofline(self, axes)

    def _repr_html_(self) -> str:
        return picture.whole(self)


class WhatIf:
    """The segments as they are (`taken`) and as somebody asked for them (`asked`); `error` says why they cannot be so."""

    def __init__(self, taken: dict[str, Any], asked: dict[str, Any] | None, error: Exception | None):
        self.taken = Segments(taken)
        self.asked = Segments(asked) if asked is not None else None
        self.error = error

    @property
    def possible(self) -> bool:
        return self.asked is not None

    def _rows(self):
        for name in ("bytes", "launches", "kernels", "time_ns"):
            yield name, getattr(self.taken.total, name), getattr(self.asked.total, name) if self.asked is not None else None

    def __str__(self) -> str:
        if self.asked is None:
            return f"not possible: {self.error}"
        return "\n".join(f"{name}: {taken} -> {asked}" for name, taken, asked in self._rows())

    def __repr__(self) -> str:
        return f"<fuser.WhatIf {'; '.join(str(self).splitlines())}>"

    def _repr_html_(self) -> str:
        return picture.comparison(self)


def grouping(segments: Any) -> str:
    """The text of a grouping: of a report, of `Segments`, of lists of names, or the text itself."""
    if isinstance(segments, str):
        return segments
    if isinstance(segments, Segments):
        return json.dumps(segments.report)
    if isinstance(segments, dict):
        return json.dumps(segments)
    rows = []
    for number, names in enumerate(segments):
        if isinstance(names, Segment):
            rows.append({"name": names.name, "ops": list(names.ops)})
            continue
        if isinstance(names, dict):
            rows.append(names)
            continue
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise TypeError("segments are a report, or one list of names of values for each segment")
        rows.append({"name": f"s{number}", "ops": list(names)})
    return json.dumps({"segments": rows})


def _cost(note: dict[str, int]) -> Cost:
    return Cost(**{name: note[name] for name in Cost.__dataclass_fields__})


def _cut(note: dict[str, Any]) -> Cut:
    why = note["why"]
    return Cut(
        source=note["from"], target=note["to"], values=tuple(value["name"] for value in note["values"]), bytes=note["bytes"], kind=why["kind"],
        reasons=tuple(why["words"]), together=_cost(why["together"]) if why["together"] else None, apart=_cost(why["apart"]),
    )  # fmt: skip

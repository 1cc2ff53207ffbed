import os
from typing import Any, Mapping, Sequence

from .segments import Segments, WhatIf
from .split import Split

__version__: str

class Error(Exception):
    """A refusal of Fuser. `str(error)` is the rendered text with carets."""

    code: str
    message: str
    hints: list[str]
    place: tuple[str, int, int] | None

class Program:
    """A verified tensor program with one entry."""

    @staticmethod
    def parse(text: str, entry: str | None = None, filename: str = "program.fir") -> Program: ...
    @staticmethod
    def from_file(path: str | os.PathLike[str], entry: str | None = None) -> Program: ...
    @staticmethod
    def import_stablehlo(text: str) -> Program: ...
    @staticmethod
    def import_nvfuser(text: str) -> Program: ...
    def compile(
        self,
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
        threads: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
        device: Any = None,
    ) -> Compiled: ...
    def report(
        self,
        *,
        html: str | os.PathLike[str] | None = None,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> dict[str, Any]: ...
    def segments(
        self,
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> Segments: ...
    def explain(
        self,
        *values: str,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> str: ...
    def what_if(
        self,
        together: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
        apart: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> WhatIf: ...
    def split(
        self,
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> Split: ...
    def with_segments(
        self,
        segments: str | Mapping[str, Any] | Segments | Sequence[Sequence[str]],
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> Program: ...
    def schedule(
        self,
        segment: str,
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> str: ...
    def with_schedule(
        self,
        segment: str,
        text: str,
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> Program: ...
    def segmented(
        self,
        *,
        target: str | None = None,
        shapes: Mapping[str, int] | None = None,
        passes: str | None = None,
        executors: str | None = None,
    ) -> str: ...
    def _repr_html_(self) -> str: ...
    def type_of(self, name: str) -> str | None: ...
    @property
    def name(self) -> str: ...
    @property
    def extents(self) -> list[str]: ...
    @property
    def inputs(self) -> list[dict[str, Any]]: ...
    @property
    def aliases(self) -> list[int | None]: ...
    @property
    def outputs(self) -> list[str]: ...

class Compiled:
    """A program compiled for this machine or a GPU, called on arrays."""

    def __call__(
        self,
        *arguments: Any,
        out: Any | Sequence[Any | None] | None = None,
        strides: Sequence[Sequence[int] | None] | None = None,
        stream: Any = None,
        **named: Any,
    ) -> Any: ...
    def call_into(self, out: Any | Sequence[Any], *arguments: Any, **named: Any) -> None: ...
    def call_list(
        self,
        arguments: list[Any] | tuple[Any, ...],
        out: Sequence[Any | None] | None = None,
        strides: Sequence[Sequence[int] | None] | None = None,
        unchecked: bool = False,
    ) -> list[Any]: ...
    def record(self, *arguments: Any, out: Any | Sequence[Any | None] | None = None, **named: Any) -> Recorded: ...
    def bind(self, *arguments: Any, **named: Any) -> tuple[list[Any], dict[str, int]]: ...
    def segments(self) -> Segments: ...
    def _repr_html_(self) -> str: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]: ...
    @property
    def copies(self) -> int: ...
    @property
    def copied(self) -> dict[str, int]: ...

class Recorded:
    """A recorded run of a program on a GPU."""

    def __call__(self, *, stream: Any = None) -> Any: ...

class DeviceArray:
    """A dense array in the memory of a GPU."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def device(self) -> str: ...
    def numpy(self) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

def to_device(array: Any, device: Any = None) -> DeviceArray: ...
def release_memory() -> int: ...
def op_table() -> list[dict[str, Any]]: ...
def nvfuser_ops() -> list[str]: ...

class XlaProgram:
    """A program that XLA may call by its text."""

    def __init__(self, stablehlo: str, aliases: Sequence[int | None]) -> None: ...
    @property
    def text(self) -> str: ...

def xla_handlers() -> tuple[dict[str, Any], dict[str, Any]]: ...
def xla_layout() -> list[tuple[str, int, list[tuple[str, int]]]]: ...

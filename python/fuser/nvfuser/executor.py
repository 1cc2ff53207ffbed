"""Definitions as text, and their execution."""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import re
from collections import OrderedDict
from typing import Any, Callable, Sequence

import torch

from .. import _fuser
from ..torch.emit import DTYPES
from . import four_bits
from .types import OF_TORCH, DataType

# The most programs of one definition that are kept, and names of the inputs that draws of random numbers have.
_MOST_PROGRAMS = 256
_SEED, _OFFSET = "rng_seed", "rng_offset"
_FOUR_BITS = (DataType.Float4_e2m1fn, DataType.Float4_e2m1fn_x2)


class Refused(RuntimeError):
    """A definition or an input that Fuser refuses: `code`, `message`, `hints` and `place` are those of `fuser.Error`."""

    def __init__(self, error: _fuser.Error):
        super().__init__(str(error))
        self.code, self.message, self.hints, self.place = error.code, error.message, error.hints, error.place


def rendered(value: Any) -> str:
    """A value as it stands in a definition."""
    if isinstance(value, (bool, type(None), DataType)) or hasattr(value, "of_fusion"):
        return str(value)
    if isinstance(value, (list, tuple, torch.Size)):
        return f"[{', '.join(map(rendered, value))}]"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        value = float(value)
        if not math.isfinite(value):
            return f'float("{value}")'
        short = f"{value:.5f}"
        return short if float(short) == value else repr(value)
    if isinstance(value, numbers.Complex):
        return repr(complex(value))
    if isinstance(value, torch.dtype):
        return str(OF_TORCH[value])
    raise TypeError(f"{value!r} is no value of a definition: give a tensor, a number, a list of these, or a DataType")


@dataclasses.dataclass
class Line:
    """A line of a definition: the names of its results, and a call."""

    targets: list[str]
    callee: str
    args: tuple
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        args = [*map(rendered, self.args), *(f"{k}={rendered(v)}" for k, v in self.kwargs.items())]
        call = f"fd.{self.callee}({', '.join(args)})"
        return f"{', '.join(self.targets)} = {call}" if self.targets else call


class _Name(str):
    """A value that a definition gets for its execution."""

    of_fusion = True


class Fusion:
    """A definition: its lines, in the order in which they were made."""

    def __init__(self):
        self.lines: list[Line] = []
        self.names: list[str] = []
        self._inputs: list[Any] = []
        self._outputs: list[tuple[Any, Any]] = []

    def inputs(self) -> list[Any]:
        return list(self._inputs)

    def outputs(self) -> list[Any]:
        return [value for value, alias in self._outputs if alias is None]

    def vals(self) -> list[str]:
        return list(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fusion) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self.text(self.lines)

    def text(self, lines: Sequence[Line]) -> str:
        body = "".join(f"    {line}\n" for line in lines) or "    pass\n"
        return f"def nvfuser_fusion(fd : FusionDefinition) -> None :\n{body}"

    def with_numbers(self, given: Sequence[Any], scalars: bool, packed: Sequence[int] = ()) -> str:
        """The text with the lengths of these inputs, and with the values of scalars if `scalars` is true. Inputs of 4 bits are cast from a
        type of 8 bits, and results, at the places `packed`, to it."""
        values = {str(of): value for of, value in zip(self._inputs, given)}
        lines, results = [], 0
        for line in self.lines:
            value = values.get(line.targets[0]) if line.targets else None
            if isinstance(value, torch.Tensor):
                kwargs = {**line.kwargs, "shape": list(value.shape), "contiguity": stored(line, value)}
                line = dataclasses.replace(line, kwargs=kwargs)
                if kwargs["dtype"] in _FOUR_BITS and value.dtype == torch.float8_e4m3fn:
                    wide = _Name(f"{line.targets[0]}_wide")
                    lines.append(Line([wide], line.callee, line.args, {**kwargs, "dtype": DataType.Float8_e4m3fn}))
                    line = Line(line.targets, "ops.cast", (wide, DataType.Float4_e2m1fn), {})
            elif value is not None and scalars:
                line = dataclasses.replace(line, args=(value,))
            elif line.callee == "add_output":
                if results in packed:
                    wide = _Name(f"wide{results}")
                    lines.append(Line([wide], "ops.cast", (line.args[0], DataType.Float8_e4m3fn), {}))
                    line = dataclasses.replace(line, args=(wide,))
                results += 1
            lines.append(line)
        return self.text(lines)


class FusionExecutorCache:
    """The programs of a definition, by the lengths of its inputs; `passes` replaces the usual passes."""

    def __init__(self, fusion: Fusion, passes: str | None = None):
        self._fusion, self._passes = fusion, passes
        self._programs: OrderedDict[Any, _Entry] = OrderedDict()

    def fusion(self) -> Fusion:
        return self._fusion

    def is_compiled(self, inputs: Sequence[Any]) -> bool:
        return any(key in self._programs for key in self._keys(wide(flat(inputs))))

    def execute(
        self,
        inputs: Sequence[Any],
        *,
        device: Any = None,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> list[torch.Tensor]:
        """The results for these inputs. Inputs that a result is said to alias hold that result afterwards."""
        given = flat(inputs)
        self._check(given)
        whole = wide(given)
        compiled, with_scalars, types, packed = self._program(whole)
        numbers_left = [x for x in whole if isinstance(x, torch.Tensor) or not with_scalars]
        arguments = iter(numbers_left)
        drawn = {_SEED: lambda: int(torch.randint(2**62, ())), _OFFSET: lambda: 0}
        call = [drawn[name]() if name in drawn else next(arguments) for name in compiled.inputs]
        try:
            with torch.no_grad():
                if types is None or any(isinstance(x, torch.Tensor) for x in call):
                    results = compiled(*map(plain, call))
                else:  # the results are NumPy's else, which has no bf16
                    made = [torch.empty(shape, dtype=dtype) for shape, dtype in types]
                    results = tuple(compiled.call_list([*map(plain, call)], made))
        except _fuser.Error as error:
            raise Refused(error) from None
        results = list(results) if isinstance(results, tuple) else [results]
        results = [r if isinstance(r, torch.Tensor) else of_numpy(r) for r in results]
        results = [four_bits.packed(r) if place in packed else r for place, r in enumerate(results)]
        by_name = dict(zip(map(str, self._fusion._inputs), given))
        written = {}
        for (value, alias), result in zip(self._fusion._outputs, results):
            if alias is not None:
                written[str(value)] = written[str(alias)] = by_name[str(alias)].copy_(result)
        outputs = zip(self._fusion._outputs, results)
        return [written.get(str(value), result) for (value, alias), result in outputs if alias is None]

    def _check(self, given: Sequence[Any]) -> None:
        wanted = self._fusion._inputs
        if len(given) != len(wanted):
            raise RuntimeError(f"the definition has {len(wanted)} inputs, {len(given)} are given")
        for value, of in zip(given, wanted):
            if of.is_tensor() != isinstance(value, torch.Tensor):
                kind = "a tensor" if of.is_tensor() else "a number"
                raise RuntimeError(f"input `{of}` is {kind}, a {type(value).__name__} is given")
            if of.is_tensor():
                shape, dtype = of.line.kwargs["shape"], of.line.kwargs["dtype"]
                if (dtype in _FOUR_BITS) != (value.dtype == torch.float4_e2m1fn_x2):
                    raise RuntimeError(f"input `{of}` is of {dtype}, a tensor of {value.dtype} is given")
                fits = len(shape) == value.ndim and all(n in (-1, length) for n, length in zip(shape, lengths(of.line, value)))
                if not fits:
                    raise RuntimeError(f"input `{of}` has shape {list(shape)}, a tensor of shape {list(value.shape)} is given")

    def _keys(self, given: Sequence[Any]) -> tuple[Any, Any]:
        lengths = tuple((x.shape, x.stride()) if isinstance(x, torch.Tensor) else type(x) for x in given)
        return lengths, (lengths, tuple((type(x), x) for x in given if not isinstance(x, torch.Tensor)))

    def _program(self, given: Sequence[Any]) -> _Entry:
        """A program that takes the numbers among the inputs, or one for these numbers, where they say what the definition means."""
        keys = self._keys(given)
        for key in keys:
            if key in self._programs:
                self._programs.move_to_end(key)
                return self._programs[key]
        refused = None
        for scalars, key in enumerate(keys):
            try:
                program = _fuser.Program.import_nvfuser(self._fusion.with_numbers(given, bool(scalars)))
                packed = [place for place, name in enumerate(program.outputs) if "f4E2M1FN" in str(program.type_of(name))]
                if packed:
                    program = _fuser.Program.import_nvfuser(self._fusion.with_numbers(given, bool(scalars), packed))
                compiled = program.compile(passes=self._passes)
            except _fuser.Error as error:
                refused = refused or error
                if keys[1][1]:
                    continue
                break
            self._programs[key] = compiled, bool(scalars), result_types(program), packed
            if len(self._programs) > _MOST_PROGRAMS:
                self._programs.popitem(last=False)
            return self._programs[key]
        raise Refused(refused) from None


_Types = list[tuple[list[int], torch.dtype]]
# A program, whether it has the numbers among the inputs, the types of its results, and the places of those of 4 bits.
_Entry = tuple[_fuser.Compiled, bool, _Types | None, list[int]]


def result_types(program: _fuser.Program) -> _Types | None:
    """Shape and element type of each result; nothing where one is named, stored once along an axis, or of a type that torch lacks."""
    types = []
    for name in program.outputs:
        found = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", str(program.type_of(name)))
        dtype = found and next((torch_type for torch_type, name in DTYPES.items() if name == found[2]), None)
        if dtype is None:
            return None
        types.append(([int(n) for n in found[1].split("x") if n], dtype))
    return types


def lengths(line: Line, value: torch.Tensor) -> list[int]:
    """The shape of an input as its definition counts it: elements of 4 bits, of which PyTorch counts pairs, one by one."""
    shape = list(value.shape)
    if shape and line.kwargs["dtype"] is DataType.Float4_e2m1fn and value.dtype == torch.float4_e2m1fn_x2:
        order = line.kwargs.get("stride_order") or range(len(shape))[::-1]
        shape[list(order).index(0)] *= 2
    return shape


def stored(line: Line, value: torch.Tensor) -> list[bool | None]:
    """The contiguity of an input, in the order of memory: none for axes that this tensor stores once."""
    rank = value.ndim
    order = line.kwargs.get("stride_order") or list(range(rank))[::-1]
    axes = sorted(range(rank), key=lambda axis: -order[axis])
    once = [n == 1 or step == 0 for n, step in zip(value.shape, value.stride())]
    kept = zip(line.kwargs["contiguity"], axes)
    return [None if known is None and once[axis] else bool(known or known is None) for known, axis in kept]


def of_numpy(array: Any) -> torch.Tensor:
    """A result that no tensor was given for, as a tensor."""
    types = {str(dtype).removeprefix("torch."): dtype for dtype in OF_TORCH if isinstance(dtype, torch.dtype)}
    found = types.get(array.dtype.name)
    if array.dtype.kind != "V" or found is None:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(f"u{array.dtype.itemsize}")).view(found)


def flat(inputs: Sequence[Any]) -> list[Any]:
    """The inputs, the numbers of lists by themselves."""
    found = []
    for value in inputs:
        found.extend(flat(value) if isinstance(value, (list, tuple)) else [value])
    return found


def wide(inputs: Sequence[Any]) -> list[Any]:
    """The inputs, tensors of pairs of 4 bits as those of 8 bits."""
    is_packed = [isinstance(x, torch.Tensor) and x.dtype == torch.float4_e2m1fn_x2 for x in inputs]
    return [four_bits.widened(x) if pairs else x for x, pairs in zip(inputs, is_packed)]


def plain(value: Any) -> Any:
    """A tensor as it lies in memory, without gradients and views of signs."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().resolve_conj().resolve_neg()


class LRUCache:
    """The executors of the definitions that were used last; definitions of one text share one."""

    def __init__(self, max_fusions: int = 16384):
        self._most, self._known, self._hits, self._lookups = max_fusions, OrderedDict(), 0, 0

    def cache_compile(self, fusion: Fusion) -> FusionExecutorCache:
        text = str(fusion)
        self._lookups += 1
        if text in self._known:
            self._hits += 1
        else:
            self._known[text] = FusionExecutorCache(fusion)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        self._known.move_to_end(text)
        return self._known[text]

    def num_fusions(self) -> int:
        return len(self._known)

    def stats(self) -> str:
        share = 100 * self._hits / self._lookups if self._lookups else 0
        return f"Total Fusions: {len(self._known)}\nCache Lookups: {self._lookups}\nCache Hits: {self._hits}\nHit Rate: {share:.2f}%\n"


class LruFusionCache:
    """A decorator of functions that make definitions: those of one text share an executor."""

    def __init__(self, max_fusions: int = 16384):
        self.cache = LRUCache(max_fusions)

    def __call__(self, make: Callable) -> Callable:
        @functools.wraps(make)
        def cached(*args, **kwargs):
            definition = make(*args, **kwargs)
            if not hasattr(definition, "fec"):
                definition.fec = self.cache.cache_compile(definition.fusion)
            return definition

        cached.stats, cached.num_fusions = self.cache.stats, self.cache.num_fusions
        return cached

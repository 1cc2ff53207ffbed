"""`FusionDefinition`: calls that become the lines of a definition."""

from __future__ import annotations

import copy
import operator
from typing import Any, Callable, Sequence

import torch

from .. import _fuser
from .executor import Fusion, FusionExecutorCache, Line, Refused
from .types import OF_FUSER, OF_TORCH, DataType

_OPS = frozenset(_fuser.nvfuser_ops())

# The results of ops that have several; `shape` has one for each axis.
_RESULTS = {
    "cutlass_nvfp4_grouped_mm": 1,
    "nv_block_quantize": 2,
    "nv_block_quantize_to_nvfp4": 2,
    "nv_grouped_block_quantize": 2,
    "scaled_mm": 3,
    "sdpfa_bwd": 3,
    "sdpfa_fwd": 4,
    "topk": 2,
    "var_mean": 2,
    "welford": 3,
}

# Ops whose result has the axes of a list: its place among the arguments, and its name.
_SHAPED = {
    "ops.broadcast_in_dim": (1, "shape"),
    "ops.expand": (1, "shape"),
    "ops.full": (0, "shape"),
    "ops.reshape": (1, "new_shape"),
}

# Ops that take axes, and the name of these, the second of the arguments.
_AXES = {
    **dict.fromkeys(("argsort", "cummax", "cummin", "cumprod", "cumsum"), "dim"),
    **dict.fromkeys(("max", "min", "permute", "prod", "squeeze", "sum", "var", "var_mean", "welford"), "dims"),
}

# Ops whose result is a tensor whatever they are given, and one whose result is a number.
_MAKERS = {"full", "iota", "normal", "uniform"}


class _Value:
    """A value of a definition, known by its name."""

    of_fusion = True

    def __init__(self, definition: FusionDefinition, name: str, line: Line | None = None):
        self._definition, self._fusion, self.name, self.line = definition, definition.fusion, name, line

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def _lines(self) -> list[Line]:
        """The lines that define it, and what it is made of."""
        needed, lines = {self.name}, []
        for line in reversed(self._fusion.lines):
            if needed.intersection(line.targets):
                needed.update(map(str, _values((*line.args, *line.kwargs.values()))))
                lines.append(line)
        return lines[::-1]

    def type(self) -> str:
        """The type that Fuser finds for it."""
        text = self._fusion.text([*self._lines(), Line([], "add_output", (self,), {})])
        try:
            found = _fuser.Program.import_nvfuser(text).type_of(self.name)
        except _fuser.Error as error:
            raise Refused(error) from None
        return found or ""

    def dtype(self) -> DataType:
        """The element type."""
        written = self.type().removeprefix("tensor<").split(">")[0].split(",")[0]
        return OF_FUSER.get(written.rsplit("x", 1)[-1] if "x" in written else written, DataType.Null)


class TensorView(_Value):
    """A tensor of a definition."""

    def is_tensor(self) -> bool:
        return True

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        if self.line is not None:
            return len(self.line.kwargs["shape"])
        made = self._lines()[-1]
        if made.callee in _SHAPED:
            at, name = _SHAPED[made.callee]
            shape = made.kwargs[name] if name in made.kwargs else made.args[at]
            return len(shape)
        written = self.type().removeprefix("tensor<").split(">")[0].split(",")[0]
        return written.count("x")

    def shape(self) -> list[Scalar]:
        """The lengths of its axes, as values of the definition."""
        return self._definition.ops.shape(self)

    def size(self, dim: int) -> Scalar:
        """The length of one axis, as a value of the definition."""
        return self._definition.ops.size(self, dim)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"tensors have no `{name}`: schedules of nvFuser are not Fuser's")


class Scalar(_Value):
    """A number of a definition."""

    def is_tensor(self) -> bool:
        return False

    def is_symbolic(self) -> bool:
        """True if it is an input."""
        return self in self._fusion._inputs


class _Ops:
    """The ops, each a method that takes what nvFuser's takes; docs/nvfuser.md lists them."""

    def __init__(self, definition: FusionDefinition):
        self._definition = definition

    def __getattr__(self, name: str) -> Callable:
        if name not in _OPS:
            raise AttributeError(f"Fuser has no op `{name}` of nvFuser's")
        return lambda *args, **kwargs: self._definition._op(name, args, kwargs)

    def __dir__(self) -> list[str]:
        return sorted(_OPS)


class _Schedule:
    """Schedules, which are refused."""

    def __getattr__(self, name: str) -> Callable:
        raise NotImplementedError(f"`fd.sched.{name}`: Fuser schedules definitions itself; `fd.execute(inputs)` runs them")


class FusionDefinition:
    """A fusion: defined in a `with` block, or by the method `definition` of a subclass, then executed on tensors of PyTorch."""

    def __init__(self):
        self.ops, self.sched = _Ops(self), _Schedule()
        self._fusion: Fusion | None = None

    @property
    def fusion(self) -> Fusion | None:
        return self.fec.fusion() if hasattr(self, "fec") else self._fusion

    def __enter__(self) -> FusionDefinition:
        self._fusion = Fusion()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        return None

    def definition(self) -> None:
        """The ops of a subclass."""
        raise NotImplementedError("Fusion does not exist! Use `with FusionDefinition() as fd: ...` to define a fusion.")

    def __repr__(self) -> str:
        return str(self.fusion) if self.fusion is not None else "<FusionDefinition without ops>"

    def _name(self, kind: type) -> str:
        prefix = "tv" if kind is TensorView else "c"
        name = f"{prefix}{sum(known.startswith(prefix) for known in self._fusion.names)}"
        self._fusion.names.append(name)
        return name

    def _line(self, kinds: Sequence[type], callee: str, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        if self._fusion is None:
            raise NotImplementedError("Fusion does not exist! Use `with FusionDefinition() as fd: ...` to define a fusion.")
        for value in _values((*args, *kwargs.values())):
            if value._fusion is not self._fusion:
                raise ValueError(f"`{value}` is a value of another definition")
        line = Line([], callee, args, kwargs)
        str(line)  # refuses what is no value, before anything is kept
        line.targets = [self._name(kind) for kind in kinds]
        self._fusion.lines.append(line)
        is_input = callee.startswith("define_")
        return [kind(self, name, line if is_input else None) for kind, name in zip(kinds, line.targets)]

    def _op(self, name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        values = list(_values((*args, *kwargs.values())))
        tensors = name in _MAKERS or any(isinstance(value, TensorView) for value in values)
        kind = Scalar if name in ("size", "shape") or not tensors else TensorView
        count = _RESULTS.get(name, 1)
        if name == "shape":
            count = values[0].ndim
        if name == "shape" and count == 1:  # a lone target would be the list
            return [self._op("size", (values[0], 0), {})]
        if name == "grouped_mm" and len(args) + len(kwargs) > 3:
            count = 3
        axes = kwargs.get(_AXES.get(name), args[1] if name in _AXES and len(args) > 1 else None)
        if any(isinstance(axis, float) for axis in (axes if isinstance(axes, (list, tuple)) else [axes])):
            raise TypeError(f"`fd.ops.{name}`: axes are integers, {axes} is given")
        made = self._line([kind] * count, f"ops.{name}", args, kwargs)
        if name == "shape":
            return made
        if name in ("grouped_mm", "scaled_mm") and count == 3:  # results have no scales of their own
            return made[0], None, None
        return made[0] if count == 1 else tuple(made)

    def define_tensor(
        self,
        shape: Sequence[int] | None = None,
        contiguity: Sequence[bool | None] | bool | None = None,
        dtype: DataType = DataType.Float,
        is_cpu: bool = False,
        stride_order: Sequence[int] = (),
        *,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        static_sizes: bool = False,
    ) -> TensorView:
        """A tensor that the fusion takes: by its shape, -1 for a length that is left open, or by sizes and strides of a tensor."""
        if sizes is not None:
            shape, contiguity, stride_order = _by_strides(sizes, strides, static_sizes)
        shape = list(map(operator.index, shape or ()))
        if any(n >= 2**63 for n in shape):
            raise TypeError(f"a length of {shape} is no integer of 64 bits")
        if any(n < -1 for n in shape):
            raise RuntimeError(f"a length of {shape} is negative: -1 is one that is left open")
        if contiguity is None or isinstance(contiguity, bool):
            contiguity = [None if n == 1 else bool(contiguity) for n in shape]
        if len(contiguity) != len(shape):
            raise RuntimeError(f"contiguity has {len(contiguity)} entries, the tensor has {len(shape)} axes")
        kwargs: dict[str, Any] = {"shape": shape, "contiguity": list(contiguity), "dtype": dtype, "is_cpu": is_cpu}
        if list(stride_order) != list(range(len(shape)))[::-1] and stride_order:
            kwargs["stride_order"] = list(stride_order)
        (tensor,) = self._line([TensorView], "define_tensor", (), kwargs)
        self._fusion._inputs.append(tensor)
        return tensor

    def define_scalar(self, value: Any = None, dtype: DataType | None = None) -> Scalar:
        """A number: an input of the fusion if it has no value."""
        if isinstance(value, DataType):
            value, dtype = None, value
        if dtype is None:
            dtype = DataType.Double if value is None else OF_TORCH[type(value)]
        (scalar,) = self._line([Scalar], "define_scalar", (value,), {"dtype": dtype})
        if value is None:
            self._fusion._inputs.append(scalar)
        return scalar

    def define_vector(self, size: int) -> list[Scalar]:
        """So many integers that the fusion takes."""
        return [self.define_scalar(None, DataType.Int) for _ in range(size)]

    def from_pytorch(self, tensor: torch.Tensor, static_sizes: bool = False) -> TensorView:
        """A tensor that the fusion takes, of the type and the strides of this one."""
        return self.define_tensor(
            sizes=tensor.size(),
            strides=tensor.stride(),
            dtype=OF_TORCH[tensor.dtype],
            static_sizes=static_sizes,
            is_cpu=tensor.is_cpu and tensor.ndim == 0,
        )

    def add_output(self, output: Any, alias_input: Any = None) -> None:
        """A result of the fusion; with `alias_input` one that is written over this input, and not returned."""
        kwargs = {} if alias_input is None else {"alias_input": alias_input}
        self._line([], "add_output", (output,), kwargs)
        self._fusion._outputs.append((output, alias_input))

    def validate_definition(self) -> tuple[bool, str | None]:
        """True if there is something to execute, else the reason."""
        if self.fusion is None and type(self).definition is not FusionDefinition.definition:
            with self:
                self.definition()
        if self.fusion is None:
            return False, "Fusion does not exist! Use `with FusionDefinition() as fd: ...` to define a fusion."
        if not self.fusion._outputs or not self.fusion.names:
            return False, "Fusion is empty!"
        return True, None

    def execute(
        self,
        inputs: Sequence[Any],
        *,
        device: Any = None,
        save_repro_inputs: bool = False,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> list[torch.Tensor]:
        """The results for these inputs: tensors and numbers, in the order of the definition."""
        is_valid, reason = self.validate_definition()
        if not is_valid:
            raise NotImplementedError(reason)
        if save_repro_inputs:
            self.saved_inputs = [x.to("meta") if isinstance(x, torch.Tensor) else x for x in inputs]
            self._devices = [str(x.device) if isinstance(x, torch.Tensor) else "" for x in inputs]
        if not hasattr(self, "fec"):
            self.fec = FusionExecutorCache(self._fusion)
        return self.fec.execute(inputs, device=device)

    def manual_execute(self, inputs: Sequence[Any], heuristic_params: Any = None) -> list[torch.Tensor]:
        """Refused: Fuser schedules definitions itself."""
        raise NotImplementedError("`manual_execute`: Fuser schedules definitions itself; `fd.execute(inputs)` runs them")

    def segments(self, **options: Any) -> dict[str, Any]:
        """The kernels of the fusion and their bytes, as `fuser.Program.segments` tells them."""
        try:
            return _fuser.Program.import_nvfuser(str(self.fusion)).report(**options)
        except _fuser.Error as error:
            raise Refused(error) from None

    def validate(
        self,
        inputs: Sequence[Any],
        reference_outputs: Sequence[torch.Tensor] | None = None,
        device: Any = None,
        **kwargs: Any,
    ) -> list[torch.Tensor]:
        """The results, compared with `reference_outputs`; without these, with those of the same ops in one kernel each."""
        if reference_outputs is None:
            state = torch.get_rng_state()
            copies = copy.deepcopy([x.detach() if isinstance(x, torch.Tensor) else x for x in inputs])
            reference_outputs = FusionExecutorCache(self.fusion, "decompose,segment{max-ops=1}").execute(copies)
            torch.set_rng_state(state)
        results = self.execute(inputs, device=device, **kwargs)
        for result, wanted in zip(results, reference_outputs, strict=True):
            if result.shape != wanted.shape:
                raise AssertionError(f"a result has shape {list(result.shape)}, {list(wanted.shape)} is expected")
            exact = not (result.is_floating_point() or result.is_complex())
            tolerance = 0 if exact else _TOLERANCES.get(result.dtype, 1e-2)
            torch.testing.assert_close(result, wanted, rtol=tolerance, atol=tolerance, equal_nan=True, check_stride=False)
        return results

    def last_repro_script(self) -> str:
        """The script of the last `execute` with `save_repro_inputs=True`."""
        if not hasattr(self, "saved_inputs"):
            raise AssertionError(
                "fd.last_repro_script() cannot provide a repro because fd.execute(inputs, save_repro_inputs=True) was not executed!"
            )
        return self._script(self.saved_inputs, self._devices)

    def repro_script_for(self, inputs: Sequence[Any] | None = None) -> str:
        """A script that defines the fusion, and executes it on inputs like these."""
        devices = [str(x.device) if isinstance(x, torch.Tensor) else "" for x in inputs or ()]
        return self._script(inputs, devices)

    def _script(self, inputs: Sequence[Any] | None, devices: Sequence[str]) -> str:
        text = f"# torch version: {torch.__version__}\nimport torch\nfrom nvfuser_direct import FusionDefinition, DataType\n"
        text = text.replace("nvfuser_direct", __package__) + f"{self}with FusionDefinition() as fd:\n    nvfuser_fusion(fd)\n"
        if inputs is None:
            return text
        rows = "".join(f"    {_made(x, device)},\n" for x, device in zip(inputs, devices))
        return f"{text}\ninputs = [\n{rows}]\nfd.execute(inputs)\n"


# Relative and absolute tolerances of results.
_TOLERANCES = {
    torch.float64: 1e-7,
    torch.float32: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
    torch.complex64: 1e-4,
    torch.complex128: 1e-7,
}


def _made(value: Any, device: str) -> str:
    """An expression for an input like this one."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_made(x, device) for x in value)}]"
    if not isinstance(value, torch.Tensor):
        text = repr(value)
        return f'float("{text}")' if text in ("inf", "-inf", "nan") else text
    shape, strides, dtype = tuple(value.size()), tuple(value.stride()), value.dtype
    if value.is_contiguous():
        return f"torch.testing.make_tensor({shape}, dtype={dtype}, device='{device}')"
    length = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    if dtype.is_floating_point:
        return f"torch.randn({length}, dtype={dtype}, device='{device}').as_strided({shape}, {strides})"
    top = 2 if dtype == torch.bool else 10
    return f"torch.randint(0, {top}, ({length},), dtype={dtype}, device='{device}').as_strided({shape}, {strides})"


def _values(items: Sequence[Any]) -> Any:
    """The values among arguments, in lists too."""
    for item in items:
        if isinstance(item, _Value):
            yield item
        elif isinstance(item, (list, tuple)):
            yield from _values(item)


def compute_tensor_descriptor(sizes: Sequence[int], strides: Sequence[int]) -> tuple[list[bool | None], list[int]]:
    """Contiguity and order of strides of a tensor, as `define_tensor` takes them."""
    return _by_strides(sizes, strides, False)[1:]


def _by_strides(sizes: Sequence[int], strides: Sequence[int], static: bool) -> tuple[list[int], list[bool | None], list[int]]:
    """Shape, contiguity and order of strides of a tensor, as nvFuser takes them: contiguity in the order of memory."""
    rank = len(sizes)
    order = list(range(rank))
    for last in reversed(range(rank - 1)):
        at = last
        for other in range(last + 1, rank):
            ours, theirs = strides[order[at]], strides[order[other]]
            if ours and theirs and ours < theirs:  # a stride of 0 has no place of its own
                order[at], order[other], at = order[other], order[at], other
            elif ours and theirs:
                break
    contiguity: list[bool | None] = [None] * rank
    expected = 1
    for place in reversed(range(rank)):
        axis = order[place]
        if sizes[axis] == 1 or strides[axis] == 0:
            continue
        contiguity[place] = strides[axis] == expected
        expected = strides[axis] * sizes[axis]
    shape = [n if static or n == 1 else -1 for n in sizes]
    return shape, contiguity, [rank - 1 - order.index(axis) for axis in range(rank)]

"""`import_exported`: a program of `torch.export` as one program of Fuser, which needs no torch to run."""

from __future__ import annotations

import operator
import os

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from .. import Program
from . import decompose, random
from .emit import Emitter, Unsupported, extent, same, symbols
from .graph import order_of, place_of, supported_tensor
from .lower import ROWS, lowered
from .lower.whole import WHOLE

_TABLE = ROWS | WHOLE
_STATE = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


class _Emitter(Emitter):
    """A slice of a named extent from an axis of another one takes by indices: that it fits is known to torch alone."""

    def slice(self, x, starts, shape, strides=None):
        if strides is None or all(n == 1 for n in strides):
            for axis, (start, n) in enumerate(zip(starts, shape)):
                if isinstance(n, int) or same(n, x.shape[axis]):
                    continue
                index = self.iota(0, [n], "i64")
                if start != 0:
                    index = self.add(index, self.broadcast(self.size(start, "i64"), [n]))
                x = self.take(x, index, axis)
            starts = [0 if same(n, m) else start for start, n, m in zip(starts, shape, x.shape)]
        return super().slice(x, starts, shape, strides)


class Exported:
    """A model as a program: `program`, and `state`, the tensors of the model among its inputs, by their names in the model.

    A call takes what the model's `forward` takes and gives what that gives. Buffers that the model writes, such as caches and counts, are
    overwritten in `state`, whose copies of them are its own; arguments that it writes are overwritten as well. Random numbers are those of a
    seed that each call draws from torch's generator: the input `seed` of the program.
    """

    def __init__(self, program, state, spec, arguments, fixed, ranges, writes):
        self.program, self.state = program, state
        #: How many results, the first ones, are writes into inputs.
        self._writes = writes
        #: Arguments that are no tensors, as they were when the model was exported, by number.
        self._fixed = fixed
        #: The least and the greatest size of an axis of an argument.
        self._ranges = ranges
        #: For each input the name in `state`, or the number of the argument, or nothing for the seed of random numbers.
        self._arguments = arguments
        self._spec, self._compiled = spec, None

    def compile(self, **options):
        """Compiles the program; the options are those of `Program.compile`. A call compiles without any."""
        self._compiled = self.program.compile(**options)
        return self

    def __call__(self, *args, **kwargs):
        given, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._spec.in_spec:
            raise TypeError(f"the model was exported for arguments of the form {self._spec.in_spec}, not {spec}")
        for number, value in self._fixed.items():
            if type(given[number]) is not type(value) or given[number] != value:
                raise TypeError(f"the model was exported with {value!r} for an argument that is {given[number]!r} here")
        for number, axis, least, most in self._ranges:
            size = given[number].shape[axis]
            if not least <= size <= most:
                raise ValueError(f"the model was exported for sizes from {least} to {most} along axis {axis} of an argument, not {size}")
        if self._compiled is None:
            self.compile()
        inputs = [random.draw() if key is None else self.state[key] if isinstance(key, str) else given[key] for key in self._arguments]
        with torch.no_grad():
            made = self._compiled(*inputs)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        return pytree.tree_unflatten(made[self._writes :], self._spec.out_spec)

    def save(self, folder):
        """Writes `program.fir`, and `state.npz` with the tensors of `state`, which `fuser-run` and NumPy read."""
        import numpy

        os.makedirs(folder, exist_ok=True)
        arrays = {}
        for key, info in zip(self._arguments, self.program.inputs):
            if not isinstance(key, str):
                continue
            tensor = self.state[key]
            if tensor.dtype == torch.bfloat16:
                import ml_dtypes

                arrays[info["name"]] = tensor.detach().view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
            else:
                arrays[info["name"]] = tensor.detach().contiguous().numpy()
        with open(os.path.join(folder, "program.fir"), "w", encoding="utf-8") as file:
            file.write(str(self.program))
        numpy.savez(os.path.join(folder, "state.npz"), **arrays)


def import_exported(exported):
    """A `torch.export.ExportedProgram` as an `Exported`; raises `ValueError` with all ops that have no lowering."""
    decompositions = torch.export.default_decompositions()
    for op in list(decompositions.keys()):
        if str(op) in _TABLE:
            decompositions.pop(op)
    exported = exported.run_decompositions({**decompositions, **decompose.table(), **random.TABLE})
    random.share_seed(exported.graph)
    graph, signature = exported.graph, exported.graph_signature
    emitter, made, state, arguments, bound = _Emitter(), {}, {}, [], {}
    fixed, ranges = {}, []
    specs = {spec.arg.name: spec for spec in signature.input_specs}
    users = [spec.arg.name for spec in signature.input_specs if spec.kind not in _STATE]
    refused, results = {}, []

    def refuse(node, reason):
        refused.setdefault(f"{node.target}: {reason}", None)
        made[node] = None

    for node in graph.nodes:
        emitter.place = place_of(node)
        if node.op == "placeholder":
            spec, val = specs[node.name], node.meta["val"]
            if not isinstance(val, torch.Tensor):
                # The trace holds a flag or a number.
                if node.users or isinstance(val, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                    refuse(node, f"an argument of type {type(val).__name__}")
                fixed[users.index(node.name)] = val
                continue
            if spec.kind in _STATE:
                state[spec.target] = _tensor(exported, spec)
            arguments.append(spec.target if spec.kind in _STATE else users.index(node.name))
            shape = [extent(n) for n in val.shape]
            try:
                made[node] = emitter.input(supported_tensor(val), shape, order_of(val), node.name)
            except Unsupported as why:
                refuse(node, why)
            for axis, n in enumerate(shape):
                if not isinstance(n, int) and n.is_Symbol:
                    symbols(n, bound)
                    allowed = exported.range_constraints.get(n)
                    if allowed is not None:
                        ranges.append((users.index(node.name), axis, allowed.lower, allowed.upper))
        elif node.op == "output":
            for spec, value in zip(signature.output_specs, node.args[0], strict=True):
                results.append((spec, value))
        elif node.target is torch.ops.fuser.seed.default:
            made[node] = emitter.input("i64", (), None, node.name)
            arguments.append(None)
        elif node.target is operator.getitem:
            made[node] = made[node.args[0]] and made[node.args[0]][node.args[1]]
        elif "val" in node.meta and isinstance(node.meta["val"], (torch.SymInt, int)):
            made[node] = extent(node.meta["val"])
        elif str(node.target) not in _TABLE and _is_constant(node):
            state[node.name] = node.target(*node.args, **node.kwargs)
            arguments.append(node.name)
            val = node.meta["val"]
            made[node] = emitter.input(supported_tensor(val), [extent(n) for n in val.shape], None, node.name)
        elif str(node.target) not in _TABLE:
            if node.users or "assert" not in str(node.target):
                refuse(node, "no lowering")
        elif all(made[n] is not None for n in node.all_input_nodes):
            try:
                values = lowered(emitter, node, made.__getitem__, _TABLE)
                made[node] = values if isinstance(node.meta["val"], (tuple, list)) else values[0]
            except Unsupported as why:
                refuse(node, why)
        else:
            made[node] = None
    if refused:
        raise ValueError("Fuser has no program for these ops of the exported model:\n  " + "\n  ".join(refused))
    texts, aliases = [], []
    names = {spec.target if spec.kind in _STATE else spec.arg.name: spec.arg.name for spec in signature.input_specs}
    places = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    # torch puts writes in front of the other results.
    writes = [spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION) for spec, _ in results]
    for (spec, node), written in zip(results, writes):
        if not isinstance(node, torch.fx.Node):
            raise ValueError(f"a result of the exported model is no tensor: {node!r}")
        val, order = node.meta["val"], None
        aliases.append(None)
        if written:
            place = places[names[spec.target]].meta["val"]
            key = spec.target if spec.target in state else users.index(spec.target)
            aliases[-1], order = arguments.index(key), order_of(place)
            if place.dtype != val.dtype or place.dim() != val.dim() or not all(map(same, map(extent, place.shape), map(extent, val.shape))):
                raise ValueError(f"the exported model writes {val.dtype} of shape {tuple(val.shape)} into {spec.target!r}")
            if key in state:
                state[key] = state[key].clone()
        shape = [extent(n) for n in val.shape]
        for n in shape:
            missing = [] if isinstance(n, int) else [s for s in n.free_symbols if str(s) not in map(str, bound.values())]
            if missing:
                raise ValueError(f"a result has the extent {n}, which is that of no input")
        texts.append(emitter.result(made[node], shape, order or list(range(len(shape)))))
    program = Program.parse(emitter.text(texts, aliases, places=True), filename="exported.fir")
    return Exported(program, state, exported.call_spec, arguments, fixed, ranges, sum(writes))


def _is_constant(node):
    """True for a tensor that torch makes of numbers alone, the same at each call."""
    val, random = node.meta.get("val"), torch.Tag.nondeterministic_seeded
    known = isinstance(val, torch.Tensor) and all(isinstance(n, int) for n in val.shape)
    return known and not node.all_input_nodes and random not in getattr(node.target, "tags", ())


def _tensor(exported, spec):
    """A parameter, buffer or constant of an exported program."""
    for tensors in (exported.state_dict, exported.constants):
        if spec.target in tensors:
            return tensors[spec.target].detach()
    raise ValueError(f"the exported program has no tensor {spec.target!r}")

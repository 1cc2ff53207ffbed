"""A graph of torch's ops cut into pieces for Fuser and ops that torch runs.

Nodes are judged one by one: a node whose lowering the compiler accepts may stand in a piece, each other one stays with torch, with the
reason. Views and tensors of constants belong to whoever reads them. A piece is all nodes with the same number of torch's ops in sequence
before them, so pieces are as few as the graph allows and never wait for each other in a circle. Nodes whose readers stand in later pieces
move there where fewer bytes cross.
"""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass, field
from typing import Any

import networkx
import sympy
import torch
from torch.fx import Graph, Node

from .. import Error, Program
from .emit import Emitter, Unsupported, dtype_of, extent, same, simple, symbols
from .lower import COMPUTE, CONSTANT, ROWS, VIEW, Context, lowered

TORCH = "torch"
INPUT = "input"
ITEM = "item"


@dataclass
class Length:
    """An extent of a piece, and the node and axis that hold each of its symbols; the axis is none where the node is a size."""

    size: Any
    sources: dict[Any, tuple[Node, int | None]]


@dataclass
class Piece:
    """A program of Fuser in a graph: what it reads and gives, in order, and its nodes."""

    number: int
    nodes: list[Node]
    device: torch.device = torch.device("cpu")
    inputs: list[Node] = field(default_factory=list)
    outputs: list[Node] = field(default_factory=list)
    text: str = ""
    located: str = ""
    #: Named extents that no input has as an axis. Each is passed as an empty tensor of that length.
    extents: list[Length] = field(default_factory=list)
    #: Results that are written into an input of the graph: the write (a `copy_`) of each.
    writes: dict[Node, Node] = field(default_factory=dict)
    #: What reads these inputs outside of the piece, and must have run before.
    after: list[Node] = field(default_factory=list)
    program: Any = None
    compiled: Any = None


@dataclass
class Plan:
    graph: Graph
    kind: dict[Node, str]
    pieces: list[Piece]
    piece_of: dict[Node, Piece]
    #: Why a node stays with torch.
    reasons: dict[Node, str]
    #: The lowerings.
    table: dict


# The judgement of nodes.

#: Texts of single nodes that were parsed: the refusal, or nothing.
_judged: dict[str, str | None] = {}


def tensors(node):
    """The tensors that a node gives; empty where it gives something else."""
    val = node.meta.get("val")
    vals = val if isinstance(val, (tuple, list)) else [val]
    return [v for v in vals if isinstance(v, torch.Tensor)]


def order_of(val):
    """The order of axes in memory, outermost first, if the tensor is dense in one; else `None`."""
    shape, strides = [extent(n) for n in val.shape], [_stride(extent(n)) for n in val.stride()]
    known = all(isinstance(n, int) for n in (*shape, *strides))
    axes = list(range(len(shape)))
    if known:
        moving = [a for a in axes if shape[a] != 1]
        if 0 in shape:
            return axes
        by_stride = sorted(moving, key=lambda a: (-strides[a], a))
    else:
        by_stride = _symbolic_order(shape, strides)
        if by_stride is None:
            return None
    step = 1
    for a in reversed(by_stride):
        if not _equal(strides[a], step):
            return None
        step = simple(step * shape[a])
    rest = [a for a in axes if a not in by_stride]
    if by_stride == sorted(by_stride):
        return axes
    return by_stride + rest


def _equal(a, b):
    return simple(a - b) == 0


def _stride(n):
    """A stride without the bound by which torch keeps it above 0: it matters in empty tensors alone."""
    if isinstance(n, int):
        return n
    bounded = lambda e: e.func.__name__ == "Max" and len(e.args) == 2 and 1 in e.args  # noqa: E731
    return simple(n.replace(bounded, lambda e: next(a for a in e.args if a != 1)))


def _symbolic_order(shape, strides):
    """Axes from the outermost to the innermost, each stride the product of what lies inside."""
    left, found, step = [a for a in range(len(shape)) if shape[a] != 1], [], 1
    while left:
        inner = next((a for a in reversed(left) if _equal(strides[a], step)), None)
        if inner is None:
            return None
        left.remove(inner)
        found.insert(0, inner)
        step = simple(step * shape[inner])
    return found


CPU = torch.device("cpu")

#: More bytes than any graph moves.
NEVER = float("inf")


def device_of(graph):
    """The device that pieces of a graph run on: the first GPU of its tensors, else the CPU."""
    devices = (val.device for node in graph.nodes for val in tensors(node))
    return next((device for device in devices if device.type == "cuda"), CPU)


def supported_tensor(val, device=CPU):
    """Raises where a tensor cannot cross into a piece that runs on `device`; a GPU reads tensors of rank 0 from the host too."""
    if val.device != device and not (val.device == CPU and val.dim() == 0):
        raise Unsupported(f"a tensor on {val.device} in a graph of {device}")
    if val.layout != torch.strided or type(val).__name__ not in ("FakeTensor", "Tensor", "Parameter"):
        raise Unsupported(f"a {type(val).__name__} of layout {val.layout}")
    if val.is_conj() or val.is_neg():
        raise Unsupported("a tensor whose sign is turned when it is read")
    return dtype_of(val.dtype)


def _value_of(emitter, val, device):
    if not isinstance(val, torch.Tensor):
        return extent(val)
    return emitter.input(supported_tensor(val, device), [extent(n) for n in val.shape])


def judge(node, table=ROWS, device=CPU):
    """Raises `Unsupported` unless the compiler takes the node's lowering."""
    if node.target is operator.getitem:
        raise Unsupported("an element of a tuple")
    if str(node.target) not in table:
        raise Unsupported("no lowering")
    if not tensors(node):
        raise Unsupported("no tensor comes out")
    for val in tensors(node):
        supported_tensor(val, device)
        if val.device != device and table[str(node.target)].kind != CONSTANT:
            raise Unsupported(f"a result on {val.device} in a graph of {device}")
    emitter, given = Emitter(), {}

    def read(n):
        if n not in given:
            given[n] = _value_of(emitter, n.meta["val"], device)
        return given[n]

    results = []
    for x, val in zip(lowered(emitter, node, read, table), Context(emitter, node).vals):
        if x is not None:
            shape = [extent(n) for n in val.shape]
            results.append(emitter.result(x, shape, list(range(len(shape)))))
    accepted(emitter.text(results))


def accepted(text):
    """Raises `Unsupported` unless the compiler takes a program of one op."""
    if text not in _judged:
        try:
            Program.parse(text)
            _judged[text] = None
        except Error as error:
            _judged[text] = f"{error.code}: {error.message}"
    if _judged[text] is not None:
        raise Unsupported(_judged[text])


def classify(graph, keep, table=ROWS, device=CPU):
    """The kind of each node, and the reasons of those that stay with torch. `keep(node)` is a reason to leave one there, or nothing."""
    kind, reasons = {}, {}
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            kind[node] = INPUT
        elif node.op == "output":
            kind[node] = "output"
        elif node.target is operator.getitem and kind.get(node.args[0]) in (COMPUTE, VIEW):
            kind[node] = ITEM
        elif node.target is operator.getitem or (not tensors(node) and not has_effect(node)):
            kind[node] = TORCH
        else:
            kind[node] = TORCH
            try:
                reason = keep(node)
                if reason is None:
                    judge(node, table, device)
                    kind[node] = table[str(node.target)].kind
            except Unsupported as why:
                reason = str(why)
            except Exception as error:  # never an error to the user
                reason = f"the lowering failed ({type(error).__name__}: {error})"
            if reason is not None:
                reasons[node] = reason
    return kind, reasons


# Pieces.


class Partition:
    """Pieces of a graph from the kinds of its nodes."""

    def __init__(self, graph, kind):
        self.graph, self.kind = graph, kind
        self.order = {node: i for i, node in enumerate(graph.nodes)}
        self.effects = {}  # a node that must come after another one, as both have effects
        self._chain_effects()
        self.roots, self.level = {}, {}
        for node in graph.nodes:
            self.roots[node] = self._find_roots(node)

    def _chain_effects(self):
        last = None
        for node in self.graph.nodes:
            if self.kind[node] == TORCH and has_effect(node):
                if last is not None:
                    self.effects[node] = last
                last = node

    def _find_roots(self, node):
        """The nodes whose elements a node is made of: it itself, unless it is a view or a constant.

        A constant that torch makes reads the shapes of tensors, which must be there; Fuser needs none.
        """
        kind = self.kind[node]
        views = kind == VIEW or (kind == ITEM and self.kind[node.args[0]] == VIEW)
        if not views and kind != CONSTANT:
            return (node,), (node,)
        inner = [self.roots[n] for n in node.all_input_nodes]
        for_torch = tuple(dict.fromkeys(root for _, roots in inner for root in roots))
        return (inner[0][0] if views else ()), for_torch

    def operands(self, node):
        """The roots of all that a node reads, each once."""
        by_torch = self.kind[node] != COMPUTE
        found = {root: None for n in node.all_input_nodes for root in self.roots[n][by_torch]}
        return list(found)

    @functools.cached_property
    def readers(self):
        """The computing nodes and those of torch that read each root, in order."""
        found = {}
        for node in self.graph.nodes:
            for root in self.operands(node) if self.kind[node] in (COMPUTE, TORCH) else ():
                found.setdefault(root, []).append(node)
        return found

    def producer(self, node):
        return node.args[0] if self.kind[node] == ITEM else node

    def assign(self):
        """The piece of each computing node, and for others how many pieces must have run before."""
        level = self.level
        for node in self.graph.nodes:
            kind = self.kind[node]
            if kind == COMPUTE:
                level[node] = max((self._ready(root) for root in self.operands(node)), default=0)
            elif kind == TORCH or kind == "output":
                after = [self._ready(root) + (self.kind[root] in (COMPUTE, ITEM)) for root in self.operands(node)]
                if node in self.effects:
                    after.append(level[self.effects[node]])
                level[node] = max(after, default=0)
            elif kind == INPUT:
                level[node] = 0

    def _ready(self, root):
        return self.level.get(self.producer(root), 0)

    def sink(self):
        """Moves nodes to later pieces where fewer bytes cross: a minimum cut for each piece, from the last on."""
        readers: dict = {}
        for node in self.graph.nodes:
            for root in self.operands(node) if self.kind[node] in (COMPUTE, TORCH, "output") else ():
                readers.setdefault(root, []).append(node)
        # Nodes by the piece that they run in, or that runs right before them.
        at: dict = {}
        for node in self.graph.nodes:
            if self.kind[node] in (COMPUTE, TORCH):
                at.setdefault(self.level[node] - (self.kind[node] == TORCH), []).append(node)
        for target in range(max(at, default=0), 0, -1):
            movable = self._movable(target, at.get(target, ()), readers)
            if movable:
                for node in self._moved(target, movable, readers):
                    self.level[node] = target
                    at.setdefault(target, []).append(node)

    def _values(self, node):
        """The values of a node, as roots."""
        return [node, *(u for u in node.users if self.kind[u] == ITEM)]

    def _movable(self, target, there, readers):
        """The computing nodes of earlier pieces that could run in the piece `target`: what is read there, and what only those read."""
        found: dict = {}
        late = {COMPUTE: target, TORCH: target + 1, "output": 0}
        stack = [self.producer(root) for node in there for root in self.operands(node)]
        while stack:
            node = stack.pop()
            if node in found or self.kind[node] != COMPUTE or self.level[node] >= target:
                continue
            users = [r for value in self._values(node) for r in readers.get(value, ())]
            if all(r in found or self.level[r] >= late[self.kind[r]] for r in users):
                found[node] = None
                stack += [self.producer(root) for root in self.operands(node)]
        return found

    def _moved(self, target, movable, readers):
        """The nodes that run in the piece `target` when fewest bytes are written and read between pieces.

        The network has an edge for each value that crosses, with its bytes: those on the side of the sink move.
        """
        flow = networkx.DiGraph()
        early, late = "early", "late"
        flow.add_nodes_from((early, late))

        def pays(begin, end, size):
            held = flow.get_edge_data(begin, end, {"capacity": 0})["capacity"]
            flow.add_edge(begin, end, capacity=held + size)

        values = [value for node in movable for value in self._values(node)]
        values += [root for node in movable for root in self.operands(node)]
        for value in dict.fromkeys(values):
            made = self.producer(value)
            size, own = size_of(value.meta["val"]), self.level[made]
            stays = made if made in movable else early
            users = readers.get(value, ())
            computed = self.kind[made] == COMPUTE
            among = [r for r in users if self.kind[r] == COMPUTE and (self.level[r] <= target)]
            crosses = not computed or len(among) < len(users)
            apart = any(self.level[r] != own for r in among)
            if made in movable:
                for reader in among:
                    if reader in movable:
                        flow.add_edge(reader, made, capacity=NEVER)
                if apart and not crosses:
                    pays(made, late, size)
            for level in {self.level[r] for r in among if r in movable} - {own if computed else None}:
                if not any(self.level[r] == level and r not in movable for r in among):
                    # One read for all that stay in this piece.
                    for reader in among:
                        if self.level[reader] == level:
                            flow.add_edge(reader, (value, level), capacity=NEVER)
                    pays((value, level), late, size)
            # One read for all that move, and the write if nothing else asks for it.
            moving = [r if r in movable else late for r in among if r in movable or self.level[r] == target]
            if stays is early and late in moving:
                continue
            flow.add_edge(stays, (value, target), capacity=size if crosses or apart else 2 * size)
            for reader in moving:
                flow.add_edge((value, target), reader, capacity=NEVER)
        _, (_, far) = networkx.minimum_cut(flow, early, late)
        return [node for node in movable if node in far]


def size_of(val):
    """The bytes of a tensor."""
    return count_of(val) * val.element_size() if isinstance(val, torch.Tensor) else 0


def count_of(val):
    """The elements of a tensor."""
    return math.prod(map(known, val.shape))


def known(n):
    """A length; a named extent counts as it was when it was traced."""
    if isinstance(n, torch.SymInt):
        n = n.node.hint if n.node.has_hint() else 64
    return int(n)


#: The namespaces of ops of which all that is seen is in their schemas and tags.
OURS = ("aten", "prims", "fuser")
_EFFECTS = ("_assert", "copy_", "print", "sym_constrain", "run_and_save_rng", "run_with_rng", "auto_functionalized", "with_effects")


def has_effect(node):
    """True if the order of such nodes among each other is seen from outside: random numbers, writes, checks."""
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        schema = target._schema
        if schema.is_mutable or torch.Tag.nondeterministic_seeded in target.tags:
            return True
        return any(word in schema.name for word in _EFFECTS) or target.namespace not in OURS
    if isinstance(target, torch._ops.HigherOrderOperator):
        return True
    return False


def plan(graph, keep, make, table=ROWS):
    """Cuts a graph by the lowerings of a table. `make(piece)` compiles a piece, or raises."""
    device = device_of(graph)
    kind, reasons = classify(graph, keep, table, device)
    partition = Partition(graph, kind)
    partition.assign()
    partition.sink()
    by_level = {}
    for node in graph.nodes:
        if kind[node] == COMPUTE:
            by_level.setdefault(partition.level[node], []).append(node)
    pieces = []
    for level in sorted(by_level):
        piece = Piece(len(pieces), by_level[level], device)
        pieces.append(piece)
    result = Plan(graph, kind, [], {}, reasons, table)
    settle(result, partition, pieces, make)
    return result


def settle(result, partition, pieces, make):
    """Writes the text of each piece; one that cannot be written goes to torch as a whole."""
    for piece in pieces:
        reason = lone(piece)
        if reason is None:
            try:
                write(result, partition, piece)
                make(piece)
            except Unsupported as why:
                reason = str(why)
            except Error as error:
                reason = f"its piece is refused: {error.code}: {error.message}"
            except Exception as error:
                reason = f"the piece failed ({type(error).__name__}: {error})"
        if reason is not None:
            for node in piece.nodes:
                leave(result, node, reason)
            continue
        result.pieces.append(piece)
    for number, piece in enumerate(result.pieces):
        piece.number = number
        for node in piece.nodes:
            result.piece_of[node] = piece


def leave(result, node, reason):
    """Gives a computing node back to torch."""
    result.kind[node] = TORCH
    result.reasons[node] = reason
    for user in node.users:
        if result.kind.get(user) == ITEM:
            result.kind[user] = TORCH


_COPIES = {"aten.clone.default", "aten.lift_fresh_copy.default"}


def lone(piece):
    """A reason not to make a piece of these nodes."""
    if len(piece.nodes) == 1 and str(piece.nodes[0].target) in _COPIES:
        return "a copy alone"
    return None


def write(result, partition, piece):
    """The inputs, outputs and text of a piece."""
    kind = result.kind
    members = set(piece.nodes)
    emitter = Emitter()
    made: dict[Node, object] = {}
    named, bound = {}, {}

    def read(start):
        """The value of a node, which may be a view or a constant that is repeated here."""
        stack = [start]
        while stack:
            node = stack[-1]
            if node in made:
                stack.pop()
                continue
            k = kind[node]
            if k == ITEM and (kind[node.args[0]] == VIEW or node.args[0] in members):
                if node.args[0] not in made:
                    stack.append(node.args[0])
                    continue
                made[node] = made[node.args[0]][node.args[1]]
            elif k in (VIEW, CONSTANT) and isinstance(node.meta["val"], (torch.Tensor, tuple, list)):
                missing = [n for n in node.all_input_nodes if n not in made] if k == VIEW else []
                if missing:
                    stack.extend(missing)
                    continue
                emitter.place = place_of(node)
                values = lowered(emitter, node, made.__getitem__, result.table)
                made[node] = values if isinstance(node.meta["val"], (tuple, list)) else values[0]
            else:
                val = node.meta["val"]
                if isinstance(val, torch.Tensor):
                    shape = [extent(n) for n in val.shape]
                    made[node] = emitter.input(supported_tensor(val, piece.device), shape, order_of(val))
                    piece.inputs.append(node)
                    for n in shape:
                        symbols(n, named)
                        if not isinstance(n, int) and not (n.is_Add or n.is_Mul or n.is_Pow):
                            symbols(n, bound)
                else:
                    made[node] = extent(val)
            stack.pop()
        return made[start]

    for node in piece.nodes:
        for n in node.all_input_nodes:
            read(n)
        emitter.place = place_of(node)
        values = lowered(emitter, node, made.__getitem__, result.table)
        made[node] = values if isinstance(node.meta["val"], (tuple, list)) else values[0]
    results, aliases = [], []
    for node in outputs_of(partition, members):
        val = node.meta["val"]
        found = write_of(partition, node, members)
        if found is not None:
            piece.writes[node], readers = found
            piece.after += readers
            val = found[0].args[0].meta["val"]
        target = found and found[0].args[0]
        aliases.append(piece.inputs.index(target) if target in piece.inputs else None)
        shape = [extent(n) for n in val.shape]
        x = made[node] if kind[node] != ITEM else made[node.args[0]][node.args[1]]
        order = order_of(val)
        if order is None and not all(isinstance(n, int) for n in (*val.shape, *val.stride())):
            raise Unsupported("a result with gaps and named extents")
        results.append(emitter.result(x, shape, order if order is not None else list(range(len(shape)))))
        piece.outputs.append(node)
    for node, value in made.items():
        symbols(value if isinstance(value, sympy.Expr) else 0, named)
        for val in tensors(node):
            for n in val.shape:
                symbols(extent(n), named)
    for name, atom in named.items():
        if name not in bound:
            sources = {symbol: source_of(result.graph, symbol) for symbol in sorted(atom.free_symbols, key=str)}
            emitter.inputs.append(f"%x{len(piece.extents)}: tensor<[{name}]x0xf32>")
            piece.extents.append(Length(atom, sources))
    if not piece.inputs:
        raise Unsupported("no tensor goes in")
    if not piece.outputs:
        raise Unsupported("nothing is read")
    piece.text, piece.located = emitter.text(results, aliases), emitter.text(results, aliases, places=True)


def source_of(graph, symbol):
    """The node that holds a symbol, and the axis of it if it is a tensor."""
    for node in graph.nodes:
        val = node.meta.get("val")
        if node.op == "placeholder" and isinstance(val, torch.SymInt) and extent(val) == symbol:
            return node, None
    for node in graph.nodes:
        val = node.meta.get("val")
        if node.op == "placeholder" and isinstance(val, torch.Tensor):
            for axis, n in enumerate(val.shape):
                if extent(n) == symbol:
                    return node, axis
    raise Unsupported(f"the symbol {symbol}, which no input has")


#: Ops whose results may be their operands' memory, though their schemas do not say so.
_QUIET_VIEWS = {"aten::_unsafe_view", "aten::_reshape_alias", "aten::reshape", "aten::contiguous", "aten::lift_fresh", "aten::to", "aten::_to_copy"}


def may_alias(node):
    """True if a result of torch's may lie in the memory of an operand, where whoever reads it later would see a write."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return True
    schema = node.target._schema
    return schema.name in _QUIET_VIEWS or any(result.alias_info is not None for result in schema.returns)


def write_of(partition, value, members):
    """The `copy_` that a result may stand for, written where that writes, and who reads that input elsewhere; or nothing.

    It may where nobody else outside of the piece reads the result, and all others have read the input before the piece must run.
    """
    readers = _readers_outside(partition, value, members)
    if len(readers) != 1:
        return None
    (write,) = readers
    if write.target is not torch.ops.aten.copy_.default or write.users or write.args[1] is not value or len(write.args) != 2:
        return None
    place = write.args[0]
    given, made = place.meta["val"], value.meta["val"]
    if place.op != "placeholder" or made.dtype != given.dtype or order_of(given) is None or made.dim() != given.dim():
        return None
    if not all(same(extent(a), extent(b)) for a, b in zip(given.shape, made.shape)):
        return None
    level = partition.level[partition.producer(value)]
    after = []
    for node in partition.readers.get(place, ()):
        kind = partition.kind[node]
        if node is write or node in members:
            continue
        early = partition.level[node] < level if kind == COMPUTE else partition.level[node] <= level
        if not early or node.target is torch.ops.aten.copy_.default or (kind == TORCH and may_alias(node)):
            return None
        after.append(node)
    return write, after


def outputs_of(partition, members):
    """The values of a piece that torch, another piece or the caller reads, in the graph's order."""
    found = {}
    for node in members:
        for value in [node, *(u for u in node.users if partition.kind[u] == ITEM)]:
            if isinstance(value.meta["val"], torch.Tensor) and _readers_outside(partition, value, members):
                found[value] = None
    return sorted(found, key=partition.order.__getitem__)


def _readers_outside(partition, value, members):
    """The readers, through views, outside of the piece."""
    stack, found = [value], {}
    while stack:
        for user in stack.pop().users:
            kind = partition.kind[user]
            if kind in (VIEW, CONSTANT) or (kind == ITEM and partition.kind[user.args[0]] == VIEW):
                stack.append(user)
            elif kind == ITEM:
                continue
            elif user not in members:
                found[user] = None
    return list(found)


def place_of(node):
    """The line of the model, as a location."""
    trace = node.meta.get("stack_trace")
    if not trace:
        return ""
    lines = [line for line in trace.splitlines() if line.lstrip().startswith("File ")]
    if not lines:
        return ""
    parts = lines[-1].split('"')
    number = parts[2].split("line ")[-1].split(",")[0] if len(parts) > 2 else ""
    if not number.isdigit() or "\\" in parts[1]:
        return ""
    return f' loc("{parts[1]}":{number}:1)'

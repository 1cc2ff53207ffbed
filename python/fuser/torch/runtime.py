"""A plan as one Python function: torch's ops and pieces in an order that both allow, each tensor given up behind its last reader.

Nothing is run before it is needed, so that few tensors live at once; what torch writes into inputs comes last, and a piece writes there when
all others have read them. Results of a piece are compared with what torch expects at its first call: shape, element type, strides. A piece
that fails is run by torch instead.
"""

from __future__ import annotations

import math
import operator

import torch
from torch.fx import Node
from torch.utils._sympy.printers import PythonPrinter

from .emit import extent
from .graph import COMPUTE, INPUT, ITEM, TORCH, has_effect, order_of
from .log import logger
from .random import draw

aten = torch.ops.aten

#: Functions that do the same as an op with less on the way.
DIRECT = {
    aten.mm.default: torch.mm, aten.bmm.default: torch.bmm, aten.addmm.default: torch.addmm, aten.t.default: torch.t,
    aten.view.default: torch.Tensor.view, aten._unsafe_view.default: torch.Tensor.view, aten.expand.default: torch.Tensor.expand,
    aten.transpose.int: torch.transpose, aten.permute.default: torch.permute, aten.unsqueeze.default: torch.unsqueeze,
    aten.squeeze.dim: torch.squeeze, aten.select.int: torch.select, aten.convolution.default: torch.convolution,
    operator.getitem: operator.getitem, torch.ops.fuser.seed.default: draw,
}  # fmt: skip


class Writer:
    """Lines of a function, and the objects that they name."""

    def __init__(self):
        self.lines, self.env, self.names = [], {}, {}

    def name(self, node):
        if node not in self.names:
            self.names[node] = f"n{len(self.names)}"
        return self.names[node]

    def object(self, value, stem="c"):
        name = f"{stem}{len(self.env)}"
        self.env[name] = value
        return name

    def argument(self, value):
        """The text of an argument."""
        if isinstance(value, Node):
            return self.names[value]
        if isinstance(value, (list, tuple)):
            inner = ", ".join(self.argument(v) for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and value == value and abs(value) != float("inf")):
            return repr(value)
        if isinstance(value, slice):
            return f"slice({self.argument(value.start)}, {self.argument(value.stop)}, {self.argument(value.step)})"
        return self.object(value)


def schedule(graph, plan):
    """The steps: nodes that torch runs, and pieces."""
    kind, piece_of = plan.kind, plan.piece_of
    steps, done, last_effect = [], set(), {}
    previous = None
    by_pieces = {write for piece in plan.pieces for write in piece.writes.values()}
    writes = [n for n in graph.nodes if kind[n] == TORCH and n.target is aten.copy_.default]
    late = set(writes)
    for node in graph.nodes:
        if kind[node] == TORCH and has_effect(node) and node not in late:
            if previous is not None:
                last_effect[node] = previous
            previous = node

    def unit(node):
        """What runs as one: a piece, or a node."""
        if kind[node] == ITEM and kind[node.args[0]] == COMPUTE:
            node = node.args[0]
        return piece_of[node] if kind[node] == COMPUTE else node

    def needs(step):
        if not isinstance(step, Node):
            return [unit(n) for n in (*step.inputs, *sizes(step), *step.after)]
        needed = [unit(n) for n in step.all_input_nodes]
        if step in last_effect:
            needed.append(last_effect[step])
        return needed

    def run(goal):
        stack = [goal]
        while stack:
            step = stack[-1]
            missing = [s for s in needs(step) if id(s) not in done and not (isinstance(s, Node) and kind[s] == INPUT)]
            if id(step) in done:
                stack.pop()
            elif missing:
                if len(stack) > 4 * len(kind) + 16:
                    raise RuntimeError("steps that wait for each other")
                stack.extend(reversed(missing))
            else:
                done.add(id(step))
                steps.append(step)
                stack.pop()

    for node in graph.nodes:
        if kind[node] == TORCH and node not in late and (node.users or has_effect(node)):
            run(node)
    outputs = next(n for n in graph.nodes if n.op == "output")
    for node in outputs.all_input_nodes:
        if kind[node] != INPUT and node not in late:
            run(unit(node))
    for node in writes:
        run(unit(node.args[1]) if node in by_pieces else node)
    return steps


def build(module, plan, timing=None):
    """The function of a plan, from a list of arguments that it clears to a list of results."""
    graph, w = plan.graph, Writer()
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    for node in graph.nodes:
        if node.op == "get_attr":
            w.names[node] = w.object(_attribute(module, node.target), "g")
    steps = schedule(graph, plan)
    output = next(n for n in graph.nodes if n.op == "output")
    returned = list(output.args[0])
    last = _last_uses(steps, returned, plan)
    arguments = "".join(w.name(n) + ", " for n in placeholders)
    w.lines.append(f"{arguments}= args" if arguments else "pass")
    w.lines.append("args.clear()")
    dead = [w.names[n] for n in placeholders if n not in last and n not in returned]
    if dead:
        w.lines.append(f"del {', '.join(dead)}")
    kept = set(returned)
    for number, step in enumerate(steps):
        if isinstance(step, Node):
            torch_step(w, plan, step, returned)
        else:
            piece_step(w, module, plan, step, timing)
        gone = [n for n in last.get(number, ()) if n not in kept and n.op != "get_attr"]
        gone = [w.names[n] for n in gone if n in w.names]
        if gone:
            w.lines.append(f"del {', '.join(dict.fromkeys(gone))}")
    w.lines.append(f"return [{', '.join(w.argument(v) for v in returned)}]")
    return _function(w)


def _function(w):
    source = "def call(args):\n" + "".join(f"    {line}\n" for line in w.lines)
    exec(compile(source, "<fuser.torch>", "exec"), w.env)
    call = w.env["call"]
    call.source = source
    return call


def _attribute(module, target):
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _last_uses(steps, returned, plan):
    """The nodes that no later step reads, for each step; as a key, a node that any step reads."""
    uses = {}
    for number, step in enumerate(steps):
        read = step.all_input_nodes if isinstance(step, Node) else [*step.inputs, *sizes(step), *places(step)]
        made = [step] if isinstance(step, Node) else step.outputs
        for node in (*read, *made):
            uses[node] = number
    last = dict.fromkeys(uses)
    for node, number in uses.items():
        last.setdefault(number, []).append(node)
    return last


_SAME = {aten.detach.default, aten.alias.default}


def torch_step(w, plan, node, returned):
    arguments = [w.argument(a) for a in node.args]
    if node.target in _SAME and node not in returned:
        w.lines.append(f"{w.name(node)} = {arguments[0]}")
        return
    arguments += [f"{key}={w.argument(value)}" for key, value in node.kwargs.items()]
    target = node.target
    function = DIRECT.get(target)
    if function is None:
        function = target._op if isinstance(target, torch._ops.OpOverload) else target
    name = next((n for n, v in w.env.items() if v is function), None) or w.object(function, "f")
    w.lines.append(f"{w.name(node)} = {name}({', '.join(arguments)})")


def sizes(piece):
    """The nodes that hold the symbols of the extents of a piece."""
    return [node for length in piece.extents for node, _ in length.sources.values()]


def length_text(w, length):
    """The code of an extent, computed from the nodes that hold its symbols."""
    held = {symbol: w.argument(n) if axis is None else f"{w.argument(n)}.shape[{axis}]" for symbol, (n, axis) in length.sources.items()}
    if length.size in held:
        return held[length.size]
    w.env.setdefault("math", math)
    return f"(lambda {', '.join(map(str, held))}: {PythonPrinter().doprint(length.size)})({', '.join(held.values())})"


def piece_step(w, module, plan, piece, timing):
    # torch makes tensors with gaps dense on a GPU.
    gaps = [piece.device.type != "cpu" and order_of(n.meta["val"]) is None for n in piece.inputs]
    arguments = [f"{w.argument(n)}.contiguous()" if gap else w.argument(n) for n, gap in zip(piece.inputs, gaps)]
    for length in piece.extents:
        arguments.append(f"{w.object(torch.empty, 'f')}(({length_text(w, length)}, 0))")
    outputs = [w.name(n) for n in piece.outputs]
    name = w.object(None, "k")
    checked = First(w.env, name, piece, module, plan)
    w.env[name] = checked if timing is None else timing.timed(checked, piece)
    checked.wrap = (lambda f: f) if timing is None else lambda f: timing.timed(f, piece)
    targets = into(piece)
    given = ", ".join("None" if n is None else w.names[n] for n in targets)
    call = f"[{', '.join(arguments)}], {f'[{given}]' if any(targets) else None}, None, True"
    left = "".join(f"{out}, " for out in outputs)
    w.lines.append(f"try: {left}= {name}({call})")
    w.lines.append(f"except Exception as error: {left}= {w.object(checked.failed, 'e')}(error, {call})")
    for node, out in zip(piece.outputs, outputs):
        if node not in piece.writes:
            restride(w, node, out)


def places(piece):
    """The inputs of the graph that a piece writes into."""
    return [write.args[0] for write in piece.writes.values()]


def into(piece):
    """For each result the input of the graph that it is written into, unless the piece reads that too: the program then says so."""
    targets = [piece.writes[n].args[0] if n in piece.writes else None for n in piece.outputs]
    return [None if target in piece.inputs else target for target in targets]


def restride(w, node, out):
    """The strides that torch expects where the program's result has others."""
    val = node.meta["val"]
    if not all(isinstance(n, int) for n in (*val.shape, *val.stride())):
        return
    shape, strides = tuple(val.shape), tuple(val.stride())
    order = order_of(val)
    if order is None:
        w.lines.append(f"{out} = {out}.new_empty_strided({shape}, {strides}).copy_({out})")
    elif natural(shape, order) != strides:
        w.lines.append(f"{out} = {w.object(torch.as_strided, 'f')}({out}, {shape}, {strides})")


def natural(shape, order):
    """The strides that a program's result has: dense in `order`."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


class First:
    """The first call of a piece, whose results are compared with what torch expects. It then stands aside."""

    def __init__(self, env, name, piece, module, plan):
        self.env, self.name, self.piece, self.module, self.plan = env, name, piece, module, plan
        self._eager = None
        self.wrap = None

    def __call__(self, arguments, out=None, *_):
        """Runs the piece; what it writes into inputs, it writes into copies, as torch may have to run the piece instead."""
        piece = self.piece
        kept, kept_out = list(arguments), list(out or ())
        targets = []
        for number, node in enumerate(piece.outputs):
            if node not in piece.writes:
                continue
            held, at = (kept_out, number) if kept_out and kept_out[number] is not None else (kept, piece.inputs.index(piece.writes[node].args[0]))
            targets.append((number, held[at]))
            held[at] = held[at].detach().clone()
        results = piece.compiled.call_list(kept, kept_out or None, None, True)
        expected = [(piece.writes[n].args[0] if n in piece.writes else n).meta["val"] for n in piece.outputs]
        wrong = [text for val, x in zip(expected, results) if (text := difference(val, x))]
        if wrong:
            return self.failed(RuntimeError(wrong[0]), arguments, out)
        for number, target in targets:
            target.copy_(results[number])
        self.env[self.name] = self.wrap(piece.compiled.call_list)
        return results

    def failed(self, error, arguments, out=None, *_):
        """The results by torch, from now on."""
        logger.warning("piece %d is left to torch: %s", self.piece.number, str(error).splitlines()[0])
        if self._eager is None:
            self._eager = eager(self.module, self.plan, self.piece)
        self.env[self.name] = self._eager
        return self._eager(arguments, out)


def difference(val, x):
    """A text that says how a result differs from what torch expects, or nothing. Named extents are not compared."""
    if not isinstance(x, torch.Tensor):
        return f"a {type(x).__name__} in place of a tensor"
    if (x.dtype, x.device) != (val.dtype, val.device):
        return f"{x.dtype} on {x.device} in place of {val.dtype} on {val.device}"
    if x.dim() != val.dim():
        return f"rank {x.dim()} in place of {val.dim()}"
    order = order_of(val)
    for axis, (have, want) in enumerate(zip(x.shape, val.shape)):
        want = extent(want)
        if isinstance(want, int) and have != want:
            return f"extent {have} of axis {axis} in place of {want}"
    wanted = natural(tuple(x.shape), order if order is not None else list(range(x.dim())))
    for axis, (have, want) in enumerate(zip(x.stride(), wanted)):
        if x.shape[axis] > 1 and x.numel() and have != want:
            return f"stride {have} of axis {axis} in place of {want}"
    return None


def held_size(w, piece, size):
    """The code of a size: the length of an axis of an argument of a piece."""
    if isinstance(size, int):
        return str(size)
    for number, length in enumerate(piece.extents):
        if length.size == size:
            return f"x{number}.shape[0]"
    for node in piece.inputs:
        for axis, n in enumerate(node.meta["val"].shape):
            if extent(n) == size:
                return f"{w.names[node]}.shape[{axis}]"
    raise RuntimeError(f"no argument of the piece has the size {size}")


def eager(module, plan, piece):
    """The nodes of a piece as a function of torch's ops."""
    w = Writer()
    for n, node in enumerate(piece.inputs):
        w.name(node)
    arguments = [w.names[n] for n in piece.inputs] + [f"x{i}" for i in range(len(piece.extents))]
    given, graph = set(piece.inputs), plan.graph
    needed, stack = set(), [*piece.outputs]
    while stack:
        node = stack.pop()
        if node in needed or node in given:
            continue
        needed.add(node)
        stack.extend(node.all_input_nodes)
    for node in graph.nodes:
        if node not in needed:
            continue
        if node.op == "get_attr":
            w.names[node] = w.object(_attribute(module, node.target), "g")
        elif node.op == "placeholder":
            w.lines.append(f"{w.name(node)} = {held_size(w, piece, extent(node.meta['val']))}")
        else:
            torch_step(w, plan, node, piece.outputs)
    for number, (node, target) in enumerate(zip(piece.outputs, into(piece))):
        if node in piece.writes:
            place = w.names[piece.writes[node].args[0]] if target is None else f"out[{number}]"
            w.lines.append(f"{place}.copy_({w.names[node]})")
    w.lines.append(f"return [{', '.join(w.names[n] for n in piece.outputs)}]")
    w.lines.insert(0, f"{''.join(f'{n}, ' for n in arguments)}= arguments")
    source = "def call(arguments, out=None, *_):\n" + "".join(f"    {line}\n" for line in w.lines)
    exec(compile(source, "<fuser.torch>", "exec"), w.env)
    return w.env["call"]

"""An executor for lightning-thunder: regions of thunder's traces as programs of Fuser, forward and backward, on the CPU.

    import fuser.thunder, thunder
    compiled = thunder.jit(model, executors=[fuser.thunder.executor])

`PRIMS` has a row for each prim of thunder that Fuser computes. Thunder's partition puts such prims into regions. Torch runs all others, for
a reason that the log of level INFO has. docs/thunder.md is the manual.
"""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any, Callable

import thunder.torch as ltorch
import torch
from thunder.core import dtypes, prims, utils
from thunder.core.codeutils import SigInfo
from thunder.core.compile_data import get_compile_option
from thunder.core.prims import OpTags, PrimIDs
from thunder.core.proxies import NumberProxy, TensorProxy, unvariableify
from thunder.core.rematerialization import rematerialize
from thunder.core.symbol import has_tags
from thunder.core.trace import TraceCtx, TraceProvenance, from_trace, tracectx
from thunder.core.transform_common import dce
from thunder.executors.data_dependent_partition import consecutive_fusion, fuse_bound_symbols
from thunder.executors.passes import transform_for_execution, update_fusion_call_ctx
from thunder.executors.torchex import ex as torch_executor
from thunder.executors.utils import Region
from thunder.extend import FUEL_LEVEL, FusionExecutor, register_executor

from . import __version__
from .torch import lower
from .torch.backend import Options, make
from .torch.emit import NARROW, PARTS, Emitter, Unsupported, Value, dtype_of, same
from .torch.graph import accepted
from .torch.lower.table import convert
from .torch.lower.whole import WHOLE

__all__ = ["PRIMS", "executor"]

logger = logging.getLogger("fuser")

#: Options of `thunder.jit`.
OPTIONS = {
    "fuser_products": "True: Fuser computes products of matrices, not torch.",
    "fuser_recompute": "False: a region saves each value that another one reads.",
    "fuser_shape_only": "True: regions of shape ops alone are programs, and no results are left to torch as views.",
    "fuser_skip": "Names of prims that stay with torch.",
    "fuser_threads": "The number of threads that run a region; all where it is left out.",
}


def option(name):
    return get_compile_option(name, OPTIONS[name])


# The table.


class Context(lower.Context):
    """A prim that is lowered, with what rows of `fuser.torch` read of a node."""

    def __init__(self, emitter, bsym):
        self.e, self.vals = emitter, [_like(x) for x in _outputs(bsym) if x is not None]
        self.common = next((_like(x) for x in _tensors(bsym.flat_proxy_args)), self.val).dtype

    def promoted(self, *_):
        """The type of the operands, which thunder has promoted."""
        return self.common

    def aten(self, name, *args, **kwargs):
        """The lowering of an op of torch."""
        self.node = SimpleNamespace(target=f"aten.{name}")
        return (lower.ROWS.get(self.node.target) or WHOLE[self.node.target]).lower(self, *args, **kwargs)


def _tensors(xs):
    return [x for x in xs if isinstance(x, TensorProxy)]


def _outputs(bsym):
    """The results, `None` for one that nobody reads."""
    return list(utils.sequencify(bsym.output))


def _like(x):
    return SimpleNamespace(shape=tuple(map(number, x.shape)), dtype=dtypes.to_torch_dtype(x.dtype))


def number(x):
    """A number that thunder guards as a constant."""
    if not isinstance(x, NumberProxy):
        return x
    if x.value is None or not x.is_static_constrained():
        raise Unsupported("a number that is not known before the call")
    return x.value


#: Ops of torch by the prims that have the same arguments.
SAME = {name: f"{name}.default" for name in (
    "abs acos acosh asin asinh atan atan2 atanh bitwise_not ceil cos cosh erf erfc exp exp2 expm1 floor isfinite log log10 log1p log2 "
    "maximum minimum neg reciprocal round rsqrt sign sin sinh sqrt tan tanh trunc amax amin argmax argmin cat flip index_put"
).split()}  # fmt: skip
SAME |= {name: f"{name}.Tensor" for name in (
    "add sub mul fmod remainder eq ne lt le gt ge lerp bitwise_and bitwise_or bitwise_xor"
).split()}  # fmt: skip
SAME |= {
    "linear": "linear.default", "matmul": "matmul.default", "pow": "pow.Tensor_Tensor", "prod": "prod.dim_int", "reshape": "view.default",
    "squeeze": "squeeze.dims", "std": "std.correction", "sum": "sum.dim_IntList", "transpose": "permute.default", "var": "var.correction",
    "var_mean": "var_mean.correction", "view": "view.default", "where": "where.self",
}  # fmt: skip

#: A function from a `Context` and a prim's arguments to its results, by the prim's id. Some ops of `thunder.torch` are prims, too.
PRIMS: dict[Any, Callable] = {}


def row(*ids):
    def enter(lower):
        PRIMS.update(dict.fromkeys(ids, lower))
        return lower

    return enter


for _name, _op in SAME.items():
    row(PrimIDs[_name.upper()])(lambda c, *args, op=_op, **kwargs: c.aten(op, *args, **kwargs))

for _name, _op in {
    "erfinv": "erfinv", "erfcinv": "erfcinv", "lgamma": "lgamma", "bitwise_left_shift": "shl", "bitwise_right_shift": "shr",
    "nextafter": "nextafter",
}.items():  # fmt: skip

    @row(PrimIDs[_name.upper()])
    def _(c, *args, op=_op):
        if op == "nextafter" and dtype_of(c.common) in NARROW:
            raise Unsupported("neighbours of narrow floats")
        return c.elementwise(args, c.common, lambda e, *xs: getattr(e, op)(*xs))


@row(PrimIDs.DIV)
def _(c, a, b):
    """Integers are divided toward zero."""
    return c.aten("div.Tensor", a, b) if c.common.is_floating_point else c.aten("div.Tensor_mode", a, b, rounding_mode="trunc")


@row(PrimIDs.SIGNBIT)
def _(c, x):
    if x.dtype == "i1":
        raise Unsupported("the sign of truth values")
    if c.common.is_floating_point:
        x = _bits(c, x, f"i{c.common.itemsize * 8}")
    return c.e.compare(x, c.e.constant(0, x.dtype), "lt")


@row(PrimIDs.BITCAST)
def _(c, x, dtype):
    return _bits(c, x, c.dtype)


def _bits(c, x, to):
    return c.e.elementwise("bitcast", x, dtype=to, clauses=f"to {to}")


@row(PrimIDs.CONVERT_ELEMENT_TYPE)
def _(c, x, dtype):
    return convert(c.e, x, c.dtype)


# Shapes.


@row(PrimIDs.SHALLOW_COPY, PrimIDs.CLONE)
def _(c, x, **_):
    return x


@row(PrimIDs.BROADCAST_IN_DIM)
def _(c, x, shape, dims):
    return c.e.broadcast(x, c.shape, dims)


@row(PrimIDs.SLICE)
def _(c, x, starts, ends, strides=None):
    return c.e.slice(x, starts, c.shape, strides if strides and any(n != 1 for n in strides) else None)


@row(PrimIDs.PAD)
def _(c, x, value, config):
    """For each axis: elements before it, behind it and between its elements; those below 0 are taken away."""
    e, zeros = c.e, [0] * x.rank
    value = c.value(value, x.dtype)
    for axis, (_, _, between) in enumerate(config):
        if between and x.shape[axis] > 1:
            shape = list(x.shape)
            shape[axis] += (shape[axis] - 1) * between
            gaps = [between if a == axis + 1 else 0 for a in range(x.rank + 1)]
            x = e.pad(e.unsqueeze(x, axis + 1), value, [0, *zeros], gaps)
            x = e.reshape(x, [*shape[:axis], x.shape[axis] * (between + 1), *shape[axis + 1 :]])
            x = e.slice(x, zeros, shape)
    low, high = ([max(n[side], 0) for n in config] for side in (0, 1))
    starts = [max(-n[0], 0) for n in config]
    x = e.slice(x, starts, [n - start - max(-at[1], 0) for n, start, at in zip(x.shape, starts, config)])
    return e.pad(x, value, low, high)


@row(PrimIDs.STRIDE_ORDER)
def _(c, x, order):
    """The axis of order 0 is the innermost one. Layouts matter in results alone."""
    x = c.e.tensor(x)
    c.e.orders[x.name] = sorted(range(x.rank), key=lambda axis: -order[axis])
    return x


# Tensors of numbers.


@row(PrimIDs.FULL)
def _(c, shape, value, **_):
    return c.aten("full.default", shape, value)


@row(PrimIDs.IOTA)
def _(c, length, *, start, step, **_):
    return c.aten("arange.start_step", start, None, step)


# Indices.


@row(PrimIDs.TAKE)
def _(c, x, indices, dim):
    return c.aten("index_select.default", x, dim, indices)


@row(PrimIDs.TAKE_ALONG_AXIS, PrimIDs.GATHER)
def _(c, x, indices, dim):
    return c.aten("gather.default", x, dim, indices)


for _name, _op in {
    "index_add": "index_add.default", "index_copy": "index_copy.default", "scatter": "scatter.src", "scatter_add": "scatter_add.default",
}.items():  # fmt: skip
    row(PrimIDs[_name.upper()])(lambda c, x, indices, source, dim, op=_op: c.aten(op, x, dim, indices, source))


@row(PrimIDs.EMBEDDING, ltorch.embedding.id)
def _(c, indices, table, padding_idx=None, max_norm=None, *_, **__):
    if max_norm is not None:
        raise Unsupported("rows that are changed where their norm is too great")
    return c.aten("embedding.default", table, indices)


@row(PrimIDs.EMBEDDING_BACKWARD)
def _(c, g, indices, count, padding, by_frequency, sparse):
    if sparse:
        raise Unsupported("a sparse gradient")
    return c.aten("embedding_dense_backward.default", g, indices, count, -1 if padding is None else padding, by_frequency)


@row(ltorch.nll_loss_backward.id)
def _(c, g, x, target, weight, reduction, ignored, total):
    e = c.e
    if x.rank != 2 or weight is not None or target.dtype not in ("i64", "i32"):
        raise Unsupported("a loss with weights or probabilities, or of other than two axes")
    g = e.neg(e.div(g, e.cast(total, g.dtype)) if reduction == "mean" else g)
    # A class that no column has is hit nowhere.
    target = e.where(e.compare(target, e.constant(ignored, target.dtype), "eq"), e.constant(-1, target.dtype), target)
    hit = e.compare(e.iota(1, x.shape, target.dtype), e.broadcast(target, x.shape, [0]), "eq")
    return e.where(hit, e.broadcast(g, x.shape, [0] if g.rank else []), e.constant(0, g.dtype))


# Order.


@row(ltorch.cumsum.id)
def _(c, x, dim, *, dtype=None):
    return c.aten("cumsum.default", x, dim)


@row(PrimIDs.SORT)
def _(c, x, dim, descending, _):
    return c.aten("sort.default", x, dim=dim, descending=bool(descending))


@row(ltorch.argsort.id)
def _(c, x, dim=-1, descending=False, stable=False):
    return c.aten("sort.default", x, dim=-1 if dim is None else dim, descending=bool(descending))[1]


@row(PrimIDs.TOPK)
def _(c, x, count, dim, largest, sorted):
    if not x.rank or not sorted:
        raise Unsupported("a tensor without axes, or elements in torch's own order")
    clauses = f"dim {dim % x.rank} first {count} of i64" + ("" if largest else " smallest")
    values, places = c.e.many("topk", (x,), clauses, 2)
    return [Value(values, x.dtype, c.shape), Value(places, "i64", c.shape)]


#: Prims that torch's libraries compute well. An option gives them to Fuser.
PRODUCTS = {PrimIDs.MATMUL, PrimIDs.LINEAR}
#: Functions whose prims round a quotient of narrow floats at another place than torch does.
_ROUNDED = {ltorch.div.id, ltorch.floor_divide.id}
#: Prims that make a tensor of no others, or a copy: a region of these alone is no program.
_LIGHT = {PrimIDs.FULL, PrimIDs.IOTA, PrimIDs.CLONE}


# Programs.


def lowered(e, bsym, made):
    """Writes a prim; its results go to `made`."""

    def read(x):
        if isinstance(x, TensorProxy):
            return made[x.name]
        return type(x)(map(read, x)) if type(x) in (list, tuple) else number(x)

    c = Context(e, bsym)
    results = PRIMS[bsym.sym.id](c, *map(read, bsym.args), **{key: read(x) for key, x in bsym.kwargs.items()})
    for out, x in zip(_outputs(bsym), results if isinstance(results, list) else [results], strict=True):
        if out is None:
            continue
        val = _like(out)
        if x.dtype != dtype_of(val.dtype) or len(x.shape) != len(val.shape) or not all(map(same, x.shape, val.shape)):
            raise Unsupported(f"a lowering that gives {x.dtype} {x.shape} where thunder has {val.dtype} {val.shape}")
        made[out.name] = x


def written(bsyms, inputs, outputs):
    """The text of a region."""
    e, made = Emitter(), {}
    e.orders = {}
    for x in inputs:
        val = _like(x)
        made[x.name] = e.input(dtype_of(val.dtype), val.shape)
    for bsym in bsyms:
        lowered(e, bsym, made)
    if not inputs:
        raise Unsupported("no tensor goes in")
    values = [made[x.name] for x in outputs]
    return e.text([e.result(v, v.shape, e.orders.get(v.name, list(range(v.rank)))) for v in values])


def judge(bsym):
    """Raises `Unsupported` unless the compiler takes the prim's lowering."""
    inputs, outputs = list({x.name: x for x in _tensors(bsym.flat_proxy_args)}.values()), _tensors(bsym.flat_proxy_outs)
    if not outputs:
        raise Unsupported("no tensor comes out")
    for x in (*inputs, *outputs):
        if type(x) is not TensorProxy or x.device.type != "cpu":
            raise Unsupported(f"a {type(x).__name__} on {x.device.type}")
        if dtype_of(dtype := dtypes.to_torch_dtype(x.dtype)) in PARTS:
            raise Unsupported(f"element type {str(dtype).removeprefix('torch.')}")
    if inputs:
        accepted(written([bsym], inputs, outputs))
    else:
        lowered(Emitter(), bsym, {})


class Call:
    """A region that is called. It is compiled at its first call; torch runs it where Fuser fails."""

    def __init__(self, name, bsyms, inputs, outputs, options):
        self.name, self.bsyms, self.inputs, self.outputs, self.options = name, bsyms, inputs, outputs, options
        self.run, self.text, self.device = self.first, None, torch.device("cpu")

    def __call__(self, *args):
        if any(map(torch.Tensor.is_neg, args)):
            args = tuple(x.resolve_neg() for x in args)
        try:
            return self.run(args, None, None, True)
        except Exception as error:
            return self.failed(error, args)

    def first(self, args, *wishes):
        self.text = self.located = written(self.bsyms, self.inputs, self.outputs)
        make(self, self.options)
        results = self.compiled.call_list(args, *wishes)
        for x, wanted in zip(results, map(_like, self.outputs), strict=True):
            if x.dtype != wanted.dtype or tuple(x.shape) != wanted.shape:
                raise RuntimeError(f"{x.dtype} {tuple(x.shape)} in place of {wanted.dtype} {wanted.shape}")
        self.run = self.compiled.call_list
        return results

    def failed(self, error, args):
        """The results by torch, from now on."""
        logger.warning("%s is left to torch: %s", self.name, str(error).splitlines()[0])
        function = by_torch(self.bsyms, self.inputs, self.outputs)
        self.run = lambda args, *_: function(*args)
        return self.run(args)


def by_torch(bsyms, inputs, outputs):
    """A function that runs prims by torch's ops."""
    trace = TraceCtx(None)
    trace.args, trace.kwargs = inputs, {}
    trace._siginfo = SigInfo("region")
    trace._siginfo.args = [(x.name, None) for x in inputs]
    made = [x for bsym in bsyms for x in bsym.flat_proxy_outs]
    trace.names = {x.name for x in (*inputs, *made)}
    with tracectx(trace):
        for x in inputs:
            prims.unpack_trivial(x, name=x.name)
        trace.bound_symbols += [*bsyms, prims.python_return.bind(list(outputs), output=None)]
        return transform_for_execution(trace, executors_list=(torch_executor,)).python_callable(include_decorators=False)


# Regions.


class Executor(FusionExecutor):
    """Thunder's interface to Fuser."""

    def __init__(self):
        super().__init__("fuser", version=__version__)
        self.set_fuel(FUEL_LEVEL.UNLIMITED)
        for id in PRIMS:
            self.register_supported(id)

    def set_fuel(self, value):
        self._fuel = value

    def get_fuel(self, amount=1, /):
        if self._fuel is FUEL_LEVEL.UNLIMITED:
            return True
        enough = self._fuel >= amount
        self._fuel -= amount if enough else 0
        return enough

    def can_execute(self, bsym):
        return self._own_reason(bsym) is None

    def can_fuse(self, bsym):
        return self.reason(bsym) is None

    def reason(self, bsym):
        """The reason why torch runs a symbol, or nothing."""
        own = self._own_reason(bsym)
        if own is None or bsym.sym.is_fusion or not bsym.subsymbols:
            return own
        if bsym.sym.id in _ROUNDED and (bsym.sym.id != ltorch.div.id or bsym.kwargs.get("rounding_mode")):
            if any(_like(x).dtype in (torch.bfloat16, torch.float16) for x in _tensors(bsym.flat_proxy_args)):
                return f"{bsym.sym.name}: a rounded quotient of narrow floats"
        return next(filter(None, map(self.reason, bsym.subsymbols)), None)

    def _own_reason(self, bsym):
        name = bsym.sym.name
        if bsym.sym.id not in PRIMS or bsym.sym.executor is not None:
            return f"{name}: no lowering"
        if bsym.sym.id in PRODUCTS and not option("fuser_products"):
            return f"{name}: a product of matrices"
        if name in (option("fuser_skip") or ()):
            return f"{name}: an option leaves it out"
        try:
            judge(bsym)
        except Unsupported as why:
            return f"{name}: {why}"
        except Exception as error:
            return f"{name}: its lowering failed ({type(error).__name__}: {error})"
        return None

    def flatten(self, bsym):
        """The prims of a symbol that can be fused."""
        if self.can_execute(bsym):
            return [bsym]
        return [prim for part in bsym.subsymbols for prim in self.flatten(part)]

    def fusion_pass(self, trace):
        fused = from_trace(trace)
        producers, consumers = utils.producers_and_consumers(trace)
        reasons = {id(bsym): self.reason(bsym) for bsym in trace.bound_symbols}
        may = lambda node: all(reasons[id(bsym)] is None for bsym in node.group_bsyms)  # noqa: E731
        # An op that is moved, or repeated, behind a write into its operand would give another value.
        in_place = any(bsym.sym.name.endswith("_") or has_tags(bsym, {OpTags.IN_PLACE}) for bsym in trace.bound_symbols)
        groups, count = consecutive_fusion if in_place else fuse_bound_symbols, 0
        for bsyms in groups(trace, lambda a, b: may(a) and may(b)):
            why = reasons[id(bsyms[0])] or self._left(bsyms)
            if why is None and not self.get_fuel():
                why = "no fuel is left"
            if why is None:
                region = Region(producers, consumers, bsyms)
                views = [] if option("fuser_shape_only") else views_behind([p for bsym in bsyms for p in self.flatten(bsym)], region)
                if region.outputs:
                    fused.bound_symbols.append(self.fuse(region, count))
                    count += 1
                fused.bound_symbols += views
                continue
            fused.bound_symbols += bsyms
            if _tensors(x for bsym in bsyms for x in bsym.flat_proxy_outs):
                logger.info("torch runs %s", why)
        if not in_place and option("fuser_recompute") is not False:
            fused = rematerialize(fused)
        fused = update_fusion_call_ctx(dce(fused))
        fused.set_provenance(TraceProvenance("Fusion by Fuser"))
        return fused

    def _left(self, bsyms):
        """The reason why a region is no program."""
        flat = [prim for bsym in bsyms for prim in self.flatten(bsym)]
        if not option("fuser_shape_only") and all(prim.sym.id in _LIGHT or is_view(prim) for prim in flat):
            return "shape ops alone"
        made = {x.name for prim in flat for x in prim.flat_proxy_outs}
        if all(x.name in made for prim in flat for x in _tensors(prim.flat_proxy_args)):
            return "a region into which no tensor goes"
        return None

    def fuse(self, region, fusion_counter):
        outputs = [unvariableify(x) for x in region.outputs]
        wanted, kept = {x.name for x in outputs}, []
        for prim in reversed([prim for bsym in region.bound_symbols for prim in self.flatten(bsym)]):
            if any(x.name in wanted for x in prim.flat_proxy_outs):
                kept.insert(0, prim)
                wanted.update(x.name for x in prim.flat_proxy_args)
        inputs = [x for x in _tensors(map(unvariableify, region.inputs)) if x.name in wanted]
        name = f"Fuser{fusion_counter}"
        call = Call(name, kept, inputs, outputs, Options(threads=option("fuser_threads")))
        return self.register_temporary_operation(name, call, inputs=inputs, outputs=outputs, bsyms=kept)


def is_view(prim):
    """True for prims that rename elements of one tensor; functions made of prims have the tags of these."""
    return isinstance(prim.sym.id, PrimIDs) and has_tags(prim, {OpTags.SHAPE_OP})


def views_behind(prims, region):
    """The prims that make a region's results which are views of its inputs or of other results: torch makes these, behind the region.

    They leave the region's results.
    """
    maker = {prim.output.name: prim for prim in prims if is_view(prim)}
    ends = {x.proxy.name for x in (*region.inputs, *region.outputs)}
    needed = set()
    for x in region.outputs:
        path = [x.proxy.name]
        while path[-1] in maker and (len(path) == 1 or path[-1] not in ends):
            path.append(_tensors(maker[path[-1]].flat_proxy_args)[0].name)
        if len(path) > 1 and path[-1] in ends:
            needed.update(path[:-1])
    region.outputs = utils.OrderedSet(x for x in region.outputs if x.proxy.name not in needed)
    return [prim for name, prim in maker.items() if name in needed]


executor = Executor()
register_executor(executor)

"""Functions of JAX compiled by Fuser: `fuser.jax.jit` in place of `jax.jit`.

    >>> import jax.numpy as jnp, fuser.jax
    >>> @fuser.jax.jit
    ... def softmax(x):
    ...     e = jnp.exp(x - x.max(-1, keepdims=True))
    ...     return e / e.sum(-1, keepdims=True)
    >>> softmax(jnp.zeros((2, 4)))
    Array([[0.25, 0.25, 0.25, 0.25],
           [0.25, 0.25, 0.25, 0.25]], dtype=float32)

A decorated function is one of `jax.jit`, with a primitive in it that holds the function as JAX has traced it. Where XLA compiles it for a CPU, the
primitive becomes StableHLO, which Fuser compiles, and a call of Fuser's code by XLA's foreign function interface: results are written into
XLA's buffers, arguments are read where they lie. `jax.grad`, `jax.vmap` and the like derive other functions, which become programs in the same way:

| primitive | |
|---|---|
| `fuser_call` | runs a function |
| `fuser_tangent` | the derivative of a function at a point, linear in its tangents; its transpose is what `jax.vjp` of the function gives |

The rules trace functions by JAX's public transformations: nothing here knows a primitive of JAX.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import itertools
import logging
from typing import Any, Callable, Sequence

import jax
import numpy as np
from jax.extend import core
from jax.interpreters import ad, batching, mlir

from . import _fuser

__all__ = ["jit"]

_log = logging.getLogger("fuser.jax")

# Constants of at most so many elements are part of a program, as they may say what an index or a loop is; others are its arguments.
_MOST_IN_PROGRAM = 64

# The code of what a frontend does not read.
_UNSUPPORTED = "FIR1102"

# True while a program is made: functions inside of it are parts of it.
_in_program = contextvars.ContextVar("fuser_in_program", default=False)


class _Function:
    """A flat function on arrays of these types, traced when it is first looked at. Functions are equal if they are the same object."""

    def __init__(self, fun: Callable[..., Sequence[Any]], avals: Sequence[Any], name: str, fallback: bool, donated: frozenset[int] = frozenset()):
        self._fun, self._avals, self.name, self.fallback = fun, [_spec(a) for a in avals], name, fallback
        self._donated = donated
        self._derived: dict[Any, _Function | _Derivative] = {}
        self._programs: dict[Any, _fuser.XlaProgram | None] = {}

    @functools.cached_property
    def closed(self) -> core.ClosedJaxpr:
        return jax.make_jaxpr(self._fun)(*self._avals)

    @functools.cached_property
    def flat(self) -> Callable[..., list[Any]]:
        return core.jaxpr_as_fun(self.closed)

    @functools.cached_property
    def aliases(self) -> list[int | None]:
        """The donated argument that each result overwrites: of equal types the first, as JAX pairs them."""
        free = [(i, _type_of(self._avals[i])) for i in sorted(self._donated)]
        found = []
        for aval in self.closed.out_avals:
            pair = next((pair for pair in free if pair[1] == _type_of(aval)), None)
            if pair:
                free.remove(pair)
            found.append(pair[0] if pair else None)
        return found

    @functools.cached_property
    def eager(self) -> Callable[..., list[Any]]:
        return jax.jit(functools.partial(fuser_call.bind, function=self))

    def __call__(self, *args: Any) -> list[Any]:
        return _call(self.closed, args, self.name, self.fallback)

    def derived(self, name: str, fun: Callable[..., Sequence[Any]], avals: Sequence[Any]) -> _Function:
        return _Function(fun, avals, f"{name}_{self.name}", self.fallback)

    def batched(self, args: Sequence[Any], dims: tuple[int | None, ...]) -> _Function:
        key = ("batched", dims, next(a.shape[d] for a, d in zip(args, dims) if d is not None))
        if key not in self._derived:
            self._derived[key] = self.derived("vmap", jax.vmap(self.flat, dims), [jax.typeof(a) for a in args])
        return self._derived[key]

    def derivative(self, moving: tuple[int, ...]) -> _Derivative:
        """The derivative by the arguments of these numbers."""
        if moving not in self._derived:
            self._derived[moving] = _Derivative.of(self, moving)
        return self._derived[moving]

    def transposed(self, linear: tuple[bool, ...]) -> _Function:
        """The transpose of a function that is linear in some arguments: of the other arguments, then the cotangents."""
        key = ("transposed", linear)
        if key not in self._derived:
            avals = self.closed.in_avals
            known, sought = ([a for a, is_linear in zip(avals, linear) if is_linear == which] for which in (False, True))

            def transposed(*args):
                rest, cotangents = args[: len(known)], args[len(known) :]

                def part(*xs):
                    rest_, xs = iter(rest), iter(xs)
                    return self.flat(*(next(xs if is_linear else rest_) for is_linear in linear))

                return jax.linear_transpose(part, *map(_spec, sought))(list(cotangents))

            self._derived[key] = self.derived("transpose", transposed, [*known, *self.closed.out_avals])
        return self._derived[key]


class _Derivative:
    """The derivative of a function: what the function saves for it, and the two directions in which it is applied."""

    def __init__(self, forward: _Function, tangent: _Function, backward: _Function, saved: int, primals: int):
        self.forward, self.tangent, self.backward, self.saved, self.primals = forward, tangent, backward, saved, primals

    @functools.cached_property
    def eager(self) -> Callable[..., list[Any]]:
        return jax.jit(self.apply)

    def apply(self, *args: Any) -> list[Any]:
        return self.tangent(*args[self.saved :])

    def results(self, function: _Function) -> list[int]:
        """The numbers of the results that have tangents."""
        return [i for i, a in enumerate(function.closed.out_avals) if _moves(a)]

    @classmethod
    def of(cls, function: _Function, moving: tuple[int, ...]) -> _Derivative:
        outs = function.closed.out_avals
        primals = function.closed.in_avals
        trees = []

        def at(args):
            def part(*xs):
                whole = list(args)
                for i, x in zip(moving, xs):
                    whole[i] = x
                return function.flat(*whole)

            return part, [args[i] for i in moving]

        def forward(*args):
            part, xs = at(args)
            results, pull = jax.vjp(part, *xs)
            saved, tree = jax.tree.flatten(pull)
            trees.append(tree)
            return [*results, *saved]

        def tangent(*args):
            part, xs = at(args[: len(primals)])
            tangents = jax.jvp(part, xs, list(args[len(primals) :]))[1]
            return [t for a, t in zip(outs, tangents) if _moves(a)]

        def backward(*args):
            given = iter(args[len(saved) :])
            pull = jax.tree.unflatten(trees[0], args[: len(saved)])
            return pull([next(given) if _moves(a) else np.zeros(a.shape, jax.dtypes.float0) for a in outs])

        forwards = function.derived("save", forward, primals)
        saved = forwards.closed.out_avals[len(outs) :]
        cotangents = [a for a in outs if _moves(a)]
        return cls(
            forwards,
            function.derived("jvp", tangent, [*primals, *(primals[i] for i in moving)]),
            function.derived("vjp", backward, [*saved, *cotangents]),
            len(saved),
            len(primals),
        )


def _spec(aval: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))


def _type_of(aval: Any) -> tuple[Any, ...]:
    return aval.shape, aval.dtype


def _moves(aval: Any) -> bool:
    """True if arrays of the type have tangents."""
    return jax.dtypes.issubdtype(aval.dtype, np.inexact)


def _is_key(aval: Any) -> bool:
    return jax.dtypes.issubdtype(getattr(aval, "dtype", None), jax.dtypes.prng_key)


def _call(closed: core.ClosedJaxpr, args: Sequence[Any], name: str, fallback: bool, donated: Sequence[Any] = ()) -> list[Any]:
    """Runs a traced function by the primitive. Arguments that are returned, and what is returned twice, are not computed.

    The values `donated` may be overwritten.
    """
    jaxpr = closed.jaxpr
    if jaxpr.effects:
        _tell(name, fallback, f"it has effects: {', '.join(sorted(map(str, jaxpr.effects)))}")
        return core.jaxpr_as_fun(closed)(*args)
    within = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*closed.consts, *args)))
    outs = list(dict.fromkeys(v for v in jaxpr.outvars if not isinstance(v, core.Literal) and v not in within))
    if outs:
        held = {v: c for v, c in zip(jaxpr.constvars, closed.consts) if _is_held(c)}
        given = [v for v in within if v not in held]
        inner = jaxpr.replace(constvars=list(held), invars=given, outvars=outs, debug_info=jaxpr.debug_info.with_unknown_names())
        inner = core.ClosedJaxpr(inner, list(held.values()))
        returned = [within[v] for v in jaxpr.outvars if not isinstance(v, core.Literal) and v in within]
        lost = {id(x) for x in donated} - {id(x) for x in returned}
        overwritten = frozenset(i for i, v in enumerate(given) if id(within[v]) in lost)
        within.update(zip(outs, _bind(inner, [within[v] for v in given], name, fallback, overwritten)))
    return [v.val if isinstance(v, core.Literal) else within[v] for v in jaxpr.outvars]


def _bind(closed: core.ClosedJaxpr, args: Sequence[Any], name: str, fallback: bool, donated: frozenset[int] = frozenset()) -> list[Any]:
    """Binds the primitive. A key of `jax.random` goes as its bits."""
    ins, outs = closed.in_avals, closed.out_avals
    flat = core.jaxpr_as_fun(closed)
    if not any(map(_is_key, (*ins, *outs))):
        return fuser_call.bind(*args, function=_Function(flat, ins, name, fallback, donated))

    impls: dict[Any, Any] = {}

    def bits(values):
        impls.update((v.dtype, jax.random.key_impl(v)) for v in values if _is_key(v))
        return [jax.random.key_data(v) if _is_key(v) else v for v in values]

    def keys(values, avals):
        return [jax.random.wrap_key_data(v, impl=impls[a.dtype]) if _is_key(a) else v for v, a in zip(values, avals)]

    plain = bits(args)
    function = _Function(lambda *xs: bits(flat(*keys(xs, ins))), [jax.typeof(x) for x in plain], name, fallback)
    return keys(function(*plain), outs)


def _is_held(constant: Any) -> bool:
    """True if a constant is part of the program."""
    return not isinstance(constant, jax.core.Tracer) and np.size(constant) <= _MOST_IN_PROGRAM and not _is_key(constant)


def _tell(name: str, fallback: bool, reason: str) -> None:
    if not fallback:
        error = _fuser.Error(f"error: [{_UNSUPPORTED}] `{name}` cannot be compiled: {reason}")
        error.code, error.message, error.hints, error.place = _UNSUPPORTED, f"`{name}` cannot be compiled: {reason}", [], None
        raise error
    _log.warning("`%s` runs by XLA: %s", name, reason)


fuser_call = core.Primitive("fuser_call")
fuser_call.multiple_results = True
fuser_tangent = core.Primitive("fuser_tangent")
fuser_tangent.multiple_results = True


@fuser_call.def_impl
def _run_call(*args, function):
    return function.eager(*args)


@fuser_call.def_abstract_eval
def _type_call(*args, function):
    return function.closed.out_avals


def _jvp_call(primals, tangents, *, function):
    moving = tuple(i for i, t in enumerate(tangents) if not isinstance(t, ad.Zero) and _moves(jax.typeof(primals[i])))
    avals = function.closed.out_avals
    derivative = function.derivative(moving)
    results = derivative.forward(*primals)
    results, saved = results[: len(avals)], results[len(avals) :]
    given = iter(fuser_tangent.bind(*saved, *primals, *(tangents[i] for i in moving), derivative=derivative))
    return results, [next(given) if _moves(a) else ad.Zero(a.to_tangent_aval()) for a in avals]


def _batch_call(args, dims, *, function):
    results = function.batched(args, tuple(dims))(*args)
    return results, [0] * len(results)


def _transpose_call(cotangents, *args, function):
    linear = tuple(map(ad.is_undefined_primal, args))
    known = [a for a, is_linear in zip(args, linear) if not is_linear]
    results = iter(function.transposed(linear)(*known, *map(ad.instantiate_zeros, cotangents)))
    return [next(results) if is_linear else None for is_linear in linear]


@fuser_tangent.def_impl
def _run_tangent(*args, derivative):
    return derivative.eager(*args)


@fuser_tangent.def_abstract_eval
def _type_tangent(*args, derivative):
    return derivative.backward.closed.in_avals[derivative.saved :]


def _jvp_tangent(primals, tangents, *, derivative):
    """The tangents of what is saved follow from those of the arguments."""
    saved = derivative.saved
    return jax.jvp(derivative.tangent, list(primals[saved:]), [ad.instantiate_zeros(t) for t in tangents[saved:]])


def _batch_tangent(args, dims, *, derivative):
    """All tangents are batched, so that a transpose has nothing to sum up."""
    fixed = derivative.saved + derivative.primals
    size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
    tangents = [batching.bdim_at_front(a, d, size) for a, d in zip(args[fixed:], dims[fixed:])]
    count = len(derivative.backward.closed.in_avals) - derivative.saved
    saved, primals = (args[: derivative.saved], tuple(dims[: derivative.saved])), (args[derivative.saved : fixed], tuple(dims[derivative.saved : fixed]))
    moving = (0,) * len(tangents)
    tangent = derivative.tangent.batched([*primals[0], *tangents], (*primals[1], *moving))
    cotangents = [jax.ShapeDtypeStruct((size, *a.shape), a.dtype) for a in derivative.backward.closed.in_avals[derivative.saved :]]
    axes = (*saved[1], *(0,) * count)
    avals = [*(jax.typeof(a) for a in saved[0]), *cotangents]
    backward = derivative.backward.derived("vmap", jax.vmap(derivative.backward.flat, axes), avals)
    batched = _Derivative(derivative.forward, tangent, backward, derivative.saved, derivative.primals)
    return fuser_tangent.bind(*args[:fixed], *tangents, derivative=batched), [0] * count


def _transpose_tangent(cotangents, *args, derivative):
    results = derivative.backward(*args[: derivative.saved], *map(ad.instantiate_zeros, cotangents))
    return [*itertools.repeat(None, derivative.saved + derivative.primals), *results]


for _primitive, _jvp, _batch, _transpose in (
    (fuser_call, _jvp_call, _batch_call, _transpose_call),
    (fuser_tangent, _jvp_tangent, _batch_tangent, _transpose_tangent),
):
    ad.primitive_jvps[_primitive] = _jvp
    ad.primitive_transposes[_primitive] = _transpose
    batching.primitive_batchers[_primitive] = _batch


def _lower_inline(ctx, *operands, function):
    return mlir.lower_fun(function.flat, multiple_results=True)(ctx, *operands)


def _lower_call(ctx, *operands, function):
    program = None if _in_program.get() else _program(ctx, function)
    if program is None:
        return _lower_inline(ctx, *operands, function=function)
    # Of an operand that is not donated after all, XLA makes a copy first.
    aliases = {operand: result for result, operand in enumerate(function.aliases) if operand is not None}
    return jax.ffi.ffi_lowering("fuser_run", operand_output_aliases=aliases)(ctx, *operands, program=program.text)


def _lower_tangent(ctx, *operands, derivative):
    return mlir.lower_fun(derivative.apply, multiple_results=True)(ctx, *operands)


mlir.register_lowering(fuser_call, _lower_inline)
mlir.register_lowering(fuser_call, _lower_call, platform="cpu")
mlir.register_lowering(fuser_tangent, _lower_tangent)


def _program(ctx: mlir.LoweringRuleContext, function: _Function) -> _fuser.XlaProgram | None:
    """The program of a function; none where XLA runs it, which is told."""
    if () not in function._programs:
        function._programs[()] = _compiled(ctx, function)
    return function._programs[()]


def _compiled(ctx: mlir.LoweringRuleContext, function: _Function) -> _fuser.XlaProgram | None:
    axes = ctx.module_context.axis_context
    if getattr(axes, "num_devices", None) != 1:
        return _tell(function.name, function.fallback, "it is partitioned among devices")
    if not all(isinstance(n, int) for a in (*ctx.avals_in, *ctx.avals_out) for n in a.shape):
        return _tell(function.name, function.fallback, "it has symbolic extents")
    try:
        return _fuser.XlaProgram(_stablehlo(function), function.aliases)
    except _fuser.Error as error:
        if not function.fallback:
            raise
        return _tell(function.name, True, f"[{error.code}] {error.message}")


def _stablehlo(function: _Function) -> str:
    def named(*args):
        return function.flat(*args)

    named.__name__ = function.name
    token = _in_program.set(True)
    try:
        traced = jax.jit(named, keep_unused=True).trace(*map(_spec, function.closed.in_avals))
        return traced.lower(lowering_platforms=("cpu",)).as_text()
    finally:
        _in_program.reset(token)


def jit(
    fun: Callable | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    fallback: bool = True,
) -> Callable:
    """A function of JAX that Fuser compiles, once for each signature; to be used as `jax.jit` is, as a decorator too.

    The result is a function of `jax.jit`: it has `lower` and `trace`, takes and gives pytrees, may be called in other functions and
    transformed. Arguments are as for `jax.jit`.

    Functions with callbacks, or with other operations that the importer refuses, run by XLA; a line in the log of `fuser.jax` says why. With
    `fallback=False` they raise `fuser.Error`.
    """
    if fun is None:
        options = dict(static_argnums=static_argnums, static_argnames=static_argnames, fallback=fallback)
        return functools.partial(jit, **options, donate_argnums=donate_argnums, donate_argnames=donate_argnames)
    name = getattr(fun, "__name__", type(fun).__name__)
    donates = _donated(fun, donate_argnums, donate_argnames)

    @functools.wraps(fun)
    def traced(*args, **kwargs):
        if jax.config.jax_disable_jit:
            return fun(*args, **kwargs)
        closed, shape = jax.make_jaxpr(lambda: fun(*args, **kwargs), return_shape=True)()
        donated = jax.tree.leaves(donates(args, kwargs))
        return jax.tree.unflatten(jax.tree.structure(shape), _call(closed, (), name, fallback, donated))

    return jax.jit(
        traced,
        static_argnums=static_argnums,
        static_argnames=static_argnames,
        donate_argnums=donate_argnums,
        donate_argnames=donate_argnames,
    )


def _donated(fun: Callable, numbers: Any, names: Any) -> Callable[[Sequence[Any], dict[str, Any]], list[Any]]:
    """A function that picks the donated ones of the arguments. As in `jax.jit`, numbers name parameters, and names number them."""
    listed = lambda given, kind: [] if given is None else [given] if isinstance(given, kind) else list(given)
    numbers, names = listed(numbers, int), listed(names, str)
    try:
        parameters = list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        parameters = []
    if not names:
        names = [parameters[n] for n in numbers if -len(parameters) <= n < len(parameters)]
    if not numbers:
        numbers = [parameters.index(name) for name in names if name in parameters]

    def pick(args, kwargs):
        given = [args[n] for n in numbers if -len(args) <= n < len(args)]
        return given + [kwargs[name] for name in names if name in kwargs]

    return pick


_handlers, _state = _fuser.xla_handlers()
jax.ffi.register_ffi_type("fuser_program", _state, platform="cpu")
jax.ffi.register_ffi_target("fuser_run", _handlers, platform="cpu")

"""The backend: options, AOTAutograd, and what becomes of each graph that it gives."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, fields

import torch
from torch._dynamo.backends.common import aot_autograd

from .. import Program
from . import decompose, log, price, random, runtime
from .graph import plan
from .lower import ROWS
from .lower.whole import WHOLE
from .report import GRAPHS, Report, Timing


@dataclass(frozen=True)
class Options:
    """`torch.compile(options={...})`.

    `threads`: how many threads run a piece; where it is left out, as many as `torch.get_num_threads()` tells when it is compiled. `recompute`: values that the backward computes again are chosen by
    bytes; without it all are saved. `skip`: names of ops that stay with torch, such as "aten.gelu". `cache`: the folder that keeps compiled
    code between processes, the usual one where it is left out, none where it is `False`. `products`: who computes products and convolutions,
    "torch", "fuser", or for each the one that is "faster" here. `random`: who draws random numbers, "torch" or "fuser".
    """

    threads: int | None = None
    recompute: bool = True
    skip: tuple[str, ...] = ()
    cache: str | os.PathLike[str] | bool | None = None
    products: str = "faster"
    random: str = "torch"

    @classmethod
    def of(cls, given):
        given = dict(given or {})
        names = {field.name for field in fields(cls)}
        unknown = [key for key in given if key not in names]
        if unknown:
            raise ValueError(f"backend \"fuser\" has no option {unknown[0]!r}; it has {', '.join(sorted(names))}")
        skip = given.get("skip", ())
        given["skip"] = (skip,) if isinstance(skip, str) else tuple(skip)
        threads, recompute, cache = given.get("threads"), given.get("recompute", True), given.get("cache")
        wrong = {
            "threads": threads is not None and (type(threads) is not int or threads < 1),
            "recompute": not isinstance(recompute, bool),
            "skip": not all(isinstance(name, str) for name in given["skip"]),
            "products": given.get("products", "faster") not in ("torch", "fuser", "faster"),
            "random": given.get("random", "torch") not in ("torch", "fuser"),
            "cache": not (cache is None or isinstance(cache, (str, os.PathLike, bool))),
        }
        for name in filter(wrong.get, wrong):
            raise ValueError(f"backend \"fuser\" has no {given[name]!r} for its option {name!r}, which is {_WANTED[name]}")
        return cls(**given)


_WANTED = {"threads": "a number above 0", "recompute": "True or False", "skip": "names of ops", "products": '"torch", "fuser" or "faster"', "random": '"torch" or "fuser"', "cache": "a folder, True or False"}


def backend(gm, example_inputs, *, options=None, **_):
    """`torch.compile(model, backend="fuser")`."""
    options = Options.of(options)
    compile_as = lambda role: lambda graph, inputs: compile_graph(graph, inputs, role, options)  # noqa: E731
    more = {}
    if options.recompute:
        from .partition import partition

        more["partition_fn"] = partition
    return aot_autograd(
        fw_compiler=compile_as("forward"),
        bw_compiler=compile_as("backward"),
        inference_compiler=compile_as("inference"),
        decompositions=decompose.table() | (random.TABLE if options.random == "fuser" else {}),
        keep_inference_input_mutations=True,
        **more,
    )(gm, example_inputs)


#: Programs by their text: equal layers of a model are compiled once.
_programs: dict = {}
_lock = threading.Lock()


def make(piece, options):
    """Compiles a piece, or finds an equal one."""
    threads = options.threads or torch.get_num_threads()
    key = (piece.text, piece.device, threads, options.cache)
    with _lock:
        found = _programs.get(key)
    if found is None:
        program = Program.parse(piece.located, filename="piece.fir")
        found = (program, program.compile(threads=threads, cache=options.cache, device=piece.device))
        with _lock:
            _programs.setdefault(key, found)
    piece.program, piece.compiled = found


def compile_graph(module, inputs, role, options):
    """A graph of AOTAutograd's as a boxed function. Whatever fails here, torch runs the graph instead."""
    begun = time.perf_counter()
    wanted = log.enabled()
    try:
        random.share_seed(module.graph)
        table = ROWS if options.products == "torch" else ROWS | WHOLE
        cut = plan(module.graph, lambda node: skipped(node, options), lambda piece: make(piece, options), table)
        timing = Timing() if "timing" in wanted else None
        call = runtime.build(module, cut, timing)
    except Exception as error:
        log.logger.warning("a %s graph is left to torch as a whole: %s: %s", role, type(error).__name__, error)
        call, cut, timing = whole(module), None, None
    report = Report(role, module.graph, cut, call, time.perf_counter() - begun)
    GRAPHS.append(report)
    report.log(wanted)
    call._boxed_call = True
    return call


def skipped(node, options):
    name = str(node.target)
    if name in options.skip or name.rpartition(".")[0] in options.skip:
        return "an option leaves it out"
    if options.products == "faster" and name in WHOLE:
        return price.reason(node, options.threads)
    return None


def whole(module):
    """The graph as torch runs it."""

    def call(args):
        given = list(args)
        args.clear()
        return module(*given)

    return call

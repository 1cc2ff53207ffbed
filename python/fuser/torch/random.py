"""Random numbers by Fuser, `options={"random": "fuser"}`: pure ops of a seed, which the backward computes again instead of masks being saved.

`fuser::seed` draws a number from torch's generator of the CPU, once for each graph and call, so `torch.manual_seed` determines all numbers.
`fuser::uniform` and `fuser::normal` make numbers of it by Philox 4x32-10, as the ops of the dialect with these names do. torch's ops for
random numbers are taken apart into these. The numbers differ from those of eager torch, and are the same on every device.
"""

from __future__ import annotations

import functools
import itertools

import torch
from torch.utils.checkpoint import CheckpointPolicy

from .. import Program
from .emit import DTYPES, FLOATS, Emitter, dtype_of

aten = torch.ops.aten

_library = torch.library.Library("fuser", "DEF")
_library.define("seed(*, Device device) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
for _kind in ("uniform", "normal"):
    _library.define(f"{_kind}(Tensor seed, int offset, SymInt[] shape, ScalarType dtype, Device device) -> Tensor")


def draw(device=None):
    """A seed from torch's generator of the CPU."""
    return torch.randint(-(1 << 62), 1 << 62, ())


@functools.lru_cache(maxsize=256)
def _numbers(kind, offset, shape, dtype, device):
    """The op alone as compiled code, for graphs that torch runs."""
    e = Emitter()
    made = e.random(kind, e.input("i64", ()), offset, shape, dtype_of(dtype))
    text = e.text([e.result(made, shape, list(range(len(shape))))])
    return Program.parse(text).compile(device=device)


def _eager(kind):
    def run(seed, offset, shape, dtype, device):
        # The seed may lie on a GPU, where torch moved it.
        return _numbers(kind, offset, tuple(shape), dtype, device)(seed.cpu() if device.type == "cpu" else seed)

    return run


_library.impl("seed", draw, "CompositeExplicitAutograd")
torch.library.register_fake("fuser::seed", lambda device: torch.empty((), dtype=torch.int64), lib=_library)
for _kind in ("uniform", "normal"):
    _library.impl(_kind, _eager(_kind), "CompositeExplicitAutograd")
    torch.library.register_fake(
        f"fuser::{_kind}", lambda seed, offset, shape, dtype, device: torch.empty(shape, dtype=dtype, device=device), lib=_library
    )


_CPU = torch.device("cpu")


def _make(kind, shape, dtype, device):
    dtype, device = dtype or torch.get_default_dtype(), torch.device(device or "cpu")
    if DTYPES.get(dtype) not in FLOATS:
        return NotImplemented
    return getattr(torch.ops.fuser, kind)(torch.ops.fuser.seed(device=_CPU), 0, shape, dtype, device)


def _like(kind, x, dtype=None, device=None):
    return _make(kind, x.shape, dtype or x.dtype, device or x.device)


def _dropout(x, p, train):
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    keep = _make("uniform", x.shape, torch.float32, x.device) < 1 - p
    return x * keep * (1 / (1 - p)), keep


def _below(x, p):
    """True with a probability, as the type of `x`."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (_make("uniform", x.shape, wide, x.device) < p).to(x.dtype)


def _named(kind):
    def make(size, *, dtype=None, layout=None, device=None, pin_memory=None):
        return _make(kind, size, dtype, device)

    return make


def _named_like(kind):
    def make(x, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
        return _like(kind, x, dtype, device)

    return make


def _usual(make):
    """A decomposition for torch's own generator; numbers of another one stay with torch."""

    def run(*args, generator=None, **named):
        return make(*args, **named) if generator is None and args[0].dtype.is_floating_point else NotImplemented

    return run


#: The decompositions.
TABLE = {
    aten.rand.default: _named("uniform"),
    aten.randn.default: _named("normal"),
    aten.rand_like.default: _named_like("uniform"),
    aten.randn_like.default: _named_like("normal"),
    aten.native_dropout.default: _dropout,
    aten.bernoulli.default: _usual(lambda p: _below(p, p)),
    aten.bernoulli.p: _usual(lambda x, p=0.5: _below(x, p)),
    aten.uniform.default: _usual(lambda x, low=0.0, high=1.0: low + (high - low) * _like("uniform", x)),
    aten.normal_functional.default: _usual(lambda x, mean=0.0, std=1.0: mean + std * _like("normal", x)),
    aten.exponential.default: _usual(lambda x, rate=1.0: torch.log1p(-_like("uniform", x)) * (-1 / rate)),
}


def share_seed(graph):
    """One seed for all numbers of a graph, which offsets tell apart. A checkpoint saves it in place of the generator's state."""
    seeds = [n for n in graph.nodes if n.target is torch.ops.fuser.seed.default]
    for seed in seeds[:1]:
        if seed.meta.get("recompute") is not None:
            seed.meta["recompute"] = CheckpointPolicy.MUST_SAVE
    if len(seeds) < 2:
        return
    numbers = itertools.count()
    for seed in seeds:
        for user in list(seed.users):
            if user.target in (torch.ops.fuser.uniform.default, torch.ops.fuser.normal.default):
                user.update_arg(1, next(numbers))
        if seed is not seeds[0]:
            seed.replace_all_uses_with(seeds[0])
            graph.erase_node(seed)

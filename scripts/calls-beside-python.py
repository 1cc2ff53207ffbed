#!/usr/bin/env python3
"""A call of a small program, beside the same call of PyTorch and JAX.

`relu(x * w)` on rows of 8 f32: `examples/call_overhead.rs` as a library calls it from Rust; PyTorch eager with results in memory that the caller holds, and
compiled (`torch.compile`); JAX jitted, each call waited for. With the package `fuser` on the path the same from Python: on arrays of NumPy, as a backend of
`torch.compile`, by `fuser.jax.jit`. Two backends of `torch.compile` say what torch itself takes: one returns a constant tensor, one a new empty tensor.
Each figure is the least of 30 rounds of at least 2 ms, in turns.

    pip install torch jax numpy
    PYTHONPATH=target/python scripts/calls-beside-python.py --threads 2 --rows 4 1024 16384

The peers are called from Python, which is a part of what a call of theirs takes, and how they are called. A peer that is not installed is left out, and said so.
"""

import argparse
import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 30
ROUND = 2e-3  # seconds


def least(call):
    """Nanoseconds of a call, in the quickest round."""
    call()
    calls, best = 1, float("inf")
    for _ in range(ROUNDS):
        while True:
            start = time.perf_counter()
            for _ in range(calls):
                call()
            took = time.perf_counter() - start
            if took >= ROUND:
                break
            calls *= 2
        best = min(best, took / calls)
    return best * 1e9


def torch_calls(threads, rows):
    import torch

    torch.set_num_threads(threads)
    x, w = torch.randn(rows, 8), torch.randn(8)
    y = torch.empty(rows, 8)

    def eager():
        torch.mul(x, w, out=y).relu_()

    def backend(make):
        def graph(module, inputs):
            def call(args):
                args.clear()
                return [make()]

            call._boxed_call = True
            return call

        return aot_autograd(fw_compiler=graph, inference_compiler=graph)

    from torch._dynamo.backends.common import aot_autograd

    backends = {"inductor": "inductor", "a constant": backend(lambda: y), "an empty tensor": backend(lambda: torch.empty(rows, 8))}
    try:
        import fuser.torch

        backends["fuser"] = fuser.torch.backend
    except ImportError as error:
        print(f"skipped: {error}")

    def compiled(backend):
        torch._dynamo.reset()
        run = torch.compile(lambda x, w: torch.relu(x * w), backend=backend)
        return lambda: run(x, w)

    return {"torch eager": eager} | {f"torch.compile, {name}": compiled(backend) for name, backend in backends.items()}


def numpy_calls(threads, rows):
    import fuser
    import numpy

    text = f"task.program @main(%x: tensor<{rows}x8xf32>, %w: tensor<8xf32>) -> tensor<{rows}x8xf32> {{\n"
    text += f"  %b = fusion.broadcast %w dims [1] shape [{rows}, 8]\n  %m = fusion.mul %x, %b\n  %y = fusion.relu %m\n  task.return %y\n}}\n"
    run = fuser.Program.parse(text).compile(threads=threads)
    x, w = numpy.ones((rows, 8), "float32"), numpy.ones(8, "float32")
    return {"Fuser, NumPy": lambda: run(x, w)}


def jax_calls(threads, rows):
    import jax
    import jax.numpy as jnp

    x, w = jax.random.normal(jax.random.key(0), (rows, 8)), jnp.ones(8)
    f = lambda x, w: jax.nn.relu(x * w)  # noqa: E731
    calls = {"JAX": jax.jit(f)}
    try:
        import fuser.jax

        calls["fuser.jax.jit"] = fuser.jax.jit(f)
    except ImportError as error:
        print(f"skipped: {error}")
    return {name: lambda f=f: f(x, w).block_until_ready() for name, f in calls.items()}


def peers(threads, rows):
    calls = {}
    for make in (numpy_calls, torch_calls, jax_calls):
        try:
            calls |= make(threads, rows)
        except ImportError as error:
            print(f"skipped: {error}")
    return calls


def ours(binary, threads, rows):
    text = subprocess.run([binary, str(threads), str(rows)], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"([\d.]+) ns a call", text)[1])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--rows", type=int, nargs="+", default=[4, 256, 1024, 4096, 16384, 65536])
    given = arguments.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    # Processors are this process's and its children's alike; JAX has as many threads as it sees of them.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.threads])
    cargo = ["cargo", "build", "--release", "--locked", "-q", "--example", "call_overhead"]
    subprocess.run(cargo, cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = target / "release/examples/call_overhead"
    for number, rows in enumerate(given.rows):
        figures = {"Fuser": ours(binary, given.threads, rows)}
        figures |= {name: least(call) for name, call in peers(given.threads, rows).items()}
        if number == 0:
            print(f"nanoseconds a call, {given.threads} threads")
            print("| rows of 8 f32 | " + " | ".join(figures) + " |")
            print("|---" * (len(figures) + 1) + "|")
        print(f"| {rows:,} | " + " | ".join(f"{figure:,.0f}" for figure in figures.values()) + " |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A call of a small program, beside the same call of PyTorch and JAX.

`relu(x * w)` on rows of 8 f32: `examples/call_overhead.rs` as a library calls it from Rust; PyTorch eager with results in memory that the caller holds, and
compiled (`torch.compile`); JAX jitted, each call waited for. Each figure is the least of 30 rounds of at least 2 ms, in turns.

    pip install torch jax numpy
    scripts/calls-beside-python.py --threads 2 --rows 4 1024 16384

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

    compiled = torch.compile(lambda x, w: torch.relu(x * w))
    return {"torch eager": eager, "torch.compile": lambda: compiled(x, w)}


def jax_calls(threads, rows):
    import jax
    import jax.numpy as jnp

    x, w = jax.random.normal(jax.random.key(0), (rows, 8)), jnp.ones(8)
    f = jax.jit(lambda x, w: jax.nn.relu(x * w))
    return {"JAX": lambda: f(x, w).block_until_ready()}


def peers(threads, rows):
    calls = {}
    for make in (torch_calls, jax_calls):
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

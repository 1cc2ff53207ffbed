#!/usr/bin/env python3
"""Loops of JAX programs by `fuser.jax` and by JAX, in one process, in turns.

Recurrent layers and their gradients, scans with small states, solvers whose ends are data. Each function is lowered once; Fuser compiles the
StableHLO text, JAX compiles what it lowered. Results are compared: within 1e-4 of the largest magnitude of each, exactly where they are integers.

    pip install . jax numpy
    scripts/loops-beside-jax.py [--rounds 9] [NAME...]

Times are the least of all rounds, in milliseconds for a call and microseconds for a turn, on one thread each. `compile` is from text, or from the lowered
function, to the first result.
"""

import argparse
import os
import time

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import fuser

ROUND = 5e-3  # seconds
CASES = {}


def case(turns, *shapes):
    """Notes a function of f32 arrays of these shapes, and the turns of its loops; None where they are data."""

    def note(make):
        CASES[make.__name__] = (make, turns, shapes)
        return make

    return note


def lstm(w, u, b, rows):
    def turn(carried, row):
        hidden, cell = carried
        i, f, g, o = jnp.split(row @ w + hidden @ u + b, 4, -1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    zero = jnp.zeros((rows.shape[1], u.shape[0]))
    return lax.scan(turn, (zero, zero), rows)[1]


def gru(w, u, rows):
    def turn(hidden, row):
        (a, b, c), (d, e, f) = jnp.split(row @ w, 3, -1), jnp.split(hidden @ u, 3, -1)
        update, reset = jax.nn.sigmoid(a + d), jax.nn.sigmoid(b + e)
        hidden = update * hidden + (1 - update) * jnp.tanh(c + reset * f)
        return hidden, hidden

    return lax.scan(turn, jnp.zeros((rows.shape[1], u.shape[0])), rows)[1]


def gradient(f):
    return jax.grad(lambda *args: (f(*args) ** 2).mean(), tuple(range(2)))


@case(200, (16, 64), (16, 64), (64,), (200, 4, 16))
def lstm_small(*args):
    return lstm(*args)


@case(400, (16, 64), (16, 64), (64,), (200, 4, 16))
def lstm_small_gradient(*args):
    return gradient(lstm)(*args)


@case(50, (256, 1024), (256, 1024), (1024,), (50, 32, 256))
def lstm_large(*args):
    return lstm(*args)


@case(200, (16, 48), (16, 48), (200, 4, 16))
def gru_small(*args):
    return gru(*args)


@case(2000, (2000, 8))
def scan(rows):
    def turn(state, row):
        state = jnp.tanh(state * 0.5 + row)
        return state, state * 2

    return lax.scan(turn, jnp.zeros(8), rows)


@case(500, (2,))
def runge_kutta(y):
    slope = lambda y: jnp.stack([y[1], -y[0]])

    def turn(y, _):
        a = slope(y)
        b = slope(y + 0.05 * a)
        c = slope(y + 0.05 * b)
        d = slope(y + 0.1 * c)
        y = y + 0.1 / 6 * (a + 2 * b + 2 * c + d)
        return y, y

    return lax.scan(turn, y, None, length=500)


@case(100, (256, 256), (256, 256))
def diffusion(u, k):
    def turn(_, u):
        around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
        return u + 0.1 * jnp.tanh(k) * (around - 4 * u)

    return lax.fori_loop(0, 100, turn, u)


@case(None, (64,))
def newton(a):
    a = jnp.abs(a) + 0.5
    goes_on = lambda s: (jnp.max(jnp.abs(s[0] * s[0] - a)) > 1e-4) & (s[1] < 100)
    return lax.while_loop(goes_on, lambda s: (0.5 * (s[0] + a / s[0]), s[1] + 1), (jnp.ones_like(a), 0))


@case(None, (64, 64), (64,))
def conjugate_gradients(m, b):
    m = m @ m.T + 10 * jnp.eye(m.shape[0])
    return jax.scipy.sparse.linalg.cg(lambda v: m @ v, b, tol=1e-4, maxiter=50)[0]


def timed(call):
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        took = time.perf_counter() - start
        if took >= ROUND:
            return took / calls
        calls *= 2


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if np.issubdtype(a.dtype, np.floating):
            assert np.abs(a - b).max(initial=0) <= 1e-4 * np.abs(b).max(initial=0), "other results"
        else:
            assert (a == b).all(), "other results"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    ratios = []
    print(f"{'':22} {'compile ms':>17} {'run ms':>19} {'turn us':>15} ratio")
    for name, (f, turns, shapes) in CASES.items():
        if options.names and name not in options.names:
            continue
        draw = np.random.default_rng(len(name))
        args = [(draw.standard_normal(s) * (0.1 if len(s) == 2 else 1)).astype(np.float32) for s in shapes]
        lowered = jax.jit(f).lower(*args)
        text = lowered.as_text()
        start = time.perf_counter()
        theirs = lowered.compile()
        expected = jax.block_until_ready(theirs(*args))
        their_compile = time.perf_counter() - start
        start = time.perf_counter()
        ours = fuser.Program.import_stablehlo(text).compile(threads=1)
        results = ours(*args)
        our_compile = time.perf_counter() - start
        same(results if isinstance(results, (list, tuple)) else [results], jax.tree.leaves(expected))
        given = [jnp.asarray(x) for x in args]
        least = [float("inf")] * 2
        for _ in range(options.rounds):
            least[0] = min(least[0], timed(lambda: ours(*args)))
            least[1] = min(least[1], timed(lambda: jax.block_until_ready(theirs(*given))))
        mine, other = (1e3 * x for x in least)
        ratios.append(mine / other)
        each = f"{1e3 * mine / turns:6.2f} / {1e3 * other / turns:6.2f}" if turns else ""
        compiled = f"{1e3 * our_compile:7.0f} / {1e3 * their_compile:7.0f}"
        print(f"{name:22} {compiled:>17} {mine:8.3f} / {other:8.3f} {each:>15} {mine / other:5.2f}", flush=True)
    print(f"geometric mean {np.exp(np.log(ratios).mean()):.2f}")


if __name__ == "__main__":
    main()

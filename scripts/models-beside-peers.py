#!/usr/bin/env python3
"""Whole models by `fuser.jax.jit` and by `jax.jit` on the CPU: forward, and training steps.

    PYTHONPATH=target/python scripts/models-beside-peers.py [--only NAME,...] [--memory]
        [--mode forward|train] [--dtypes f32,bf16] [--threads 1,2] [--rounds N] [--large]

A row is a model, forward or one training step. A step is one jitted program: the loss, its
gradients, and Adam or SGD with momentum. It is given its state to overwrite (`donate_argnums`).
Each row has a process of its own, bound to as many processors as it has threads.

Both sides have the same inputs and are timed in turns, in rounds of at least 20 ms each. A time is
the median of all rounds. `compile` is the first call, from tracing to the result, without caches.
Ours is timed as it was built: a debug build packs the operands of products far more slowly.

Errors are those of the first call, each as a part of the greatest magnitude of its array: of JAX
and ours against JAX in f64 on the same inputs, and of ours against JAX. `WRONG` marks a row where
an array of ours is off by more than eight times JAX's error, and by more than rounding explains.

Where Fuser refuses a model, the row states its first error. `--memory` adds the peak of a process
that only one side compiles and runs in, and how much of it came after the inputs were made.

Exit status 1: a row is wrong or did not run. Needs jax 0.10.2; no test runs it.
"""

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time

os.environ["FUSER_CACHE_DIR"] = ""
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

ROUND = 20e-3  # seconds
RATE = 1e-3
DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}
FLOORS = {"f32": 4e-6, "bf16": 3e-2}  # errors that need no explanation
LARGE = {"gpt2_124m"}
ROWS = {}


def row(optimizer):
    """Enters a model: a function of draws that gives parameters, inputs, targets and the model.

    Targets are classes, for cross entropy, or numbers. Without targets the result is the loss.
    """

    def note(make):
        ROWS[make.__name__] = (make, optimizer)
        return make

    return note


class Draw:
    """Random arrays. A call gives weights, scaled by the inputs that each output has."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, *shape, scale=None):
        scale = scale or math.prod(shape[:-1]) ** -0.5
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def bias(self, n):
        return self(n, scale=0.02)

    def norm(self, n):
        return {"scale": 1 + self(n, scale=0.1), "bias": self.bias(n)}

    def dense(self, inputs, outputs):
        return {"w": self(inputs, outputs), "b": self.bias(outputs)}

    def ids(self, high, *shape):
        return self.rng.integers(0, high, shape, dtype=np.int32)

    def data(self, *shape):
        return self(*shape, scale=1.0)


# Layers.


def wide(x):
    """The array in f32, or in f64 if it is."""
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def dense(p, x):
    return x @ p["w"] + p["b"]


def normalized(y, p, axes, shape=None):
    mean = y.mean(axes, keepdims=True)
    var = jnp.square(y - mean).mean(axes, keepdims=True)
    y = (y - mean) * lax.rsqrt(var + 1e-5)
    return (y if shape is None else y.reshape(shape)) * wide(p["scale"]) + wide(p["bias"])


def layer_norm(p, x):
    return normalized(wide(x), p, -1).astype(x.dtype)


def group_norm(p, x, groups=8):
    parts = wide(x).reshape(*x.shape[:3], groups, -1)
    return normalized(parts, p, (1, 2, 4), x.shape).astype(x.dtype)


def rms_norm(scale, x):
    y = wide(x)
    return (y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * wide(scale)).astype(x.dtype)


def batch_norm(p, running, x, train):
    y = wide(x)
    if train:
        mean, var = y.mean((0, 1, 2)), y.var((0, 1, 2))
        now = {"mean": mean, "var": var}
        running = jax.tree.map(lambda a, b: (0.9 * wide(a) + 0.1 * b).astype(a.dtype), running, now)
    else:
        mean, var = wide(running["mean"]), wide(running["var"])
    y = (y - mean) * lax.rsqrt(var + 1e-5) * wide(p["scale"]) + wide(p["bias"])
    return y.astype(x.dtype), running


def conv(w, x, stride=1):
    names = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=names)


def attention(q, k, v, causal):
    """Attention of heads; axes are batch, token, head, element."""
    s = jnp.einsum("bthd,bshd->bhts", q, k, preferred_element_type=wide(q).dtype)
    s = s * q.shape[-1] ** -0.5
    if causal:
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e30)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(s, -1).astype(v.dtype), v)


def block_weights(draw, width):
    return {
        "before": draw.norm(width),
        "qkv": draw.dense(width, 3 * width),
        "out": draw.dense(width, width),
        "after": draw.norm(width),
        "up": draw.dense(width, 4 * width),
        "down": draw.dense(4 * width, width),
    }


def block(p, x, heads, causal, approximate):
    parts = jnp.split(dense(p["qkv"], layer_norm(p["before"], x)), 3, -1)
    q, k, v = (y.reshape(*y.shape[:2], heads, -1) for y in parts)
    x = x + dense(p["out"], attention(q, k, v, causal).reshape(x.shape))
    inner = jax.nn.gelu(dense(p["up"], layer_norm(p["after"], x)), approximate=approximate)
    return x + dense(p["down"], inner)


def cross_entropy(logits, classes):
    logits = wide(logits)
    own = jnp.take_along_axis(logits, classes[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - own).mean()


# Models.


def gpt2_of(draw, layers, width, heads, vocabulary, positions, tokens):
    params = {
        "tokens": draw(vocabulary, width, scale=0.02),
        "positions": draw(positions, width, scale=0.02),
        "blocks": [block_weights(draw, width) for _ in range(layers)],
        "norm": draw.norm(width),
    }

    def model(p, ids, train):
        x = p["tokens"][ids] + p["positions"][: ids.shape[1]]
        for each in p["blocks"]:
            x = block(each, x, heads, causal=True, approximate=True)
        return layer_norm(p["norm"], x) @ p["tokens"].T

    return params, draw.ids(vocabulary, 1, tokens), draw.ids(vocabulary, 1, tokens), model


@row("adam")
def gpt2(draw):
    return gpt2_of(draw, 2, 256, 4, 1000, 128, 128)


@row("adam")
def gpt2_124m(draw):
    return gpt2_of(draw, 12, 768, 12, 50257, 1024, 128)


@row("adam")
def llama_block(draw, width=256, inner=688, tokens=128, heads=8, kv_heads=4):
    per_head = width // heads
    params = {
        "before": 1 + draw(width, scale=0.1),
        "q": draw(width, width),
        "k": draw(width, kv_heads * per_head),
        "v": draw(width, kv_heads * per_head),
        "out": draw(width, width),
        "after": 1 + draw(width, scale=0.1),
        "gate": draw(width, inner),
        "up": draw(width, inner),
        "down": draw(inner, width),
    }

    def rotate(x):
        steps = 10000.0 ** (-jnp.arange(0, per_head, 2) / per_head)
        angles = jnp.arange(x.shape[1])[:, None] * steps
        cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
        a, b = jnp.split(wide(x), 2, -1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)

    def model(p, x, train):
        y = rms_norm(p["before"], x)
        q, k, v = ((y @ p[n]).reshape(*x.shape[:2], -1, per_head) for n in "qkv")
        k, v = (jnp.repeat(z, heads // kv_heads, 2) for z in (rotate(k), v))
        x = x + attention(rotate(q), k, v, causal=True).reshape(x.shape) @ p["out"]
        y = rms_norm(p["after"], x)
        return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]

    return params, draw.data(1, tokens, width), draw.data(1, tokens, width), model


@row("adam")
def vit(draw, layers=2, width=192, heads=3, patch=8, side=64, batch=4, classes=100):
    params = {
        "patches": draw(patch, patch, 3, width),
        "class": draw(1, 1, width),
        "positions": draw(1, (side // patch) ** 2 + 1, width, scale=0.02),
        "blocks": [block_weights(draw, width) for _ in range(layers)],
        "norm": draw.norm(width),
        "head": draw.dense(width, classes),
    }

    def model(p, x, train):
        y = conv(p["patches"], x, patch).reshape(x.shape[0], -1, width)
        first = jnp.broadcast_to(p["class"], (x.shape[0], 1, width))
        y = jnp.concatenate([first, y], 1) + p["positions"]
        for each in p["blocks"]:
            y = block(each, y, heads, causal=False, approximate=False)
        return dense(p["head"], layer_norm(p["norm"], y)[:, 0])

    return params, draw.data(batch, side, side, 3), draw.ids(classes, batch), model


@row("sgd")
def resnet_block(draw, inputs=32, outputs=64, side=32, batch=4):
    names = ("a", "b", "short")
    params = {
        "a": {"w": draw(3, 3, inputs, outputs), "norm": draw.norm(outputs)},
        "b": {"w": draw(3, 3, outputs, outputs), "norm": draw.norm(outputs)},
        "short": {"w": draw(1, 1, inputs, outputs), "norm": draw.norm(outputs)},
    }
    running = {"mean": draw(outputs, scale=0.1), "var": 1 + draw(outputs, scale=0.1)}
    image = draw.data(batch, side, side, inputs)

    def model(p, given, train):
        x, running = given["image"], dict(given["running"])

        def layer(name, x, stride):
            y = conv(p[name]["w"], x, stride)
            y, running[name] = batch_norm(p[name]["norm"], running[name], y, train)
            return y

        y = layer("b", jax.nn.relu(layer("a", x, 2)), 1)
        y = jax.nn.relu(y + layer("short", x, 2))
        return (y, running) if train else y

    given = {"image": image, "running": {name: running for name in names}}
    return params, given, draw.data(batch, side // 2, side // 2, outputs), model


@row("adam")
def unet_block(draw, width=32, side=32, batch=2, embedding=64):
    def weights(inputs, outputs):
        return {
            "before": draw.norm(inputs),
            "a": draw(3, 3, inputs, outputs),
            "time": draw.dense(embedding, outputs),
            "after": draw.norm(outputs),
            "b": draw(3, 3, outputs, outputs),
            "short": draw(1, 1, inputs, outputs),
        }

    params = {
        "left": weights(width, width),
        "down": draw(3, 3, width, 2 * width),
        "middle": weights(2 * width, 2 * width),
        "up": draw(3, 3, 2 * width, width),
        "right": weights(2 * width, width),
    }

    def residual(p, x, t):
        y = conv(p["a"], jax.nn.silu(group_norm(p["before"], x)))
        y = y + dense(p["time"], jax.nn.silu(t))[:, None, None]
        y = conv(p["b"], jax.nn.silu(group_norm(p["after"], y)))
        return y + conv(p["short"], x)

    def model(p, given, train):
        t = given["time"]
        left = residual(p["left"], given["image"], t)
        y = residual(p["middle"], conv(p["down"], left, 2), t)
        y = conv(p["up"], jnp.repeat(jnp.repeat(y, 2, 1), 2, 2))
        return residual(p["right"], jnp.concatenate([left, y], -1), t)

    given = {"image": draw.data(batch, side, side, width), "time": draw.data(batch, embedding)}
    return params, given, draw.data(batch, side, side, width), model


@row("adam")
def mlp_mixer(draw, layers=2, tokens=64, width=128, batch=8):
    def mlp(n, inner):
        return {"norm": draw.norm(width), "up": draw.dense(n, inner), "down": draw.dense(inner, n)}

    params = [{"tokens": mlp(tokens, 128), "channels": mlp(width, 512)} for _ in range(layers)]

    def mix(p, x):
        return dense(p["down"], jax.nn.gelu(dense(p["up"], x)))

    def model(p, x, train):
        for each in p:
            a, b = each["tokens"], each["channels"]
            x = x + mix(a, layer_norm(a["norm"], x).swapaxes(1, 2)).swapaxes(1, 2)
            x = x + mix(b, layer_norm(b["norm"], x))
        return x

    return params, draw.data(batch, tokens, width), draw.data(batch, tokens, width), model


def mamba_of(draw, selective_scan, width=128, tokens=64, batch=2, states=16, rank=8):
    inner = 2 * width
    params = {
        "norm": 1 + draw(width, scale=0.1),
        "in": draw(width, 2 * inner),
        "conv": draw(4, 1, inner),
        "conv_bias": draw.bias(inner),
        "select": draw(inner, rank + 2 * states),
        "step": draw.dense(rank, inner),
        "a": np.log(np.tile(np.arange(1, states + 1, dtype=np.float32), (inner, 1))),
        "skip": 1 + draw(inner, scale=0.1),
        "out": draw(inner, width),
    }

    def model(p, x, train):
        u, z = jnp.split(rms_norm(p["norm"], x) @ p["in"], 2, -1)
        names = ("NWC", "WIO", "NWC")
        grouped = {"dimension_numbers": names, "feature_group_count": inner}
        u = lax.conv_general_dilated(u, p["conv"], (1,), [(3, 0)], **grouped)
        u = jax.nn.silu(u + p["conv_bias"])
        step, b, c = jnp.split(u @ p["select"], [rank, rank + states], -1)
        step = jax.nn.softplus(dense(p["step"], step))
        step, b, c = wide(step), wide(b), wide(c)
        y = selective_scan(step, -jnp.exp(wide(p["a"])), b, c, wide(u))
        y = (y + wide(u) * wide(p["skip"])).astype(x.dtype)
        return x + (y * jax.nn.silu(z)) @ p["out"]

    return params, draw.data(batch, tokens, width), draw.data(batch, tokens, width), model


@row("adam")
def mamba_scan(draw):
    """A selective scan, one token in a turn."""

    def scan(step, a, b, c, u):
        def turn(state, now):
            step, b, c, u = now
            add = (step * u)[..., None] * b[:, None]
            state = jnp.exp(step[..., None] * a) * state + add
            return state, (state * c[:, None]).sum(-1)

        start = jnp.zeros((u.shape[0], *a.shape), u.dtype)
        rows = [x.swapaxes(0, 1) for x in (step, b, c, u)]
        return lax.scan(turn, start, tuple(rows))[1].swapaxes(0, 1)

    return mamba_of(draw, scan)


@row("adam")
def mamba_associative(draw):
    """The same by `lax.associative_scan`."""

    def scan(step, a, b, c, u):
        def both(left, right):
            return left[0] * right[0], right[0] * left[1] + right[1]

        added = (step * u)[..., None] * b[:, :, None]
        states = lax.associative_scan(both, (jnp.exp(step[..., None] * a), added), axis=1)[1]
        return (states * c[:, :, None]).sum(-1)

    return mamba_of(draw, scan)


@row("sgd")
def moe_top2(draw, tokens=256, width=128, inner=256, experts=8, capacity=80):
    """Experts with places for so many tokens; others are dropped."""
    params = {
        "router": draw(width, experts),
        "up": draw(experts, width, inner, scale=width**-0.5),
        "down": draw(experts, inner, width, scale=inner**-0.5),
    }

    def model(p, x, train):
        gates, chosen = lax.top_k(jax.nn.softmax(wide(x) @ wide(p["router"]), -1), 2)
        gates = gates / gates.sum(-1, keepdims=True)
        flat = chosen.reshape(-1)
        hot = jax.nn.one_hot(flat, experts, dtype=jnp.int32)
        place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
        place = jnp.where(place < capacity, flat * capacity + place, experts * capacity)
        sent = jnp.zeros((experts * capacity, width), x.dtype)
        sent = sent.at[place].set(jnp.repeat(x, 2, 0), mode="drop")
        y = jnp.einsum("ecd,edf->ecf", sent.reshape(experts, capacity, width), p["up"])
        y = jnp.einsum("ecf,efd->ecd", jax.nn.gelu(y), p["down"]).reshape(-1, width)
        back = y.at[place].get(mode="fill", fill_value=0).reshape(tokens, 2, width)
        return x + (wide(back) * gates[..., None]).sum(1).astype(x.dtype)

    return params, draw.data(tokens, width), draw.data(tokens, width), model


@row("sgd")
def large_cross_entropy(draw, tokens=512, width=256, vocabulary=32000):
    given = {"x": draw.data(tokens, width), "classes": draw.ids(vocabulary, tokens)}

    def model(p, given, train):
        return cross_entropy(given["x"] @ p["w"], given["classes"])

    return {"w": draw(width, vocabulary)}, given, None, model


# Steps.


def started(params, optimizer):
    """The state before a step that is not the first, so that no update is a mere sign."""
    zeros = lambda: jax.tree.map(lambda p: np.zeros(p.shape, np.float32), params)
    state = {"params": params, "first": zeros()}
    if optimizer == "adam":
        rng = np.random.default_rng(1)
        drawn = lambda p: rng.uniform(0.5e-8, 1.5e-8, p.shape).astype(np.float32)
        state |= {"second": jax.tree.map(drawn, params), "count": np.int32(10)}
    return state


def sgd(state, grads):
    first = jax.tree.map(lambda m, g: 0.9 * m + wide(g), state["first"], grads)
    move = lambda p, m: (wide(p) - RATE * m).astype(p.dtype)
    return {"params": jax.tree.map(move, state["params"], first), "first": first}


def adam(state, grads):
    count = state["count"] + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * wide(g), state["first"], grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * wide(g) ** 2, state["second"], grads)

    def move(p, m, v):
        m, v = m / (1 - 0.9**count), v / (1 - 0.999**count)
        return (wide(p) - RATE * m / (jnp.sqrt(v) + 1e-8)).astype(p.dtype)

    params = jax.tree.map(move, state["params"], first, second)
    return {"params": params, "first": first, "second": second, "count": count}


def prepared(name, mode, dtype):
    """The function of a row, its arguments, and the numbers of those it may overwrite."""
    make, optimizer = ROWS[name]
    params, given, target, model = make(Draw())
    is_float = lambda x: np.issubdtype(x.dtype, np.floating)
    in_dtype = lambda x: jnp.array(x, dtype if is_float(x) else None)
    params, given, target = jax.tree.map(in_dtype, (params, given, target))
    if mode == "forward":
        return lambda params, given: model(params, given, False), (params, given), ()

    def loss(params, given, target):
        made = model(params, given, True)
        made, others = made if isinstance(made, tuple) else (made, ())
        if target is None:
            return made, others
        if jnp.issubdtype(target.dtype, jnp.integer):
            return cross_entropy(made, target), others
        return jnp.square(wide(made) - wide(target)).mean(), others

    def step(state, given, target):
        gradient = jax.value_and_grad(loss, has_aux=True)
        (value, others), grads = gradient(state["params"], given, target)
        return {"adam": adam, "sgd": sgd}[optimizer](state, grads), value, others

    state = jax.tree.map(jnp.array, started(params, optimizer))
    return step, (state, given, target), (0,)


# Measurements.


def in_f64(function, args):
    """The results of JAX, all of it in f64."""
    with jax.enable_x64(True):
        wider = lambda x: x.astype(jnp.float64) if jnp.issubdtype(x.dtype, jnp.floating) else x
        return jax.tree.map(np.asarray, jax.jit(function)(*jax.tree.map(wider, args)))


def error(got, right):
    """The largest difference, as a part of the greatest magnitude."""
    a, b = (np.asarray(x).astype(np.float64) for x in (got, right))
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    off, size = np.abs(a - b).max(initial=0.0), np.abs(b).max(initial=0.0)
    return float(off / size) if size else float(off > 0)


def compared(theirs, ours, right, dtype):
    """The largest errors of both and between them, and the worst array that is wrong."""
    worst, wrong = [0.0, 0.0, 0.0], None
    leaves = jax.tree_util.tree_leaves_with_path(right)
    for (path, r), a, b in zip(leaves, jax.tree.leaves(theirs), jax.tree.leaves(ours), strict=True):
        errors = [error(a, r), error(b, r), error(b, a)]
        worst = [max(pair) for pair in zip(worst, errors)]
        if not errors[1] <= max(FLOORS[dtype], 8 * errors[0]):
            if wrong is None or errors[1] > wrong[1]:
                wrong = jax.tree_util.keystr(path) or "the result", errors[1], errors[0]
    return worst, wrong


def begin(stage):
    """Tells the process that waits for this one, for the case that this one ends by a signal."""
    print(f"stage: {stage}", file=sys.stderr, flush=True)


class Side:
    """A compiler's function with arguments of its own. Where it may overwrite one, calls chain."""

    def __init__(self, jit, function, args, donated):
        self.call = jit(function, donate_argnums=donated)
        self.args, self.donated = list(jax.tree.map(jnp.copy, args)), donated
        begun = time.perf_counter()
        self.made = jax.block_until_ready(self.call(*self.args))
        self.first_call = time.perf_counter() - begun
        self.results = jax.tree.map(np.array, self.made)
        self.times = []

    def run(self, calls):
        begun = time.perf_counter()
        for _ in range(calls):
            if self.donated:
                self.args[0] = self.made[0]
            self.made = jax.block_until_ready(self.call(*self.args))
        return (time.perf_counter() - begun) / calls


def jit_of(side):
    if side == "jax":
        return jax.jit
    import fuser.jax

    return lambda function, **options: fuser.jax.jit(function, fallback=False, **options)


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if "error: " in line), lines[0] if lines else "no message")
    return f"{type(error).__name__}: {told}"


def measure(name, mode, dtype, rounds):
    function, args, donated = prepared(name, mode, DTYPES[dtype])
    begin("JAX in f64")
    right = in_f64(function, args)
    begin("JAX")
    jits = {side: jit_of(side) for side in ("jax", "ours")}
    for jit in jits.values():
        jit(lambda x: x + 1)(jnp.ones(8))  # loads what every first call needs
    theirs = Side(jits["jax"], function, args, donated)
    sides = [theirs]
    found = {"errors": [max(map(error, *map(jax.tree.leaves, (theirs.results, right))))]}
    begin("ours")
    try:
        ours = Side(jits["ours"], function, args, donated)
        sides.append(ours)
        found["errors"], found["wrong"] = compared(theirs.results, ours.results, right, dtype)
    except Exception as refused:
        found["stage"], found["error"] = "ours", first_line(refused)
    begin("calls in turns")
    right = function = args = None
    counts = []
    for side in sides:
        side.results = None
        side.run(1)
        counts.append(max(1, math.ceil(ROUND / side.run(1))))
    for _ in range(rounds):
        for side, calls in zip(sides, counts):
            side.times.append(side.run(calls))
    found["ms"] = [1e3 * statistics.median(side.times) for side in sides]
    found["compile"] = [side.first_call for side in sides]
    return found


def peak(name, mode, dtype, side):
    """The peak of this process in MiB, and how much of it came after the inputs were made."""
    so_far = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    function, args, donated = prepared(name, mode, DTYPES[dtype])
    jit = jit_of(side)
    jit(lambda x: x + 1)(jnp.ones(8))
    before = so_far()
    call = jit(function, donate_argnums=donated)
    if not donated:
        for _ in range(3):
            jax.block_until_ready(call(*args))
    else:
        state, *rest = args
        del args
        for _ in range(3):
            state = jax.block_until_ready(call(state, *rest))[0]
    return {"peak": [so_far(), so_far() - before]}


def in_process(threads, limit, **of_row):
    """The findings of a row from a process of its own, on as many processors as it has threads."""
    flags = os.environ.get("XLA_FLAGS", "")
    if threads == 1:
        flags += " --xla_cpu_multi_thread_eigen=false"
    all_cpus = os.sched_getaffinity(0)
    command = [sys.executable, __file__, "--one", json.dumps(of_row)]
    environment = {**os.environ, "XLA_FLAGS": flags}
    os.sched_setaffinity(0, sorted(all_cpus)[:threads])
    try:
        options = {"env": environment, "capture_output": True, "text": True, "timeout": limit}
        done = subprocess.run(command, **options)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {limit} s"}
    finally:
        os.sched_setaffinity(0, all_cpus)
    told = [line for line in done.stderr.splitlines() if line.strip()]
    stages = [line.removeprefix("stage: ") for line in told if line.startswith("stage: ")]
    stage = stages[-1] if stages else "start"
    if done.returncode == 0:
        found = json.loads(done.stdout.splitlines()[-1])
        if "error" in found:
            found["error"] = f"{found.get('stage', stage)}: {found['error']}"
        return found
    panics = [at for at, line in enumerate(told) if "panicked at" in line]
    told = " ".join(told[panics[0] : panics[0] + 2]) if panics else told[-1] if told else ""
    told = "" if told.startswith("stage: ") else f", {told}"
    return {"error": f"{stage}: exit status {done.returncode}{told}"}


def cell(values, at, form="{:.2f}"):
    return form.format(values[at]) if values and len(values) > at else "-"


def geometric(values):
    return statistics.geometric_mean(values) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help=f"names, with commas: {', '.join(ROWS)}")
    parser.add_argument("--mode", choices=["forward", "train"])
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--large", action="store_true", help=f"also {', '.join(LARGE)}")
    parser.add_argument("--memory", action="store_true", help="peaks of processes, in MiB")
    parser.add_argument("--limit", type=int, default=1800, help="seconds for each process")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        of_row = json.loads(options.one)
        try:
            found = peak(**of_row) if "side" in of_row else measure(**of_row)
        except Exception as failed:
            found = {"error": first_line(failed)}
        return print(json.dumps(found))
    asked = [name for name in options.only.split(",") if name]
    unknown = [name for name in asked if name not in ROWS]
    dtypes, threads = options.dtypes.split(","), [int(n) for n in options.threads.split(",")]
    if unknown or not set(dtypes) <= set(DTYPES):
        parser.error(f"names are {', '.join(ROWS)}; dtypes are {', '.join(DTYPES)}")
    if max(threads) > len(os.sched_getaffinity(0)):
        parser.error(f"there are {len(os.sched_getaffinity(0))} processors")
    names = asked or [name for name in ROWS if options.large or name not in LARGE]
    modes = [options.mode] if options.mode else ["forward", "train"]

    columns = "model | dtype | threads | JAX ms | ours ms | ours / JAX | JAX compile s"
    columns += " | ours compile s | error JAX | error ours | apart"
    columns += " | JAX peak MiB (after inputs) | ours" if options.memory else ""
    count = columns.count("|") + 1
    print(f"| {columns} |\n|{'---|' * count}", flush=True)
    ratios, compiles, failed, notes = {}, [], 0, []
    rows = [(n, m, d, t) for t in threads for d in dtypes for n in names for m in modes]
    for name, mode, dtype, thread in rows:
        of_row = {"name": name, "mode": mode, "dtype": dtype}
        found = in_process(thread, options.limit, rounds=options.rounds, **of_row)
        ms, compile_s, errors = (found.get(key) for key in ("ms", "compile", "errors"))
        label = f"{name} {mode}" + (f" ({ROWS[name][1]})" if mode == "train" else "")
        ratio = "-"
        if found.get("error"):
            ratio = "DID NOT RUN: " + found["error"].replace("|", "\\|")[:200]
            failed += 1
        elif ms:
            ratios[f"{label}, {dtype}, {thread} threads"] = ms[1] / ms[0]
            compiles.append(compile_s[1] / compile_s[0])
            ratio = f"{ms[1] / ms[0]:.2f}"
        if found.get("wrong"):
            ratio += " WRONG"
            failed += 1
            where, mine, their = found["wrong"]
            note = f"{label}, {dtype}: `{where}` is off by {mine:.2g}, JAX by {their:.2g}"
            notes.append(note)
        cells = [label, dtype, str(thread), cell(ms, 0), cell(ms, 1), ratio]
        cells += [cell(compile_s, at) for at in (0, 1)]
        cells += [cell(errors, at, "{:.1e}") for at in (0, 1, 2)]
        for side in ("jax", "ours") if options.memory else ():
            peaks = in_process(thread, options.limit, side=side, **of_row).get("peak")
            cells.append(f"{cell(peaks, 0, '{:.0f}')} ({cell(peaks, 1, '{:.0f}')})")
        print(f"| {' | '.join(cells)} |", flush=True)
    for note in notes:
        print(f"\nWRONG: {note}")
    if ratios:
        worst = max(ratios, key=ratios.get)
        mean = geometric(list(ratios.values()))
        print(f"\nours over JAX, {len(ratios)} of {len(rows)} rows: geometric mean {mean:.2f}")
        print(f"worst {ratios[worst]:.2f}: {worst}")
        print(f"compile: geometric mean {geometric(compiles):.2f}, worst {max(compiles):.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

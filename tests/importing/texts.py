"""Programs as JAX lowers them, with inputs and the results that JAX computes: the texts of `stablehlo/`.

    python texts.py FOLDER [NAME...]
    python texts.py --models FOLDER

Each file is a module as `jax.jit(f).lower(...).as_text()` prints it and, in comments behind it, the elements of inputs and results.
Needs JAX (made with 0.10.2, on a CPU); the tests need the texts only. `--models` writes some of them at other sizes, without
elements: `fuser-translate --import=stablehlo` makes `examples/models` of those.
"""

import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS = {}


def program(*shapes, debug=False, form="custom"):
    """Notes a function with its inputs: a shape for f32, or a pair of a shape and a type, which is "key" or "rbg" for a key of random numbers.

    `form` is that of the text: "custom", "generic", or "exported", as `jax.export` writes it.
    """

    def note(f):
        PROGRAMS[f.__name__] = (f, shapes, debug, form)
        return f

    return note


i32, i16, i8, u32, u16, u8 = jnp.int32, jnp.int16, jnp.int8, jnp.uint32, jnp.uint16, jnp.uint8
bf16, f16, boolean = jnp.bfloat16, jnp.float16, jnp.bool_
e4m3, e5m2, e8m0 = jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e8m0fnu


@program((3, 5))
def softmax(x):
    return jax.nn.softmax(x)


# Rows of a power of two: XLA multiplies by the reciprocal of a constant, which is then exact.
@program((4, 8), (8,), (8,))
def layer_norm(x, w, b):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) * (1 / jnp.sqrt(var + 1e-5)) * w + b


@program((4, 8), (8,), (8,), (4, 8))
def layer_norm_backward(x, w, b, g):
    return jax.vjp(layer_norm, x, w, b)[1](g)


def rms_norm(x, w):
    scale = lax.rsqrt(jnp.mean(x.astype(jnp.float32) ** 2, -1, keepdims=True) + 1e-6)
    return (x.astype(jnp.float32) * scale).astype(x.dtype) * w


@program(((3, 8), bf16), ((8,), bf16))
def rms_norm_bf16(x, w):
    return rms_norm(x, w)


@program((2, 7))
def activations(x):
    tanh, erf = jax.nn.gelu(x, approximate=True), jax.nn.gelu(x, approximate=False)
    return tanh, erf, jax.nn.silu(x), jax.nn.relu(x), jax.nn.softplus(x), jax.nn.leaky_relu(x), jax.nn.elu(x)


def attention(q, k, v):
    s = q.shape[1]
    scores = jnp.einsum("bshd,bthd->bhst", q, k) / np.sqrt(q.shape[-1]).astype(np.float32)
    mask = jnp.tril(jnp.ones((s, s), bool))
    scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhst,bthd->bshd", jax.nn.softmax(scores, -1), v)


@program((2, 3, 2, 4), (2, 3, 2, 4), (2, 3, 2, 4))
def causal_attention(q, k, v):
    return attention(q, k, v)


def rotary(x, base=10000.0):
    half = x.shape[-1] // 2
    freq = base ** (-jnp.arange(half, dtype=jnp.float32) / half)
    angle = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * freq[None]
    cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def llama(x, n1, wq, wk, wv, wo, n2, wg, wu, wd):
    b, s, h = x.shape
    heads = max(h // 16, 2)
    groups = heads // 2
    y = rms_norm(x, n1)
    q = rotary((y @ wq).reshape(b, s, heads, -1))
    k = rotary((y @ wk).reshape(b, s, groups, -1))
    v = (y @ wv).reshape(b, s, groups, -1)
    k, v = (jnp.repeat(t, heads // groups, axis=2) for t in (k, v))
    x = x + attention(q, k, v).reshape(b, s, -1) @ wo
    y = rms_norm(x, n2)
    return x + (jax.nn.silu(y @ wg) * (y @ wu)) @ wd


LLAMA = [(1, 3, 4), (4,), (4, 4), (4, 2), (4, 2), (4, 4), (4,), (4, 6), (4, 6), (6, 4)]


@program(*LLAMA, debug=True)
def llama_block(*args):
    return llama(*args)


@program(*LLAMA, (1, 3, 4))
def llama_block_backward(*args):
    return jax.vjp(llama, *args[:-1])[1](args[-1])


def gpt2(x, g1, b1, wqkv, bqkv, wo, bo, g2, b2, w1, c1, w2, c2, keep1, keep2):
    b, s, h = x.shape
    y = layer_norm(x, g1, b1)
    q, k, v = jnp.split(y @ wqkv + bqkv, 3, axis=-1)
    q, k, v = (t.reshape(b, s, max(h // 16, 2), -1) for t in (q, k, v))
    a = attention(q, k, v).reshape(b, s, h) @ wo + bo
    x = x + jnp.where(keep1 > 0, a / 0.9, 0.0)
    y = jax.nn.gelu(layer_norm(x, g2, b2) @ w1 + c1, approximate=True) @ w2 + c2
    return x + jnp.where(keep2 > 0, y / 0.9, 0.0)


GPT2 = [(1, 3, 4), (4,), (4,), (4, 12), (12,), (4, 4), (4,), (4,), (4,), (4, 8), (8,), (8, 4), (4,), (1, 3, 4), (1, 3, 4)]


@program(*GPT2)
def gpt2_block(*args):
    return gpt2(*args)


@program(*GPT2, (1, 3, 4))
def gpt2_block_backward(*args):
    weights, keep, g = args[:-3], args[-3:-1], args[-1]
    return jax.vjp(lambda *w: gpt2(*w, *keep), *weights)[1](g)


@program((4, 7), ((4,), i32))
def cross_entropy(x, labels):
    logits = jax.nn.log_softmax(x)
    return -jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0].mean()


@program((4, 7), ((4,), i32))
def cross_entropy_backward(x, labels):
    loss = lambda x: -(jax.nn.log_softmax(x) * jax.nn.one_hot(labels, 7)).sum(1).mean()
    return jax.value_and_grad(loss)(x)


@program((3,), (2, 3), (3,), (2, 3), (3,), (2, 3), (3,), (2, 3))
def adam(p0, p1, g0, g1, m0, m1, v0, v1):
    out = []
    for p, g, m, v in ((p0, g0, m0, v0), (p1, g1, m1, v1)):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v * v + 0.001 * g * g
        out += [p - 1e-2 * (m / (1 - 0.9**3)) / (jnp.sqrt(v / (1 - 0.999**3)) + 1e-8), m, v]
    return out


def batch_norm(x, w, b):
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    n = (x - mean[None, :, None, None]) / jnp.sqrt(var + 1e-5)[None, :, None, None]
    return n * w[None, :, None, None] + b[None, :, None, None]


@program((2, 3, 2, 3), (3,), (3,), (2, 3, 2, 3))
def batch_norm_backward(x, w, b, g):
    y, pull = jax.vjp(batch_norm, x, w, b)
    return (y, *pull(g))


def group_norm(x, w, b, groups=2):
    n, c, h, d = x.shape
    y = x.reshape(n, groups, -1)
    y = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    return y.reshape(x.shape) * w[None, :, None, None] + b[None, :, None, None]


@program((2, 4, 4, 2), (4,), (4,), (2, 4, 4, 2))
def group_norm_backward(x, w, b, g):
    y, pull = jax.vjp(group_norm, x, w, b)
    return (y, *pull(g))


@program((2, 3, 5), (2, 3, 5))
def instance_norm_backward(x, g):
    f = lambda x: (x - x.mean(2, keepdims=True)) * lax.rsqrt(x.var(2, keepdims=True) + 1e-5)
    y, pull = jax.vjp(f, x)
    return y, pull(g)[0]


@program(((2, 3), i32), (5, 4), (3, 4))
def embedding(tokens, table, positions):
    return table[tokens] + positions[None]


@program((6, 3), (4, 3))
def k_means_step(x, centers):
    distance = ((x[:, None] - centers[None]) ** 2).sum(-1)
    nearest = jnp.argmin(distance, axis=1)
    member = jax.nn.one_hot(nearest, 4)
    return nearest, member.T @ x * (1 / jnp.maximum(member.sum(0), 1))[:, None]


@program((3, 8))
def quantize(x):
    scale = jnp.abs(x).max(-1, keepdims=True) / 127
    q = jnp.clip(jnp.round(x / scale), -127, 127).astype(jnp.int8)
    return q, scale, q.astype(jnp.float32) * scale


@program((5, 4), (4, 3))
def router(x, w):
    p = jax.nn.softmax(x @ w)
    expert = jnp.argmax(p, axis=-1)
    gate = p.max(-1)
    load = jax.nn.one_hot(expert, w.shape[1]).mean(0)
    return expert, gate, (load * p.mean(0)).sum() * 3


@program((3, 6), ((4,), i32))
def scans(x, n):
    return jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 1), jnp.cumsum(n)


@program((2, 7, 9, 2), ((6, 5), i32), ((5, 5), boolean))
def windows(x, n, t):
    pooled = lambda *a: lax.reduce_window(x, *a)
    area = lambda x: (lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()
    most = lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), "SAME") ** 2).sum()
    least = lambda x: (lax.reduce_window(x, jnp.inf, lax.min, (1, 2, 3, 1), (1, 1, 3, 1), "VALID") ** 2).sum()
    dilations = dict(base_dilation=(1, 2, 1, 1), window_dilation=(1, 3, 2, 1))
    return (
        pooled(-jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        pooled(-jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
        pooled(0.0, lax.add, (1, 7, 9, 1), (1, 1, 1, 1), "VALID"),
        lax.reduce_window(x, 0.0, lax.add, (1, 2, 3, 1), (1, 2, 1, 1), ((0, 0), (1, 1), (2, 0), (0, 0)), **dilations),
        jax.grad(area)(x),
        jax.grad(most)(x),
        jax.grad(least)(x),
        lax.reduce_window(n, 3, lax.mul, (2, 2), (1, 2), "VALID"),
        lax.reduce_window(n, 0, lax.add, (7, 1), (1, 1), "VALID"),
        lax.reduce_window(t, False, lax.bitwise_or, (2, 2), (1, 1), "VALID"),
    )


def convolved(x, w, strides, padding, **options):
    numbers = options.pop("numbers", ("NHWC", "HWIO", "NHWC"))
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=numbers, **options)


# Channels first, strides, holes in the kernel and in the input, a border, kernels of one place, places outside; in one dimension; integers.
@program((2, 7, 9, 2), (3, 3, 2, 4), (1, 1, 2, 3), ((5, 4, 2), i32), ((3, 2, 3), i32))
def convolutions(x, w, point, n, v):
    line = ("NWC", "WIO", "NWC")
    return (
        convolved(x, w, (1, 1), "SAME"),
        convolved(x, w, (1, 2), ((2, 1), (0, 3)), rhs_dilation=(2, 3)),
        convolved(x, w, (1, 1), ((1, 2), (2, 2)), lhs_dilation=(2, 3)),
        convolved(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (2, 2), "VALID", numbers=("NCHW", "OIHW", "NCHW")),
        convolved(x, point, (1, 1), "VALID"),
        convolved(x[:, :2], w, (1, 1), "VALID"),
        convolved(n, v, (1,), ((2, 0),), numbers=line),
    )


# Groups of features, one of each feature, and groups of the batch in the gradient of their kernel.
@program((2, 5, 6, 4), (3, 3, 2, 6), (3, 3, 1, 4))
def grouped_convolutions(x, w, each):
    apart = lambda x, w, groups: convolved(x, w, (2, 1), "SAME", feature_group_count=groups)
    loss = lambda x, each: (apart(x, each, 4) ** 2).sum()
    return apart(x, w, 2), *jax.grad(loss, (0, 1))(x, each)


@program((9,), ((9,), i32), ((9,), i16), ((9,), u8), ((9,), u32))
def bits(x, n, s, b, w):
    counts = [f(a) for a in (n, -n, s - 3, b, w << 29) for f in (lax.population_count, lax.clz)]
    return jnp.cbrt(x), jnp.cbrt(x * 1e-20), *counts


@program((7, 3))
def slices(x):
    f = lambda x: (x[1::2] * 2).sum() + (x[::3, 1:] ** 2).sum()
    return jax.grad(f)(x), x[::-1], jnp.roll(x, 2, 0), jnp.pad(x, ((1, 2), (0, 1)), constant_values=3.0), x[2:6:3]


@program((5, 4), ((), i32), (2, 4))
def dynamic(x, i, u):
    at = lax.dynamic_slice(x, (i, 1), (2, 3))
    return at, lax.dynamic_update_slice(x, u, (i, 0)), x[i], lax.dynamic_index_in_dim(x, i, 1)


@program(((6,), i32), ((6,), i32))
def integers(a, b):
    return a // b, a % b, lax.rem(a, b), a & b, a | b, a ^ b, ~a, a << 2, a >> 1, jnp.abs(a), jnp.sign(a), jnp.clip(a, -2, 3), a * b


@program(((6,), u32), ((6,), u32), ((6,), i16), ((6,), u16))
def integer_types(a, b, c, d):
    """Of `x` most are near the greatest number."""
    x, y, z = a * 1431655765 - b, c * 12345, d - 2
    return (
        x + b, x * x, x // b, x % b, x >> b, x << b, x < b, x >= b, jnp.maximum(x, b), jnp.minimum(x, b), x.astype(jnp.float32), x.astype(i16),
        x.astype(i32), x.max(), x.min(), x.sum(), jnp.prod(x), jnp.argmax(x), jnp.cumsum(x), ~x, jnp.clip(x, u32(1), u32(4000000000)), y, y >> 1, y // c, jnp.sign(y),
        y.astype(u16), y.astype(u32), y.max(), y.min(), z, -z, z * z, z > d, z.astype(i32), z.min(), (x.astype(jnp.float32) * 2).astype(u32),
        (y.astype(jnp.float32) * -3).astype(u16), jnp.where(x > b, x, b), jnp.full((2,), u32(4294967295)),
    )


@program((2, 5))
def roundings(x):
    return jnp.round(x), jnp.floor(x), jnp.ceil(x), jnp.trunc(x), lax.round(x), jnp.sign(x), jnp.isfinite(x), jnp.isinf(x), jnp.isnan(x)


@program((2, 5))
def functions(x):
    y = jnp.abs(x) + 0.5
    return (
        jnp.exp(x), jnp.log(y), jnp.log1p(y), jnp.expm1(x), jnp.sqrt(y), jnp.sin(x), jnp.cos(x), jnp.tan(x), jnp.tanh(x), jnp.arctan2(x, y),
        jnp.power(y, x), lax.erf(x), jax.nn.sigmoid(x), jnp.sinh(x), jnp.cosh(x), jnp.arcsinh(x), jnp.arctan(x), lax.erfc(x), 1 / y, x / y,
    )


@program((3, 4), ((3, 4), boolean))
def reductions(x, m):
    return (
        x.sum(0), x.max(1), x.min(), x.prod(1), m.any(1), m.all(0), jnp.argmax(x, 1), jnp.argmin(x, 0), jax.nn.logsumexp(x, 1),
        jnp.where(m, x, 0).sum(), x.std(1), m.sum(1), jnp.sum(x, 1, initial=3.0), jnp.max(x, 1, initial=1.0),
    )


@program((2, 3, 4), (2, 4, 5), (3, 4), ((3, 2), i32), ((2, 3), i32))
def products(a, b, c, m, n):
    return a @ b, jnp.einsum("bij,ij->b", a, c), jnp.einsum("bij,kj->bik", a, c), jnp.einsum("ij,kl->ikjl", c, c), m @ n, jnp.einsum("bij,bjk->kib", a, b), a @ c.T, c @ c[0], c[0] @ c[1]


@program(((3, 5), bf16), ((5, 2), bf16))
def half_precision(x, w):
    y = jnp.dot(x, w, preferred_element_type=jnp.float32)
    return y, (x @ w), jax.nn.softmax(x), x.sum(1), (x.astype(f16) * 3).astype(f16)


@program((24,), ((3, 5), e4m3), ((5, 2), e5m2))
def small_floats(x, a, b):
    wide = jnp.concatenate([x * 263.0, x * 40000.0, x * 2.0**-9, jnp.array([464.0, 464.001, -480.0, jnp.inf, -jnp.inf, jnp.nan, -0.0, 61440.0])])
    narrow = [wide.astype(dtype) for dtype in (e4m3, e5m2, e8m0)]
    whole = (x * 300).astype(i32).astype(e4m3)
    return *narrow, *[y.astype(jnp.float32) for y in narrow], *[jnp.isnan(y) for y in narrow], narrow[1].astype(e4m3), \
        wide.astype(f16).astype(e4m3), whole, jnp.dot(a, b, preferred_element_type=jnp.float32), a.T, jnp.concatenate([a, a], 1)[:, 1:7], \
        jnp.where(a < a.T[0, 1], a, jnp.array(448.0, e4m3)), jnp.pad(b, 1), x[:15].reshape(3, 5).astype(e4m3) == a


@program((0, 3), (1, 1), ())
def small(x, y, z):
    return x.sum(0), x + 1, y * z, jnp.broadcast_to(y, (3, 2)), jnp.concatenate([y, y + z], 0), z.reshape(1, 1), y[0]


@program((2, 3), ((2, 3), u8), debug=True)
def calls(x, bits):
    f = jax.jit(lambda t: jnp.where(t > 0, t, -t))
    g = jax.checkpoint(lambda t: f(t) * f(t + 1))
    return g(x), jnp.take(x, jnp.array([2, 0, -1]), axis=1), bits >> 1, lax.bitcast_convert_type(x, i32), lax.nextafter(x, jnp.ones_like(x))


@program((3, 4))
def constants(x):
    table = jnp.asarray(np.arange(12, dtype=np.float32).reshape(3, 4) / 7)
    return x * table + np.float32(np.inf), jnp.arange(4), jnp.linspace(0, 1, 5), jnp.eye(3), jnp.triu(x), jnp.full((2, 2), 7), jnp.zeros((0, 2)), x * jnp.pi


@program((3, 7), (5, 4), ((6,), i32), ((6,), boolean))
def sorts(x, y, i, b):
    return jnp.sort(x, 1), jnp.argsort(x, 1), jnp.sort(y, 0, descending=True), jnp.argsort(y, 0, descending=True), jnp.sort(i), jnp.argsort(b)


@program((3, 7), (3, 7), ((3, 7), i32))
def sorts_of_pairs(x, y, i):
    return *lax.sort_key_val(x, y, dimension=1), *lax.sort((i, x, y), dimension=0, num_keys=1), jnp.median(x.astype(jnp.bfloat16), axis=1)


@program((3, 7), ((4, 5), i32))
def greatest(x, i):
    return *lax.top_k(x, 3), *lax.top_k(i, 5), *lax.top_k(x[0], 1)


@program((5, 3), ((4,), i32), (4, 3), (5, 4), ((), i32), (3,))
def scatters(x, i, u, v, k, w):
    y = x.T
    return (
        x.at[i].set(u), x.at[i].add(u), x.at[i].mul(u), x.at[i].max(u), x.at[i].min(u, mode="drop"), x.at[k].set(w), x.at[2].add(w),
        y.at[:, i].add(u.T), v.at[jnp.array([3, 0, 1, 2, 4])].set(v), x.at[i - 2].subtract(u),
    )


@program((5, 4), ((3,), i32), ((3,), i32), (3,), (2, 2), (2, 4), ((5, 4), boolean), ((3,), boolean))
def scatters_at_several_axes(x, i, j, u, v, w, b, c):
    return (
        x.at[i, j].add(u), x.at[j, i + 1].max(u), x.at[1:3].set(w), x.at[1:3, ::2].mul(v), x.at[2, 1:3].add(v[0]), x.at[::-2].add(1.5),
        x.at[jnp.array([[0, 1], [2, 4]])].min(0.25), b.at[i, j].set(c), jnp.zeros((2, 3, 4)).at[:, jnp.array([1, 0, 1]), j].add(u),
    )


@program((5, 4), ((3,), i32), ((5, 2), i32), ((4,), i32))
def scatters_of_gradients(x, i, along, one):
    rows = jax.grad(lambda x: (jnp.take(x, i, axis=0) ** 2).sum())(x)
    columns = jax.grad(lambda x: (x[:, i] * x[0, 1]).sum())(x)
    picked = jax.grad(lambda x: (jnp.take_along_axis(x, along, axis=1) ** 3).sum())(x)
    batches = jax.vmap(lambda row, k: row.at[k].set(9.0))(x.T, one)
    pairs = jax.vmap(lambda row, k: lax.dynamic_update_slice(row, row[:2] * 2, (k,)))(x.T, one)
    return rows, columns, picked, batches, pairs


def recurrent(x, w, u):
    def step(h, x):
        h = jnp.tanh(x @ w + h @ u)
        return h, h

    return lax.scan(step, jnp.zeros(3), x)


program((4, 2), (2, 3), (3, 3))(recurrent)


@program((4, 2), (2, 3), (3, 3))
def recurrent_backward(x, w, u):
    return jax.grad(lambda w, u: jnp.sum(recurrent(x, w, u)[1] ** 2), (0, 1))(w, u)


@program((8,), ((), i32))
def loops(x, i):
    counted = lax.fori_loop(2, 5, lambda i, c: c * 0.5 + i, x)
    inside = lax.fori_loop(0, 2, lambda i, c: lax.fori_loop(0, i + 1, lambda j, c: c + jnp.sin(c) * j, c), x)
    return counted, inside, lax.while_loop(lambda c: c[1] > 8, lambda c: (-c[0], c[1]), (x, 3))[0]


@program((8,), ((), i32), (3,))
def branches(x, i, y):
    one = lax.switch(i - 1, [lambda x: x + 1, lambda x: -x, lambda x: x * x], x)
    two = lax.cond(y[0] > 0, lambda x: (x, x[0] > 1), lambda x: (jnp.exp(x), x[1] > 0), x)
    return one, two, lax.switch(i + 7, [jnp.sin, jnp.cos], x), lax.switch(i - 9, [jnp.sin, jnp.cos], x)


@program(((17, 33), i8), ((33, 16), i8), ((17, 33), u8), ((33, 16), i16), ((2, 9, 7, 5), i8), ((3, 3, 5, 17), i8))
def whole_products(x, y, z, w, images, kernel):
    def product(x, y, to):
        return lax.dot(x, y, preferred_element_type=to)

    def convolution(to):
        dims = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(images, kernel, (1, 2), "SAME", dimension_numbers=dims, preferred_element_type=to)

    return (
        product(x, y, i32),
        product(x, y, i8),
        product(z, z.T, u8),
        product(w.T, w, i32),
        product(z.astype(i32), w.astype(i32), i32),
        convolution(i32),
        convolution(i8),
    )


@program((17, 33), (17, 33), (2, 33, 16), (2, 33, 16))
def complex_products(a, b, c, d):
    x, y = lax.complex(a, b), lax.complex(c, d)
    products = jnp.einsum("ij,bjk->bik", x, y), jnp.einsum("ij,bjk->ik", x.conj(), y), x @ y[0, :, :1]
    return [part for z in products for part in (z.real, z.imag)]


@program((33, 33), ((), i32), (3,))
def heavy_branches(x, i, y):
    def halved(x):
        return lax.while_loop(lambda x: jnp.sum(x * x) > 1, lambda x: x / 2, x)

    sides = [lambda x: x @ x, jnp.sort, lambda x: jnp.tanh(x @ x.T), lambda x: jnp.sort(x, 0), jnp.negative]
    one = lax.cond(y[0] > 0, lambda x: (jnp.sort(x), x[0, 0] > 1), lambda x: (halved(x), x[0, 1] > 1), x)

    def step(x, at):
        x = lax.switch(at % 3, [lambda x: jnp.sort(x @ x), halved, lambda x: x], x)
        return x, jnp.max(x)

    return one, lax.switch(i - 1, sides, x), lax.switch(i + 9, sides, x), lax.scan(step, x, jnp.arange(50))


@program((3, 4, 5), ((2, 3), i32))
def elements_at(x, i):
    return x[i, i + 1], x[i, :, i - 4], x[0, i, 2], jnp.diagonal(x[:, :3, 0]), x[:, i, i]


@program((9, 6), ((4,), i32), (3, 9, 2), ((3,), i32), ((3, 4), i32))
def parts_at(x, i, y, j, k):
    def part(x, size):
        return lambda at: lax.dynamic_slice_in_dim(x, at, size, 0)

    return (
        jax.vmap(part(x, 4))(i),
        jax.vmap(part(x, 1))(i),
        jax.vmap(lambda at: lax.dynamic_slice(x, (at, at), (9, 2)))(i),
        jax.vmap(lambda y, at: part(y, 3)(at))(y, j),
        jax.vmap(lambda y, at: jax.vmap(part(y, 2))(at))(y, k),
        jax.vmap(lambda y, at: y[at])(y, k),
        jax.vmap(lambda y, at: y[at])(y, j),
        x.at[0:].add(1.5),
    )


@program((5, 6, 3), ((4,), i32), ((4, 2), i32))
def windows_at(x, i, j):
    """Parts of several axes at indices, brought inside where they are not."""
    part = lambda *sizes: lambda *at: lax.dynamic_slice(x, at, sizes)
    every = lambda x, at: jax.vmap(lambda row, k: lax.dynamic_slice(row, (k[0], k[1]), (2, 2)))(x, at)
    return (
        x[jnp.array([0, 3]), 1:3], x[i, 2:4, 1], x[1:3, i], jax.vmap(part(2, 3, 1))(i, i + 1, i), jax.vmap(part(5, 2, 3))(i, i + 9, i), jax.vmap(part(1, 6, 2))(i - 9, i, i),
        every(x[:4], j), jax.vmap(lambda row, k: row[k, :2])(x[:4], j), x.at[i, 4, i].get(), x[None, ..., ::2][:, j, 0], lax.dynamic_slice(x, (i[0], i[1], 0), (2, 2, 1)),
        jax.vmap(part(0, 2, 3))(i, i, i),
    )


@program((7,), (5,))
def searched(a, v):
    a = jnp.sort(a)
    v = jnp.concatenate([v, jnp.array([jnp.nan, jnp.inf, -jnp.inf, 0.0, -0.0], jnp.float32)])
    ordered = [lax.lt_to_p.bind(v[:, None], v[None]), lax.le_to_p.bind(v[:, None], v[None])]
    return jnp.searchsorted(a, v), *ordered


@program((8,))
def random_numbers(x):
    key, other = jax.random.split(jax.random.key(3))
    return x + jax.random.uniform(key, (8,)), jax.random.bits(other, (3, 3)), jax.random.randint(key, (5,), -9, 9)


@program(((5,), u8), ((5,), u8), ((6,), u32), ((6,), u32))
def shifts(a, b, c, d):
    """Counts up to and beyond the width, of numbers whose highest bit is set and is not."""
    x, y, n = a * 80, c * 1431655765, (b - 1) * 4
    return x >> b, lax.shift_right_arithmetic(x, b), lax.shift_right_arithmetic(x, n), lax.shift_right_arithmetic(y, d), lax.shift_right_arithmetic(y, d * 16)


ORDERED = jnp.array([0.0, -0.0, jnp.nan, -jnp.inf, jnp.inf, -jnp.nan, 1.5, -0.0, 0.0, -1.5], jnp.float32)


@program((3, 7), ((3, 7), i32), ((3, 7), boolean), ((12,), i32))
def sorts_by_several(x, i, b, n):
    x = jnp.round(x)
    pairs = lax.complex(x, i.astype(jnp.float32))
    return (
        jnp.lexsort((x, i)), jnp.lexsort((i, b, x), axis=0), *lax.sort((b, x, i, x * 2), dimension=1, num_keys=3), *lax.sort((i, i, x), dimension=0, num_keys=2),
        jnp.real(jnp.sort(pairs, 1)), jnp.imag(jnp.sort(pairs, 1)), *jnp.unique(n, return_index=True, return_inverse=True, return_counts=True, size=4),
        jnp.sort(ORDERED), jnp.argsort(ORDERED), jnp.lexsort((jnp.arange(10), ORDERED)), lax.top_k(x, 2)[0],
    )


@program((3, 7), ((3, 7), i32), ((4,), boolean), form="exported")
def sorts_exported(x, i, b):
    return jnp.sort(x, 1), jnp.argsort(x, 0, descending=True), jnp.lexsort((x, i)), *lax.sort((i, x), dimension=1, num_keys=2), jnp.median(x, 1), *lax.top_k(x, 3), jnp.argsort(b)


@program((3, 5), ((4,), i32), (5, 3), form="generic")
def generic(x, i, w):
    """An op of each kind with attributes or regions."""
    step = lambda c, t: (c + jnp.sort(t), jnp.argmax(t))
    held, most = lax.scan(step, jnp.zeros(5), x)
    pooled = lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 1), "VALID")
    return (
        held, most, pooled, jnp.where(x > 0, x, 0).sum(1), x[i % 3], x.at[i % 3].add(1.0), jax.jit(jnp.tanh)(x @ w), lax.cond(i[0] > 2, jnp.sin, jnp.cos, x),
        jnp.pad(x, 1), x[::2, 1:3], jnp.concatenate([x, x], 1), lax.dynamic_slice(x, (i[0], 0), (1, 2)), jnp.cumsum(x, 1), x.T, jnp.clip(x, -1, 1), *lax.top_k(x, 2),
        lax.reduce_precision(x * 1.1, 5, 3), lax.iota(jnp.int32, 3), lax.conv(x[None, None], w[None, None, :3], (1, 1), "SAME"), lax.rev(x, (1,)),
    )


@program((2, 3), ((4,), u32), ((2, 4), u8), ((3, 2, 2), i16), ((5,), boolean))
def widths(x, n, b, s, t):
    """Bits as wider and narrower elements."""
    bits = lax.bitcast_convert_type
    half, wide = x.astype(bf16), n * 987654321
    return (
        bits(x, u8), bits(x, i16), bits(wide, u8), bits(wide, u16), bits(b * 83, u32), bits(b * 83, jnp.float32) > 0, bits(s * 3000, i32), bits(half, u8), bits(half, i16),
        bits(bits(x, u8), jnp.float32), bits(jnp.zeros((0, 4), u8), u32), bits(wide.reshape(1, 4), u8),
    )


@program((40,))
def precisions(x):
    wide = jnp.concatenate([x * 1.2345, x * 1e-7, x * 3e4, x * 1e38, jnp.array([jnp.inf, -jnp.inf, jnp.nan, 0.0, -0.0, 65519.9, 65520.0])])
    formats = [(5, 10), (8, 7), (5, 2), (4, 3), (8, 23), (2, 0), (8, 22), (1, 4)]
    return *[lax.reduce_precision(wide, *format) for format in formats], lax.reduce_precision(wide.astype(bf16), 5, 3), lax.reduce_precision(wide.astype(f16), 4, 5)


@program(((), "key"), ((), "rbg"), ((4,), u32))
def keys(key, fast, state):
    one, two = jax.random.split(key)
    bits = lambda shape, dtype, way: lax.rng_bit_generator(state, shape, dtype, way)
    philox, threefry = lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY
    last = jnp.array([7, 9, 4294967295, 4294967295], u32)
    return (
        jax.random.uniform(one, (3,)), jax.random.permutation(two, 7), jax.random.bits(fast, (5,)), jax.random.uniform(fast, (2, 3)), jax.random.key_data(jax.random.split(fast)),
        *bits((9,), u32, philox), *bits((2, 3), u8, philox), *bits((), u16, philox), *bits((0,), u32, philox), *bits((6,), u32, threefry), *bits((3, 5), u32, threefry),
        *bits((2, 3), u16, threefry), *bits((), u32, threefry), *lax.rng_bit_generator(last, (9,), u32, philox), *lax.rng_bit_generator(last, (3,), u32, threefry),
        jax.random.categorical(one, jnp.zeros(4), shape=(3,)), jax.random.bernoulli(two, 0.4, (6,)), jax.random.choice(one, 5, (3,), replace=False),
    )


@program(((4, 6), i32), ((4, 6), u8), ((4, 6), boolean), (4, 6))
def reductions_of_bits(n, b, t, x):
    x64 = lambda x: x.astype(jnp.float32)
    largest = lax.reduce((jnp.abs(x), x), (np.float32(-1), np.float32(0)), lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(b[0] > a[0], b[1], a[1])), (1,))
    return (
        jnp.bitwise_xor.reduce(n, axis=1), jnp.bitwise_and.reduce(n, axis=0), jnp.bitwise_or.reduce(n, axis=1), jnp.bitwise_xor.reduce(b, axis=0), jnp.bitwise_and.reduce(b, axis=None),
        lax.reduce(t, False, lax.bitwise_xor, (0,)), lax.reduce(t, False, lax.bitwise_xor, (0, 1)), lax.reduce(n, 5, lax.bitwise_xor, (0, 1)), lax.reduce(n, 6, lax.bitwise_or, (1,)),
        lax.reduce(x, np.float32(0), lambda a, b: a * np.float32(0.5) + b, (1,)), *largest, jnp.argmax(t, 1), jnp.argmin(t, 0), jnp.argmax(t), jnp.argmin(t & False, 1),
        jnp.select([t, n > 2], [x, -x], 9.0), jnp.bitwise_xor.reduce(n[:, :0], axis=1), jnp.argmax(x > 100, axis=1), x64(t).sum(),
    )


@program((1,), (3, 4))
def pads(x, y):
    pad = lambda x, *amounts: lax.pad(x, np.float32(2.0), amounts)
    return (
        pad(x, (2, -2, 0)), pad(x, (-2, 3, 0)), pad(x, (5, -3, 0)), pad(x, (-1, 0, 0)), pad(x, (3, -4, 0)), pad(y, (-4, 2, 0), (1, -2, 0)), pad(y, (4, -6, 1), (-1, -1, 2)),
        pad(y, (-3, 0, 0), (0, -4, 0)), pad(y, (-6, 9, 2), (0, 0, 0)), pad(y, (0, -2, 0), (-3, 3, 1)),
    )


@program((4, 6))
def on_one_device(x):
    """A computation over a mesh of one device."""
    mesh = jax.make_mesh((1, 1), ("a", "b"), devices=jax.devices()[:1], axis_types=(jax.sharding.AxisType.Auto,) * 2)
    spec = jax.sharding.PartitionSpec("a", "b")

    def body(x):
        return lax.psum(x, "a") + lax.pmean(x, "b") * (lax.axis_index("a") + 1) + lax.all_gather(x, "a", tiled=True) + lax.ppermute(x, "b", [(0, 0)])

    held = lax.with_sharding_constraint(x * 2, jax.sharding.NamedSharding(mesh, spec))
    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(held), held


@program((8,))
def loop_until(x):
    return lax.while_loop(lambda c: jnp.sum(c) < 99, lambda c: jnp.abs(c) * 2 + 1, x)


@program((8,), ((), i32))
def loop_never(x, n):
    return lax.while_loop(lambda c: c[1] > 99, lambda c: (c[0] * 2, c[1] - 1), (x, n))


@program((8,))
def loop_long(x):
    return lax.fori_loop(0, 2000, lambda i, c: c + (i % 3), x)


@program((7,))
def loop_swaps(x):
    """Values that change places, and one that is returned as two."""

    def turn(i, c):
        a, b, d = c
        return b, a + b, a

    return lax.fori_loop(0, 700, lambda i, c: jax.tree.map(lambda v: v % 64, turn(i, c)), (x, x + 1, x))


@program((1200, 3))
def loop_stacks(x):
    """A scan with a state, a row that it reads and rows that it writes."""

    def turn(c, row):
        c = jnp.minimum(jnp.abs(c - row), 4)
        return c, (c * 2, row[0])

    return lax.scan(turn, jnp.zeros(3), x)


@program((300, 2, 4))
def loop_windows(x):
    """Parts of several axes that are written at indices which are data, some beyond the ends."""

    def turn(i, c):
        part = lax.dynamic_slice(x, (i, 0, 1), (2, 1, 2)) + i
        return lax.dynamic_update_slice(c, part, (299 - i, i % 3, (i * 7) % 5))

    return lax.fori_loop(0, 300, turn, jnp.zeros((300, 2, 4)))


@program((5,))
def loop_nested(x):
    def inner(i, c):
        return jnp.where(c > i, c - 1, c + 0.5)

    def outer(c):
        i, v = c
        return i + 1, lax.fori_loop(0, 200, inner, v) + i

    return lax.while_loop(lambda c: c[0] < 90, outer, (0, x))


@program((6,), (6,))
def loop_complex(x, y):
    z = lax.fori_loop(0, 600, lambda i, z: jnp.conj(z) + (0.25 + 0.5j), lax.complex(x, y))
    return z.real, z.imag


@program(((4,), i32))
def loop_counts(n):
    def turn(c):
        n, i = c
        return jnp.where(n % 2 == 0, n // 2, jnp.where(n == 1, 1, 3 * n + 1)), i + (n != 1)

    return lax.while_loop(lambda c: jnp.any(c[0] != 1), turn, (n + 24, jnp.zeros_like(n)))


@program((300, 3), (3,))
def loop_gradient(x, w):
    """The gradient of a scan of whole numbers: values from the first loop are read by the second one backward."""

    def loss(w):
        def turn(c, row):
            c = jnp.where(c > 8, c - 8, c) + row * w
            return c, c * row

        c, rows = lax.scan(turn, jnp.zeros(3), jnp.round(x))
        return c.sum() + rows.sum()

    return jax.grad(loss)(jnp.round(w))


def definite(x):
    """Positive definite matrices of any."""
    return x @ jnp.swapaxes(x, -1, -2) + 4 * jnp.eye(x.shape[-1], dtype=x.dtype)


@program((2, 5, 5), (2, 5, 3))
def cholesky_solve(x, b):
    l = jnp.linalg.cholesky(definite(x))
    z = lax.linalg.triangular_solve(l, b, left_side=True, lower=True)
    y = lax.linalg.triangular_solve(l, z, left_side=True, lower=True, transpose_a=True)
    return l, z, y, lax.linalg.triangular_solve(l, jnp.swapaxes(b, -1, -2), lower=True, unit_diagonal=True)


@program((3, 3))
def cholesky_upper(x):
    return jnp.linalg.cholesky(definite(x), upper=True), jnp.linalg.cholesky(x - x.T - jnp.eye(3))


@program((4, 4), (4,))
def cholesky_backward(x, b):
    def loss(x):
        l = jnp.linalg.cholesky(definite(x))
        return (jax.scipy.linalg.cho_solve((l, True), b) ** 2).sum() + jnp.log(jnp.diag(l)).sum()

    return jax.grad(loss)(x)


@program((2, 4, 4), (2, 4, 2))
def lu_solve(x, b):
    return jnp.linalg.solve(x, b), jnp.linalg.det(x), jnp.linalg.inv(x), jnp.linalg.slogdet(x)


@program((5, 3), (3, 5))
def lu_factors(x, y):
    return *lax.linalg.lu(x), *lax.linalg.lu(y), lax.linalg.lu(jnp.zeros((3, 3)).at[2, 0].set(2.0))[1]


@program((4, 4), (4,))
def lu_solve_backward(x, b):
    return jax.grad(lambda x, b: (jnp.linalg.solve(x, b) ** 2).sum() + jnp.linalg.slogdet(x)[1], argnums=(0, 1))(x, b)


@program((2, 5, 3), (3, 4))
def qr(x, y):
    return *jnp.linalg.qr(x), *jnp.linalg.qr(y, mode="complete"), jnp.linalg.qr(x, mode="r")


@program((5, 3))
def qr_backward(x):
    def loss(x):
        q, r = jnp.linalg.qr(x)
        return (q**3).sum() + (r**2).sum()

    return jax.grad(loss)(x)


def sizes(x):
    """Magnitudes: the sign of an eigenvector is nobody's."""
    return jnp.abs(x)


@program((2, 4, 4))
def eigh(x):
    w, v = jnp.linalg.eigh(x)
    return w, sizes(v), jnp.linalg.eigvalsh(x), (v * w[..., None, :]) @ jnp.swapaxes(v, -1, -2)


@program((4, 4))
def eigh_backward(x):
    def loss(x):
        w, v = jnp.linalg.eigh(x)
        return (w**2).sum() + (v**4).sum()

    return jax.grad(loss)(x)


@program((2, 5, 3), (3, 4))
def svd(x, y):
    u, s, vt = jnp.linalg.svd(x, full_matrices=False)
    rank, norm = jnp.linalg.matrix_rank(y), jnp.linalg.norm(y, 2)
    return sizes(u), s, sizes(vt), (u * s[..., None, :]) @ vt, jnp.linalg.svd(y, compute_uv=False), jnp.linalg.pinv(y), rank, norm


@program((4, 3))
def svd_backward(x):
    def loss(x):
        u, s, vt = jnp.linalg.svd(x, full_matrices=False)
        return (s**3).sum() + (u**4).sum() + (vt**4).sum()

    return jax.grad(loss)(x)


@program((5, 3), (5,))
def least_squares(a, b):
    return jnp.linalg.lstsq(a, b)[0]


@program((2, 8), (3, 7))
def fft(x, y):
    z, w = jnp.fft.fft(x), jnp.fft.fft(y, axis=0)
    parts = [part for c in (z, w, jnp.fft.fft2(y), jnp.fft.rfft(x), jnp.fft.rfft(y), jnp.fft.rfftn(y)) for part in (c.real, c.imag)]
    return *parts, jnp.fft.ifft(z).real, jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(y), n=7), jnp.fft.irfft2(jnp.fft.rfft2(y), s=(3, 7))


@program((2, 6))
def fft_backward(x):
    def loss(x):
        z = jnp.fft.rfft(x)
        return (z.real**2 + z.imag**2).sum() + jnp.fft.fft(x).imag.sum()

    return jax.grad(loss)(x)


@program((3, 5))
def log_sums(x):
    sums = [lax.cumlogsumexp(x, axis=axis, reverse=axis == 1) for axis in (0, 1)]
    return *sums, jax.grad(lambda x: (lax.cumlogsumexp(x, axis=1) ** 2).sum())(x)


def pooled(x, padding="VALID", stride=2):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 3, 1), (1, stride, stride, 1), padding)


@program((1, 6, 7, 2), (1, 6, 7, 2))
def pooled_tangents(x, t):
    smallest = lambda x: lax.reduce_window(x, jnp.inf, lax.min, (1, 3, 3, 1), (1, 1, 2, 1), "SAME")
    bent = jax.grad(lambda x: (jax.grad(lambda x: (pooled(x) ** 3).sum())(x) ** 2).sum())
    return *jax.jvp(pooled, (x,), (t,)), jax.jvp(partial(pooled, padding="SAME"), (x,), (t,))[1], jax.jvp(smallest, (x,), (t,))[1], bent(x)


@program((9,), (9,))
def windows_by_a_body(x, y):
    def first(a, b):
        wins = a[0] >= b[0]
        return jnp.where(wins, a[0], b[0]), jnp.where(wins, a[1], b[1])

    both = lax.reduce_window((x, jnp.arange(9)), (-jnp.inf, -1), first, (3,), (2,), "SAME")
    apart = lax.reduce_window((x, y), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (3,), (1,), "VALID")
    return *both, *apart, lax.reduce_window(x, 0.0, lambda a, b: jnp.maximum(jnp.abs(a), jnp.abs(b)), (4,), (1,), "VALID")


@program((3, 5), ((4, 6), u8))
def narrow_indices(x, y):
    return lax.argmax(x, 1, u8), lax.argmin(x, 0, u32), lax.argmax(x > 0, 1, i8), lax.argmin(y, 1, i16)


@program((6,), (6,))
def complex_signs(x, y):
    z = jnp.sign(lax.complex(jnp.where(x > 0, x, 0), jnp.where(x > 0, 0, jnp.maximum(y, 0))))
    count = lax.broadcasted_iota(jnp.complex64, (2, 3), 1)
    return z.real, z.imag, count.real, count.imag


@program(((6,), bf16), ((6,), bf16), ((6,), f16), ((6,), f16))
def neighbours_of_16_bits(x, y, v, w):
    none, far = jnp.zeros_like(x), jnp.full_like(v, -jnp.inf)
    return jnp.nextafter(x, y), jnp.nextafter(v, w), jnp.nextafter(none, y), jnp.nextafter(x, none), jnp.nextafter(x, x), jnp.nextafter(v, far)


@program((8, 2), ((3,), i32), ((4,), i32))
def applied(x, i, j):
    once = x.at[jnp.array([0, 7])].apply(jnp.exp, unique_indices=True)
    return x.at[i].apply(jnp.sin), x.at[j, 1].apply(lambda v: v * 2 + 1), once, x.at[1:5:2].apply(jnp.tanh)


@program((3, 9))
def nearly_all(x):
    return *lax.approx_max_k(x, 3), *lax.approx_min_k(x, 2), *lax.approx_max_k(x, 2, reduction_dimension=0)


@program((3, 6), ((3, 6), bf16))
def greatest_of_zeros(x, y):
    return *lax.top_k(jnp.copysign(0, x), 4), *lax.top_k(jnp.where(y > 0, y, jnp.copysign(0, y)), 6), 1 / lax.top_k(jnp.copysign(0, x), 4)[0]


@program((4, 6), (2, 3), (2, 2, 3))
def scatters_of_parts(x, u, w):
    rows, one, both = jnp.array([[0], [3]]), lax.ScatterDimensionNumbers((1,), (0,), (0,)), lax.ScatterDimensionNumbers((1, 2), (), (1,))
    return lax.scatter(x, rows, u, one), lax.scatter_add(x, rows * 0, u, one), lax.scatter_add(x, jnp.array([[1], [4]]), w, both)


@program((8, 2), ((65,), i32))
def refused_scatter(x, i):
    return x.at[i].apply(jnp.sin)


@program((8,))
def refused_type(x):
    return x.astype(jnp.float8_e3m4).astype(jnp.float32)


@program((4, 4))
def refused_complex(x):
    return jnp.linalg.eigvals(x).real


@program((1, 4, 4, 2))
def refused_window(x):
    return lax.reduce_window(x, 0.5, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "SAME")


# Names of programs, and of their parameters with shapes: batch 2, 32 places, 64 channels in 4 heads.
X, H, W = (2, 32, 64), (64,), (64, 64)
LLAMA_NAMES = "x norm1 wq wk wv wo norm2 w_gate w_up w_down".split()
LLAMA_SHAPES = [X, H, W, (64, 32), (64, 32), W, H, (64, 176), (64, 176), (176, 64)]
GPT2_NAMES = "x scale1 shift1 wqkv bqkv wo bo scale2 shift2 w1 b1 w2 b2 keep1 keep2".split()
GPT2_SHAPES = [X, H, H, (64, 192), (192,), W, H, H, H, (64, 256), (256,), (256, 64), H, X, X]
IMAGE = (4, 8, 6, 6)
MODELS = {
    "llama_block": (LLAMA_NAMES, LLAMA_SHAPES),
    "llama_block_backward": ([*LLAMA_NAMES, "dy"], [*LLAMA_SHAPES, X]),
    "gpt2_block": (GPT2_NAMES, GPT2_SHAPES),
    "gpt2_block_backward": ([*GPT2_NAMES, "dy"], [*GPT2_SHAPES, X]),
    "router": (["x", "w"], [(64, 64), (64, 8)]),
    "cross_entropy": (["logits", "labels"], [(64, 250), ((64,), i32)]),
    "cross_entropy_backward": (["logits", "labels"], [(64, 7), ((64,), i32)]),
    "adam": ("p0 p1 g0 g1 m0 m1 v0 v1".split(), [H, W] * 4),
    "batch_norm_backward": (["x", "scale", "shift", "dy"], [IMAGE, (8,), (8,), IMAGE]),
    "group_norm_backward": (["x", "scale", "shift", "dy"], [IMAGE, (8,), (8,), IMAGE]),
    "instance_norm_backward": (["x", "dy"], [(4, 8, 36), (4, 8, 36)]),
    "embedding": (["tokens", "table", "positions"], [((4, 32), i32), (100, 64), (32, 64)]),
    "k_means_step": (["points", "centers"], [(200, 16), (4, 16)]),
    "quantize": (["x"], [(64, 64)]),
}


def models(folder):
    for name, (names, shapes) in MODELS.items():
        f = PROGRAMS[name][0]
        source = f"lambda {', '.join(names)}: f({', '.join(names)})"
        named = eval(source, {"f": f})
        named.__name__ = name
        args = list(inputs(shapes, np.random.default_rng(0)))
        text = jax.jit(named, keep_unused=True).lower(*args).as_text(debug_info=True)
        Path(folder, f"{name}.mlir").write_text(text)


def inputs(shapes, draw):
    for shape in shapes:
        shape, dtype = shape if len(shape) == 2 and not isinstance(shape[1], int) else (shape, jnp.float32)
        if dtype in ("key", "rbg"):
            yield jax.random.key(7, impl="threefry2x32" if dtype == "key" else "rbg")
        elif dtype == boolean:
            yield jnp.asarray(draw.integers(0, 2, shape), bool)
        elif jnp.issubdtype(dtype, jnp.integer):
            low = 0 if dtype == u8 else 1
            yield jnp.asarray(draw.integers(low, 4, shape), dtype)
        else:
            yield jnp.asarray(draw.integers(-8, 9, shape) / 4 + 0.125, dtype)


def elements(array):
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    array = np.asarray(array)
    if array.dtype == bool:
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        array = array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64)
    return " ".join(str(x) for x in array.reshape(-1))


def main(folder, *names):
    for name, (f, shapes, debug, form) in PROGRAMS.items():
        if names and name not in names:
            continue
        args = list(inputs(shapes, np.random.default_rng(len(name))))
        lowered = jax.jit(f, keep_unused=True).lower(*args)
        match form:
            case "custom":
                text = lowered.as_text(debug_info=debug)
            case "generic":
                text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
            case "exported":
                text = jax.export.export(jax.jit(f, keep_unused=True))(*args).mlir_module()
        text = text.replace(str(Path(__file__).resolve()), "texts.py").replace(__file__, "texts.py")
        lines = [text.rstrip(), ""]
        lines += [f"// in: {elements(a)}".rstrip() for a in args]
        if not name.startswith("refused"):
            # Op by op: compiled as a whole, a product and a sum would be rounded once.
            with jax.disable_jit():
                results = jax.tree.leaves(f(*args))
            lines += [f"// out: {elements(r)}".rstrip() for r in results]
        Path(folder, f"{name}.mlir").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    models(sys.argv[2]) if sys.argv[1] == "--models" else main(*sys.argv[1:])

"""Programs for several devices: for each the function, its inputs, and how inputs and results lie on the mesh.

Inputs are small integers in f32, so that sums are exact in any order; with `MODE = "real"` they are random numbers.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

B, D, H, V = 64, 128, 512, 1024
MODE = "int"
MESH = None
rng = None


def data(*shape):
    if MODE == "int":
        return rng.choice([-1, 0, 0, 0, 1], size=shape).astype(np.float32)
    return (rng.standard_normal(shape) * 0.5).astype(np.float32)


def indices(n, *shape):
    return rng.integers(0, n, size=shape).astype(np.int32)


def act(x):
    return jnp.maximum(x, 0) if MODE == "int" else jax.nn.gelu(x)


def probs(s):
    return jnp.maximum(s, 0) if MODE == "int" else jax.nn.softmax(s, -1)


def norm(x, g):
    m = x.mean(-1, keepdims=True)
    c = x - m
    if MODE == "int":
        return c * g
    return c * lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5) * g


def C(x, *spec):
    """The value, and how it is to lie; nothing where there is no mesh."""
    if MESH is None:
        return x
    return lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


def smap(f, i, o, **kw):
    return jax.shard_map(f, mesh=MESH, in_specs=i, out_specs=o, **kw)


LIST = {}


def prog(axes=("x",), sizes=None):
    def add(f):
        LIST[f.__name__] = (f, axes, sizes or {n: (n,) for n in (2, 4, 8)})
        return f
    return add


TWO = {4: (2, 2), 8: (2, 4)}
R = P()


def mlp_f(x, w1, w2):
    return act(x @ w1) @ w2


MLP = dict(ins=(P(None, None), P(None, "x"), P("x", None)))


def mlp_args():
    return data(B, D), data(D, H), data(H, D)


@prog()
def mlp(n):
    return mlp_f, mlp_args(), MLP["ins"], P(None, None)


@prog()
def mlp_backward(n):
    def f(x, w1, w2, g):
        y, back = jax.vjp(mlp_f, x, w1, w2)
        return (y, *back(g))
    return f, (*mlp_args(), data(B, D)), (*MLP["ins"], R), (R, *MLP["ins"])


@prog()
def mlp_bf16(n):
    def f(x, w1, w2):
        return act(x @ w1) @ w2
    return f, tuple(a.astype(jnp.bfloat16) for a in mlp_args()), MLP["ins"], P(None, None)


def heads(x, wq, wk, wv, wo):
    q, k, v = (jnp.einsum("bsd,dhe->bhse", x, w) for w in (wq, wk, wv))
    s = jnp.einsum("bhse,bhte->bhst", q, k) * (0.25)
    return jnp.einsum("bhse,hed->bsd", jnp.einsum("bhst,bhte->bhse", probs(s), v), wo)


def attention_args():
    return (data(2, 32, D), *(data(D, 8, 16) for _ in range(3)), data(8, 16, D))


AT = (R, *(P(None, "x", None),) * 3, P("x", None, None))


@prog()
def attention(n):
    return heads, attention_args(), AT, R


@prog()
def attention_backward(n):
    def f(g, *a):
        y, back = jax.vjp(heads, *a)
        return (y, *back(g))
    return f, (data(2, 32, D), *attention_args()), (R, *AT), (R, *AT)


@prog()
def attention_qkv(n):
    def f(x, w, wo):
        q, k, v = (t.reshape(2, 32, 8, 16) for t in jnp.split(x @ w, 3, axis=-1))
        s = jnp.einsum("bshe,bthe->bhst", q, k) * 0.25
        o = jnp.einsum("bhst,bthe->bshe", probs(s), v).reshape(2, 32, D)
        return o @ wo
    return f, (data(2, 32, D), data(D, 3 * D), data(D, D)), (R, P(None, "x"), P("x", None)), R


def net(p, x):
    return act(x @ p[0] + p[1]) @ p[2] + p[3]


def loss(p, x, y):
    e = net(p, x) - y
    return (e * e).sum() if MODE == "int" else (e * e).mean()


def params():
    return (data(D, H), data(H), data(H, D), data(D))


def tree(t, s):
    return jax.tree.map(lambda _: s, t)


@prog()
def data_parallel_sgd(n):
    def f(w1, b1, w2, b2, x, y):
        p = (w1, b1, w2, b2)
        l, g = jax.value_and_grad(loss)(p, x, y)
        return (*(a - 0.125 * b for a, b in zip(p, g)), l)
    return f, (*params(), data(B, D), data(B, D)), (*(R,) * 4, P("x", None), P("x", None)), (*(R,) * 4, R)


def adam(p, m, v, g):
    if MODE == "int":
        m = 0.5 * m + g
        v = v + jnp.abs(g)
        return p - 0.125 * m, m, v
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def step(*a):
    p, m, v, x, y = a[0:4], a[4:8], a[8:12], a[12], a[13]
    l, g = jax.value_and_grad(loss)(p, x, y)
    out = [adam(*z) for z in zip(p, m, v, g)]
    return (*(o[0] for o in out), *(o[1] for o in out), *(o[2] for o in out), l)


CUT = (P("x", None), P("x"), P("x", None), P("x"))


def step_args():
    return (*params(), *params(), *(np.abs(a) for a in params()), data(B, D), data(B, D))


XY = (P("x", None), P("x", None))


@prog()
def zero1(n):
    return step, step_args(), (*(R,) * 4, *CUT, *CUT, *XY), (*(R,) * 4, *CUT, *CUT, R)


@prog()
def fsdp(n):
    return step, step_args(), (*CUT, *CUT, *CUT, *XY), (*CUT, *CUT, *CUT, R)


@prog()
def sequence_parallel(n):
    def f(x, g, w1, w2):
        h = C(norm(x, g), None, None)
        return C(x + act(h @ w1) @ w2, "x", None)
    return f, (data(B, D), data(D), data(D, H), data(H, D)), (P("x", None), R, P(None, "x"), P("x", None)), P("x", None)


def ce(l, picked):
    m = lax.stop_gradient(l.max(-1, keepdims=True))
    if MODE == "int":
        return jnp.maximum(l - m + 4, 0).sum(-1) - picked
    return jnp.log(jnp.exp(l - m).sum(-1)) + m[:, 0] - picked


def ce_take(x, w, i):
    l = x @ w
    return ce(l, jnp.take_along_axis(l, i[:, None], -1)[:, 0])


def ce_one_hot(x, w, i):
    l = x @ w
    return ce(l, (l * jax.nn.one_hot(i, V)).sum(-1))


CE = (R, P(None, "x"), R)


def ce_args():
    return data(B, D), data(D, V), indices(V, B)


@prog()
def cross_entropy_take(n):
    return ce_take, ce_args(), CE, R


@prog()
def cross_entropy_one_hot(n):
    return ce_one_hot, ce_args(), CE, R


def ce_grad(f):
    def g(x, w, i):
        l, d = jax.value_and_grad(lambda x, w: f(x, w, i).sum(), (0, 1))(x, w)
        return (l, *d)
    return g


@prog()
def cross_entropy_take_backward(n):
    return ce_grad(ce_take), ce_args(), CE, (R, R, P(None, "x"))


@prog()
def cross_entropy_one_hot_backward(n):
    return ce_grad(ce_one_hot), ce_args(), CE, (R, R, P(None, "x"))


@prog()
def embedding(n):
    return (lambda e, i: e[i]), (data(V, D), indices(V, B)), (P("x", None), R), R


@prog()
def embedding_backward(n):
    return (lambda i, g: jnp.zeros((V, D), jnp.float32).at[i].add(g)), \
        (indices(V, B), data(B, D)), (R, R), P("x", None)


E, CAP = 8, 4


@prog()
def moe_constraints(n):
    def f(x, w1, w2):
        t = C(x, None, "x", None, None)
        h = act(jnp.einsum("gecd,edh->gech", t, w1))
        y = C(jnp.einsum("gech,ehd->gecd", h, w2), None, "x", None, None)
        return C(y, "x", None, None, None)
    return f, (data(E, E, CAP, D), data(E, D, D), data(E, D, D)), (P("x"), P("x"), P("x")), P("x", None, None, None)


@prog()
def moe_shard_map(n):
    def local(x, w1, w2):
        t = lax.all_to_all(x, "x", 1, 0, tiled=True)
        y = jnp.einsum("gech,ehd->gecd", act(jnp.einsum("gecd,edh->gech", t, w1)), w2)
        return lax.all_to_all(y, "x", 0, 1, tiled=True)
    f = lambda *a: smap(local, (P("x"),) * 3, P("x"))(*a)
    return f, (data(E, E, CAP, D), data(E, D, D), data(E, D, D)), (P("x"),) * 3, P("x", None, None, None)


@prog()
def halo_ppermute(n):
    def local(x):
        up = lax.ppermute(x[-1:], "x", [(i, (i + 1) % n) for i in range(n)])
        down = lax.ppermute(x[:1], "x", [((i + 1) % n, i) for i in range(n)])
        e = jnp.concatenate([up, x, down])
        return e[:-2] + e[1:-1] * 2 + e[2:]
    return (lambda x: smap(local, P("x"), P("x"))(x)), (data(B, D),), (P("x", None),), P("x", None)


@prog()
def halo_ends(n):
    def local(x):
        up = lax.ppermute(x[-1:], "x", [(i, i + 1) for i in range(n - 1)])
        down = lax.ppermute(x[:1], "x", [(i + 1, i) for i in range(n - 1)])
        e = jnp.concatenate([up, x, down])
        return e[:-2] + e[1:-1] * 2 + e[2:]
    return (lambda x: smap(local, P("x"), P("x"))(x)), (data(B, D),), (P("x", None),), P("x", None)


@prog()
def halo_roll(n):
    return (lambda x: jnp.roll(x, 1, 0) + 2 * x + jnp.roll(x, -1, 0)), (data(B, D),), (P("x", None),), P("x", None)


@prog()
def halo_slices(n):
    def f(x):
        e = jnp.pad(x, ((1, 1), (0, 0)))
        return e[:-2] + 2 * e[1:-1] + e[2:]
    return f, (data(B, D),), (P("x", None),), P("x", None)


@prog()
def halo_convolution(n):
    def f(x, k):
        form = ("NCH", "OIH", "NCH")
        y = lax.conv_general_dilated(x.T[:, None, :], k[None, None], (1,), ((1, 1),), dimension_numbers=form)
        return y[:, 0].T
    return f, (data(B, D), data(3)), (P("x", None), R), P("x", None)


@prog(("d", "t"), TWO)
def mlp_2d_step(n):
    def f(w1, w2, x, y):
        def l(p):
            e = mlp_f(x, *p) - y
            return (e * e).sum()
        v, g = jax.value_and_grad(l)((w1, w2))
        return w1 - 0.125 * g[0], w2 - 0.125 * g[1], v
    i = (P(None, "t"), P("t", None))
    return f, (data(D, H), data(H, D), data(B, D), data(B, D)), (*i, P("d"), P("d")), (*i, R)


@prog(("d", "t"), TWO)
def mlp_2d_shard_map(n):
    def local(x, w1, w2):
        return lax.psum(act(x @ w1) @ w2, "t")
    f = lambda *a: smap(local, (P("d"), P(None, "t"), P("t", None)), P("d"))(*a)
    return f, mlp_args(), (P("d", None), P(None, "t"), P("t", None)), P("d", None)


@prog()
def mean_variance(n):
    def f(x):
        m = x.mean(0)
        c = x - m
        return m, (c * c).mean(0)
    return f, (data(B, D),), (P("x", None),), (R, R)


@prog()
def cumsum(n):
    return (lambda x: jnp.cumsum(x, 0)), (data(B, D),), (P("x", None),), P("x", None)


@prog()
def top_k(n):
    return (lambda x: tuple(lax.top_k(x, 4))), (data(B, D),), (P(None, "x"),), (R, R)


@prog()
def sort(n):
    return (lambda x: jnp.sort(x, 0)), (data(B, D),), (P("x", None),), P("x", None)


@prog()
def transpose(n):
    return (lambda x: x), (data(B, D),), (P("x", None),), P(None, "x")


@prog()
def transposed(n):
    return (lambda x: x.T), (data(B, D),), (P("x", None),), P("x", None)


@prog()
def product_k(n):
    return (lambda a, b: a @ b), (data(256, D), data(D, D)), (P(None, "x"), P("x", None)), P("x", None)


@prog()
def pipeline(n):
    """Stages by shard_map and ppermute: micro-batches of a scan-free schedule, one weight a device."""
    M = 4
    def local(x, w):
        w = w[0]
        i = lax.axis_index("x")
        state = jnp.zeros(x.shape[1:], x.dtype)
        out = []
        for t in range(M + n - 1):
            fed = x[min(t, M - 1)]
            h = jnp.where(i == 0, fed, state)
            y = act(h @ w)
            if t >= n - 1:
                out.append(jnp.where(i == n - 1, y, 0))
            state = lax.ppermute(y, "x", [(j, j + 1) for j in range(n - 1)])
        return lax.psum(jnp.stack(out), "x")
    return (lambda x, w: smap(local, (P(), P("x")), P())(x, w)), \
        (data(M, 8, 32), data(n, 32, 32)), (R, P("x")), P(None, None, None)


@prog()
def pipeline_loop(n):
    """The same by lax.scan: collectives in a while body."""
    M = 4
    def local(x, w):
        w = w[0]
        i = lax.axis_index("x")
        xs = jnp.concatenate([x, jnp.zeros((n - 1, *x.shape[1:]), x.dtype)])
        def turn(state, fed):
            y = act(jnp.where(i == 0, fed, state) @ w)
            return lax.ppermute(y, "x", [(j, j + 1) for j in range(n - 1)]), jnp.where(i == n - 1, y, 0)
        s = lax.pcast(jnp.zeros(x.shape[1:], x.dtype), ("x",), to="varying")
        _, ys = lax.scan(turn, s, xs)
        return lax.psum(ys[n - 1:], "x")
    return (lambda x, w: smap(local, (P(), P("x")), P())(x, w)), \
        (data(M, 8, 32), data(n, 32, 32)), (R, P("x")), P(None, None, None)


@prog()
def collectives(n):
    """Each collective of jax.lax once."""
    def local(x):
        g = lax.all_gather(x, "x", axis=0, tiled=True)
        u = lax.all_gather(x, "x")
        s = lax.psum_scatter(g, "x", scatter_dimension=1, tiled=True)
        m = lax.pmax(x, "x")
        k = lax.pmin(x, "x")
        a = lax.pmean(x, "x")
        i = lax.axis_index("x").astype(jnp.float32)
        return g * i, u.sum(0) + i, s, m, k, a
    o = (P(None, "x"), P("x"), P(None, "x"), R, R, R)
    return (lambda x: smap(local, P("x"), o)(x)), \
        (data(B, D),), (P("x", None),), (*o[:3], P(None, None), P(None, None), P(None, None))


@prog(("d", "t"), TWO)
def collectives_2d(n):
    def local(x):
        a = lax.psum(x, "d")
        b = lax.psum(x, "t")
        c = lax.psum(x, ("d", "t"))
        e = lax.all_gather(x, ("d", "t"), axis=0, tiled=True)
        f = lax.all_gather(x, ("t", "d"), axis=0, tiled=True)
        i = (lax.axis_index("d") * 10 + lax.axis_index("t")).astype(jnp.float32)
        j = lax.axis_index(("d", "t")).astype(jnp.float32) + 100 * lax.axis_index(("t", "d")).astype(jnp.float32)
        t = MESH.shape["t"]
        p = lax.ppermute(x, "t", [(k, (k + 1) % t) for k in range(t)])
        r = lax.all_to_all(x, "t", 1, 0, tiled=True)
        return a, b, c, e + f * 2, x + i, x + j, p, r
    q = P("d", "t")
    o = (P(None, "t"), P("d", None), R, R, q, q, q, P(("d", "t"), None))
    return (lambda x: smap(local, q, o, check_vma=False)(x)), (data(32, 64),), (q,), tuple(o)


@prog(("d", "t"), TWO)
def partly_manual(n):
    def local(x, w):
        return lax.psum(x @ w, "t")
    f = lambda x, w: smap(local, (P(None, "t"), P("t", None)), P(None, None), axis_names={"t"})(x, w)
    return f, (data(B, D), data(D, H)), (P("d", "t"), P("t", None)), P("d", None)


@prog()
def inner_jit(n):
    def local(x):
        @jax.jit
        def inner(y):
            return lax.psum(y, "x") * 2
        return inner(x) + inner(x + 1)
    return (lambda x: smap(local, P("x"), P("x"), check_vma=False)(x)), (data(B, D),), (P("x", None),), P("x", None)


@prog()
def llama_block(n):
    def f(x, g1, wq, wk, wv, wo, g2, wg, wu, wd):
        x = x + heads(norm(x, g1), wq, wk, wv, wo)
        h = norm(x, g2)
        return x + (act(h @ wg) * (h @ wu)) @ wd
    return f, (data(2, 32, D), data(D), *attention_args()[1:], data(D), data(D, H), data(D, H), data(H, D)), \
        (R, R, *AT[1:], R, P(None, "x"), P(None, "x"), P("x", None)), R

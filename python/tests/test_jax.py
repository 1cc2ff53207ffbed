"""`fuser.jax.jit` beside `jax.jit`. Skipped as a whole, and told, where JAX is not installed."""

import gc
import itertools
import logging
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

# Two devices, for what is partitioned; before JAX is loaded.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"

try:
    import jax
    import jax.export
    import jax.numpy as jnp
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; functions of JAX are not tested", flush=True)
    sys.exit(0)

import fuser
import fuser.jax
from fuser import _fuser

SIZES = (0, 1, 3, 17, 127)


def numbers(shape, dtype=np.float32, seed=0):
    """Numbers of both signs; NaN and infinities among floats."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * 3
    dtype = jnp.dtype(dtype)
    if dtype == bool:
        return jnp.asarray(x > 0)
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.asarray(np.abs(x) if jnp.issubdtype(dtype, jnp.unsignedinteger) else x, dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        x = x + 1j * rng.standard_normal(shape)
    if x.size > 4 and dtype.itemsize > 1:
        x.flat[1], x.flat[2], x.flat[3] = np.nan, np.inf, -np.inf
    return jnp.asarray(x, dtype)


def leaves(tree):
    return [np.asarray(x) for x in jax.tree.leaves(tree)]


class Case(unittest.TestCase):
    def check(self, fun, *args, rtol=2e-6, atol=1e-6, **options):
        """The function by Fuser gives what it gives by JAX, in shape and type too; without a word in the log."""
        with self.assertNoLogs("fuser.jax"):
            ours = fuser.jax.jit(fun, fallback=False, **options)(*args)
        self.same(ours, jax.jit(fun, **options)(*args), rtol, atol)

    def same(self, ours, theirs, rtol=2e-6, atol=1e-6):
        self.assertEqual(jax.tree.structure(ours), jax.tree.structure(theirs))
        for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
            self.assertEqual((a.shape, a.dtype, a.weak_type), (b.shape, b.dtype, b.weak_type))
            a, b = np.asarray(a), np.asarray(b)
            if jnp.issubdtype(a.dtype, jnp.inexact):
                wide = np.complex128 if jnp.issubdtype(a.dtype, jnp.complexfloating) else np.float64
                np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=rtol, atol=atol)
            else:
                np.testing.assert_array_equal(a, b)


def softmax(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def norm(x, scale, shift):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5) * scale + shift


class Results(Case):
    def test_sizes(self):
        for n in SIZES:
            x, y = numbers((3, n)), numbers((n,), seed=1)
            with self.subTest(n=n):
                self.check(lambda x, y: (x * y, x + 1, jnp.maximum(x, y), x.T, jnp.where(x > y, x, 0)), x, y)
                self.check(lambda x: (x.sum(0), x.sum(1), x.sum()), jnp.nan_to_num(x, posinf=1, neginf=2))
                self.check(softmax, jnp.nan_to_num(x)) if n else None

    def test_no_axes_no_arguments_no_results(self):
        self.check(lambda x: x * 2, 3.0)
        self.check(lambda x: x + 1, 3)
        self.check(lambda: jnp.arange(7) * 2)
        self.check(lambda: jnp.arange(100.0).sum())
        self.check(lambda x: (), numbers(3))
        self.check(lambda x: None, numbers(3))
        self.check(lambda x: x, numbers(3))
        self.check(lambda x, y: (y, x, x, 1, y * x, y * x), numbers(3), 2.0)

    def test_element_types(self):
        names = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128"
        with jax.enable_x64(True):
            for name in names.split():
                dtype = getattr(jnp, name)
                number = name != "bool_" and "complex" not in name
                moved = lambda x, y: (x, x[::-1], jnp.stack([x, y]), x == y)
                computed = lambda x, y: (x + y, jnp.maximum(x, y), x * 2, x < y, -x, x.astype(jnp.float32))
                fun = (lambda x, y: (moved(x, y), computed(x, y))) if number else moved
                for shape in ((0,), (5, 7)):
                    with self.subTest(dtype=name, shape=shape):
                        self.check(fun, numbers(shape, dtype), numbers(shape, dtype, 1), rtol=0, atol=0)

    def test_narrow_element_types(self):
        for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"):
            with self.subTest(dtype=name):
                x = jnp.asarray(2.0 ** np.arange(-3, 4), getattr(jnp, name))
                self.check(lambda x: (x.astype(jnp.float32) * 3, x[::-1]), x, rtol=0, atol=0)

    def test_programs_give_arrays_of_jax(self):
        names = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16, "f8E5M2": jnp.float8_e5m2, "i32": jnp.int32}
        for name, dtype in names.items():
            text = f"task.program @f(%x: tensor<5x{name}>) -> tensor<5x{name}> {{\n%y = fusion.flip %x dims [0]\ntask.return %y\n}}"
            x = jnp.asarray([1, -2, 3, 0.5, 0], dtype)
            y = fuser.Program.parse(text).compile()(x)
            self.assertIsInstance(y, jax.Array)
            self.assertEqual(y.dtype, x.dtype)
            np.testing.assert_array_equal(np.asarray(y, np.float32), np.asarray(x[::-1], np.float32))

    def test_types_without_a_counterpart_run_by_xla(self):
        for name in ("int4", "uint4", "int2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4", "float4_e2m1fn"):
            with self.subTest(dtype=name):
                x = jnp.asarray([0, 1, 1, 0, 1], getattr(jnp, name))
                fun = lambda x: (x.astype(jnp.float32) * 3, x[::-1])
                logging.disable()
                try:
                    ours = fuser.jax.jit(fun)(x)
                finally:
                    logging.disable(logging.NOTSET)
                self.same(ours, jax.jit(fun)(x), 0, 0)

    def test_pytrees_and_kinds_of_arguments(self):
        def fun(tree, n, *rest, scale=2.0, kind="a", **more):
            x = tree["x"] * scale + sum(rest)
            return {"y": [x * n, None, (tree["z"],)], **({"k": x} if kind == "a" else more)}

        ours = fuser.jax.jit(fun, static_argnums=1, static_argnames="kind", fallback=False)
        theirs = jax.jit(fun, static_argnums=1, static_argnames="kind")
        tree = {"x": numbers(5), "z": jnp.arange(3)}
        for args, kwargs in (
            ((tree, 3), {}),
            ((tree, 4, 1.0, numbers(5)), {"scale": 0.5}),
            ((tree, 3), {"kind": "b", "w": numbers((2, 2))}),
        ):
            self.same(ours(*args, **kwargs), theirs(*args, **kwargs))
        self.assertEqual(ours.__name__, "fun")

    def test_constants_of_all_sizes(self):
        small, large = np.arange(3, dtype=np.int32), np.linspace(0, 1, 1000, dtype=np.float32)
        array = jnp.asarray(large)
        self.check(lambda x: (x[small], x * large, (x + array)[jnp.asarray(small)]), numbers(1000))

    def test_methods_partials_and_callables(self):
        class Model:
            def __call__(self, x):
                return x * 2

            @fuser.jax.jit
            def half(x):
                return x / 2

        self.check(Model(), 3.0)
        self.assertEqual(float(Model.half(3.0)), 1.5)

    def test_layouts(self):
        x = numbers((3, 5, 7))
        self.check(lambda x: (x.T, x.transpose(1, 0, 2) + 1, x.T @ jnp.ones((3,))), jnp.nan_to_num(x, posinf=1, neginf=1))
        ours = fuser.jax.jit(lambda x: x * 2, fallback=False)
        self.same(jax.jit(lambda x: ours(x.T).T)(x), x * 2)

    def test_products(self):
        for m, k, n in ((0, 3, 4), (1, 1, 1), (3, 5, 7), (17, 33, 65), (4, 0, 3)):
            x, y = (jnp.nan_to_num(numbers(s), posinf=1, neginf=1) for s in ((m, k), (k, n)))
            self.check(lambda x, y: jax.nn.gelu(x @ y) + 1, x, y, rtol=1e-4, atol=1e-4)

    def test_random_numbers_are_those_of_jax(self):
        key = jax.random.key(3)

        def fun(key, x):
            first, second = jax.random.split(key)
            return first, jnp.where(jax.random.bernoulli(second, 0.5, x.shape), x, 0), jax.random.bits(second, (3,))

        ours, theirs = fuser.jax.jit(fun, fallback=False)(key, numbers(9)), fun(key, numbers(9))
        self.assertEqual(ours[0].dtype, theirs[0].dtype)
        self.same((jax.random.key_data(ours[0]), *ours[1:]), (jax.random.key_data(theirs[0]), *theirs[1:]))
        self.check(lambda key: jax.random.uniform(key, (5,)), jax.random.PRNGKey(0))


class Transformations(Case):
    def setUp(self):
        self.x = jnp.nan_to_num(numbers((4, 6)), posinf=1, neginf=-1)

    def both(self, transform, fun, *args, rtol=2e-4, atol=2e-5):
        with self.assertNoLogs("fuser.jax"):
            ours = transform(fuser.jax.jit(fun, fallback=False))(*args)
            within = jax.jit(transform(fuser.jax.jit(fun, fallback=False)))(*args)
        around = fuser.jax.jit(transform(fun), fallback=False)(*args)
        theirs = jax.jit(transform(fun))(*args)
        for found in (ours, within, around):
            for a, b in zip(leaves(found), leaves(theirs), strict=True):
                self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
                np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)

    def test_gradients(self):
        scalar = lambda x: jnp.sum(jnp.sin(softmax(x)) ** 2)
        self.both(jax.grad, scalar, self.x)
        curved = lambda x: jnp.sum(jnp.tanh(x) * x[0])
        for outer in (jax.jacfwd, jax.jacrev):
            self.both(outer, softmax, self.x[0])
            for inner in (jax.jacfwd, jax.jacrev):
                ours, theirs = (outer(inner(f))(self.x[0, :3]) for f in (fuser.jax.jit(curved), curved))
                np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5)

    def test_gradients_of_some_arguments(self):
        loss = lambda x, scale, shift, n: (norm(x, scale, shift) ** 2).sum() * n
        args = (self.x, numbers(6, seed=1) * 0 + 2, jnp.ones(6), jnp.int32(3))
        for argnums in (0, (1, 2), (0, 2)):
            self.both(lambda f: jax.grad(f, argnums), loss, *args)
        with_aux = lambda x: ((x * x).sum(), {"n": jnp.arange(3), "y": x + 1})
        self.both(lambda f: jax.grad(f, has_aux=True), with_aux, self.x)
        self.both(lambda f: lambda x: jax.grad(lambda x: f(x)[0])(x), lambda x: (x.sum(), x * x), self.x)

    def test_pushing_and_pulling(self):
        fun = lambda x: (jnp.tanh(x), x.sum(), jnp.argmax(x))
        self.both(lambda f: lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))[0], fun, self.x)
        self.both(lambda f: lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))[1][:2], fun, self.x)
        self.both(lambda f: lambda x: jax.vjp(lambda x: f(x)[0], x)[1](x), fun, self.x)
        self.both(lambda f: lambda x: jax.linearize(f, x)[1](x)[:2], fun, self.x)
        linear = lambda x: (x * 3)[::-1]
        self.both(lambda f: lambda x: jax.linear_transpose(f, x)(x), linear, self.x)

    def test_batches(self):
        fun = lambda x, y: (softmax(x) * y, x + 1)
        self.both(jax.vmap, fun, self.x, self.x)
        self.both(lambda f: jax.vmap(f, (0, None)), fun, self.x, self.x[0])
        self.both(lambda f: jax.vmap(f, (1, 0), (1, 0)), fun, self.x, self.x.T)
        self.both(lambda f: jax.vmap(jax.vmap(f, (0, None)), (None, 0)), fun, self.x, self.x[:, :1])
        self.both(lambda f: jax.vmap(jax.grad(lambda x: f(x, x)[0].sum())), fun, self.x)
        self.both(lambda f: jax.grad(lambda x: jax.vmap(f)(x, x)[0].sum()), fun, self.x)
        self.both(lambda f: lambda x: jax.vmap(lambda t: jax.jvp(f, (x, x), (t, t))[1])(jnp.stack([x, x])), fun, self.x)

    def test_loops_inside(self):
        double = lambda x: jax.lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x)
        self.check(double, jnp.ones(3))
        self.check(double, jnp.full(3, 40.0))
        step = lambda c, r: (jnp.tanh(c * 0.5 + r), (c * 2, r[0]))
        scan = lambda c, rows: jax.lax.scan(step, c, rows)
        rows = jnp.sin(jnp.arange(3000.0)).reshape(1000, 3)
        self.check(scan, jnp.zeros(3), rows)
        self.check(lambda c, rows: jax.lax.scan(step, c, rows, reverse=True), jnp.zeros(3), rows)
        self.check(jax.grad(lambda c, rows: scan(c, rows)[1][0].sum()), jnp.zeros(3), rows, rtol=1e-5)
        self.check(jax.vmap(scan, (0, None)), jnp.eye(3), rows)
        self.check(lambda x: jax.lax.fori_loop(0, 2000, lambda i, x: x.at[i % 7].add(i), x), jnp.zeros(7, int))

    def test_control_flow_around(self):
        step = lambda x: jnp.sin(x) * 2
        self.both(lambda f: lambda x: jax.lax.scan(lambda c, r: (f(r) + c, f(c)), x[0], x), step, self.x)
        self.both(lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, r: (f(r) + c, f(c)), x[0], x)[0].sum()), step, self.x)
        self.both(lambda f: lambda x: jax.lax.cond(x[0, 0] > 0, f, lambda x: x, x), step, self.x)
        self.both(lambda f: jax.grad(lambda x: jax.checkpoint(f)(x).sum()), step, self.x)
        self.both(lambda f: jax.grad(lambda x: f(f(x)).sum()), step, self.x)

    def test_rules_of_the_users(self):
        @jax.custom_vjp
        def custom(x):
            return jnp.sin(x)

        custom.defvjp(lambda x: (jnp.sin(x), x), lambda x, t: (t * 7 * x,))
        self.both(jax.grad, lambda x: (custom(x) * 2).sum(), self.x)
        self.both(lambda f: jax.vmap(jax.grad(f)), lambda x: (custom(x) * 2).sum(), self.x)
        self.both(jax.grad, lambda x: jax.nn.relu(x).sum(), self.x)
        self.both(jax.grad, lambda x: jax.scipy.special.logsumexp(x), self.x)
        with self.assertRaisesRegex(TypeError, "forward-mode"):
            jax.jvp(fuser.jax.jit(custom), (self.x,), (self.x,))

    def test_functions_in_functions(self):
        inner = fuser.jax.jit(softmax)
        self.check(lambda x: inner(inner(x)) + jax.vmap(inner)(x), self.x)
        self.check(jax.grad(lambda x: (inner(x) ** 2).sum()), self.x, rtol=1e-4, atol=1e-5)
        closed = lambda x: fuser.jax.jit(lambda y: x * y)(x + 1)
        self.both(jax.grad, lambda x: closed(x).sum(), self.x)

    def test_a_train_step(self):
        def loss(params, x, y):
            for w, b in params[:-1]:
                x = jax.nn.gelu(x @ w + b)
            w, b = params[-1]
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w + b), y[:, None], 1))

        def step(params, x, y):
            value, grads = jax.value_and_grad(loss)(params, x, y)
            return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

        keys = jax.random.split(jax.random.key(0), 4)
        params = [(jax.random.normal(k, s) * 0.3, jnp.zeros(s[1])) for k, s in zip(keys, ((7, 16), (16, 16), (16, 5)))]
        x, y = jax.random.normal(keys[3], (13, 7)), jnp.arange(13) % 5
        ours, theirs = fuser.jax.jit(step, fallback=False), jax.jit(step)
        mine, other = params, params
        for _ in range(5):
            (a, mine), (b, other) = ours(mine, x, y), theirs(other, x, y)
            self.same((a, mine), (b, other), 1e-4, 1e-5)


class LinearAlgebra(Case):
    """Within 1e-4: matrices here have condition numbers below 1000."""

    def matrices(self, *shape):
        x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
        return jnp.asarray(x)

    def near(self, fun, *args):
        self.check(fun, *args, rtol=1e-4, atol=1e-4)

    def test_factors_and_systems(self):
        definite = lambda x: x @ jnp.swapaxes(x, -1, -2) + x.shape[-1] * jnp.eye(x.shape[-1])
        for n in (1, 2, 5, 17, 64):
            with self.subTest(n=n):
                x, b = self.matrices(3, n, n) + 3 * n**0.5 * jnp.eye(n), self.matrices(3, n, 2)
                self.near(lambda x: jnp.linalg.cholesky(definite(x)), x)
                self.near(jnp.linalg.solve, x, b)
                self.near(lambda x: (jnp.linalg.inv(x), *jnp.linalg.slogdet(x)), x)
                self.near(lambda x: jnp.linalg.qr(x), x)
                self.near(lambda x: jnp.linalg.eigvalsh(definite(x)) / n, x)
                self.near(lambda x: jnp.linalg.svd(x, compute_uv=False), x)
                self.near(lambda x: (lambda u, s, v: (u * s[..., None, :]) @ v)(*jnp.linalg.svd(x, full_matrices=False)), x)
                self.near(jax.grad(lambda x, b: (jnp.linalg.solve(x, b) ** 2).sum()), x, b)

    def test_oblong_matrices(self):
        for m, n in ((5, 3), (3, 5), (7, 1), (1, 4)):
            with self.subTest(m=m, n=n):
                x = self.matrices(m, n)
                self.near(lambda x: jnp.linalg.qr(x), x)
                self.near(lambda x: jnp.linalg.qr(x, mode="complete")[1], x)
                self.near(lambda x: jnp.linalg.pinv(x), x)
                self.near(lambda x, b: jnp.linalg.lstsq(x, b)[0], x, self.matrices(m))

    def test_what_has_no_factor(self):
        self.near(jnp.linalg.cholesky, jnp.asarray([[1.0, 2.0], [2.0, 1.0]]))
        self.near(jnp.linalg.cholesky, jnp.asarray([[np.nan, 0.0], [0.0, 1.0]], jnp.float32))
        self.near(lambda x: jnp.linalg.solve(x, jnp.ones(2)), jnp.asarray([[1.0, 2.0], [2.0, 4.0]]))
        self.near(jnp.linalg.det, jnp.zeros((3, 3)))
        self.near(jnp.linalg.eigvalsh, jnp.full((2, 2), np.nan, jnp.float32))

    def test_transforms(self):
        for n in (1, 2, 7, 16, 101):
            with self.subTest(n=n):
                x = self.matrices(3, n)
                self.near(lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x), jnp.fft.rfft(x), jnp.fft.fft(x, axis=0), jnp.fft.fft2(x)), x)
                self.near(lambda x: (jnp.fft.irfft(jnp.fft.rfft(x), n=n), jnp.fft.irfftn(jnp.fft.rfftn(x), s=x.shape)), x)
                self.near(jax.grad(lambda x: (jnp.abs(jnp.fft.rfft(x) + 1) ** 2).sum()), x)


class Fallback(Case):
    def test_it_runs_by_xla_and_says_why(self):
        cases = {
            r"custom_call.*lapack": (lambda x: jnp.linalg.eigvals(x).real, jnp.eye(3) * 4),
            r"effects: Debug": (lambda x: (jax.debug.print("{}", 1, ordered=False), x + 1)[1], jnp.ones(3)),
            r"custom_call": (lambda x: jax.pure_callback(lambda x: x * 2, x, x), jnp.ones(3)),
        }
        for reason, (fun, x) in cases.items():
            with self.subTest(reason=reason):
                with self.assertLogs("fuser.jax", "WARNING") as log:
                    ours = fuser.jax.jit(fun)(x)
                self.same(ours, jax.jit(fun)(x))
                self.assertEqual(len(log.output), 1)
                self.assertRegex(log.output[0], reason)
                self.assertNotIn("\n", log.output[0])
                with self.assertRaises(fuser.Error) as raised:
                    fuser.jax.jit(fun, fallback=False)(x)
                self.assertRegex(raised.exception.code, r"^FIR\d{4}$")

    def test_derivatives_fall_back_too(self):
        fun = lambda x: jnp.linalg.eigvals(x).real.sum()
        with self.assertLogs("fuser.jax"):
            ours = jax.grad(fuser.jax.jit(fun))(jnp.eye(3) * 4)
        self.same(ours, jax.grad(fun)(jnp.eye(3) * 4))

    def test_devices(self):
        mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        along = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
        x = jax.device_put(jnp.arange(8.0), along)
        fun = lambda x: jnp.sin(x).sum() + x
        with self.assertLogs("fuser.jax") as log:
            ours = fuser.jax.jit(fun)(x)
        self.assertIn("devices", log.output[0])
        self.same(ours, jax.jit(fun)(x))
        spec = jax.sharding.PartitionSpec("i")
        per_device = lambda f: jax.jit(jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec))
        logging.disable()
        try:
            for body in (lambda f: f, lambda f: lambda x: f(x) + jax.lax.psum(x.sum(), "i")):
                self.same(per_device(body(fuser.jax.jit(jnp.sin)))(x), per_device(body(jnp.sin))(x))
            self.same(
                jax.vmap(fuser.jax.jit(lambda x: jax.lax.psum(x, "b")), axis_name="b")(x),
                jax.vmap(lambda x: jax.lax.psum(x, "b"), axis_name="b")(x),
            )
        finally:
            logging.disable(logging.NOTSET)
        second = jax.device_put(jnp.arange(5.0), jax.devices()[1])
        self.same(fuser.jax.jit(fun, fallback=False)(second), jax.jit(fun)(second))

    def test_named_extents(self):
        (b,) = jax.export.symbolic_shape("b")
        spec = jax.ShapeDtypeStruct((b, 8), jnp.float32)
        logging.disable()
        try:
            exported = jax.export.export(fuser.jax.jit(softmax), disabled_checks=CHECKS)(spec)
        finally:
            logging.disable(logging.NOTSET)
        for n in (1, 3, 8):
            x = jnp.nan_to_num(numbers((n, 8)), posinf=1, neginf=1)
            self.same(exported.call(x), softmax(x))


CHECKS = [jax.export.DisabledSafetyCheck.custom_call("fuser_run")]

LOADED = """
import sys, jax, jax.export, numpy, fuser.jax
exported = jax.export.deserialize(bytearray(open(sys.argv[1], 'rb').read()))
print(numpy.asarray(exported.call(numpy.arange(6, dtype=numpy.float32).reshape(2, 3))).tolist())
"""

CACHED = """
import sys, jax, jax.numpy as jnp, fuser.jax
jax.config.update('jax_compilation_cache_dir', sys.argv[1])
jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)
jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)
add = float(sys.argv[2])
print(fuser.jax.jit(lambda x: x * 2 + add)(jnp.ones(3)).tolist())
"""


def run(*arguments):
    done = subprocess.run([sys.executable, "-c", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Calls(Case):
    def test_donated_arguments(self):
        step = lambda p, g: (p - 0.1 * g, (p * g).sum())
        for n in (1, 5, 1000):
            ours, theirs = fuser.jax.jit(step, donate_argnums=0, fallback=False), jax.jit(step)
            p, g = jnp.arange(float(n)), jnp.ones(n)
            wanted = theirs(p, g)
            self.same(ours(p, g), wanted)
            self.assertTrue(p.is_deleted())

    def test_donated_arguments_are_overwritten(self):
        big, row = jnp.zeros((256, 256)), jnp.ones(256)
        put = fuser.jax.jit(lambda c, i, v: c.at[i].set(v), donate_argnums=0, fallback=False)
        step = fuser.jax.jit(lambda s, g: (s - 0.1 * g, (s * g).sum()), donate_argnames="s", fallback=False)
        for fun, args in ((put, (big, 3, row)), (step, (big, big))):
            compiled = fun.lower(*args).compile()
            memory = compiled.memory_analysis()
            self.assertEqual((memory.temp_size_in_bytes, memory.alias_size_in_bytes), (0, big.nbytes))
            self.assertNotIn("copy", compiled.as_text())
        for i in range(3):
            big = put(big, i, row * i)
        self.same(big[:4], jnp.stack([row * 0, row, row * 2, row * 0]))

    def test_donated_arguments_are_read_before(self):
        funs = (
            lambda a, b: (b[::-1] + a, a * 2, a),
            lambda a, b: (b + 0, a + 1),
            lambda a, b: (a.sum() + b, b * a[::-1], a[:1]),
            lambda a, b: a[jnp.argsort(b)] - a,
        )
        for fun, n in itertools.product(funs, (1, 5, 1000)):
            a, b = jnp.arange(float(n)), -3 * jnp.arange(float(n))
            wanted = jax.jit(fun)(a, b)
            self.same(fuser.jax.jit(fun, donate_argnums=(0, 1), fallback=False)(a + 0, b + 0), wanted)

    def test_what_an_outer_function_still_reads_is_not_overwritten(self):
        double = fuser.jax.jit(lambda s: s * 2, donate_argnums=0, fallback=False)
        x = jnp.arange(3.0)
        self.same(jax.jit(lambda s: (double(s), s + 1))(x), (x * 2, x + 1))
        self.same(jax.vmap(double)(x + 0), x * 2)
        self.same(jax.grad(lambda s: double(s).sum())(x + 0), x * 0 + 2)

    def test_programs_are_made_once_a_signature(self):
        fun = fuser.jax.jit(lambda x: x * 2)
        for n in (3, 4, 3, 4):
            fun(jnp.ones(n))
        self.assertEqual(fun._cache_size(), 2)

    def test_programs_go_with_their_functions(self):
        def once():
            fuser.jax.jit(lambda x: x * 2 + 1)(jnp.ones(3))

        for _ in range(3):
            once()
        jax.clear_caches()
        gc.collect()
        kept = [o for o in gc.get_objects() if isinstance(o, fuser.jax._Function)]
        self.assertLessEqual(len(kept), 1)

    def test_threads(self):
        fun = fuser.jax.jit(softmax, fallback=False)
        x = jnp.nan_to_num(numbers((64, 64)), posinf=1, neginf=1)
        wanted, wrong = np.asarray(fun(x)), []

        def call():
            for _ in range(50):
                if not np.array_equal(np.asarray(fun(x)), wanted):
                    wrong.append(1)

        threads = [threading.Thread(target=call) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(wrong, [])

    def test_exported_programs_run_in_another_process(self):
        x = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
        fun = fuser.jax.jit(lambda x: x * 3 + 1, fallback=False)
        try:
            import flatbuffers  # noqa: F401
        except ImportError:
            self.skipTest("flatbuffers not found; no function is serialized")
        data = jax.export.export(fun, disabled_checks=CHECKS)(x).serialize()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "exported")
            with open(path, "wb") as file:
                file.write(data)
            self.assertEqual(run(LOADED, path), str((x * 3 + 1).tolist()))

    def test_xlas_cache_never_mixes_programs_up(self):
        with tempfile.TemporaryDirectory() as folder:
            for add in (1.0, 5.0, 1.0):
                self.assertEqual(run(CACHED, folder, str(add)), str([2 + add] * 3))

    def test_without_jit(self):
        with jax.disable_jit():
            self.same(fuser.jax.jit(softmax)(jnp.ones((2, 3))), softmax(jnp.ones((2, 3))))

    def test_an_error_of_the_function_is_the_users(self):
        with self.assertRaisesRegex(TypeError, "incompatible shapes"):
            fuser.jax.jit(lambda x: x + jnp.ones(4))(jnp.ones(3))
        with self.assertRaises(ZeroDivisionError):
            fuser.jax.jit(lambda x: 1 / 0)(1.0)


class Header(unittest.TestCase):
    """The structures of the handler, beside the header that jaxlib ships."""

    SIZES = {"size_t": 8, "int64_t": 8, "int": 4, "uint32_t": 4}

    def test_structures_are_those_of_the_header(self):
        path = os.path.join(jax.ffi.include_dir(), "xla/ffi/api/c_api.h")
        with open(path) as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        self.assertRegex(text, r"#define XLA_FFI_API_MAJOR 0\b")
        bodies = dict(re.findall(r"struct (XLA_FFI_\w+) \{(.*?)\n\}", text, re.S))
        enums = set(re.findall(r"enum \{[^}]*\} (XLA_FFI_\w+);", text))
        sizes = {}

        def fields(name):
            place, widest, found = 0, 1, []
            for line in filter(None, map(str.strip, re.split(r"[;\n]", bodies[name]))):
                if match := re.match(r"_XLA_FFI_API_STRUCT_FIELD\((\w+)\)", line):
                    field, size, align = match[1], 8, 8
                elif match := re.match(r"void \(\*(\w+)\)", line):
                    field, size, align = match[1], 8, 8
                else:
                    kind, field = re.match(r"(.*?[\s*])(\w+)$", line).groups()
                    kind = kind.replace("struct", "").replace("const", "").strip()
                    size, align = self.size_of(kind, enums, fields)
                place = -(-place // align) * align
                found.append((field, place))
                place, widest = place + size, max(widest, align)
            sizes[name] = (-(-place // widest) * widest, widest)
            return found, *sizes[name]

        for name, size, ours in _fuser.xla_layout():
            theirs, whole, _ = fields(name)
            ours = [(field.removeprefix("r#"), place) for field, place in ours]
            if name == "XLA_FFI_CallFrame" or name != "XLA_FFI_Api":
                self.assertEqual((name, ours, size), (name, theirs, whole))
            else:
                self.assertEqual(ours, theirs[: len(ours)])

    def size_of(self, kind, enums, fields):
        if kind.endswith("*"):
            return 8, 8
        if kind in enums or kind == "XLA_FFI_Extension_Type":
            return 4, 4
        if kind in self.SIZES:
            return (self.SIZES[kind],) * 2
        if kind == "XLA_FFI_Handler_Traits":
            return 4, 4
        return fields(kind)[1:]


if __name__ == "__main__":
    unittest.main()

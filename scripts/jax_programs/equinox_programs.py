"""Equinox: modules as trees, filtered transformations."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .registry import program


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def over(model, loss):
    """The loss of a model and its gradients, as a function of the model's arrays."""
    arrays, rest = eqx.partition(model, eqx.is_inexact_array)
    f = lambda arrays, *data: loss(eqx.combine(arrays, rest), *data)
    return jax.value_and_grad(f), arrays


@program("equinox")
def mlp_regression():
    model = eqx.nn.MLP(4, 2, 16, 3, activation=jax.nn.softplus, key=jax.random.PRNGKey(0))
    f, arrays = over(model, lambda m, x, y: jnp.mean((jax.vmap(m)(x) - y) ** 2))
    return f, (arrays, normal(1, 10, 4), normal(2, 10, 2))


@program("equinox")
def gru_classifier():
    key = jax.random.PRNGKey(1)

    class Model(eqx.Module):
        cell: eqx.nn.GRUCell
        out: eqx.nn.Linear

        def __call__(self, xs):
            step = lambda h, x: (self.cell(x, h), None)
            h, _ = jax.lax.scan(step, jnp.zeros(8), xs)
            return jax.nn.sigmoid(self.out(h))

    model = Model(eqx.nn.GRUCell(3, 8, key=key), eqx.nn.Linear(8, 1, key=key))
    f, arrays = over(model, lambda m, x: jnp.mean(jax.vmap(m)(x)))
    return f, (arrays, normal(3, 4, 9, 3))


@program("equinox")
def attention_layer():
    model = eqx.nn.MultiheadAttention(2, 8, use_query_bias=True, key=jax.random.PRNGKey(2))
    mask = np.tril(np.ones((6, 6), bool))
    f, arrays = over(model, lambda m, x: jnp.sum(m(x, x, x, mask=mask) ** 2))
    return f, (arrays, normal(4, 6, 8))


@program("equinox")
def conv_pool_norm():
    keys = jax.random.split(jax.random.PRNGKey(3))
    model = eqx.nn.Sequential([
        eqx.nn.Conv2d(3, 8, 3, padding=1, key=keys[0]), eqx.nn.Lambda(jax.nn.relu), eqx.nn.MaxPool2d(2, 2),
        eqx.nn.GroupNorm(4, 8), eqx.nn.AdaptiveAvgPool2d(2), eqx.nn.Lambda(jnp.ravel), eqx.nn.Linear(32, 4, key=keys[1]),
    ])
    f, arrays = over(model, lambda m, x: jax.vmap(m)(x).sum())
    return f, (arrays, normal(5, 2, 3, 8, 8))


@program("equinox")
def neural_ode_rk4():
    model = eqx.nn.MLP(3, 3, 12, 2, activation=jnp.tanh, key=jax.random.PRNGKey(4))

    def solve(m, y):
        h = 0.1

        def step(y, _):
            a = m(y)
            b = m(y + h / 2 * a)
            c = m(y + h / 2 * b)
            d = m(y + h * c)
            return y + h / 6 * (a + 2 * b + 2 * c + d), y

        return jax.lax.scan(step, y, None, length=8)[0].sum()

    f, arrays = over(model, solve)
    return f, (arrays, normal(6, 3))


@program("equinox")
def spectral_embedding_rope():
    key = jax.random.PRNGKey(5)
    embed, rope, norm = eqx.nn.Embedding(20, 8, key=key), eqx.nn.RotaryPositionalEmbedding(8), eqx.nn.RMSNorm(8)

    def loss(m, tokens):
        x = jax.vmap(m[0])(tokens)
        return jnp.sum(jax.vmap(m[1])(rope(x)) ** 3)

    f, arrays = over((embed, norm), loss)
    return f, (arrays, jnp.asarray([3, 1, 4, 1, 5, 9], jnp.int32))

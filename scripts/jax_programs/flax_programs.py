"""Flax: training steps of networks, with optax where that makes the step."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax import nnx

from .registry import program


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def step(model, loss, optimizer, batch, seed=0):
    """A training step: parameters and state of the optimizer go in and come out, with the loss."""
    variables = model.init(jax.random.PRNGKey(seed), batch[0])
    params = variables["params"]

    def train(params, state, *batch):
        value, grads = jax.value_and_grad(lambda p: loss(model.apply({"params": p}, batch[0]), *batch[1:]))(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return train, (params, optimizer.init(params), *batch)


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (32, 24):
            x = nn.gelu(nn.LayerNorm()(nn.Dense(width)(x)))
        return nn.Dense(5)(x)


@program("flax")
def mlp_adamw_step():
    loss = lambda y, labels: optax.softmax_cross_entropy_with_integer_labels(y, labels).mean()
    labels = jnp.asarray(np.arange(16) % 5, jnp.int32)
    return step(Mlp(), loss, optax.adamw(1e-3), (normal(1, 16, 12), labels))


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.avg_pool(nn.relu(nn.Conv(8, (3, 3))(x)), (2, 2), strides=(2, 2))
        x = nn.max_pool(nn.relu(nn.Conv(16, (3, 3), strides=2)(x)), (2, 2), strides=(2, 2))
        return nn.Dense(10)(x.reshape(x.shape[0], -1))


@program("flax")
def cnn_sgd_step():
    loss = lambda y, labels: optax.softmax_cross_entropy(y, jax.nn.one_hot(labels, 10)).mean()
    labels = jnp.asarray(np.arange(4), jnp.int32)
    return step(Cnn(), loss, optax.sgd(0.1, momentum=0.9), (normal(2, 4, 16, 16, 3), labels))


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(8, (3, 3), padding="SAME")(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.GroupNorm(num_groups=4)(nn.swish(x))
        return x.mean((1, 2))


@program("flax")
def batch_norm_state():
    model, x = Normed(), normal(3, 4, 8, 8, 3)
    variables = model.init(jax.random.PRNGKey(0), x, True)

    def f(variables, x):
        y, state = model.apply(variables, x, True, mutable=["batch_stats"])
        return y, state, model.apply(variables, x, False)

    return f, (variables, x)


class Transformer(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(50, 32)(tokens)
        mask = nn.make_causal_mask(tokens)
        for _ in range(2):
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(nn.RMSNorm()(x), mask=mask)
            x = x + nn.Dense(32)(nn.silu(nn.Dense(64)(nn.RMSNorm()(x))))
        return nn.Dense(50)(x)


@program("flax")
def transformer_lion_step():
    tokens = jnp.asarray(np.random.default_rng(4).integers(0, 50, (2, 12)), jnp.int32)
    loss = lambda y: optax.softmax_cross_entropy_with_integer_labels(y[:, :-1], tokens[:, 1:]).mean()
    return step(Transformer(), loss, optax.lion(1e-3), (tokens,))


@program("flax")
def lstm_sequence_gradient():
    model, x = nn.RNN(nn.OptimizedLSTMCell(16)), normal(5, 3, 7, 6)
    params = model.init(jax.random.PRNGKey(0), x)
    return jax.value_and_grad(lambda p, x: (model.apply(p, x) ** 2).mean()), (params, x)


@program("flax")
def dropout_mlp_loss():
    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Dropout(0.3, deterministic=False)(nn.relu(nn.Dense(32)(x)))
            return nn.Dense(1)(x)

    model, x = Model(), normal(6, 8, 10)
    params = model.init({"params": jax.random.PRNGKey(0), "dropout": jax.random.PRNGKey(1)}, x)

    def f(params, x, key):
        return jnp.mean(model.apply(params, x, rngs={"dropout": key}) ** 2)

    return jax.value_and_grad(f), (params, x, jax.random.key(7))


@program("flax")
def nnx_mlp_step():
    class Model(nnx.Module):
        def __init__(self, rngs):
            self.a, self.b = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 3, rngs=rngs)
            self.norm = nnx.LayerNorm(16, rngs=rngs)

        def __call__(self, x):
            return self.b(nnx.softmax(self.norm(self.a(x))))

    graph, state = nnx.split(Model(nnx.Rngs(0)))

    def f(state, x, y):
        loss = lambda s: jnp.mean((nnx.merge(graph, s)(x) - y) ** 2)
        value, grads = jax.value_and_grad(loss)(state)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, state, grads)

    return f, (state, normal(7, 6, 8), normal(8, 6, 3))


@program("flax")
def vae_loss_gradient():
    class Vae(nn.Module):
        @nn.compact
        def __call__(self, x, noise):
            h = nn.tanh(nn.Dense(32)(x))
            mean, logvar = nn.Dense(4)(h), nn.Dense(4)(h)
            z = mean + jnp.exp(0.5 * logvar) * noise
            logits = nn.Dense(x.shape[-1])(nn.tanh(nn.Dense(32)(z)))
            kl = -0.5 * (1 + logvar - mean**2 - jnp.exp(logvar)).sum(-1)
            return optax.sigmoid_binary_cross_entropy(logits, x).sum(-1) + kl

    model, x, noise = Vae(), jax.nn.sigmoid(normal(9, 8, 20)), normal(10, 8, 4)
    params = model.init(jax.random.PRNGKey(0), x, noise)
    return jax.value_and_grad(lambda p, x, n: model.apply(p, x, n).mean()), (params, x, noise)


@program("flax")
def depthwise_attention_pool():
    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(12, (3, 3), feature_group_count=6)(x)
            x = nn.ConvTranspose(6, (2, 2), strides=(2, 2))(nn.hard_swish(x))
            x = x * nn.sigmoid(nn.Dense(6)(x.mean((1, 2), keepdims=True)))
            return nn.WeightNorm(nn.Dense(4))(x.max((1, 2)))

    model, x = Model(), normal(11, 2, 6, 6, 6)
    params = model.init(jax.random.PRNGKey(0), x)
    return jax.grad(lambda p, x: model.apply(p, x).sum(), (0, 1)), (params, x)

"""Haiku: transformed functions."""

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

from .registry import program


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def loss_of(net, *data):
    """The sum of squares of a network's result, with gradients."""
    model = hk.without_apply_rng(hk.transform(net))
    params = model.init(jax.random.PRNGKey(0), *data)
    return jax.value_and_grad(lambda p, *data: jnp.mean(model.apply(p, *data) ** 2)), (params, *data)


@program("haiku")
def mlp_gradient():
    return loss_of(lambda x: hk.nets.MLP([32, 16, 1], activation=jax.nn.elu)(x), normal(1, 8, 5))


@program("haiku")
def residual_block_state():
    def net(x):
        return hk.nets.ResNet.BlockGroup(
            8, 1, 2, {"decay_rate": 0.9, "eps": 1e-5, "create_scale": True, "create_offset": True}, resnet_v2=True, bottleneck=False, use_projection=True
        )(x, True, False)

    model = hk.without_apply_rng(hk.transform_with_state(net))
    x = normal(2, 2, 8, 8, 4)
    params, state = model.init(jax.random.PRNGKey(0), x)
    return model.apply, (params, state, x)


@program("haiku")
def lstm_unrolled():
    def net(x):
        core = hk.DeepRNN([hk.LSTM(8), jax.nn.tanh, hk.Linear(3)])
        return hk.dynamic_unroll(core, x, core.initial_state(2))[0]

    return loss_of(net, normal(3, 6, 2, 4))


@program("haiku")
def transformer_encoder():
    def net(x):
        y = hk.LayerNorm(-1, True, True)(x)
        x = x + hk.MultiHeadAttention(2, 8, w_init_scale=1.0, model_size=16)(y, y, y)
        return x + hk.Linear(16)(jax.nn.gelu(hk.Linear(32)(hk.LayerNorm(-1, True, True)(x))))

    return loss_of(net, normal(4, 2, 5, 16))


@program("haiku")
def dropout_with_key():
    def net(x):
        return hk.Linear(4)(hk.dropout(hk.next_rng_key(), 0.5, x))

    model, x = hk.transform(net), normal(5, 6, 8)
    params = model.init(jax.random.PRNGKey(0), x)
    return lambda p, key, x: model.apply(p, key, x), (params, jax.random.PRNGKey(3), x)


@program("haiku")
def vector_quantizer():
    def net(x):
        made = hk.nets.VectorQuantizer(4, 8, 0.25)(x, is_training=True)
        return made["quantize"], made["loss"], made["encoding_indices"]

    model, x = hk.without_apply_rng(hk.transform_with_state(net)), normal(6, 10, 4)
    params, state = model.init(jax.random.PRNGKey(0), x)
    return lambda p, s, x: model.apply(p, s, x), (params, state, x)

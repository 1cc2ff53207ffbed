"""Optax: steps of optimizers, schedules and losses."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from .registry import program


def tree(seed):
    draw = np.random.default_rng(seed)
    shapes = {"w": (6, 5), "b": (5,), "e": (3, 4, 2)}
    return {name: jnp.asarray(draw.standard_normal(shape), jnp.float32) for name, shape in shapes.items()}


def update(optimizer):
    params, grads = tree(1), tree(2)

    def f(params, state, grads):
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    return f, (params, optimizer.init(params), grads)


@program("optax")
def adamw_cosine_clipped():
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 10, 100)
    return update(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule)))


@program("optax")
def adafactor_update():
    return update(optax.adafactor(1e-2, min_dim_size_to_factor=2))


@program("optax")
def lamb_update():
    return update(optax.lamb(1e-2))


@program("optax")
def radam_update():
    return update(optax.radam(1e-2))


@program("optax")
def multi_steps_accumulation():
    return update(optax.MultiSteps(optax.adabelief(1e-2), every_k_schedule=2).gradient_transformation())


@program("optax")
def masked_rmsprop_noise():
    mask = {"w": True, "b": False, "e": True}
    return update(optax.chain(optax.masked(optax.add_decayed_weights(1e-2), mask), optax.rmsprop(1e-2, momentum=0.9), optax.add_noise(0.1, 0.5, 0)))


@program("optax")
def muon_update():
    return update(optax.contrib.muon(1e-2))


@program("optax")
def sharpness_aware_gradient():
    def loss(params, x):
        return jnp.sum(jnp.tanh(x @ params["w"] + params["b"]) ** 2) + jnp.sum(params["e"] ** 4)

    def f(params, x):
        grads = jax.grad(loss)(params, x)
        norm = optax.global_norm(grads)
        away = jax.tree.map(lambda p, g: p + 0.05 * g / norm, params, grads)
        return jax.value_and_grad(loss)(away, x)

    return f, (tree(1), jnp.asarray(np.random.default_rng(3).standard_normal((4, 6)), jnp.float32))


@program("optax")
def losses_with_gradients():
    draw = np.random.default_rng(4)
    x, y = (jnp.asarray(draw.standard_normal((6, 5)), jnp.float32) for _ in range(2))
    labels = jnp.asarray(draw.integers(0, 5, 6), jnp.int32)

    def f(x, y):
        p = jax.nn.softmax(y)
        return (
            optax.huber_loss(x, y).sum() + optax.log_cosh(x, y).sum() + optax.cosine_distance(x, y).sum()
            + optax.kl_divergence(jax.nn.log_softmax(x), p).sum() + optax.hinge_loss(x, jnp.sign(y)).sum()
            + optax.sigmoid_focal_loss(x, p).sum() + optax.losses.convex_kl_divergence(jax.nn.log_softmax(x), p).sum()
            + optax.losses.ntxent(x, labels // 2) + optax.smooth_labels(p, 0.1).sum()
           
        )

    return jax.value_and_grad(f, (0, 1)), (x, y)


@program("optax")
def ctc_loss_gradient():
    draw = np.random.default_rng(5)
    logits = jnp.asarray(draw.standard_normal((2, 9, 6)), jnp.float32)
    labels = jnp.asarray(draw.integers(1, 6, (2, 4)), jnp.int32)
    f = lambda x: optax.ctc_loss(x, jnp.zeros((2, 9)), labels, jnp.zeros((2, 4))).sum()
    return jax.value_and_grad(f), (logits,)

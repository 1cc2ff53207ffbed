"""BlackJAX: single steps of samplers."""

import blackjax
import jax
import jax.numpy as jnp
import optax

from .registry import program


def logdensity(x):
    return -0.5 * jnp.sum(x["a"] ** 2) - jnp.sum((x["b"] - 1.0) ** 4) - 0.1 * jnp.sum(x["a"][:2] * x["b"])


POSITION = {"a": jnp.asarray([0.3, -0.7, 1.1]), "b": jnp.asarray([0.2, 0.9])}


def step(sampler, steps=1):
    """Steps of a sampler: a key and a state in, the state and what happened out."""

    def f(key, state):
        def one(state, key):
            state, info = sampler.step(key, state)
            return state, info

        return jax.lax.scan(one, state, jax.random.split(key, steps))

    return f, (jax.random.key(5), sampler.init(POSITION, jax.random.key(1)))


@program("blackjax")
def hmc_step():
    return step(blackjax.hmc(logdensity, 0.1, jnp.ones(5), 6))


@program("blackjax")
def mala_steps():
    return step(blackjax.mala(logdensity, 0.05), 4)


@program("blackjax")
def random_walk_steps():
    return step(blackjax.additive_step_random_walk.normal_random_walk(logdensity, jnp.ones(5) * 0.3), 5)


@program("blackjax")
def underdamped_langevin():
    return step(blackjax.ghmc(logdensity, 0.1, jnp.ones(5), 0.3, 0.2), 2)


@program("blackjax")
def nuts_step():
    return step(blackjax.nuts(logdensity, 0.1, jnp.ones(5)))


@program("blackjax")
def resampling_of_particles():
    def f(key, weights, particles):
        r = blackjax.smc.resampling
        weights = weights / weights.sum()
        drawn = [way(key, weights, 6) for way in (r.systematic, r.stratified, r.multinomial)]
        return drawn, particles[drawn[0]], blackjax.smc.ess.log_ess(jnp.log(weights))

    weights = jnp.asarray([0.1, 0.4, 0.7, 0.2, 0.05, 0.9])
    return f, (jax.random.key(3), weights, jnp.arange(18.0).reshape(6, 3))


@program("blackjax")
def stein_variational_step():
    grad = jax.grad(logdensity)
    optimizer = optax.sgd(0.1)
    sampler = blackjax.svgd(grad, optimizer)
    particles = jax.tree.map(lambda x: x + jnp.arange(4.0)[:, None] * 0.1, POSITION)
    state = sampler.init(particles)
    return sampler.step, (state,)


@program("blackjax")
def sgld_step():
    grad = jax.grad(lambda x, batch: logdensity(x) - jnp.mean((batch - x["a"][0]) ** 2))
    sampler = blackjax.sgld(grad)

    def f(key, position, batch):
        return sampler.step(key, position, batch, 1e-2)

    return f, (jax.random.key(1), POSITION, jnp.arange(5.0))

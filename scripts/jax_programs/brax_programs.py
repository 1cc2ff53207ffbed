"""Brax: mathematics of rigid bodies, physics steps and losses of reinforcement learning."""

import jax
import jax.numpy as jnp
import numpy as np
from brax import base, math
from brax.training.agents.ppo import losses as ppo
from brax.training import distribution

from .registry import program


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


@program("brax")
def quaternion_chain():
    def f(q, v, w):
        q = math.normalize(q)[0]
        turned = jax.vmap(math.rotate)(v, q)
        to = jax.vmap(math.quat_to_euler)(q)
        step = jax.vmap(lambda q, w: math.quat_mul(q, math.quat_rot_axis(w, 0.1)))(q, w)
        return turned, to, step, jax.vmap(math.quat_to_3x3)(q), jax.vmap(math.signed_angle)(v, w, jnp.cross(v, w))

    return jax.jit(f), (normal(1, 5, 4), normal(2, 5, 3), normal(3, 5, 3))


@program("brax")
def transforms_and_motions():
    def f(position, rotation, vel, ang):
        t = base.Transform(pos=position, rot=jax.vmap(lambda q: q / jnp.linalg.norm(q))(rotation))
        m = base.Motion(vel=vel, ang=ang)
        moved = jax.vmap(lambda t, m: t.do(m))(t, m)
        back = jax.vmap(lambda t, m: t.inv_do(m))(t, moved)
        return moved, back, jax.vmap(lambda a, b: a.do(b))(t, t)

    return f, (normal(4, 3, 3), normal(5, 3, 4), normal(6, 3, 3), normal(7, 3, 3))


@program("brax")
def ppo_surrogate_gradient():
    def f(logits, actions, old, advantages):
        law = distribution.NormalTanhDistribution(event_size=2)
        ratio = jnp.exp(law.log_prob(logits, actions) - old)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        return -jnp.mean(jnp.minimum(ratio * advantages, clipped * advantages))

    return jax.value_and_grad(f), (normal(12, 6, 4), normal(13, 6, 2), normal(14, 6) - 2, normal(15, 6))


@program("brax")
def generalized_advantage():
    def f(truncation, termination, rewards, values, bootstrap):
        return ppo.compute_gae(truncation, termination, rewards, values, bootstrap, lambda_=0.95, discount=0.99)

    zero = jnp.zeros((8, 3))
    ends = zero.at[5, 1].set(1.0)
    return f, (zero, ends, normal(8, 8, 3), normal(9, 8, 3), normal(10, 3))


@program("brax")
def tanh_policy_log_prob():
    law = distribution.NormalTanhDistribution(event_size=3)

    def f(logits, key):
        one, two = jax.random.split(key)
        raw = law.sample_no_postprocessing(logits, one)
        return law.postprocess(raw), law.log_prob(logits, raw), law.entropy(logits, two)

    return f, (normal(11, 4, 6), jax.random.key(3))


PENDULUM = """<mujoco model="p"><option timestep="0.02"/><worldbody>
  <body pos="0 0 1"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.6" size="0.05" mass="1" contype="0" conaffinity="0"/>
    <body pos="0 0 -0.6"><joint name="elbow" type="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04" mass="0.5" contype="0" conaffinity="0"/></body></body>
  </worldbody><actuator><motor joint="hinge" gear="2"/></actuator></mujoco>"""


def physics(pipeline):
    from brax.io import mjcf

    system = mjcf.loads(PENDULUM)
    state = pipeline.init(system, jnp.asarray([0.3, -0.2]), jnp.asarray([0.1, 0.4]))

    def f(q, qd, act):
        state = pipeline.init(system, q, qd)
        state = pipeline.step(system, state, act)
        return state.q, state.qd, state.x.pos, state.x.rot

    return f, (state.q, state.qd, jnp.asarray([0.5]))


@program("brax")
def spring_pipeline_step():
    from brax.spring import pipeline

    return physics(pipeline)


@program("brax")
def positional_pipeline_step():
    from brax.positional import pipeline

    return physics(pipeline)

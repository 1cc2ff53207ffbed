"""JAXopt: updates of solvers, projections, proximal operators and losses."""

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np

from .registry import program

draw = np.random.default_rng(0)
A, B, X0 = (jnp.asarray(draw.standard_normal(shape), jnp.float32) for shape in ((8, 4), (8,), (4,)))


def loss(x, a, b):
    return 0.5 * jnp.mean((a @ x - b) ** 2)


def updates(solver, steps, *args):
    def f(x, *args):
        state = solver.init_state(x, *args)
        for _ in range(steps):
            x, state = solver.update(x, state, *args)
        return x, state.error

    return f, args


@program("jaxopt")
def gradient_descent_updates():
    return updates(jaxopt.GradientDescent(loss, stepsize=0.1, acceleration=True, jit=False, unroll=True), 5, X0, A, B)


@program("jaxopt")
def proximal_gradient_lasso():
    solver = jaxopt.ProximalGradient(loss, prox=jaxopt.prox.prox_lasso, stepsize=0.1, jit=False, unroll=True)
    return updates(solver, 4, X0, 0.05, A, B)


@program("jaxopt")
def projected_gradient_box():
    solver = jaxopt.ProjectedGradient(loss, jaxopt.projection.projection_box, stepsize=0.1, jit=False, unroll=True)
    return updates(solver, 4, X0, (jnp.float32(-0.2), jnp.float32(0.5)), A, B)


@program("jaxopt")
def simplex_projections():
    def f(x, y):
        p = jaxopt.projection
        return p.projection_simplex(x), p.projection_l1_ball(x, 0.7), p.projection_l2_ball(y, 1.0), jax.grad(lambda x: p.projection_simplex(x)[0])(x)

    return f, (X0 * 2, B)


@program("jaxopt")
def losses_and_prox():
    def f(x, labels):
        l, p = jaxopt.loss, jaxopt.prox
        value = lambda x: l.multiclass_logistic_loss(1, x) + l.huber_loss(0.3, x[0]) + l.binary_logistic_loss(1, x[1])
        sparse = jax.vmap(l.multiclass_sparsemax_loss)(labels, jnp.stack([x, -x]))
        return jax.value_and_grad(value)(x), sparse, p.prox_elastic_net(x, (0.1, 0.5)), p.prox_group_lasso(x, 0.4), p.prox_ridge(x, 0.2)

    return f, (X0, jnp.asarray([0, 2], jnp.int32))


@program("jaxopt")
def lbfgs_run():
    solver = jaxopt.LBFGS(loss, maxiter=20)
    return lambda x, a, b: solver.run(x, a, b).params, (X0, A, B)

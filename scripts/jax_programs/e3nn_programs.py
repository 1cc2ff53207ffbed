"""e3nn: equivariant layers."""

import e3nn_jax as e3nn
import jax
import jax.numpy as jnp
import numpy as np

from .registry import program


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


@program("e3nn")
def spherical_harmonics_gradient():
    f = lambda x: e3nn.spherical_harmonics("0e + 1o + 2e + 3o", x, True).array
    return jax.jit(lambda x: (f(x), jax.grad(lambda x: jnp.sum(f(x) ** 3))(x))), (normal(1, 6, 3),)


@program("e3nn")
def tensor_product():
    def f(x, y):
        a, b = e3nn.IrrepsArray("4x0e + 2x1o", x), e3nn.IrrepsArray("1x1o + 1x2e", y)
        return e3nn.tensor_product(a, b).array

    return f, (normal(2, 3, 10), normal(3, 3, 8))


@program("e3nn")
def gate_and_norm():
    def f(x):
        a = e3nn.IrrepsArray("8x0e + 4x0o + 2x1o + 1x2e", x)
        gated = e3nn.gate(a.filter("0e + 1o + 2e").regroup(), jax.nn.silu, jnp.tanh, jax.nn.sigmoid)
        return gated.array, e3nn.norm(a).array, e3nn.norm_activation(a, [jax.nn.gelu, jnp.tanh, None, None]).array

    return f, (normal(4, 2, 23),)


@program("e3nn")
def equivariant_message_passing():
    import flax

    class Layer(flax.linen.Module):
        @flax.linen.compact
        def __call__(self, x, position, senders, receivers):
            x = e3nn.IrrepsArray("4x0e + 2x1o", x)
            edge = e3nn.IrrepsArray("1o", position[receivers] - position[senders])
            y = e3nn.spherical_harmonics("0e + 1o + 2e", edge, True)
            radial = e3nn.bessel(e3nn.norm(edge).array[:, 0], 4, 3.0)
            messages = e3nn.concatenate([x[senders], e3nn.tensor_product(x[senders], y, filter_ir_out="0e + 1o")]).regroup()
            weights = e3nn.flax.MultiLayerPerceptron((8, messages.irreps.num_irreps), jax.nn.silu)(radial)
            summed = e3nn.scatter_sum(messages * weights, dst=receivers, output_size=x.shape[0])
            return e3nn.flax.Linear("4x0e + 2x1o")(summed / 2.0).array

    layer = Layer()
    draw = np.random.default_rng(5)
    data = (normal(6, 5, 10), normal(7, 5, 3), jnp.asarray(draw.integers(0, 5, 8), jnp.int32), jnp.asarray((np.arange(8) + 1) % 5, jnp.int32))
    data = (data[0], data[1], jnp.asarray([0, 1, 2, 3, 4, 0, 2, 1], jnp.int32), jnp.asarray([1, 2, 3, 4, 0, 2, 4, 3], jnp.int32))
    params = layer.init(jax.random.PRNGKey(0), *data)
    return jax.value_and_grad(lambda p, *data: jnp.sum(layer.apply(p, *data) ** 2)), (params, *data)


@program("e3nn")
def rotations_of_irreps():
    def f(x, alpha, beta, gamma):
        a = e3nn.IrrepsArray("2x0e + 1o + 2e", x)
        return a.transform_by_angles(alpha, beta, gamma).array

    return f, (normal(8, 4, 10), jnp.float32(0.3), jnp.float32(1.1), jnp.float32(-0.7))


@program("e3nn")
def soft_envelope_radial():
    def f(r):
        return e3nn.soft_one_hot_linspace(r, start=0.0, end=2.0, number=6, basis="smooth_finite", cutoff=True), e3nn.poly_envelope(5, 2)(r), e3nn.sus(r), e3nn.bessel(r, 5, 2.0)

    return jax.jit(lambda r: (f(r), jax.jvp(f, (r,), (jnp.ones_like(r),))[1])), (jnp.linspace(0.1, 2.4, 9),)

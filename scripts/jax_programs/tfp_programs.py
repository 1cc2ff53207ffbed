"""TensorFlow Probability on JAX: distributions, bijectors, kernels and samplers."""

import jax
import jax.numpy as jnp
import numpy as np
from tensorflow_probability.substrates import jax as tfp

from .registry import program

tfd, tfb = tfp.distributions, tfp.bijectors


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


@program("tfp")
def log_probs_with_gradients():
    def f(x, a, b):
        u = jax.nn.sigmoid(x)
        laws = [tfd.Normal(a, b), tfd.Laplace(a, b), tfd.StudentT(b + 2, a, b), tfd.Gamma(b, b), tfd.Beta(b, b), tfd.Kumaraswamy(b, b), tfd.LogNormal(a, b),
                tfd.InverseGamma(b, b), tfd.Gumbel(a, b), tfd.GeneralizedNormal(a, b, b + 1), tfd.Moyal(a, b), tfd.SinhArcsinh(a, b)]
        return sum(law.log_prob(u).sum() for law in laws)

    return jax.value_and_grad(f, (0, 1, 2)), (normal(1, 5), normal(2, 5), jnp.exp(normal(3, 5)))


@program("tfp")
def entropies_and_divergences():
    def f(a, b):
        p, q = tfd.Beta(a, b), tfd.Beta(b, a + 1)
        g, h = tfd.Gamma(a, b), tfd.Gamma(b, a)
        d = tfd.Dirichlet(jnp.stack([a, b], -1))
        return tfd.kl_divergence(p, q), tfd.kl_divergence(g, h), p.entropy(), g.entropy(), d.entropy(), tfd.kl_divergence(tfd.Normal(a, b), tfd.Normal(b, a))

    return f, (jnp.exp(normal(4, 6)), jnp.exp(normal(5, 6)))


@program("tfp")
def normalizing_flow():
    flow = tfb.Chain([tfb.Softplus(), tfb.Scale(1.5), tfb.SinhArcsinh(0.3, 1.2), tfb.Shift(0.2), tfb.Tanh()])

    def f(x):
        y = flow.forward(x)
        law = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.Softplus())
        return y, flow.forward_log_det_jacobian(x, 0), flow.inverse(y), law.log_prob(jnp.exp(x))

    return f, (normal(6, 7),)


@program("tfp")
def real_nvp_log_prob():
    def f(w, v, x):
        def shift_and_scale(x, units, **_):
            h = jnp.tanh(x @ w)
            return h @ v[:, :units], jnp.tanh(h @ v[:, units:])

        flow = tfb.Chain([tfb.RealNVP(2, shift_and_log_scale_fn=shift_and_scale), tfb.Permute([2, 3, 0, 1]), tfb.Softsign()])
        law = tfd.TransformedDistribution(tfd.Sample(tfd.Normal(0.0, 1.0), 4), flow)
        return law.log_prob(jnp.tanh(x) * 0.5).sum()

    return jax.value_and_grad(f, (0, 1)), (normal(7, 2, 6), normal(8, 6, 4), normal(9, 5, 4))


@program("tfp")
def kernels_of_gaussian_processes():
    def f(x, y, scale):
        k = tfp.math.psd_kernels
        made = [k.ExponentiatedQuadratic(scale, 0.7), k.MaternFiveHalves(1.0, scale), k.MaternOneHalf(scale), k.RationalQuadratic(scale), k.Polynomial(0.1, scale, exponent=2.0), k.Linear(), k.ExpSinSquared(scale, 1.0, 2.0)]
        return [kernel.matrix(x, y) for kernel in made]

    return f, (normal(11, 4, 2), normal(12, 5, 2), jnp.float32(0.8))


@program("tfp")
def hidden_markov_log_prob():
    def f(initial, transition, means, x):
        model = tfd.HiddenMarkovModel(tfd.Categorical(logits=initial), tfd.Categorical(logits=transition), tfd.Normal(means, 1.0), num_steps=6)
        return model.log_prob(x)

    return jax.value_and_grad(f, (0, 1, 2)), (normal(13, 3), normal(14, 3, 3), normal(15, 3), normal(16, 6))


@program("tfp")
def mixture_and_quantized():
    def f(logits, loc, x):
        law = tfd.MixtureSameFamily(tfd.Categorical(logits=logits), tfd.Normal(loc, 0.5))
        cut = tfd.QuantizedDistribution(tfd.Logistic(loc[0], 1.0), low=-3.0, high=3.0)
        return law.log_prob(x), law.cdf(x), cut.log_prob(jnp.round(x)), law.mean(), law.variance()

    return f, (normal(17, 4), normal(18, 4), normal(19, 6))


@program("tfp")
def bayesian_layer_elbo():
    def f(loc, rho, x, y, key):
        posterior = tfd.Normal(loc, jax.nn.softplus(rho))
        w = posterior.sample(seed=key)
        kl = tfd.kl_divergence(posterior, tfd.Normal(0.0, 1.0)).sum()
        return kl - tfd.Poisson(log_rate=x @ w).log_prob(y).sum()

    y = jnp.asarray([0.0, 2.0, 1.0, 4.0])
    return jax.value_and_grad(f, (0, 1)), (normal(20, 3), normal(21, 3), normal(22, 4, 3), y, jax.random.key(2))


@program("tfp")
def special_functions():
    def f(x, y):
        m = tfp.math
        return m.log1psquare(x), m.softplus_inverse(y), m.lbeta(y, y + 1), m.log_sub_exp(y + 1, y), m.smootherstep(x), m.erfcinv(jax.nn.sigmoid(x)), m.log_gamma_difference(x, y + 9), m.reduce_weighted_logsumexp(x, y), jax.scipy.special.digamma(y), jax.scipy.special.polygamma(1, y)

    return f, (normal(23, 6), jnp.exp(normal(24, 6)))


@program("tfp")
def hmc_kernel_step():
    kernel = tfp.mcmc.HamiltonianMonteCarlo(lambda x: -0.5 * jnp.sum(x**2) - jnp.sum(jnp.cos(x)), step_size=0.1, num_leapfrog_steps=3)

    def f(x, key):
        state, results = kernel.one_step(x, kernel.bootstrap_results(x), seed=key)
        return state, results.is_accepted, results.log_accept_ratio

    return f, (normal(25, 4), jax.random.key(8))

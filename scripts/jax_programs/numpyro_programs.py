"""NumPyro: log-densities of models and of distributions, with gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import util

from .registry import program


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def density(model, params, *data):
    """The log-joint of a model at unconstrained parameters, with its gradient."""

    def f(params, *data):
        return -util.potential_energy(model, data, {}, params)

    return jax.value_and_grad(f), (params, *data)


@program("numpyro")
def logistic_regression():
    def model(x, y):
        w = numpyro.sample("w", dist.Normal(0, 1).expand([3]).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)

    x = normal(1, 20, 3)
    return density(model, {"w": normal(2, 3)}, x, (x[:, 0] > 0).astype(jnp.int32))


@program("numpyro")
def eight_schools():
    sigma = jnp.asarray([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])

    def model(y):
        mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("schools", 8):
            theta = numpyro.sample("theta", dist.Normal(mu, tau))
            numpyro.sample("y", dist.Normal(theta, sigma), obs=y)

    params = {"mu": jnp.float32(0.3), "tau": jnp.float32(0.2), "theta": normal(3, 8)}
    return density(model, params, jnp.asarray([28.0, 8, -3, 7, -1, 1, 18, 12]))


@program("numpyro")
def poisson_gamma_rates():
    def model(y):
        rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0).expand([5]).to_event(1))
        numpyro.sample("y", dist.Poisson(rate).to_event(1), obs=y)

    return density(model, {"rate": normal(4, 5)}, jnp.asarray([0, 3, 1, 7, 2], jnp.int32))


@program("numpyro")
def beta_binomial_and_student():
    def model(y, z):
        p = numpyro.sample("p", dist.Beta(2.0, 3.0))
        df = numpyro.sample("df", dist.Gamma(2.0, 0.1))
        numpyro.sample("y", dist.Binomial(10, probs=p), obs=y)
        numpyro.sample("z", dist.StudentT(df, 0.0, 1.5).expand([6]).to_event(1), obs=z)

    return density(model, {"p": jnp.float32(0.4), "df": jnp.float32(1.1)}, jnp.int32(4), normal(5, 6))


@program("numpyro")
def mixture_of_normals():
    def model(x):
        weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(3)))
        locs = numpyro.sample("locs", dist.Normal(0, 3).expand([3]).to_event(1))
        numpyro.sample("x", dist.MixtureSameFamily(dist.Categorical(probs=weights), dist.Normal(locs, 1.0)).expand([12]).to_event(1), obs=x)

    return density(model, {"weights": normal(6, 2), "locs": normal(7, 3)}, normal(8, 12))


@program("numpyro")
def stochastic_volatility():
    def model(r):
        scale = numpyro.sample("scale", dist.Exponential(50.0))
        s = numpyro.sample("s", dist.GaussianRandomWalk(scale=scale, num_steps=10))
        numpyro.sample("r", dist.StudentT(10.0, 0.0, jnp.exp(s)).to_event(1), obs=r)

    return density(model, {"scale": jnp.float32(-3.0), "s": normal(9, 10) * 0.1}, normal(10, 10))


@program("numpyro")
def densities_of_many():
    def f(x, a, b):
        u = jax.nn.sigmoid(x)
        laws = [
            dist.Laplace(a, b), dist.Cauchy(a, b), dist.Gumbel(a, b), dist.Logistic(a, b), dist.LogNormal(a, b), dist.HalfNormal(b),
            dist.InverseGamma(b, b), dist.Weibull(b, b), dist.Kumaraswamy(b, b), dist.Beta(b, b + 1), dist.Chi2(b), dist.Pareto(b * 0.01, b), dist.VonMises(a, b),
            dist.TruncatedNormal(a, b, low=0.0, high=1.0), dist.SoftLaplace(a, b), dist.NegativeBinomial2(b, b + 1),
        ]
        return sum(law.log_prob(jnp.floor(u * 9) if isinstance(law, dist.GammaPoisson) else u).sum() for law in laws)

    return jax.value_and_grad(f, (0, 1, 2)), (normal(11, 6), normal(12, 6), jnp.exp(normal(13, 6)))


@program("numpyro")
def gaussian_process_marginal():
    def model(x, y):
        scale = numpyro.sample("scale", dist.LogNormal(0.0, 1.0))
        k = jnp.exp(-0.5 * (x[:, None] - x[None]) ** 2 / scale**2) + 0.1 * jnp.eye(len(x))
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), covariance_matrix=k), obs=y)

    return density(model, {"scale": jnp.float32(0.1)}, normal(14, 6), normal(15, 6))


@program("numpyro")
def samples_of_distributions():
    def f(key, a, b):
        keys = jax.random.split(key, 8)
        laws = [dist.Normal(a, b), dist.Laplace(a, b), dist.Gumbel(a, b), dist.HalfCauchy(b), dist.Weibull(b, b), dist.Logistic(a, b), dist.Kumaraswamy(b, b)]
        drawn = [law.sample(k) for law, k in zip(laws, keys)]
        return drawn, dist.Categorical(logits=a).sample(keys[7], (4,)), dist.Bernoulli(logits=a).sample(keys[6])

    return f, (jax.random.key(2), normal(16, 5), jnp.exp(normal(17, 5)))


@program("numpyro")
def elbo_of_a_guide():
    def model(y):
        mu = numpyro.sample("mu", dist.Normal(0, 2))
        numpyro.sample("y", dist.Normal(mu, 1).expand([6]).to_event(1), obs=y)

    def f(params, key, y):
        def one(key):
            mu = params["loc"] + jnp.exp(params["scale"]) * jax.random.normal(key)
            log_q = dist.Normal(params["loc"], jnp.exp(params["scale"])).log_prob(mu)
            return -util.potential_energy(model, (y,), {}, {"mu": mu}) - log_q

        return -jax.vmap(one)(jax.random.split(key, 4)).mean()

    return jax.value_and_grad(f), ({"loc": jnp.float32(0.1), "scale": jnp.float32(-0.5)}, jax.random.key(4), normal(18, 6))


@program("numpyro")
def transforms_of_constraints():
    def f(x, y):
        t = dist.transforms
        parts = [t.StickBreakingTransform(), t.OrderedTransform(), t.SoftplusTransform(), t.SigmoidTransform(), t.ExpTransform()]
        made = [part(x) for part in parts]
        jacobians = [part.log_abs_det_jacobian(x, out) for part, out in zip(parts, made)]
        return made, jacobians, t.CorrCholeskyTransform()(y), t.LowerCholeskyTransform()(y)

    return f, (normal(19, 4), normal(20, 6))

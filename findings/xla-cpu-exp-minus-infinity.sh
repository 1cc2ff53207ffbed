#!/usr/bin/env bash
# XLA's CPU compiler (jax 0.10.2, jaxlib 0.10.2) gives -inf for exp(x) - y where x and y are infinite.
#
# Expected: inf - inf is NaN (IEEE 754), as NumPy gives and as JAX does without jit. Seen: -inf under jit, in f32, for a constant and for an argument.
# The script fails if that changes. It needs Python 3.11 to 3.13, and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'P'
import jax, jax.numpy as jnp, numpy as np

infinite = jnp.full(4, jnp.inf)
f = lambda x, y: jnp.exp(x) - y
compiled, apart = np.asarray(jax.jit(f)(infinite, infinite)), np.asarray(f(infinite, infinite))
print("jax", jax.__version__, "under jit", compiled, "op by op", apart)
assert np.isnan(apart).all()
assert (compiled == -np.inf).all(), "the behaviour has changed"
P

#!/usr/bin/env bash
# JAX 0.10.2 on a CPU: `lax.top_k` ranks a NaN by its sign, so that a NaN that x86-64 computes is the smallest element, not the greatest.
#
# Expected: one order in all functions. `lax.sort`, `jnp.argsort` and `jnp.max` take every NaN for the greatest element, and top_k of
# `jnp.nan` agrees: the NaN comes first, so that an error upstream is seen in the result.
# Seen: top_k compares by IEEE 754's total order. A NaN whose sign is set comes behind -inf, and 0/0 and inf - inf set it on x86-64:
# `top_k(x, 1)` of an array with such a NaN gives a number. Zeros differ likewise: top_k puts +0 before -0, sort takes them for equal.
# The script fails if that changes. It needs Python 3.11 or newer, and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --no-cache-dir jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'P'
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

print("jax", jax.__version__)
plus = jnp.array([np.nan, 1, 2], jnp.float32)
minus = jnp.array([np.copysign(np.nan, -1), 1, 2], jnp.float32)
top = {name: np.asarray(lax.top_k(x, 3)[0]) for name, x in (("nan", plus), ("-nan", minus))}
last = {name: np.asarray(lax.sort(x)) for name, x in (("nan", plus), ("-nan", minus))}
computed = np.asarray(jax.jit(lambda a, b: a / b)(jnp.zeros(1), jnp.zeros(1)))
print("top_k of [nan, 1, 2]: ", top["nan"])
print("top_k of [-nan, 1, 2]:", top["-nan"])
print("sort of the same:     ", last["nan"], last["-nan"])
print("the sign of 0/0 here:  ", "-" if np.signbit(computed[0]) else "+")
zeros = jnp.array([-0.0, 0.0], jnp.float32)
print("top_k of [-0, 0]:      ", np.asarray(lax.top_k(zeros, 2)[0]), "sort:", np.asarray(lax.sort(zeros)))
assert np.isnan(top["nan"][0]) and np.isnan(top["-nan"][2]), "top_k orders NaNs otherwise now"
assert np.isnan(last["nan"][2]) and np.isnan(last["-nan"][2]), "sort orders NaNs otherwise now"
assert np.asarray(lax.top_k(zeros, 2)[1]).tolist() == [1, 0], "top_k orders zeros otherwise now"
P

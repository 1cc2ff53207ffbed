#!/usr/bin/env bash
# XLA's CPU compiler (jax 0.10.2, jaxlib 0.10.2) converts the greatest f4E2M1FN numbers, 6 and -6, to the ends of the integer type.
#
# Expected: 6 is 6 in i32, as it is by way of f32. Seen: 2147483647 and -2147483648; in i8 127 and -128; all other f4 numbers are right.
# The script fails if that changes. It needs Python 3.11 to 3.13, and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install jax==0.10.2 jaxlib==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'P'
import jax, jax.numpy as jnp, ml_dtypes, numpy as np

x = np.array([0, 1, 3, 4, 6, -6], dtype=ml_dtypes.float4_e2m1fn)
direct = jax.jit(lambda x: x.astype(jnp.int32))(x)
by_f32 = jax.jit(lambda x: x.astype(jnp.float32).astype(jnp.int32))(x)
print("jax", jax.__version__, "direct", direct, "by f32", by_f32)
assert by_f32.tolist() == [0, 1, 3, 4, 6, -6]
assert direct.tolist() == [0, 1, 3, 4, 2**31 - 1, -(2**31)], "the behaviour has changed"
P

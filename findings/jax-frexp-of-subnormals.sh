#!/usr/bin/env bash
# JAX 0.10.2 on a CPU: `jnp.frexp` gives one answer for all subnormal numbers, which is none of theirs.
#
# Expected: `x == mantissa * 2 ** exponent`, as its documentation says, with the mantissa in [0.5, 1), as in NumPy and C. At worst a
# subnormal counts as zero, as in other arithmetic of XLA on a CPU, and gives 0 and 0.
# Seen: every subnormal of f32 gives 0.5 and -149, which is half of the least subnormal; every one of f64 gives 0.5 and -1074. Numbers
# that differ by a factor of 8,000,000 have the same answer. Numbers of f16 are computed in f32 and are right.
# The script fails if that changes. It needs Python 3.11 or newer, and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --no-cache-dir jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu JAX_ENABLE_X64=1 "$folder/venv/bin/python" - <<'P'
import jax
import jax.numpy as jnp
import numpy as np

print("jax", jax.__version__)
for dtype, exponent in ((np.float32, -149), (np.float64, -1074)):
    info = np.finfo(dtype)
    numbers = np.array([info.smallest_subnormal, info.smallest_subnormal * dtype(12345), info.tiny / 2, info.tiny], dtype)
    seen = [np.asarray(part) for part in jnp.frexp(numbers)]
    right = np.frexp(numbers)
    for x, m, e, m_right, e_right in zip(numbers, *seen, *right):
        print(f"{dtype.__name__}: frexp({x!s}) = {m}, {e}; of NumPy: {m_right}, {e_right}")
    assert seen[0][:3].tolist() == [0.5] * 3 and seen[1][:3].tolist() == [exponent] * 3, "subnormals give something else now"
    assert (seen[0][3], seen[1][3]) == (right[0][3], right[1][3]), "the least normal number was right"
P

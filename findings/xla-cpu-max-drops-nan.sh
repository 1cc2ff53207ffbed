#!/usr/bin/env bash
# XLA's CPU compiler (jax 0.10.2, jaxlib 0.10.2) loses a NaN in a maximum or minimum of a larger array.
#
# Expected: the maximum of numbers of which one is NaN is NaN at any size (NumPy; StableHLO's `maximum` returns NaN if an operand is NaN).
# Seen: of f32[n, n] with one NaN, jnp.max gives NaN for n of 33 and less, and the greatest number for 64 and 256; sums keep the NaN at every size.
# The script fails if that changes. It needs Python 3.11 to 3.13, and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'P'
import jax, jax.numpy as jnp, numpy as np

found = {}
for n in (4, 16, 31, 32, 33, 64, 256):
    x = np.zeros((n, n), np.float32)
    x[1, 1] = np.nan
    found[n] = float(jnp.max(x)), float(jnp.min(x)), float(jnp.sum(x)), float(np.max(x))
    print(f"f32[{n}, {n}]: jnp.max {found[n][0]}, jnp.min {found[n][1]}, jnp.sum {found[n][2]}, np.max {found[n][3]}")
kept = {n: np.isnan(values) for n, values in found.items()}
assert all(k[2] and k[3] for k in kept.values())
assert kept[4][:2].all() and not kept[256][:2].any(), "the behaviour has changed"
P

#!/usr/bin/env bash
# XLA of JAX 0.10.2 on a CPU: a donated argument is copied whole where another result is computed from it too.
#
# Expected: `donate_argnums` lets a result overwrite the argument, without memory besides: the sum of what the argument held can be
# computed before the argument is overwritten, or in the same loop.
# Seen: `(s - 0.1 * g, (s * g).sum())` with `s` donated copies `s` first and has a temporary buffer of its size, as an update of a
# training step beside a norm or a dot product does. Without the second result there is neither copy nor temporary buffer. The order of
# the two results does not matter. The argument is aliased in both, so that the signature shows no difference.
# The script fails if that changes. It needs Python 3.11 or newer, and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --no-cache-dir jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'P'
import jax
import jax.numpy as jnp

print("jax", jax.__version__)
s = jnp.ones((1024, 1024))
bytes_of_s = s.size * 4
rows = (
    ("s - 0.1 * g", lambda s, g: s - 0.1 * g, 0),
    ("s - 0.1 * g, (s * g).sum()", lambda s, g: (s - 0.1 * g, (s * g).sum()), bytes_of_s),
    ("(s * g).sum(), s - 0.1 * g", lambda s, g: ((s * g).sum(), s - 0.1 * g), bytes_of_s),
)
for text, step, expected in rows:
    compiled = jax.jit(step, donate_argnums=0).lower(s, s).compile()
    memory, copies = compiled.memory_analysis(), compiled.as_text().count(" copy(")
    print(f"{text}: aliased {memory.alias_size_in_bytes}, temporary {memory.temp_size_in_bytes} bytes, copies {copies}")
    assert memory.alias_size_in_bytes == bytes_of_s, "the donated argument was overwritten"
    assert memory.temp_size_in_bytes == expected, "other temporary memory now"
    assert copies == (1 if expected else 0), "another number of copies now"
P

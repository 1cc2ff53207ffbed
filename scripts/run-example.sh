#!/usr/bin/env bash
# Sets up what is missing, then compiles and runs the backward program of NVIDIA/Fuser#2473 on the CPU, compares its five outputs with
# the reference interpreter, and prints its kernels with the bytes that each reads and writes. Arguments go to fuser-run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

./scripts/setup.sh
exec cargo run --release --locked --bin fuser-run -- examples/issue_2473.fir --check "$@"

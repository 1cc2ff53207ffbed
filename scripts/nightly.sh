#!/usr/bin/env bash
# What takes too long for scripts/test.sh and needs packages of others: each part is skipped, and says so, where its packages are missing.
#
#   scripts/nightly.sh            uses python3, or the interpreter that FUSER_TORCH_PYTHON names
set -u
cd "$(dirname "$0")/.." || exit 1
python=${FUSER_TORCH_PYTHON:-python3}
failed=()

package() { # the Python package on the extension module as built here
  local package=${CARGO_TARGET_DIR:-target}/python
  cargo build --release -p fuser-python --locked || return 1
  rm -rf "$package" && mkdir -p "$package" && cp -r python/fuser "$package/fuser" || return 1
  cp "${CARGO_TARGET_DIR:-target}/release/lib_fuser.so" "$package/fuser/_fuser.abi3.so"
}

package || exit 1
export PYTHONPATH=${CARGO_TARGET_DIR:-target}/python FUSER_CACHE_DIR=
if "$python" -c 'import numpy' 2>/dev/null; then
  FUSER_WRONG_CALLS=100000 "$python" python/tests/test_wrong_calls.py || failed+=(wrong-calls)
else
  echo 'skipped: NumPy not found; no wrong calls are made'
fi
if "$python" -c 'import torch' 2>/dev/null; then
  "$python" scripts/torch-zoo.py || failed+=(torch-zoo)
else
  echo 'skipped: torch not found; no model runs under torch.compile(backend="fuser")'
fi
chromium=$(command -v "${FUSER_CHROMIUM:-chromium}" || command -v google-chrome)
if [ -n "$chromium" ] && command -v npm > /dev/null; then
  (cd explorer && npm ci) && cargo build --release --locked --bin fuser-run --bin fuser-opt &&
    FUSER_CHROMIUM=$chromium FUSER_BIN=${CARGO_TARGET_DIR:-target}/release node --test explorer/tests/explorer.test.mjs &&
    cargo test -p fuser --test main --locked -- the_page_is_what_its_sources_make || failed+=(explorer)
else
  echo 'skipped: npm or Chromium not found; the explorer is not opened in a browser'
fi
if [ -n "$chromium" ] && command -v npm > /dev/null && rustup target add wasm32-wasip1 2> /dev/null; then
  FUSER_CHROMIUM=$chromium scripts/playground.sh --test || failed+=(playground)
else
  echo 'skipped: npm, Chromium or the target wasm32-wasip1 not found; the playground is not opened in a browser'
fi
scripts/aarch64.sh
case $? in
  0 | 77) ;; # It says what is missing.
  *) failed+=(aarch64) ;;
esac
[ "${#failed[@]}" = 0 ] || { echo "FAILED: ${failed[*]}"; exit 1; }

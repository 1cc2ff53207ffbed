#!/usr/bin/env bash
# Builds the playground, docs/playground.md: a folder of static files, target/playground, which any web server shows.
#
#   scripts/playground.sh           builds
#   scripts/playground.sh --test    builds, then compares the module with the native tools of FUSER_BIN (target/release) on the commands of
#                                   the lit files, and drives the page in Chromium
#
# Needs rustup's target wasm32-wasip1 and npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${CARGO_TARGET_DIR:-target}
rustup target add wasm32-wasip1 2> /dev/null || true
cargo build -p fuser-playground --profile wasm --target wasm32-wasip1 --locked
(cd playground/page && npm ci --loglevel=error && npm run build)
cp "$target/wasm32-wasip1/wasm/fuser_playground.wasm" target/playground/fuser.wasm
echo "playground: target/playground, $(du -sb target/playground | cut -f1) bytes, $(tar -C target/playground -cf - . | gzip -9 | wc -c) compressed"
if [ "${1:-}" = --test ]; then
  cargo build --release --locked --bins
  FUSER_BIN=${FUSER_BIN:-$target/release} node --test playground/page/tests/
fi

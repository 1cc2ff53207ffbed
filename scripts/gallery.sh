#!/usr/bin/env bash
# Draws the pictures of docs/gallery.md anew: segments, as `--report=svg:` draws them. `fuser-opt` is on PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pictures=docs/pictures/gallery
for picture in "$pictures"/*.svg; do
  name=$(basename "$picture" .svg)
  program=$(ls examples/"$name".fir examples/models/"$name".fir 2> /dev/null)
  fuser-opt "$program" --preseg --segment --remat --schedule --report=svg:"$picture" -o /dev/null
done

#!/usr/bin/env bash
# Draws the pictures of docs/gallery.md anew: segments, as `--report=dot:` writes them and Graphviz lays them out. `fuser-opt` and `dot` are on PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pictures=docs/pictures/gallery
graph=$(mktemp)
trap 'rm -f "$graph"' EXIT
for picture in "$pictures"/*.svg; do
  name=$(basename "$picture" .svg)
  program=$(ls examples/"$name".fir examples/models/"$name".fir 2> /dev/null)
  fuser-opt "$program" --preseg --segment --remat --schedule --report=dot:"$graph" -o /dev/null
  dot -Tsvg "$graph" -o "$picture"
done

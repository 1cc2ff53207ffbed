#!/usr/bin/env bash
# Builds the book, docs/SUMMARY.md, with mdBook: target/book/index.html. Warnings are errors.
#
# The pages are copied to target/book-src as they lie in the repository, so that a link holds there as it does here. Notebooks become pages.
# mdBook is found on PATH, or where scripts/setup.sh --tests puts it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources=target/book-src
mdbook=$(command -v mdbook || echo .cache/mdbook/bin/mdbook)
[ -x "$mdbook" ] || { echo 'book: error: no mdbook on PATH (cargo install mdbook --locked)' >&2; exit 1; }

rm -rf "$sources" target/book && mkdir -p "$sources"
cp --parents -t "$sources" ./*.md LICENSE-* python/README.md c/README.md examples/*.fir examples/models/*
cp -r docs "$sources"
rm "$sources/docs/SUMMARY.md"
mkdir -p "$sources/python/notebooks"
python3 python/notebooks/pages.py "$sources/python/notebooks"
sed -e 's,](,](docs/,' -e 's,](docs/\.\./,](,' -e 's,\.ipynb),.md),' docs/SUMMARY.md > "$sources/SUMMARY.md"

log=$("$mdbook" build 2>&1) || { printf '%s\n' "$log" >&2; exit 1; }
printf '%s\n' "$log"
if grep -qE 'WARN|ERROR' <<< "$log"; then
  echo 'book: error: mdbook warned' >&2
  exit 1
fi

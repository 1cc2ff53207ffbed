#!/usr/bin/env python3
"""Programs of JAX's packages, imported, compiled, run and compared with what JAX computes.

    python scripts/jax-programs.py TOOLS [--only=TEXT] [--keep=FOLDER]

TOOLS is the folder of `fuser-translate` and `fuser-run`. Each program of `jax_programs/` is lowered twice, by `jax.jit(f).lower` and by
`jax.export`, both texts are imported, and the first runs on JAX's inputs. The table says of each which texts were imported,
its largest error beside what is allowed, and the time that compiling took; or the reason of a refusal.

An element may be off by the noise of the program: eight times the largest change that inputs changed in their last place make of JAX's own
result, of four draws; at least 32 units in the last place of the output's greatest element.
Integers and truth values are equal unless that noise changes them. Exit status 1: a program without a stated reason is refused or off.

Needs jax 0.10.2 and the packages that the files import; no test runs it.
"""

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore")

import jax
import ml_dtypes
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
PACKAGES = "flax optax equinox haiku numpyro blackjax jaxopt brax jraph e3nn tfp".split()


def programs(only):
    for package in PACKAGES:
        try:
            importlib.import_module(f"jax_programs.{package}_programs")
        except ImportError as error:
            print(f"skipped: {package}, {error}")
    found = importlib.import_module("jax_programs.registry").PROGRAMS
    return {name: made for name, made in found.items() if not only or any(word in name for word in only.split(","))}


def nudged(leaf, draw):
    """The array with each element one step up or down, or as it is."""
    array = plain(leaf)
    if not np.issubdtype(array.dtype, np.floating):
        return leaf
    up, down = np.nextafter(array, np.inf), np.nextafter(array, -np.inf)
    pick = draw.integers(0, 3, array.shape)
    return jax.numpy.asarray(np.where(pick == 0, up, np.where(pick == 1, down, array)), array.dtype)


def is_key(leaf):
    return jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def plain(leaf):
    """The array, of a typed key its words."""
    leaf = jax.numpy.asarray(leaf) if not hasattr(leaf, "dtype") else leaf
    return np.asarray(jax.random.key_data(leaf) if is_key(leaf) else leaf)


def arrays(tree):
    return [plain(leaf) for leaf in jax.tree.leaves(tree)]


def wide(array):
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def distance(a, b):
    """The largest difference; elements that are equal or both no numbers have none."""
    if a.size == 0:
        return 0.0
    a, b = wide(a), wide(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        off = np.abs(a - b)
    return float(np.max(np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))))


def allowed(results, others):
    """The noise of each result."""
    bounds = []
    for at, result in enumerate(results):
        noise = max((distance(result, other[at]) for other in others), default=0.0)
        if result.dtype.kind in "fcV" and result.size:
            magnitude = np.abs(wide(result))
            magnitude = magnitude[np.isfinite(magnitude)]
            eps = float(ml_dtypes.finfo(result.dtype).eps) if result.dtype.kind != "c" else 1.2e-7
            least = 32 * eps * float(magnitude.max(initial=0.0))
            bounds.append(max(8 * noise, least))
        else:
            bounds.append(noise)
    return bounds


def file_name(name):
    """The file that `--output-dir` gives a name."""
    escaped = re.sub(r"[^A-Za-z0-9_.-]", lambda m: f"%{ord(m[0]):02x}", name)
    return escaped


def call(*command, limit=600):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return 124, "", f"not done after {limit} s"
    return done.returncode, done.stdout, done.stderr


def refusal(text):
    """The first error, with how many others there are."""
    errors = [line for line in text.splitlines() if "error: " in line]
    if not errors:
        return text.strip().splitlines()[-1][:160] if text.strip() else "no message"
    kinds = sorted({re.sub(r"^.*?error: ", "", line) for line in errors})
    return f"{' | '.join(kinds)[:240]}" + (f" ({len(errors)} in all)" if len(errors) > 1 else "")


def lowered(name, maker, folder):
    """Writes the texts, inputs and results of a program; what JAX allows of each result."""
    f, args = maker()
    leaves, tree = jax.tree.flatten(args)
    leaves = [leaf if hasattr(leaf, "dtype") and is_key(leaf) else jax.numpy.asarray(leaf) for leaf in leaves]
    flat = lambda *leaves: jax.tree.leaves(f(*jax.tree.unflatten(tree, leaves)))
    flat.__name__ = name.split(".")[1]
    compiled = jax.jit(flat, keep_unused=True)
    (folder / "program.mlir").write_text(compiled.lower(*leaves).as_text())
    exported = jax.export.export(compiled)(*leaves)
    (folder / "exported.mlir").write_text(str(exported.mlir_module()))
    results = arrays(compiled(*leaves))
    draw = np.random.default_rng(0)
    others = [arrays(compiled(*[nudged(leaf, draw) for leaf in leaves])) for _ in range(4)]
    for at, leaf in enumerate(leaves):
        np.save(folder / f"in{at}.npy", plain(leaf))
    for at, result in enumerate(results):
        np.save(folder / f"want{at}.npy", result)
    (folder / "bounds.json").write_text(json.dumps(allowed(results, others)))


def compared(folder, tools, text):
    """Imports, runs and compares: whether right, error and bound of the worst result, milliseconds of compiling, or the reason."""
    code, _, told = call(f"{tools}/fuser-translate", "--import=stablehlo", str(folder / text), "-o", str(folder / "program.fir"))
    if code != 0:
        return None, refusal(told)
    if text != "program.mlir":
        return True, ""
    fir = (folder / "program.fir").read_text()
    head = re.search(r"task\.program @.*?\((.*?)\) ->", fir)[1]
    names = re.findall(r"%([^\s:]+):", head)
    inputs = [f"--input={name}=@{folder}/in{at}.npy" for at, name in enumerate(names)]
    out = folder / "out"
    out.mkdir(exist_ok=True)
    for old in out.glob("*.npy"):
        old.unlink()
    code, told, wrong = call(f"{tools}/fuser-run", str(folder / "program.fir"), *inputs, "--repeat=1", "--no-cache", f"--output-dir={out}")
    if code != 0:
        return False, f"run: {refusal(wrong)}"
    compile_ms = float(re.search(r"compiled in ([0-9.,]+) ms", told)[1].replace(",", ""))
    rows = told[told.index("\n  output"):].splitlines()[2:]
    names = [row.split()[0] for row in rows if row.startswith("  ")]
    bounds = json.loads((folder / "bounds.json").read_text())
    worst = (0.0, 0.0, 0.0)
    seen = set()
    for at, bound in enumerate(bounds):
        own = file_name(names[at])
        own = f"{own}@{at}" if own.lower() in seen else own
        seen.add(own.lower())
        want, got = np.load(folder / f"want{at}.npy"), np.load(out / f"{own}.npy")
        if want.dtype.kind == "V":
            want, got = want.view(ml_dtypes.bfloat16), got.view(ml_dtypes.bfloat16)
        if want.shape != got.shape or want.dtype != got.dtype:
            return False, f"result {at} is {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        off = distance(want, got)
        share = off / bound if bound else (np.inf if off else 0.0)
        worst = max(worst, (share, off, bound))
    share, off, bound = worst
    text = f"error {off:.2g} of {bound:.2g}, compiled in {compile_ms:.0f} ms"
    return share <= 1.0, text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    parser.add_argument("--anew", action="store_true", help="lower again what --keep holds")
    options = parser.parse_args()
    root = Path(options.keep or tempfile.mkdtemp())
    counts = {"right": 0, "wrong": 0, "refused": 0, "refused as stated": 0, "not lowered": 0}
    for name, (maker, reason) in programs(options.only).items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        if options.anew or not (folder / "bounds.json").exists():
            try:
                lowered(name, maker, folder)
            except Exception as error:
                counts["not lowered"] += 1
                print(f"{name:40} not lowered: {type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}", flush=True)
                continue
        exported, told_of_export = compared(folder, options.tools, "exported.mlir")
        good, told = compared(folder, options.tools, "program.mlir")
        if good and not exported:
            good, told = None, f"exported: {told_of_export}"
        kind = {True: "right", False: "wrong", None: "refused as stated" if reason else "refused"}[good]
        counts[kind] += 1
        print(f"{name:40} {kind:18} {told}", flush=True)
    print("count:", ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["wrong"] + counts["refused"] + counts["not lowered"] else 0


if __name__ == "__main__":
    sys.exit(main())

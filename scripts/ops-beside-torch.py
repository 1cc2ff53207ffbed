#!/usr/bin/env python3
"""Every op of the dialect `fusion`, beside PyTorch and NumPy.

For each op of the manual (docs/dialects/fusion.md), draws of shapes, element types and special values are written as `.fir` programs, run by
`fuser-run` in the interpreter and as compiled code, and compared with what PyTorch or NumPy give for the same elements: bit for bit where the
op is exact, all NaN equal; within the bound of docs/math.md, or the bound that the definition implies, elsewhere. Where we differ from them
by definition, the element is compared with our definition, and the difference has a row in docs/differences.md: the script names each row
that it met, and fails where a difference has no row. Complex numbers are drawn for ops that take nothing else.

    pip install torch numpy
    scripts/ops-beside-torch.py                         200 draws of each op
    scripts/ops-beside-torch.py --draws 50 add sort     50 draws of two ops

Ends with 0 where everything agrees, 1 where something does not, and prints the program, the element and both results then.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
np.seterr(all="ignore")
torch.set_num_threads(1)

from ops_beside_torch import cases, values  # noqa: E402

PROGRAM_OPS = 25  # draws in one program


def manual():
    """The ops of the manual, and the text of each."""
    text = (ROOT / "docs/dialects/fusion.md").read_text()
    parts = re.split(r"^## `fusion\.(\w+)`$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def all_types(entries):
    """The element types that the manual names, and those that it names nowhere, as only ops of all types take them."""
    named = set(re.findall(r"\w+", " ".join(re.findall(r"a tensor[^|]* of ([^|]*)", " ".join(entries.values())))))
    return [dtype for dtype in values.TYPES if (dtype in named or dtype in ("i1", *values.SMALL)) and dtype not in values.PARTS]


def element_types(entry, every):
    """The element types that each operand of an op takes, as the manual lists them."""
    rows = re.findall(r"^\| `\w+`(?:\.\.\.)? \| a (?:tensor|scalar)[^|]*?(?: of ([^|]*))? \|", entry.split("| result |")[0], flags=re.M)
    named = [re.findall(r"complex<\w+>|\w+", row.replace(" or ", " ")) if row else every for row in rows]
    # Complex numbers are drawn where nothing else is taken; fuzzing/evaluator compares them in the other ops, and floats of 4 bits, of which
    # a result has an even number.
    named = [[dtype for dtype in types if dtype in values.TYPES] for types in named]
    return [[dtype for dtype in types if dtype not in values.PARTS] or types for types in named]


def write(folder, drawn):
    """Writes a program of `drawn` cases and the files of its inputs; returns its path and the flags that name them."""
    parameters, flags, body, results = [], [], [], []
    for number, case in enumerate(drawn):
        names = []
        for at, (dtype, raw) in enumerate(case.inputs):
            name = f"x{number}_{at}"
            names.append(f"%{name}")
            parameters.append(f"%{name}: {values.tensor(dtype, raw.shape)}")
            np.save(folder / f"{name}.npy", values.stored(raw, dtype))
            flags.append(f"--input={name}=@{folder / name}.npy")
        outputs = [f"%y{number}_{at}" for at in range(len(case.results))]
        body.append(f"  {', '.join(outputs)} = fusion.{case.op} {case.text.format(*names)}")
        results += [(out, result.type) for out, result in zip(outputs, case.results)]
    types = ", ".join(ty for _, ty in results)
    text = f"task.program @draws({', '.join(parameters)}) -> ({types}) {{\n" + "\n".join(body)
    text += f"\n  task.return {', '.join(name for name, _ in results)}\n}}\n"
    path = folder / "draws.fir"
    path.write_text(text)
    return path, flags


def run(tool, folder, path, flags, device):
    """Runs a program and returns the folder of its results, or what it said."""
    out = folder / f"out-{device}"
    command = [tool, path, f"--device={device}", f"--output-dir={out}", "--repeat=1", "--no-cache", "--threads=1", *flags]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return (out, None) if done.returncode == 0 else (None, done.stderr or done.stdout)


def compare(case, number, out):
    """What differs between a case and the results in a folder: a list of lines."""
    wrong = []
    for at, result in enumerate(case.results):
        got = values.loaded(np.load(out / f"y{number}_{at}.npy"), result.dtype)
        place = result.mismatch(got)
        if place is not None:
            operands = ", ".join(f"{dtype}{list(raw.shape)}" for dtype, raw in case.inputs)
            wrong.append(f"fusion.{case.op} {case.text} of {operands}: {result.tell(place, got)}{case.told(place)}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ops", nargs="*", help="the ops to draw (all)")
    parser.add_argument("--draws", type=int, default=200, help="draws of each op (200)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tool", default=ROOT / "target/release/fuser-run", help="fuser-run (target/release/fuser-run)")
    parser.add_argument("--devices", default="interp,cpu", help="where programs run (interp,cpu)")
    options = parser.parse_args()

    entries, failures, met = manual(), 0, collections.Counter()
    every = all_types(entries)
    unknown = [op for op in entries if op not in cases.DRAWS and op != "yield"]
    rows = set(re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs/differences.md").read_text(), flags=re.M))
    for op in options.ops or entries:
        if op not in cases.DRAWS:
            continue
        rng = np.random.default_rng([options.seed, *op.encode()])
        left, elements, told = options.draws, 0, 0
        while left > 0:
            drawn = [cases.draw(op, values.Draw(rng, element_types(entries[op], every), every, met)) for _ in range(min(left, PROGRAM_OPS))]
            left -= len(drawn)
            elements += sum(result.size for case in drawn for result in case.results)
            with tempfile.TemporaryDirectory() as folder:
                path, flags = write(pathlib.Path(folder), drawn)
                for device in options.devices.split(","):
                    out, refusal = run(options.tool, pathlib.Path(folder), path, flags, device)
                    wrong = [f"refused: {refusal[:1000]}"] if out is None else [w for n, c in enumerate(drawn) for w in compare(c, n, out)]
                    for line in wrong[: max(0, 5 - told)]:
                        print(f"{device}: {line}")
                    told += len(wrong)
        failures += told
        print(f"{op}: {options.draws} draws, {elements} elements, {told} mismatches", flush=True)

    for name in sorted(set(met) | rows):
        if name not in rows:
            print(f"difference `{name}` has no row in docs/differences.md")
            failures += 1
        elif met[name] or not options.ops:
            print(f"difference `{name}`: {met[name]} elements")
    for op in unknown:
        print(f"fusion.{op}: no draws are defined")
    print(f"count: {failures} mismatches")
    return 1 if failures or unknown else 0


if __name__ == "__main__":
    sys.exit(main())

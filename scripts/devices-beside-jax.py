#!/usr/bin/env python3
"""Programs of JAX for several devices, imported, divided, run on ranks of one process, and compared with what JAX computes.

    python scripts/devices-beside-jax.py TOOLS [--only=TEXT] [--devices=2,4,8] [--keep=FOLDER] [--launcher='mpirun -n {devices}']

TOOLS is the folder of `fuser-translate`, `fuser-opt` and `fuser-run`. Each program of `devices_beside_jax/` is lowered for meshes of 2, 4 and 8 devices with
stated shardings, compiled and run by XLA on as many host devices, and its text is imported and run. Each has inputs of small integers and
random ones. A launcher starts a process for each device, of tools that are built with the feature `mpi`. A result of integers on which JAX agrees with itself in f64 is exact: it is the same, bit for bit. Others may be off by 1e-5 of their greatest element.

The table says the bytes that a device sends for collectives, beside those of XLA's, and how many there are. Both are counted alike, on rings of the
devices of a group: `all_reduce` sends 2 (n - 1) / n of its result, `all_gather` and `all_to_all` (n - 1) / n, `reduce_scatter` n - 1 times its result, the
others their result. A collective of a loop counts once. Exit status 1: a program is refused or off.

Needs jax 0.10.2; no test runs it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

sys.path.insert(0, str(Path(__file__).resolve().parent))
from devices_beside_jax import programs

KINDS = "all.reduce|all.gather|all.to.all|collective.permute|reduce.scatter|collective.broadcast"
WIDTHS = {"pred": 1, "i1": 1, "s8": 1, "u8": 1, "i8": 1, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "i32": 4, "f32": 4, "f64": 8, "s64": 8, "u64": 8, "i64": 8}
OFF = 1e-5
DIVIDE = "builtin.module(task.program(dce,label-patterns,shard),partition)"


def sent(kind, devices, result):
    """The bytes that a device of a ring sends for a collective of so many bytes of result."""
    kind = kind.replace("-", "_")
    others = devices - 1
    share = {"all_reduce": 2 * others / devices, "all_gather": others / devices, "all_to_all": others / devices, "reduce_scatter": others}
    return int(result * share.get(kind, 1))


def communications(text):
    """The bytes that a device sends for each collective of XLA's text."""
    found = []
    for line in text.splitlines():
        op = re.match(rf"\s*(?:ROOT )?%\S+ = (.*?) ({KINDS})(?:-start)?\(", line)
        types = re.findall(r"(\w+)\[([\d,]*)\]", op[1]) if op else []
        extents = [(WIDTHS.get(ty, 0), [int(n) for n in dims.split(",") if n]) for ty, dims in types]
        if op:
            result = sum(width * int(np.prod(dims)) for width, dims in extents)
            listed = re.search(r"replica_groups=\{\{([\d,]*)\}", line)
            groups = re.search(r"replica_groups=\[\d+,(\d+)\]", line)
            named = re.search(r"replica_groups=mesh\[(.*?)\] \{(.*?)\}", line)
            devices = len(listed[1].split(",")) if listed else int(groups[1]) if groups else 1
            if named:
                axes = dict((axis, int(size)) for axis, size in re.findall(r"('\w+')=(\d+)", named[1]))
                parts = re.findall(r"('\w+')(?::\(\d+\)(\d+))?", named[2])
                devices = int(np.prod([int(size or axes[axis]) for axis, size in parts]))
            found.append(sent(op[2], devices, result))
    return found


def own_communications(text):
    """The same of the text that `partition` makes."""
    names, sizes = re.search(r"task\.mesh axes \[(.*?)\] sizes \[(.*?)\]", text).groups()
    mesh = dict(zip(re.findall(r'"(.*?)"', names), (int(n) for n in sizes.split(","))))
    found = []
    for kind, axes, dims, dtype in re.findall(rf"fusion\.({KINDS}) .*?over \[(.*?)\].* : tensor<((?:b?\d+x)*)(\w+)>", text):
        devices = int(np.prod([mesh[axis] for axis in re.findall(r'"(.*?)"', axes)]))
        stored = [int(n) for n in dims.split("x") if n.isdigit()]
        found.append(sent(kind, devices, WIDTHS[dtype] * int(np.prod(stored))))
    return found


def lowered(name, devices, mode, folder):
    """Writes the text, the inputs and the results of a program; which results are exact, and XLA's communications."""
    make, axes, sizes = programs.LIST[name]
    grid = np.array(jax.devices()[:devices]).reshape(sizes[devices])
    mesh = Mesh(grid, axes, axis_types=(AxisType.Auto,) * len(axes))
    programs.MODE, programs.MESH = mode, mesh
    programs.rng = np.random.default_rng([devices, *name.encode()])
    f, args, ins, outs = make(devices)
    place = lambda spec: NamedSharding(mesh, spec)
    several = isinstance(outs, tuple) and not isinstance(outs, P)
    ins = tuple(place(spec) for spec in ins)
    outs = tuple(place(spec) for spec in outs) if several else place(outs)
    named = lambda *args: f(*args)
    named.__name__ = name
    text = jax.jit(named, in_shardings=ins, out_shardings=outs).lower(*args)
    compiled = text.compile()
    results = jax.tree.leaves(compiled(*[jax.device_put(arg, spec) for arg, spec in zip(args, ins)]))
    results = [np.asarray(result) for result in results]
    (folder / "program.mlir").write_text(text.as_text())
    for at, arg in enumerate(args):
        arg = np.asarray(arg)
        np.save(folder / f"in{at}.npy", arg.view(np.uint16) if arg.dtype == jnp.bfloat16 else arg)
    is_float = lambda a: a.dtype.kind in "fV"
    exact = [not is_float(result) for result in results]
    if mode == "int":
        with jax.enable_x64(True):
            wide = [np.asarray(arg).astype(np.float64) if is_float(np.asarray(arg)) else arg for arg in args]
            again = jax.tree.leaves(jax.jit(named, in_shardings=ins, out_shardings=outs)(*wide))
        exact = [np.array_equal(np.asarray(a).astype(np.float64), np.asarray(b).astype(np.float64)) for a, b in zip(results, again)]
    return results, exact, communications(compiled.as_text())


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def first_error(told):
    errors = [line for line in told.splitlines() if "error" in line]
    return (errors or told.splitlines() or ["no message"])[0][:200]


def compared(folder, tools, launcher, wanted, exact):
    """Imports, runs and compares: what is off, and our communications."""
    fir, out = folder / "program.fir", folder / "out"
    code, _, told = call(f"{tools}/fuser-translate", "--import=stablehlo", str(folder / "program.mlir"), "-o", str(fir))
    if code != 0:
        return f"import: {first_error(told)}", []
    entry, head = re.search(r"task\.program @(jit_\w+)\((.*?)\) ->", fir.read_text()).groups()
    names = re.findall(r"%([^\s:]+):", head)
    inputs = [f"--input={name}=@{folder}/in{at}.npy" for at, name in enumerate(names)]
    flags = [f"--entry={entry}", "--repeat=1", "--no-cache", "--threads=1", "--color=never", "--rank-timeout=120", f"--output-dir={out}"]
    code, told, wrong = call(*launcher, f"{tools}/fuser-run", str(fir), *inputs, *flags)
    if code != 0:
        return f"run: {first_error(wrong)}", []
    _, divided, _ = call(f"{tools}/fuser-opt", str(fir), f"--pass-pipeline={DIVIDE}")
    ours = own_communications(divided)
    listed = told[told.index("\n  output"):].splitlines()[2:]
    seen = set()
    for at, (row, want) in enumerate(zip(listed, wanted)):
        name = row.split()[0]
        own = f"{name}@{at}" if name.lower() in seen else name
        seen.add(name.lower())
        got = np.load(out / f"{own}.npy")
        if want.dtype == jnp.bfloat16:
            got, want = (a.view(ml_dtypes.bfloat16).astype(np.float32) for a in (got, want))
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"result {at} is {got.dtype}{got.shape}, not {want.dtype}{want.shape}", ours
        off = np.abs(got.astype(np.float64) - want.astype(np.float64)).max(initial=0.0)
        share = off / max(np.abs(want.astype(np.float64)).max(initial=0.0), 1e-30)
        if not np.array_equal(got, want) and (exact[at] or not share <= OFF):
            return f"result {at} is off by {share:.1e}", ours
    return None, ours


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("--only", default="")
    parser.add_argument("--devices", default="2,4,8")
    parser.add_argument("--keep")
    parser.add_argument("--launcher", default="")
    options = parser.parse_args()
    root = Path(options.keep or tempfile.mkdtemp())
    counts = {"right": 0, "off": 0}
    results = {"exact": 0, "all": 0}
    for devices in (int(n) for n in options.devices.split(",")):
        launcher = options.launcher.format(devices=devices).split()
        for name, (_, _, sizes) in programs.LIST.items():
            if options.only not in name or devices not in sizes:
                continue
            for mode in ("int", "real"):
                folder = root / f"{name}-{devices}-{mode}"
                (folder / "out").mkdir(parents=True, exist_ok=True)
                wanted, exact, theirs = lowered(name, devices, mode, folder)
                wrong, ours = compared(folder, options.tools, launcher, wanted, exact)
                counts["off" if wrong else "right"] += 1
                results["exact"] += sum(exact)
                results["all"] += len(exact)
                told = wrong or f"{sum(exact)} of {len(exact)} results exact"
                told_bytes = f"{sum(ours):>9} bytes in {len(ours):>2}, XLA {sum(theirs):>9} in {len(theirs):>2}"
                print(f"{folder.name:42} {told_bytes}  {told}", flush=True)
    print(json.dumps(counts), json.dumps(results))
    sys.exit(1 if counts["off"] else 0)


if __name__ == "__main__":
    main()

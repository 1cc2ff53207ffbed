#!/usr/bin/env python3
"""Counts of our kernels beside Triton's, on the simulated GPU (docs/gpu-simulator.md). No GPU is needed.

Runs each program of scripts/gpu_beside_triton/programs.fir with `fuser-run` on the simulated sm_90 and prints, beside the counts of Triton's
kernels for it: launches, blocks of the largest one, barriers of a block (of all launches), PTX instructions of a thread for each element of the
largest tensor, 32-byte sectors of loads and of stores for each 1,024 of these elements, wavefronts of shared memory over those without
conflicts, and bytes that a thread spills (`ptxas` for sm_90, where it is found: $PTXAS, or on the path). A row that takes more instructions or
sectors than Triton's is marked with a `>`.

    cargo build -p fuser -p fuser-cuda-sim --bins --lib
    scripts/gpu-beside-triton.py                       all programs, a Markdown table
    scripts/gpu-beside-triton.py --json softmax_1001   one of them, as JSON
    scripts/gpu-beside-triton.py --approximate         with a target that asks for approximations
    pip install triton; scripts/gpu-beside-triton.py --triton

The last one compiles Triton's kernels (scripts/gpu_beside_triton/peers.py), runs their PTX in the same simulator, which takes no note of races
then, and writes what it counts to scripts/gpu_beside_triton/triton.json: all other calls read that.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "scripts" / "gpu_beside_triton"
PROGRAMS = FOLDER / "programs.fir"
TRITON = FOLDER / "triton.json"
# The lengths of named axes.
EXTENTS = {
    "add_relu": dict(N=1 << 20),
    "softmax_named": dict(B=1024, N=1024),
    "layernorm_bwd_named": dict(M=1024, N=1024),
    "huge_rows": dict(B=1 << 16),
    "fullsum_named": dict(N=1 << 22),
    "colsum_named": dict(M=2048, N=1024),
    "transpose_named": dict(M=1024, N=1024),
}


def texts():
    """The programs by name."""
    text = PROGRAMS.read_text()
    return {found[1]: found[0] for found in re.finditer(r"^task\.program @(\w+).*?^\}", text, re.M | re.S)}


def elements(name, text):
    """Elements of the largest tensor."""
    extents = EXTENTS.get(name, {})
    largest = 1
    for shape in re.findall(r"tensor<([^>,]*)", text):
        count = 1
        for length in shape.split("x")[:-1]:
            if not length.startswith("b"):
                count *= extents[length[1:-1]] if length.startswith("[") else int(length)
        largest = max(largest, count)
    return largest


def spills(ptx, tool=None):
    """Most bytes that a thread of some PTX spills; none where there is no assembler."""
    tool = tool or os.environ.get("PTXAS") or shutil.which("ptxas")
    if not tool:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "k.ptx"
        file.write_text(ptx)
        sm = re.search(r"\.target (sm_\w+)", ptx)[1]
        done = subprocess.run([tool, "-v", "-arch", sm, str(file), "-o", "/dev/null"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{tool}: {done.stdout}{done.stderr}")
        return max(int(n) for n in re.findall(r"(\d+) bytes spill stores", done.stderr))


def row(kernels, count, runs, spilled):
    """The figures of a program from the counts of its kernels, over so many runs."""
    total = lambda *path: sum(field(kernel, path) for kernel in kernels) / runs

    def field(kernel, path):
        for key in path:
            kernel = kernel[key]
        return kernel

    ideal = total("ideal_wavefronts")
    return {
        "launches": round(total("launches")),
        "blocks": max(kernel["blocks"] // kernel["launches"] for kernel in kernels),
        "barriers": sum(round(kernel["barriers"] / kernel["blocks"]) for kernel in kernels),
        "instructions": round(total("thread_instructions") / count, 2),
        "loads": round(total("loads", "sectors") * 1024 / count, 1),
        "stores": round(total("stores", "sectors") * 1024 / count, 1),
        "conflicts": round(total("wavefronts") / ideal, 2) if ideal else None,
        "spills": spilled,
    }


def ours(name, text, tools, approximate):
    """The figures of our kernels."""
    with tempfile.TemporaryDirectory() as folder:
        file, report = pathlib.Path(folder) / "f.fir", pathlib.Path(folder) / "r.json"
        artifact = pathlib.Path(folder) / "a.json"
        file.write_text(text)
        target = ['--target=base="h100"; name="fast"; approximate=true'] if approximate else []
        shape = [f"--shape={key}={value}" for key, value in EXTENTS.get(name, {}).items()]
        command = [tools / "fuser-run", file, "--device=cuda", "--repeat=1", "--no-cache", f"--report=json:{report}", *target, *shape]
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, FUSER_CUDA="sim:sm_90"))
        if done.returncode:
            sys.exit(f"{name}: {done.stdout}{done.stderr}")
        kernels = json.loads(report.read_text())["simulator"]["kernels"]
        emit = target or ["--target=cuda:sm_90"]
        subprocess.run([tools / "fuser-translate", file, "--emit=artifact", *emit, "-o", artifact], check=True)
        version, spilled = json.loads(artifact.read_text()), []
        while version:
            spilled += [spills(kernel["code"]["ptx"]) for kernel in version["kernels"]]
            version = version.get("otherwise")
        most = None if None in spilled else max(spilled, default=0)
        # Once to warm up, once for the report.
        return row(list(kernels.values()), elements(name, text), 2, most)


class Simulator:
    """The library with the driver's entry points, as this process loads it."""

    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))
        self.call("fuser_cuda_sim_configure", b"sm_90,unchecked")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            sys.exit(f"{name}: {text.value.decode()}")

    def report(self):
        text = ctypes.c_char_p()
        self.call("fuser_cuda_sim_report", ctypes.byref(text))
        return json.loads(text.value)["kernels"]

    def counts(self, ptx, name, grid, threads, shared, arguments):
        """What a launch counts; buffers are zeros."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode(), 0, None, None)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        values, buffers = [], []
        for argument in arguments:
            if isinstance(argument, int):
                values.append(ctypes.c_int32(argument))
            elif isinstance(argument, float):
                values.append(ctypes.c_float(argument))
            else:
                buffers.append(ctypes.c_uint64())
                self.call("cuMemAlloc_v2", ctypes.byref(buffers[-1]), ctypes.c_size_t(argument.bytes))
                self.call("cuMemsetD8Async", buffers[-1], 0, ctypes.c_size_t(argument.bytes), None)
                values.append(buffers[-1])
        # Triton's own two, which these kernels do not use.
        values += [ctypes.c_uint64(0)] * 2
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        before = self.report().get(name)
        self.call("cuLaunchKernel", function, *grid, threads, 1, 1, shared, None, pointers, None)
        self.call("cuCtxSynchronize")
        after = self.report()[name]
        for buffer in buffers:
            self.call("cuMemFree_v2", buffer)
        return less(after, before) if before else after


def less(after, before):
    """The difference of two counts."""
    if isinstance(after, dict):
        return {key: less(value, before.get(key, 0) if not isinstance(value, dict) else before.get(key, {})) for key, value in after.items()}
    return after - before


def bare(ptx):
    """PTX without places in Triton's source, as assemblers of an older version read it as well."""
    ptx = re.split(r"^\s*\.(?:file|section)", ptx, flags=re.M)[0]
    ptx = re.sub(r"^\s*\.loc[^\n]*", "", ptx, flags=re.M)
    return re.sub(r"^\.version .*", ".version 8.6", ptx, flags=re.M)


def plain(ptx):
    """PTX with names of instructions that the simulator has, where the count is the same; a matrix of a warp is what its lanes
    hold of it."""
    for name, known in {".ftz": "", "div.approx.": "div.full.", "\tsqrt.approx.": "\tsqrt.rn."}.items():
        ptx = ptx.replace(name, known)
    matrices = r"(ld|st)matrix\.sync\.aligned\.m8n8\.x(\d)(?:\.trans)?\.shared\.b16"
    return re.sub(matrices, r"\1.shared.v\2.b32", ptx).replace(".v1.", ".")


def count_triton(wanted, tools):
    """Writes what Triton's kernels count."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(FOLDER))
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    import peers
    import triton

    simulator = Simulator(tools / "libfuser_cuda_sim.so")
    assembler = pathlib.Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    all_texts = texts()
    known = json.loads(TRITON.read_text())["programs"] if wanted else {}
    for name, launches in peers.programs().items():
        if wanted and name not in wanted:
            continue
        counts, spilled = [], []
        for kernel, grid, arguments, constants, warps in launches:
            ptx, symbol, shared, threads = peers.compiled(kernel, arguments, constants, warps)
            ptx = bare(ptx)
            spilled.append(spills(ptx, assembler))
            counts.append(simulator.counts(plain(ptx), symbol, grid, threads, shared, arguments))
        most = None if None in spilled else max(spilled)
        known[name] = row(counts, elements(name, all_texts[name]), 1, most)
        print(name, known[name], flush=True)
    done = {"triton": triton.__version__, "target": "sm_90", "programs": known}
    lines = ",\n".join(f'    {json.dumps(name)}: {json.dumps(figures)}' for name, figures in known.items())
    head = json.dumps({key: done[key] for key in ("triton", "target")})[1:-1]
    TRITON.write_text(f'{{\n  {head},\n  "programs": {{\n{lines}\n  }}\n}}\n')


COLUMNS = ["launches", "blocks", "barriers", "instructions", "loads", "stores", "conflicts", "spills"]


def line(name, own, peer):
    """A row of the table: ours / Triton's in each column."""

    def cell(key):
        a, b = own[key], peer[key] if peer else None
        if a == b:
            return "" if a is None else f"{a}"
        behind = a is not None and b is not None and key not in ("launches", "blocks", "barriers") and a > b
        text = ["-" if value is None else f"{value}" for value in (a, b)]
        return f"{'> ' if behind else ''}{text[0]} / {text[1]}"

    return f"| {name} | " + " | ".join(cell(key) for key in COLUMNS) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; all where there are none")
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "target" / "debug", help="the folder of the tools and of the simulator")
    parser.add_argument("--approximate", action="store_true", help="our kernels are approximate, as Triton's are")
    parser.add_argument("--json", action="store_true", help="our figures alone, a line for each program")
    parser.add_argument("--triton", action="store_true", help="count Triton's kernels anew")
    options = parser.parse_args()
    if options.triton:
        return count_triton(options.names, options.tools)
    peers = json.loads(TRITON.read_text())["programs"] if TRITON.exists() else {}
    if not options.json:
        print(f"| program (ours / Triton's) | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    for name, text in texts().items():
        if options.names and name not in options.names:
            continue
        own = ours(name, text, options.tools, options.approximate)
        print(json.dumps({name: own}) if options.json else line(name, own, peers.get(name)), flush=True)


if __name__ == "__main__":
    main()

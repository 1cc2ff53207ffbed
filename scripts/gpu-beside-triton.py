#!/usr/bin/env python3
"""Counts of our kernels beside Triton's, on the simulated GPU (docs/gpu-simulator.md). No GPU is needed.

Runs each program of scripts/gpu_beside_triton/programs.fir with `fuser-run` on the simulated sm_90 and prints, beside the counts of Triton's
kernels for it: launches, blocks of the largest one, barriers of a block (of all launches), PTX instructions of a thread for each element of the
largest tensor, 32-byte sectors of loads and of stores for each 1,024 of these elements, wavefronts of shared memory over those without
conflicts, bytes that a thread spills (`ptxas` for sm_90, where it is found: $PTXAS, or on the path), and percent of the speed of a copy that
a model gives them (`Model`; an estimate from counts, of no measured GPU). A row that takes more instructions or sectors than Triton's, or is
slower by the model, is marked with a `>`.

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
    "cumsum_named": dict(B=1024, N=1024),
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


BYTES = {"i1": 1, "i8": 1, "bf16": 2, "f16": 2, "i16": 2, "f32": 4, "i32": 4, "f64": 8, "i64": 8}


def tensor_bytes(name, text):
    """Bytes of the inputs and outputs, each as it is stored."""
    extents, bytes = EXTENTS.get(name, {}), 0
    for shape in re.findall(r"tensor<([^>,]*)", text[: text.index("{")]):
        *lengths, dtype = shape.split("x")
        count = BYTES[dtype]
        for length in lengths:
            if not length.startswith("b"):
                count *= extents[length[1:-1]] if length.startswith("[") else int(length)
        bytes += count
    return bytes


class Model:
    """An estimate of times on an H100 (SXM) from counts. A kernel takes as long as the longest of what it does, and a launch:

    - its share of the program's tensors, each moved once, by sectors: what kernels hand to each other stays in the second-level cache
    - all its sectors through that cache, and through the first-level cache of the multiprocessors that have blocks
    - issuing the instructions of its warps, and wavefronts of shared memory, there
    - what a warp that has loads waits for, one after the other, for each round of blocks: batches of loads, barriers, shuffles (a `redux.sync` is one), chains of instructions

    A copy moves the tensors once, in one launch."""

    MULTIPROCESSORS, WARPS, BLOCKS, REGISTERS, SHARED = 132, 64, 32, 65536, 228 * 1024
    CLOCK, ISSUES, L1_BYTES = 1.7e9, 4, 64
    DRAM, L2 = 0.9 * 3.35e12, 5.5e12
    LAUNCH, BATCH, BARRIER, SHUFFLE, CHAIN = 1.5e-6, 0.65e-6, 25e-9, 14e-9, 5e-9 / 4
    # A barrier of a cluster and the read of another block's memory behind it, 180 cycles each.
    CLUSTER = 2 * 180 / CLOCK

    @classmethod
    def copy(cls, bytes):
        return bytes / cls.DRAM + cls.LAUNCH

    @classmethod
    def kernel(cls, kernel, registers, bytes):
        """Seconds of all launches of a kernel."""
        blocks = kernel["blocks"] / kernel["launches"]
        warps = -(-kernel["threads"] // kernel["blocks"]) / 32
        by_registers = cls.REGISTERS // (registers * 32 * warps)
        by_shared = cls.SHARED // (kernel["shared_bytes"] + 1024)
        resident = max(1, min(cls.BLOCKS, cls.WARPS // warps, by_registers, by_shared))
        used = min(blocks, cls.MULTIPROCESSORS) * cls.CLOCK
        rounds = max(1, blocks / (cls.MULTIPROCESSORS * resident)) * kernel["launches"]
        moved = 32 * (kernel["loads"]["sectors"] + kernel["stores"]["sectors"])
        each = lambda count: count / (kernel["blocks"] * warps)
        waits = (
            kernel["batches"] / max(1, kernel["waiting_warps"]) * cls.BATCH
            + kernel["barriers"] / kernel["blocks"] * cls.BARRIER
            + kernel["cluster_barriers"] / kernel["blocks"] * cls.CLUSTER
            + each(kernel["classes"].get("shuffle", 0)) * cls.SHUFFLE
            + each(kernel["warp_instructions"]) * cls.CHAIN
        )
        times = [
            bytes / cls.DRAM,
            moved / cls.L2,
            moved / (cls.L1_BYTES * used),
            kernel["warp_instructions"] / (cls.ISSUES * used),
            kernel["wavefronts"] / used,
            waits * rounds,
        ]
        return max(times) + cls.LAUNCH * kernel["launches"]

    @classmethod
    def of_copy(cls, kernels, registers, bytes, runs):
        """Percent of a copy's speed; none where a kernel's registers are not known."""
        if None in registers:
            return None
        sectors = [kernel["loads"]["sectors"] + kernel["stores"]["sectors"] for kernel in kernels]
        share = [bytes * runs * own / max(1, sum(sectors)) for own in sectors]
        return round(100 * cls.copy(bytes) * runs / sum(map(cls.kernel, kernels, registers, share)))


def assembled(ptx, tool=None):
    """Bytes that a thread spills and registers that it has, by kernel; nothing where there is no assembler."""
    tool = tool or os.environ.get("PTXAS") or shutil.which("ptxas")
    if not tool:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "k.ptx"
        file.write_text(ptx)
        sm = re.search(r"\.target (sm_\w+)", ptx)[1]
        done = subprocess.run([tool, "-v", "-arch", sm, str(file), "-o", "/dev/null"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{tool}: {done.stdout}{done.stderr}")
        told = r"Compiling entry function '(.*?)'.*?(\d+) bytes spill stores.*?Used (\d+) registers"
        return {name: (int(spilled), int(used)) for name, spilled, used in re.findall(told, done.stderr, re.S)}


def most(figures):
    """The most of some figures; none where one is not known."""
    figures = list(figures)
    return None if None in figures else max(figures, default=0)


def row(kernels, count, bytes, runs, code):
    """The figures of a program from the counts of its kernels, over so many runs, and from what was assembled of each."""
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
        "spills": most(spilled for spilled, _ in code),
        "copy": Model.of_copy(kernels, [registers for _, registers in code], bytes, runs),
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
        version, code = json.loads(artifact.read_text()), {}
        while version:
            for kernel in version["kernels"]:
                for symbol, figures in assembled(kernel["code"]["ptx"]).items():
                    code[symbol] = tuple(map(max, figures, code.get(symbol, figures)))
            version = version.get("otherwise")
        code = [code.get(symbol, (None, None)) for symbol in kernels]
        # Once to warm up, once for the report.
        return row(list(kernels.values()), elements(name, text), tensor_bytes(name, text), 2, code)


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
        return dict(less(after, before), shared_bytes=after["shared_bytes"]) if before else after


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
    for name, known in {".ftz": "", "shared::cta": "shared", "div.approx.": "div.full.", "\tsqrt.approx.": "\tsqrt.rn."}.items():
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
        counts, code = [], []
        for kernel, grid, arguments, constants, warps in launches:
            ptx, symbol, shared, threads = peers.compiled(kernel, arguments, constants, warps)
            ptx = bare(ptx)
            code.append(assembled(ptx, assembler)[symbol])
            counts.append(simulator.counts(plain(ptx), symbol, grid, threads, shared, arguments))
        text = all_texts[name]
        known[name] = row(counts, elements(name, text), tensor_bytes(name, text), 1, code)
        print(name, known[name], flush=True)
    done = {"triton": triton.__version__, "target": "sm_90", "programs": known}
    lines = ",\n".join(f'    {json.dumps(name)}: {json.dumps(figures)}' for name, figures in known.items())
    head = json.dumps({key: done[key] for key in ("triton", "target")})[1:-1]
    TRITON.write_text(f'{{\n  {head},\n  "programs": {{\n{lines}\n  }}\n}}\n')


COLUMNS = ["launches", "blocks", "barriers", "instructions", "loads", "stores", "conflicts", "spills", "copy"]


def line(name, own, peer):
    """A row of the table: ours / Triton's in each column."""

    def cell(key):
        a, b = own[key], peer.get(key) if peer else None
        if a == b:
            return "" if a is None else f"{a}"
        more = a > b if a is not None and b is not None and key not in ("launches", "blocks", "barriers") else False
        behind = a < b if key == "copy" and None not in (a, b) else more
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

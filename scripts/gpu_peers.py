#!/usr/bin/env python3
"""Our kernels on a GPU beside others, timed in one process on the same tensors.

  cargo build --release --example gpu_library
  scripts/gpu_peers.py [NAME...]              the examples beside PyTorch, eager and by torch.compile
  scripts/gpu_peers.py --triton [NAME...]     the programs of scripts/gpu_beside_triton beside Triton's kernels for them

Prints a line for each program: its bytes (inputs read once, outputs written once), microseconds and bandwidth of each side. Examples are timed as medians of CUDA events
around single calls, all sides in turns, after 40 ms of other work have brought the clocks up; most of what they move is larger than the second-level cache. Beside
Triton a program runs on so many sets of tensors that these are larger than that cache, all runs in one CUDA graph, whose time is divided. Ours are bound by
examples/gpu_library.rs; a result that is farther from eager's than two roundings is marked.
"""

import argparse
import ctypes
import importlib.util
import pathlib
import re
import statistics
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "target" / "release" / "examples" / "libgpu_library.so"
REPEATS = 30
# A scalar input.
EPS = 1e-5
DEVICE = "cuda"
# Bytes of the sets of tensors that runs go over, and the most sets.
SETS_BYTES, MOST_SETS = 300_000_000, 64
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i1": torch.bool, "i8": torch.int8, "i32": torch.int32, "i64": torch.int64, "f64": torch.float64}


def random(*shape, dtype=torch.bfloat16):
    if not dtype.is_floating_point:
        return torch.randint(0, 2 if dtype == torch.bool else 4, shape, device=DEVICE).to(dtype)
    return torch.rand(shape, device=DEVICE, dtype=torch.float32).mul(2).sub(1).to(dtype)


class Library:
    """The C functions of examples/gpu_library.rs."""

    def __init__(self):
        self.calls = ctypes.CDLL(str(LIBRARY))
        self.calls.fuser_open.restype = self.calls.fuser_bind.restype = ctypes.c_void_p
        self.error = ctypes.create_string_buffer(4000)
        self.told = (self.error, ctypes.c_size_t(len(self.error)))
        self.device = self.made(self.calls.fuser_open(ctypes.c_size_t(0), *self.told))

    def made(self, pointer):
        if not pointer:
            raise RuntimeError(self.error.value.decode())
        return ctypes.c_void_p(pointer)


class Program:
    """A program bound to extents, and the shapes and types of its tensors."""

    def __init__(self, library, text, extents):
        self.library, self.extents = library, extents
        named = ",".join(f"{name}={length}" for name, length in extents.items())
        self.pointer = library.made(library.calls.fuser_bind(library.device, text.encode(), named.encode(), *library.told))
        inputs, outputs = text[text.index("(", text.index("task.program")) : text.index("{")].split("->")
        self.inputs = [self.tensor(found) for found in re.findall(r"%\w+: *(tensor<[^>]*>|\w+)", inputs)]
        self.outputs = [self.tensor(found) for found in re.findall(r"tensor<[^>]*>", outputs)]

    def tensor(self, text):
        found = re.match(r"tensor<([^>,]*)", text)
        *lengths, dtype = (found[1] if found else text).split("x")
        # A broadcast axis is stored once.
        stored = [length for length in lengths if length[0] != "b"]
        return [int(self.extents[n[1:-1]] if n[0] == "[" else n) for n in stored], TYPES[dtype]

    def bytes(self):
        return sum(torch.Size(shape).numel() * dtype.itemsize for shape, dtype in self.inputs + self.outputs)

    def call(self, inputs, outputs):
        """A function that runs it on tensors, on the present stream."""
        addresses = [(ctypes.c_uint64 * len(list))(*[t.data_ptr() for t in list]) for list in (inputs, outputs)]
        counts = [ctypes.c_size_t(len(list)) for list in addresses]

        def run(keep=(inputs, outputs)):
            stream = ctypes.c_uint64(torch.cuda.current_stream().cuda_stream)
            tensors = (addresses[0], counts[0], addresses[1], counts[1])
            if self.library.calls.fuser_run(self.pointer, *tensors, stream, *self.library.told):
                raise RuntimeError(self.library.error.value.decode())

        return run

    def made(self):
        """Tensors of its shapes and types."""
        return [random(*shape, dtype=dtype) for shape, dtype in self.inputs], [random(*shape, dtype=dtype) for shape, dtype in self.outputs]


def layer_norm(x, w, b, _):
    return torch.nn.functional.layer_norm(x.float(), x.shape[-1:], w, b, EPS).to(x.dtype)


# The function that is examples/NAME.fir, and its named extents.
EXAMPLES = {
    "softmax": (lambda x: torch.softmax(x, -1), {}),
    "layer_norm": (layer_norm, dict(B=16384)),
    "gelu": (torch.nn.functional.gelu, dict(N=1 << 26)),
    "column_sum": (lambda x: x.sum(0), {}),
    "transpose_add": (lambda x, y: x.t() + y, {}),
}


def timed(calls):
    """Microseconds of each, medians of calls in turns."""
    warm = torch.empty(1 << 28, device=DEVICE, dtype=torch.uint8)
    for _ in range(200):
        warm.add_(1)
    for call in calls:
        for _ in range(3):
            call()
    times = [[] for _ in calls]
    for _ in range(REPEATS):
        for call, own in zip(calls, times):
            ends = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            ends[0].record()
            call()
            ends[1].record()
            own.append(ends)
    torch.cuda.synchronize()
    return [statistics.median(a.elapsed_time(b) for a, b in own) * 1e3 for own in times]


def examples(library, wanted):
    print(f"{'program':16}{'bytes':>15}" + "".join(f"{side:>13} us{'GB/s':>8}" for side in ("ours", "eager", "compile")))
    for name in wanted or EXAMPLES:
        function, extents = EXAMPLES[name]
        program = Program(library, (ROOT / "examples" / f"{name}.fir").read_text(), extents)
        inputs, outputs = program.made()
        [tensor.fill_(EPS) for tensor in inputs if tensor.dim() == 0]
        ours = program.call(inputs, outputs)
        ours()
        eager = function(*inputs).float()
        apart = (outputs[0].float() - eager).norm() / eager.norm()
        compiled = torch.compile(function)
        moved = program.bytes()
        line = f"{name:16}{moved:15,}"
        for us in timed([ours, lambda: function(*inputs), lambda: compiled(*inputs)]):
            line += f"{us:16.1f}{moved / us / 1e3:8.0f}"
        print(line + ("  DIFFERS" if apart > 2**-7 else ""), flush=True)


def graph(calls):
    """Microseconds of a call, of many in a graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        calls[0]()
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        for call in calls:
            call()
    return timed([recorded.replay])[0] / len(calls)


def beside_triton(library, wanted):
    folder = ROOT / "scripts" / "gpu_beside_triton"
    sys.path.insert(0, str(folder))
    import peers

    spec = importlib.util.spec_from_file_location("beside", ROOT / "scripts" / "gpu-beside-triton.py")
    beside = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(beside)
    types = {"*i8": torch.int8, "*bf16": torch.bfloat16, "*fp32": torch.float32}
    triton = peers.programs()
    tiny = torch.zeros(64, device=DEVICE)
    print(f"a launch of 64 elements: {graph([lambda: tiny.add_(1)] * 64):.2f} us")
    print(f"{'program':24}{'bytes':>12}{'ours us':>10}{'GB/s':>8}{'Triton us':>12}{'ours over it':>14}")
    for name, text in beside.texts().items():
        if wanted and name not in wanted:
            continue
        program = Program(library, text, beside.EXTENTS.get(name, {}))
        moved = program.bytes()
        sets = max(4, min(MOST_SETS, SETS_BYTES // moved + 1))
        ours = graph([program.call(*program.made()) for _ in range(sets)])
        line = f"{name:24}{moved:12,}{ours:10.2f}{moved / ours / 1e3:8.0f}"
        if name in triton:
            calls = []
            for _ in range(sets):
                launches = []
                for kernel, grid, arguments, constants, warps in triton[name]:
                    made = lambda a: random(a.bytes // types[a.type].itemsize, dtype=types[a.type]) if isinstance(a, peers.Buffer) else a
                    launches.append((kernel[grid], [made(a) for a in arguments], dict(constants, num_warps=warps)))
                calls.append(lambda launches=launches: [run(*arguments, **constants) for run, arguments, constants in launches])
            theirs = graph(calls)
            line += f"{theirs:12.2f}{ours / theirs:14.2f}"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triton", action="store_true", help="beside Triton's kernels")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    with torch.no_grad():
        (beside_triton if options.triton else examples)(Library(), options.names)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The examples in PyTorch, timed on a GPU: eager and by torch.compile.

  python3 scripts/gpu_peers.py [NAME...]

Prints a line for each example: its bytes (inputs read once, outputs written once), microseconds of both, and their bandwidth. Times are medians
of CUDA events around single calls; what most of them move is larger than the second-level cache. scripts/gpu-check.sh prints it beside fuser-run's.
"""

import statistics
import sys

import torch

REPEATS = 30
DEVICE = "cuda"


def random(*shape, dtype=torch.bfloat16):
    return torch.rand(*shape, device=DEVICE, dtype=torch.float32).mul(2).sub(1).to(dtype)


def layer_norm(x, w, b):
    return torch.nn.functional.layer_norm(x.float(), x.shape[-1:], w, b).to(x.dtype)


F32 = torch.float32

# The function and its arguments, of the shapes and types of examples/NAME.fir, named extents as scripts/gpu-check.sh gives them.
PROGRAMS = {
    "softmax": (lambda x: torch.softmax(x, -1), lambda: [random(16384, 1024)]),
    "layer_norm": (layer_norm, lambda: [random(16384, 1024), random(1024, dtype=F32), random(1024, dtype=F32)]),
    "gelu": (torch.nn.functional.gelu, lambda: [random(1 << 26)]),
    "column_sum": (lambda x: x.sum(0), lambda: [random(32768, 1024, dtype=F32)]),
    "transpose_add": (lambda x, y: x.t() + y, lambda: [random(4096, 4096, dtype=F32), random(4096, 4096, dtype=F32)]),
}


def microseconds(call):
    for _ in range(3):
        call()
    times = []
    for _ in range(REPEATS):
        ends = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        ends[0].record()
        call()
        ends[1].record()
        ends[1].synchronize()
        times.append(ends[0].elapsed_time(ends[1]) * 1e3)
    return statistics.median(times)


def size(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def main():
    wanted = sys.argv[1:] or list(PROGRAMS)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"{'program':14}{'bytes':>15}{'eager us':>12}{'GB/s':>9}{'compile us':>12}{'GB/s':>9}")
    for name in wanted:
        function, make = PROGRAMS[name]
        inputs = make()
        with torch.no_grad():
            result = function(*inputs)
            moved = size(inputs) + size([result])
            line = f"{name:14}{moved:15,}"
            for run in (function, torch.compile(function)):
                us = microseconds(lambda: run(*inputs))
                line += f"{us:12.1f}{moved / us / 1e3:9.0f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The convolutions of ResNet-50 and their gradients, by Fuser and by PyTorch (oneDNN), in turns in one process.

    PYTHONPATH=target/python scripts/convolutions-beside-torch.py [--batch N] [--threads N] [--dtype f32|bf16]

All tensors are channels-last, PyTorch's kernels too. A row is the forward convolution, the gradient of its operand or
that of its kernel. A time is the least median of three turns, in milliseconds; the ratio is below 1 where Fuser takes
less. `apart` is the greatest difference to PyTorch's result in f64, as a part of the greatest magnitude.

Ours is timed as it was built: point PYTHONPATH to a release build. Exit status 1: a result is further apart than 4
times PyTorch's own and 1e-6. Needs torch 2.15; no test runs it.
"""

import argparse
import math
import os
import statistics
import sys

import fuser
import torch
from timing import median

TORCH = {"f32": torch.float32, "bf16": torch.bfloat16}
# Features, filters, places of the kernel and stride along both axes, and extent: each convolution of ResNet-50 once.
SHAPES = [
    (3, 64, 7, 2, 224),
    (64, 64, 1, 1, 56),
    (64, 64, 3, 1, 56),
    (64, 256, 1, 1, 56),
    (256, 64, 1, 1, 56),
    (256, 128, 1, 1, 56),
    (128, 128, 3, 2, 56),
    (128, 512, 1, 1, 28),
    (256, 512, 1, 2, 56),
    (512, 128, 1, 1, 28),
    (128, 128, 3, 1, 28),
    (512, 256, 1, 1, 28),
    (256, 256, 3, 2, 28),
    (256, 1024, 1, 1, 14),
    (512, 1024, 1, 2, 28),
    (1024, 256, 1, 1, 14),
    (256, 256, 3, 1, 14),
    (1024, 512, 1, 1, 14),
    (512, 512, 3, 2, 14),
    (512, 2048, 1, 1, 7),
    (1024, 2048, 1, 2, 14),
    (2048, 512, 1, 1, 7),
    (512, 512, 3, 1, 7),
]


def tensor(dtype, *extents):
    return f"tensor<{'x'.join(map(str, extents))}x{dtype}>"


def texts(n, c, o, k, s, h, dtype):
    """The three programs, and the extent of the result. Tensors are stored [N, H, W, C], kernels [K, K, C, O]."""
    low = (k - 1) // 2
    r = (h + 2 * low - k) // s + 1
    x, w, y = tensor(dtype, n, h, h, c), tensor(dtype, k, k, c, o), tensor(dtype, n, r, r, o)
    forward = f"""task.program @f(%x: {x}, %w: {w}) -> {y} {{
  %a = fusion.permute %x dims [0, 3, 1, 2]
  %b = fusion.permute %w dims [3, 2, 0, 1]
  %c = fusion.convolution %a, %b strides [{s}, {s}] low [{low}, {low}] high [{low}, {low}]
  %z = fusion.permute %c dims [0, 2, 3, 1]
  task.return %z
}}"""
    behind = h + low - (r - 1) * s - 1
    operand = f"""task.program @f(%y: {y}, %w: {w}) -> {x} {{
  %a = fusion.permute %y dims [0, 3, 1, 2]
  %m = fusion.flip %w dims [0, 1]
  %b = fusion.permute %m dims [2, 3, 0, 1]
  %c = fusion.convolution %a, %b base_dilation [{s}, {s}] low [{k - 1 - low}, {k - 1 - low}] high [{behind}, {behind}]
  %z = fusion.permute %c dims [0, 2, 3, 1]
  task.return %z
}}"""
    end = (r - 1) * s + k - h - low
    kernel = f"""task.program @f(%x: {x}, %y: {y}) -> {w} {{
  %a = fusion.permute %x dims [3, 0, 1, 2]
  %b = fusion.permute %y dims [3, 0, 1, 2]
  %c = fusion.convolution %a, %b dilation [{s}, {s}] low [{low}, {low}] high [{end}, {end}]
  %z = fusion.permute %c dims [2, 3, 0, 1]
  task.return %z
}}"""
    return {"forward": forward, "operand": operand, "kernel": kernel}, r, low


def last(t):
    """[N, H, W, C] as PyTorch's [N, C, H, W], the same memory."""
    return t.permute(0, 3, 1, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", choices=list(TORCH), default="f32")
    options = parser.parse_args()
    os.sched_setaffinity(0, range(options.threads))
    torch.set_num_threads(options.threads)
    dtype, n = TORCH[options.dtype], options.batch
    print(f"PyTorch {torch.__version__}, {options.threads} threads, {n} images, {options.dtype}")
    print("| features, filters, places, stride, extent | which | torch ms | ours ms | ours / torch | GFLOP/s | apart torch | apart ours |")
    print("|---|---|---|---|---|---|---|---|")
    ratios, is_wrong = [], False
    for c, o, k, s, h in SHAPES:
        programs, r, low = texts(n, c, o, k, s, h, options.dtype)
        x, y = torch.randn(n, h, h, c).to(dtype), torch.randn(n, r, r, o).to(dtype)
        w = (torch.randn(k, k, c, o) / math.sqrt(c * k * k)).to(dtype)
        theirs = w.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        stated = ([s, s], [low, low], [1, 1], False, [0, 0], 1)

        def backward(mask, to=None):
            args = [last(y), last(x), theirs]
            args = args if to is None else [a.to(to) for a in args]
            return torch.ops.aten.convolution_backward(*args, None, *stated, [mask == 0, mask == 1, False])[mask]

        calls = {
            "forward": (lambda: torch.conv2d(last(x), theirs, None, s, low), lambda: torch.conv2d(last(x).double(), theirs.double(), None, s, low)),
            "operand": (lambda: backward(0), lambda: backward(0, torch.float64)),
            "kernel": (lambda: backward(1), lambda: backward(1, torch.float64)),
        }
        args = {"forward": (x, w), "operand": (y, w), "kernel": (x, y)}
        for which, text in programs.items():
            ours = fuser.Program.parse(text).compile(threads=options.threads)
            run, right = calls[which]
            with torch.no_grad():
                right = right()
                size = right.abs().max()
                made = torch.as_tensor(ours(*args[which]))
                made = last(made) if which != "kernel" else made.permute(3, 2, 0, 1)
                apart = [float((found.double() - right).abs().max() / size) for found in (run(), made)]
                turns = [(median(run, 0.1)[0], median(lambda: ours(*args[which]), 0.1)[0]) for _ in range(3)]
            least = [min(turn[side] for turn in turns) for side in range(2)]
            ratios.append(least[1] / least[0])
            wrong = apart[1] > 4 * apart[0] + 1e-6
            is_wrong |= wrong
            rate = 2 * n * r * r * c * o * k * k / least[1] / 1e6
            print(
                f"| {c}, {o}, {k}, {s}, {h} | {which} | {least[0]:.3f} | {least[1]:.3f} | {ratios[-1]:.2f} | {rate:.0f} | {apart[0]:.1e} | "
                f"{apart[1]:.1e}{' WRONG' if wrong else ''} |",
                flush=True,
            )
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"\nours over PyTorch, {len(ratios)} rows: geometric mean {mean:.2f}, worst {max(ratios):.2f}, {sum(ratio <= 1.05 for ratio in ratios)} at most 1.05")
    sys.exit(is_wrong)


main()

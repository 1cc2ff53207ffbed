#!/usr/bin/env python3
"""Products of matrices and attention as `fuser-run` runs them, beside the same of PyTorch, in turns.

    pip install torch numpy
    scripts/products-beside-torch.py --threads 1
    scripts/products-beside-torch.py --threads 2 matmul-1024 sdpa

A figure is the least of the medians of `--rounds` turns, in milliseconds; the ratio is below 1 where Fuser takes less. Both have the same number of threads and
CPUs. Inputs of Fuser are drawn by `fuser-run`, PyTorch's are normal numbers: neither takes longer for other numbers.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import torch
from timing import median

ROOT = pathlib.Path(__file__).resolve().parent.parent
TORCH = {"f32": torch.float32, "bf16": torch.bfloat16}
GELU = """
  %root = fusion.constant value 0.70710677 : f32
  %half = fusion.constant value 0.5 : f32
  %one = fusion.constant value 1.0 : f32
  %a = fusion.mul %h, %root
  %e = fusion.erf %a
  %b1 = fusion.add %e, %one
  %d = fusion.mul %h, %half
  %g = fusion.mul %d, %b1
"""


def matmul(n, dtype):
    ty = f"tensor<{n}x{n}x{dtype}>"
    text = f"task.program @f(%a: {ty}, %b: {ty}) -> {ty} {{\n  %y = fusion.matmul %a, %b\n  task.return %y\n}}\n"
    a, b = (torch.randn(n, n).to(TORCH[dtype]) for _ in range(2))
    return text, lambda: a @ b


def linear_gelu(n, dtype):
    ty, row = f"tensor<{n}x{n}x{dtype}>", f"tensor<{n}x{dtype}>"
    back = "  %y = fusion.cast %g to bf16\n  task.return %y" if dtype == "bf16" else "  task.return %g"
    text = f"task.program @f(%x: {ty}, %w: {ty}, %c: {row}) -> {ty} {{\n  %h = fusion.linear %x, %w, %c to f32{GELU}{back}\n}}\n"
    x, w, c = torch.randn(n, n).to(TORCH[dtype]), (torch.randn(n, n) / n**0.5).to(TORCH[dtype]), torch.randn(n).to(TORCH[dtype])
    return text, lambda: torch.nn.functional.gelu(torch.nn.functional.linear(x, w, c))


def sdpa(batch, dtype, causal=False):
    ty = f"tensor<{batch}x16x1024x64x{dtype}>"
    word = " causal" if causal else ""
    text = f"task.program @f(%q: {ty}, %k: {ty}, %v: {ty}) -> {ty} {{\n  %y = fusion.sdpa %q, %k, %v{word}\n  task.return %y\n}}\n"
    q, k, v = (torch.randn(batch, 16, 1024, 64).to(TORCH[dtype]) for _ in range(3))
    return text, lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


WORKLOADS = {f"matmul-{n}": lambda dtype, n=n: matmul(n, dtype) for n in (256, 1024, 4096)}
WORKLOADS |= {f"linear-gelu-{n}": lambda dtype, n=n: linear_gelu(n, dtype) for n in (256, 1024, 4096)}
WORKLOADS |= {f"sdpa-{b}x16x1024x64": lambda dtype, b=b: sdpa(b, dtype) for b in (1, 8)}
WORKLOADS |= {"sdpa-causal-1x16x1024x64": lambda dtype: sdpa(1, dtype, True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of names of workloads (all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tool", default=ROOT / "target/release/fuser-run", help="fuser-run (target/release/fuser-run)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.sched_setaffinity(0, range(options.threads))
    print(f"PyTorch {torch.__version__}, {options.threads} threads\n{'workload':28}{'fuser':>10}{'torch':>10}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path, report = pathlib.Path(folder) / "f.fir", pathlib.Path(folder) / "report.json"
        for name, make in WORKLOADS.items():
            for dtype in TORCH:
                if options.names and not any(part in f"{name} {dtype}" for part in options.names):
                    continue
                text, call = make(dtype)
                path.write_text(text)
                ours, theirs, count = [], [], 3
                for _ in range(options.rounds):
                    took, count = median(call, 0.3)
                    theirs.append(took)
                    command = [options.tool, path, f"--threads={options.threads}", f"--repeat={min(count, 200)}", f"--report=json:{report}"]
                    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
                    ours.append(json.loads(report.read_text())["time_ms"])
                print(f"{name + ' ' + dtype:28}{min(ours):10.3f}{min(theirs):10.3f}{min(ours) / min(theirs):8.2f}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Layers and models under `torch.compile(backend="fuser")`, beside torch's own inductor and eager, on the CPU.

    PYTHONPATH=target/python scripts/torch-beside-inductor.py [NAME ...] [--threads N] [--rounds N] [--only forward|train] [--second-process]

A row is a layer or a model, forward or training step (forward, backward, gradients dropped). Calls are timed in turns, in rounds of at least 5 ms;
a figure is the median round of the quicker half. `compile` is the time of the first call, with inductor's caches on disk off, and Fuser's. With
`--second-process` each first call is that of a process of its own, once with empty caches on disk and once with those that the process before it left. Ends with the geometric means of
ours over inductor's and the worst row. `WRONG` marks a row whose first result is farther from eager torch's than a thousandth. Tried with torch 2.15.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

if "--second-process" not in sys.argv and "--first-call" not in sys.argv:
    os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
    os.environ["FUSER_CACHE_DIR"] = ""
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from fuser.torch import backend  # noqa: E402

ROUND = 5e-3
ROWS = {}


def row(make):
    """Enters a row: a function that gives a module and its inputs."""
    ROWS[make.__name__] = make
    return make


class Of(nn.Module):
    """A function as a module, with parameters of its own."""

    def __init__(self, function, *shapes):
        super().__init__()
        self.function = function
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(s)) for s in shapes)

    def forward(self, *inputs):
        return self.function(*inputs, *self.weights)


# Layers that memory bounds.


@row
def softmax():
    return Of(lambda x: x.softmax(-1)), [torch.randn(512, 1024)]


@row
def layer_norm():
    return nn.LayerNorm(768), [torch.randn(8, 128, 768)]


@row
def rms_norm():
    return nn.RMSNorm(768), [torch.randn(8, 128, 768)]


@row
def bias_gelu():
    return Of(lambda x, b: F.gelu(x + b), (3072,)), [torch.randn(512, 3072)]


@row
def swiglu():
    return Of(lambda x: F.silu(x[..., :2048]) * x[..., 2048:]), [torch.randn(512, 4096)]


@row
def residual_norm():
    return Of(lambda x, y, w, b: F.layer_norm(x + y, (768,), w, b), (768,), (768,)), [torch.randn(8, 128, 768), torch.randn(8, 128, 768)]


@row
def batch_norm():
    return nn.Sequential(nn.BatchNorm2d(64), nn.ReLU()), [torch.randn(8, 64, 28, 28)]


@row
def group_norm():
    return nn.Sequential(nn.GroupNorm(32, 128), nn.SiLU()), [torch.randn(4, 128, 32, 32)]


@row
def cross_entropy():
    return Of(lambda x, y: F.cross_entropy(x, y)), [torch.randn(256, 8192), torch.randint(0, 8192, (256,))]


@row
def rotary():
    def rotate(q, k, cos, sin):
        turned = lambda x: torch.cat([-x[..., 32:], x[..., :32]], -1)  # noqa: E731
        return q * cos + turned(q) * sin, k * cos + turned(k) * sin

    angles = torch.randn(128, 64)
    return Of(rotate), [torch.randn(8, 12, 128, 64), torch.randn(8, 12, 128, 64), angles.cos(), angles.sin()]


@row
def masked_softmax():
    mask = torch.ones(256, 256).tril().bool()
    return Of(lambda x, m: x.masked_fill(~m, -1e9).softmax(-1)), [torch.randn(4, 8, 256, 256), mask]


# Models.


def transformers(name, config, **more):
    import transformers as t

    return getattr(t, name)(getattr(t, config)(**more)).eval()


SMALL = {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 1024}
IDS = (4, 64)


def ids(vocabulary=1000):
    return torch.randint(1, vocabulary, IDS)


@row
def mlp():
    return nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, 256)), [torch.randn(128, 256)]


@row
def encoder_layer():
    return nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True), [torch.randn(4, 64, 256)]


@row
def gpt2():
    return transformers("GPT2LMHeadModel", "GPT2Config", vocab_size=1000, n_embd=256, n_layer=2, n_head=4, use_cache=False), [ids()]


@row
def llama():
    return transformers("LlamaForCausalLM", "LlamaConfig", vocab_size=1000, num_key_value_heads=2, use_cache=False, **SMALL), [ids()]


@row
def bert():
    return transformers("BertModel", "BertConfig", vocab_size=1000, **SMALL), [ids()]


@row
def t5():
    model = transformers("T5EncoderModel", "T5Config", vocab_size=1000, d_model=256, d_ff=1024, num_layers=2, num_heads=4)
    return model, [ids()]


@row
def vit():
    return transformers("ViTModel", "ViTConfig", image_size=64, patch_size=8, **SMALL), [torch.randn(4, 3, 64, 64)]


@row
def mamba():
    return transformers("MambaModel", "MambaConfig", vocab_size=1000, hidden_size=128, num_hidden_layers=2, use_cache=False), [torch.randint(1, 1000, (2, 16))]


class Block(nn.Module):
    """A residual block of convolutions."""

    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.m, self.n = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.n(self.b(F.relu(self.m(self.a(x))))))


@row
def resnet():
    stem = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()]
    return nn.Sequential(*stem, Block(32), nn.MaxPool2d(2), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)), [torch.randn(4, 3, 32, 32)]


@row
def lstm_cell():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTMCell(64, 128)

        def forward(self, x):
            h = c = x.new_zeros(x.shape[1], 128)
            for step in x:
                h, c = self.cell(step, (h, c))
            return h

    return Net(), [torch.randn(8, 16, 64)]


@row
def mixer():
    class Mix(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(128) for _ in range(4))
            self.tokens = nn.ModuleList(nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)) for _ in range(2))
            self.channels = nn.ModuleList(nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)) for _ in range(2))

        def forward(self, x):
            for i in range(2):
                x = x + self.tokens[i](self.norms[2 * i](x).transpose(1, 2)).transpose(1, 2)
                x = x + self.channels[i](self.norms[2 * i + 1](x))
            return x

    return Mix(), [torch.randn(8, 64, 128)]


@row
def unet_block():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList([nn.GroupNorm(8, 32), nn.GroupNorm(8, 32)])
            self.convs = nn.ModuleList([nn.Conv2d(32, 32, 3, padding=1), nn.Conv2d(32, 32, 3, padding=1)])
            self.time = nn.Linear(64, 32)

        def forward(self, x, t):
            y = self.convs[0](F.silu(self.norms[0](x)))
            y = y + self.time(F.silu(t))[:, :, None, None]
            return x + self.convs[1](F.silu(self.norms[1](y)))

    return Net(), [torch.randn(4, 32, 32, 32), torch.randn(4, 64)]


def scalar(made):
    """A loss of whatever a model gives."""
    if isinstance(made, torch.Tensor):
        return made if made.dim() == 0 else made.square().mean()
    for name in ("logits", "last_hidden_state"):
        if getattr(made, name, None) is not None:
            return getattr(made, name).square().mean()
    return sum(x.square().mean() for x in made if isinstance(x, torch.Tensor))


def calls(module, inputs, train, run):
    """A function that makes one call, and gives its loss."""
    if not train:
        def forward():
            with torch.no_grad():
                return run(*inputs)

        return forward
    floats = [x for x in inputs if x.is_floating_point()]

    def step():
        loss = scalar(run(*inputs))
        loss.backward()
        for x in (*module.parameters(), *floats):
            x.grad = None
        return loss

    return step


def timed(functions, rounds):
    """Seconds a call of each, in turns."""
    counts, taken = {}, {name: [] for name in functions}
    for name, call in functions.items():
        begun, count = time.perf_counter(), 0
        while time.perf_counter() - begun < ROUND:
            call()
            count += 1
        counts[name] = count
    for _ in range(rounds):
        for name, call in functions.items():
            begun = time.perf_counter()
            for _ in range(counts[name]):
                call()
            taken[name].append((time.perf_counter() - begun) / counts[name])
    return {name: statistics.median(sorted(times)[: max(1, len(times) // 2)]) for name, times in taken.items()}


def prepared(name, train):
    """A module and its inputs."""
    torch.manual_seed(0)
    module, inputs = ROWS[name]()
    module.train(train)
    if train:
        inputs = [x.requires_grad_() if x.is_floating_point() and not list(module.parameters()) else x for x in inputs]
    return module, inputs


def measure(name, train, rounds, options):
    module, inputs = prepared(name, train)
    functions, compile_times, results = {}, {}, {}
    for kind, how in (("eager", None), ("inductor", "inductor"), ("fuser", backend)):
        torch._dynamo.reset()
        more = {"options": options} if kind == "fuser" else {}
        run = module if how is None else torch.compile(module, backend=how, **more)
        call = functions[kind] = calls(module, inputs, train, run)
        torch.manual_seed(1)
        begun = time.perf_counter()
        results[kind] = call()
        compile_times[kind] = time.perf_counter() - begun
        for _ in range(2):
            call()
    a, b = scalar(results["eager"]), scalar(results["fuser"])
    right = torch.allclose(a.float(), b.float(), rtol=1e-3, atol=1e-5)
    return timed(functions, rounds), compile_times, right


def first_call(name, mode, kind):
    """Seconds of the first call in this process, and of the same in eager torch before it, which loads what both need."""
    module, inputs = prepared(name, mode == "train")
    calls(module, inputs, mode == "train", module)()
    run = torch.compile(module, backend={"inductor": "inductor", "fuser": backend}[kind])
    call = calls(module, inputs, mode == "train", run)
    begun = time.perf_counter()
    call()
    print(time.perf_counter() - begun)


def processes(names, modes, threads):
    """First calls in processes of their own, with empty caches on disk and with full ones."""
    print("| row | | first process: inductor | fuser | ratio | second process: inductor | fuser | of its second | of its first |\n|---|---|---|---|---|---|---|---|---|")
    shares = []
    for name, mode in ((name, mode) for name in names for mode in modes):
        taken = {}
        for kind in ("inductor", "fuser"):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder, "FUSER_CACHE_DIR": folder}
                command = [sys.executable, __file__, name, "--only", mode, "--threads", str(threads), "--first-call", kind]
                runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
                taken[kind] = [float(run.stdout.split()[-1]) for run in runs]
        (cold, warm), (ours, again) = taken["inductor"], taken["fuser"]
        shares.append((ours / cold, again / warm, again / cold))
        print(f"| {name} | {mode} | {cold:.2f} | {ours:.2f} | {ours / cold:.2f} | {warm:.2f} | {again:.2f} | {again / warm:.2f} | {again / cold:.3f} |", flush=True)
    means = " | ".join(f"{geometric(column):.3f}" for column in zip(*shares))
    print(f"\ngeometric means of ours over inductor's: first process, second process, second over its first: {means}")


def geometric(values):
    values = list(values)
    return statistics.geometric_mean(values) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", choices=["forward", "train"])
    parser.add_argument("--products", choices=["torch", "fuser"], help="who computes products and convolutions in our pieces")
    parser.add_argument("--second-process", action="store_true")
    parser.add_argument("--first-call", choices=["inductor", "fuser"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.threads])
    modes = [given.only] if given.only else ["forward", "train"]
    if given.first_call:
        return first_call(given.names[0], modes[0], given.first_call)
    if given.second_process:
        return processes(given.names or ROWS, modes, given.threads)
    print(f"microseconds a call, {given.threads} threads; seconds of the first call\n")
    print("| row | | eager | inductor | fuser | fuser / inductor | compile inductor | fuser | ratio |\n|---|---|---|---|---|---|---|---|---|")
    # The first compilation of inductor's starts processes that take a core for seconds.
    torch.compile(lambda x: x + 1)(torch.ones(8)), time.sleep(20)
    ratios, compiles = {}, {}
    for name in given.names or ROWS:
        for mode in ("forward", "train"):
            if given.only not in (None, mode):
                continue
            try:
                times, first, right = measure(name, mode == "train", given.rounds, {"products": given.products} if given.products else {})
            except ImportError as error:
                print(f"skipped {name}: {error}")
                continue
            ratio, compiled = times["fuser"] / times["inductor"], first["fuser"] / first["inductor"]
            ratios[name, mode], compiles[name, mode] = ratio, compiled
            row = " | ".join(f"{times[kind] * 1e6:,.0f}" for kind in ("eager", "inductor", "fuser"))
            print(f"| {name} | {mode} | {row} | {ratio:.2f}{'' if right else ' WRONG'} | {first['inductor']:.2f} | {first['fuser']:.2f} | {compiled:.2f} |", flush=True)
    worst = max(ratios, key=ratios.get, default=None)
    if worst is None:
        sys.exit("no row ran")
    print(f"\ngeometric mean {geometric(ratios.values()):.3f}, worst {ratios[worst]:.2f} ({' '.join(worst)}), above 1.05: "
          f"{sum(r > 1.05 for r in ratios.values())} of {len(ratios)}; compile {geometric(compiles.values()):.3f}")  # fmt: skip


if __name__ == "__main__":
    main()

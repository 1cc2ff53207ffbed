"""`torch.compile(backend="fuser")` in two processes: data parallel and fully sharded training, over gloo.

Skipped as a whole, and told, where torch is not installed.
"""

import copy
import os
import socket
import sys
import unittest

try:
    import torch
except ImportError:
    print('skipped: torch not found; torch.compile(backend="fuser") in two processes is not tested', file=sys.stderr)
    sys.exit(0)

import torch.distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import fuser.torch

RANKS, STEPS, WIDTH = 2, 3, 129
RATE, EPS = 1e-2, 1e-8
#: A gradient is a sum of at most this many products of f64, whose order differs; terms are below 1 here.
TERMS = 2 * RANKS * WIDTH
#: AdamW's step is `RATE * g / (|g| + EPS)` at first: an error of a gradient grows by at most `RATE / EPS` in each step.
BOUND = STEPS * RATE / EPS * TERMS * 2.0**-53


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(3 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = torch.nn.ModuleList(Block() for _ in range(3)), torch.nn.Linear(WIDTH, 5)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def compiled_around(model):
    return torch.compile(DistributedDataParallel(model), backend="fuser")


def compiled_inside(model):
    return DistributedDataParallel(torch.compile(model, backend="fuser"))


def in_buckets(model):
    """Gradients in several buckets of 1 MiB, the least that torch takes: dynamo gives a graph for each."""
    return torch.compile(DistributedDataParallel(model, bucket_cap_mb=1), backend="fuser")


def sharded(model):
    mesh = init_device_mesh("cpu", (RANKS,))
    for block in model.blocks:
        block.compile(backend="fuser")
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(rank, wrap):
    """The greatest difference of a parameter from training in one process, and role and number of pieces of each graph."""
    before = len(fuser.torch.graphs())
    torch.manual_seed(0)
    model = Model().double()
    alone = copy.deepcopy(model)
    wrapped = wrap(model)
    steps = [torch.optim.AdamW(m.parameters(), lr=RATE, eps=EPS) for m in (wrapped, alone)]
    torch.manual_seed(1)
    for _ in range(STEPS):
        x, y = torch.randn(2 * RANKS, WIDTH).double(), torch.randn(2 * RANKS, 5).double()
        mine = slice(2 * rank, 2 * rank + 2)
        for step, m, part in zip(steps, (wrapped, alone), (mine, slice(None))):
            step.zero_grad()
            F.mse_loss(m(x[part]), y[part]).backward()
            step.step()
    difference = 0.0
    for p, expected in zip(model.parameters(), alone.parameters(), strict=True):
        whole = p.full_tensor() if hasattr(p, "full_tensor") else p
        difference = max(difference, (whole - expected).abs().max().item())
    graphs = fuser.torch.graphs()[before:]
    torch._dynamo.reset()
    return difference, [(graph.role, graph.pieces) for graph in graphs]


def work(rank, port, wraps, queue):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=RANKS)
    for wrap in wraps:
        queue.put((rank, wrap.__name__, *train(rank, wrap)))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


class TwoProcesses(unittest.TestCase):
    def test_training_is_that_of_one_process(self):
        wraps = [compiled_around, compiled_inside, in_buckets, sharded]
        queue = torch.multiprocessing.get_context("spawn").SimpleQueue()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        torch.multiprocessing.spawn(work, args=(port, wraps, queue), nprocs=RANKS)
        found = [queue.get() for _ in range(RANKS * len(wraps))]
        for rank, name, difference, graphs in found:
            with self.subTest(rank=rank, name=name):
                # A wrong gradient changes AdamW's step of 1e-2.
                self.assertLess(BOUND, RATE / 10_000)
                self.assertLess(difference, BOUND)
                roles = [role for role, _ in graphs]
                self.assertIn("forward", roles)
                self.assertEqual(roles.count("forward"), roles.count("backward"))
                self.assertTrue(all(pieces > 0 for _, pieces in graphs), graphs)
        count = {name: len(graphs) for _, name, _, graphs in found}
        self.assertGreater(count["in_buckets"], count["compiled_around"])


if __name__ == "__main__":
    unittest.main()

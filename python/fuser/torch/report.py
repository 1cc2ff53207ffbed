"""Which ops of each compiled graph ran where: `fuser.torch.graphs()`, and the lines of `FUSER_LOGS`."""

from __future__ import annotations

import atexit
import time
from collections import Counter, deque

from . import log
from .graph import CONSTANT, ITEM, TORCH, VIEW
from .lower import COMPUTE

#: Graphs that are remembered.
MOST = 4096

#: Products and convolutions: torch's own libraries compute them.
PRODUCTS = {
    "mm", "bmm", "addmm", "baddbmm", "convolution", "convolution_backward", "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention_for_cpu_backward", "grouped_mm_fallback", "grouped_mm_fallback_backward",
}  # fmt: skip

GRAPHS: deque = deque(maxlen=MOST)


class Report:
    """A compiled graph: how many nodes compute, how many of them Fuser runs, and why others stay with torch."""

    def __init__(self, role, graph, cut, call, seconds):
        self.role, self.seconds, self.source = role, seconds, getattr(call, "source", None)
        self.whole = cut is None
        self.texts = [] if cut is None else [piece.located for piece in cut.pieces]
        self.programs = [] if cut is None else [piece.program for piece in cut.pieces]
        self.pieces = len(self.texts)
        self.left = Counter()
        self.results = len(next(n for n in graph.nodes if n.op == "output").args[0])
        self.fused = self.torch = self.products = self.views = self.writes = 0
        self.in_place = 0 if cut is None else sum(len(piece.writes) for piece in cut.pieces)
        for node in graph.nodes:
            if node.op != "call_function":
                continue
            kind = TORCH if cut is None else cut.kind[node]
            name = str(node.target)
            if kind == COMPUTE:
                self.fused += 1
            elif kind in (VIEW, CONSTANT, ITEM):
                self.views += 1
            elif name.split(".")[-2:-1] and name.split(".")[-2] in PRODUCTS:
                self.products += 1
            elif name == "aten.copy_.default":
                self.writes += 1
            elif cut is None or node in cut.reasons:
                self.torch += 1
                self.left[(name, "the whole graph" if cut is None else cut.reasons[node])] += 1

    def lines(self):
        yield (f"{self.role}: {self.fused} nodes in {self.pieces} pieces, {self.torch} by torch, {self.products} products by torch, "
               f"{self.writes} writes into inputs ({self.in_place} by pieces), {self.views} views and constants, {self.seconds:.3f} s")  # fmt: skip
        for (name, reason), count in sorted(self.left.items()):
            yield f"  torch runs {name}{f' ({count} times)' if count > 1 else ''}: {reason}"

    def __str__(self):
        return "\n".join(self.lines())

    def log(self, wanted):
        if "graph" in wanted:
            log.tell("graph", "\n".join(self.lines()))
        if "segments" in wanted:
            for number, program in enumerate(self.programs):
                try:
                    log.tell("segments", f"piece {number}\n{program.segmented()}")
                except Exception as error:
                    log.tell("segments", f"piece {number}: {error}")


class Timing:
    """Times of pieces, told when the process ends."""

    _all: list = []

    def __init__(self):
        self.rows = {}
        if not Timing._all:
            atexit.register(Timing.tell)
        Timing._all.append(self)

    def timed(self, call, piece):
        row = self.rows.setdefault(piece.number, [0, 0.0, len(piece.nodes)])

        def run(*arguments):
            begun = time.perf_counter()
            made = call(*arguments)
            row[0] += 1
            row[1] += time.perf_counter() - begun
            return made

        return run

    @staticmethod
    def tell():
        for number, timing in enumerate(Timing._all):
            for piece, (calls, seconds, nodes) in timing.rows.items():
                if calls:
                    log.tell("timing", f"graph {number} piece {piece} ({nodes} nodes): {calls} calls, {seconds / calls * 1e6:.1f} us each")


def graphs():
    """Reports of the graphs compiled so far, oldest first."""
    return list(GRAPHS)

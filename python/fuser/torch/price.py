"""The price of a product: by torch's libraries (MKL, oneDNN), or by Fuser in one piece with what stands around it.

A process times two products and a convolution by both, once for each element type and number of threads, when a graph first has one: some
30 ms each for f32. These figures and the shapes of a node say who is faster. A call of torch's costs `CALL` besides. Under
`torch.use_deterministic_algorithms` torch computes all, as measured figures differ from process to process.
"""

from __future__ import annotations

import functools
import math
import time

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .. import Program
from .emit import DTYPES, FLOATS, dtype_of
from .graph import count_of, known

aten = torch.ops.aten

#: Seconds that a call of torch's takes beside its arithmetic: its dispatch, its views, and the ends of pieces before and behind it.
#: A graph of 16 products of an LSTM's cell takes 0.1 ms less with all of them in pieces (torch 2.15, AMD EPYC).
CALL = 5e-6
#: The shape of a convolution changes its rate by so much: Fuser's has to be faster by that on the one that is timed.
MARGIN = 1.25
#: Rounds at most, of which the fastest counts, and seconds after which there are no more.
ROUNDS, BUDGET = 5, 0.01
#: The rows and columns of the product that is timed, the numbers of its terms, and the extents of the image and the kernel.
ROWS_COLUMNS, TERMS, IMAGE, KERNEL = (256, 256), (16, 256), (1, 64, 28, 28), (64, 64, 3, 3)
#: Channels, below which a convolution is unlike the one that is timed.
FEW = 16
#: Places of the kernel up to which a convolution of each channel by itself is a kernel of Fuser's: 256 channels of 1,024 and 4 places take
#: 0.3 ms, torch 1.4; 96 channels of 56x56 and 9 places take 5.0 ms, torch 4.1 (torch 2.15, AMD EPYC, one thread).
FEW_PLACES = 4

#: The number of the argument whose last axis has the terms.
PRODUCTS = {
    aten.mm.default: 0, aten.bmm.default: 0, aten.mv.default: 0, aten.dot.default: 0, aten.addmm.default: 1, aten.baddbmm.default: 1,
    aten.addmv.default: 1,
}  # fmt: skip
CONVOLUTION = aten.convolution.default
_LIBRARY = "torch's library computes it"


def reason(node, threads):
    """A reason to leave an op of the rows for whole programs to torch, or nothing."""
    val, convolution = node.meta["val"], node.target is CONVOLUTION
    ours = (convolution or node.target in PRODUCTS) and val.device.type == "cpu" and DTYPES.get(val.dtype) in FLOATS
    if not ours or torch.are_deterministic_algorithms_enabled():
        return _LIBRARY
    threads = threads or torch.get_num_threads()
    if convolution:
        weight, transposed, groups = node.args[1].meta["val"].shape, node.args[6], node.args[8]
        if groups == weight[0] and weight[1] == 1 and math.prod(map(known, weight[2:])) <= FEW_PLACES:
            return None
        if groups != 1 or known(weight[0 if transposed else 1]) < FEW:
            return _LIBRARY
        ours, theirs = convolution_seconds(val.dtype, threads)
        return None if ours * MARGIN <= theirs else _LIBRARY
    results, terms = count_of(val), known(node.args[PRODUCTS[node.target]].meta["val"].shape[-1])
    ours, theirs = (results * (each + terms * term) for each, term in product_seconds(val.dtype, threads))
    return None if ours <= theirs + CALL else _LIBRARY


@functools.lru_cache(maxsize=None)
def product_seconds(dtype, threads):
    """Of Fuser and of torch: the seconds for each result, and for each term of it."""
    measured = []
    for terms in TERMS:
        rows, columns = ROWS_COLUMNS
        measured.append(_timed(dtype, threads, ((rows, terms), (terms, columns), (rows, columns)), "matmul %x, %w", torch.mm))
    results, more = math.prod(ROWS_COLUMNS), TERMS[1] - TERMS[0]
    rates = []
    for few, many in zip(*measured):
        term = max(many - few, 0.0) / more / results
        rates.append((max(few / results - TERMS[0] * term, 0.0), term))
    return rates


@functools.lru_cache(maxsize=None)
def convolution_seconds(dtype, threads):
    """The seconds of a convolution by Fuser and by torch."""
    op = "convolution %x, %w low [1, 1] high [1, 1]"
    return _timed(dtype, threads, (IMAGE, KERNEL, IMAGE), op, functools.partial(torch.conv2d, padding=1))


def _timed(dtype, threads, shapes, op, theirs):
    """The seconds of an op of two tensors by Fuser and by torch, outside of the modes that trace a graph."""
    x, w, y = (f"tensor<{'x'.join(map(str, shape))}x{dtype_of(dtype)}>" for shape in shapes)
    text = f"task.program @price(%x: {x}, %w: {w}) -> {y} {{\n  %y = fusion.{op}\n  task.return %y\n}}\n"
    with _disable_current_modes(), torch.no_grad():
        inputs = [torch.full(shape, 0.5, dtype=dtype) for shape in shapes[:2]]
        ours = Program.parse(text).compile(threads=threads)
        return fastest([lambda: ours(*inputs), lambda: theirs(*inputs)])


def fastest(calls):
    """Seconds of each call, in turns; the first round loads code and memory."""
    best, spent = [math.inf] * len(calls), 0.0
    for number in range(ROUNDS + 1):
        for i, call in enumerate(calls):
            begun = time.perf_counter()
            call()
            taken = time.perf_counter() - begun
            best[i] = min(best[i], taken) if number else best[i]
            spent += taken
        if number and spent > BUDGET:
            break
    return best

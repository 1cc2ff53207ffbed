"""Tensors of floats of 4 bits, two in a byte of PyTorch's. Arrays of Fuser have none: they go in and come out as floats of 8 bits."""

from __future__ import annotations

import math

import torch

# The floats of 4 bits in the order of their codes, as floats of 8 bits, and the codes of those.
_MAGNITUDES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
_WIDE = torch.tensor([*_MAGNITUDES, *(-x for x in _MAGNITUDES)]).to(torch.float8_e4m3fn).view(torch.uint8)
_CODES = torch.zeros(256, dtype=torch.uint8).index_put((_WIDE.int(),), torch.arange(16, dtype=torch.uint8))


def innermost(tensor: torch.Tensor) -> int:
    """The axis along which the elements of a byte lie."""
    return min(reversed(range(tensor.ndim)), key=lambda axis: tensor.stride(axis) or math.inf)


def widened(pairs: torch.Tensor) -> torch.Tensor:
    """The elements of a tensor of pairs, one by one; the lower bits are the first of a pair."""
    axis = innermost(pairs)
    codes = pairs.view(torch.uint8).movedim(axis, -1)
    elements = torch.stack([codes & 15, codes >> 4], -1).flatten(-2)
    return _WIDE[elements.int()].view(torch.float8_e4m3fn).movedim(-1, axis)


def packed(elements: torch.Tensor) -> torch.Tensor:
    """The tensor of pairs of such elements."""
    axis = innermost(elements)
    codes = _CODES[elements.view(torch.uint8).int()].movedim(axis, -1)
    pairs = codes[..., ::2] | codes[..., 1::2] << 4
    return pairs.movedim(-1, axis).view(torch.float4_e2m1fn_x2)

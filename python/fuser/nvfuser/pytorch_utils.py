"""Types of PyTorch as those of nvFuser."""

from __future__ import annotations

from typing import Any

from .types import OF_TORCH, DataType


def torch_dtype_to_nvfuser_dtype(dtype: Any) -> DataType:
    """The type of nvFuser for one of PyTorch or of Python's numbers."""
    return OF_TORCH[dtype]


def python_scalar_to_nvfuser_dtype(number: Any) -> DataType:
    """The type of nvFuser for a number of Python's."""
    return OF_TORCH[type(number)]

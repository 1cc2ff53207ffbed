"""Element types of nvFuser, beside those of PyTorch."""

from __future__ import annotations

import enum

import torch


class DataType(enum.Enum):
    """An element type, by its name in nvFuser."""

    Double = enum.auto()
    Float = enum.auto()
    Half = enum.auto()
    Int = enum.auto()
    Int32 = enum.auto()
    UInt64 = enum.auto()
    Index = enum.auto()
    Bool = enum.auto()
    BFloat16 = enum.auto()
    Float8_e4m3fn = enum.auto()
    Float8_e5m2 = enum.auto()
    Float8_e8m0fnu = enum.auto()
    Float4_e2m1fn = enum.auto()
    Float4_e2m1fn_x2 = enum.auto()
    ComplexFloat = enum.auto()
    ComplexDouble = enum.auto()
    Null = enum.auto()

    def __str__(self) -> str:
        return f"DataType.{self.name}"


# The types of PyTorch, and of Python's numbers.
OF_TORCH = {
    torch.float64: DataType.Double,
    torch.float32: DataType.Float,
    torch.float16: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
    torch.float8_e4m3fn: DataType.Float8_e4m3fn,
    torch.float8_e5m2: DataType.Float8_e5m2,
    torch.float8_e8m0fnu: DataType.Float8_e8m0fnu,
    torch.float4_e2m1fn_x2: DataType.Float4_e2m1fn_x2,
    torch.int64: DataType.Int,
    torch.int32: DataType.Int32,
    torch.uint64: DataType.UInt64,
    torch.bool: DataType.Bool,
    torch.complex64: DataType.ComplexFloat,
    torch.complex128: DataType.ComplexDouble,
    float: DataType.Double,
    int: DataType.Int,
    bool: DataType.Bool,
    complex: DataType.ComplexDouble,
}

# The name that Fuser prints for an element type.
OF_FUSER = {
    "f64": DataType.Double,
    "f32": DataType.Float,
    "f16": DataType.Half,
    "bf16": DataType.BFloat16,
    "f8E4M3FN": DataType.Float8_e4m3fn,
    "f8E5M2": DataType.Float8_e5m2,
    "f8E8M0FNU": DataType.Float8_e8m0fnu,
    "f4E2M1FN": DataType.Float4_e2m1fn,
    "i64": DataType.Int,
    "i32": DataType.Int32,
    "ui64": DataType.UInt64,
    "index": DataType.Index,
    "i1": DataType.Bool,
    "c64": DataType.ComplexFloat,
    "c128": DataType.ComplexDouble,
}

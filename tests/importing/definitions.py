"""Definitions in the form that nvFuser prints, with inputs and the results that PyTorch computes: the texts of `nvfuser/`.

    python definitions.py FOLDER

A definition is run with a fusion definition of our own, whose ops are PyTorch's, operands brought to types as nvFuser documents it. Needs
PyTorch; the tests need the texts only.
"""

import re
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fuzzing/evaluator"))
from randoms import block  # noqa: E402

HEAD = "def nvfuser_fusion_id{n}(fd : FusionDefinition) -> None :\n"
TEXTS = {
    "softmax": (
        [(3, 5)],
        """
T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False, stride_order=[1, 0])
T1 = fd.ops.max(T0, dims=[1], keepdim=False, dtype=DataType.Null)
T2 = fd.ops.broadcast(T1, is_broadcast_dim=[False, True])
S3 = fd.ops.size(T0, dim=0)
S4 = fd.ops.size(T0, dim=1)
T5 = fd.ops.broadcast_in_dim(T2, shape=[S3, S4], broadcast_dims=[0, 1])
T6 = fd.ops.sub(T0, T5)
T7 = fd.ops.exp(T6)
T8 = fd.ops.sum(T7, dims=[-1], keepdim=True, dtype=DataType.Null)
T9 = fd.ops.div(T7, T8)
fd.add_output(T9)
""",
    ),
    "layer_norm_half": (
        [((4, 6), "half"), ((6,), "half")],
        """
T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half, is_cpu=False)
T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Half, is_cpu=False)
T2 = fd.ops.cast(T0, dtype=DataType.Float)
T3, T4 = fd.ops.var_mean(T2, dims=[1], correction=0, keepdim=True)
S5 = fd.define_scalar(1.00000e-05, dtype=DataType.Double)
T6 = fd.ops.add(T3, S5)
T7 = fd.ops.rsqrt(T6)
T8 = fd.ops.sub(T0, T4)
T9 = fd.ops.mul(T8, T7)
T10 = fd.ops.broadcast_in_dim(T1, shape=T0.shape(), broadcast_dims=[1])
T11 = fd.ops.mul(T9, T10)
T12 = fd.ops.cast(T11, dtype=DataType.Half)
fd.add_output(T12)
fd.add_output(T8)
""",
    ),
    "promotion": (
        [((2, 3), "bfloat16"), ((2, 3), "int32"), ((2, 3), "bool"), ((), "float32")],
        """
tv0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.BFloat16)
tv1 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Int32)
tv2 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Bool)
tv3 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float)
tv4 = fd.ops.add(tv0, tv1)
tv5 = fd.ops.mul(tv1, 2)
tv6 = fd.ops.mul(tv1, 0.5)
tv7 = fd.ops.where(tv2, tv0, 0.0)
tv8 = fd.ops.add(tv2, 1)
tv9 = fd.ops.exp(tv1)
tv10 = fd.ops.relu(tv0)
tv11 = fd.ops.mul(tv0, tv3)
tv12 = fd.ops.truediv(tv1, 4)
tv13 = fd.ops.sum(tv1, dims=[0])
tv14 = fd.ops.neg(tv0)
tv15 = fd.ops.gt(tv0, tv1)
fd.add_output(tv4)
fd.add_output(tv5)
fd.add_output(tv6)
fd.add_output(tv7)
fd.add_output(tv8)
fd.add_output(tv9)
fd.add_output(tv10)
fd.add_output(tv11)
fd.add_output(tv12)
fd.add_output(tv13)
fd.add_output(tv14)
fd.add_output(tv15)
""",
    ),
    "shapes": (
        [(4, 6)],
        """
T0 = fd.define_tensor(shape=[4, 6], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.ops.reshape(T0, new_shape=[2, 2, -1])
T2 = fd.ops.permute(T1, dims=[2, 0, 1])
T3 = fd.ops.slice(T0, start_indices=[0, 2], end_indices=[3, 9223372036854775807], strides=[1, 1])
T4 = fd.ops.slice(T0, start_indices=[1, 0], end_indices=[4, 4])
T5 = fd.ops.cat([T3, T4], dim=-1)
S6 = fd.define_scalar(2.50000, dtype=DataType.Double)
T7 = fd.ops.pad(T3, [1, 0, 0, 2], S6)
T8 = fd.ops.squeeze(fd.ops.sum(T0, dims=[1], keepdim=True), dims=[1])
T9 = fd.ops.expand(fd.ops.broadcast(T8, is_broadcast_dim=[False, True]), shape=[-1, 3])
T10 = fd.ops.triu(T0, diagonal=1)
fd.add_output(T2)
fd.add_output(T5)
fd.add_output(T7)
fd.add_output(T9)
fd.add_output(T10)
""",
    ),
    "indexing": (
        [(5, 3), ((2,), "int64"), ((2, 3), "int64")],
        """
T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
T2 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int)
T3 = fd.ops.index_select(T0, T1, dim=0)
T4 = fd.ops.take_along_axis(T0, T2, dim=0)
S5 = fd.define_scalar(1, dtype=DataType.Int)
T6 = fd.ops.select(T0, S5, dim=1)
T7 = fd.ops.embedding_fwd(T1, T0)
T8 = fd.ops.iota(4, 3, 2, DataType.Int)
T9 = fd.ops.full(shape=[2, 2], fill_value=7, dtype=DataType.Float)
T10 = fd.ops.cumsum(T0, dim=0)
fd.add_output(T3)
fd.add_output(T4)
fd.add_output(T6)
fd.add_output(T7)
fd.add_output(T8)
fd.add_output(T9)
fd.add_output(T10)
""",
    ),
    "elementwise": (
        [(2, 5), (2, 5)],
        """
T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
T2 = fd.ops.lerp(T0, T1, 0.25)
T3 = fd.ops.addcmul(T0, T1, T1, value=0.5)
T4 = fd.ops.clamp(T0, -1.0, 1.0)
T5 = fd.ops.threshold(T0, 0.5, 3.0)
T6 = fd.ops.frac(T0)
T7 = fd.ops.silu(T0)
T8 = fd.ops.sigmoid(T0)
T9 = fd.ops.erf(T0)
T10 = fd.ops.remainder(T0, 0.75)
T11 = fd.ops.fmod(T0, 0.75)
T12 = fd.ops.isinf(T0)
T13 = fd.ops.logical_and(T0, T1)
T14 = fd.ops.atan2(T0, T1)
T15 = fd.ops.maximum(T0, T1)
T16 = fd.ops.round(T0)
T17 = fd.ops.sign(T0)
T18 = fd.ops.pow(T0, 3)
T19 = fd.ops.var(T0, dims=[1], correction=1, keepdim=False)
fd.add_output(T2)
fd.add_output(T3)
fd.add_output(T4)
fd.add_output(T5)
fd.add_output(T6)
fd.add_output(T7)
fd.add_output(T8)
fd.add_output(T9)
fd.add_output(T10)
fd.add_output(T11)
fd.add_output(T12)
fd.add_output(T13)
fd.add_output(T14)
fd.add_output(T15)
fd.add_output(T16)
fd.add_output(T17)
fd.add_output(T18)
fd.add_output(T19)
""",
    ),
    "integers": (
        [((6,), "int64"), ((6,), "int64")],
        """
T0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
T2 = fd.ops.bitwise_and(T0, T1)
T3 = fd.ops.bitwise_left_shift(T0, 2)
T4 = fd.ops.gcd(T0, T1)
T5 = fd.ops.div(T0, T1)
T6 = fd.ops.remainder(T0, T1)
T7 = fd.ops.bitwise_not(T0)
T8 = fd.ops.eq(T0, T1)
T9 = fd.ops.prod(T8, dims=[0])
fd.add_output(T2)
fd.add_output(T3)
fd.add_output(T4)
fd.add_output(T5)
fd.add_output(T6)
fd.add_output(T7)
fd.add_output(T9)
""",
    ),
    "linear_gelu": (
        [(3, 4), (5, 4), (5,)],
        """
tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
tv1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
tv2 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
tv3 = fd.ops.linear(tv0, tv1, tv2)
c4 = fd.define_scalar(0.70710678, dtype=DataType.Double)
tv5 = fd.ops.mul(tv3, c4)
tv6 = fd.ops.erf(tv5)
tv7 = fd.ops.add(1.0, tv6)
tv8 = fd.ops.mul(tv3, 0.5)
tv9 = fd.ops.mul(tv8, tv7)
tv10 = fd.ops.permute(tv1, dims=[1, 0])
tv11 = fd.ops.matmul(tv0, tv10)
fd.add_output(tv9)
fd.add_output(tv11)
""",
    ),
    "update": (
        [(3,), (3,), (1,)],
        """
T0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
T2 = fd.define_tensor(shape=[1], contiguity=[None], dtype=DataType.Float)
T3 = fd.ops.mul(T1, T2)
T4 = fd.ops.sub(T0, T3)
T5 = fd.ops.set(T4)
fd.add_output(T5, alias_input=T0)
""",
    ),
    "sorting": (
        [(4, 6), (4, 6)],
        """
T0 = fd.define_tensor(shape=[4, 6], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
T3 = fd.ops.argsort(T0, dim=1, descending=True, stable=True)
T4 = fd.ops.argsort(T0, dim=-2, descending=False, stable=True)
T5, T6 = fd.ops.topk(T0, 2, dim=-1, largest=True, sorted=True)
T7, T8 = fd.ops.topk(T0, 3, dim=0, largest=False, sorted=True)
T9 = fd.ops.take_along_axis(T0, T6, dim=1)
T10 = fd.ops.scatter(T0, T3, T1, dim=1)
T14 = fd.ops.index_select(T0, fd.ops.iota(2, 1, 2, DataType.Int), dim=0)
fd.add_output(T3)
fd.add_output(T4)
fd.add_output(T5)
fd.add_output(T7)
fd.add_output(T9)
fd.add_output(T10)
fd.add_output(T14)
""",
    ),
    "grouped": (
        [(5, 3), (3, 3, 4), (3, 2, 3), (3, 5), (2, 5), (5, 4)],
        """
T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
T1 = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.Float, is_cpu=False)
T2 = fd.define_tensor(shape=[3, -1, -1], contiguity=[True, True, True], dtype=DataType.Float, is_cpu=False)
T3 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
T4 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
T5 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
T6 = fd.ops.iota(3, 1, 2, DataType.Int32)
T7 = fd.ops.grouped_mm(T0, T1, T6)
T8 = fd.ops.grouped_mm(T2, T3, T6)
T9 = fd.ops.grouped_mm(T4, T5, T6)
fd.add_output(T7)
fd.add_output(T8)
fd.add_output(T9)
""",
    ),
    "scaled": (
        [((5, 3), "float8_e4m3fn"), ((3, 3, 5), "float8_e4m3fn"), (5, 1), (3, 1, 5), ((5, 5), "float8_e4m3fn"), (3, 3, 1), (1, 5), (), (5,)],
        """
T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float8_e4m3fn, is_cpu=False)
T1 = fd.define_tensor(shape=[3, 3, 5], contiguity=[True, True, True], dtype=DataType.Float8_e4m3fn, is_cpu=False)
T2 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, is_cpu=False)
T3 = fd.define_tensor(shape=[3, 1, 5], contiguity=[True, None, True], dtype=DataType.Float, is_cpu=False)
T4 = fd.define_tensor(shape=[5, 5], contiguity=[True, True], dtype=DataType.Float8_e4m3fn, is_cpu=False)
T5 = fd.define_tensor(shape=[3, 3, 1], contiguity=[True, True, None], dtype=DataType.Float, is_cpu=False)
T6 = fd.define_tensor(shape=[1, 5], contiguity=[None, True], dtype=DataType.Float, is_cpu=False)
T7 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float, is_cpu=False)
T8 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
T9 = fd.ops.iota(3, 1, 2, DataType.Int32)
T10, T11, T12 = fd.ops.grouped_mm(T0, T1, T9, T2, T3)
T13, T14, T15 = fd.ops.grouped_mm(T1, T4, T9, T5, T6, dtype=DataType.Float)
T16 = fd.ops.permute(T0, dims=[1, 0])
T17 = fd.ops.permute(T5, dims=[0, 2, 1])
T18, T19, T20 = fd.ops.grouped_mm(T16, T0, T9, scale1=T5, scale2=T17, alpha=T7, dtype=DataType.Float)
T21, T22, T23 = fd.ops.scaled_mm(T0, T16, T2, T6, T7, T8, T7)
fd.add_output(T10)
fd.add_output(T13)
fd.add_output(T18)
fd.add_output(T21)
""",
    ),
    "ranks": (
        [(3, 2, 4), (2, 4), ((4,), "int32")],
        """
T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
T2 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int32)
T3 = fd.ops.sub(T1, T0)
T4 = fd.ops.mul(T3, T2)
T5 = fd.ops.add(T2, T1)
T6 = fd.ops.isinf(T2)
fd.add_output(T4)
fd.add_output(T5)
fd.add_output(T6)
""",
    ),
    "masked": (
        [((2, 3, 5, 4), "float32"), ((2, 3, 6, 4), "float32"), ((2, 1, 5, 6), "float32"), ((3, 1, 6), "bool"), ((1, 6), "bool")],
        """
T0 = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=[True, True, True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=[True, True, True, True], dtype=DataType.Float)
T2 = fd.define_tensor(shape=[-1, 1, -1, -1], contiguity=[True, None, True, True], dtype=DataType.Float)
T3 = fd.define_tensor(shape=[-1, 1, -1], contiguity=[True, None, True], dtype=DataType.Bool)
T4 = fd.define_tensor(shape=[1, -1], contiguity=[None, True], dtype=DataType.Bool)
T5, T6, T7, T8 = fd.ops.sdpfa_fwd(T0, T1, T1, T2, T3)
T9, T10, T11, T12 = fd.ops.sdpfa_fwd(T0, T1, T1, mask=T4, scale=0.5)
T13 = fd.ops.pad(T0, [-1, 2, 0, -2, -1, -1], 3.0)
T14 = fd.ops.pad(T1, [0, 0, -1, -1])
fd.add_output(T5)
fd.add_output(T6)
fd.add_output(T9)
fd.add_output(T13)
fd.add_output(T14)
""",
    ),
    "block_scales": (
        [(37, 80), (3, 80), (), ()],
        """
T0 = fd.define_tensor(shape=[37, 80], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[3, 80], contiguity=[True, True], dtype=DataType.Float)
T2 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float)
T3 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float)
T17 = fd.ops.mul(fd.ops.abs(T2), 100.0)
T18 = fd.ops.mul(fd.ops.abs(T3), 100.0)
T4, T5 = fd.ops.nv_block_quantize(T0, T17, True, 16)
T6, T7 = fd.ops.nv_block_quantize(T1, T18, True, 16)
T8 = fd.ops.permute(T6, dims=[1, 0])
T9, T10, T11 = fd.ops.scaled_mm(T4, T8, T5, T7, dtype=DataType.Float)
T12, T13 = fd.ops.nv_block_quantize(T1, T18)
T14, T15, T16 = fd.ops.scaled_mm(T4, T8, T5, T7, T2, dtype=DataType.BFloat16)
fd.add_output(T5)
fd.add_output(T9)
fd.add_output(T13)
fd.add_output(T14)
""",
    ),
    "rows": (
        [(5, 3), ((2, 4), "int64"), (3, 2, 4), ((2, 1, 4), "int64"), (2, 1, 4), ((), "float32"), ((1, 2, 1), "int64"), ((2, 3), "bool"), ((2, 3), "int32")],
        """
T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int)
T2 = fd.define_tensor(shape=[3, 2, 4], contiguity=[True, True, True], dtype=DataType.Float)
T3 = fd.define_tensor(shape=[2, 1, 4], contiguity=[True, None, True], dtype=DataType.Int)
T4 = fd.define_tensor(shape=[2, 1, 4], contiguity=[True, None, True], dtype=DataType.Float)
T5 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float)
T6 = fd.define_tensor(shape=[1, 2, 1], contiguity=[None, True, None], dtype=DataType.Int)
T7 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Bool)
T8 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int32)
T9 = fd.ops.embedding_fwd(T1, T0, None, 1.5, None, None, None)
T10 = fd.ops.embedding_fwd(T1, T0, -2, 2.0, 1.0, False, False)
T11 = fd.ops.embedding_fwd(T1, T0, None, max_norm=1.0, norm_type=float("inf"))
T12 = fd.ops.embedding_fwd(T1, T0, None, T5, 3.0)
T13 = fd.ops.scatter(T2, T3, T4, 0)
T14 = fd.ops.scatter(T2, T3, 0.5, 0)
T15 = fd.ops.scatter(T2, T6, T2, dim=2)
T16 = fd.ops.take_along_axis(T2, T3, dim=0)
T17 = fd.ops.take_along_axis(T4, T6, dim=2)
T18 = fd.ops.argsort(T5, dim=0, descending=True, stable=True)
T19 = fd.ops.add(T7, T7)
T20 = fd.ops.mul(T7, fd.ops.logical_not(T7))
T21 = fd.ops.abs(T7)
T22 = fd.ops.ceil(T8)
T23 = fd.ops.broadcast(T2, is_broadcast_dim=[False, True, False, False])
T24 = fd.ops.matmul(T23, fd.ops.permute(T4, [0, 2, 1]))
fd.add_output(T9)
fd.add_output(T10)
fd.add_output(T11)
fd.add_output(T12)
fd.add_output(T13)
fd.add_output(T14)
fd.add_output(T15)
fd.add_output(T16)
fd.add_output(T17)
fd.add_output(T18)
fd.add_output(T19)
fd.add_output(T20)
fd.add_output(T21)
fd.add_output(T22)
fd.add_output(T24)
""",
    ),
    "dropout": (
        [(2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 4), (2, 3, 5, 4), (5, 7)],
        """
T0 = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=[True, True, True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=[True, True, True, True], dtype=DataType.Float)
T2 = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=[True, True, True, True], dtype=DataType.Float)
T3 = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=[True, True, True, True], dtype=DataType.Float)
T4 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
T5, T6, T7, T8 = fd.ops.sdpfa_fwd(T0, T1, T2, dropout_p=0.3, is_causal=True, scale=None)
T9, T10, T11 = fd.ops.sdpfa_bwd(T3, T0, T1, T2, T5, T6, 0.3, True, T7, T8, None)
T12, T13, T14, T15 = fd.ops.sdpfa_fwd(T0, T1, T2, bias=T4, dropout_p=0.5, scale=0.25)
fd.add_output(T5)
fd.add_output(T6)
fd.add_output(T7)
fd.add_output(T9)
fd.add_output(T10)
fd.add_output(T11)
fd.add_output(T12)
""",
    ),
    "grouped_blocks": (
        [(6, 32), (15, 32), (3,)],
        """
T0 = fd.define_tensor(shape=[6, 32], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[15, 32], contiguity=[True, True], dtype=DataType.Float)
T2 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
T3 = fd.ops.iota(3, 0, 2, DataType.Int32)
T4 = fd.ops.iota(3, 0, 128, DataType.Int32)
T5 = fd.ops.iota(3, 0, 5, DataType.Int32)
T6, T7 = fd.ops.nv_grouped_block_quantize(T0, T3, T4)
T8, T9 = fd.ops.nv_block_quantize(T1)
T10 = fd.ops.preprocess_grouped_matmul_input_sf(T9, T5, T4)
T11 = fd.ops.reshape(T10, new_shape=[3, 128, 4])
T12 = fd.ops.permute(fd.ops.reshape(T8, new_shape=[3, 5, 32]), dims=[0, 2, 1])
T13 = fd.ops.cutlass_nvfp4_grouped_mm(T6, T12, T7, T11, T2, None, T3, T4, DataType.Float)
T14 = fd.ops.cutlass_nvfp4_grouped_mm(T6, T12, T7, T11, T2, None, T3, T4, DataType.BFloat16)
fd.add_output(T13)
fd.add_output(T14)
""",
    ),
    "scale_rounding": (
        [(4, 64), (4, 64)],
        """
T0 = fd.define_tensor(shape=[4, 64], contiguity=[True, True], dtype=DataType.Float)
T1 = fd.define_tensor(shape=[4, 64], contiguity=[True, True], dtype=DataType.Float)
T2 = fd.ops.mul(fd.ops.mul(T0, T1), 0.0078125)
T8 = fd.ops.mul(T0, 0.0009765625)
T9, T10 = fd.ops.nv_block_quantize(T8)
T3, T4 = fd.ops.nv_block_quantize(T2)
T5, T6 = fd.ops.nv_block_quantize(T2, None, False, 32, DataType.Float8_e4m3fn)
T7 = fd.ops.mul(T0, 5.877471754111438e-39)
fd.add_output(fd.ops.cast(T3, dtype=DataType.Float))
fd.add_output(fd.ops.cast(T9, dtype=DataType.Float))
fd.add_output(T10)
fd.add_output(T4)
fd.add_output(T5)
fd.add_output(T6)
fd.add_output(fd.ops.cast(T0, dtype=DataType.Float8_e8m0fnu))
fd.add_output(fd.ops.cast(T7, dtype=DataType.Float8_e8m0fnu))
fd.add_output(fd.ops.cast(fd.ops.cast(T0, dtype=DataType.Half), dtype=DataType.Float8_e8m0fnu))
fd.add_output(fd.ops.cast(fd.ops.cast(T0, dtype=DataType.Double), dtype=DataType.Float8_e8m0fnu))
fd.add_output(fd.ops.cast(fd.ops.cast(T0, dtype=DataType.BFloat16), dtype=DataType.Float8_e8m0fnu))
""",
    ),
}


class DataType:
    Float8_e4m3fn, Float8_e5m2, Float8_e8m0fnu = torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu
    Double, Float, Half, BFloat16, Int, Int32, Bool, Null = (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool, None,
    )


def wide(x):
    return x.float() if torch.is_tensor(x) and x.dtype in (torch.float16, torch.bfloat16) else x


class Ops:
    """PyTorch's ops under nvFuser's names; 16-bit floats are computed in f32 and stay so, but for ops that keep types."""

    KEEP = {"cast", "relu", "silu", "round", "where", "cat", "permute", "slice", "reshape", "set"}

    def __getattr__(self, name):
        f = getattr(self, "_" + name) if "_" + name in vars(Ops) else getattr(torch, name)
        return f if name in self.KEEP else lambda *a, **k: f(*(wide(x) for x in a), **k)

    def _reduce(self, f, x, dims=None, keepdim=False, dtype=None):
        dims = list(range(x.ndim)) if dims is None else dims
        for d in sorted((d % x.ndim for d in dims), reverse=True):
            x = f(x, d)
            x = x.unsqueeze(d) if keepdim else x
        return x

    def _sum(self, x, **k): return self._reduce(lambda x, d: x.sum(d), x, **k)
    def _prod(self, x, **k): return self._reduce(lambda x, d: x.prod(d), x, **k)
    def _max(self, x, **k): return self._reduce(lambda x, d: x.amax(d), x, **k)
    def _cast(self, x, dtype): return scale_of(x) if dtype == torch.float8_e8m0fnu else x.to(dtype)
    def _set(self, x): return x.clone()
    def _sub(self, a, b): return a - b
    def _add(self, a, b): return a + b
    def _mul(self, a, b): return a * b
    def _div(self, a, b): return torch.div(a, b, rounding_mode=None if a.is_floating_point() else "trunc")
    def _truediv(self, a, b): return a / b
    def _size(self, x, dim): return x.shape[dim]
    def _relu(self, x): return x.clamp(min=0)
    def _silu(self, x): return torch.nn.functional.silu(x)
    def _var_mean(self, x, dims, correction=1, keepdim=False): return torch.var_mean(x, dims, correction=correction, keepdim=keepdim)
    def _var(self, x, dims, correction=1, keepdim=False): return torch.var(x, dims, correction=correction, keepdim=keepdim)
    def _broadcast(self, x, is_broadcast_dim):
        for d, new in enumerate(is_broadcast_dim):
            x = x.unsqueeze(d) if new else x
        return x
    def _broadcast_in_dim(self, x, shape, broadcast_dims):
        for d in range(len(shape)):
            x = x if d in broadcast_dims else x.unsqueeze(d)
        return x.expand(shape)
    def _reshape(self, x, new_shape): return x.reshape(new_shape)
    def _permute(self, x, dims): return x.permute(dims)
    def _slice(self, x, start_indices, end_indices, strides=None): return x[tuple(slice(a, b) for a, b in zip(start_indices, end_indices))]
    def _pad(self, x, widths, value=0): return torch.nn.functional.pad(x, widths, value=value)
    def _squeeze(self, x, dims): return x.squeeze(tuple(dims))
    def _expand(self, x, shape): return x.expand(shape)
    def _index_select(self, x, i, dim): return x.index_select(dim, i)
    def _take_along_axis(self, x, i, dim): return torch.take_along_dim(x, i, dim)
    def _ceil(self, x): return x.ceil() if x.is_floating_point() else x
    def _abs(self, x): return x if x.dtype == torch.bool else x.abs()
    def _select(self, x, i, dim): return x.select(dim, i)
    def _embedding_fwd(self, i, w, padding=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
        if max_norm is None:
            return w[i]
        norm = w.double().norm(2.0 if norm_type is None else norm_type, 1).float()
        limit = torch.as_tensor(max_norm).float()
        return (w * torch.where(norm > limit, limit / (norm + 1e-7), 1.0)[:, None])[i]
    def _argsort(self, x, dim, descending=False, stable=False): return torch.argsort(x, dim=dim, descending=descending, stable=stable)
    def _topk(self, x, k, dim=-1, largest=True, sorted=False): return torch.topk(x, k, dim, largest, sorted)
    def _scatter(self, x, i, src, dim): return x.scatter(dim, i, src)
    def _iota(self, n, start, step, dtype): return torch.arange(n, dtype=dtype) * step + start
    def _full(self, shape, fill_value, dtype): return torch.full(shape, fill_value, dtype=dtype)
    def _threshold(self, x, t, v): return torch.where(x <= t, v, x)
    def _where(self, c, x, y): return torch.where(c, x, y)
    def _linear(self, x, w, b): return torch.nn.functional.linear(x, w, b)
    def _addcmul(self, x, a, b, value): return x + value * a * b
    def _grouped_mm(self, a, b, ends, scale1=None, scale2=None, alpha=1, bias=0, beta=1, dtype=torch.bfloat16):
        sizes = ends.diff(prepend=torch.zeros(1, dtype=ends.dtype)).tolist()
        scales = (1, 1) if scale1 is None else (scale1.double(), scale2.double())
        x, y = a.double(), b.double()
        if (a.ndim, b.ndim) == (2, 2):
            out = torch.stack([p @ q for p, q in zip(x.split(sizes, 1), y.split(sizes, 0))]) * scales[0] * scales[1]
        else:
            x, y, axis = x * scales[0], y * scales[1], int(a.ndim == 3)
            parts = zip(x, y.split(sizes, 1)) if axis else zip(x.split(sizes, 0), y)
            out = torch.cat([p @ q for p, q in parts], axis)
        return out.to(a.dtype) if scale1 is None else ((alpha * out + beta * bias).to(dtype), None, None)
    draws = 0
    def sdpfa_fwd(self, q, k, v, bias=0.0, mask=True, dropout_p=0.0, is_causal=False, scale=None):
        scores = scored(q, k, is_causal, scale) + bias + torch.where(torch.as_tensor(mask), 0.0, -torch.inf)
        state = torch.tensor([SEED, OFFSET + Ops.draws])
        parts = scores.softmax(-1) * kept(scores.shape, dropout_p, state)
        Ops.draws += dropout_p != 0
        return (parts @ v.double()).to(q.dtype), scores.logsumexp(-1).to(q.dtype), state, None
    def sdpfa_bwd(self, grad, q, k, v, out, lse, dropout_p, is_causal, state, offset, scale):
        inputs = [x.double().requires_grad_() for x in (q, k, v)]
        scores = scored(*inputs[:2], is_causal, scale)
        made = (scores.softmax(-1) * kept(scores.shape, dropout_p, state)) @ inputs[2]
        made.backward(grad.double())
        return tuple(x.grad.to(q.dtype) for x in inputs)
    def _scaled_mm(self, a, b, s, t, alpha=1.0, bias=None, beta=1.0, dtype=torch.bfloat16):
        a, b, blocks = a.double(), b.double(), s.dtype == torch.float8_e4m3fn and s.shape[1] > 1
        s, t = (plain(x, n.shape[0], 16) for x, n in ((s, a), (t, b.T))) if blocks else (s, t)
        out = alpha * ((a * s) @ (b * (t.T if blocks else t)))
        return (out if bias is None else out + beta * bias).to(dtype), None, None
    def _nv_block_quantize(self, x, scale=1.0, turned=False, size=16, dtype=None):
        blocks = x.reshape(x.shape[0], -1, size)
        if dtype == torch.float8_e4m3fn:
            values, scales = in_8_bits(blocks)
            return values.reshape(x.shape), scales
        values, scales = in_4_bits(blocks, scale)
        return values.reshape(x.shape), tiles(scales) if turned else scales
    def _nv_grouped_block_quantize(self, x, starts, places):
        values, scales = self._nv_block_quantize(x)
        return values, self._preprocess_grouped_matmul_input_sf(scales, starts, places)
    def _preprocess_grouped_matmul_input_sf(self, x, starts, places):
        return torch.cat([tiles(part) for part in x.tensor_split(starts[1:].long())])
    def _cutlass_nvfp4_grouped_mm(self, a, b, s, t, alpha, sizes, starts, places, dtype):
        return scaled_by_groups(a, b, s, t, alpha, starts, places).to(dtype)


def rounded_up(x):
    """The biased exponents of the least powers of two that are not below numbers (`cvt.rp.satfinite.ue8m0x2.f32`); 2^-127 is the least."""
    bits = x.view(torch.int32) & 0x7fffffff
    return torch.where(x.isnan(), 255, torch.where(bits > 1 << 22, bits + 0x7fffff >> 23, 0).clamp(max=254))


def scale_of(x):
    """Powers of two in `float8_e8m0fnu`: rounded up, of `bfloat16` down (`cvt.rz.satfinite.ue8m0x2.bf16x2`)."""
    exponents = (x.float().view(torch.int32) & 0x7fffffff) >> 23 if x.dtype == torch.bfloat16 else rounded_up(x.float())
    return exponents.to(torch.uint8).view(torch.float8_e8m0fnu)


def in_8_bits(blocks):
    """Blocks in `float8_e4m3fn`, and their scales; elements of the least scale stay."""
    exponents = rounded_up(blocks.abs().amax(-1) * torch.tensor(1 / 448))
    factors = torch.where(exponents == 0, 1.0, 2.0 ** (127 - exponents)).float()[..., None]
    return (blocks * factors).to(torch.float8_e4m3fn), exponents.to(torch.uint8).view(torch.float8_e8m0fnu)


def in_4_bits(blocks, scale):
    """Blocks in floats of 4 bits, and their scales, which have no lower bound; a scale of 0 stands for a factor of the greatest f32."""
    scales = (blocks.abs().amax(-1) / 6 * scale).clamp(max=448).to(torch.float8_e4m3fn)
    factors = (1 / (scales.float() * (1 / scale))).clamp(max=torch.finfo(torch.float32).max)
    return of_4_bits(blocks * factors[..., None]), scales


def of_4_bits(x):
    """The nearest floats of 4 bits, those with an even code where two are as near."""
    middles = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]
    codes = sum((x.abs() >= n if at % 2 else x.abs() > n).long() for at, n in enumerate(middles))
    return torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes] * x.sign()


def tiles(scales):
    """Scales in tiles of 128 x 4, each with its rows 0, 32, 64 and 96 side by side; zeros fill them up."""
    whole = torch.zeros([-(-n // size) * size for n, size in zip(scales.shape, (128, 4))])
    whole[: scales.shape[0], : scales.shape[1]] = scales.float()
    parts = whole.reshape(-1, 4, 32, whole.shape[1] // 4, 4)
    return parts.permute(0, 3, 2, 1, 4).reshape(whole.shape).to(scales.dtype)


def plain(scales, rows, block, columns=5):
    """A number for each element of the scales that tiles hold."""
    parts = scales.double().reshape(scales.shape[0] // 128, -1, 32, 4, 4)
    return parts.permute(0, 3, 2, 1, 4).reshape(scales.shape)[:rows, :columns].repeat_interleave(block, 1)


def scaled_by_groups(a, b, s, t, alpha, starts, places):
    """Rows times the matrix of their group, both with scales in tiles, a group at a time."""
    rows, columns, made = a.double().tensor_split(starts[1:].long()), a.shape[1] // 16, []
    for n, (x, y, first) in enumerate(zip(rows, b.double(), places.tolist())):
        own, other = plain(s[first:first + 128], x.shape[0], 16, columns), plain(t[n], y.shape[1], 16, columns)
        made.append((x * own) @ (y * other.T) * alpha[n].double())
    return torch.cat(made)


SEED, OFFSET = 7, 3


def scored(q, k, causal, scale):
    """Scores in f64."""
    scores = q.double() @ k.double().transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    return scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -torch.inf) if causal else scores


def kept(shape, p, state):
    """What dropout multiplies by: 0, or one over the share of what is kept, by Philox of the evaluator."""
    seed, offset = state.tolist()
    count = int(np.prod(shape))
    words = block(np.arange(count), *(np.full(count, n) for n in (seed, offset)))
    part = torch.from_numpy((words[0] >> np.uint64(8)).astype(np.float64).reshape(shape)) * 2.0**-24
    return torch.where(part < torch.tensor(1 - p).float(), 1 / (1 - p) if p < 1 else 0.0, 0.0)


class Fusion:
    def __init__(self, inputs):
        self.inputs, self.outputs, self.ops = iter(inputs), [], Ops()

    def define_tensor(self, **k):
        x = next(self.inputs)
        return x

    def define_scalar(self, value, dtype=None):
        return value

    def add_output(self, x, alias_input=None):
        self.outputs.append(x)


def inputs(shapes, seed):
    draw = torch.Generator().manual_seed(seed)
    for shape in shapes:
        shape, dtype = shape if len(shape) == 2 and isinstance(shape[1], str) else (shape, "float32")
        dtype = getattr(torch, dtype)
        if dtype == torch.bool:
            yield torch.randint(0, 2, shape, generator=draw).bool()
        elif dtype.is_floating_point:
            yield (torch.randint(-8, 9, shape, generator=draw) / 4 + 0.125).to(dtype)
        else:
            yield torch.randint(1, 3, shape, generator=draw).to(dtype)


def elements(x):
    # In f32 the shortest text of the least scale is another number.
    x = (x.double() if x.dtype == torch.float8_e8m0fnu else x.float()) if x.is_floating_point() else x.long()
    return " ".join(str(n) for n in x.reshape(-1).numpy())


def main(folder):
    for n, (name, (shapes, body)) in enumerate(TEXTS.items()):
        body = body.strip().replace("T0.shape()", "fd.ops.shape(T0)")
        text = HEAD.format(n=n) + "".join(f"    {line}\n" for line in body.splitlines())
        args = list(inputs(shapes, n))
        fd = Fusion(args)
        code = re.sub(r" -> None| : FusionDefinition", "", text).replace("fd.ops.shape(T0)", "T0.shape")
        scope = {"DataType": DataType}
        exec(code, scope)
        scope[f"nvfuser_fusion_id{n}"](fd)
        if "dropout" in body:
            # Seed and offset are inputs behind the others.
            args += [torch.tensor(SEED), torch.tensor(OFFSET)]
        lines = [f"# sizes: {' '.join(map(str, a.shape))}".rstrip() for a in args]
        lines += [f"# in: {elements(a)}" for a in args] + [f"# out: {elements(r)}" for r in fd.outputs]
        Path(folder, f"{name}.py").write_text(text + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])

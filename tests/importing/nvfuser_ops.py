"""One definition for each op that nvFuser's Python frontend has, with inputs and the results that PyTorch computes: `nvfuser_ops/`.

    python nvfuser_ops.py FOLDER

A file for each group of ops. Random numbers are not PyTorch's: they are made by Philox of the evaluator with NumPy. What is refused has no
results. Needs PyTorch; the tests need the texts only.
"""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fuzzing/evaluator"))
from randoms import block  # noqa: E402

from definitions import DataType, elements, in_4_bits, in_8_bits, of_4_bits, scaled_by_groups, tiles

TYPES = {"f": ("Float", torch.float32), "q": ("Float8_e4m3fn", torch.float8_e4m3fn), "i": ("Int", torch.int64), "b": ("Bool", torch.bool), "n": ("Float4_e2m1fn", torch.float32)}
F, UNIT, OVER, COUNT, TRUTH = "f2x4", "unit2x4", "over2x4", "i2x4", "b2x4"


def unary(names, inputs):
    return {name: (inputs, f"fd.ops.{name}(T0)") for name in names.split()}


def binary(names, inputs):
    return {name: (f"{inputs} {inputs}", f"fd.ops.{name}(T0, T1)") for name in names.split()}


SDPA = "f1x2x3x4 f1x2x5x4 f1x2x5x4"
# Name: inputs, the call, and where PyTorch gives results by other words, these.
GROUPS = {
    "unary": {
        **unary("abs asinh atan ceil cos cosh exp exp2 expm1 erf erfc floor frac neg reciprocal relu round set segment_set "
                "sign sigmoid silu sin sinh sqrt tan tanh trunc real", F),
        **unary("isfinite isinf isnan isneginf isposinf isreal signbit", "special8"),
        **unary("log log10 log1p log2 rsqrt", F),
        **unary("lgamma", "gamma18"), **unary("acos asin atanh erfinv", UNIT), **unary("acosh erfcinv", OVER), **unary("bitwise_not", COUNT), **unary("logical_not", TRUTH),
        "imag": (f"{F} {F}", "fd.ops.imag(fd.ops.mul(fd.ops.complex(T0, T1), fd.ops.complex(T1, T0)))"), "rand_like": (F, "fd.ops.rand_like(T0)"), "randn_like": (F, "fd.ops.randn_like(T0)"),
    },
    "binary": {
        **binary("add atan2 div truediv fmod mul nextafter pow remainder sub minimum maximum eq ge gt le lt ne", F),
        **binary("mod bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_right_shift gcd", COUNT),
        **binary("logical_and logical_or", TRUTH), "complex": (f"{F} {F}", "fd.ops.imag(fd.ops.complex(T0, T1))"),
    },
    "ternary": {
        "lerp": (f"{F} {F}", "fd.ops.lerp(T0, T1, 0.25)"),
        "where": (f"{TRUTH} {F} {F}", "fd.ops.where(T0, T1, T2)"),
        "clamp": (F, "fd.ops.clamp(T0, -0.5, 1.0)"),
        "threshold": (F, "fd.ops.threshold(T0, 0.5, 3.0)"),
        "addcmul": (f"{F} {F} {F}", "fd.ops.addcmul(T0, T1, T2, 0.5)"),
    },
    "reduction": {
        **{name: ("f2x3x4", f"fd.ops.{name}(T0, dims=[0, 2], keepdim=False, dtype=DataType.Null)") for name in ("max", "min", "prod", "sum")},
        "var": ("f2x5", "fd.ops.var(T0, dims=[1], correction=1, keepdim=False)"),
        "var_mean": ("f2x5", "fd.ops.var_mean(T0, dims=[1], correction=0, keepdim=False)", 2),
        "welford": ("f2x5", "fd.ops.welford(T0, dims=[1])", 3),
        **{name: ("f3x5", f"fd.ops.{name}(T0, dim=1)") for name in ("cumsum", "cumprod", "cummin", "cummax")},
    },
    "shape": {
        "cast": (F, "fd.ops.cast(T0, dtype=DataType.Int32)"),
        "triu": ("f4x5", "fd.ops.triu(T0, diagonal=1)"),
        "broadcast": ("f4", "fd.ops.broadcast(T0, is_broadcast_dim=[True, False])"),
        "broadcast_in_dim": ("f4", "fd.ops.broadcast_in_dim(T0, shape=[3, 4], broadcast_dims=[1])"),
        "reshape": ("f2x6", "fd.ops.reshape(T0, new_shape=[3, 4])"),
        "permute": ("f2x3x4", "fd.ops.permute(T0, dims=[2, 0, 1])"),
        "expand": ("f1x4", "fd.ops.expand(T0, shape=[3, 4])"),
        "squeeze": ("f1x4", "fd.ops.squeeze(T0, dims=[0])"),
        "slice": ("f4x6", "fd.ops.slice(T0, start_indices=[1, 2], end_indices=[4, 5], strides=[1, 1])"),
        "cat": ("f2x4 f3x4", "fd.ops.cat([T0, T1], dim=0)"),
        "pad": ("f2x3", "fd.ops.pad(T0, [1, 0, 0, 2], 2.5)"),
        "stride_order": ("f2x3", "fd.ops.stride_order(T0, [0, 1])"),
        "size": ("f2x3", "fd.ops.mul(T0, fd.ops.size(T0, dim=1))"),
        "shape": ("f2x3 f1x1", "fd.ops.expand(T1, shape=fd.ops.shape(T0))"),
        "iota": ("", "fd.ops.iota(5, 2, 3, DataType.Int)"),
        "full": ("", "fd.ops.full(shape=[2, 3], fill_value=1.5, dtype=DataType.Float)"),
    },
    "index": {
        "index_select": ("f4x3 i5", "fd.ops.index_select(T0, T1, dim=0)"),
        "select": ("f4x3", "fd.ops.select(T0, 2, dim=0)"),
        "scatter": ("f4x3 i2x3 f2x3", "fd.ops.scatter(T0, T1, T2, dim=0)"),
        "gather": ("f4x3 i4x2", "fd.ops.gather(T0, T1, dim=1)"),
        "take_along_axis": ("f4x3 i4x2", "fd.ops.take_along_axis(T0, T1, dim=1)"),
        "embedding_fwd": ("i2x3 f4x3", "fd.ops.embedding_fwd(T0, T1)"),
        "topk": ("f3x6", "fd.ops.topk(T0, 2, dim=-1, largest=True, sorted=True)", 2),
        "argsort": ("f3x6", "fd.ops.argsort(T0, dim=1, descending=True, stable=True)"),
        "index_put_accumulate": ("f4x3 i5x1 f5x3", "fd.ops.index_put_accumulate(T0, T1, T2)"),
    },
    "product": {
        "matmul": ("f2x3 f3x4", "fd.ops.matmul(T0, T1)"),
        "linear": ("f2x3 f4x3 f4", "fd.ops.linear(T0, T1, T2)"),
        "sdpfa_fwd": (SDPA, "fd.ops.sdpfa_fwd(T0, T1, T2, None, None, 0.0, True, None)", 2, 4),
        "sdpfa_bwd": (f"f1x2x3x4 {SDPA} out lse", "fd.ops.sdpfa_bwd(T0, T1, T2, T3, T4, T5, 0.0, True, None, None, None)", 3),
        "grouped_mm": ("f4x3 f3x3x5 ends3", "fd.ops.grouped_mm(T0, T1, T2)"),
        "scaled_mm": ("q2x3 q3x4 f2x1 f1x4", "fd.ops.scaled_mm(T0, T1, T2, T3, dtype=DataType.Float)", 1, 3),
        "cutlass_nvfp4_grouped_mm": (
            "n6x32 n2x32x6 q256x4 q2x128x4 f2 i2x3 rows2 tiles2",
            "fd.ops.cutlass_nvfp4_grouped_mm(T0, T1, T2, T3, T4, T5, T6, T7, DataType.BFloat16)",
        ),
        "preprocess_grouped_matmul_input_sf": ("q6x2 rows2 tiles2", "fd.ops.preprocess_grouped_matmul_input_sf(T0, T1, T2)"),
        "nv_block_quantize": ("range2x64", "fd.ops.nv_block_quantize(T0, None, False, 32, DataType.Float8_e4m3fn)", 2),
        "nv_block_quantize_to_nvfp4": ("f3x32", "fd.ops.cast(fd.ops.nv_block_quantize_to_nvfp4(T0, 2.0, 16), dtype=DataType.Float)"),
        "nv_grouped_block_quantize": ("f6x32 rows2 tiles2", "fd.ops.cast(fd.ops.nv_grouped_block_quantize(T0, T1, T2), dtype=DataType.Float)"),
    },
    "random": {
        "uniform": ("", "fd.ops.uniform(-1.0, 2.0, shape=[4, 8], rng_seed=7, rng_offset=3, dtype=DataType.Float)"),
        "normal": ("", "fd.ops.normal(1.0, 0.5, shape=[4, 8], rng_seed=7, rng_offset=3, dtype=DataType.Float)"),
    },
}


def attention(q, k, v, causal):
    """Attention from its definition in f64, and the logarithms of the sums."""
    q, k, v = q.double(), k.double(), v.double()
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -torch.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def random(shape):
    """Uniform and normal numbers of seed 7 and offset 3."""
    count = int(np.prod(shape))
    words = block(np.arange(count), *(np.full(count, n) for n in (7, 3)))
    first, second = (word >> np.uint64(8) for word in words[:2])
    part = lambda n: torch.from_numpy(n.astype(np.float64).reshape(shape)) * 2.0**-24
    normal = (-2 * part(first | np.uint64(1)).log()).sqrt() * (2 * torch.pi * part(second)).cos()
    return part(first), normal


class Ops:
    """PyTorch's ops under nvFuser's names."""

    def __getattr__(self, name):
        return getattr(torch, name)

    # In f32 and with AVX2 it is not correctly rounded.
    def sqrt(self, x): return x.double().sqrt().float()
    def lgamma(self, x): return x.double().lgamma().float()
    def bitwise_not(self, x): return ~x
    def erfcinv(self, x): return torch.erfinv(1 - x.double()).float()
    def set(self, x): return x
    segment_set = real = set
    def stride_order(self, x, order): return x
    def silu(self, x): return torch.nn.functional.silu(x)
    def truediv(self, a, b): return a / b
    def mod(self, a, b): return torch.fmod(a, b)
    def neg(self, x): return -x
    def logical_right_shift(self, a, b): return a >> b
    def threshold(self, x, t, v): return torch.where(x <= t, v, x)
    def addcmul(self, x, a, b, value): return x + value * a * b
    def max(self, x, dims, keepdim, dtype): return x.amax(dims)
    def min(self, x, dims, keepdim, dtype): return x.amin(dims)
    def sum(self, x, dims, keepdim, dtype): return x.sum(dims)
    def prod(self, x, dims, keepdim, dtype): return x.double().prod(dims[1]).prod(dims[0]).float()
    def var(self, x, dims, correction, keepdim): return torch.var(x, dims, correction=correction)
    def var_mean(self, x, dims, correction, keepdim): return torch.var_mean(x, dims, correction=correction)
    def welford(self, x, dims):
        var, mean = torch.var_mean(x.double(), dims, correction=0)
        return mean.float(), (var * x.shape[dims[0]]).float(), torch.full_like(var, x.shape[dims[0]], dtype=torch.int64)
    def cummin(self, x, dim): return torch.cummin(x, dim)[0]
    def cummax(self, x, dim): return torch.cummax(x, dim)[0]
    def cast(self, x, dtype): return x.to(dtype)
    def broadcast(self, x, is_broadcast_dim): return x[None]
    def broadcast_in_dim(self, x, shape, broadcast_dims): return x.expand(shape)
    def reshape(self, x, new_shape): return x.reshape(new_shape)
    def expand(self, x, shape): return x.expand(shape)
    def squeeze(self, x, dims): return x.squeeze(dims)
    def slice(self, x, start_indices, end_indices, strides): return x[tuple(slice(*ends) for ends in zip(start_indices, end_indices))]
    def pad(self, x, widths, value): return torch.nn.functional.pad(x, widths, value=value)
    def size(self, x, dim): return x.shape[dim]
    def shape(self, x): return x.shape
    def iota(self, n, start, step, dtype): return torch.arange(n) * step + start
    def full(self, shape, fill_value, dtype): return torch.full(shape, fill_value)
    def index_select(self, x, i, dim): return x.index_select(dim, i)
    def select(self, x, i, dim): return x.select(dim, i)
    def scatter(self, x, i, source, dim): return x.scatter(dim, i, source)
    def gather(self, x, i, dim): return x.gather(dim, i)
    def take_along_axis(self, x, i, dim): return x.gather(dim, i)
    def embedding_fwd(self, i, table): return table[i]
    def linear(self, x, w, bias): return torch.nn.functional.linear(x, w, bias)
    def rand_like(self, x): return random(x.shape)[0].float()
    def randn_like(self, x): return random(x.shape)[1].float()
    def uniform(self, low, high, shape, **given): return low + (high - low) * random(shape)[0].float()
    def normal(self, mean, deviation, shape, **given): return (mean + deviation * random(shape)[1]).float()
    def grouped_mm(self, a, b, ends):
        sizes = ends.diff(prepend=torch.zeros(1, dtype=ends.dtype)).tolist()
        return torch.cat([rows @ matrix for rows, matrix in zip(a.split(sizes), b)])
    def scaled_mm(self, a, b, s, t, dtype): return ((a.double() * s) @ (b.double() * t)).to(dtype)
    def nv_block_quantize(self, x, scale, swizzle, size, dtype):
        blocks = x.reshape(*x.shape[:-1], -1, size)
        values, scales = in_8_bits(blocks)
        return values.reshape(x.shape), scales
    def nv_block_quantize_to_nvfp4(self, x, scale=1.0, size=16):
        blocks = x.reshape(x.shape[0], -1, size)
        values, _ = in_4_bits(blocks, scale)
        return values.reshape(x.shape)
    def nv_grouped_block_quantize(self, x, starts, tiles): return self.nv_block_quantize_to_nvfp4(x)
    def preprocess_grouped_matmul_input_sf(self, x, starts, places):
        return torch.cat([tiles(x[:starts[1]]), tiles(x[starts[1]:])])
    def cutlass_nvfp4_grouped_mm(self, a, b, s, t, alpha, sizes, starts, places, dtype):
        return scaled_by_groups(a, b, s, t, alpha, starts, places).to(dtype)
    def index_put_accumulate(self, x, i, rows): return x.index_put([i[:, 0]], rows, accumulate=True)
    def sdpfa_fwd(self, q, k, v, bias, mask, dropout, causal, scale):
        out, lse = attention(q, k, v, causal)
        return out.float(), lse.float()
    def sdpfa_bwd(self, grad, q, k, v, out, lse, dropout, causal, seed, offset, scale):
        inputs = [x.double().requires_grad_() for x in (q, k, v)]
        attention(*inputs, causal)[0].backward(grad.double())
        return tuple(x.grad.float() for x in inputs)


def tensor(word, made, draw):
    """An input, and its type."""
    if word in ("out", "lse"):
        return attention(*made[1:4], True)[word == "lse"].float(), "Float"
    kind = word.rstrip("0123456789x")
    shape = [int(n) for n in word[len(kind):].split("x")]
    name, dtype = TYPES.get(kind, TYPES["f"])
    if kind == "b":
        return torch.randint(0, 2, shape, generator=draw).bool(), name
    if kind == "i":
        return torch.randint(1, 3, shape, generator=draw), name
    if kind in ("rows", "tiles"):
        # Groups of one row and of the others, and the tiles of their scales.
        return torch.tensor([0, 1 if kind == "rows" else 128], dtype=torch.int32), "Int32"
    if kind == "ends":
        # Groups of 1, of none, and of 3.
        return torch.tensor([1, 1, 4], dtype=torch.int32), "Int32"
    x = torch.randint(-8, 9, shape, generator=draw) / 4 + 0.125
    if kind == "n":
        return of_4_bits(2 * x), name
    if kind == "gamma":
        ends = [torch.inf, -torch.inf, torch.nan, 0.0, -0.0, 1e-45, -1e-30, 3e38, -1e9, 1.0, 2.0, -3.0]
        x = torch.tensor([*ends, 1.0000001, 7.9999995, 8.0, -2.457024812698364, -0.5, 171.3])
    if kind == "range":
        # Blocks of many magnitudes, one of zeros, and one of small numbers.
        x = x * 2.0 ** torch.arange(-40, 24).reshape(2, 1, 32).flatten(0, 1).repeat(1, 2)
        x[1, :32] = 0
        x[1, 32:] *= 2.0**-130
    if kind == "special":
        x = torch.tensor([torch.inf, -torch.inf, torch.nan, 0.0, -0.0, 1e-45, -1.5, 3e38])
    x = {"unit": x / 2.5, "over": x.abs() / 2.5 + 1}.get(kind, x)
    return x.to(dtype), name


def rows(x):
    """The rows that a scatter writes once each."""
    return torch.stack([torch.randperm(4)[: x.shape[0]] for _ in range(x.shape[1])], 1)


def definition(name, words, call, kept=1, given=None):
    draw = torch.Generator().manual_seed(sum(name.encode()))
    made, lines = [], []
    for at, word in enumerate(words.split()):
        x, dtype = tensor(word, made, draw)
        if name == "scatter" and word.startswith("i"):
            torch.manual_seed(1)
            x = rows(x)
        made.append(x)
        contiguity = [True] * x.ndim
        lines.append(f"T{at} = fd.define_tensor(shape={list(x.shape)}, contiguity={contiguity}, dtype=DataType.{dtype})")
    first = len(made)
    names = [f"T{first + at}" for at in range(given or kept)]
    lines.append(f"{', '.join(names)} = {call}")
    lines += [f"fd.add_output({result})" for result in names[:kept]]
    text = f"def nvfuser_fusion_{name}(fd : FusionDefinition) -> None :\n" + "".join(f"    {line}\n" for line in lines)
    text += "".join(f"# sizes: {' '.join(map(str, x.shape))}\n# in: {elements(x)}\n" for x in made)
    if name.startswith("rand"):
        # Seed and offset are inputs behind it.
        text += "# sizes:\n# in: 7\n# sizes:\n# in: 3\n"
    scope = {f"T{at}": x for at, x in enumerate(made)}
    fd = type("", (), {"ops": Ops()})()
    results = eval(call, {"fd": fd, "DataType": DataType, **scope})
    results = results if isinstance(results, tuple) and kept > 1 else (results,)
    return text + "".join(f"# out: {elements(x)}\n" for x in results[:kept])


def main(folder):
    for group, ops in GROUPS.items():
        texts = [definition(name, *ops[name]) for name in ops]
        Path(folder, f"{group}.py").write_text("\n".join(texts))


if __name__ == "__main__":
    main(sys.argv[1])

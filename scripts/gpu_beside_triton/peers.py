"""Triton's kernels for the programs of `programs.fir`: as its tutorials and a careful user write them, compiled for sm_90 without a GPU.

`launches(name)` gives the launches of a program: kernel, blocks, arguments (bytes of a buffer, or a number), constants, warps.
"""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add1(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    tl.store(y + o, tl.load(x + o, m) + 1.0, m)


@triton.jit
def add_relu(x, y, z, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    s = tl.load(x + o, m).to(tl.float32) + tl.load(y + o, m).to(tl.float32)
    tl.store(z + o, tl.maximum(s.to(tl.bfloat16), 0.0), m)


@triton.jit
def negate(x, y, n, SHIFT: tl.constexpr, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    tl.store(y + o, -tl.load(x + SHIFT + o, m), m)


@triton.jit
def adam(p, g, m, v, po, mo, vo, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    k = o < n
    gf = tl.load(g + o, k).to(tl.float32)
    m2 = tl.load(m + o, k) * 0.9 + gf * 0.1
    v2 = tl.load(v + o, k) * 0.999 + gf * gf * 0.001
    q = (m2 / 0.6513215599) / (tl.sqrt(v2 / 0.00995511979) + 0.00000001)
    pn = tl.load(p + o, k).to(tl.float32) - q * 0.001
    tl.store(po + o, pn.to(tl.bfloat16), k)
    tl.store(mo + o, m2, k)
    tl.store(vo + o, v2, k)


@triton.jit
def bias_gelu(x, b, y, n, N: tl.constexpr, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    v = tl.load(x + o, m).to(tl.float32) + tl.load(b + o % N, m).to(tl.float32)
    u = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    t = 2.0 / (1.0 + tl.exp(-2.0 * u)) - 1.0
    tl.store(y + o, (0.5 * v * (1.0 + t)).to(tl.bfloat16), m)


@triton.jit
def silu_mul(a, b, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    v = tl.load(a + o, m).to(tl.float32)
    w = tl.load(b + o, m).to(tl.float32)
    tl.store(y + o, (v * tl.sigmoid(v) * w).to(tl.bfloat16), m)


@triton.jit
def softmax(x, y, ncols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < ncols
    v = tl.load(x + r * ncols + c, m, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * ncols + c, (e / tl.sum(e, 0)).to(tl.bfloat16), m)


@triton.jit
def layernorm(x, w, b, y, mean, rstd, ncols, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < ncols
    v = tl.load(x + r * ncols + c, m, other=0.0).to(tl.float32)
    mu = tl.sum(v, 0) / ncols
    d = tl.where(m, v - mu, 0.0)
    rs = tl.rsqrt(tl.sum(d * d, 0) / ncols + eps)
    tl.store(mean + r, mu)
    tl.store(rstd + r, rs)
    g = tl.load(w + c, m).to(tl.float32)
    h = tl.load(b + c, m).to(tl.float32)
    tl.store(y + r * ncols + c, (d * rs * g + h).to(tl.bfloat16), m)


@triton.jit
def layernorm_bwd(dy, x, mean, rstd, w, dx, pdw, pdb, ncols, ROWS, B: tl.constexpr):
    """Persistent: a block walks its rows, dw and db stay in registers; `columns` puts the parts of blocks together."""
    p = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < ncols
    g = tl.load(w + c, m, other=0.0).to(tl.float32)
    aw = tl.zeros([B], tl.float32)
    ab = tl.zeros([B], tl.float32)
    for i in range(ROWS):
        r = p * ROWS + i
        d = tl.load(dy + r * ncols + c, m, other=0.0).to(tl.float32)
        v = tl.load(x + r * ncols + c, m, other=0.0).to(tl.float32)
        mu = tl.load(mean + r)
        rs = tl.load(rstd + r)
        xh = tl.where(m, (v - mu) * rs, 0.0)
        gw = d * g
        c1 = tl.sum(gw, 0) / ncols
        c2 = tl.sum(gw * xh, 0) / ncols
        tl.store(dx + r * ncols + c, ((gw - c1 - xh * c2) * rs).to(tl.bfloat16), m)
        aw += d * xh
        ab += d
    tl.store(pdw + p * ncols + c, aw, m)
    tl.store(pdb + p * ncols + c, ab, m)


@triton.jit
def rmsnorm_bwd(x, dy, rstd, w, dx, pdw, ncols, ROWS, B: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < ncols
    g = tl.load(w + c, m, other=0.0).to(tl.float32)
    aw = tl.zeros([B], tl.float32)
    for i in range(ROWS):
        r = p * ROWS + i
        d = tl.load(dy + r * ncols + c, m, other=0.0).to(tl.float32)
        rs = tl.load(rstd + r)
        xh = tl.load(x + r * ncols + c, m, other=0.0).to(tl.float32) * rs
        gw = d * g
        c2 = tl.sum(gw * xh, 0) / ncols
        tl.store(dx + r * ncols + c, ((gw - xh * c2) * rs).to(tl.bfloat16), m)
        aw += d * xh
    tl.store(pdw + p * ncols + c, aw, m)


@triton.jit
def channel_sums(x, ps, pq, M, N, ROWS, RB: tl.constexpr, CB: tl.constexpr):
    c = tl.program_id(0) * CB + tl.arange(0, CB)
    r0 = tl.program_id(1) * ROWS
    rr = tl.arange(0, RB)
    s = tl.zeros([RB, CB], tl.float32)
    q = tl.zeros([RB, CB], tl.float32)
    for i in range(0, ROWS, RB):
        r = r0 + i + rr
        k = (r[:, None] < M) & (c[None, :] < N)
        v = tl.load(x + r[:, None].to(tl.int64) * N + c[None, :], k, other=0.0).to(tl.float32)
        s += v
        q += v * v
    tl.store(ps + tl.program_id(1) * N + c, tl.sum(s, 0), c < N)
    tl.store(pq + tl.program_id(1) * N + c, tl.sum(q, 0), c < N)


@triton.jit
def channel_statistics(ps, pq, mean, rstd, M, N, eps, S: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    r = tl.arange(0, S)
    at = r[:, None] * N + c[None, :]
    mu = tl.sum(tl.load(ps + at, c[None, :] < N, other=0.0), 0) / M
    v = tl.sum(tl.load(pq + at, c[None, :] < N, other=0.0), 0) / M - mu * mu
    tl.store(mean + c, mu, c < N)
    tl.store(rstd + c, tl.rsqrt(v + eps), c < N)


@triton.jit
def normalize(x, w, b, mean, rstd, y, n, N: tl.constexpr, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    c = o % N
    v = tl.load(x + o, m).to(tl.float32)
    d = (v - tl.load(mean + c, m)) * tl.load(rstd + c, m) * tl.load(w + c, m) + tl.load(b + c, m)
    tl.store(y + o, d.to(tl.bfloat16), m)


@triton.jit
def columns(x, part, M, N, ROWS, RB: tl.constexpr, CB: tl.constexpr):
    """Program (c, r) sums ROWS rows of CB columns; another launch puts the parts together."""
    c = tl.program_id(0) * CB + tl.arange(0, CB)
    r0 = tl.program_id(1) * ROWS
    rr = tl.arange(0, RB)
    acc = tl.zeros([RB, CB], tl.float32)
    for i in range(0, ROWS, RB):
        r = r0 + i + rr
        at = x + r[:, None].to(tl.int64) * N + c[None, :]
        acc += tl.load(at, (r[:, None] < M) & (c[None, :] < N), other=0.0).to(tl.float32)
    tl.store(part + tl.program_id(1) * N + c, tl.sum(acc, 0), c < N)


@triton.jit
def chunk_sum(x, part, n, PER, B: tl.constexpr):
    o = tl.program_id(0).to(tl.int64) * PER
    acc = tl.zeros([B], tl.float32)
    for i in range(0, PER, B):
        k = i + tl.arange(0, B)
        acc += tl.load(x + o + k, o + k < n, other=0.0)
    tl.store(part + tl.program_id(0), tl.sum(acc, 0))


@triton.jit
def row_sum(x, y, ncols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    tl.store(y + r, tl.sum(tl.load(x + r * ncols + c, c < ncols, other=0.0), 0))


@triton.jit
def row_scan(x, y, ncols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    s = tl.cumsum(tl.load(x + r * ncols + c, c < ncols, other=0.0).to(tl.float32), 0)
    tl.store(y + r * ncols + c, s.to(y.dtype.element_ty), c < ncols)


@triton.jit
def short_rows(x, y, n, MAX: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    v = tl.load(x + r[:, None] * C + tl.arange(0, C)[None, :], r[:, None] < n, other=0)
    tl.store(y + r, tl.max(v, 1) if MAX else tl.sum(v, 1), r < n)


@triton.jit
def turn(x, y, z, R, C, xr, zc, n1, x0, x1, z0, z1, ADD: tl.constexpr, NEG: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """z[b0, b1, j, i] = x[b0, b1, i, j] (+ y where z is), by strides."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    b = tl.program_id(2)
    t = tl.load(x + b // n1 * x0 + b % n1 * x1 + i[:, None] * xr + j[None, :], (i[:, None] < R) & (j[None, :] < C))
    k = b // n1 * z0 + b % n1 * z1 + j[:, None] * zc + i[None, :]
    m = (j[:, None] < C) & (i[None, :] < R)
    t = tl.trans(t).to(tl.float32)
    if ADD:
        t = t + tl.load(y + k, m).to(tl.float32)
    if NEG:
        t = -t
    tl.store(z + k, t.to(z.dtype.element_ty), m)


@triton.jit
def swap_rows(x, y, n, S: tl.constexpr, H: tl.constexpr, D: tl.constexpr, NEG: tl.constexpr, B: tl.constexpr):
    """y[b, h, s, d] = x[b, s, h, d]."""
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    d = o % D
    s = o // D % S
    h = o // (D * S) % H
    b = o // (D * S * H)
    v = tl.load(x + ((b * S + s) * H + h) * D + d, m)
    tl.store(y + o, -v if NEG else v, m)


P8, P16, P32 = "*i8", "*bf16", "*fp32"


def cdiv(a, b):
    return -(-a // b)


class Buffer:
    """A tensor of a type and so many elements."""

    def __init__(self, type, count):
        self.type = type
        self.bytes = count * {P8: 1, P16: 2, P32: 4}[type]


def flat(kernel, n, buffers, warps=4, B=1024, **constants):
    return [(kernel, (cdiv(n, B), 1, 1), buffers + [n], dict(constants, B=B), warps)]


def rows(kernel, rows, columns, buffers, warps, more=()):
    return [(kernel, (rows, 1, 1), buffers + [columns, *more], dict(B=triton.next_power_of_2(columns)), warps)]


def column_launches(type, M, N, CB=128):
    CB = min(CB, N)
    tiles = cdiv(N, CB)
    splits = max(1, min(M // 64, 1024 // tiles))
    constants = dict(RB=16, CB=CB)
    first = (columns, (tiles, splits, 1), [Buffer(type, M * N), Buffer(P32, splits * N), M, N, cdiv(M, splits)], constants, 4)
    if splits == 1:
        return [first]
    second = [Buffer(P32, splits * N), Buffer(P32, N), splits, N, splits]
    return [first, (columns, (tiles, 1, 1), second, constants, 4)]


def chunk_launches(n, results=1):
    blocks = 512
    first = [Buffer(P32, n), Buffer(P32, blocks), n, n // blocks]
    per = blocks // results
    second = [Buffer(P32, blocks), Buffer(P32, results), blocks, per]
    return [(chunk_sum, (blocks, 1, 1), first, dict(B=2048), 4), (chunk_sum, (results, 1, 1), second, dict(B=min(2048, per)), 4)]


def turned(types, R, C, xr, zc, batches=(1, 1), x=(0, 0), z=(0, 0), add=False, neg=False, BM=64, BN=64):
    count = R * C * batches[0] * batches[1]
    a, b = (Buffer(t, count) for t in types)
    grid = (cdiv(R, BM), cdiv(C, BN), batches[0] * batches[1])
    arguments = [a, Buffer(types[1], count if add else 16), b, R, C, xr, zc, batches[1], *x, *z]
    return [(turn, grid, arguments, dict(ADD=add, NEG=neg, BM=BM, BN=BN), 8 if BM * BN >= 4096 else 4)]


def programs():
    """The launches of each program, by its name in `programs.fir`."""
    b16, b32 = (lambda n: Buffer(P16, n)), (lambda n: Buffer(P32, n))
    n20, n22 = 1 << 20, 1 << 22
    softmax_of = lambda r, c, warps: rows(softmax, r, c, [b16(r * c), b16(r * c)], warps)
    backward, rms = 256, 256
    channels = 256
    return {
        "copy_add1": flat(add1, n20, [b32(n20), b32(n20)]),
        "add_relu": flat(add_relu, n20, [b16(n20)] * 3),
        "huge_int": flat(negate, 3000000, [Buffer(P8, 3000000)] * 2, SHIFT=0, B=2048),
        "unaligned_slice": flat(negate, n20, [b16(n20 + 1), b16(n20)], SHIFT=1),
        "adam": flat(adam, 72 * 4096, [b16(72 * 4096)] * 2 + [b32(72 * 4096)] * 2 + [b16(72 * 4096)] + [b32(72 * 4096)] * 2),
        "bias_gelu": flat(bias_gelu, n20, [b16(n20), b16(4096), b16(n20)], N=4096),
        "silu_mul": flat(silu_mul, n20, [b16(n20)] * 3),
        "softmax_128": softmax_of(4096, 128, 1),
        "softmax_1000": softmax_of(1024, 1000, 4),
        "softmax_1001": softmax_of(1024, 1001, 4),
        "softmax_1024": softmax_of(1024, 1024, 4),
        "softmax_8192": softmax_of(128, 8192, 8),
        "softmax_65536": softmax_of(16, 65536, 32),
        "softmax_named": softmax_of(1024, 1024, 4),
        "layernorm_4096": rows(layernorm, 512, 4096, [b16(512 * 4096), b16(4096), b16(4096), b16(512 * 4096), b32(512), b32(512)], 8, (0.00001,)),
        "layernorm_bwd_named": [
            (layernorm_bwd, (backward, 1, 1), [b16(n20), b16(n20), b32(1024), b32(1024), b32(1024), b16(n20), b32(backward * 1024), b32(backward * 1024), 1024, 1024 // backward], dict(B=1024), 4),
            *2 * [(columns, (8, 1, 1), [b32(backward * 1024), b32(1024), backward, 1024, backward], dict(RB=16, CB=128), 4)],
        ],
        "rmsnorm_bwd": [
            (rmsnorm_bwd, (rms, 1, 1), [b16(n22 * 2), b16(n22 * 2), b32(2048), b16(4096), b16(n22 * 2), b32(rms * 4096), 4096, 2048 // rms], dict(B=4096), 8),
            (columns, (32, 1, 1), [b32(rms * 4096), b32(4096), rms, 4096, rms], dict(RB=16, CB=128), 4),
        ],
        "batchnorm_fwd": [
            (channel_sums, (2, 256, 1), [b16(25088 * channels), b32(256 * channels), b32(256 * channels), 25088, channels, 98], dict(RB=16, CB=128), 4),
            (channel_statistics, (16, 1, 1), [b32(256 * channels), b32(256 * channels), b32(channels), b32(channels), 25088, channels, 0.00001], dict(S=256, B=16), 4),
            *flat(normalize, 25088 * channels, [b16(25088 * channels), b32(channels), b32(channels), b32(channels), b32(channels), b16(25088 * channels)], N=channels),
        ],
        "rows_16": [(short_rows, (131072 // 128, 1, 1), [b32(n20 * 2), b32(131072), 131072], dict(MAX=False, R=128, C=16), 4)],
        "huge_rows": [(short_rows, (65536 // 256, 1, 1), [Buffer(P8, n20), Buffer(P8, 65536), 65536], dict(MAX=True, R=256, C=16), 4)],
        "rowsum_1024": rows(row_sum, 4096, 1024, [b32(n22), b32(4096)], 4),
        "cumsum_4096": rows(row_scan, 512, 4096, [b32(n20 * 2), b32(n20 * 2)], 8),
        "cumsum_1001": rows(row_scan, 1024, 1001, [b16(1024 * 1001), b16(1024 * 1001)], 4),
        "cumsum_named": rows(row_scan, 1024, 1024, [b32(n20), b32(n20)], 4),
        "rowsum_8x4m": chunk_launches(2 * n22, 8),
        "fullsum_16m": chunk_launches(n22),
        "fullsum_named": chunk_launches(n22),
        "colsum_128x4096": column_launches(P32, 128, 4096, 32),
        "colsum_32768x1024": column_launches(P32, 8192, 1024),
        "colsum_32768x1024_bf16": column_launches(P16, 8192, 1024),
        "colsum_1024x65536": column_launches(P32, 1024, 16384),
        "colsum_tall_64": column_launches(P32, 100352, 64),
        "colsum_named": column_launches(P32, 2048, 1024),
        "transpose_4096": turned([P32, P32], 1024, 1024, 1024, 1024),
        "transpose_4096_bf16": turned([P16, P16], 1024, 1024, 1024, 1024, add=True),
        "transpose_named": turned([P32, P32], 1024, 1024, 1024, 1024, add=True),
        "cast_transpose": turned([P16, P32], 512, 4096, 4096, 512),
        "permute_add": turned([P32, P32], 3136, 64, 64, 3136, (4, 1), (3136 * 64, 0), (3136 * 64, 0), add=True),
        "permute_0213": flat(swap_rows, 4 * 512 * 16 * 64, [b32(4 * 512 * 16 * 64)] * 2, S=512, H=16, D=64, NEG=True),
        "permute_copy_0213": flat(swap_rows, 4 * 512 * 16 * 64, [b32(4 * 512 * 16 * 64)] * 2, S=512, H=16, D=64, NEG=False),
        "permute_nhwc_nchw": turned([P32, P32], 3136, 64, 64, 3136, (4, 1), (3136 * 64, 0), (3136 * 64, 0), neg=True),
        "permute_2031_small": turned([P32, P32], 12, 16, 320, 12, (8, 20), (3840, 16), (192, 1536), neg=True, BM=16, BN=16),
        "permute_3120_odd": turned([P32, P32], 64, 33, 2079, 4032, (7, 9), (297, 33), (576, 64), neg=True, BN=64),
        "permute_copy_3210": turned([P32, P32], 33, 65, 4095, 2079, (9, 7), (455, 65), (33, 297), BM=32, BN=128),
    }


def compiled(kernel, arguments, constants, warps):
    """The compiled kernel: PTX, name, shared bytes, threads."""
    names = list(kernel.arg_names)
    kinds = {}
    for name, value in zip(names, arguments):
        kinds[name] = value.type if isinstance(value, Buffer) else "fp32" if isinstance(value, float) else "i32"
    whole = lambda value: isinstance(value, Buffer) or isinstance(value, int) and value % 16 == 0
    attributes = {(n,): [["tt.divisibility", 16]] for n, value in enumerate(arguments) if whole(value)}
    kinds.update({name: "constexpr" for name in constants})
    values = {(names.index(name),): value for name, value in constants.items()}
    source = ASTSource(fn=kernel, signature=kinds, constexprs=values, attrs=attributes)
    found = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=warps))
    return found.asm["ptx"], found.metadata.name, found.metadata.shared, warps * 32

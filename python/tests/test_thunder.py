"""`thunder.jit(executors=[fuser.thunder.executor])`: each prim beside thunder's torch executor, and models that train."""

import itertools
import logging
import math
import sys
import unittest
import warnings

try:
    import torch

    warnings.filterwarnings("ignore")
    import thunder
    from thunder.core import prims
except Exception as error:
    print(f"skipped: lightning-thunder cannot be imported ({type(error).__name__}: {error}); fuser.thunder is not tested", file=sys.stderr)
    sys.exit(0)

import thunder.torch as ltorch
from thunder.core.prims import PrimIDs
from torch.nn import functional as F

import fuser.thunder
from fuser.thunder import PRIMS, executor

from test_torch import BF16, BOOL, F16, F32, F64, I8, I32, I64, U8, ULP, values

NARROW = (BF16, F16)
CPU = thunder.devices.cpu
SHAPES = ((), (0,), (1,), (23,), (3, 5), (1, 13, 7))

#: Products and views by the names of torch's functions.
BY_TORCH = set(
    "linear matmul expand getitem permute reshape shallow_copy squeeze transpose unsqueeze "
    "torch_prims_reshape_impl torch_slice_prim_impl".split()
)

#: The prims that ran in a program.
SEEN = set()


def ran(jitted):
    """The ids of the prims of all regions, and the symbols that torch runs on tensors, forward and backward."""
    traces = [thunder.last_traces(jitted)[-1]] + thunder.last_backward_traces(jitted)[-1:]
    symbols = [bsym for trace in traces for bsym in trace.bound_symbols]
    inner = [prim.sym.id for bsym in symbols if bsym.sym.is_fusion for prim in bsym.subsymbols]
    made = lambda bsym: any(isinstance(x, thunder.TensorProxy) for x in bsym.flat_proxy_outs)  # noqa: E731
    quiet = ("unpack_trivial", "unpack_sequence")
    outer = [bsym.sym.name for bsym in symbols if not bsym.sym.is_fusion and bsym.sym.name not in quiet and made(bsym)]
    return inner, outer


def fused(case, f, *args, **options):
    """The results by Fuser alone, and those by torch alone."""
    mine = thunder.jit(f, executors=[executor], fuser_shape_only=True, **options)
    with case.assertNoLogs("fuser", "WARNING"):
        made = mine(*args)
    inner, outer = ran(mine)
    case.assertEqual(outer, [])
    SEEN.update(inner)
    return flat(made), flat(thunder.jit(f, executors=[])(*args))


def flat(xs):
    return [x for y in xs for x in flat(y)] if isinstance(xs, (tuple, list)) else [xs]


def double(x):
    return x.to(F64) if isinstance(x, torch.Tensor) and x.dtype.is_floating_point else x


def check(case, f, *args, ulps=None, scale=0.0, exact=None, **options):
    """Bits (but the sign of zeros) where `ulps` is `None`; else a multiple of the type's half unit, of the exact result and of `scale`.

    `exact` is the same function in f64, where `f` names types.
    """
    with case.subTest(args=[(x.dtype, tuple(x.shape)) for x in args if isinstance(x, torch.Tensor)]):
        made, wanted = fused(case, f, *args, **options)
        true = wanted if ulps is None else flat(thunder.jit(exact or f, executors=[])(*map(double, args)))
        case.assertEqual(len(made), len(wanted))
        for number, (x, y, z) in enumerate(zip(made, wanted, true)):
            place = f"result {number}"
            case.assertEqual((x.dtype, x.shape), (y.dtype, y.shape), place)
            if ulps is None or not y.dtype.is_floating_point:
                wrong = (x != y) & ~((x != x) & (y != y))
                case.assertFalse(wrong.any(), f"{place}: {x[wrong][:5]} in place of {y[wrong][:5]}")
                continue
            nan, infinite = torch.isnan(y), torch.isinf(y) | torch.isinf(x)
            case.assertTrue(torch.equal(torch.isnan(x), nan), f"{place}: NaN elsewhere")
            case.assertTrue(torch.equal(x[infinite], y[infinite]), f"{place}: {x[infinite][:5]} in place of {y[infinite][:5]}")
            bound = ulps * ULP[y.dtype] * (z.abs() + scale) + torch.finfo(y.dtype).tiny
            worst = ((x.to(F64) - z).abs() / bound)[~nan & ~infinite]
            case.assertTrue(not worst.numel() or bool(worst.max() <= 1), f"{place}: {worst} of the bound")


def each(*names):
    """A function that gives the results of several prims of the same operands."""
    functions = [getattr(prims, name) for name in names]
    return lambda *args, **named: tuple(f(*args, **named) for f in functions)


class Prims(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        missing = [str(id) for id in PRIMS if id not in SEEN]
        if missing:
            raise AssertionError(f"no test runs {missing}")

    def test_unary_exact(self):
        for dtype, shape in itertools.product((F32, F64), SHAPES):
            check(self, each(*"abs ceil floor isfinite neg round sign signbit trunc shallow_copy clone".split()), values(shape, dtype, 1))
        for dtype in NARROW:
            check(self, each("ceil", "floor", "shallow_copy", "clone"), values((23,), dtype, 1))
        for dtype in (I64, I32, I8):
            check(self, each("abs", "neg", "sign", "signbit", "bitwise_not"), values((5, 3), dtype, 2))
        check(self, each("bitwise_not"), values((5, 3), BOOL, 3))

    def test_unary_near(self):
        names = ("acos acosh asin asinh atan atanh cos cosh erf exp exp2 expm1 log log10 log1p log2 reciprocal rsqrt sin sinh sqrt tan "
                 "tanh").split()  # fmt: skip
        for dtype, shape in itertools.product((F32, F64), SHAPES):
            rest = [name for name in names if dtype != F64 or name not in ("erf", "exp2")]
            check(self, each(*rest), values(shape, dtype, 4), ulps=16)
        check(self, each("erfc"), values((41,), F32, 4), ulps=16, scale=1e-6)
        check(self, each("lgamma"), values((41,), F32, 6, special=False), ulps=16, scale=1.0)
        x = values((41,), F32, 5, special=False) / 4.1
        check(self, each("erfinv"), x, ulps=16)
        inverse = thunder.jit(prims.erfcinv, executors=[executor])
        torch.testing.assert_close(inverse(1 - x), torch.erfinv(x), rtol=1e-5, atol=1e-6)
        SEEN.update(ran(inverse)[0])

    def test_binary_exact(self):
        names = "add sub mul div maximum minimum eq ne lt le gt ge".split()
        for dtype, shape in itertools.product((F32, F64), SHAPES):
            check(self, each(*names), values(shape, dtype, 6), values(shape, dtype, 7))
        for dtype in NARROW:
            check(self, each(*names[4:]), values((23,), dtype, 6), values((23,), dtype, 7))
        for dtype, shape in itertools.product((I64, I32, I8, U8), ((), (0,), (7, 3))):
            names = "add sub mul maximum minimum eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor bitwise_left_shift".split()
            check(self, each(*names, "bitwise_right_shift"), values(shape, dtype, 8), values(shape, dtype, 9))
        check(self, each("eq", "ne", "bitwise_and", "bitwise_or", "bitwise_xor"), values((9,), BOOL, 1), values((9,), BOOL, 2))
        for dtype in (F32, F64):
            check(self, each("fmod", "remainder"), values((64,), dtype, 11), values((64,), dtype, 12))
            check(self, each("nextafter"), values((64,), dtype, 11), values((64,), dtype, 12))

    def test_numbers_beside_tensors(self):
        for dtype, number in itertools.product((F32, F64), (0.1, -3.0)):
            f = each("add", "sub", "mul", "div", "lt")
            check(self, lambda x: (f(x, number), prims.sub(number, x)), values((17,), dtype, 8))  # noqa: B023
        f = each("add", "mul", "div", "remainder", "fmod", "eq")
        check(self, lambda x: (f(x, 3), f(x, -2)), values((4, 5), I64, 8, low=-9, high=9))
        # A tensor without axes stands beside one with axes.
        check(self, each("add", "mul", "div"), values((3, 5), F32, 1), values((), F32, 2))

    def test_binary_near(self):
        for dtype in (F32, F64):
            check(self, each("atan2"), values((97,), dtype, 15), values((97,), dtype, 16), ulps=16)
            check(self, each("pow"), values((97,), dtype, 15), values((97,), dtype, 16), ulps=16)
            for exponent in (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -0.5, 2.5):
                check(self, lambda x: prims.pow(x, exponent), values((41,), dtype, 13), ulps=16)  # noqa: B023

    def test_narrow_floats_of_functions(self):
        """Thunder computes with narrow floats in f32 and rounds each result."""
        f = lambda x, y: (x.exp(), x + y, x * 0.1, x / y, x.tanh(), x.sum(0), x.mean(1), x.softmax(-1), F.gelu(x), x.var(1))  # noqa: E731
        for dtype in NARROW:
            check(self, f, values((7, 13), dtype, 1, special=False), values((7, 13), dtype, 2, special=False), ulps=2, scale=1.0)

    def test_choice_and_interpolation(self):
        c = values((3, 5), BOOL, 1)
        for dtype in (F32, BF16, I64, BOOL):
            check(self, each("where"), c, values((3, 5), dtype, 2), values((3, 5), dtype, 3))
        check(self, lambda c, x: (prims.where(c, x, 0.5), prims.where(c, -math.inf, x)), c, values((3, 5), F32, 2))
        a, b, w = (values((13,), F32, seed, special=False) for seed in (1, 2, 3))
        between = thunder.jit(prims.lerp, executors=[executor])
        torch.testing.assert_close(between(a, b, w.abs() / 8), torch.lerp(a, b, w.abs() / 8), rtol=0, atol=24 * ULP[F32])
        SEEN.update(ran(between)[0])

    def test_conversions(self):
        kinds = (F32, F64, BF16, F16, I64, I32, I8, U8, BOOL)
        to = [thunder.dtypes.to_dtype(kind) for kind in kinds]
        for a in kinds:
            x = values((23,), a, 23, special=False)
            check(self, lambda x: tuple(prims.convert_element_type(x, kind) for kind in to), x)
        bits = {F32: (thunder.int32,), F64: (thunder.int64,), BF16: (thunder.int16,), I32: (thunder.float32,)}
        for a, kinds in bits.items():
            check(self, lambda x: tuple(prims.bitcast(x, kind) for kind in kinds), values((23,), a, 23))  # noqa: B023

    def test_shapes(self):
        def f(x):
            return (
                prims.broadcast_in_dim(x, (2, 3, 1, 5), (1, 3)), prims.cat([x, x], 1), prims.cat([x, x, x], -2), prims.flip(x, (0,)),
                prims.flip(x, (0, 1)), prims.reshape(x, (5, 3)), prims.reshape(x, (15,)), prims.view(x, (1, 3, 5)),
                prims.slice_prim(x, (0, 1), (3, 4)), prims.slice_prim(x, (1, 0), (3, 5), (1, 2)), prims.slice_prim(x, (3, 0), (3, 5)),
                prims.transpose(x, (1, 0)), prims.squeeze(prims.slice_prim(x, (1, 0), (2, 5)), (0,)),
            )  # fmt: skip

        for dtype in (F32, BF16, I64, BOOL):
            check(self, f, values((3, 5), dtype, 1))
        for shape in ((), (1,), (0,), (1, 1), (1, 0)):
            axes = tuple(range(1, len(shape) + 1))
            g = lambda x: (prims.reshape(x, (1, *shape)), prims.broadcast_in_dim(x, (3, *shape), axes))  # noqa: B023, E731
            check(self, g, values(shape, F32, 1))
        check(self, lambda x: prims.broadcast_in_dim(x, (4, 3), (0, 1)), values((1, 3), F32, 1))
        for config in ((0, 0, 0), (1, 2, 0), (-1, 2, 0), (0, -2, 0), (2, 1, 2), (-1, -1, 1), (0, 0, 3)):
            f = lambda x: prims.pad(x, 2.5, (config, (0, 0, 0), (1, 0, 1)))  # noqa: B023, E731
            for shape in ((5, 2, 3), (7, 1, 1)):
                check(self, f, values(shape, F32, 1))
        check(self, lambda x: prims.pad(x, 7, ((1, 1, 0),)), values((0,), I64, 1))

    def test_orders_of_axes(self):
        f = thunder.jit(lambda x: prims.stride_order(prims.neg(x), (0, 2, 1)), executors=[executor])
        x = values((2, 3, 5), F32, 1, special=False)
        y = f(x)
        SEEN.update(ran(f)[0])
        self.assertEqual(ran(f)[1], [])
        self.assertTrue(torch.equal(y, -x))
        self.assertEqual(y.stride(), thunder.jit(lambda x: prims.stride_order(prims.neg(x), (0, 2, 1)), executors=[])(x).stride())

    def test_tensors_of_numbers(self):
        def f(x):
            made = [prims.full((3, 2), n, device=CPU, dtype=thunder.float32) for n in (2.5, math.inf, 1)]
            made += [prims.full((), True, device=CPU, dtype=thunder.bool8), prims.full((0, 3), 1, device=CPU, dtype=thunder.int64)]
            return prims.neg(x), *made, prims.iota(5, start=-2, step=3, device=CPU, dtype=thunder.int64), prims.iota(
                4, start=0, step=1, device=CPU, dtype=thunder.int32
            )

        check(self, f, values((2,), F32, 1))

    def test_reductions(self):
        def f(x):
            axes = ((0,), (1,), (0, 2), (0, 1, 2))
            return tuple(op(x, dims) for op in (prims.amax, prims.amin) for dims in axes) + tuple(
                op(x, dim) for op in (prims.argmax, prims.argmin) for dim in (0, 2, None)
            )

        for dtype, shape in itertools.product((F32, F64, BF16, I64), ((3, 5, 7), (1, 1, 1), (13, 1, 17))):
            check(self, f, values(shape, dtype, 1, special=False))
        check(self, lambda x: prims.amax(x, (1,)), values((17, 31), F32, 2))
        check(self, lambda x: (prims.sum(x, (0,)), prims.sum(x, (0, 1)), prims.prod(x, (1,))), values((5, 7), I64, 3))
        for dtype, shape in itertools.product((F32, F64, BF16), ((5, 7), (1, 1), (0, 3), (31, 101))):
            x = values(shape, dtype, 3, special=False)
            n = max(shape)
            sums = lambda x: (prims.sum(x, (0,)), prims.sum(x, (1,)), prims.sum(x, (0, 1)))  # noqa: E731
            check(self, sums, x, ulps=n if dtype != BF16 else 2, scale=4.0 * n)
            check(self, lambda x: prims.prod(x, (0,)), x / 4 + 2, ulps=2 * n)
            if n > 1 and 0 not in shape:
                moments = each("var", "std", "var_mean")
                f = lambda x: (moments(x, (0, 1), correction=1), moments(x, (1,), correction=0))  # noqa: B023, E731
                check(self, f, x, ulps=16, scale=4.0)
        check(self, lambda x: (prims.sum(x, ()), prims.amax(x, ())), values((), F32, 3))

    def test_reads_at_indices(self):
        x, i = values((7, 5), F32, 1), torch.tensor([0, 6, 3, 3])
        check(self, lambda x, i: (prims.take(x, i, 0), prims.take(x, prims.remainder(i, 5), 1)), x, i)
        check(self, lambda x, i: prims.take(x, i, 0), values((7, 3), BF16, 1), i.to(torch.int32))
        check(self, lambda x, i: prims.take(x, i, 0), values((7,), I64, 1), torch.tensor(3))
        j = torch.randint(0, 7, (4, 5), generator=torch.Generator().manual_seed(1))
        check(self, lambda x, j: (prims.take_along_axis(x, j, 0), prims.gather(x, j, 0)), x, j)
        check(self, lambda x, j: prims.gather(x, j, 0), x, j[:, :3])
        check(self, lambda i, x: prims.embedding(i, x), torch.randint(0, 7, (2, 3)), x)
        check(self, lambda i, x: ltorch.embedding(i, x), torch.randint(0, 7, (2, 3)), x)

    def test_writes_at_indices(self):
        whole = lambda shape, seed: values(shape, F32, seed, special=False).round()  # noqa: E731  (sums of integers are exact)
        x, i, v = whole((7, 5), 1), torch.tensor([0, 6, 3, 3]), whole((4, 5), 2)
        check(self, lambda x, i, v: prims.index_add(x, i, v, 0), x, i, v)
        check(self, lambda x, i, v: prims.index_copy(x, i, v, 0), x, torch.tensor([5, 0, 2, 1]), v)
        j = torch.stack([torch.randperm(7, generator=torch.Generator().manual_seed(k))[:4] for k in range(5)], 1)
        check(self, lambda x, j, v: (prims.scatter_add(x, j, v, 0), prims.scatter(x, j, v, 0), prims.scatter(x, j, 1.5, 0)), x, j, v)
        check(self, lambda x, j, v: prims.scatter_add(x, j, v, 0), x, torch.randint(0, 7, (4, 5)), v)
        for accumulate in (False, True):
            f = lambda x, i, v: prims.index_put(x, [i], v, accumulate)  # noqa: B023, E731
            check(self, f, x, torch.tensor([0, -1, 3, 2]), v)
            g = lambda x, i, k, v: prims.index_put(x, [i, k], v, accumulate)  # noqa: B023, E731
            check(self, g, x, torch.tensor([0, -1, 3]), torch.tensor([4, 1, -5]), whole((3,), 3))
        f = lambda g, i: tuple(prims.embedding_backward(g, i, 7, padding, False, False) for padding in (-1, 2))  # noqa: E731
        check(self, f, whole((2, 3, 5), 4), torch.tensor([[2, 1, 0], [2, 6, 6]]))

    def test_gradients_of_losses(self):
        x, target = values((5, 7), F32, 1, special=False), torch.tensor([0, 6, 3, 3, 2])
        for reduction, g in (("mean", torch.tensor(1.5)), ("sum", torch.tensor(1.5)), ("none", values((5,), F32, 2, special=False))):
            f = lambda g, x, t, n: ltorch.nll_loss_backward(g, x, t, None, reduction, 3, n)  # noqa: B023, E731
            check(self, f, g, x, target, torch.tensor(3), ulps=2)

    def test_order(self):
        for dtype in (F32, BF16, I64):
            x = torch.randperm(35, generator=torch.Generator().manual_seed(1)).reshape(5, 7).to(dtype)
            check(self, lambda x: (prims.sort(x, 1, False, True), prims.sort(x, 0, True, True)), x)
            check(self, lambda x: (prims.topk(x, 3, 1, True, True), prims.topk(x, 2, 0, False, True)), x)
            check(self, lambda x: (ltorch.argsort(x, 0), ltorch.argsort(x, -1, True), ltorch.cumsum(x, 1)), x)
        check(self, lambda x: ltorch.cumsum(x, 1), values((5, 101), F32, 1, special=False), ulps=101, scale=404.0)

    def test_products(self):
        a, b, c = (values(shape, F32, 1, special=False) for shape in ((5, 17), (17, 7), (7,)))
        f = lambda a, b, c: (prims.matmul(a, b), prims.linear(a, prims.transpose(b, (1, 0)), c))  # noqa: E731
        check(self, f, a, b, c, ulps=17, scale=16.0 * 17, fuser_products=True)
        jitted = thunder.jit(f, executors=[executor])
        jitted(a, b, c)
        self.assertEqual(ran(jitted)[1].count("matmul"), 1)


class MLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(17), torch.nn.Linear(17, 43), torch.nn.Linear(43, 11)

    def forward(self, x):
        return F.softmax(self.down(F.gelu(self.up(self.norm(x)))), -1)


class RMSNorm(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float() if x.dtype == BF16 else x
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


class Block(torch.nn.Module):
    """A block of a language model: rotary embedding, causal attention, SwiGLU."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.first, self.second = RMSNorm(width), RMSNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width, bias=False), torch.nn.Linear(width, width, bias=False)
        self.gate, self.up = torch.nn.Linear(width, 2 * width, bias=False), torch.nn.Linear(width, 2 * width, bias=False)
        self.down = torch.nn.Linear(2 * width, width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = (y * cos + torch.cat([-y[..., y.shape[-1] // 2 :], y[..., : y.shape[-1] // 2]], -1) * sin for y in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Language(torch.nn.Module):
    def __init__(self, layers=1, words=61, width=32, heads=4):
        super().__init__()
        self.table, self.blocks = torch.nn.Embedding(words, width), torch.nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head, self.each = RMSNorm(width), torch.nn.Linear(width, words, bias=False), width // heads

    def forward(self, tokens, targets):
        x = self.table(tokens)
        rate = torch.arange(tokens.shape[1], dtype=x.dtype)[:, None] * 0.3 ** torch.arange(self.each // 2, dtype=x.dtype)
        angle = torch.cat([rate, rate], -1)
        for block in self.blocks:
            x = block(x, angle.cos(), angle.sin())
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


def trained(case, model, *inputs, least, **options):
    """A step beside eager torch: no error in f64 is more than twice the spread of eager in the model's type, and of the greatest element.

    At least the share `least` of the ops on tensors runs in Fuser, products and views aside.
    """
    jitted = thunder.jit(model, executors=[executor], **options)
    exact = [(p, p.detach().double()) for p in model.parameters()]

    def step(f, dtype=None):
        model.zero_grad()
        cast = lambda x: x.to(dtype) if dtype is not None and x.is_floating_point() else x  # noqa: E731
        result = f(*map(cast, inputs))
        (result.square().sum() if result.dim() else result).backward()
        return [result.detach()] + [p.grad.clone() for p in model.parameters()]

    with case.assertNoLogs("fuser", "WARNING"):
        made = step(jitted)
    eager = step(model)
    kind = exact[0][0].dtype
    wide = step(model.double(), F64)
    model.to(kind)
    for x, y, z in zip(made, eager, wide):
        case.assertEqual((x.dtype, x.shape), (y.dtype, y.shape))
        most = z.abs().max().item()
        error, spread = ((w.double() - z).abs().max().item() for w in (x, y))
        case.assertLessEqual(error, 2 * spread + 4 * ULP[y.dtype] * most, f"{error / most} of the greatest, eager {spread / most}")
    inner, outer = ran(jitted)
    left = [name for name in outer if name not in BY_TORCH]
    share = len(inner) / (len(inner) + len(left))
    case.assertGreaterEqual(share, least, left)
    return jitted, share


class Models(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_mlp(self):
        trained(self, MLP(), torch.randn(5, 17), least=1.0)

    def test_language_model(self):
        trained(self, Language(layers=2), torch.randint(0, 61, (2, 13)), torch.randint(0, 61, (2, 13)), least=1.0)

    def test_data_flow(self):
        trained(self, Language(), torch.randint(0, 61, (2, 13)), torch.randint(0, 61, (2, 13)), least=1.0, fusion_type="dataflow")

    def test_products_in_programs(self):
        _, share = trained(self, MLP(), torch.randn(5, 17), least=1.0, fuser_products=True)
        self.assertEqual(share, 1.0)

    def test_nothing_computed_again(self):
        trained(self, MLP(), torch.randn(5, 17), least=1.0, fuser_recompute=False)

    def test_narrow_floats(self):
        trained(self, MLP().to(BF16), torch.randn(5, 17).to(BF16), least=1.0)
        trained(self, Language().to(BF16), torch.randint(0, 61, (2, 13)), torch.randint(0, 61, (2, 13)), least=1.0)

    def test_mixed_types(self):
        f = lambda x, y, z: ((x * y).sum(-1), (y + z) * 2, torch.where(x > 0, y, z))  # noqa: E731
        x, y, z = torch.randn(3, 5), torch.randn(3, 5).to(BF16), torch.arange(15).reshape(3, 5)
        made = thunder.jit(f, executors=[executor])
        for a, b in zip(made(x, y, z), f(x, y, z)):
            self.assertEqual(a.dtype, b.dtype)
            torch.testing.assert_close(a, b)

    def test_sizes_that_change(self):
        model = MLP()
        jitted = thunder.jit(model, executors=[executor])
        for rows in (1, 7, 13, 7):
            x = torch.randn(rows, 17)
            torch.testing.assert_close(jitted(x), model(x))
        self.assertEqual(thunder.cache_misses(jitted), 3)
        f = lambda x: (x * 2).softmax(-1).sum(0)  # noqa: E731
        symbolic = thunder.jit(f, executors=[executor], cache="symbolic values")
        for rows in (3, 7, 13):
            x = torch.randn(rows, 5)
            torch.testing.assert_close(symbolic(x), f(x))


class Traps(unittest.TestCase):
    """The places where an executor is silently wrong."""

    def setUp(self):
        torch.manual_seed(0)

    def same(self, f, *args, exact=False, **options):
        jitted = thunder.jit(f, executors=[executor], **options)
        mine, other = ([x.clone() if isinstance(x, torch.Tensor) and 0 not in x.stride() else x for x in args] for _ in range(2))
        for x, y in zip(flat(jitted(*mine)), flat(f(*other)), strict=True):
            self.assertEqual((x.dtype, x.shape), (y.dtype, y.shape))
            torch.testing.assert_close(x, y, equal_nan=True)
        for x, y in zip(mine, other):
            torch.testing.assert_close(x, y)
        return jitted

    def test_inputs_that_are_views(self):
        x = torch.randn(6, 10)
        f = thunder.jit(lambda x: ((x + 1).relu(), x.t() * 2, x.exp().sum(0)), executors=[executor])
        g = lambda x: ((x + 1).relu(), x.t() * 2, x.exp().sum(0))  # noqa: E731
        for view in (x, x.t(), x[::2], x[:, ::3], x[1:, 1:], x[:1], x[:, :1].expand(6, 4), torch.randn(3, 0), torch.randn(1, 1)):
            for a, b in zip(f(view), g(view), strict=True):
                torch.testing.assert_close(a, b)
        image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
        torch.testing.assert_close(f(image[0, 0])[0], (image[0, 0] + 1).relu())

    def test_addresses_and_negative_bits(self):
        whole = torch.randn(100)
        f = thunder.jit(lambda x: x * 2 + 1, executors=[executor])
        for offset in range(8):
            x = whole[offset : offset + 64]
            self.assertTrue(torch.equal(f(x), x * 2 + 1))
        x = torch.randn(64, dtype=torch.complex64).conj().imag
        self.assertTrue(x.is_neg())
        self.assertTrue(torch.equal(f(x), x * 2 + 1))

    def test_results_that_are_views_stay_views(self):
        f = thunder.jit(lambda x: (x.t(), x * 2, x.reshape(-1)), executors=[executor])
        x = torch.randn(3, 4)
        y, _, z = f(x)
        self.assertEqual((y.data_ptr(), z.data_ptr()), (x.data_ptr(), x.data_ptr()))

    def test_results_twice_and_arguments(self):
        def f(x):
            y = x * 2
            return x, y, y, y.view(2, -1), x.view(2, 2), None, 3

        jitted = thunder.jit(f, executors=[executor])
        x = torch.randn(4)
        for a, b in zip(jitted(x), f(x), strict=True):
            self.assertTrue(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b)

    def test_writes_into_inputs(self):
        def add(x, y):
            x.add_(y)
            return x * 2

        def before_and_behind(x, y):
            z = x.exp() * y
            x.mul_(2)
            return z + y, z * x, x.t()

        def across(x, y):
            z = x.exp() + 1
            w = torch.matmul(z, y)
            x.copy_(w)
            return z * w, z - w

        def computed_again(x, y):
            z = x.exp()
            w = torch.matmul(z.sum(0)[None], y)
            x.copy_(y)
            return z * torch.matmul(w, y) + 1

        def moved(x, y):
            z = (x + 1).reshape(-1)
            w = torch.matmul(y, y).exp()
            x.copy_(w)
            return (w * 2).sum() + z.sum(), z

        for kind in ("consecutive", "dataflow"):
            self.same(computed_again, torch.randn(4, 4), torch.randn(4, 4), fusion_type=kind)
            self.same(moved, torch.randn(4, 4), torch.randn(4, 4), fusion_type=kind)
        self.same(add, torch.randn(5), torch.randn(5))
        self.same(before_and_behind, torch.randn(4, 4), torch.randn(4, 4))
        self.same(across, torch.randn(4, 4), torch.randn(4, 4))

    def test_random_numbers_stay_with_torch(self):
        x = torch.randn(31, 17)
        jitted = thunder.jit(lambda x: F.dropout(x * 2, 0.5) + 1, executors=[executor])
        by_torch = thunder.jit(lambda x: F.dropout(x * 2, 0.5) + 1, executors=[])
        torch.manual_seed(3)
        y = jitted(x)
        torch.manual_seed(3)
        self.assertTrue(torch.equal(y, by_torch(x)))

    def test_complex_numbers_and_other_types_stay_with_torch(self):
        jitted = thunder.jit(lambda z, x: (z * 2 + 1, x * 2), executors=[executor])
        z, x = torch.randn(5, dtype=torch.complex64), torch.randn(5)
        with self.assertLogs("fuser", "INFO") as log:
            a, b = jitted(z, x)
        self.assertTrue(torch.equal(a, z * 2 + 1) and torch.equal(b, x * 2))
        self.assertTrue(any("complex64" in line for line in log.output))

    def test_integers_divided_by_zero_raise_as_in_torch(self):
        jitted = thunder.jit(lambda x, y: x // y + 1, executors=[executor])
        with self.assertRaises(RuntimeError):
            jitted(torch.tensor([1, 2]), torch.tensor([1, 0]))

    def test_numbers_that_are_known_late(self):
        self.same(lambda x: x * x.sum().item() + 1, torch.ones(3))

    def test_options(self):
        f = lambda x: x.exp() * 2  # noqa: E731
        jitted = self.same(f, torch.randn(5), fuser_skip=["exp"], fuser_threads=1)
        self.assertEqual(ran(jitted)[1], ["exp"])
        jitted = self.same(lambda x: x.t().reshape(-1), torch.randn(3, 4))
        self.assertEqual(ran(jitted)[0], [])

    def test_fuel(self):
        executor.set_fuel(1)
        try:
            jitted = self.same(lambda x, w: torch.matmul(x.exp(), w).exp(), torch.randn(3, 3), torch.randn(3, 3))
            self.assertEqual(ran(jitted)[0], [PrimIDs.EXP])
        finally:
            executor.set_fuel(thunder.extend.FUEL_LEVEL.UNLIMITED)

    def test_a_region_that_fails_is_run_by_torch(self):
        x = torch.randn(5, requires_grad=True)
        jitted = thunder.jit(lambda x: (x.sin() * 2).sum(), executors=[executor])
        made, fuser.thunder.make = fuser.thunder.make, lambda *_: (_ for _ in ()).throw(RuntimeError("no code"))
        try:
            with self.assertLogs("fuser", "WARNING") as log:
                jitted(x).backward()
        finally:
            fuser.thunder.make = made
        self.assertIn("no code", log.output[0])
        torch.testing.assert_close(x.grad, 2 * x.detach().cos())
        jitted(x).backward()
        torch.testing.assert_close(x.grad, 4 * x.detach().cos())


if __name__ == "__main__":
    logging.getLogger("fuser").addHandler(logging.NullHandler())
    unittest.main()

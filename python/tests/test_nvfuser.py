"""`fuser.nvfuser` on tensors of PyTorch. Skipped as a whole, and told, where PyTorch is not installed."""

import sys
import unittest

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}; definitions of nvFuser are not tested", flush=True)
    sys.exit(0)

from fuser.nvfuser import DataType, FusionDefinition, LRUCache, LruFusionCache, Refused, compute_tensor_descriptor, version
from fuser.nvfuser.nvfuser_direct_version import Version


def defined(make):
    with FusionDefinition() as fd:
        make(fd)
    return fd


def softmax(fd, *, scale=None):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True])
    n = x.shape()
    m = fd.ops.broadcast_in_dim(fd.ops.max(x, dims=[1]), n, [0])
    e = fd.ops.exp(fd.ops.sub(x, m))
    s = fd.ops.broadcast_in_dim(fd.ops.sum(e, dims=[1]), n, [0])
    fd.add_output(fd.ops.div(e, s))


class Definitions(unittest.TestCase):
    def printed(self, fd, inputs):
        """What a definition prints defines the same."""
        scope = {"FusionDefinition": FusionDefinition, "DataType": DataType, "torch": torch}
        exec(repr(fd), scope)
        again = defined(scope["nvfuser_fusion"])
        self.assertEqual(repr(again), repr(fd))
        for a, b in zip(fd.execute(inputs), again.execute(inputs), strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)

    def test_lengths(self):
        fd = defined(softmax)
        for n in (1, 2, 3, 17, 64):
            x = torch.randn(n, 2 * n + 1)
            (y,) = fd.execute([x])
            torch.testing.assert_close(y, torch.softmax(x, 1), rtol=1e-5, atol=1e-6)
            self.printed(fd, [x])
        (y,) = fd.execute([torch.randn(0, 5)])
        self.assertEqual(y.shape, (0, 5))

    def test_numbers_are_inputs_or_say_what_the_definition_means(self):
        def make(fd):
            x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True])
            a, b, c = fd.define_scalar(dtype=DataType.Double), *fd.define_vector(2)
            fd.add_output(fd.ops.reshape(fd.ops.mul(x, a), [b, c]))

        fd = defined(make)
        x = torch.randn(4, 6)
        for factor, shape in ((2.0, [3, 8]), (0.5, [24, 1]), (2.0, [8, 3])):
            torch.testing.assert_close(fd.execute([x, factor, shape])[0], (x * factor).reshape(shape))
        scaled = defined(lambda fd: fd.add_output(fd.ops.mul(fd.define_tensor([-1]), fd.define_scalar(dtype=DataType.Double))))
        for factor in (1.0, 2.0, float("inf"), 3.5):
            torch.testing.assert_close(scaled.execute([x[0], factor])[0], x[0] * factor)
        self.assertEqual(len(scaled.fec._programs), 1)

    def test_constants(self):
        def make(fd):
            x = fd.define_tensor([-1])
            for c in (2, 3.0, 0.1, True, float("inf"), -float("inf"), 1e300):
                fd.add_output(fd.ops.mul(x, fd.define_scalar(c)))
                fd.add_output(fd.ops.add(x, c))

        x = torch.randn(5)
        fd = defined(make)
        for y in fd.execute([x])[2:6:2]:
            self.assertEqual(y.dtype, torch.float32)
        torch.testing.assert_close(fd.execute([x])[5], x + 0.1)
        self.printed(fd, [x])

    def test_strides(self):
        whole = torch.randn(4, 5, 6)
        for view in (whole, whole.transpose(0, 2), whole[:, ::2], whole[1:, :, 3:], whole[:1], whole[0, 0].expand(4, 5, 6)):
            fd = defined(lambda fd: fd.add_output(fd.ops.sum(fd.ops.mul(fd.from_pytorch(view), 2.0), dims=[1])))
            torch.testing.assert_close(fd.execute([view])[0], (view * 2).sum(1))
            self.printed(fd, [view])
        self.assertEqual(
            compute_tensor_descriptor([2, 3, 1, 5, 4], [28, 4, 14, 0, 1]), ([False, None, True, None, True], [4, 2, 3, 1, 0])
        )
        empty = torch.randn(0).as_strided((2, 0, 3), (0, 0, 0))
        fd = defined(lambda fd: fd.add_output(fd.ops.pad(fd.from_pytorch(empty), [0, 0, 1, 1], 2.0)))
        torch.testing.assert_close(fd.execute([empty])[0], torch.full((2, 2, 3), 2.0))

    def test_results_over_inputs(self):
        def make(fd):
            x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
            z = fd.ops.add(x, y)
            fd.add_output(z, alias_input=x)
            fd.add_output(fd.ops.mul(z, 2.0))

        x, y = torch.randn(3, 4), torch.randn(3, 4)
        wanted = x + y
        (twice,) = defined(make).execute([x, y])
        torch.testing.assert_close(x, wanted)
        torch.testing.assert_close(twice, wanted * 2)

        def returned_too(fd):
            x = fd.define_tensor([-1, -1])
            y = fd.ops.relu(x)
            for result in ((y,), (y, x), (x,)):
                fd.add_output(*result)

        for result in defined(returned_too).execute([x]):
            self.assertIs(result, x)

    def test_several_results_of_an_op(self):
        def make(fd):
            x = fd.define_tensor([-1, -1])
            first, second = x.shape()
            self.assertEqual((x.ndim, x.dtype()), (2, DataType.Float))
            variance, mean = fd.ops.var_mean(x, dims=[1], correction=0)
            self.assertEqual(variance.ndim, 1)
            values, places = fd.ops.topk(x, 2, 1, True, True)
            flat = fd.ops.reshape(x, [fd.ops.mul(first, second)])
            self.assertEqual(flat.ndim, 1)
            self.assertEqual(fd.ops.argsort(x, 1).dtype(), DataType.Int)
            for value in (variance, mean, values, places, flat):
                fd.add_output(value)

        x = torch.randn(5, 7)
        results = defined(make).execute([x])
        wanted = [x.var(1, correction=0), x.mean(1), *torch.topk(x, 2, 1), x.flatten()]
        for a, b in zip(results, wanted, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)

    def test_element_types(self):
        types = {
            torch.float64: DataType.Double, torch.float16: DataType.Half, torch.bfloat16: DataType.BFloat16,
            torch.int64: DataType.Int, torch.int32: DataType.Int32, torch.bool: DataType.Bool, torch.complex64: DataType.ComplexFloat,
        }  # fmt: skip
        for dtype, ours in types.items():
            x = torch.arange(-3, 4).to(dtype)
            fd = defined(lambda fd: fd.add_output(fd.ops.cast(fd.ops.set(fd.define_tensor([-1], dtype=ours)), ours)))
            torch.testing.assert_close(fd.execute([x])[0], x, rtol=0, atol=0)
            made = defined(lambda fd: fd.add_output(fd.ops.full([3], 1, ours)))
            torch.testing.assert_close(made.execute([])[0], torch.ones(3, dtype=dtype))

    def test_random_numbers_follow_pytorchs_seed(self):
        fd = defined(lambda fd: fd.add_output(fd.ops.uniform(0.0, 1.0, shape=[100], dtype=DataType.Float)))
        draws = []
        for seed in (0, 0, 1):
            torch.manual_seed(seed)
            draws.append(fd.execute([])[0])
        self.assertTrue(torch.equal(draws[0], draws[1]))
        self.assertFalse(torch.equal(draws[0], draws[2]))
        self.assertFalse(torch.equal(draws[2], fd.execute([])[0]))

    def test_a_shape_of_one_axis(self):
        def make(fd):
            x, y = fd.define_tensor([-1]), fd.define_tensor([])
            fd.add_output(fd.ops.add(x, fd.ops.broadcast_in_dim(y, x.shape(), [])))

        torch.testing.assert_close(defined(make).execute([torch.ones(3), torch.tensor(2.0)])[0], torch.full((3,), 3.0))

    def test_products_with_scales(self):
        def make(fd):
            x, y = (fd.define_tensor([-1, -1], True, DataType.Float8_e4m3fn) for _ in "xy")
            p, q = (fd.define_tensor(shape, True) for shape in ([-1, 1], [1, -1]))
            product, *scales = fd.ops.scaled_mm(x, y, p, q, dtype=DataType.Float)
            self.assertEqual(scales, [None, None])
            fd.add_output(product)

        x, y = (torch.randn(shape).to(torch.float8_e4m3fn) for shape in ((3, 4), (4, 5)))
        p, q = torch.rand(3, 1), torch.rand(1, 5)
        torch.testing.assert_close(defined(make).execute([x, y, p, q])[0], (x.float() * p) @ (y.float() * q), rtol=1e-5, atol=1e-5)

    def test_elements_of_4_bits(self):
        pairs = torch.randint(0, 256, (3, 4), dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
        codes = pairs.view(torch.uint8)
        values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        wanted = torch.cat([values, -values])[torch.stack([codes & 15, codes >> 4], -1).flatten(1).int()]
        for dtype, shape in ((DataType.Float4_e2m1fn, [3, 8]), (DataType.Float4_e2m1fn, [-1, -1]), (DataType.Float4_e2m1fn_x2, [3, 4])):

            def make(fd):
                x = fd.define_tensor(shape, True, dtype)
                y = fd.ops.cast(x, DataType.Float)
                for result in (x, y, fd.ops.cast(fd.ops.neg(y), DataType.Float4_e2m1fn)):
                    fd.add_output(result)

            same, floats, negated = defined(make).execute([pairs])
            self.assertTrue(torch.equal(same.view(torch.uint8), codes))
            self.assertTrue(torch.equal(negated.view(torch.uint8), codes ^ 0x88))
            torch.testing.assert_close(floats, wanted, rtol=0, atol=0)

        for dtype, given in ((DataType.Float4_e2m1fn, codes.view(torch.float8_e4m3fn)), (DataType.Float, pairs)):
            with self.assertRaisesRegex(RuntimeError, "is of DataType.Float"):
                defined(lambda fd: fd.add_output(fd.define_tensor([-1, -1], True, dtype))).execute([given])

        def transposed(fd):
            x = fd.define_tensor([-1, -1], True, DataType.Float4_e2m1fn, stride_order=[0, 1])
            fd.add_output(fd.ops.cast(x, DataType.Float))

        torch.testing.assert_close(defined(transposed).execute([pairs.t()])[0], wanted.t(), rtol=0, atol=0)

    def test_versions(self):
        self.assertGreater(version(), "0.0.0")
        self.assertTrue(Version("0.10.0+git12") > Version("0.9.1") >= "0.9.1" and Version("1.2") < "1.10")

    def test_a_subclass(self):
        class Twice(FusionDefinition):
            def definition(self):
                self.add_output(self.ops.mul(self.define_tensor([-1]), 2.0))

        torch.testing.assert_close(Twice().execute([torch.ones(3)])[0], torch.full((3,), 2.0))

    def test_validation_scripts_and_segments(self):
        fd = defined(softmax)
        x = torch.randn(3, 5)
        fd.validate([x], [torch.softmax(x, 1)])
        with self.assertRaises(AssertionError):
            fd.validate([x], [torch.softmax(x, 0)])
        torch.testing.assert_close(fd.validate([x])[0], torch.softmax(x, 1))

        def drawn(fd):
            x, y = fd.define_tensor([-1, -1]), fd.ops.uniform(0.0, 1.0, shape=[3, 5], dtype=DataType.Float)
            fd.add_output(fd.ops.linear(x, x))
            fd.add_output(fd.ops.add(x, y), alias_input=x)

        torch.manual_seed(0)
        once, fd = x.clone(), defined(drawn)
        fd.validate([once])
        torch.manual_seed(0)
        fd.execute([x])
        torch.testing.assert_close(once, x)
        script = fd.repro_script_for([x, 2.0, x.T])
        self.assertIn("nvfuser_fusion(fd)", script)
        self.assertIn("torch.testing.make_tensor((3, 5), dtype=torch.float32, device='cpu')", script)
        self.assertIn("as_strided((5, 3), (1, 5))", script)
        exec(fd.repro_script_for([x]), {})
        with self.assertRaisesRegex(AssertionError, "save_repro_inputs"):
            fd.last_repro_script()
        fd.execute([x], save_repro_inputs=True)
        self.assertIn("(3, 5)", fd.last_repro_script())
        self.assertIn("segments", fd.segments())

    def test_executors_are_shared(self):
        cache = LRUCache(max_fusions=4)
        first, second = (cache.cache_compile(defined(softmax).fusion) for _ in range(2))
        self.assertIs(first, second)
        self.assertEqual(cache.num_fusions(), 1)
        made = LruFusionCache(max_fusions=4)(lambda: defined(softmax))
        self.assertIs(made().fec, made().fec)
        self.assertEqual(made.num_fusions(), 1)

    def test_mistakes(self):
        with self.assertRaisesRegex(NotImplementedError, "Fusion does not exist"):
            FusionDefinition().execute([])
        with self.assertRaisesRegex(NotImplementedError, "Fusion is empty"):
            defined(lambda fd: None).execute([])
        fd = defined(softmax)
        with self.assertRaisesRegex(RuntimeError, "1 inputs, 2 are given"):
            fd.execute([torch.ones(2, 2)] * 2)
        with self.assertRaisesRegex(RuntimeError, "is a tensor"):
            fd.execute([1.0])
        with self.assertRaisesRegex(RuntimeError, "shape"):
            fd.execute([torch.ones(2)])
        with self.assertRaises(Refused):
            fd.execute([torch.ones(2, 2, dtype=torch.float64)])
        with self.assertRaisesRegex(AttributeError, "no op `sine`"):
            defined(lambda fd: fd.ops.sine)
        with self.assertRaisesRegex(ValueError, "another definition"):
            other = defined(softmax)
            defined(lambda fd: fd.ops.exp(other.fusion.inputs()[0]))
        with self.assertRaisesRegex(TypeError, "no value of a definition"):
            defined(lambda fd: fd.ops.exp("x"))
        for op, axes in (("sum", [1.0]), ("permute", [0.0, 1.0]), ("cumsum", 0.5), ("var_mean", 3.0)):
            with self.assertRaisesRegex(TypeError, "axes are integers"):
                defined(lambda fd: getattr(fd.ops, op)(fd.define_tensor([-1, -1]), axes))
        for shape, error in (([10.0], TypeError), ([2**63], TypeError), ([-2], RuntimeError), ([1, 2], RuntimeError)):
            with self.assertRaises(error):
                defined(lambda fd: fd.define_tensor(shape, [True]))
        with self.assertRaisesRegex(NotImplementedError, "schedules"):
            fd.sched.inline_most()
        with self.assertRaises(Refused) as refused:
            defined(lambda fd: fd.add_output(fd.ops.reshape(fd.define_tensor([4]), [3]))).execute([torch.ones(4)])
        self.assertRegex(refused.exception.code, r"^FIR\d{4}$")


if __name__ == "__main__":
    unittest.main()

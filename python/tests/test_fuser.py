"""The package on NumPy, and on PyTorch and JAX where these are installed."""

import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import fuser

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
try:
    import torch
except ImportError:
    torch = None
try:
    import jax
except ImportError:
    jax = None

EXP = """task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {
  %y = fusion.exp %x
  task.return %y
}"""

ROWS = """task.program @center(%x: tensor<[A]x[B]xf32>) -> (tensor<[A]x[B]xf32>, tensor<[A]xf32>) {
  %m = fusion.mean %x dims [1]
  %b = fusion.broadcast %m dims [0] shape [[A], [B]]
  %y = fusion.sub %x, %b
  task.return %y, %m
}"""


def identity(dtype, shape="[N]x"):
    kind = f"tensor<{shape}{dtype}>"
    return f"task.program @f(%x: {kind}) -> {kind} {{\n  %y = fusion.neg %x\n  %z = fusion.neg %y\n  task.return %z\n}}"


def returned(dtype):
    kind = f"tensor<[N]x{dtype}>"
    return f"task.program @f(%x: {kind}) -> {kind} {{\n  %y = fusion.flip %x dims [0]\n  task.return %y\n}}"


class Programs(unittest.TestCase):
    def test_names_of_other_packages_are_told(self):
        for name, advice in [("jit", "fuser.jax.jit"), ("compile", "Program.compile"), ("parse", "Program.parse")]:
            with self.assertRaisesRegex(AttributeError, f"has no attribute '{name}': .*{advice}"):
                getattr(fuser, name)
        with self.assertRaisesRegex(AttributeError, "has no attribute 'no_such'$"):
            fuser.no_such
        self.assertFalse(hasattr(fuser, "__wrapped__"))
        program = fuser.Program.parse(EXP)
        for owner, name, advice in [(program, "run", "compile"), (program.compile(), "explain", "program.explain")]:
            with self.assertRaisesRegex(AttributeError, f"has no attribute '{name}': .*{advice}"):
                getattr(owner, name)
            self.assertFalse(hasattr(owner, "__wrapped__"))
        for call, advice in [
            (lambda: program(1), "compile"),
            (lambda: fuser.Program(EXP), "Program.parse"),
            (lambda: program.compile(dynamic=True), "named extents"),
            (lambda: program.compile(N=3), 'shapes={"N": ...}'),
            (lambda: program.compile(optimize=1), "it takes target, shapes"),
        ]:
            with self.assertRaisesRegex(TypeError, advice):
                call()

    def test_masked_arrays_are_refused(self):
        f = fuser.Program.parse(EXP).compile()
        x = np.ma.masked_array(np.zeros(3, np.float32), mask=[False, True, False])
        with self.assertRaisesRegex(fuser.Error, "input `x` is a masked array.*\n.*filled"):
            f(x)
        self.assertEqual(f(x.filled(0)).tolist(), [1, 1, 1])
        # A subclass without more meaning is an array.
        self.assertEqual(f(np.zeros(3, np.float32).view(np.recarray)).tolist(), [1, 1, 1])

    def test_files_are_read_under_their_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "exp.fir")
            path.write_text(EXP)
            self.assertEqual(fuser.Program.from_file(path).name, "f")
            path.write_text(EXP.replace("fusion.exp", "fusion.expp"))
            with self.assertRaisesRegex(fuser.Error, "exp.fir:"):
                fuser.Program.from_file(str(path))
            with self.assertRaises(FileNotFoundError):
                fuser.Program.from_file(pathlib.Path(folder, "none"))

    def test_text_is_kept(self):
        program = fuser.Program.parse(EXP)
        self.assertEqual(program.name, "f")
        self.assertEqual(program.extents, ["N"])
        self.assertEqual(program.inputs, [{"name": "x", "dtype": "f32", "shape": ["N"]}])
        self.assertEqual(str(fuser.Program.parse(str(program))), str(program))

    def test_a_mistake_has_code_place_and_caret(self):
        with self.assertRaises(fuser.Error) as caught:
            fuser.Program.parse(EXP.replace("fusion.exp", "fusion.ex"), filename="mine.fir")
        error = caught.exception
        self.assertRegex(error.code, r"^FIR\d{4}$")
        self.assertEqual(error.place[:2], ("mine.fir", 2))
        self.assertIn("fusion.ex", str(error))
        self.assertIn("^", str(error))

    def test_several_programs_need_a_choice(self):
        two = EXP + EXP.replace("@f", "@g")
        self.assertEqual(fuser.Program.parse(two, entry="g").name, "g")
        with self.assertRaises(fuser.Error):
            fuser.Program.parse(two)

    def test_segments_from_shapes_alone(self):
        program = fuser.Program.parse(ROWS)
        self.assertEqual(program.report(shapes={"A": 4, "B": 8})["total_bytes"], 4 * (4 * 8 * 2 + 4))
        self.assertIn("A*B", program.report()["total_bytes"])

    def test_report_as_a_page(self):
        program = fuser.Program.parse(ROWS)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.html"
            report = program.report(html=path)
            page = path.read_text()
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        self.assertEqual(data["modules"][0]["programs"][0]["report"], report)
        with self.assertRaises(OSError):
            program.report(html="no/such/folder/page.html")
        self.assertIn("task.segment", program.segmented(shapes={"A": 4, "B": 8}))


class Calls(unittest.TestCase):
    def setUp(self):
        self.exp = fuser.Program.parse(EXP).compile()
        self.rows = fuser.Program.parse(ROWS).compile()

    def test_sizes(self):
        for n in (0, 1, 2, 3, 17, 64, 65, 1021):
            x = np.linspace(-3, 3, n, dtype=np.float32)
            np.testing.assert_allclose(self.exp(x), np.exp(x), rtol=1e-6)

    def test_results_are_new_arrays_that_outlive_everything(self):
        x = np.ones((5, 7), np.float32)
        y, m = self.rows(x)
        self.assertEqual((y.shape, m.shape, y.dtype), ((5, 7), (5,), np.float32))
        self.assertTrue(y.flags.writeable and y.flags.c_contiguous)
        del x
        gc.collect()
        np.testing.assert_array_equal(y, np.zeros((5, 7)))

    def test_strides_are_read_or_copied_and_counted(self):
        whole = np.arange(24, dtype=np.float32).reshape(4, 6)
        self.rows(whole)
        self.assertEqual(self.rows.copies, 0)
        views = [whole[::2], whole[:, ::2], whole[::-1], whole[:, ::-1], whole.T[::2], whole[1:, 1:]]
        for number, view in enumerate(views, 1):
            y, m = self.rows(view)
            np.testing.assert_array_equal(m, view.mean(1))
            np.testing.assert_array_equal(y, view - view.mean(1, keepdims=True))
            self.assertEqual(self.rows.copies, number)

        self.assertEqual(self.rows.copied, {"x": len(views)})

    def test_a_dense_array_is_read_where_it_lies(self):
        whole = np.arange(24, dtype=np.float32).reshape(4, 6)
        row = np.arange(6, dtype=np.float32)
        views = [whole.T, np.asfortranarray(whole), whole[1:3], whole[:1, :4], whole[:, 2:3][:1], np.zeros((3, 0), np.float32).T,
                 np.broadcast_to(row, (5, 6)), np.broadcast_to(row[:, None], (6, 4)), np.broadcast_to(np.float32(3), (2, 3))]
        for view in views:
            y, m = self.rows(view)
            np.testing.assert_array_equal(m, view.mean(1), str(view.strides))
            np.testing.assert_array_equal(y, view - view.mean(1, keepdims=True))
        self.assertEqual(self.rows.copies, 0)
        cube = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
        text = "task.program @f(%x: tensor<[A]x[B]x[C]xf32>) -> (tensor<[A]x[B]x[C]xf32>, tensor<[A]x[B]x[C]xf32>) {\n  %y = fusion.neg %x\n  task.return %y, %x\n}"
        f = fuser.Program.parse(text).compile()
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            view = cube.transpose(order)
            y, x = f(view)
            np.testing.assert_array_equal(y, -view)
            np.testing.assert_array_equal(x, view)
        self.assertEqual(f.copies, 0)

    def test_a_copy_is_logged_with_its_reason(self):
        with self.assertLogs("fuser", "INFO") as logs:
            for _ in range(3):
                self.rows(np.zeros((4, 6), np.float32)[:, ::2])
        self.assertEqual(len(logs.output), 1)
        self.assertIn("`x`", logs.output[0])

    def test_results_are_written_where_the_caller_says(self):
        x = np.random.default_rng(0).random((5, 7), np.float32)
        expected, mean = x - x.mean(1, keepdims=True), x.mean(1)
        y, m = np.zeros((5, 7), np.float32), np.zeros(5, np.float32)
        got = self.rows(x, out=(y, m))
        self.assertTrue(got[0] is y and got[1] is m)
        np.testing.assert_allclose(y, expected, atol=1e-6)
        np.testing.assert_allclose(m, mean, rtol=1e-6)
        got = self.rows(x, out=(None, m))
        self.assertIsNot(got[0], y)
        self.assertIsNone(self.rows.call_into([y, m], x=x))
        self.assertEqual(self.rows.copies, 0)
        # Any dense order is written where it lies; gaps, odd addresses and overlaps go through a copy.
        for order, copies in ((np.zeros((7, 5), np.float32).T, 0), (np.zeros((5, 14), np.float32)[:, ::2], 1), (np.zeros((5, 7), np.float32)[::-1], 1)):
            before = self.rows.copies
            self.rows(x, out=[order, None])
            np.testing.assert_allclose(order, expected, atol=1e-6)
            self.assertEqual(self.rows.copies - before, copies)
        memory = np.zeros(4 * 40, np.uint8)
        for offset in (1, 4, 8, 12):
            odd = memory[offset : offset + 4 * 35].view(np.float32).reshape(5, 7)
            before = self.rows.copies
            self.rows(x, out=(odd, m))
            np.testing.assert_allclose(odd, expected, atol=1e-6)
            self.assertEqual(self.rows.copies - before, offset == 1)
        same = x.copy()
        before = self.rows.copies
        self.rows(same, out=(same, None))
        np.testing.assert_allclose(same, expected, atol=1e-6)
        shifted = np.concatenate([x.ravel(), np.zeros(9, np.float32)])
        self.rows(shifted[:35].reshape(5, 7), out=(shifted[3:38].reshape(5, 7), None))
        np.testing.assert_allclose(shifted[3:38].reshape(5, 7), expected, atol=1e-6)
        self.assertEqual(self.rows.copies - before, 2)
        both = np.zeros((5,), np.float32)
        square = fuser.Program.parse("task.program @f(%x: tensor<[N]xf32>) -> (tensor<[N]xf32>, tensor<[N]xf32>) {\n  %y = fusion.mul %x, %x\n  %z = fusion.neg %x\n  task.return %y, %z\n}").compile()
        square(np.full(5, 3, np.float32), out=(both, both))
        np.testing.assert_array_equal(both, np.full(5, -3, np.float32))

    def test_arrays_that_results_cannot_go_to(self):
        x = np.ones((5, 7), np.float32)
        y, m = np.zeros((5, 7), np.float32), np.zeros(5, np.float32)
        frozen = y.copy()
        frozen.flags.writeable = False
        for out in (y, (y,), (y, m, m), (y.astype(np.float64), m), (y[:4], m), (y, m[None]), (frozen, m), (np.broadcast_to(m[:, None], (5, 7)), m),
                    (1.0, m), ("y", m), (object(), m)):
            with self.subTest(str(out)[:40]), self.assertRaises((fuser.Error, TypeError)):
                self.rows(x, out=out)
        for call in (lambda: self.rows.call_into(None, x), lambda: self.rows.call_into([y, None], x), lambda: self.rows.call_list(x),
                     lambda: self.rows.call_list([x], strides=[(7, 1)])):
            with self.assertRaises((fuser.Error, TypeError)):
                call()

    def test_strides_of_new_results_are_chosen(self):
        x = np.random.default_rng(0).random((5, 7), np.float32)
        for strides in ((7, 1), (1, 5)):
            y, m = self.rows(x, strides=[strides, None])
            self.assertEqual(tuple(step // 4 for step in y.strides), strides)
            np.testing.assert_allclose(y, x - x.mean(1, keepdims=True), atol=1e-6)
        for wrong in ((1, 1), (8, 1), (0, 1), (-7, 1), (7,)):
            with self.assertRaises(fuser.Error):
                self.rows(x, strides=[wrong, None])
        y = self.rows(x[:1], strides=[(999, 1), None])[0]
        self.assertEqual(y.strides, (4 * 999, 4))

    def test_results_overwrite_arguments(self):
        text = "task.program @step(%x: tensor<[A]x[B]xf32>, %g: tensor<[A]x[B]xf32>) -> (tensor<[A]x[B]xf32> {alias = 0 : i64}, tensor<[A]xf32>) {\n  %y = fusion.sub %x, %g\n  %s = fusion.sum %x dims [1]\n  task.return %y, %s\n}"
        step = fuser.Program.parse(text).compile()
        rng = np.random.default_rng(0)
        for shape in ((4, 6), (1, 1), (0, 3), (33, 65)):
            x, g = rng.random(shape, np.float32), rng.random(shape, np.float32)
            old = x.copy()
            y, s = step(x, g)
            self.assertIs(y, x)
            np.testing.assert_array_equal(x, old - g)
            np.testing.assert_allclose(s, old.sum(1), rtol=1e-5)
        self.assertEqual(step.copies, 0)
        x, g = np.asfortranarray(rng.random((4, 6), np.float32)), rng.random((4, 6), np.float32)
        expected = x - g
        self.assertIs(step(x, g)[0], x)
        np.testing.assert_array_equal(x, expected)
        self.assertEqual(step.copies, 0)
        whole = rng.random((4, 12), np.float32)
        expected = whole[:, ::2] - g
        step(whole[:, ::2], g)
        np.testing.assert_array_equal(whole[:, ::2], expected)
        self.assertGreater(step.copies, 0)
        # The argument twice, and over the other one.
        x = rng.random((4, 6), np.float32)
        step(x, x)
        np.testing.assert_array_equal(x, np.zeros((4, 6), np.float32))
        memory = rng.random(30, np.float32)
        old = memory.copy()
        step(memory[:24].reshape(4, 6), memory[6:].reshape(4, 6))
        np.testing.assert_array_equal(memory[:24], old[:24] - old[6:])
        # A place of the caller's leaves the argument alone.
        x, y = rng.random((4, 6), np.float32), np.zeros((4, 6), np.float32)
        old = x.copy()
        step(x, g, out=(y, None))
        np.testing.assert_array_equal(x, old)
        np.testing.assert_array_equal(y, old - g)
        x.flags.writeable = False
        with self.assertRaisesRegex(fuser.Error, "read-only"):
            step(x, g)

    def test_an_input_begins_anywhere(self):
        memory = np.zeros(4 * 1000 + 64, np.uint8)
        for offset in range(0, 64, 4):
            x = memory[offset : offset + 4 * 999].view(np.float32)
            x[:] = np.linspace(-1, 1, 999)
            np.testing.assert_allclose(self.exp(x), np.exp(x), rtol=1e-6)
        self.assertEqual(self.exp.copies, 0)
        x = memory[1 : 1 + 4 * 999].view(np.float32)
        x[:] = 0.5
        np.testing.assert_allclose(self.exp(x), np.exp(x), rtol=1e-6)
        self.assertEqual(self.exp.copies, 1)

    def test_element_types(self):
        names = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1",
                 "ui64": "u8", "ui32": "u4", "ui16": "u2", "ui8": "u1", "i1": "?"}
        for name, code in names.items():
            x = np.array([0, 1, 1, 0, 1], dtype=code)
            y = fuser.Program.parse(returned(name)).compile()(x)
            self.assertEqual(y.dtype, x.dtype, name)
            np.testing.assert_array_equal(y, x[::-1])
        for code in ("c8", "c16"):
            x = np.array([1 + 2j, 3 - 4j], dtype=code)
            name = {"c8": "complex<f32>", "c16": "complex<f64>"}[code]
            np.testing.assert_array_equal(fuser.Program.parse(returned(name)).compile()(x), x[::-1])

    @unittest.skipIf(ml_dtypes is None, "ml_dtypes is not installed")
    def test_element_types_of_ml_dtypes(self):
        for name, ty in (("bf16", "bfloat16"), ("f8E4M3FN", "float8_e4m3fn"), ("f8E5M2", "float8_e5m2")):
            x = np.array([0, 1, -2, 0.5], dtype=getattr(ml_dtypes, ty))
            y = fuser.Program.parse(returned(name)).compile()(x)
            self.assertEqual(y.dtype, x.dtype)
            np.testing.assert_array_equal(y.astype(np.float32), x[::-1].astype(np.float32))

    def test_scalars_are_numbers_of_python(self):
        text = "task.program @f(%x: tensor<[N]xf32>, %a: f32, %n: i32) -> (tensor<[N]xf32>, i32) {\n  %y = fusion.mul %x, %a\n  %m = fusion.add %n, %n\n  task.return %y, %m\n}"
        f = fuser.Program.parse(text).compile()
        y, m = f(np.ones(3, np.float32), 2.5, 21)
        np.testing.assert_array_equal(y, np.full(3, 2.5, np.float32))
        self.assertEqual((m.shape, int(m)), ((), 42))
        y, _ = f(np.ones(3, np.float32), a=2, n=np.int32(1))
        np.testing.assert_array_equal(y, np.full(3, 2, np.float32))
        for wrong in (2**31, 1.5, "1", None, 1j):
            with self.assertRaises(fuser.Error):
                f(np.ones(3, np.float32), 1.0, wrong)

    def test_any_buffer_is_an_array(self):
        import array

        x = array.array("f", [0, 1, 2])
        np.testing.assert_allclose(self.exp(x), np.exp(np.array(x)), rtol=1e-6)

    def test_wrong_arguments_are_errors(self):
        x = np.ones((3, 3), np.float32)
        wrong = [
            (), (x, x), ([1.0],), (object(),), (None,), (3.0,), (x.astype(np.float64),), (x.astype(">f4"),),
            (x[0],), (np.array(["a"]),), (np.array([object()]),), (np.zeros((3, 3), "datetime64[s]"),),
        ]
        for arguments in wrong:
            with self.subTest(repr(arguments)), self.assertRaises((fuser.Error, TypeError)):
                self.rows(*arguments)
        for named in ({"y": x}, {"x": x, "y": x}):
            with self.subTest(repr(named)), self.assertRaises(fuser.Error):
                self.rows(**named)
        with self.assertRaises(fuser.Error):
            self.rows(x, x=x)
        two = fuser.Program.parse("task.program @f(%x: tensor<[N]xf32>, %y: tensor<[N]xf32>) -> tensor<[N]xf32> {\n  %z = fusion.add %x, %y\n  task.return %z\n}")
        with self.assertRaisesRegex(fuser.Error, "extent `N` is 3"):
            two.compile()(np.ones(3, np.float32), np.ones(4, np.float32))

    def test_threads_call_at_the_same_time(self):
        failures = []

        def work(seed):
            x = np.random.default_rng(seed).random((31 + seed, 257), np.float32)
            for _ in range(50):
                y, m = self.rows(x)
                if not (np.allclose(y, x - x.mean(1, keepdims=True), atol=1e-5) and np.allclose(m, x.mean(1))):
                    failures.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(failures, [])

    def test_calls_leave_nothing_behind(self):
        import resource

        x = np.ones((8, 8), np.float32)
        wrong = np.ones((8, 8), np.float64)

        def round():
            for _ in range(2000):
                self.rows(x)
                try:
                    self.rows(wrong)
                except fuser.Error:
                    pass

        round()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(5):
            round()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 1024, "KiB more after 10,000 calls and as many errors")


class Memory(unittest.TestCase):
    """Memory of freed results."""

    def setUp(self):
        fuser.release_memory()
        text = "task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {\n  %y = fusion.add %x, %x\n  task.return %y\n}"
        self.double = fuser.Program.parse(text).compile()

    def test_a_result_takes_the_memory_of_one_that_was_freed(self):
        x = np.arange(1 << 18, dtype=np.float32)
        y = self.double(x)
        address = y.ctypes.data
        other = self.double(x)
        self.assertNotEqual(other.ctypes.data, address)
        view = y[1:]
        del y
        third = self.double(x)
        self.assertNotEqual(third.ctypes.data, address)  # The view keeps it.
        del view
        self.assertEqual(self.double(x[:-5]).ctypes.data, address)
        np.testing.assert_array_equal(other, x + x)

    def test_memory_is_given_back(self):
        x = np.ones(1 << 18, np.float32)
        small = self.double(x[:8])
        del small
        self.assertEqual(fuser.release_memory(), 0)
        y = self.double(x)
        self.assertEqual(fuser.release_memory(), 0)
        del y
        self.assertEqual(fuser.release_memory(), x.nbytes)
        self.assertEqual(fuser.release_memory(), 0)

    def test_threads_take_and_free_at_once(self):
        x = np.arange(1 << 17, dtype=np.float32)

        def work():
            for _ in range(50):
                y = self.double(x)
                self.assertEqual(y[-1], 2 * x[-1])
                del y

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(fuser.release_memory(), 4 * x.nbytes)


class Builders(unittest.TestCase):
    def test_ops_come_from_the_table(self):
        b = fuser.Builder("center")
        x = b.input("x", "f32", ["B", 8])
        mean = b.mean(x, dims=[1], name="mean")
        y = x - b.broadcast(mean, dims=[0], shape=["B", 8])
        half = b.mul(y, b.constant(0.5, "f32"))
        program = b.build(half, mean)
        self.assertEqual(program.outputs[1], "mean")
        a = np.random.default_rng(1).random((3, 8), np.float32)
        got, m = program.compile()(a)
        np.testing.assert_allclose(got, (a - a.mean(1, keepdims=True)) / 2, atol=1e-6)
        np.testing.assert_allclose(m, a.mean(1), rtol=1e-6)
        self.assertIn("dims", fuser.Builder.broadcast.__doc__)

    def test_a_mistake_is_at_the_caller_s_line(self):
        b = fuser.Builder()
        x, y = b.input("x", "f32", [3]), b.input("y", "f32", [4])
        z = x + y
        with self.assertRaises(fuser.Error) as caught:
            b.build(z)
        self.assertIn("test_fuser.py", str(caught.exception))

    def test_wrong_uses(self):
        b, other = fuser.Builder(), fuser.Builder()
        x = b.input("x", "f32", [3])
        for call in (
            lambda: b.exp(x, x), lambda: b.exp(3.0), lambda: other.exp(x), lambda: b.sum(x, axis=[0]), lambda: b.sum(x),
            lambda: b.compare(x, x, predicate="less"), lambda: b.input("x", "f32"), lambda: b.sum(x, dims=0),
        ):
            with self.assertRaises((TypeError, ValueError)):
                call()


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Torch(unittest.TestCase):
    def setUp(self):
        self.rows = fuser.Program.parse(ROWS).compile()

    def test_tensors_in_and_out(self):
        x = torch.randn(5, 7)
        y, m = self.rows(x)
        self.assertIsInstance(y, torch.Tensor)
        torch.testing.assert_close(y, x - x.mean(1, keepdim=True))
        y.add_(1)
        del x
        gc.collect()
        torch.testing.assert_close(y.mean(1), torch.ones(5))
        for view in (torch.randn(7, 5).T, torch.randn(9, 7)[2:], torch.randn(4, 8)[:, 1:], torch.randn(1, 7).expand(3, 7)):
            torch.testing.assert_close(self.rows(view)[0], view - view.mean(1, keepdim=True))
        self.assertEqual(self.rows(torch.zeros(0, 3))[0].shape, (0, 3))

    def test_tensors_written_where_the_caller_says(self):
        x, y, m = torch.randn(5, 7), torch.empty(7, 5).T, torch.empty(5)
        got = self.rows(x, out=(y, m))
        self.assertTrue(got[0] is y and got[1] is m)
        torch.testing.assert_close(y, x - x.mean(1, keepdim=True))
        y, _ = self.rows.call_list((x,), None, [(1, 5), None])
        self.assertEqual(y.stride(), (1, 5))
        for view in (x.T.contiguous().T, x[1:2].expand(4, 7), x[:, :1].contiguous().expand(5, 3)):
            torch.testing.assert_close(self.rows(view)[0], view - view.mean(1, keepdim=True))
        self.assertEqual(self.rows.copies, 0)

    def test_a_parameter_is_read_where_the_caller_says_so(self):
        x = torch.nn.Parameter(torch.randn(5, 7))
        y, _ = self.rows.call_list([x], unchecked=True)
        self.assertFalse(y.requires_grad)
        torch.testing.assert_close(y, x.detach() - x.detach().mean(1, keepdim=True))

    def test_element_types(self):
        for name, ty in (("bf16", torch.bfloat16), ("f16", torch.float16), ("i64", torch.int64), ("ui8", torch.uint8),
                         ("i1", torch.bool), ("complex<f32>", torch.complex64), ("f8E4M3FN", torch.float8_e4m3fn)):
            x = torch.tensor([0, 1, 1, 0]).to(ty)
            y = fuser.Program.parse(returned(name)).compile()(x)
            self.assertEqual(y.dtype, ty)
            self.assertTrue(torch.equal(y.to(torch.complex64), x.to(torch.complex64).flip(0)))

    def test_tensors_that_must_not_be_read_as_they_lie(self):
        x = torch.randn(2, 3, requires_grad=True)
        with self.assertRaisesRegex(fuser.Error, "gradients"):
            self.rows(x)
        with torch.no_grad():
            self.rows(x)
        turned = torch.randn(2, 3, dtype=torch.complex64).conj().imag
        self.assertTrue(turned.is_neg())
        with self.assertRaisesRegex(fuser.Error, "sign"):
            self.rows(turned)
        conjugate = fuser.Program.parse(returned("complex<f32>")).compile()
        turned = torch.randn(3, dtype=torch.complex64).conj()
        with self.assertRaisesRegex(fuser.Error, "conjugate"):
            conjugate(turned)
        torch.testing.assert_close(conjugate(turned.resolve_conj()), turned.flip(0))
        with self.assertRaisesRegex(fuser.Error, "conjugate"):
            conjugate(turned.resolve_conj(), out=torch.zeros(3, dtype=torch.complex64).conj())
        with self.assertRaises((fuser.Error, BufferError, RuntimeError)):
            self.rows(torch.randn(2, 3).to_sparse())
        with self.assertRaises((fuser.Error, BufferError, RuntimeError)):
            self.rows(torch.randn(2, 3, device="meta"))


class Cache(unittest.TestCase):
    """What one process compiled, another one loads."""

    def loads_llvm(self, text, **variables):
        """The last line that a process prints, and whether it loaded LLVM."""
        text = f"import numpy as np, fuser\nrows = fuser.Program.parse({ROWS!r})\n{text}\nprint('LLVM' in open('/proc/self/maps').read().replace('llvm', 'LLVM'))"
        environment = {**os.environ, **variables}
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        result, loaded = done.stdout.split("\n")[-3:-1]
        return result, loaded == "True"

    @unittest.skipUnless(sys.platform == "linux", "tells libraries by /proc")
    def test_a_second_process_loads_no_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            call = "print([float(a.sum()) for a in f(np.arange(12, dtype=np.float32).reshape({}))])"
            text = f"f = rows.compile(cache={folder!r})\n" + call
            first = self.loads_llvm(text.format("3, 4"))
            self.assertTrue(first[1])
            self.assertEqual(self.loads_llvm(text.format("3, 4")), (first[0], False))
            # Other extents, the same code; other layouts, other code.
            self.assertFalse(self.loads_llvm(text.format("2, 6"))[1])
            self.assertTrue(self.loads_llvm(text.format("3, 4, order='F'"))[1])
            self.assertFalse(self.loads_llvm(text.format("3, 4, order='F'"))[1])
            for entry in os.scandir(folder):
                with open(entry, "r+b") as file:
                    file.truncate(entry.stat().st_size // 2)
            self.assertEqual(self.loads_llvm(text.format("3, 4")), first)

    @unittest.skipUnless(sys.platform == "linux", "tells libraries by /proc")
    def test_a_variable_or_an_option_states_the_folder(self):
        call = "f(np.zeros((3, 4), np.float32)); print()"
        with tempfile.TemporaryDirectory() as folder:
            usual = f"f = rows.compile(); {call}"
            self.assertTrue(self.loads_llvm(usual, FUSER_CACHE_DIR=folder)[1])
            self.assertFalse(self.loads_llvm(usual, FUSER_CACHE_DIR=folder)[1])
            self.assertFalse(self.loads_llvm(f"f = rows.compile(cache=True); {call}", FUSER_CACHE_DIR=folder)[1])
            self.assertTrue(self.loads_llvm(f"f = rows.compile(cache=False); {call}", FUSER_CACHE_DIR=folder)[1])
            self.assertTrue(self.loads_llvm(usual, FUSER_CACHE_DIR="")[1])
            self.assertTrue(self.loads_llvm(f"import pathlib; f = rows.compile(cache=pathlib.Path({folder!r})); {call}")[1] is False)

    def test_what_is_no_folder_is_refused(self):
        for wrong in (3, 1.5, ["folder"]):
            with self.assertRaises(TypeError):
                fuser.Program.parse(EXP).compile(cache=wrong)


@unittest.skipIf(jax is None, "JAX is not installed")
class Jax(unittest.TestCase):
    def test_arrays_in_and_out(self):
        import jax.numpy as jnp

        rows = fuser.Program.parse(ROWS).compile()
        x = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)
        y, m = rows(x)
        self.assertIsInstance(y, jax.Array)
        np.testing.assert_allclose(m, np.asarray(x).mean(1))

    def test_stablehlo_of_jax(self):
        import jax.numpy as jnp

        def loss(x, w):
            return jnp.mean(jax.nn.softmax(jnp.tanh(x @ w), axis=-1) ** 2)

        x, w = np.random.default_rng(0).random((2, 5, 5), np.float32)
        text = jax.jit(jax.value_and_grad(loss)).lower(x, w).as_text()
        value, grad = fuser.Program.import_stablehlo(text).compile()(x, w)
        expected = jax.jit(jax.value_and_grad(loss))(x, w)
        np.testing.assert_allclose(value, expected[0], rtol=1e-5)
        np.testing.assert_allclose(grad, expected[1], rtol=1e-4, atol=1e-8)


if __name__ == "__main__":
    for library, name in ((ml_dtypes, "ml_dtypes"), (torch, "PyTorch"), (jax, "JAX")):
        if library is None:
            print(f"skipped: {name} is not installed")
    unittest.main()

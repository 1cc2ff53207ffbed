"""Segments in Python: what they are, why, what others would cost, programs in parts, and with other segments and schedules."""

import io
import json
import subprocess
import sys
import unittest
import unittest.mock
from xml.dom import minidom

import numpy as np

import fuser

try:
    import torch
except ImportError:
    torch = None

CENTER = """task.program @center(%x: tensor<[B]x32xf32>, %y: tensor<[B]x32xf32>) -> tensor<[B]x32xf32> {
  %sum = fusion.sum %x dims [1]
  %boundary = fusion.segment_set %sum
  %wide = fusion.broadcast %boundary dims [0] shape [[B], 32]
  %out = fusion.sub %y, %wide
  task.return %out
}"""

SOFTMAX = """task.program @softmax(%x: tensor<[A]x[B]xf32>) -> tensor<[A]x[B]xf32> {
  %m = fusion.max %x dims [1]
  %mb = fusion.broadcast %m dims [0] shape [[A], [B]]
  %d = fusion.sub %x, %mb
  %e = fusion.exp %d
  %s = fusion.sum %e dims [1]
  %sb = fusion.broadcast %s dims [0] shape [[A], [B]]
  %y = fusion.div %e, %sb
  task.return %y
}"""

# A sum of rows, a sum of columns of what it is subtracted from, and both again.
CHAIN = """task.program @chain(%x: tensor<[A]x[B]xf32>, %w: tensor<[B]xf32>) -> (tensor<[A]x[B]xf32>, tensor<[B]xf32>, tensor<[A]xf32>) {
  %e = fusion.exp %x
  %r = fusion.sum %e dims [1]
  %cut = fusion.segment_set %r
  %rb = fusion.broadcast %cut dims [0] shape [[A], [B]]
  %d = fusion.div %e, %rb
  %c = fusion.sum %d dims [0]
  %cut2 = fusion.segment_set %c
  %cw = fusion.add %cut2, %w
  %cb = fusion.broadcast %cw dims [1] shape [[A], [B]]
  %y = fusion.mul %d, %cb
  task.return %y, %cw, %r
}"""


def program(text):
    return fuser.Program.parse(text)


def same(test, left, right):
    left, right = (x if isinstance(x, tuple) else (x,) for x in (left, right))
    test.assertEqual(len(left), len(right))
    for a, b in zip(left, right):
        test.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        test.assertEqual(np.asarray(a).tobytes(), np.asarray(b).tobytes())


class Listed(unittest.TestCase):
    def test_segments_have_ops_bytes_and_what_crosses(self):
        segments = program(CENTER).segments(shapes={"B": 1000})
        self.assertEqual([s.name for s in segments], ["s0", "s1"])
        first = segments["s0"]
        self.assertIs(first, segments[0])
        self.assertIs(first, segments["@s0"])
        self.assertEqual(first.ops, ("%sum", "%boundary"))
        self.assertEqual((first.kind, first.kernels, first.launches), ("kernel", 1, 1))
        self.assertEqual((first.read_bytes, first.write_bytes), (128_000, 4_000))
        self.assertEqual([str(v) for v in first.inputs], ["%x: tensor<[B]x32xf32>"])
        self.assertEqual([(v.name, v.type, v.bytes) for v in first.outputs], [("%boundary", "tensor<[B]xf32>", 4_000)])
        self.assertEqual((segments.total_bytes, segments.crossing_bytes, segments.kernels), (392_000, 4_000, 2))
        self.assertEqual(sum(s.time_ns for s in segments), segments.time_ns)
        self.assertEqual(segments.assumed, ())

    def test_bytes_are_polynomials_where_extents_are_open(self):
        segments = program(CENTER).segments()
        self.assertEqual(segments[0].write_bytes, "4*B")
        self.assertIn("B", segments.assumed)
        self.assertEqual(segments.extents["B"], 1024)

    def test_each_cut_has_its_reasons(self):
        segments = program(CENTER).segments(shapes={"B": 1000})
        (cut,) = segments.cuts
        self.assertEqual((cut.source, cut.target, cut.values, cut.bytes, cut.kind), ("s0", "s1", ("%boundary",), 4_000, "boundary"))
        self.assertIn("a boundary of the program lies between", cut.reasons[0])
        self.assertEqual((cut.together.bytes, cut.apart.bytes), (384_000, 392_000))
        for segment in segments:
            self.assertEqual(segment.cuts, (cut,))
        for reason in cut.reasons:
            self.assertIn(reason, program(CENTER).explain(shapes={"B": 1000}))

    def test_a_loop_is_a_segment_and_a_part(self):
        loop = program(
            """task.program @f(%x: tensor<9xf32>) -> tensor<9xf32> {
  %y = task.loop %x turns 3 body @turn
  %z = fusion.exp %y
  task.return %z
}
task.program @turn(%x: tensor<9xf32>) -> tensor<9xf32> {
  %y = fusion.sin %x
  task.return %y
}"""
        )
        self.assertEqual([segment.kind for segment in loop.segments()], ["control", "kernel"])
        self.assertIn("<svg", loop.segments()._repr_html_())
        x = np.linspace(-2, 2, 9, dtype=np.float32)
        same(self, loop.split().compile()(x), loop.compile()(x))
        self.assertLess(abs(loop.compile()(x) - np.exp(np.sin(np.sin(np.sin(x))))).max(), 1e-6)

    def test_a_program_may_have_no_segments(self):
        segments = program("task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {\n  task.return %x\n}").segments()
        self.assertEqual((len(segments), list(segments), segments.cuts), (0, [], ()))
        self.assertIn("no segments", segments._repr_html_())

    def test_wrong_names_and_options(self):
        p = program(CENTER)
        with self.assertRaises(KeyError):
            p.segments()["s7"]
        with self.assertRaises(fuser.Error) as caught:
            p.segments(target="cuda:sm_1")
        self.assertEqual(caught.exception.code, "FIR0851")
        self.assertIn("s0", p.segments())
        self.assertNotIn("s7", p.segments())

    def test_a_gpu_is_no_need_for_its_segments(self):
        self.assertEqual(program(SOFTMAX).segments(target="h100", shapes={"A": 64, "B": 128}).kernels, 1)


class Explained(unittest.TestCase):
    def test_two_values(self):
        text = program(CENTER).explain("sum", "%out", shapes={"B": 1000})
        self.assertIn("%sum is in @s0\n%out is in @s1\n", text)
        self.assertIn("without that boundary one kernel would move 384000 bytes", text)

    def test_one_value_tells_of_its_segment_and_its_cuts(self):
        text = program(CENTER).explain("sum")
        self.assertIn("%sum is in @s0\nsegment @s0 (2 ops", text)
        self.assertIn("cut @s0 -> @s1", text)

    def test_all_of_it(self):
        text = program(CENTER).explain()
        self.assertIn("total: ", text)
        self.assertIn("decided: ", text)

    def test_unknown_names_have_a_code_and_a_hint(self):
        for names in (("sun",), ("sun", "out"), ("out", "sun")):
            with self.assertRaises(fuser.Error) as caught:
                program(CENTER).explain(*names)
            self.assertEqual(caught.exception.code, "FIR0714")
            self.assertEqual(caught.exception.hints, ["did you mean '%sum'?", "a pass before 'segment' may have merged or removed it"])
            self.assertIn("^", str(caught.exception))
        for names in (("a", "b", "c"), ("", "out")):
            with self.assertRaises(fuser.Error) as caught:
                program(CENTER).explain(*names)
            self.assertEqual(caught.exception.code, "FIR0714")


class Asked(unittest.TestCase):
    def test_apart_has_a_price(self):
        found = program(SOFTMAX).what_if(apart=["e", "y"], shapes={"A": 64, "B": 256})
        self.assertTrue(found.possible)
        self.assertEqual((found.taken.kernels, found.asked.kernels), (1, 2))
        self.assertGreater(found.asked.total.bytes, found.taken.total.bytes)
        self.assertGreater(found.asked.time_ns, found.taken.time_ns)
        self.assertIn("kernels: 1 -> 2", str(found))
        homes = {op: s.name for s in found.asked for op in s.ops}
        self.assertNotEqual(homes["%e"], homes["%y"])

    def test_values_without_a_path_are_parted_too(self):
        text = "task.program @f(%x: tensor<[N]xf32>) -> (tensor<[N]xf32>, tensor<[N]xf32>) {\n  %a = fusion.exp %x\n  %b = fusion.sin %x\n  task.return %a, %b\n}"
        found = program(text).what_if(apart=["b", "a"])
        self.assertEqual((found.taken.kernels, found.asked.kernels), (1, 2))
        found = program(text).what_if(apart="b")
        self.assertEqual(found.asked.kernels, 2)

    def test_together_that_cannot_be_is_told_with_its_place(self):
        found = program(CENTER).what_if(together=["sum", "out"])
        self.assertFalse(found.possible)
        self.assertIsNone(found.asked)
        self.assertEqual(found.error.code, "FIR0710")
        self.assertIn("^", str(found.error))
        self.assertIn("not possible", str(found))
        self.assertEqual(len(found.taken), 2)

    def test_together_that_is_already(self):
        found = program(SOFTMAX).what_if(together=[["m", "y"]])
        self.assertEqual(found.taken.total, found.asked.total)

    def test_nothing_asked_is_what_is(self):
        for found in (program(CENTER).what_if(), program(CENTER).what_if([], [])):
            self.assertEqual(found.taken.report, found.asked.report)

    def test_wrong_names(self):
        for together, code in ((["sun", "out"], "FIR0714"), (["x", "out"], "FIR0714")):
            found = program(CENTER).what_if(together=together)
            self.assertEqual(found.error.code, code)
        found = program(SOFTMAX).what_if(together=["m", "y"], apart=["m", "y"])
        self.assertEqual(found.error.code, "FIR0710")
        with self.assertRaises(TypeError):
            program(CENTER).what_if(together=[1, 2])


class Parts(unittest.TestCase):
    def check(self, text, *arguments, shapes=None):
        p = program(text)
        left, right = ([x.copy() if isinstance(x, np.ndarray) else x for x in arguments] for _ in range(2))
        whole = p.compile(shapes=shapes)(*left)
        parts = p.split(shapes=shapes).compile()(*right)
        same(self, whole, parts)
        for a, b in zip(left, right):
            same(self, np.asarray(a), np.asarray(b))
        return parts

    def test_parts_give_what_the_whole_gives(self):
        rng = np.random.default_rng(0)
        for shape in ((0, 3), (3, 0), (1, 1), (1, 7), (13, 1), (31, 257), (64, 128)):
            x = rng.random(shape, np.float32)
            self.check(CHAIN, x, rng.random(shape[1:], np.float32))
            self.check(SOFTMAX, x) if x.size else None
        self.check(CENTER, rng.random((5, 32), np.float32), rng.random((32, 5), np.float32).T)

    def test_what_parts_are(self):
        split = program(CENTER).split()
        first, second = split
        self.assertEqual((first.name, second.name, len(split)), ("s0", "s1", 2))
        names = [value.name for value in split.values]
        self.assertEqual([names[n] for n in first.arguments], ["%x"])
        self.assertEqual([names[n] for n in first.results], ["%boundary"])
        self.assertEqual([names[n] for n in first.frees], ["%x"])
        self.assertEqual([names[n] for n in second.frees], ["%y", "%boundary"])
        self.assertEqual(names[first.values["%sum"]], "%sum")
        self.assertIsInstance(first.program, fuser.Program)
        self.assertEqual([names[n] for n in split.outputs], ["%out"])
        sums = first.program.compile()(np.ones((3, 32), np.float32))
        np.testing.assert_array_equal(sums, [32, 32, 32])

    def test_arrays_die_behind_their_last_reader(self):
        split = program(CENTER).split()
        alive = [(part.name, sorted(table)) for part, table in split.compile().run(np.ones((2, 32), np.float32), y=np.ones((2, 32), np.float32))]
        self.assertEqual(alive, [("s0", [1, 3]), ("s1", [5])])

    def test_arguments_returned_and_results_twice(self):
        text = "task.program @f(%x: tensor<[N]xf32>) -> (tensor<[N]xf32>, tensor<[N]xf32>, tensor<[N]xf32>, tensor<[N]xf32>) {\n  %a = fusion.exp %x\n  %s = fusion.segment_set %a\n  %y = fusion.neg %s\n  task.return %y, %x, %y, %s\n}"
        for n in (0, 1, 17):
            x = np.linspace(-1, 1, n, dtype=np.float32)
            results = self.check(text, x)
            for i, a in enumerate(results):
                self.assertFalse(np.shares_memory(a, x))
                self.assertFalse(any(np.shares_memory(a, b) for b in results[i + 1 :]))

    def test_no_segments(self):
        self.check("task.program @f(%x: tensor<[N]xf32>, %y: tensor<[N]xf32>) -> (tensor<[N]xf32>, tensor<[N]xf32>) {\n  task.return %y, %y\n}", *np.ones((2, 3), np.float32))
        self.assertEqual(len(program("task.program @f() {\n  task.return\n}").split()), 0)

    def test_results_in_place(self):
        text = """task.program @step(%x: tensor<[A]x[B]xf32>, %g: tensor<[A]x[B]xf32>) -> (tensor<[A]x[B]xf32> {alias = 0 : i64}, tensor<[A]xf32>) {
  %s = fusion.sum %x dims [1]
  %cut = fusion.segment_set %s
  %b = fusion.broadcast %cut dims [0] shape [[A], [B]]
  %t = fusion.mul %g, %b
  %y = fusion.sub %x, %t
  task.return %y, %cut
}"""
        rng = np.random.default_rng(1)
        for shape in ((4, 6), (1, 1), (33, 65)):
            x, g = rng.random((2, *shape), np.float32)
            self.check(text, x, g)
        x = rng.random((4, 6), np.float32)
        self.assertIs(program(text).split().compile()(x, x.copy())[0], x)
        # The argument twice.
        x, both = rng.random((2, 4, 6), np.float32)
        both[...] = x
        program(text).compile()(x, x)
        program(text).split().compile()(both, both)
        same(self, x, both)

    def test_numbers_and_extents_that_no_argument_of_a_part_has(self):
        text = """task.program @f(%x: tensor<[N]xf32>, %a: f32) -> (tensor<[N]xf32>, tensor<[N]xf32>) {
  %y = fusion.mul %x, %a
  %i = fusion.iota dim 0 shape [[N]] of f32
  %s = fusion.segment_set %i
  %z = fusion.exp %s
  task.return %y, %z
}"""
        for n in (1, 5, 8):
            self.check(text, np.arange(n, dtype=np.float32), 2.5)

    def test_wrong_arguments_are_those_of_the_whole(self):
        whole, parts = program(CENTER).compile(), program(CENTER).split().compile()
        x = np.ones((2, 32), np.float32)
        for arguments in ((), (x,), (x, x, x), (x, x[:1]), (x, x.astype(np.float64)), (x, x[0])):
            errors = []
            for f in (whole, parts):
                with self.assertRaises(fuser.Error) as caught:
                    f(*arguments)
                errors.append((caught.exception.code, str(caught.exception)))
            self.assertEqual(*errors)

    def test_complex_programs_are_refused(self):
        with self.assertRaises(fuser.Error) as caught:
            program("task.program @f(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {\n  %y = fusion.conj %x\n  task.return %y\n}").split()
        self.assertEqual(caught.exception.code, "FIR1014")

    @unittest.skipIf(torch is None, "PyTorch is not installed")
    def test_tensors_of_torch(self):
        x, w = torch.randn(7, 9), torch.randn(9)
        left, right = program(CHAIN).compile()(x, w), program(CHAIN).split().compile()(x, w)
        for a, b in zip(left, right):
            self.assertIsInstance(b, torch.Tensor)
            self.assertTrue(torch.equal(a, b))
        nothing = "task.program @f(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {\n  %s = fusion.segment_set %x\n  %i = fusion.iota dim 0 shape [3] of f32\n  %y = fusion.neg %s\n  task.return %i, %y\n}"
        for part in program(nothing).split().compile()(torch.ones(3)):
            self.assertIsInstance(part, torch.Tensor)


class Chosen(unittest.TestCase):
    def setUp(self):
        self.x = np.random.default_rng(0).random((5, 7), np.float32)

    def test_a_report_comes_back_as_it_was(self):
        for text in (CENTER, SOFTMAX, CHAIN):
            p = program(text)
            for given in (p.report(), p.segments(), json.dumps(p.report()), list(p.segments())):
                again = p.with_segments(given)
                self.assertEqual(again.report(), p.report())
                self.assertEqual(again.segmented(), p.segmented())

    def test_lists_of_names(self):
        p = program(SOFTMAX).with_segments([["m"], ["mb", "d", "%e", "s"], ["sb", "y"]])
        self.assertEqual([s.ops for s in p.segments()], [("%m",), ("%mb", "%d", "%e", "%s"), ("%sb", "%y")])
        same(self, p.compile()(self.x), p.split().compile()(self.x))
        np.testing.assert_allclose(p.compile()(self.x), program(SOFTMAX).compile()(self.x), rtol=1e-6)

    def test_segments_that_would_be_computed_again_stay(self):
        text = "task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {\n  %a = fusion.exp %x\n  %b = fusion.sin %a\n  task.return %b\n}"
        p = program(text).with_segments([["a"], ["b"]])
        self.assertEqual([s.ops for s in p.segments()], [("%a",), ("%b",)])
        same(self, p.compile()(self.x[0]), program(text).compile()(self.x[0]))

    def test_a_value_may_be_computed_twice(self):
        p = program(SOFTMAX).with_segments([["m", "mb", "d", "e", "s"], ["mb", "d", "e", "sb", "y"]])
        self.assertEqual(len(p.segments()), 2)
        np.testing.assert_allclose(p.compile()(self.x), program(SOFTMAX).compile()(self.x), rtol=1e-6)

    def test_what_is_illegal_is_refused(self):
        for groups in ([["m"]], [["mm"]], [], [["m", "y"], ["mb", "d", "e", "s", "sb"]]):
            with self.assertRaises(fuser.Error) as caught:
                program(SOFTMAX).with_segments(groups)
            self.assertEqual(caught.exception.code, "FIR0712", groups)
        for wrong in (["m", "y"], [[1]], 3):
            with self.assertRaises(TypeError):
                program(SOFTMAX).with_segments(wrong)
        for wrong in ("{", "[]", "{}"):
            with self.assertRaises(fuser.Error) as caught:
                program(SOFTMAX).with_segments(wrong)
            self.assertEqual(caught.exception.code, "FIR0712")

    def test_a_schedule_by_clauses_and_as_text(self):
        p = program(CENTER)
        text = p.schedule("s1")
        self.assertIn("task.sweep", text)
        tile = text[text.index("tile [") : text.index("]", text.index("tile [")) + 1]
        by_text = p.with_schedule("s1", text.replace(tile, "tile [4, 64]"))
        by_clause = p.with_schedule("@s1", "tile [4, 64]")
        self.assertEqual(str(by_text), str(by_clause))
        self.assertIn("tile [4, 64]", by_clause.schedule("s1"))
        self.assertEqual(by_clause.schedule("s0"), p.schedule("s0"))
        x, y = np.random.default_rng(0).random((2, 9, 32), np.float32)
        same(self, by_clause.compile()(x, y), p.compile()(x, y))

    def test_wrong_schedules_are_errors(self):
        p = program(CENTER)
        text = p.schedule("s1")
        wrong = [("s9", text), ("s1", "tiles [4, 64]"), ("s1", "tile"), ("s1", "tile [4, 64"), ("s1", text.replace("fusion.sub", "fusion.sup")),
                 ("s1", text.replace("%out = task.segment", "%oout = task.segment")), ("s1", "tile [4, 64, 2]"), ("s1", "task.segment")]
        for segment, edited in wrong:
            with self.subTest(edited), self.assertRaises(fuser.Error) as caught:
                p.with_schedule(segment, edited)
            self.assertRegex(caught.exception.code, r"^FIR\d{4}$")
        with self.assertRaises(fuser.Error):
            p.schedule("s9")


class Drawn(unittest.TestCase):
    """Figures, on axes that note down what is drawn."""

    def figure(self, plot):
        axes = unittest.mock.Mock()
        self.assertIs(plot(axes), axes)
        return axes

    def test_bytes(self):
        segments = fuser.Program.parse(CENTER).segments(shapes={"B": 8})
        bars = self.figure(segments.plot_bytes).barh.call_args_list
        self.assertEqual([bar.args for bar in bars], [(["s0", "s1"], [1024, 1056]), (["s0", "s1"], [32, 1024])])
        self.assertEqual([bar.kwargs["left"] for bar in bars], [[0, 0], [1024, 1056]])

    def test_roofline(self):
        segments = fuser.Program.parse(CENTER).segments(shapes={"B": 8}, target="h100")
        (roof, *points) = self.figure(segments.plot_roofline).plot.call_args_list
        rates = segments.report["roofs"]
        (_, ridge, _), (low, *peak) = roof.args
        self.assertAlmostEqual(ridge, rates["operations_per_s"] / rates["bytes_per_s"])
        self.assertEqual(peak, [rates["operations_per_s"] / 1e9] * 2)
        for point, row in zip(points, segments.report["segments"], strict=True):
            bytes_, operations = row["read_bytes"] + row["write_bytes"], row["operations"]
            self.assertEqual(point.args[:2], (operations / bytes_, operations / segments[row["name"]].time_ns))

    def test_without_matplotlib(self):
        segments = fuser.Program.parse(CENTER).segments(shapes={"B": 8})
        with unittest.mock.patch.dict(sys.modules, {"matplotlib": None}):
            self.assertRaisesRegex(ImportError, "fuser-compiler.plot", segments.plot_bytes)

    def test_with_matplotlib(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        segments = fuser.Program.parse(CENTER).segments(shapes={"B": 8})
        for plot in (segments.plot_bytes, segments.plot_roofline):
            plot().figure.savefig(io.BytesIO())


class Imported(unittest.TestCase):
    def test_the_package_needs_no_numpy_to_be_imported(self):
        text = "import sys; sys.modules['numpy'] = None; import fuser; print(fuser.Program.parse('task.program @f() { task.return }').segments())"
        found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
        self.assertEqual(found.stdout, "total: 0 bytes, 0 kernels, 0 launches\n", found.stderr)


class Shown(unittest.TestCase):
    def test_pictures_stand_alone_and_are_the_same_each_time(self):
        p = program(CHAIN)
        shown = [p, p.segments(), p.compile(), p.segments()[0], p.what_if(apart=["e"]), program(CENTER).what_if(together=["sum", "out"])]
        for thing in shown:
            html = thing._repr_html_()
            self.assertEqual(html, thing._repr_html_())
            minidom.parseString(html.replace("<br>", "<br/>"))
            for foreign in ("<script", "href", "url(", "@import"):
                self.assertNotIn(foreign, html)
        self.assertIn("<svg", p._repr_html_())
        self.assertIn("4*A", p._repr_html_())

    def test_names_are_escaped(self):
        segments = program(CENTER).segments()
        segments.report["program"] = "<b>&"
        self.assertIn("@&lt;b&gt;&amp;", segments._repr_html_())


if __name__ == "__main__":
    if torch is None:
        print("skipped: PyTorch is not installed")
    unittest.main()

"""Wrong calls: a Python exception each, never an abort, a leak or a cycle.

A case is a name, the exception that a caller expects, and a function that makes the call. All cases run once, each by itself; then all run in turns,
`FUSER_WRONG_CALLS` calls in all (10,000), while the memory of the process and of Python's objects is watched.
"""

import ctypes
import gc
import itertools
import logging
import os
import signal
import threading
import tracemalloc
import unittest
import warnings
import weakref

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

CALLS = int(os.environ.get("FUSER_WRONG_CALLS", "10000"))
CASES = []

DTYPES = ["f64", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "i1", "complex<f32>", "complex<f64>"]
NUMPY = dict(zip(DTYPES, "f8 f4 f2 i8 i4 i2 i1 u8 u4 u2 u1 ? c8 c16".split()))


def text(kind, op="flip %x dims [0]"):
    return f"task.program @f(%x: {kind}) -> {kind} {{\n  %y = fusion.{op}\n  task.return %y\n}}"


def compiled(source, **options):
    return fuser.Program.parse(source).compile(cache=False, threads=1, **options)


FLIP = {dtype: compiled(text(f"tensor<[N]x{dtype}>")) for dtype in DTYPES}
FIXED = compiled(text("tensor<3x5xf32>"))
SQUARE = compiled(text("tensor<[N]x[N]xf32>"))
SCALARS = {dtype: compiled(f"task.program @f(%x: tensor<2x{dtype}>, %s: tensor<{dtype}>) -> tensor<{dtype}> {{\n  task.return %s\n}}") for dtype in ("f32", "i8", "u16", "i1", "complex<f32>")}
PAIR = compiled("""task.program @pair(%x: tensor<[N]xf32>, %y: tensor<[N]xf32>) -> (tensor<[N]xf32>, tensor<f32>) {
  %a = fusion.add %x, %y
  %s = fusion.sum %a dims [0]
  task.return %a, %s
}""")
WIDEN = compiled("""task.program @widen(%x: tensor<[N]xf32>, %w: tensor<[M]xf32>) -> tensor<[N]x[M]xf32> {
  %a = fusion.broadcast %x dims [0] shape [[N], [M]]
  %b = fusion.broadcast %w dims [1] shape [[N], [M]]
  %y = fusion.add %a, %b
  task.return %y
}""")
UPDATE = compiled("task.program @update(%x: tensor<[N]xf32>) -> (tensor<[N]xf32> {alias = 0}) {\n  %y = fusion.neg %x\n  task.return %y\n}")
PROGRAM = fuser.Program.parse(text("tensor<[N]x4xf32>", "exp %x"))


def case(name, expected, call):
    CASES.append((name, expected, call))


def refusal(name, call):
    """A call that Fuser refuses, with a code."""
    case(name, fuser.Error, call)


# Element types that a program does not have: nothing is converted.
for wanted, given in itertools.product(DTYPES, DTYPES):
    if wanted != given:
        x = np.zeros(3, NUMPY[given])
        refusal(f"{given} for {wanted}", lambda f=FLIP[wanted], x=x: f(x))
for code in ("S3", "U3", "O", "M8[s]", "m8[s]", "f16", [("a", "f4")], ">f4", ">i8"):
    x = np.zeros(3, code)
    refusal(f"dtype {code}", lambda x=x: FLIP["f32"](x))

# Shapes.
for shape in ((), (3,), (5, 3), (3, 5, 1), (1, 3, 5), (0, 5), (3, 0), (3, 6), (2, 5), (15,)):
    x = np.zeros(shape, np.float32)
    refusal(f"shape {shape} for 3x5", lambda x=x: FIXED(x))
for shape in ((2, 3), (0, 1), (1, 0), (4,), (2, 2, 2), ()):
    x = np.zeros(shape, np.float32)
    refusal(f"shape {shape} for NxN", lambda x=x: SQUARE(x))
X = np.zeros(3, np.float32)
for n in (0, 1, 2, 4):
    y = np.zeros(n, np.float32)
    refusal(f"extents 3 and {n}", lambda y=y: PAIR(X, y))


class Silent:
    """No array."""


class Raises:
    """An array that cannot be had: all of its protocols raise."""

    def __init__(self, error):
        self.error = error

    def __dlpack__(self, **_):
        raise self.error("from __dlpack__")

    def __dlpack_device__(self):
        return (1, 0)

    def __array__(self, *_, **__):
        raise self.error("from __array__")


class Array:
    """The same, of NumPy's protocol alone."""

    def __init__(self, error):
        self.error = error

    def __array__(self, *_, **__):
        raise self.error("from __array__")


# Objects that are no arrays.
for thing in (None, "three", b"", 3, 2.5, 1j, True, {}, {1: 2}, {3}, Silent(), Silent, len, np, range, iter(()), Ellipsis, NotImplemented, slice(3), lambda: 3, [], (), ["a"], [None], [[1.0], [2.0, 3.0]]):
    refusal(f"argument {str(thing)[:20]}", lambda thing=thing: FLIP["f32"](thing))
released = memoryview(bytearray(12)).cast("f")
released.release()
case("a memoryview that is released", (fuser.Error, ValueError), lambda: FLIP["f32"](released))

# Numbers for scalars.
for dtype, numbers in {
    "f32": ["1", None, 1j, [1.0], X, np.float64(1), np.int32(1)],
    "i8": [128, -129, 1.5, 10**30, "1", None, np.int64(3)],
    "u16": [-1, 65536, 0.0, 2**200],
    "i1": [0, 1, 2, "True", 1.0],
    "complex<f32>": ["1j", None, [1, 2, 3]],
}.items():
    for number in numbers:
        if dtype == "f32" and isinstance(number, np.floating):
            continue
        refusal(f"{number!r:.20} for a scalar {dtype}", lambda f=SCALARS[dtype], d=NUMPY[dtype], n=number: f(np.zeros(2, d), n))

# Numbers of arguments, and names.
refusal("no argument", lambda: FLIP["f32"]())
refusal("two for one", lambda: FLIP["f32"](X, X))
refusal("a hundred for one", lambda: FLIP["f32"](*[X] * 100))
refusal("one for two", lambda: PAIR(X))
refusal("a name that no input has", lambda: PAIR(X, z=X))
refusal("a name and a place", lambda: PAIR(X, X, x=X))
refusal("a name twice missing", lambda: PAIR(y=X))
refusal("an empty name", lambda: PAIR(X, X, **{"": X}))
refusal("bind with too few", lambda: PAIR.bind(X))
refusal("bind with another type", lambda: PAIR.bind(X, np.zeros(3)))
refusal("bind with other extents", lambda: PAIR.bind(X, np.zeros(2, np.float32)))
for wrong in (None, 3, X, "xy", {"x": X}, iter([X])):
    case(f"call_list of {str(wrong)[:12]}", TypeError, lambda wrong=wrong: PAIR.call_list(wrong))
refusal("call_list with too few", lambda: PAIR.call_list([X]))
refusal("call_into with too few results", lambda: PAIR.call_into([X], X, X))
refusal("call_into with a new result", lambda: PAIR.call_into([np.zeros(3, np.float32), None], X, X))
refusal("call_into without results", lambda: PAIR.call_into(None, X, X))

# Arrays for results.
READ_ONLY = np.zeros(3, np.float32)
READ_ONLY.flags.writeable = False
for name, out in {
    "read-only": READ_ONLY,
    "of another type": np.zeros(3),
    "of another shape": np.zeros(4, np.float32),
    "of another rank": np.zeros((3, 1), np.float32),
    "without memory": np.zeros(0, np.float32),
    "with one element in all places": np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (3,), (0,), writeable=True),
    "of bytes": bytes(12),
    "that is no array": "out",
    "that is a number": 3.0,
    "that are two": [X.copy(), X.copy()],
    "that are none": [],
    "that are an empty tuple": (),
    "that is a dictionary": {"y": X},
}.items():
    case(f"out {name}", (fuser.Error, TypeError, BufferError), lambda out=out: FLIP["f32"](X, out=out))
for strides in ([[2]], [[-1]], [[1, 1]], [[]], [], [[1], [1]], [[0]], [[2**62]]):
    refusal(f"strides {strides}", lambda strides=strides: FLIP["f32"](X, strides=strides))
for strides in ("1", 1, [["1"]], [[1.5]], [[2**63]], {1: 2}):
    case(f"strides {strides!r}", (TypeError, ValueError, OverflowError), lambda strides=strides: FLIP["f32"](X, strides=strides))
refusal("an update of a read-only array", lambda: UPDATE(READ_ONLY))
refusal("an update of one element in all places", lambda: UPDATE(np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (3,), (0,), writeable=True)))

# Out of memory: results of terabytes, of bytes that no number holds.
for n in (1 << 20, 1 << 26, 1 << 38, 1 << 44, 1 << 58):
    x = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (n,), (0,))
    w = np.zeros(1 << 20, np.float32)
    case(f"results of {n} times 4 MiB", (MemoryError, fuser.Error, ValueError), lambda x=x, w=w: WIDEN(x, w))

# Arrays whose protocols raise: their exception, or Fuser's with it as the cause.
for error in (ValueError, TypeError, BufferError, RuntimeError, ZeroDivisionError, AttributeError, RecursionError, OSError):
    case(f"an array that raises {error.__name__}", (fuser.Error, error), lambda error=error: FLIP["f32"](Raises(error)))
    case(f"__array__ that raises {error.__name__}", (fuser.Error, error), lambda error=error: FLIP["f32"](Array(error)))
for error in (KeyboardInterrupt, MemoryError, SystemExit, GeneratorExit):
    case(f"an array that raises {error.__name__}", error, lambda error=error: FLIP["f32"](Raises(error)))
    case(f"__array__ that raises {error.__name__}", error, lambda error=error: FLIP["f32"](Array(error)))


class Interface:
    """An array by `__array_interface__`, which may lie."""

    def __init__(self, **fields):
        self.memory = np.zeros(8, np.float32)
        self.__array_interface__ = {**self.memory.__array_interface__, **fields}


for name, fields in {
    "a negative extent": {"shape": (-3,)},
    "an extent that is no number": {"shape": ("3",)},
    "no shape": {"shape": None},
    "another version": {"typestr": "?!"},
    "strides of another rank": {"strides": (4, 4)},
    "strides between elements": {"strides": (3,), "shape": (2,)},
    "an extent beyond all memory": {"shape": (2**62, 2**62)},
    "data that is no address": {"data": "here"},
}.items():
    case(f"__array_interface__ with {name}", (fuser.Error, ValueError, TypeError, OverflowError), lambda fields=fields: FLIP["f32"](Interface(**fields)))


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Capsule:
    """An array by DLPack, which may lie."""

    def __init__(self, shape=(3,), strides=None, rank=None, dtype=(2, 32, 1), device=1, data=True, name=b"dltensor", extents=True, offset=0, given=None):
        self.memory = np.zeros(64, np.float32)
        self.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        self.tensor = Tensor(
            self.memory.ctypes.data if data else None, device, 0, len(shape) if rank is None else rank, DataType(*dtype),
            self.shape if extents else None, self.strides, offset, None, None,
        )  # fmt: skip
        self.name, self.given = name, given

    def __dlpack__(self, **_):
        return self.given if self.given is not None else new_capsule(ctypes.addressof(self.tensor), self.name, None)

    def __dlpack_device__(self):
        return (1, 0)


# The arrays themselves are read as they should be.
np.testing.assert_array_equal(FLIP["f32"](Capsule()), np.zeros(3, np.float32))
for name, fields in {
    "a negative extent": {"shape": (-3,)},
    "the least extent": {"shape": (-(2**63),)},
    "the greatest extent": {"shape": (2**63 - 1,)},
    "no memory": {"data": False},
    "no extents": {"extents": False},
    "a negative rank": {"rank": -1},
    "the least rank": {"rank": -(2**31)},
    "the greatest rank": {"rank": 2**31 - 1},
    "a rank beyond all": {"rank": 10**6},
    "a GPU": {"device": 2},
    "a device of tomorrow": {"device": 99},
    "vectors": {"dtype": (2, 32, 4)},
    "no lanes": {"dtype": (2, 32, 0)},
    "a type of tomorrow": {"dtype": (77, 32, 1)},
    "bits that no type has": {"dtype": (2, 31, 1)},
    "strides that leave the address space": {"shape": (3,), "strides": (2**62,)},
    "strides that run backward out of it": {"shape": (3,), "strides": (-(2**63),)},
    "elements that no memory has": {"shape": (2**40, 2**40), "strides": (1, 1)},
    "a used capsule": {"name": b"used_dltensor"},
    "a capsule of another name": {"name": b"tensor"},
    "a capsule without a name": {"name": None},
    "an offset that leaves the address space": {"offset": 2**64 - 1},
}.items():
    case(f"DLPack with {name}", (fuser.Error, BufferError), lambda fields=fields: FLIP["f32"](Capsule(**fields)))
for given in (3, "capsule", (), object()):
    case(f"__dlpack__ that gives {str(given)[:10]}", (fuser.Error, TypeError, BufferError), lambda given=given: FLIP["f32"](Capsule(given=given)))

# Texts.
for name, source in {
    "empty": "",
    "spaces": " \n\t",
    "NUL": "task.program @f\0",
    "open": "task.program @f(%x: tensor<3xf32>) -> tensor<3xf32> {",
    "unknown op": text("tensor<3xf32>", "nothing %x"),
    "unknown value": text("tensor<3xf32>", "exp %z"),
    "unknown type": text("tensor<3xf33>", "exp %x"),
    "another type": "task.program @f(%x: tensor<3xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    "deep": "(" * 100_000,
    "long": "a" * 1_000_000,
    "not ours": "module { func.func @main() { return } }",
    "Python": "import os",
    "two programs": text("tensor<3xf32>") + "\n" + text("tensor<3xf32>").replace("@f", "@g"),
}.items():
    refusal(f"text {name}", lambda source=source: fuser.Program.parse(source))
for source in (None, 3, b"task", ["task"], X):
    for read in (fuser.Program.parse, fuser.Program.import_stablehlo, fuser.Program.import_nvfuser):
        case(f"{read.__name__} of a {type(source).__name__}", TypeError, lambda read=read, source=source: read(source))
for source in ("", "module {", "def f(): pass", "import torch", "\0"):
    refusal(f"import_stablehlo of {source!r}", lambda source=source: fuser.Program.import_stablehlo(source))
    refusal(f"import_nvfuser of {source!r}", lambda source=source: fuser.Program.import_nvfuser(source))
case("text with half a character", ValueError, lambda: fuser.Program.parse("\ud800"))
refusal("an entry that is not there", lambda: fuser.Program.parse(text("tensor<3xf32>"), entry="g"))
case("an entry that is a number", TypeError, lambda: fuser.Program.parse(text("tensor<3xf32>"), entry=3))
case("a program by its class", TypeError, lambda: fuser.Program())
case("code by its class", TypeError, lambda: fuser.Compiled())

# Options.
for name, options in {
    "target": {"target": "abacus"},
    "a GPU as the target": {"target": "h100"},
    "an empty target": {"target": ""},
    "passes": {"passes": "nothing"},
    "passes that do not end": {"passes": "segment{"},
    "an executor": {"executors": "abacus"},
    "no threads": {"threads": 0},
    "a million threads": {"threads": 10**6},
    "a length of another extent": {"shapes": {"Q": 3}},
}.items():
    refusal(f"option {name}", lambda options=options: PROGRAM.compile(cache=False, **{"shapes": {"N": 8}, **options}))
for name, options in {
    "target of a wrong type": {"target": 3},
    "shapes as a list": {"shapes": [("N", 3)]},
    "shapes as text": {"shapes": "N=3"},
    "a length as text": {"shapes": {"N": "3"}},
    "a length in part": {"shapes": {"N": 3.5}},
    "a name that is a number": {"shapes": {3: 3}},
    "threads as text": {"threads": "2"},
    "threads in part": {"threads": 1.5},
    "a cache that is a number": {"cache": 3},
    "an option that there is not": {"fast": True},
    "passes as a list": {"passes": ["segment"]},
}.items():
    case(f"option {name}", TypeError, lambda options=options: PROGRAM.compile(**options))
for name, options in {"a negative length": {"shapes": {"N": -1}}, "a length beyond all": {"shapes": {"N": 2**70}}, "negative threads": {"threads": -1}}.items():
    case(f"option {name}", (OverflowError, ValueError), lambda options=options: PROGRAM.compile(**options))
case("an option by its place", TypeError, lambda: PROGRAM.compile("cpu"))

# Questions about segments.
refusal("explain a value that there is not", lambda: PROGRAM.explain("nothing"))
refusal("explain three values", lambda: PROGRAM.explain("x", "y", "y"))
case("explain a number", TypeError, lambda: PROGRAM.explain(3))
refusal("the schedule of a segment that there is not", lambda: PROGRAM.schedule("s9"))
refusal("a schedule that is none", lambda: PROGRAM.with_schedule("s0", "tile [0]"))
refusal("segments of values that there are not", lambda: PROGRAM.with_segments([["a"], ["b"]]))
case("segments that are a number", (TypeError, ValueError, fuser.Error), lambda: PROGRAM.with_segments(3))
case("segments that are text", (TypeError, ValueError, fuser.Error), lambda: PROGRAM.with_segments("{"))
case("a wish that is a number", TypeError, lambda: PROGRAM.what_if(together=3))
case("a wish that is text in a list of lists", TypeError, lambda: PROGRAM.what_if(together=[["x"], 3]))

# The builder.
b = fuser.Builder("b")
V = b.input("x", "f32", [3])
case("an op that there is not", AttributeError, lambda: b.nothing(V))
case("an operand that is a number", (TypeError, fuser.Error), lambda: b.exp("x"))
case("an op without operands", TypeError, lambda: b.exp())
case("a clause that there is not", TypeError, lambda: b.exp(V, fast=True))


class Bad(logging.Handler):
    """A handler that raises."""

    def emit(self, record):
        raise ZeroDivisionError(record.msg)


def with_bad_handler():
    """A copy is told to the log, whose handler raises."""
    logger, handler = logging.getLogger("fuser"), Bad()
    level, kept = logger.level, logging.raiseExceptions
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        compiled(text("tensor<[N]xf32>"))(np.zeros(9, np.float32)[::3])
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logging.raiseExceptions = kept


case("a logger that raises", ZeroDivisionError, with_bad_handler)

if torch is not None:
    plain = torch.zeros(3)
    refusal("a tensor that wants gradients", lambda: FLIP["f32"](torch.zeros(3, requires_grad=True)))
    refusal("a tensor of f64", lambda: FLIP["f32"](plain.double()))
    refusal("a tensor of another rank", lambda: FLIP["f32"](plain[None]))
    for name, make in {
        "meta": lambda: torch.zeros(3, device="meta"),
        "sparse": lambda: plain.to_sparse(),
        "sparse by rows": lambda: torch.zeros(3, 3).to_sparse_csr(),
        "quantized": lambda: torch.quantize_per_tensor(plain, 0.1, 0, torch.qint8),
        "conjugate": lambda: torch.zeros(3, dtype=torch.complex64).conj(),
        "negated": lambda: torch.zeros(3, dtype=torch.complex64).conj().imag,
        "nested": lambda: torch.nested.nested_tensor([plain, plain[:2]]),
        "without storage": lambda: released_storage(),
        "fake": lambda: torch._subclasses.FakeTensorMode().from_tensor(plain),
    }.items():
        function = FLIP["complex<f32>"] if name == "conjugate" else FLIP["f32"]

        def call(make=make, function=function):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                given = make()
            function(given)

        case(f"a tensor that is {name}", (fuser.Error, BufferError, RuntimeError, TypeError, NotImplementedError), call)

    def released_storage():
        tensor = torch.zeros(3)
        tensor.untyped_storage().resize_(0)
        return tensor

    refusal("out that wants gradients", lambda: FLIP["f32"](plain, out=torch.zeros(3, requires_grad=True)))
    case("out on another device", (fuser.Error, BufferError, RuntimeError), lambda: FLIP["f32"](plain, out=torch.zeros(3, device="meta")))
    refusal("out of another type of torch", lambda: FLIP["f32"](plain, out=torch.zeros(3, dtype=torch.float64)))
    refusal("out expanded", lambda: FLIP["f32"](plain, out=torch.zeros(1).expand(3)))
    case("under vmap", (fuser.Error, RuntimeError, BufferError, TypeError, ValueError), lambda: torch.func.vmap(FLIP["f32"])(torch.zeros(2, 3)))
if jax is not None:
    import jax.numpy as jnp

    def deleted():
        array = jnp.zeros(3)
        array.delete()
        FLIP["f32"](array)

    case("an array of JAX that is deleted", (fuser.Error, RuntimeError), deleted)
    case("an array that JAX traces", (fuser.Error, TypeError), lambda: jax.jit(FLIP["f32"])(X))
    case("a key of JAX", (fuser.Error, TypeError, BufferError), lambda: FLIP["f32"](jax.random.key(0)))
    case("out of JAX", (fuser.Error, TypeError, BufferError), lambda: FLIP["f32"](X, out=jnp.zeros(3)))
if ml_dtypes is not None:
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "float4_e2m1fn"):
        x = np.zeros(3, getattr(ml_dtypes, name))
        refusal(f"{name} for f32", lambda x=x: FLIP["f32"](x))


def raised(call):
    """The exception of a call, without what holds frames alive."""
    try:
        call()
    except BaseException as error:
        error.__traceback__ = error.__context__ = None
        return error
    return None


def resident():
    """Bytes that the process has in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class WrongCalls(unittest.TestCase):
    def test_each_raises_what_a_caller_expects(self):
        self.assertGreaterEqual(len(CASES), 300)
        names = [name for name, _, _ in CASES]
        self.assertEqual([name for name in names if names.count(name) > 1], [])
        for name, expected, call in CASES:
            with self.subTest(name):
                error = raised(call)
                self.assertIsInstance(error, expected)
                self.assertNotIn("panic", f"{type(error).__name__} {error}".lower())
                if isinstance(error, fuser.Error):
                    self.assertRegex(error.code, r"^FIR\d{4}$")
                    self.assertTrue(error.message)
        # What was called wrongly is right afterwards.
        np.testing.assert_array_equal(FLIP["f32"](np.arange(3, dtype=np.float32)), [2, 1, 0])
        self.assertEqual(float(PAIR(X + 1, X)[1]), 3)

    def test_nothing_leaks(self):
        # JAX, torch and the log keep what they please; some texts and options take long.
        foreign = ("a tensor", "under vmap", "an array that JAX", "an array of JAX", "a key of JAX", "out of JAX", "text deep", "text long", "a logger", "option a million")
        calls = [call for name, _, call in CASES if not name.startswith(foreign)]
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        for call in calls * 5:
            raised(call)
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        has_figures = os.path.exists("/proc/self/statm")
        objects, traced, memory = len(gc.get_objects()), tracemalloc.get_traced_memory()[0], resident() if has_figures else 0
        rounds = max(1, CALLS // len(calls))
        for _ in range(rounds):
            for call in calls:
                raised(call)
        # Less than an object in every hundredth call; caches of the interpreter's fill up first.
        self.assertLess(tracemalloc.get_traced_memory()[0] - traced, 50_000 + len(calls) * rounds // 4)
        # No cycle: nothing waits for the collector.
        self.assertLess(len(gc.get_objects()) - objects, 200)
        if memory:
            self.assertLess(resident() - memory, (8 << 20) + 32 * len(calls) * rounds)

    def test_arguments_are_given_up(self):
        class Kept(np.ndarray):
            pass

        gc.disable()
        self.addCleanup(gc.enable)
        for call in (lambda x: FLIP["f64"](x), lambda x: FIXED(x), lambda x: FLIP["f32"](x, out=x[:1]), lambda x: PAIR(x, z=x)):
            x = np.zeros(3, np.float32).view(Kept)
            gone = weakref.ref(x)
            self.assertIsInstance(raised(lambda: call(x)), fuser.Error)  # noqa: B023
            del x
            self.assertIsNone(gone())

    def test_threads_raise_each_for_themselves(self):
        found = []

        def work(begin):
            cases = [case for case in CASES if "raises" not in case[0] and "logger" not in case[0]][begin::8]
            found.extend((name, raised(call), expected) for name, expected, call in cases)

        threads = [threading.Thread(target=work, args=(begin,)) for begin in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wrong = [(name, error) for name, error, expected in found if not isinstance(error, expected)]
        self.assertEqual(wrong, [])

    @unittest.skipUnless(hasattr(signal, "pthread_kill"), "no signals to threads")
    def test_an_interrupt_is_raised_behind_the_call(self):
        function, x = compiled(text("tensor<[N]xf32>", "exp %x")), np.zeros(1 << 22, np.float32)
        function(x)
        # A process that a shell started in the background ignores the signal.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        main = threading.main_thread().ident
        timer = threading.Timer(0.05, lambda: signal.pthread_kill(main, signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(10_000):
                function(x)
        timer.join()
        np.testing.assert_array_equal(function(X), [1, 1, 1])


if __name__ == "__main__":
    for library, name in ((ml_dtypes, "ml_dtypes"), (torch, "PyTorch"), (jax, "JAX")):
        if library is None:
            print(f"skipped: {name} is not installed; its wrong calls are not made")
    unittest.main()

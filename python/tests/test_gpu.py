"""Programs on a GPU, by the simulator: arrays of the host, of our own, of libraries that speak DLPack, and of one like PyTorch.

The simulator computes what the kernels' PTX says. A library like PyTorch is made here by its table of functions for DLPack, with an allocator
and a stream of its own.
"""

import ctypes
import gc
import os
import sys
import threading
import unittest
import weakref

os.environ["FUSER_CUDA"] = "sim:sm_90"

import numpy as np

import fuser
from fuser import _fuser

library = os.path.join(os.path.dirname(_fuser.__file__), "libfuser_cuda_sim.so")
if not os.path.exists(library):
    print("skipped: no simulator of a GPU beside the extension module; programs on a GPU are not tested", file=sys.stderr)
    sys.exit(0)

F32 = np.float32
SOFTMAX = """task.program @softmax(%x: tensor<[N]x[M]xf32>) -> tensor<[N]x[M]xf32> {
  %m = fusion.max %x dims [1] keepdim
  %mb = fusion.expand %m shape [[N], [M]]
  %d = fusion.sub %x, %mb
  %e = fusion.exp %d
  %s = fusion.sum %e dims [1] keepdim
  %sb = fusion.expand %s shape [[N], [M]]
  %y = fusion.div %e, %sb
  task.return %y
}"""
SCALED = """task.program @scaled(%x: tensor<[N]x5xf32>, %a: f32) -> (tensor<[N]x5xf32>, tensor<[N]xf32>) {
  %y = fusion.mul %x, %a
  %s = fusion.sum %y dims [1]
  task.return %y, %s
}"""
ADDED = """task.program @added(%x: tensor<[N]xf32>, %y: tensor<[N]xf32>) -> (tensor<[N]xf32> {alias = 0}) {
  %z = fusion.add %x, %y
  task.return %z
}"""


def on_gpu(text, **options):
    return fuser.Program.parse(text).compile(device="cuda", cache=False, **options)


def on_cpu(text):
    return fuser.Program.parse(text).compile(cache=False)


def numbers(*shape, seed=0):
    """Multiples of a quarter, whose sums are exact."""
    return np.random.default_rng(seed).integers(-16, 17, shape).astype(F32) / 4


class HostArrays(unittest.TestCase):
    def test_shapes(self):
        there, here = on_gpu(SOFTMAX), on_cpu(SOFTMAX)
        for shape in ((1, 1), (3, 7), (37, 33), (5, 1025), (0, 4)):
            x = numbers(*shape)
            y = there(x)
            self.assertIs(type(y), np.ndarray)
            # Both sum rows of up to 1,025 numbers and divide, each with an error of some units of 2^-24.
            np.testing.assert_allclose(y, here(x), rtol=32 * 2.0**-24)
        self.assertEqual(there.copied, {"x": 4, "y": 4})

    def test_strides(self):
        there, here = on_gpu(SCALED), on_cpu(SCALED)
        x = numbers(5, 7)
        wide = numbers(7, 9)
        for given in (x.T, wide[:, 2:7], wide[:, 6:1:-1], np.broadcast_to(x[:, :1].T, (7, 5))):
            for y, expected in zip(there(given, 0.5), here(given, 0.5)):
                np.testing.assert_array_equal(y, expected)

    def test_numbers_and_out(self):
        there = on_gpu(SCALED)
        x = numbers(3, 5)
        y, s = np.zeros((3, 10), F32)[:, ::2], np.zeros(3, F32)
        self.assertIs(there(x, 2, out=(y, s))[0], y)
        np.testing.assert_array_equal(y, 2 * x)
        np.testing.assert_array_equal(s, (2 * x).sum(1))

    def test_overwritten(self):
        there = on_gpu(ADDED)
        x, y = numbers(9), numbers(9, seed=1)
        wanted = x + y
        self.assertIs(there(x, y), x)
        np.testing.assert_array_equal(x, wanted)

    def test_target_of_another_family(self):
        text = "task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  %y = fusion.exp %x\n  task.return %y\n}"
        with self.assertRaisesRegex(fuser.Error, "no device runs code for the target 'mi300x'"):
            fuser.Program.parse(text).compile(device="cuda", cache=False, target="mi300x")(numbers(8))


class OwnArrays(unittest.TestCase):
    def test_elements_return(self):
        for dtype in (np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8, np.bool_, np.complex64):
            for x in (np.arange(12).reshape(3, 4).astype(dtype), np.zeros((0, 3), dtype), np.ones((), dtype), np.arange(12).reshape(3, 4).astype(dtype).T):
                array = fuser.to_device(x)
                self.assertEqual((array.shape, array.dtype, array.device), (x.shape, x.dtype, "cuda:0"))
                np.testing.assert_array_equal(array.numpy(), x)
                np.testing.assert_array_equal(np.asarray(array), x)

    def test_in_place(self):
        there = on_gpu(SCALED)
        x = numbers(3, 5)
        y, s = there(fuser.to_device(x), 2)
        self.assertIs(type(y), fuser.DeviceArray)
        np.testing.assert_array_equal(y.numpy(), 2 * x)
        np.testing.assert_array_equal(s.numpy(), (2 * x).sum(1))
        self.assertEqual(there.copies, 0)
        out = fuser.to_device(np.zeros((3, 5), F32)), fuser.to_device(np.zeros(3, F32))
        there.call_into(out, y, 0.5)
        np.testing.assert_array_equal(out[0].numpy(), x)

    def test_overwritten(self):
        there = on_gpu(ADDED)
        x, y = numbers(9), numbers(9, seed=1)
        a = fuser.to_device(x)
        self.assertIs(there(a, fuser.to_device(y)), a)
        np.testing.assert_array_equal(a.numpy(), x + y)

    def test_recorded(self):
        there = on_gpu(SCALED)
        x = fuser.to_device(numbers(3, 5))
        recorded = there.record(x, 2)
        for seed in range(3):
            new = numbers(3, 5, seed=seed)
            there(fuser.to_device(new), 1, out=(x, fuser.to_device(np.zeros(3, F32))))
            y, s = recorded()
            np.testing.assert_array_equal(y.numpy(), 2 * new)
            np.testing.assert_array_equal(s.numpy(), (2 * new).sum(1))
        self.assertIs(recorded()[0], y)

    def test_interfaces(self):
        x = numbers(3, 5)
        array = fuser.to_device(x)
        interface = array.__cuda_array_interface__
        self.assertEqual((interface["shape"], interface["typestr"], interface["version"]), ((3, 5), "<f4", 3))
        self.assertEqual(array.__dlpack_device__(), (2, 0))
        for version in (None, (1, 0)):
            self.assertIn("dltensor_versioned" if version else '"dltensor"', repr(array.__dlpack__(max_version=version)))
        for wrong in ({"copy": True}, {"dl_device": (1, 0)}):
            self.assertRaises(BufferError, array.__dlpack__, **wrong)

    def test_threads(self):
        there, x = on_gpu(SOFTMAX), fuser.to_device(numbers(3, 5))
        expected = there(x).numpy()
        found = []

        def work():
            found.extend(there(x).numpy() for _ in range(8))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 32)
        for y in found:
            np.testing.assert_array_equal(y, expected)


class Foreign:
    """An array of a library that speaks DLPack, and has no table."""

    def __init__(self, array):
        self.array, self.asked = array, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked):
        self.asked.append(asked.pop("stream", None))
        return self.array.__dlpack__(**asked)


def from_dlpack(array):
    return Foreign(array)


class OtherLibraries(unittest.TestCase):
    def test_capsules(self):
        there = on_gpu(SCALED)
        x = numbers(3, 5)
        given = Foreign(fuser.to_device(x))
        y, s = there(given, 2)
        # This module's own `from_dlpack` has made the results.
        self.assertIs(type(y), Foreign)
        np.testing.assert_array_equal(y.array.numpy(), 2 * x)
        self.assertGreater(given.asked[0], 0)


# A library like PyTorch: a type with a table.


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class DType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("rank", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("context", ctypes.c_void_p),
    ("deleter", DELETER),
    ("flags", ctypes.c_uint64),
    ("tensor", DLTensor),
]

driver = ctypes.CDLL(library)
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.POINTER(Managed)), ctypes.c_void_p, ctypes.c_void_p)
FROM_OBJECT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed)))
TO_OBJECT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(ctypes.c_void_p))
READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
STREAM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("earlier", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("managed_from_object", FROM_OBJECT),
        ("object_from_managed", TO_OBJECT),
        ("tensor_from_object", READ),
        ("stream", STREAM),
    ]


class Tensor:
    """A tensor of the library: its memory, and what frees it."""

    def __init__(self, address, shape, strides, free=None, device=(2, 0)):
        self.address, self.shape, self.strides, self.device = address, tuple(shape), tuple(strides), device
        self.lists = [(ctypes.c_int64 * max(len(n), 1))(*n) for n in (shape, strides)]
        if free:
            weakref.finalize(self, free)

    @classmethod
    def of(cls, x):
        """A copy of an array, in memory of the library's."""
        held = fuser.to_device(x)
        strides = [step // x.itemsize for step in np.ascontiguousarray(x).strides]
        tensor = cls(held.__cuda_array_interface__["data"][0], x.shape, strides)
        tensor.held = held
        return tensor

    def viewed(self, shape, strides):
        view = Tensor(self.address, shape, strides)
        view.base = self
        return view

    def numpy(self):
        """The elements, of a dense tensor in any order."""
        count = int(np.prod(self.shape, dtype=int))
        flat = np.zeros(count, F32)
        assert driver.cuCtxSynchronize() == 0
        if count:
            assert driver.cuMemcpyDtoHAsync_v2(ctypes.c_void_p(flat.ctypes.data), ctypes.c_uint64(self.address), ctypes.c_size_t(4 * count), None) == 0
            assert driver.cuCtxSynchronize() == 0
        return np.lib.stride_tricks.as_strided(flat, self.shape, [4 * step for step in self.strides])


class Library:
    """The functions of the table, and what they were asked."""

    allocated, freed, streams = [], [], []
    kept = {}
    handle = ctypes.c_void_p()

    @staticmethod
    def allocate(prototype, made, _context, _say):
        wanted = prototype[0]
        count = 1
        for axis in range(wanted.rank):
            count *= wanted.shape[axis]
        held = fuser.to_device(np.zeros(count, F32))
        shape = (ctypes.c_int64 * 1)(count)
        strides = (ctypes.c_int64 * 1)(1)
        managed = Managed(1, 0, None, Library.delete, 0, wanted)
        managed.tensor.data = held.__cuda_array_interface__["data"][0]
        managed.tensor.rank, managed.tensor.shape, managed.tensor.strides = 1, shape, strides
        address = ctypes.addressof(managed)
        Library.kept[address] = (managed, held, shape, strides)
        Library.allocated.append(address)
        made[0] = ctypes.pointer(managed)
        return 0

    @DELETER
    def delete(managed):
        address = ctypes.addressof(managed[0])
        Library.freed.append(address)
        del Library.kept[address]

    @staticmethod
    def to_object(managed, made):
        at = ctypes.cast(managed, ctypes.c_void_p).value
        tensor = managed[0].tensor
        shape, strides = ([numbers[axis] for axis in range(tensor.rank)] for numbers in (tensor.shape, tensor.strides))

        def free():
            held = ctypes.cast(at, ctypes.POINTER(Managed))
            held[0].deleter(held)

        result = Tensor(tensor.data, shape, strides, free, (tensor.device.kind, tensor.device.number))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(result))
        made[0] = id(result)
        return 0

    @staticmethod
    def read(tensor, to):
        shape, strides = tensor.lists
        to[0] = DLTensor(tensor.address, Device(*tensor.device), len(tensor.shape), DType(2, 32, 1), shape, strides, 0)
        return 0

    @staticmethod
    def stream(kind, number, to):
        Library.streams.append((kind, number))
        to[0] = Library.handle.value
        return 0


TABLE = Table(
    1, 3, None, ALLOCATE(Library.allocate), FROM_OBJECT(lambda *_: -1), TO_OBJECT(Library.to_object), READ(Library.read), STREAM(Library.stream),
)  # fmt: skip
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
Tensor.__dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLE), b"dlpack_exchange_api", None)


class LikeTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        fuser.to_device(np.zeros(1, F32))
        assert driver.cuStreamCreate(ctypes.byref(Library.handle), 0) == 0

    def test_allocator_and_stream(self):
        there = on_gpu(SCALED)
        x = numbers(3, 5)
        before, asked = len(Library.allocated), len(Library.streams)
        y, s = there(Tensor.of(x), 2)
        self.assertEqual(len(Library.allocated), before + 2)
        self.assertEqual(Library.streams[asked:], [(2, 0)])
        np.testing.assert_array_equal(y.numpy(), 2 * x)
        np.testing.assert_array_equal(s.numpy(), (2 * x).sum(1))
        del y, s
        gc.collect()
        self.assertEqual(sorted(Library.freed), sorted(Library.allocated))

    def test_layouts(self):
        there = on_gpu(SCALED)
        x = numbers(5, 7)
        y, _ = there(Tensor.of(x).viewed((7, 5), (1, 7)), 2)
        np.testing.assert_array_equal(y.numpy(), 2 * x.T)
        (y, _) = there.call_list([Tensor.of(x.T), 2.0], None, [(1, 7), None], True)
        self.assertEqual(y.strides, (1, 7))
        np.testing.assert_array_equal(y.numpy(), 2 * x.T)
        row = Tensor.of(x[0, :5]).viewed((4, 5), (0, 1))
        np.testing.assert_array_equal(there(row, 1)[1].numpy(), np.full(4, x[0, :5].sum()))

    def test_streams(self):
        there = on_gpu(SCALED)
        x = Tensor.of(numbers(3, 5))
        asked = len(Library.streams)

        class Stream:
            cuda_stream = Library.handle.value

        for stream in (Library.handle.value, Stream, 0):
            np.testing.assert_array_equal(there(x, 2, stream=stream)[0].numpy(), 2 * numbers(3, 5))
        self.assertEqual(len(Library.streams), asked)

    def test_gaps_are_refused(self):
        there = on_gpu(SCALED)
        wide = Tensor.of(numbers(3, 10))
        for strides in ((10, 2), (10, 1)):
            with self.assertRaisesRegex(fuser.Error, "input `x` has gaps"):
                there(wide.viewed((3, 5), strides), 2)
        with self.assertRaisesRegex(fuser.Error, "result `y` has gaps"):
            there(Tensor.of(numbers(3, 5)), 2, out=(wide.viewed((3, 5), (10, 2)), None))

    def test_recorded(self):
        there = on_gpu(SCALED)
        x = numbers(3, 5)
        recorded = there.record(Tensor.of(x), 2)
        np.testing.assert_array_equal(recorded(stream=Library.handle.value)[0].numpy(), 2 * x)
        own = there.record(fuser.to_device(x), 3)
        np.testing.assert_array_equal(own(stream=Library.handle.value)[0].numpy(), 3 * x)
        np.testing.assert_array_equal(there(fuser.to_device(x), 4, stream=Library.handle.value)[0].numpy(), 4 * x)


class Refusals(unittest.TestCase):
    def refused(self, text, call, *args, **kwargs):
        with self.assertRaisesRegex(fuser.Error, text):
            call(*args, **kwargs)

    def test_devices(self):
        program = fuser.Program.parse(SCALED)
        self.refused("there is no GPU 7", program.compile, device="cuda:7", cache=False)
        for name in ("tpu", "cuda:x", "cuda:-1", "", 3):
            self.refused("is no device", program.compile, device=name, cache=False)
        x = fuser.to_device(numbers(3, 5))
        self.refused("compiled for the CPU", program.compile(device="cpu", cache=False), x, 1)
        there = on_gpu(SCALED)
        away = Tensor(x.__cuda_array_interface__["data"][0], (3, 5), (5, 1), device=(2, 1))
        self.refused("lies on GPU 1, the program runs on GPU 0", there, away, 1)
        self.refused("neither a CPU nor a GPU of NVIDIA", there, Tensor(0, (3, 5), (5, 1), device=(10, 0)), 1)
        self.refused("'cpu' is no GPU", fuser.to_device, numbers(3), "cpu")
        self.refused("lies on a device already", fuser.to_device, x)

    def test_streams_and_records(self):
        here, there = on_cpu(SCALED), on_gpu(SCALED)
        self.refused("has no streams", here, numbers(3, 5), 1, stream=0)
        self.refused("is no stream", there, numbers(3, 5), 1, stream="a")
        self.refused("is not recorded", here.record, numbers(3, 5), 1)
        self.refused("fetched from the GPU", there.record, numbers(3, 5), 1)


if __name__ == "__main__":
    unittest.main()

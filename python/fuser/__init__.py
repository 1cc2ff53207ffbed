"""Fuser: tensor programs compiled for this machine, so that few bytes cross slow memory.

    >>> import fuser, numpy
    >>> program = fuser.Program.parse('''
    ... task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {
    ...   %y = fusion.exp %x
    ...   task.return %y
    ... }''')
    >>> f = program.compile()
    >>> f(numpy.zeros(3, numpy.float32))
    array([1., 1., 1.], dtype=float32)

`Program` reads text, StableHLO and nvFuser's definitions; `Builder` makes a program op by op. `Program.compile` gives a `Compiled`, which
is called on arrays; `Program.compile(device="cuda")` runs on a GPU, and `to_device` sends arrays there. `Program.segments` gives `Segments`, the kernels with bytes and reasons, which notebooks show as a picture. `Error` is what every refusal raises.
"""

from ._fuser import Compiled, DeviceArray, Error, Program, Recorded, __version__, release_memory, to_device
from ._meant import missing
from .builder import Builder, Value
from .segments import Segment, Segments, WhatIf
from .split import Split


def __getattr__(name):
    raise AttributeError(missing("module 'fuser'", name))


__all__ = [
    "Builder", "Compiled", "DeviceArray", "Error", "Program", "Recorded", "Segment", "Segments", "Split", "Value", "WhatIf", "__version__",
    "release_memory", "to_device",
]  # fmt: skip

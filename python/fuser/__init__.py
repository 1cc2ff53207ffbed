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
is called on arrays. `Program.segments` gives `Segments`, the kernels with bytes and reasons, which notebooks show as a picture. `Error` is what every refusal raises.
"""

from ._fuser import Compiled, Error, Program, __version__
from .builder import Builder, Value
from .segments import Segment, Segments, WhatIf
from .split import Split

# Names that callers of other packages try, and the ones here.
_MEANT = {
    "jit": "'fuser.jax.jit' compiles a function of JAX, after 'import fuser.jax'",
    "compile": "'Program.compile' compiles a program, 'torch.compile(f, backend=\"fuser\")' a function of PyTorch",
    "parse": "'Program.parse' reads text",
    "load": "'Program.parse' reads text",
    "from_file": "'Program.parse' reads text",
    "import_stablehlo": "it is a method of 'Program'",
    "FusionDefinition": "it stands in 'fuser.nvfuser', after 'import fuser.nvfuser'",
    "jax": "'import fuser.jax' loads it",
    "nvfuser": "'import fuser.nvfuser' loads it",
}


def __getattr__(name):
    advice = _MEANT.get(name)
    raise AttributeError(f"module 'fuser' has no attribute {name!r}" + (f": {advice}" if advice else ""))


__all__ = ["Builder", "Compiled", "Error", "Program", "Segment", "Segments", "Split", "Value", "WhatIf", "__version__"]

"""nvFuser's Python frontend on Fuser: `import fuser.nvfuser as nvfuser_direct`.

    >>> import torch
    >>> from fuser.nvfuser import FusionDefinition
    >>> with FusionDefinition() as fd:
    ...     t0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True])
    ...     fd.add_output(fd.ops.sum(fd.ops.exp(t0), dims=[1]))
    >>> fd.execute([torch.zeros(2, 3)])
    [tensor([3., 3.])]

A definition is kept as nvFuser prints it. To be executed it is printed with the lengths of its inputs, read by Fuser
(docs/importing.md says what each op means) and compiled for the CPU, once for each lengths. Tensors are PyTorch's, on
the CPU. Schedules are Fuser's own: `fd.sched` and `manual_execute` are refused.
"""

from .definition import FusionDefinition, Scalar, TensorView, compute_tensor_descriptor
from .executor import Fusion, FusionExecutorCache, LRUCache, LruFusionCache, Refused
from .nvfuser_direct_version import Version
from .types import DataType

__all__ = [
    "DataType",
    "Fusion",
    "FusionDefinition",
    "FusionExecutorCache",
    "LRUCache",
    "LruFusionCache",
    "Refused",
    "Scalar",
    "TensorView",
    "compute_tensor_descriptor",
    "version",
]


def version() -> Version:
    """The version of Fuser."""
    from .. import __version__

    return Version(__version__)

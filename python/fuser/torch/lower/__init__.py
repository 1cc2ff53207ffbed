"""The table of lowerings: for each op of torch the ops of Fuser that compute it.

A row is a function from a `Context` and the op's arguments, in which tensors are `Value`s of the program, to the results. It raises
`Unsupported` with the reason where a form is left to torch. The modules of this package fill the table, each for one family of ops.
"""

from . import index, norm, pointwise, pool, random, reduce, shape  # noqa: F401  (they fill the table)
from .table import COMPUTE, CONSTANT, ROWS, VIEW, Context, Row, lowered, repeatable

__all__ = ["COMPUTE", "CONSTANT", "ROWS", "VIEW", "Context", "Row", "lowered", "repeatable"]

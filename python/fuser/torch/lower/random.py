"""Random numbers of a seed: the ops that `fuser.torch.random` takes torch's apart into."""

from __future__ import annotations

from .table import row


@row("fuser.uniform.default", "fuser.normal.default")
def _(c, seed, offset, shape, dtype, device):
    kind = str(c.node.target).split(".")[1]
    return c.e.random(kind, seed, offset, c.shape, c.dtype)

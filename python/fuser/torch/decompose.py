"""The ops that are taken apart before a graph is cut: torch's own decompositions, of these ops alone.

The core table as it is must not be used: it takes attention apart in the forward and not in the backward, which makes gradients wrong
without an error (torch 2.15, CPU). Ops that Fuser has a row for stay whole, as one row is fewer nodes.
"""

from __future__ import annotations

import torch
from torch._decomp import get_decompositions

aten = torch.ops.aten

_NAMES = """
    elu elu_backward hardswish_backward hardsigmoid_backward hardtanh_backward softplus_backward mish mish_backward log_sigmoid_forward
    log_sigmoid_backward glu glu_backward celu selu softshrink hardshrink threshold
    mse_loss mse_loss_backward smooth_l1_loss smooth_l1_loss_backward huber_loss huber_loss_backward binary_cross_entropy
    binary_cross_entropy_backward binary_cross_entropy_with_logits soft_margin_loss
    _prelu_kernel _prelu_kernel_backward logsumexp norm linalg_vector_norm
    diagonal_backward unfold_backward pixel_shuffle pixel_unshuffle
    reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
    _weight_norm_interface _weight_norm_interface_backward
    upsample_nearest1d upsample_nearest2d upsample_bilinear2d
    logit logit_backward nan_to_num sinc special_xlog1py hypot logaddexp heaviside deg2rad rad2deg
    isneginf isposinf std_mean aminmax
""".split()


#: Arguments of the op for one tensor that are named there, and given by their places in the op for lists.
_NAMED = {"addcmul": ("value",), "addcdiv": ("value",)}


def _each(name):
    """An op for lists of tensors as the op `name` for each of them."""
    op, named = getattr(aten, name), _NAMED.get(name, ())

    def apply(*lists, **keywords):
        count = next(len(x) for x in lists if isinstance(x, (list, tuple)))
        made = []
        for i in range(count):
            own = [x[i] if isinstance(x, (list, tuple)) else x for x in lists]
            made.append(op(*own[:3], **dict(zip(named, own[3:])), **keywords) if named else op(*own, **keywords))
        return made

    return apply


def _lists():
    """The ops for lists of tensors that give as many tensors."""
    found = {}
    for name in torch._C._dispatch_get_all_op_names():
        space, _, rest = name.partition("::_foreach_")
        base = rest.partition(".")[0]
        if space != "aten" or not rest or base.endswith("_") or base in ("norm", "powsum", "max", "copy", "zero", "clone") or not hasattr(aten, base):
            continue
        overload = getattr(getattr(aten, f"_foreach_{base}"), rest.partition(".")[2] or "default", None)
        # The numbers of `addcmul` and `addcdiv` for one tensor are no tensors.
        if overload is None or overload._schema.is_mutable or "out" in overload._overloadname or (base in _NAMED and overload._overloadname == "Tensor"):
            continue
        found[overload] = _each(base)
    return found


def table():
    """The decompositions, by overload."""
    ops = [getattr(aten, name) for name in _NAMES if hasattr(aten, name)]
    return dict(get_decompositions(ops)) | _lists()

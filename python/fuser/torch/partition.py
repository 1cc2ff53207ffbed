"""What the backward reads: saved by the forward, or computed again from other values, whichever moves fewer bytes.

The joint graph of forward and backward is a network: a value that the forward computes costs the bytes that saving it writes and reads, one
that lies in memory anyway (an argument, what torch's ops give or take) costs the reading alone. Elementwise ops and views may be repeated in
the backward; products, reductions, random numbers and all that torch runs may not. A value that torch's ops in the backward read is written
again if it is computed again. A minimum cut between these and the backward is what is saved. Graphs with checkpoints, named extents or
effects are cut by torch's default partition.
"""

from __future__ import annotations

import operator

import networkx
import torch
from torch._functorch import partitioners

from .graph import NEVER, OURS, has_effect, size_of
from .log import logger
from .lower import CONSTANT, ROWS, VIEW, repeatable
from .random import share_seed


class NotOurs(Exception):
    """Why torch's default partition cuts the graph."""


def partition(joint, inputs, *, num_fwd_outputs, static_lifetime_input_indices=None, **more):
    share_seed(joint.graph)
    try:
        node_info = partitioners.classify_nodes(joint, static_lifetime_input_indices or [], num_fwd_outputs)
        saved = choose(joint.graph, node_info)
        return partitioners._extract_fwd_bwd_modules(
            joint,
            saved,
            saved_sym_nodes=[],
            num_fwd_outputs=num_fwd_outputs,
            static_lifetime_input_nodes=node_info.static_lifetime_input_nodes,
        )
    except NotOurs as why:
        logger.debug("torch's default partition: %s", why)
    except Exception as error:
        logger.warning("torch's default partition: %s: %s", type(error).__name__, error)
    return partitioners.default_partition(
        joint, inputs, num_fwd_outputs=num_fwd_outputs, static_lifetime_input_indices=static_lifetime_input_indices, **more
    )


def choose(graph, info):
    """The values of the forward that are saved, in the graph's order."""
    forward = [n for n in graph.nodes if n in info.required_fw_nodes and n.op != "output"]
    check(graph, forward)
    inside = set(forward)
    written = {n.args[0] for n in forward if n.target is torch.ops.aten.copy_.default}
    flow = networkx.DiGraph()
    source, sink = "source", "sink"
    flow.add_node(source)
    flow.add_node(sink)
    needed = False
    for node in forward:
        if node.target is torch.ops.aten.copy_.default:
            continue
        readers = [u for u in node.users if u.target is not torch.ops.aten.copy_.default]
        flow.add_edge((node, 0), (node, 1), capacity=NEVER if node in written else cost(node, inside))
        if node.op == "placeholder" or not repeated(node):
            flow.add_edge(source, (node, 0), capacity=NEVER)
        elif read_by_torch(node, inside):
            # Torch reads it from memory, so that computing it again writes and reads it too.
            flow.add_edge(source, (node, 0), capacity=2 * size_of(node.meta["val"]))
        for reader in readers:
            if reader in inside:
                flow.add_edge((node, 1), (reader, 0), capacity=NEVER)
            elif reader.op != "output":
                needed = True
                flow.add_edge((node, 1), sink, capacity=NEVER)
    if not needed:
        return []
    try:
        _, (near, _) = networkx.minimum_cut(flow, source, sink)
    except networkx.NetworkXUnbounded:
        raise NotOurs("a value that can be neither saved nor computed again") from None
    return [n for n in forward if (n, 0) in near and (n, 1) not in near and (n, 1) in flow]


def check(graph, forward):
    """Raises where the graph has what this partition does not know."""
    inside = set(forward)
    for node in graph.nodes:
        if node.meta.get("recompute") is not None:
            raise NotOurs("a checkpoint")
        val = node.meta.get("val")
        if isinstance(val, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            raise NotOurs("named extents")
        if node.target is torch.ops.aten.copy_.default and node not in inside:
            raise NotOurs("a write in the backward")
    for node in forward:
        if node.op == "call_function" and has_effect(node) and node.target is not torch.ops.aten.copy_.default:
            if not isinstance(node.target, torch._ops.OpOverload) or node.target.namespace not in OURS:
                raise NotOurs(f"the op {node.target}")


def repeated(node):
    """True if the backward may compute a node again."""
    if node.op == "get_attr":
        return True
    if node.target is operator.getitem:
        return repeated(node.args[0])
    name = str(node.target)
    if name not in ROWS or has_effect(node):
        return False
    return ROWS[name].kind in (VIEW, CONSTANT) or repeatable(name)


def read_by_torch(node, inside):
    """True if one of torch's ops in the backward reads a value that the forward computes."""
    if node.op != "call_function" or is_view(node):
        return False
    stack = [node]
    while stack:
        for user in stack.pop().users:
            if is_view(user):
                stack.append(user)
            elif user not in inside and user.op == "call_function" and str(user.target) not in ROWS and user.target is not operator.getitem:
                return True
    return False


def is_view(node):
    return node.op == "call_function" and str(node.target) in ROWS and ROWS[str(node.target)].kind == VIEW


def cost(node, inside):
    """The bytes that saving a value moves; never for tuples and for what is no tensor."""
    val = node.meta.get("val")
    if not isinstance(val, torch.Tensor):
        return NEVER
    size = max(size_of(val), 1)
    # Of two cuts with equal bytes the one nearer to the backward repeats less.
    return size * (1 if in_memory(node, inside) else 2)


def in_memory(node, inside):
    """True if a value is in memory in any case: torch gives it or takes it, or the caller gets it."""
    root = node
    while is_view(root):
        root = root.args[0]
    if root.op in ("placeholder", "get_attr") or str(root.target) not in ROWS and root.target is not operator.getitem:
        return True
    if root.target is operator.getitem and str(root.args[0].target) not in ROWS:
        return True
    stack = [root]
    while stack:
        for user in stack.pop().users:
            if user.op == "output":
                return True
            if user not in inside:
                continue
            if is_view(user):
                stack.append(user)
            elif str(user.target) not in ROWS and user.target is not operator.getitem:
                return True
    return False

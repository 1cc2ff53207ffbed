"""Jraph: message passing on graphs."""

import jax
import jax.numpy as jnp
import jraph
import numpy as np

from .registry import program


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def graph(nodes=7, edges=11, node_width=4, edge_width=3):
    draw = np.random.default_rng(0)
    ends = [jnp.asarray(draw.integers(0, nodes, edges), jnp.int32) for _ in range(2)]
    return jraph.GraphsTuple(
        nodes=normal(1, nodes, node_width), edges=normal(2, edges, edge_width), senders=ends[0], receivers=ends[1],
        n_node=jnp.asarray([3, nodes - 3], jnp.int32), n_edge=jnp.asarray([5, edges - 5], jnp.int32), globals=normal(3, 2, 2),
    )


@program("jraph")
def graph_network_gradient():
    def net(w, g):
        e, n, u = w
        model = jraph.GraphNetwork(
            lambda edges, s, r, u: jnp.tanh(jnp.concatenate([edges, s, r, u], -1) @ e),
            lambda nodes, s, r, u: jax.nn.relu(jnp.concatenate([nodes, s, r, u], -1) @ n),
            lambda nodes, edges, u: jnp.concatenate([nodes, edges, u], -1) @ u_weights(u),
        )
        u_weights = lambda _: u
        out = model(g)
        return jnp.sum(out.nodes**2) + jnp.sum(out.globals)

    w = (normal(4, 13, 5), normal(5, 4 + 5 + 5 + 2, 6), normal(6, 6 + 5 + 2, 3))
    return jax.value_and_grad(net), (w, graph())


@program("jraph")
def graph_attention():
    def f(w, a, g):
        model = jraph.GAT(
            lambda nodes: nodes @ w,
            lambda s, r, e: jax.nn.leaky_relu(jnp.concatenate([s, r], -1) @ a),
            lambda nodes: nodes,
        )
        return model(g._replace(edges=None)).nodes

    return f, (normal(7, 4, 5), normal(8, 10, 1), graph())


@program("jraph")
def graph_convolution():
    def f(w, g):
        return jraph.GraphConvolution(lambda n: n @ w, add_self_edges=True, symmetric_normalization=True)(g).nodes

    return jax.jit(lambda w, g: (f(w, g), jax.grad(lambda w: f(w, g).sum())(w))), (normal(9, 4, 3), graph())


@program("jraph")
def segment_ops():
    def f(x, ids):
        n = 5
        return (
            jraph.segment_mean(x, ids, n), jraph.segment_max(x, ids, n), jraph.segment_min_or_constant(x, ids, n), jraph.segment_softmax(x, ids, n),
            jraph.segment_variance(x, ids, n), jraph.segment_normalize(x, ids, n), jraph.partition_softmax(x[:, 0], jnp.asarray([4, 3, 3], jnp.int32), 10),
        )

    return f, (normal(10, 10, 3), jnp.asarray(np.random.default_rng(3).integers(0, 5, 10), jnp.int32))


@program("jraph")
def deep_sets_padded():
    g = jraph.pad_with_graphs(graph(), 10, 14, 4)

    def f(w, v, g):
        model = jraph.DeepSets(
            lambda nodes, u: jax.nn.gelu(jnp.concatenate([nodes, u], -1) @ w),
            lambda nodes: nodes @ v,
        )
        return model(g).globals * jraph.get_graph_padding_mask(g)[:, None]

    return f, (normal(11, 6, 8), normal(12, 8, 3), g)

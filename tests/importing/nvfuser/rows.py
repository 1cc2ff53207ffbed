def nvfuser_fusion_id15(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.define_tensor(shape=[3, 2, 4], contiguity=[True, True, True], dtype=DataType.Float)
    T3 = fd.define_tensor(shape=[2, 1, 4], contiguity=[True, None, True], dtype=DataType.Int)
    T4 = fd.define_tensor(shape=[2, 1, 4], contiguity=[True, None, True], dtype=DataType.Float)
    T5 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float)
    T6 = fd.define_tensor(shape=[1, 2, 1], contiguity=[None, True, None], dtype=DataType.Int)
    T7 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Bool)
    T8 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int32)
    T9 = fd.ops.embedding_fwd(T1, T0, None, 1.5, None, None, None)
    T10 = fd.ops.embedding_fwd(T1, T0, -2, 2.0, 1.0, False, False)
    T11 = fd.ops.embedding_fwd(T1, T0, None, max_norm=1.0, norm_type=float("inf"))
    T12 = fd.ops.embedding_fwd(T1, T0, None, T5, 3.0)
    T13 = fd.ops.scatter(T2, T3, T4, 0)
    T14 = fd.ops.scatter(T2, T3, 0.5, 0)
    T15 = fd.ops.scatter(T2, T6, T2, dim=2)
    T16 = fd.ops.take_along_axis(T2, T3, dim=0)
    T17 = fd.ops.take_along_axis(T4, T6, dim=2)
    T18 = fd.ops.argsort(T5, dim=0, descending=True, stable=True)
    T19 = fd.ops.add(T7, T7)
    T20 = fd.ops.mul(T7, fd.ops.logical_not(T7))
    T21 = fd.ops.abs(T7)
    T22 = fd.ops.ceil(T8)
    T23 = fd.ops.broadcast(T2, is_broadcast_dim=[False, True, False, False])
    T24 = fd.ops.matmul(T23, fd.ops.permute(T4, [0, 2, 1]))
    fd.add_output(T9)
    fd.add_output(T10)
    fd.add_output(T11)
    fd.add_output(T12)
    fd.add_output(T13)
    fd.add_output(T14)
    fd.add_output(T15)
    fd.add_output(T16)
    fd.add_output(T17)
    fd.add_output(T18)
    fd.add_output(T19)
    fd.add_output(T20)
    fd.add_output(T21)
    fd.add_output(T22)
    fd.add_output(T24)

# sizes: 5 3
# sizes: 2 4
# sizes: 3 2 4
# sizes: 2 1 4
# sizes: 2 1 4
# sizes:
# sizes: 1 2 1
# sizes: 2 3
# sizes: 2 3
# in: 1.125 1.875 1.125 -1.375 1.375 -0.375 0.875 -1.875 0.125 -1.375 0.625 2.125 -1.375 1.875 -0.875
# in: 2 2 2 1 1 1 2 1
# in: 0.125 0.625 0.875 -1.875 -0.625 1.375 -0.625 0.375 -1.125 -0.625 0.375 0.625 1.375 -1.625 -1.375 -1.375 -1.875 0.375 -1.625 -1.375 0.625 1.375 -1.125 -1.125
# in: 2 1 2 1 1 1 2 1
# in: -0.875 0.125 -1.875 0.375 0.875 1.125 1.375 -1.625
# in: -1.125
# in: 2 2
# in: 1 0 1 0 1 1
# in: 2 1 1 2 2 2
# out: 0.6331738 -1.356801 0.0904534 0.6331738 -1.356801 0.0904534 0.6331738 -1.356801 0.0904534 -1.0414706 1.0414706 -0.28403747 -1.0414706 1.0414706 -0.28403747 -1.0414706 1.0414706 -0.28403747 0.6331738 -1.356801 0.0904534 -1.0414706 1.0414706 -0.28403747
# out: 0.6086957 -1.3043479 0.08695652 0.6086957 -1.3043479 0.08695652 0.6086957 -1.3043479 0.08695652 -0.88 0.88 -0.24 -0.88 0.88 -0.24 -0.88 0.88 -0.24 0.6086957 -1.3043479 0.08695652 -0.88 0.88 -0.24
# out: 0.46666664 -0.99999994 0.06666666 0.46666664 -0.99999994 0.06666666 0.46666664 -0.99999994 0.06666666 -0.99999994 0.99999994 -0.27272725 -0.99999994 0.99999994 -0.27272725 -0.99999994 0.99999994 -0.27272725 0.46666664 -0.99999994 0.06666666 -0.99999994 0.99999994 -0.27272725
# out: -0.50828636 1.0891851 -0.07261234 -0.50828636 1.0891851 -0.07261234 -0.50828636 1.0891851 -0.07261234 0.8899144 -0.8899144 0.24270393 0.8899144 -0.8899144 0.24270393 0.8899144 -0.8899144 0.24270393 -0.50828636 1.0891851 -0.07261234 0.8899144 -0.8899144 0.24270393
# out: 0.125 0.625 0.875 -1.875 -0.625 1.375 -0.625 0.375 0.875 1.125 0.375 -1.625 1.375 -1.625 -1.375 -1.375 -0.875 0.375 1.375 -1.375 0.625 1.375 -1.125 -1.125
# out: 0.125 0.625 0.875 -1.875 -0.625 1.375 -0.625 0.375 0.5 0.5 0.375 0.5 1.375 -1.625 -1.375 -1.375 0.5 0.375 0.5 -1.375 0.625 1.375 -1.125 -1.125
# out: 0.125 0.625 0.125 -1.875 -0.625 1.375 -0.625 0.375 -1.125 -0.625 0.375 0.625 1.375 -1.625 -1.375 -1.375 -1.875 0.375 -1.625 -1.375 0.625 1.375 -1.125 -1.125
# out: -1.875 -0.625 -1.625 0.625 0.625 -1.625 -1.125 -1.375 -1.125 -0.625 -1.625 0.625 1.375 -1.625 -1.125 -1.375
# out: -1.875 -1.875 1.375 1.375
# out: 0
# out: 1 0 1 0 1 1
# out: 0 0 0 0 0 0
# out: 1 0 1 0 1 1
# out: 2 1 1 2 2 2
# out: -2.375 2.03125 5.0625 -0.46875 0.4375 0.65625 -2.1875 -0.28125 4.21875 1.3125 -1.21875 2.375

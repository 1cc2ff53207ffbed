# Written by hand: the results are those of integers in Python, cut to their widths.
def nvfuser_fusion_id19(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
    T2 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Int32)
    T3 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Int32)
    S4 = fd.define_scalar(-3, dtype=DataType.Int)
    T5 = fd.ops.pow(T0, 3)
    T6 = fd.ops.pow(T0, 0)
    T7 = fd.ops.pow(T0, T1)
    T8 = fd.ops.pow(T2, T3)
    T9 = fd.ops.pow(2, T1)
    T10 = fd.ops.pow(T2, S4)
    T11 = fd.ops.pow(T0, 10)
    fd.add_output(T5)
    fd.add_output(T6)
    fd.add_output(T7)
    fd.add_output(T8)
    fd.add_output(T9)
    fd.add_output(T10)
    fd.add_output(T11)

# sizes: 8
# sizes: 8
# sizes: 8
# sizes: 8
# in: 3 -2 0 1 -1 7 10 -3
# in: 2 3 0 -5 -3 -1 15 20
# in: 3 -2 0 1 -1 7 10 -3
# in: 40 31 0 -4 -3 -1 30 63
# out: 27 -8 0 1 -1 343 1000 -27
# out: 1 1 1 1 1 1 1 1
# out: 9 -8 1 1 -1 0 1000000000000000 3486784401
# out: 689956897 -2147483648 1 1 -1 0 1073741824 -2111105451
# out: 4 8 1 0 0 0 32768 1048576
# out: 0 0 0 1 -1 0 0 0
# out: 59049 1024 0 1 1 282475249 10000000000 59049

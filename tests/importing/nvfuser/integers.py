def nvfuser_fusion_id6(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
    T2 = fd.ops.bitwise_and(T0, T1)
    T3 = fd.ops.bitwise_left_shift(T0, 2)
    T4 = fd.ops.gcd(T0, T1)
    T5 = fd.ops.div(T0, T1)
    T6 = fd.ops.remainder(T0, T1)
    T7 = fd.ops.bitwise_not(T0)
    T8 = fd.ops.eq(T0, T1)
    T9 = fd.ops.prod(T8, dims=[0])
    fd.add_output(T2)
    fd.add_output(T3)
    fd.add_output(T4)
    fd.add_output(T5)
    fd.add_output(T6)
    fd.add_output(T7)
    fd.add_output(T9)

# sizes: 6
# sizes: 6
# in: 1 2 2 1 1 2
# in: 2 1 1 1 2 2
# out: 0 0 0 1 0 2
# out: 4 8 8 4 4 8
# out: 1 1 1 1 1 2
# out: 0 2 2 1 0 1
# out: 1 0 0 0 1 0
# out: -2 -3 -3 -2 -2 -3
# out: 0

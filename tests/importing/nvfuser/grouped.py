def nvfuser_fusion_id10(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T1 = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.Float, is_cpu=False)
    T2 = fd.define_tensor(shape=[3, -1, -1], contiguity=[True, True, True], dtype=DataType.Float, is_cpu=False)
    T3 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T4 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T5 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T6 = fd.ops.iota(3, 1, 2, DataType.Int32)
    T7 = fd.ops.grouped_mm(T0, T1, T6)
    T8 = fd.ops.grouped_mm(T2, T3, T6)
    T9 = fd.ops.grouped_mm(T4, T5, T6)
    fd.add_output(T7)
    fd.add_output(T8)
    fd.add_output(T9)

# sizes: 5 3
# sizes: 3 3 4
# sizes: 3 2 3
# sizes: 3 5
# sizes: 2 5
# sizes: 5 4
# in: -1.625 -0.875 -0.375 -0.875 -1.625 1.875 -1.625 -0.375 1.625 -0.625 1.375 -1.625 1.875 0.375 0.125
# in: -1.125 0.875 -1.625 0.125 0.625 1.625 1.375 -1.375 -1.125 0.375 0.375 -1.125 0.625 1.875 0.625 0.625 -0.375 0.125 1.125 -1.375 1.875 -0.875 1.875 1.625 2.125 -1.375 0.375 1.875 -1.875 -0.125 1.375 -1.125 1.625 -0.875 1.125 0.125
# in: -0.375 -1.875 1.375 1.125 0.875 1.625 2.125 1.875 -0.375 0.875 -1.625 0.375 -1.875 -0.875 -0.625 -1.125 -0.875 1.375
# in: -1.875 0.625 2.125 1.375 0.125 0.875 -0.125 2.125 -0.375 0.625 0.625 -1.875 1.125 2.125 -0.375
# in: -1.875 1.125 -1.375 1.625 -0.125 0.625 -0.875 2.125 0.125 0.125
# in: 0.375 0.375 1.125 -1.875 0.375 -0.625 -1.875 0.625 -1.875 0.125 1.625 0.875 1.625 -0.875 -0.375 -0.625 -0.375 2.125 -1.375 0.375
# out: 1.703125 -2.984375 1.296875 1.421875 3.578125 -3.484375 1.140625 4.734375 2.171875 -4.515625 1.609375 2.140625 -6.546875 2.109375 -0.171875 -2.921875 3.484375 -2.734375 1.359375 3.109375
# out: -0.078125 1.796875 8.078125 -3.578125 -0.546875 -0.328125 0.046875 -1.171875 1.703125 -1.203125
# out: -0.703125 -0.703125 -2.109375 3.515625 0.234375 0.234375 0.703125 -1.171875 3.0 -0.875 -4.34375 -0.5 -4.3125 0.8125 5.09375 1.3125 2.6875 -1.6875 -0.4375 -1.0625 0.15625 0.15625 -0.21875 -0.03125

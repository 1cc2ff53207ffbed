def nvfuser_fusion_id5(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.lerp(T0, T1, 0.25)
    T3 = fd.ops.addcmul(T0, T1, T1, value=0.5)
    T4 = fd.ops.clamp(T0, -1.0, 1.0)
    T5 = fd.ops.threshold(T0, 0.5, 3.0)
    T6 = fd.ops.frac(T0)
    T7 = fd.ops.silu(T0)
    T8 = fd.ops.sigmoid(T0)
    T9 = fd.ops.erf(T0)
    T10 = fd.ops.remainder(T0, 0.75)
    T11 = fd.ops.fmod(T0, 0.75)
    T12 = fd.ops.isinf(T0)
    T13 = fd.ops.logical_and(T0, T1)
    T14 = fd.ops.atan2(T0, T1)
    T15 = fd.ops.maximum(T0, T1)
    T16 = fd.ops.round(T0)
    T17 = fd.ops.sign(T0)
    T18 = fd.ops.pow(T0, 3)
    T19 = fd.ops.var(T0, dims=[1], correction=1, keepdim=False)
    fd.add_output(T2)
    fd.add_output(T3)
    fd.add_output(T4)
    fd.add_output(T5)
    fd.add_output(T6)
    fd.add_output(T7)
    fd.add_output(T8)
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

# sizes: 2 5
# sizes: 2 5
# in: 1.375 -1.625 -0.125 -0.125 0.625 -1.625 -1.875 1.125 -1.625 -0.625
# in: 0.375 0.375 1.375 0.875 -0.125 1.625 -0.375 -0.875 0.375 1.625
# out: 1.125 -1.125 0.25 0.125 0.4375 -0.8125 -1.5 0.625 -1.125 -0.0625
# out: 1.4453125 -1.5546875 0.8203125 0.2578125 0.6328125 -0.3046875 -1.8046875 1.5078125 -1.5546875 0.6953125
# out: 1.0 -1.0 -0.125 -0.125 0.625 -1.0 -1.0 1.0 -1.0 -0.625
# out: 1.375 3.0 3.0 3.0 0.625 3.0 3.0 1.125 3.0 3.0
# out: 0.375 -0.625 -0.125 -0.125 0.625 -0.625 -0.875 0.125 -0.625 -0.625
# out: 1.0975069 -0.26733926 -0.058598828 -0.058598828 0.4070968 -0.26733926 -0.24930795 0.8492794 -0.26733926 -0.2179032
# out: 0.7981868 0.16451646 0.46879062 0.46879062 0.6513549 0.16451646 0.13296424 0.754915 0.16451646 0.34864512
# out: 0.94817007 -0.97844374 -0.1403162 -0.1403162 0.6232409 -0.97844374 -0.99199003 0.8883882 -0.97844374 -0.6232409
# out: 0.625 0.625 0.625 0.625 0.625 0.625 0.375 0.375 0.625 0.125
# out: 0.625 -0.125 -0.125 -0.125 0.625 -0.125 -0.375 0.375 -0.125 -0.625
# out: 0 0 0 0 0 0 0 0 0 0
# out: 1 1 1 1 1 1 1 1 1 1
# out: 1.3045442 -1.3439975 -0.09065989 -0.14189707 1.7681918 -0.7853982 -1.7681918 2.2318397 -1.3439975 -0.36717385
# out: 1.375 0.375 1.375 0.875 0.625 1.625 -0.375 1.125 0.375 1.625
# out: 1.0 -2.0 -0.0 -0.0 1.0 -2.0 -2.0 1.0 -2.0 -1.0
# out: 1.0 -1.0 -1.0 -1.0 1.0 -1.0 -1.0 1.0 -1.0 -1.0
# out: 2.5996094 -4.2910156 -0.001953125 -0.001953125 0.24414062 -4.2910156 -6.591797 1.4238281 -4.2910156 -0.24414062
# out: 1.2375 1.54375

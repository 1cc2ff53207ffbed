//! Names of ops and clauses in other IRs and frameworks, for hints to users who know them by those names.
//!
//! A name without a dialect matches that name in any dialect (`arith.addf`, `tosa.transpose`), ignoring case and
//! underscores (`ReduceSum` is `reduce_sum`). Ops with the same name in another dialect (`math.exp`) need no row.

/// The op there, and the op here.
pub const NAMES: &[(&str, &str)] = &[
    ("func.func", "task.program"),
    ("func", "task.program"),
    ("func.return", "task.return"),
    ("sdy.mesh", "task.mesh"),
    ("sharding_constraint", "task.shard"),
    ("with_sharding_constraint", "task.shard"),
    ("manual_computation", "task.devices"),
    ("shard_map", "task.devices"),
    ("psum", "fusion.all_reduce"),
    ("pmax", "fusion.all_reduce"),
    ("pmin", "fusion.all_reduce"),
    ("psum_scatter", "fusion.reduce_scatter"),
    ("ppermute", "fusion.collective_permute"),
    ("partition_id", "fusion.axis_index"),
    ("gpu.func", "kernel.func"),
    ("memref.alloc", "kernel.alloc"),
    ("gpu.barrier", "kernel.barrier"),
    ("addf", "fusion.add"),
    ("addi", "fusion.add"),
    ("subf", "fusion.sub"),
    ("subi", "fusion.sub"),
    ("subtract", "fusion.sub"),
    ("mulf", "fusion.mul"),
    ("muli", "fusion.mul"),
    ("multiply", "fusion.mul"),
    ("divf", "fusion.div"),
    ("divsi", "fusion.div"),
    ("divui", "fusion.div"),
    ("divide", "fusion.div"),
    ("remf", "fusion.rem"),
    ("fmod", "fusion.rem"),
    ("mod", "fusion.remainder"),
    ("remsi", "fusion.rem"),
    ("remui", "fusion.rem"),
    ("stablehlo.remainder", "fusion.rem"),
    ("negf", "fusion.neg"),
    ("negate", "fusion.neg"),
    ("absf", "fusion.abs"),
    ("absi", "fusion.abs"),
    ("powf", "fusion.pow"),
    ("power", "fusion.pow"),
    ("logistic", "fusion.sigmoid"),
    ("swish", "fusion.silu"),
    ("exponential", "fusion.exp"),
    ("maximumf", "fusion.maximum"),
    ("maxsi", "fusion.maximum"),
    ("minimumf", "fusion.minimum"),
    ("minsi", "fusion.minimum"),
    ("maxnumf", "fusion.fmax"),
    ("minnumf", "fusion.fmin"),
    ("cmp", "fusion.compare"),
    ("cmpf", "fusion.compare"),
    ("cmpi", "fusion.compare"),
    ("eq", "fusion.compare"),
    ("ne", "fusion.compare"),
    ("lt", "fusion.compare"),
    ("le", "fusion.compare"),
    ("gt", "fusion.compare"),
    ("ge", "fusion.compare"),
    ("less", "fusion.compare"),
    ("less_equal", "fusion.compare"),
    ("greater", "fusion.compare"),
    ("greater_equal", "fusion.compare"),
    ("equal", "fusion.compare"),
    ("not_equal", "fusion.compare"),
    ("select", "fusion.where"),
    ("masked_fill", "fusion.where"),
    ("clip", "fusion.clamp"),
    ("andi", "fusion.and"),
    ("bitwise_and", "fusion.and"),
    ("logical_and", "fusion.and"),
    ("ori", "fusion.or"),
    ("bitwise_or", "fusion.or"),
    ("logical_or", "fusion.or"),
    ("xori", "fusion.xor"),
    ("bitwise_xor", "fusion.xor"),
    ("logical_xor", "fusion.xor"),
    ("bitwise_not", "fusion.not"),
    ("logical_not", "fusion.not"),
    ("shli", "fusion.shl"),
    ("shift_left", "fusion.shl"),
    ("bitwise_left_shift", "fusion.shl"),
    ("bitwise_right_shift", "fusion.shr"),
    ("shift_right_arithmetic", "fusion.shr"),
    ("shrsi", "fusion.shr"),
    ("shrui", "fusion.lshr"),
    ("shift_right_logical", "fusion.lshr"),
    ("extf", "fusion.cast"),
    ("truncf", "fusion.cast"),
    ("extsi", "fusion.cast"),
    ("trunci", "fusion.cast"),
    ("sitofp", "fusion.cast"),
    ("fptosi", "fusion.cast"),
    ("convert", "fusion.cast"),
    ("convert_element_type", "fusion.cast"),
    ("to", "fusion.cast"),
    ("type_as", "fusion.cast"),
    ("bitcast_convert", "fusion.bitcast"),
    ("transpose", "fusion.permute"),
    ("broadcast_in_dim", "fusion.broadcast"),
    ("unsqueeze", "fusion.broadcast"),
    ("expand_dims", "fusion.broadcast"),
    ("view", "fusion.reshape"),
    ("flatten", "fusion.reshape"),
    ("collapse_shape", "fusion.reshape"),
    ("expand_shape", "fusion.reshape"),
    ("contiguous", "fusion.copy"),
    ("clone", "fusion.copy"),
    ("reverse", "fusion.flip"),
    ("concat", "fusion.cat"),
    ("concatenate", "fusion.cat"),
    ("extract_slice", "fusion.slice"),
    ("narrow", "fusion.slice"),
    ("split", "fusion.slice"),
    ("chunk", "fusion.slice"),
    ("gather", "fusion.take_along"),
    ("take_along_axis", "fusion.take_along"),
    ("index_select", "fusion.take"),
    ("embedding", "fusion.take"),
    ("embedding_dense_backward", "fusion.index_put"),
    ("index_add", "fusion.index_put"),
    ("index_copy", "fusion.index_put"),
    ("index_put_accumulate", "fusion.index_put"),
    ("scatter_add", "fusion.scatter"),
    ("scatter_reduce", "fusion.scatter"),
    ("top_k", "fusion.topk"),
    ("msort", "fusion.sort"),
    ("dot", "fusion.matmul"),
    ("dot_general", "fusion.matmul"),
    ("mm", "fusion.matmul"),
    ("bmm", "fusion.matmul"),
    ("addmm", "fusion.linear"),
    ("batch_matmul", "fusion.matmul"),
    ("scaled_dot_product_attention", "fusion.sdpa"),
    ("sdpfa_fwd", "fusion.sdpa"),
    ("arange", "fusion.iota"),
    ("zeros", "fusion.full"),
    ("ones", "fusion.full"),
    ("var", "fusion.var_mean"),
    ("variance", "fusion.var_mean"),
    ("reduce_sum", "fusion.sum"),
    ("amax", "fusion.max"),
    ("reduce_max", "fusion.max"),
    ("amin", "fusion.min"),
    ("reduce_min", "fusion.min"),
    ("any", "fusion.max"),
    ("reduce_or", "fusion.max"),
    ("all", "fusion.min"),
    ("reduce_and", "fusion.min"),
    ("hardtanh", "fusion.clamp"),
    ("uitofp", "fusion.cast"),
    ("fptoui", "fusion.cast"),
    ("extui", "fusion.cast"),
    ("index_cast", "fusion.cast"),
    ("astype", "fusion.cast"),
    ("cast_to", "fusion.cast"),
    ("reinterpret_cast", "fusion.bitcast"),
    ("swapaxes", "fusion.permute"),
    ("movedim", "fusion.permute"),
    ("moveaxis", "fusion.permute"),
    ("t", "fusion.permute"),
    ("permute_copy", "fusion.permute"),
    ("expand_as", "fusion.expand"),
    ("broadcast_to", "fusion.broadcast"),
    ("reshape_as", "fusion.reshape"),
    ("identity", "fusion.copy"),
    ("unbind", "fusion.slice"),
    ("gather_elements", "fusion.take_along"),
    ("attention", "fusion.sdpa"),
    ("flash_attention", "fusion.sdpa"),
    ("dot_product_attention", "fusion.sdpa"),
    ("scaled_dot_product_flash_attention", "fusion.sdpa"),
    ("gemm", "fusion.matmul"),
    ("matvec", "fusion.matmul"),
    ("vecmat", "fusion.matmul"),
    ("mv", "fusion.matmul"),
    ("range", "fusion.iota"),
    ("empty", "fusion.full"),
    ("fill", "fusion.full"),
    ("constant_of_shape", "fusion.full"),
    ("zeros_like", "fusion.full"),
    ("ones_like", "fusion.full"),
    ("full_like", "fusion.full"),
    ("rand", "fusion.uniform"),
    ("rng", "fusion.uniform"),
    ("random_uniform", "fusion.uniform"),
    ("randn", "fusion.normal"),
    ("random_normal", "fusion.normal"),
    ("random_bits", "fusion.philox"),
    ("threefry2x32", "fusion.philox"),
    ("rng_bit_generator", "fusion.philox"),
    ("reduce_mean", "fusion.mean"),
    ("reduce_prod", "fusion.prod"),
    ("global_average_pool", "fusion.mean"),
    ("true_divide", "fusion.div"),
    ("integer_pow", "fusion.pow"),
    ("select_n", "fusion.where"),
    ("is_finite", "fusion.isfinite"),
    ("sine", "fusion.sin"),
    ("cosine", "fusion.cos"),
    ("tangent", "fusion.tan"),
    ("log_plus_one", "fusion.log1p"),
    ("exponential_minus_one", "fusion.expm1"),
    ("round_nearest_even", "fusion.round"),
    ("rev", "fusion.flip"),
    ("bitcast_convert_type", "fusion.bitcast"),
    ("broadcasted_iota", "fusion.iota"),
    ("greater_or_equal", "fusion.compare"),
    ("less_or_equal", "fusion.compare"),
    ("matmul_transpose_b", "fusion.linear"),
    ("fully_connected", "fusion.linear"),
    ("dense", "fusion.linear"),
    ("inner", "fusion.matmul"),
    ("rcp", "fusion.reciprocal"),
    ("inverse_sqrt", "fusion.rsqrt"),
    ("logical_right_shift", "fusion.lshr"),
    ("cumulative_sum", "fusion.cumsum"),
    ("index_in_dim", "fusion.slice"),
    ("dynamic_slice_in_dim", "fusion.dynamic_slice"),
    ("slice_in_dim", "fusion.slice"),
    ("fabs", "fusion.abs"),
    ("rint", "fusion.round"),
    ("is_nan", "fusion.isnan"),
    ("erf_inv", "fusion.erfinv"),
];

/// The op there, and in words the composition of ops here that replaces it.
pub const COMPOSED: &[(&str, &str)] = &[
    (
        "softmax",
        "max, sub, exp, sum and div, with broadcast of the sums",
    ),
    ("log_softmax", "max, sub, exp, sum, log and sub"),
    ("logsumexp", "max, sub, exp, sum, log and add"),
    (
        "layer_norm",
        "var_mean, sub, add of eps, rsqrt, mul and add",
    ),
    (
        "batch_norm",
        "var_mean, sub, add of eps, rsqrt, mul and add",
    ),
    (
        "group_norm",
        "reshape, var_mean, sub, add of eps, rsqrt, mul and add",
    ),
    ("rms_norm", "mul, mean, add of eps, rsqrt and mul"),
    ("norm", "mul, sum and sqrt"),
    ("std", "var_mean and sqrt"),
    ("gelu", "mul, erf and add, or tanh for its approximation"),
    ("softplus", "exp and log1p"),
    ("leaky_relu", "mul, compare and where"),
    ("relu6", "clamp"),
    ("glu", "slice, sigmoid and mul"),
    ("swiglu", "slice, silu and mul"),
    ("elu", "expm1, compare and where"),
    ("hardswish", "add, clamp and mul"),
    ("dropout", "uniform, compare, where and mul"),
    ("cross_entropy", "max, sub, exp, sum, log and take_along"),
    ("outer", "broadcast and mul"),
    ("square", "mul"),
    ("pmean", "all_reduce and div"),
    ("stack", "reshape and cat"),
    ("repeat", "broadcast, copy and reshape, or cat"),
    ("tile", "broadcast, copy and reshape, or cat"),
    ("tril", "iota, compare and where"),
    ("triu", "iota, compare and where"),
    ("trilu", "iota, compare and where"),
    ("space_to_depth", "reshape and permute"),
    ("depth_to_space", "reshape and permute"),
    ("pixel_shuffle", "reshape and permute"),
    ("reduce_l2", "mul, sum and sqrt"),
    ("reduce_log_sum_exp", "max, sub, exp, sum, log and add"),
    ("einsum", "permute, reshape and matmul, or mul and sum"),
    ("conv", "fusion.convolution of [N, C, ...] by [O, C, ...]"),
    ("conv1d", "fusion.convolution of [N, C, ...] by [O, C, ...]"),
    ("conv2d", "fusion.convolution of [N, C, ...] by [O, C, ...]"),
    ("conv3d", "fusion.convolution of [N, C, ...] by [O, C, ...]"),
    (
        "conv_general_dilated",
        "fusion.convolution of [N, C, ...] by [O, C, ...]",
    ),
    (
        "conv_transpose2d",
        "fusion.convolution of [N, C, ...] by [O, C, ...]",
    ),
    (
        "conv_2d_nhwc_hwcf",
        "fusion.convolution of [N, C, ...] by [O, C, ...]",
    ),
    (
        "conv_2d_nchw_fchw",
        "fusion.convolution of [N, C, ...] by [O, C, ...]",
    ),
    (
        "depthwise_conv2d",
        "fusion.convolution of [N, C, ...] by [O, C, ...]",
    ),
    (
        "max_pool1d",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "max_pool2d",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "max_pool",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "avg_pool1d",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "avg_pool2d",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "avg_pool",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "average_pool",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "adaptive_avg_pool2d",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "reduce_window",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "pooling_nhwc_max",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "pooling_nhwc_sum",
        "reshape and a reduction (max, mean) where windows lie side by side, else slice and maximum or add",
    ),
    (
        "reduce",
        "an op of its own for each: sum, prod, max or min; fold with a lambda for others",
    ),
    ("multi_head_attention", "linear, reshape, permute and sdpa"),
    ("baddbmm", "matmul, mul and add"),
    ("tensordot", "permute, reshape and matmul"),
    ("floor_divide", "div and floor"),
    ("hypot", "mul, add and sqrt"),
    ("cbrt", "abs, pow, sign and mul"),
    ("fma", "mul and add"),
    ("addcmul", "mul and add"),
    ("lerp", "mul and add"),
    ("addcdiv", "div, mul and add"),
    ("logaddexp", "maximum, sub, abs, exp, log1p and add"),
    ("isinf", "abs and compare"),
    ("signbit", "bitcast and compare"),
    ("copysign", "abs, neg, compare and where"),
    ("nan_to_num", "isnan, compare and where"),
    ("linspace", "iota, cast, mul and add"),
    ("eye", "iota, compare and cast"),
    ("diag", "iota, compare, where and sum"),
    ("trace", "iota, compare, where and sum"),
    (
        "layer_normalization",
        "var_mean, sub, add of eps, rsqrt, mul and add",
    ),
    (
        "batch_normalization",
        "var_mean, sub, add of eps, rsqrt, mul and add",
    ),
    (
        "instance_norm",
        "var_mean, sub, add of eps, rsqrt, mul and add",
    ),
    ("rms_normalization", "mul, mean, add of eps, rsqrt and mul"),
    ("linalg_norm", "mul, sum and sqrt"),
    ("solve", "lu and triangular_solve"),
    ("inv", "lu and triangular_solve"),
    ("inverse", "lu and triangular_solve"),
    ("det", "lu, and prod of its diagonal"),
    ("slogdet", "lu, and sum of the logs of its diagonal"),
    ("ifft", "fft, with `inverse`"),
    ("rfft", "fft with zeros beside, and slice"),
    ("vector_norm", "mul, sum and sqrt"),
    ("rope", "slice, neg, cat, mul and add"),
    ("rotary_embedding", "slice, neg, cat, mul and add"),
    ("apply_rotary_emb", "slice, neg, cat, mul and add"),
    ("mse_loss", "sub, mul and mean"),
    ("l1_loss", "sub, abs and mean"),
    ("nll_loss", "take_along, neg and mean"),
    ("mish", "exp, log1p, tanh and mul"),
    ("hardsigmoid", "mul, add and clamp"),
    ("celu", "expm1, mul, compare and where"),
    ("selu", "expm1, mul, compare and where"),
    ("prelu", "mul, compare and where"),
    ("softsign", "abs, add and div"),
    ("tanhshrink", "tanh and sub"),
    ("logit", "sub, div and log"),
    ("log_sigmoid", "neg, exp, log1p and neg"),
    ("threshold", "compare and where"),
    ("heaviside", "compare and where"),
    ("sinc", "sin, div, compare and where"),
    ("popcount", "and, lshr and add"),
    ("population_count", "and, lshr and add"),
    ("popcnt", "and, lshr and add"),
    ("clz", "lshr, or, and, add and sub"),
    ("count_leading_zeros", "lshr, or, and, add and sub"),
    ("sort_key_val", "argsort and take_along"),
    ("searchsorted", "compare, cast and sum"),
    ("bincount", "one_hot and sum"),
    ("histogram", "one_hot and sum"),
    ("quantize_linear", "div, round, clamp and cast"),
    ("dequantize_linear", "cast, sub and mul"),
    ("meshgrid", "broadcast"),
    ("kron", "broadcast, mul and reshape"),
    ("cross", "roll, mul and sub"),
    ("lcm", "gcd, div, mul and abs"),
    ("deg2rad", "mul"),
    ("rad2deg", "mul"),
    ("quantile", "sort and slice"),
    ("median", "sort and slice"),
    ("mode", "sort and slice"),
    ("kthvalue", "sort and slice"),
    ("interpolate", "broadcast and reshape, or take"),
    ("upsample", "broadcast and reshape, or take"),
    ("resize", "broadcast and reshape, or take"),
    ("lstm", "for each step linear, sigmoid, tanh, mul and add"),
    ("gru", "for each step linear, sigmoid, tanh, mul and add"),
    ("rnn", "for each step linear, sigmoid, tanh, mul and add"),
    ("index_fill", "iota, compare and where"),
    ("rot90", "flip and permute"),
];

const BRANCH: &str = "a branch runs one of two programs of the module, `task.if %p, %x then @a else @b : tensor<4xf32>`; \
                      `fusion.where` chooses among elements";
const LOOPS: &str = "a loop runs a program of the module, `task.loop %x turns 10 body @step`, or `condition @goes_on`; \
                     `fusion.scan` and `fusion.fold` go along an axis";

/// An op there without a counterpart here, and advice on a replacement.
pub const ABSENT: &[(&str, &str)] = &[
    ("cond", BRANCH),
    ("case", BRANCH),
    ("switch", BRANCH),
    ("index_switch", BRANCH),
    ("while", LOOPS),
    ("for", LOOPS),
    ("fori_loop", LOOPS),
    ("while_loop", LOOPS),
    ("scf.for", LOOPS),
    ("scf.while", LOOPS),
    ("affine.for", LOOPS),
    ("cf.br", LOOPS),
    ("cf.cond_br", BRANCH),
    (
        "call",
        "a program calls nothing: write the body of the function in the place of its call",
    ),
    (
        "pjit",
        "a program calls nothing: write the body of the function in the place of its call",
    ),
    (
        "xla_call",
        "a program calls nothing: write the body of the function in the place of its call",
    ),
    (
        "jit",
        "a program calls nothing: write the body of the function in the place of its call",
    ),
    (
        "closed_call",
        "a program calls nothing: write the body of the function in the place of its call",
    ),
    (
        "func.call",
        "a program calls nothing: write the body of the function in the place of its call",
    ),
    (
        "custom_call",
        "a program calls no other code: compute this outside, between two programs",
    ),
    (
        "pure_callback",
        "a program calls no other code: compute this outside, between two programs",
    ),
    (
        "io_callback",
        "a program calls no other code: compute this outside, between two programs",
    ),
    (
        "tuple",
        "an operation with several results names each: `%a, %b = ...`; `task.return %a, %b` gives several",
    ),
    (
        "get_tuple_element",
        "an operation with several results names each: `%a, %b = ...`; `task.return %a, %b` gives several",
    ),
    (
        "stop_gradient",
        "it changes no value: use its operand in its place",
    ),
    ("optimization_barrier", CUT),
    ("barrier", CUT),
    ("boundary", CUT),
    ("cut", CUT),
    (
        "device_put",
        "it changes no value: use its operand in its place",
    ),
    (
        "custom_jvp",
        "it changes no value: use its operand in its place",
    ),
    (
        "custom_vjp",
        "it changes no value: use its operand in its place",
    ),
    (
        "detach",
        "it changes no value: use its operand in its place",
    ),
    (
        "custom_jvp_call",
        "it changes no value: use its operand in its place",
    ),
    (
        "custom_vjp_call",
        "it changes no value: use its operand in its place",
    ),
    (
        "eig",
        "there are eigenvectors of symmetric matrices only: compute this outside of the program",
    ),
    (
        "nonzero",
        "the shape of a result cannot depend on data: keep all elements, and choose with `fusion.where`",
    ),
    (
        "argwhere",
        "the shape of a result cannot depend on data: keep all elements, and choose with `fusion.where`",
    ),
    (
        "unique",
        "the shape of a result cannot depend on data: keep all elements, and choose with `fusion.where`",
    ),
    (
        "masked_select",
        "the shape of a result cannot depend on data: keep all elements, and choose with `fusion.where`",
    ),
    (
        "multinomial",
        "there is none: a draw is `fusion.uniform`, `fusion.cumsum` of the probabilities and a comparison",
    ),
    (
        "categorical",
        "there is none: a draw is `fusion.uniform`, `fusion.cumsum` of the probabilities and a comparison",
    ),
    (
        "shape",
        "lengths of axes are not values: they stand in types by name, `tensor<[B]x4xf32>`; `fusion.size` counts elements",
    ),
    (
        "shape_of",
        "lengths of axes are not values: they stand in types by name, `tensor<[B]x4xf32>`; `fusion.size` counts elements",
    ),
    (
        "rank",
        "lengths of axes are not values: they stand in types by name, `tensor<[B]x4xf32>`; `fusion.size` counts elements",
    ),
    (
        "ndim",
        "lengths of axes are not values: they stand in types by name, `tensor<[B]x4xf32>`; `fusion.size` counts elements",
    ),
    (
        "dim",
        "lengths of axes are not values: they stand in types by name, `tensor<[B]x4xf32>`; `fusion.size` counts elements",
    ),
    (
        "get_dimension_size",
        "lengths of axes are not values: they stand in types by name, `tensor<[B]x4xf32>`; `fusion.size` counts elements",
    ),
    (
        "tensor.dim",
        "lengths of axes are not values: they stand in types by name, `tensor<[B]x4xf32>`; `fusion.size` counts elements",
    ),
    (
        "generic",
        "there is no op with a body for elements: each function is an op, `fusion.exp`, `fusion.add`",
    ),
    (
        "linalg.generic",
        "there is no op with a body for elements: each function is an op, `fusion.exp`, `fusion.add`",
    ),
    (
        "map",
        "there is no op with a body for elements: each function is an op, `fusion.exp`, `fusion.add`",
    ),
    (
        "select_and_scatter",
        "there is none in a program; fuser-translate --import=stablehlo takes it apart",
    ),
    (
        "print",
        "a program has results only: return the value, `task.return %x`",
    ),
    (
        "debug_callback",
        "a program has results only: return the value, `task.return %x`",
    ),
    (
        "assert",
        "a program has results only: return the value, `task.return %x`",
    ),
    (
        "debug_print",
        "a program has results only: return the value, `task.return %x`",
    ),
];

const CUT: &str = "`fusion.segment_set` ends a kernel behind a value; where none has to end, use the operand in its place";

/// Ops with one result here and two results elsewhere, and the op that gives the second one.
pub const SECOND: &[(&str, &str)] = &[
    ("fusion.sort", "the indices are those of `fusion.argsort`"),
    ("fusion.max", "the index is that of `fusion.argmax`"),
    ("fusion.min", "the index is that of `fusion.argmin`"),
    ("fusion.cummax", "there are no indices of the greatest"),
    ("fusion.cummin", "there are no indices of the smallest"),
    ("fusion.sdpa", "the logarithms of the sums need `logsumexp`"),
];

/// The clause there, and the clauses here that may be meant.
pub const CLAUSES: &[(&str, &str)] = &[
    ("axis", "dims"),
    ("axes", "dims"),
    ("dim", "dims"),
    ("dimensions", "dims"),
    ("permutation", "dims"),
    ("perm", "dims"),
    ("axis", "dim"),
    ("dimension", "dim"),
    ("keepdims", "keepdim"),
    ("keep_dims", "keepdim"),
    ("sizes", "shape"),
    ("offsets", "starts"),
    ("begin", "starts"),
    ("steps", "strides"),
    ("dtype", "to"),
    ("dtype", "of"),
    ("type", "to"),
    ("k", "first"),
    ("padding", "low"),
    ("pads", "low"),
    ("edge_padding_low", "low"),
    ("edge_padding_high", "high"),
    ("limit_indices", "shape"),
    ("start_indices", "starts"),
    ("start", "starts"),
    ("stop", "shape"),
    ("limits", "shape"),
    ("unbiased", "correction"),
    ("ddof", "correction"),
    ("iota_dimension", "dim"),
    ("broadcast_dimensions", "dims"),
    ("shifts", "shift"),
    ("num_classes", "shape"),
    ("size", "shape"),
    ("output_shape", "shape"),
    ("comparison_direction", "predicate"),
    ("direction", "predicate"),
    ("is_causal", "causal"),
    ("fill_value", "value"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_ir::def::{Elsewhere, OpDef};

    #[test]
    fn names_there_are_not_ours_and_names_here_are() {
        let registry = crate::registry();
        for (there, here) in NAMES {
            assert!(registry.op(there).is_none(), "{there}");
            assert!(registry.op(here).is_some(), "{here}");
            let ours = registry
                .ops()
                .any(|op| op.name.ends_with(&format!(".{there}")));
            assert!(!ours || there.contains('.') || *there == "func", "{there}");
        }
    }

    #[test]
    fn what_is_composed_is_no_op_and_of_ops() {
        let registry = crate::registry();
        let ours = |name: &str| registry.op(&format!("fusion.{name}")).is_some();
        let known = |there: &str| NAMES.iter().any(|(name, _)| *name == there);
        for (there, _) in ABSENT {
            assert!(!ours(there) && !known(there), "{there}");
        }
        for (there, here) in COMPOSED {
            assert!(!ours(there) && !known(there), "{there}");
            let words = here.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(words.filter(|word| ours(word)).count() > 0, "{there}");
        }
    }

    #[test]
    fn a_name_elsewhere_has_one_row() {
        let tables = [NAMES, COMPOSED, ABSENT];
        let mut names: Vec<&str> = tables.into_iter().flatten().map(|row| row.0).collect();
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn names_elsewhere_are_found_in_every_spelling() {
        let registry = crate::registry();
        for (there, here) in [
            ("torch.aten.addmm.default", "fusion.linear"),
            ("onnx.Gemm", "fusion.matmul"),
            ("aten.ReduceSum", "fusion.sum"),
            ("Transpose", "fusion.permute"),
            ("fusion.attention", "fusion.sdpa"),
        ] {
            assert_eq!(
                registry.foreign(there),
                Some(Elsewhere::Op(here)),
                "{there}"
            );
        }
        let conv = registry.foreign("fusion.conv2d");
        assert!(matches!(conv, Some(Elsewhere::Composed(_))), "{conv:?}");
        let loops = registry.foreign("scf.while");
        assert!(matches!(loops, Some(Elsewhere::Absent(_))), "{loops:?}");
    }

    #[test]
    fn ops_with_a_second_result_elsewhere_have_one_here() {
        let registry = crate::registry();
        for (op, _) in SECOND {
            // Or a clause asks for it.
            let one =
                |op: &'static OpDef| op.results.len() == 1 || op.clause("logsumexp").is_some();
            assert!(registry.op(op).is_some_and(one), "{op}");
        }
    }

    #[test]
    fn clauses_here_are_ours() {
        let registry = crate::registry();
        for (_, here) in CLAUSES {
            assert!(registry.ops().any(|op| op.clause(here).is_some()), "{here}");
        }
    }
}

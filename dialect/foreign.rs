//! Names that other IRs and frameworks have for ops and clauses: for hints to users who know them by those names.
//!
//! A name without a dialect stands for that name in any dialect (`arith.addf`, `tosa.transpose`). Ops with the same name in another
//! dialect (`math.exp`) need no row.

/// The op there, and the op here.
pub const NAMES: &[(&str, &str)] = &[
    ("func.func", "task.program"),
    ("func", "task.program"),
    ("func.return", "task.return"),
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
];

/// The op there, and in words the ops here that are put together for it.
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
    ("stack", "reshape and cat"),
    ("repeat", "broadcast, copy and reshape, or cat"),
    ("tile", "broadcast, copy and reshape, or cat"),
    ("tril", "iota, compare and where"),
    ("triu", "iota, compare and where"),
    ("einsum", "permute, reshape and matmul, or mul and sum"),
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
];

#[cfg(test)]
mod tests {
    use super::*;

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
        for (there, here) in COMPOSED {
            assert!(!ours(there), "{there}");
            assert!(NAMES.iter().all(|(name, _)| name != there), "{there}");
            let words = here.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(words.filter(|word| ours(word)).count() > 0, "{there}");
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

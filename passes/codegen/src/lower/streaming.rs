//! Streaming is storing past the caches: whole lines of a result that no cache holds when it is read again.
//!
//! An ordinary store reads the line that it fills, and drives another one out. A result that exceeds the last cache gains nothing by
//! either, so a kernel streams to a buffer that all its launches make anew, beyond the limit of the options, and that it does not
//! read. The bytes must be known when code is generated: a result with named extents is stored as usual.

use fuser_dialects::kernel;
use fuser_ir::types::Extent;
use fuser_ir::{AttrKind, Ir, Op, Sym, Value};
use rustc_hash::FxHashMap;

use super::Options;
use crate::target::Target;

/// For each kernel that something under a module launches, the least bytes that each of its first parameters has as a result; 0 for operands.
pub type ResultBytes = FxHashMap<Sym, Vec<u64>>;

/// The bytes of the results of all launches under `module`.
pub fn result_bytes(ir: &Ir, module: Op) -> ResultBytes {
    let mut found = ResultBytes::default();
    for launch in ir.walk(module) {
        let callee = match ir.attr_of(launch, "callee") {
            Some(AttrKind::SymbolRef(path)) if ir.is(launch, &kernel::LAUNCH) => path.first(),
            _ => None,
        };
        let Some(&callee) = callee else { continue };
        let results = ir.results(launch).iter().map(|&value| bytes(ir, value));
        let operands = std::iter::repeat_n(0, ir.operand_count(launch));
        let sizes: Vec<u64> = operands.chain(results).collect();
        let least = found.entry(callee).or_insert_with(|| sizes.clone());
        for (least, size) in least.iter_mut().zip(sizes) {
            *least = size.min(*least);
        }
    }
    found
}

/// The bytes of a tensor of static extents in memory; 0 if they are not known.
fn bytes(ir: &Ir, value: Value) -> u64 {
    let Some(tensor) = ir.value_kind(value).as_tensor() else {
        return 0;
    };
    let mut stored = tensor.dims.iter().filter(|dim| !dim.broadcast);
    let total = stored.try_fold(tensor.dtype.bytes(), |bytes, dim| match dim.extent {
        Extent::Static(count) => bytes.checked_mul(count),
        _ => None,
    });
    total.unwrap_or(0)
}

/// The parameters of `func` that it streams to, by number; none where stores past the caches are not known.
pub fn streamed(
    ir: &Ir,
    func: Op,
    target: &Target,
    options: Options,
    results: &ResultBytes,
) -> Vec<usize> {
    let callee = ir
        .symbol_name(func)
        .and_then(|name| ir.strings.lookup(name));
    let sizes = callee.and_then(|callee| results.get(&callee));
    let streams = options.noalias && target.x86().is_some();
    let (Some(sizes), Some(body), true) = (sizes, ir.body(func, 0), streams) else {
        return Vec::new();
    };
    let only_stored = |arg: Value| ir.users(arg).all(|user| ir.is(user, &kernel::STORE));
    let args = ir.args(body).iter().zip(sizes).enumerate();
    let large =
        args.filter(|(_, (arg, bytes))| **bytes > options.stream_beyond && only_stored(**arg));
    large.map(|(number, _)| number).collect()
}

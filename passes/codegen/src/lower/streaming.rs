//! Streaming is storing past the caches: whole lines of a result that no cache holds when it is read again.
//!
//! An ordinary store reads the line that it fills, and drives another one out. A result that exceeds the last cache gains nothing by
//! either, so a kernel streams to a buffer that all its launches make anew, beyond the limit of the options, and that it does not
//! read. A result with named extents has the bytes of the lengths that code is generated for; where none are given, it is stored as usual.

use fuser_dialects::kernel;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{AttrKind, Ir, Op, Sym, Value};
use rustc_hash::FxHashMap;

use super::Options;
use crate::target::Target;

/// For each kernel that something under a module launches, the least bytes that each of its first parameters has as a result; 0 for operands.
pub type ResultBytes = FxHashMap<Sym, Vec<u64>>;

/// The bytes of the results of all launches under `module`, where named extents have the lengths that `length` gives; one that it does not
/// know leaves a result at 0 bytes.
pub fn result_bytes(ir: &Ir, module: Op, length: impl Fn(Sym) -> Option<u64>) -> ResultBytes {
    let mut found = ResultBytes::default();
    for launch in ir.walk(module) {
        let callee = match ir.attr_of(launch, "callee") {
            Some(AttrKind::SymbolRef(path)) if ir.is(launch, &kernel::LAUNCH) => path.first(),
            _ => None,
        };
        let Some(&callee) = callee else { continue };
        let results = ir
            .results(launch)
            .iter()
            .map(|&value| bytes(ir, value, &length).unwrap_or(0));
        let operands = std::iter::repeat_n(0, ir.operand_count(launch));
        let sizes: Vec<u64> = operands.chain(results).collect();
        let least = found.entry(callee).or_insert_with(|| sizes.clone());
        for (least, size) in least.iter_mut().zip(sizes) {
            *least = size.min(*least);
        }
    }
    found
}

/// The bytes of a tensor in memory; `None` if they are not known.
fn bytes(ir: &Ir, value: Value, length: &impl Fn(Sym) -> Option<u64>) -> Option<u64> {
    let tensor = ir.value_kind(value).as_tensor()?;
    let mut stored = tensor.dims.iter().filter(|dim| !dim.broadcast);
    stored.try_fold(tensor.dtype.bytes(), |bytes, dim| {
        let extent = evaluate(&ir.extent_as_expr(dim.extent)?, length)?;
        Some(bytes.saturating_mul(extent))
    })
}

/// An extent under the lengths of the names in it.
fn evaluate(extent: &ExtentExpr, length: &impl Fn(Sym) -> Option<u64>) -> Option<u64> {
    let term = |(names, factor): &(Vec<Sym>, i64)| {
        names
            .iter()
            .try_fold(i128::from(*factor), |product, &name| {
                Some(product.saturating_mul(length(name)?.into()))
            })
    };
    let mut terms = extent.terms.iter();
    let sum = terms.try_fold(0i128, |sum, of| Some(sum.saturating_add(term(of)?)))?;
    Some(u64::try_from(sum.max(0)).unwrap_or(u64::MAX))
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

//! Streaming is storing past the caches: whole lines of a result that no cache holds when it is read again.
//!
//! An ordinary store reads the line that it fills, and drives another one out. A result that exceeds the last cache gains nothing by
//! either, so a kernel streams to a buffer that all its launches make anew, beyond the limit of the options, and that it does not
//! read. A result with named extents has the bytes of the lengths that code is generated for; where none are given, it is stored as usual.
//!
//! Stores past the caches hinder what some processors prefetch by themselves. A loop that streams asks there for what it is to load of
//! operands beyond the limit, so many bytes ahead as the options say; so does one that only loads.

use fuser_dialects::kernel;
use fuser_ir::types::{ExtentExpr, Names};
use fuser_ir::{AttrKind, Ir, Op, Sym, Value};
use rustc_hash::FxHashMap;

use super::Options;
use crate::target::Target;

/// For each launched kernel in a module, the minimum size of each of its buffers in bytes.
pub type BufferBytes = FxHashMap<Sym, Vec<u64>>;

/// The bytes of the operands and results of all launches under `module`, where named extents have the lengths that `length` gives; one that
/// it does not know leaves a buffer at 0 bytes.
pub fn buffer_bytes(ir: &Ir, module: Op, length: impl Fn(Sym) -> Option<u64>) -> BufferBytes {
    let mut found = BufferBytes::default();
    for launch in ir.walk(module) {
        let callee = match ir.attr_of(launch, "callee") {
            Some(AttrKind::SymbolRef(path)) if ir.is(launch, &kernel::LAUNCH) => path.first(),
            _ => None,
        };
        let Some(&callee) = callee else { continue };
        let buffers = ir
            .operands(launch)
            .chain(ir.results(launch).iter().copied());
        let sizes: Vec<u64> = buffers
            .map(|value| bytes(ir, value, &length).unwrap_or(0))
            .collect();
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
    let term = |(names, factor): &(Names, i64)| {
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

/// True if a CPU function stores to one of the streamed parameters `far`, so that their memory must start at a cache
/// line.
pub fn stores_lines(ir: &Ir, func: Op, far: &[usize]) -> bool {
    let args = ir.body(func, 0).map_or(&[][..], |body| ir.args(body));
    let mut far = far.iter().filter_map(|&number| args.get(number));
    far.any(|&arg| ir.users(arg).any(|user| ir.is(user, &kernel::STORE)))
}

/// The parameters of `func`, by number, that it streams to, and those that it only loads and prefetches. Empty if the
/// target has no known non-temporal stores.
pub fn far(
    ir: &Ir,
    func: Op,
    target: &Target,
    options: Options,
    buffers: &BufferBytes,
) -> Vec<usize> {
    let callee = ir
        .symbol_name(func)
        .and_then(|name| ir.strings.lookup(name));
    let sizes = callee.and_then(|callee| buffers.get(&callee));
    let streams = options.noalias && target.x86().is_some();
    let (Some(sizes), Some(body), true) = (sizes, ir.body(func, 0), streams) else {
        return Vec::new();
    };
    let stores = |arg: Value| ir.users(arg).filter(|&user| ir.is(user, &kernel::STORE));
    let stored = |arg: Value| ir.users(arg).count() == stores(arg).count();
    let asked = |arg: Value| options.ask_ahead > 0 && stores(arg).next().is_none();
    let args = ir.args(body).iter().zip(sizes).enumerate();
    let large = args.filter(|(_, (_, bytes))| **bytes > options.stream_beyond);
    let far = large.filter(|&(_, (&arg, _))| stored(arg) || asked(arg));
    far.map(|(number, _)| number).collect()
}

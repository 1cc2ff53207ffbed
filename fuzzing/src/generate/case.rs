//! A case: a program with inputs, as the executing oracles take it.

use std::collections::BTreeMap;

use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{AttrId, AttrKind, DType, Ir, Op};

/// The agreement that two correct executions owe each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// Results are equal bit for bit, all NaN counting as equal. No op depends on the order of a sum or on the
    /// approximation of a function, because all sums are of small integers.
    Exact,
    /// They differ by no more than a bound that is derived op by op.
    Bounded,
}

/// The data of one input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Element type.
    pub dtype: DType,
    /// Extent of each axis, and whether it is stored once.
    pub axes: Vec<(u64, bool)>,
    /// The stored elements, little-endian, row-major.
    pub bytes: Vec<u8>,
}

impl Input {
    /// The number of stored elements.
    pub fn stored(&self) -> u64 {
        stored(&self.axes)
    }
}

/// The number of elements that a tensor of these axes stores.
pub fn stored(axes: &[(u64, bool)]) -> u64 {
    axes.iter().filter(|a| !a.1).map(|a| a.0).product()
}

/// A module with one program and its inputs.
#[derive(Clone, Debug)]
pub struct Case {
    /// The module and all its tables.
    pub ir: Ir,
    /// The module.
    pub module: Op,
    /// The program.
    pub program: Op,
    /// One for each parameter.
    pub inputs: Vec<Input>,
    /// The values of the named extents.
    pub extents: BTreeMap<String, u64>,
    /// The comparison that its results admit.
    pub tier: Tier,
}

/// The argument that each of `results` results overwrites.
pub fn aliases(ir: &Ir, program: Op, results: usize) -> Vec<Option<usize>> {
    let one = |index| {
        let alias = fuser_dialects::task::verify::alias(ir, program, index)?;
        usize::try_from(alias).ok()
    };
    (0..results).map(one).collect()
}

/// Says which argument each result overwrites.
pub fn set_aliases(ir: &mut Ir, program: Op, aliases: &[Option<usize>]) {
    if aliases.iter().all(Option::is_none) {
        ir.remove_attr(program, "res_attrs");
        return;
    }
    let key = ir.sym("alias");
    let mut entries: Vec<AttrId> = Vec::new();
    for alias in aliases {
        let entry = alias.map(|index| (key, ir.int_attr(index as i64)));
        entries.push(ir.attr(AttrKind::Dict(entry.into_iter().collect())));
    }
    let entries = ir.attr(AttrKind::Array(entries));
    ir.set_attr(program, "res_attrs", entries);
}

/// The program as a file, with its inputs in comments.
pub fn file(case: &Case) -> String {
    let mut text = String::new();
    for (index, input) in case.inputs.iter().enumerate() {
        let shown = &input.bytes[..input.bytes.len().min(SHOWN_BYTES)];
        let dtype = input.dtype.name();
        text += &format!(
            "// input {index}: {dtype} {:?} begins {shown:?}\n",
            input.axes
        );
    }
    text += &format!("// extents {:?}\n", case.extents);
    text + &print(&case.ir, case.module, &PrintOptions::default())
}

/// Bytes of an input that the comment shows.
const SHOWN_BYTES: usize = 32;

//! A program with inputs: what the executing oracles take.

use std::collections::BTreeMap;

use fuser_ir::{DType, Ir, Op};

/// What may be said of the results of two correct executions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// They are equal bit for bit, all NaN counting as equal: no op depends on the order of a sum or on how a function
    /// is approximated, because whatever is summed is a small integer.
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
    /// How many elements are stored.
    pub fn stored(&self) -> u64 {
        stored(&self.axes)
    }
}

/// How many elements a tensor of these axes stores.
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
    /// What may be compared how.
    pub tier: Tier,
}

/// The program as text, until the printer is there.
pub fn dump(case: &Case) -> String {
    use fuser_ir::describe;
    let ir = &case.ir;
    let name = |v| {
        ir.value_name(v)
            .map_or_else(|| format!("{v:?}"), str::to_owned)
    };
    let mut text = String::new();
    let Some(body) = ir.body(case.program, 0) else {
        return text;
    };
    for (arg, input) in ir.args(body).iter().zip(&case.inputs) {
        let ty = describe::ty(ir, ir.value_type(*arg));
        text += &format!(
            "// %{}: {ty} {} bytes {:?}\n",
            name(*arg),
            input.bytes.len(),
            &input.bytes[..input.bytes.len().min(16)]
        );
    }
    for op in ir.block_ops(body) {
        let results: Vec<String> = ir.results(op).iter().map(|v| name(*v)).collect();
        let operands: Vec<String> = ir.operands(op).map(name).collect();
        let types: Vec<String> = ir
            .results(op)
            .iter()
            .map(|v| describe::ty(ir, ir.value_type(*v)))
            .collect();
        let attrs: Vec<String> = ir
            .attrs(op)
            .iter()
            .map(|(k, a)| format!("{} {:?}", ir.str(*k), ir.attr_kind(*a)))
            .collect();
        text += &format!(
            "{} = {} {} {} : {}\n",
            results.join(", "),
            ir.name(op),
            operands.join(", "),
            attrs.join(" "),
            types.join(", ")
        );
    }
    text + &format!("// {:?}\n", case.extents)
}

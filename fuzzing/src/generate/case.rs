//! A program with inputs: what the executing oracles take.

use std::collections::BTreeMap;

use fuser_ir::{AttrKind, DType, Ir, Op, Value};

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

/// The program as text, with its inputs in comments.
pub fn dump(case: &Case) -> String {
    use fuser_ir::describe;
    let ir = &case.ir;
    let name = |v: Value| {
        ir.value_name(v).map_or_else(
            || format!("%{}", fuser_ir::entity::Entity::index(v)),
            |n| format!("%{n}"),
        )
    };
    let names = |list: &[Value]| list.iter().map(|v| name(*v)).collect::<Vec<_>>().join(", ");
    let types = |list: &[Value]| {
        list.iter()
            .map(|v| describe::ty(ir, ir.value_type(*v)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut text = String::new();
    let Some(body) = ir.body(case.program, 0) else {
        return text;
    };
    for input in &case.inputs {
        text += &format!(
            "// input {} {:?}: {:?}\n",
            input.dtype.name(),
            input.axes,
            &input.bytes[..input.bytes.len().min(32)]
        );
    }
    text += &format!("// extents {:?}\n", case.extents);
    let parameters = ir
        .args(body)
        .iter()
        .map(|v| format!("{}: {}", name(*v), types(&[*v])));
    let parameters: Vec<String> = parameters.collect();
    let results = ir
        .last_op(body)
        .map(|op| ir.operands(op).collect::<Vec<_>>())
        .unwrap_or_default();
    text += &format!(
        "task.program @f({}) -> ({}) {{\n",
        parameters.join(", "),
        types(&results)
    );
    for op in ir.block_ops(body) {
        let results = ir.results(op);
        let operands: Vec<Value> = ir.operands(op).collect();
        let equals = if results.is_empty() { "" } else { " = " };
        text += &format!(
            "  {}{equals}{} {}",
            names(results),
            ir.name(op),
            names(&operands)
        );
        for (key, attr) in ir.attrs(op) {
            text += &format!(" {} {}", ir.str(*key), attr_text(ir, ir.attr_kind(*attr)));
        }
        let colon = if results.is_empty() { "" } else { " : " };
        text += &format!("{colon}{}\n", types(results));
    }
    text + "}\n"
}

fn attr_text(ir: &Ir, attr: &AttrKind) -> String {
    use fuser_ir::describe;
    match attr {
        AttrKind::Unit => String::new(),
        AttrKind::Bool(b) => b.to_string(),
        AttrKind::Int { value, .. } => value.to_string(),
        AttrKind::Float { bits, .. } => format!("{:?}", f64::from_bits(*bits)),
        AttrKind::String(s) => ir.str(*s).to_owned(),
        AttrKind::Type(t) => describe::ty(ir, *t),
        AttrKind::I64Array(v) => format!("{v:?}"),
        AttrKind::Extents(d) => describe::dims(ir, d),
        other => format!("{other:?}"),
    }
}

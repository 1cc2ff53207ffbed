//! Lines of programs: each op of the table on operands of a type, and chains of ops that optimizers know something of.

use fuser_dialects::fusion;
use fuser_fuzzing::generate::fusion::facts;
use fuser_ir::DType;
use fuser_ir::def::{ClauseKind, DTypes, OpDef, Traits};

/// One op on operands `%a`, `%b` and `%c` of a type, `%p` where it asks for a truth value.
pub struct Line {
    pub text: String,
    pub dtype: DType,
    /// There is one right result.
    pub exact: bool,
}

/// All that the table allows on operands of `dtype` with so many operands.
pub fn lines(dtype: DType, arity: std::ops::RangeInclusive<usize>) -> Vec<Line> {
    let table = fusion::real_ops();
    let ops = table.filter(|def| def.traits.contains(Traits::ELEMENTWISE));
    let ops = ops.filter(|def| arity.contains(&def.operands.len()));
    ops.flat_map(|def| lines_of(def, dtype)).collect()
}

pub fn lines_of(def: &'static OpDef, dtype: DType) -> Vec<Line> {
    let mut operands = Vec::new();
    for (operand, name) in def.operands.iter().zip(["%a", "%b", "%c"]) {
        let truth = operand.ty.dtypes == DTypes::BOOL && dtype != DType::I1;
        if !truth && !operand.ty.dtypes.contains(dtype) {
            return Vec::new();
        }
        operands.push(if truth { "%p" } else { name });
    }
    let exact = facts::may_be_exact(def) && !["fusion.exp2", "fusion.rsqrt"].contains(&def.name);
    let line = |clauses: String, dtype| Line {
        text: format!("{} {}{clauses}", def.name, operands.join(", ")),
        dtype,
        exact,
    };
    match def.clauses {
        [] if matches!(def.name, "fusion.isnan" | "fusion.isfinite") => {
            vec![line(String::new(), DType::I1)]
        }
        [] => vec![line(String::new(), dtype)],
        [clause] => match clause.kind {
            ClauseKind::Keyword(words) => {
                let bits = def.name == fusion::PHILOX.name;
                let to = if bits { DType::I32 } else { DType::I1 };
                let word = |word: &&str| line(format!(" {} {word}", clause.name), to);
                words.iter().map(word).collect()
            }
            ClauseKind::DType => {
                let bits = def.name == fusion::BITCAST.name;
                let fits = |to: &DType| !bits || (to.bits() == dtype.bits() && dtype != DType::I1);
                let to = dtypes().filter(fits);
                to.map(|to| line(format!(" {} {}", clause.name, to.name()), to))
                    .collect()
            }
            _ => panic!("`{}` has a clause that this test does not know", def.name),
        },
        _ => panic!("`{}` has clauses that this test does not know", def.name),
    }
}

/// Chains of binary ops with a known number: the compiler's knowledge of one op must not harm the other.
pub fn chains(dtype: DType) -> Vec<Line> {
    let names = ["fmax", "fmin", "maximum", "minimum"];
    let line = |text: String| Line {
        text,
        dtype,
        exact: true,
    };
    let mut all = Vec::new();
    for (i, one) in names.into_iter().enumerate() {
        for constant in ["%one", "%zero", "%nought", "%least", "%nan"] {
            all.push(line(format!("fusion.{one} %a, {constant}")));
            let inner = format!("%h{i}_{}", &constant[1..]);
            for other in names {
                all.push(line(format!("fusion.{other} {inner}, %b")));
            }
        }
        for inner in ["%sqrt", "%whole"] {
            all.push(line(format!("fusion.{one} {inner}, %b")));
        }
    }
    all
}

/// Selections between a zero and a conversion of the value compared with it.
pub fn choices(dtype: DType) -> Vec<Line> {
    let mut all = Vec::new();
    for to in dtypes().filter(|to| to.is_float()) {
        for zero in ["zero", "nought"] {
            for predicate in ["gt", "lt", "ge"] {
                let name = to.name();
                for text in [
                    format!("fusion.where %{predicate}, %{zero}_{name}, %to_{name}"),
                    format!("fusion.where %{predicate}, %to_{name}, %{zero}_{name}"),
                ] {
                    let exact = true;
                    all.push(Line {
                        text,
                        dtype: to,
                        exact,
                    });
                }
            }
        }
    }
    let line = |text: &str| Line {
        text: text.into(),
        dtype,
        exact: true,
    };
    all.push(line("fusion.where %gt, %zero, %a"));
    all
}

/// The lines before the choices.
pub fn conversions(dtype: DType) -> String {
    let ty = dtype.name();
    let mut text = format!("  %zero = fusion.constant value 0.0 : {ty}\n");
    for predicate in ["gt", "lt", "ge"] {
        text += &format!("  %{predicate} = fusion.compare %a, %zero predicate {predicate}\n");
    }
    for to in dtypes().filter(|to| to.is_float()) {
        let to = to.name();
        text += &format!("  %to_{to} = fusion.cast %a to {to}\n");
        text += &format!("  %zero_{to} = fusion.constant value 0.0 : {to}\n");
        text += &format!("  %nought_{to} = fusion.constant value -0.0 : {to}\n");
    }
    text
}

/// The lines before the chains.
pub fn beginnings(dtype: DType) -> String {
    let ty = dtype.name();
    let mut text = String::new();
    let hexadecimal = |bits: u64| {
        format!("{bits:#0width$X}", width = 2 + dtype.bits() as usize / 4).replace("0X", "0x")
    };
    let constants = [
        ("one", "1.0".into()),
        ("zero", "0.0".into()),
        ("nought", "-0.0".into()),
        ("least", hexadecimal(super::negative_infinity(dtype))),
        ("nan", hexadecimal(super::nan(dtype))),
    ];
    for (name, value) in constants {
        text += &format!("  %{name} = fusion.constant value {value} : {ty}\n");
        for (i, op) in ["fmax", "fmin", "maximum", "minimum"]
            .into_iter()
            .enumerate()
        {
            text += &format!("  %h{i}_{name} = fusion.{op} %a, %{name}\n");
        }
    }
    text += "  %sqrt = fusion.sqrt %a\n";
    text += &format!("  %int = fusion.cast %a to i32\n  %whole = fusion.cast %int to {ty}\n");
    text
}

/// The element types that kernels know. Of the others, floats of 4 bits, callers see two in a byte, which these lengths
/// do not allow.
pub fn dtypes() -> impl Iterator<Item = DType> {
    let known = |dtype: &DType| DTypes::KERNEL.contains(*dtype);
    DType::REAL.into_iter().filter(known)
}

/// A program of lines over vectors of a named length.
pub fn program(dtype: DType, lines: &[Line], before: &str) -> String {
    let tensor = |dtype: DType| format!("tensor<[N]x{}>", dtype.name());
    let (ty, truth) = (tensor(dtype), tensor(DType::I1));
    let results: Vec<String> = lines.iter().map(|line| tensor(line.dtype)).collect();
    let names: Vec<String> = (0..lines.len()).map(|i| format!("%r{i}")).collect();
    let body: String = lines
        .iter()
        .zip(&names)
        .map(|(line, name)| format!("  {name} = {}\n", line.text))
        .collect();
    format!(
        "task.program @f(%a: {ty}, %b: {ty}, %c: {ty}, %p: {truth}) -> ({}) {{\n{before}{body}  task.return {}\n}}\n",
        results.join(", "),
        names.join(", ")
    )
}

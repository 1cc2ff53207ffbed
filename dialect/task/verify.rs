//! The `task` dialect's verifiers, beyond the checks of its tables.

use fuser_ir::attr::AttrKind;
use fuser_ir::def::{At, OpError};
use fuser_ir::{Ir, Op, TypeId, TypeKind, describe, layout, suggest};

use super::ops::{PROGRAM, ROLES, SEGMENT_KINDS};
use super::{ALIAS, KIND, NAME, SCHEDULE, SIGNATURE};

/// `task.program`: aliases name arguments of the same type, each at most once.
pub fn program(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let Some((inputs, results)) = signature(ir, op) else {
        errors.push(OpError::new("has no signature").code(&SIGNATURE));
        return;
    };
    super::pairs::verify(ir, op, errors);
    super::packed::verify(ir, op, errors);
    super::mesh::verify_marks(ir, op, errors);
    let mut taken = vec![false; inputs.len()];
    for (index, &result) in results.iter().enumerate() {
        let Some(alias) = alias(ir, op, index) else {
            continue;
        };
        let argument = usize::try_from(alias).ok();
        let fault = match argument.and_then(|a| inputs.get(a).map(|ty| (a, *ty))) {
            None => Some(format!(
                "aliases argument {alias}, there are {}",
                inputs.len()
            )),
            Some((_, ty)) if !layout::agree(ir, ty, result) => {
                let (a, r) = (describe::ty(ir, ty), describe::ty(ir, result));
                Some(format!("is a `{r}` and aliases argument {alias}, a `{a}`"))
            }
            Some((a, _)) if std::mem::replace(&mut taken[a], true) => {
                Some(format!("aliases argument {alias}, as another result does"))
            }
            Some(_) => None,
        };
        if let Some(text) = fault {
            errors.push(OpError::new(format!("result {index} {text}")).code(&ALIAS));
        }
    }
}

/// Input and result types of an op with a signature.
pub fn signature(ir: &Ir, op: Op) -> Option<(&[TypeId], &[TypeId])> {
    match ir.ty(ir.attr_of(op, "function_type")?.as_type()?) {
        TypeKind::Function { inputs, results } => Some((inputs, results)),
        _ => None,
    }
}

/// The argument that result `index` of a program overwrites, as written.
pub fn alias(ir: &Ir, program: Op, index: usize) -> Option<i128> {
    let Some(AttrKind::Array(items)) = ir.attr_of(program, "res_attrs") else {
        return None;
    };
    let AttrKind::Dict(entries) = ir.attr_kind(*items.get(index)?) else {
        return None;
    };
    let (_, value) = entries.iter().find(|(key, _)| ir.str(*key) == "alias")?;
    ir.attr_kind(*value).as_int()
}

/// `task.return`: the values of the signature.
pub fn returned(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let program = ir.parent_op(op).filter(|p| ir.is(*p, &PROGRAM));
    let Some((_, results)) = program.and_then(|p| signature(ir, p)) else {
        return;
    };
    let (count, wanted) = (ir.operand_count(op), results.len());
    if count != wanted {
        let results_word = if wanted == 1 { "result" } else { "results" };
        let text = match count {
            // It is the one that a program without a `task.return` ends in, mostly.
            0 => format!("returns nothing, the program's signature has {wanted} {results_word}"),
            1 => format!("returns 1 value, the signature says {wanted}"),
            _ => format!("returns {count} values, the signature says {wanted}"),
        };
        let error = OpError::new(text).code(&SIGNATURE);
        errors.push(match count {
            0 => {
                error.help("end the program in `task.return` and the values: `task.return %x, %y`")
            }
            _ if wanted == 0 => {
                let types = ir
                    .operands(op)
                    .map(|value| describe::ty(ir, ir.value_type(value)));
                let types: Vec<String> = types.collect();
                let types = match types.as_slice() {
                    [one] => one.clone(),
                    _ => format!("({})", types.join(", ")),
                };
                error.help(format!(
                    "say what is returned behind the parameters: `-> {types}`"
                ))
            }
            _ => error,
        });
    }
    for (index, (value, &should)) in ir.operands(op).zip(results).enumerate() {
        let is = ir.value_type(value);
        if !layout::agree(ir, is, should) {
            let (is, should) = (describe::ty(ir, is), describe::ty(ir, should));
            let text = format!("value {index} is a `{is}`, the signature says `{should}`");
            errors.push(OpError::at(At::Operand(index), text).code(&SIGNATURE));
        }
    }
}

/// `task.segment`: a known kind.
pub fn segment(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let Some(kind) = ir.str_of(op, "kind") else {
        return;
    };
    if !SEGMENT_KINDS.contains(&kind) {
        let text = format!(
            "`{kind}` is no kind of segment ({})",
            SEGMENT_KINDS.join(", ")
        );
        errors.push(with_near(
            OpError::at(At::Clause("kind"), text).code(&KIND),
            kind,
            SEGMENT_KINDS,
        ));
    }
}

fn with_near(error: OpError, word: &str, words: &'static [&'static str]) -> OpError {
    match suggest::nearest(word, words.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// `task.pattern`: a name.
pub fn pattern(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    if ir.symbol_name(op).is_none() {
        errors.push(OpError::new("has no name").code(&NAME));
    }
}

/// `task.sweep`: lists of one length, known roles, positive numbers.
pub fn sweep(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let lists = ["axes", "extents", "roles", "tile"].map(|name| (name, list_length(ir, op, name)));
    let first = lists
        .iter()
        .find_map(|(name, length)| Some((name, (*length)?)));
    for (name, length) in lists {
        if let (Some((first, wanted)), Some(length)) = (first, length)
            && wanted != length
        {
            let text = format!("has {length} entries where `{first}` has {wanted}");
            errors.push(OpError::at(At::Clause(name), text).code(&SCHEDULE));
        }
    }
    roles(ir, op, errors);
    for name in ["vector", "partials", "threads", "groups"] {
        if ir.int_of(op, name).is_some_and(|v| v < 1) {
            errors.push(OpError::at(At::Clause(name), "must be at least 1").code(&SCHEDULE));
        }
    }
    if ir
        .i64s_of(op, "tile")
        .is_some_and(|t| t.iter().any(|v| *v < 1))
    {
        let text = "every tile size must be at least 1";
        errors.push(OpError::at(At::Clause("tile"), text).code(&SCHEDULE));
    }
}

fn roles(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    for role in strings(ir, op, "roles") {
        if !ROLES.contains(&role) {
            let text = format!("`{role}` is no role ({})", ROLES.join(", "));
            let error = OpError::at(At::Clause("roles"), text).code(&SCHEDULE);
            errors.push(with_near(error, role, ROLES));
        }
    }
}

fn list_length(ir: &Ir, op: Op, name: &str) -> Option<usize> {
    match ir.attr_of(op, name)? {
        AttrKind::Array(items) => Some(items.len()),
        AttrKind::Extents(dims) => Some(dims.len()),
        AttrKind::I64Array(values) => Some(values.len()),
        _ => None,
    }
}

/// The strings of an array attribute; empty where there is none.
pub fn strings<'a>(ir: &'a Ir, op: Op, name: &str) -> Vec<&'a str> {
    let Some(AttrKind::Array(items)) = ir.attr_of(op, name) else {
        return Vec::new();
    };
    let strings = items.iter().filter_map(|a| ir.attr_kind(*a).as_string());
    strings.map(|s| ir.str(s)).collect()
}

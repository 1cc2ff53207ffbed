//! An op against its table: operands, clauses, regions, result types. Shared by parser, builder and verifier.
//!
//! The check works on an op before it exists ([`OpParts`]) and collects every mistake. An op's own inference runs only on
//! parts that fit the op's table, so it may rely on the table. Never makes ops.

pub mod codes;
mod place;

pub use codes::*;
pub use place::{diagnostic, loc_place};

use std::fmt::Arguments;

use smallvec::SmallVec;

use crate::attr::{AttrId, AttrKind};
use crate::def::TypeConstraint;
use crate::def::{
    At, ClauseDef, ClauseKind, DTypes, OpClass, OpDef, OpError, OpParts, ResultTypes, Shape, Traits,
};
use crate::describe;
use crate::intern::Sym;
use crate::ir::Ir;
use crate::layout;
use crate::suggest;
use crate::types::{DType, ExtentExpr, TypeId, TypeKind};
use crate::verify::codes::LAYOUT;

/// Every mistake of `parts` against the table of `def`: operands, clauses, regions.
pub fn against_table(ir: &Ir, def: &OpDef, parts: OpParts<'_>) -> Vec<OpError> {
    let mut errors = Vec::new();
    operands(ir, def, parts, &mut errors);
    clauses(ir, def, parts.attrs, &mut errors);
    regions(def, parts, &mut errors);
    errors
}

/// The result types of an op: inferred, or as stated if the table has no inference. Reports every mistake.
pub fn result_types(
    ir: &mut Ir,
    def: &OpDef,
    parts: OpParts<'_>,
) -> Result<ResultTypes, Vec<OpError>> {
    let errors = against_table(ir, def, parts);
    if !errors.is_empty() {
        return Err(errors);
    }
    inferred(ir, def, parts)
}

/// Like [`result_types`], for parts that are known to fit the table.
pub fn inferred(ir: &mut Ir, def: &OpDef, parts: OpParts<'_>) -> Result<ResultTypes, Vec<OpError>> {
    let types = match (def.infer, parts.stated) {
        (Some(infer), _) => infer(ir, parts).map_err(|e| vec![e])?,
        (None, Some(stated)) => stated.iter().copied().collect(),
        (None, None) if def.results.is_empty() => ResultTypes::new(),
        (None, None) => {
            let help = "write the types after a colon";
            let error = OpError::new("the result types cannot be inferred");
            return Err(vec![error.code(&TYPES_MISSING).help(help)]);
        }
    };
    let mut errors = Vec::new();
    results(ir, def, &types, &mut errors);
    let types = match parts.stated {
        Some(stated) if errors.is_empty() => {
            // A value that a region yields is in memory already, with the layout that it has.
            let yields = !parts.regions.is_empty() && def.class == OpClass::Structure;
            let same = match yields {
                true => layout::agree,
                false => same_but_layout,
            };
            layouts(ir, stated, &mut errors);
            reconcile(ir, stated, types, same, &mut errors)
        }
        _ => types,
    };
    if errors.is_empty() {
        Ok(types)
    } else {
        Err(errors)
    }
}

/// Returns the error for a tensor type whose stated layout is not an order of its axes.
pub fn bad_layout(ir: &Ir, ty: TypeId, at: At, what: Arguments<'_>) -> Option<OpError> {
    let tensor = ir.ty(ty).as_tensor()?;
    if layout::is_valid(ir, tensor) {
        return None;
    }
    let text = format!(
        "{what} is a `{}`, whose layout is none",
        describe::ty(ir, ty)
    );
    let help = "list each axis once, outermost in memory first: `[1, 0]` is column-major";
    Some(OpError::at(at, text).code(&LAYOUT).help(help))
}

/// Stated layouts are layouts.
fn layouts(ir: &Ir, stated: &[TypeId], errors: &mut Vec<OpError>) {
    for (index, &ty) in stated.iter().enumerate() {
        errors.extend(bad_layout(
            ir,
            ty,
            At::Result(index),
            format_args!("result {index}"),
        ));
    }
}

/// The stated types, if they equal the inferred ones except in the respects that `same` allows.
fn reconcile(
    ir: &Ir,
    stated: &[TypeId],
    inferred: ResultTypes,
    same: impl Fn(&Ir, TypeId, TypeId) -> bool,
    errors: &mut Vec<OpError>,
) -> ResultTypes {
    if stated.len() != inferred.len() {
        let text = format!(
            "{} result types are stated, the op has {}",
            stated.len(),
            inferred.len()
        );
        errors.push(OpError::new(text).code(&RESULT_COUNT));
        return inferred;
    }
    for (index, (&is, &should)) in stated.iter().zip(&inferred).enumerate() {
        if !same(ir, is, should) {
            let function = matches!(ir.ty(is), TypeKind::Function { .. });
            let (is, should) = (describe::ty(ir, is), describe::ty(ir, should));
            let text = format!("result {index} is stated as `{is}`, but is `{should}`");
            let error = OpError::at(At::Result(index), text).code(&RESULT_TYPE);
            errors.push(match function {
                true => error.help(format!(
                    "the custom form states result types only: `: {should}`"
                )),
                // The place of a result is that of all types.
                false if stated.len() == 1 => error.fix(should),
                false => error,
            });
        }
    }
    stated.iter().copied().collect()
}

/// True if two types are equal, or are tensor types that differ in their layout only.
pub fn same_but_layout(ir: &Ir, a: TypeId, b: TypeId) -> bool {
    match (ir.ty(a), ir.ty(b)) {
        _ if a == b => true,
        (TypeKind::Tensor(a), TypeKind::Tensor(b)) => a.dims == b.dims && a.dtype == b.dtype,
        _ => false,
    }
}

/// True if a type meets a constraint.
pub fn fits(ir: &Ir, ty: TypeId, constraint: TypeConstraint) -> bool {
    let kind = ir.ty(ty);
    let tensor = matches!(kind, TypeKind::Tensor(_));
    let scalar = matches!(kind, TypeKind::Scalar(_));
    let vector = matches!(kind, TypeKind::Vector { .. });
    let shape = match constraint.shape {
        Shape::Any => return true,
        Shape::Function => return matches!(kind, TypeKind::Function { .. }),
        Shape::Tensor => tensor,
        Shape::TensorOrScalar => tensor || scalar,
        Shape::Elementwise => tensor || scalar || vector,
        Shape::Scalar => scalar,
        Shape::Vector => vector,
        Shape::VectorOrScalar => vector || scalar,
        Shape::MemRef => matches!(kind, TypeKind::MemRef { .. }),
    };
    shape && kind.dtype().is_some_and(|d| constraint.dtypes.contains(d))
}

fn operands(ir: &Ir, def: &OpDef, parts: OpParts<'_>, errors: &mut Vec<OpError>) {
    let variadic = def.operands.last().is_some_and(|o| o.variadic);
    let least = def.operands.len() - usize::from(variadic);
    let count = parts.operands.len();
    if count < least || (count > least && !variadic) {
        let more = if variadic { "at least " } else { "" };
        let names: Vec<&str> = def.operands.iter().map(|o| o.name).collect();
        let text = format!(
            "takes {more}{least} operands ({}), has {count}",
            names.join(", ")
        );
        let mut error = OpError::new(text).code(&OPERAND_COUNT);
        error.help = of_values(ir, def, count);
        errors.push(error);
    }
    for (index, &value) in parts.operands.iter().enumerate() {
        let Some(operand) = def.operand(index) else {
            break;
        };
        let ty = ir.value_type(value);
        if !fits(ir, ty, operand.ty) {
            let (is, should) = (describe::ty(ir, ty), describe::constraint(operand.ty));
            let text = format!("`{}` must be {should}, is `{is}`", operand.name);
            let mut error = OpError::at(At::Operand(index), text).code(&OPERAND_TYPE);
            error.help = instead(ir, def, ty, operand.ty.dtypes, &is);
            errors.push(error);
        }
    }
}

/// Advice for a reduction that is given several values: the op that combines values element by element.
fn of_values(ir: &Ir, def: &OpDef, count: usize) -> Option<String> {
    let combines = |other: &&OpDef| {
        other.class == OpClass::Elementwise
            && other.computes == def.computes
            && other.operands.len() == count
    };
    let reduces = def.class == OpClass::Reduction && def.computes.is_some();
    let other = ir.registry.ops().find(combines).filter(|_| reduces)?;
    Some(format!("of {count} values it is `{}`", other.name))
}

/// Advice for an operand whose element type the op does not take.
fn instead(ir: &Ir, def: &OpDef, ty: TypeId, taken: DTypes, text: &str) -> Option<String> {
    let integral = ir
        .ty(ty)
        .dtype()
        .is_some_and(|d| DTypes::INTEGRAL.contains(d));
    if integral && def.class == OpClass::Contraction {
        let help = "cast to a float first, `fusion.cast %x to f32`; in integers it is `fusion.mul` of broadcast operands and `fusion.sum`";
        return Some(help.into());
    }
    if let TypeKind::UnrankedTensor(_) = ir.ty(ty) {
        return Some(
            "write the axes, with names where lengths are not known: `tensor<[N]x8xf32>`".into(),
        );
    }
    if ir.ty(ty).dtype().is_some_and(|d| d.is_complex()) {
        let help = "compute with the parts, `fusion.real %x` and `fusion.imag %x`";
        return Some(help.into());
    }
    let stored = ir.ty(ty).dtype().filter(|d| d.is_storage());
    match stored.filter(|d| !taken.contains(*d)) {
        Some(dtype) => Some(format!(
            "`{}` is stored, moved and cast, not computed with: cast to f32 first, `fusion.cast %x to f32`",
            dtype.name()
        )),
        None => describe::not_computed(text).map(Into::into),
    }
}

fn results(ir: &Ir, def: &OpDef, types: &[TypeId], errors: &mut Vec<OpError>) {
    let variadic = def.results.last().is_some_and(|r| r.variadic);
    let least = def.results.len() - usize::from(variadic);
    if types.len() < least || (types.len() > least && !variadic) {
        let text = format!("makes {least} results, {} are stated", types.len());
        let error = OpError::new(text).code(&RESULT_COUNT);
        errors.push(match def.traits.contains(Traits::TERMINATOR) {
            true => {
                error.help("the types of operands are not written: leave out `:` and what follows")
            }
            false => error,
        });
    }
    for (index, &ty) in types.iter().enumerate() {
        let last = def.results.last().filter(|r| r.variadic);
        let Some(result) = def.results.get(index).or(last) else {
            break;
        };
        if !fits(ir, ty, result.ty) {
            let (is, should) = (describe::ty(ir, ty), describe::constraint(result.ty));
            let text = format!("result `{}` must be {should}, is `{is}`", result.name);
            errors.push(OpError::at(At::Result(index), text).code(&RESULT_TYPE));
        }
    }
}

fn clauses(ir: &Ir, def: &OpDef, attrs: &[(Sym, AttrId)], errors: &mut Vec<OpError>) {
    let keys = attrs.iter().map(|(key, _)| ir.str(*key));
    let unknown =
        keys.filter(|key| !key.contains('.') && !known_attributes(def).any(|k| k == *key));
    let unknown: SmallVec<[(&str, Option<&str>); 2]> =
        unknown.map(|key| (key, meant(ir, def, key))).collect();
    for clause in def.clauses {
        let attr = attrs.iter().find(|(key, _)| ir.str(*key) == clause.name);
        let misspelt = || unknown.iter().any(|(_, meant)| *meant == Some(clause.name));
        match attr {
            Some((_, attr)) => clause_kind(ir, clause, *attr, errors),
            None if clause.required && !misspelt() => {
                let text = format!("needs the clause `{}`: {}", clause.name, clause.doc);
                errors.push(OpError::new(text).code(&CLAUSE_MISSING));
            }
            None => {}
        }
    }
    errors.extend(
        unknown
            .iter()
            .map(|(key, meant)| unknown_clause(def, key, *meant)),
    );
}

/// The attribute that an op of this table has and that `key` is elsewhere, or nearly is.
fn meant(ir: &Ir, def: &OpDef, key: &str) -> Option<&'static str> {
    let foreign = ir.registry.foreign_clause(def, key);
    foreign.or_else(|| suggest::nearest(key, known_attributes(def)))
}

/// Names of all attributes without a dot that an op of this table may have.
pub fn known_attributes(def: &OpDef) -> impl Iterator<Item = &'static str> {
    let symbol = def.syntax.symbol || def.traits.contains(Traits::SYMBOL);
    let symbol: &[&str] = if symbol { &["sym_name"] } else { &[] };
    let signature: &[&str] = match def.syntax.signature {
        true => &["function_type", "arg_attrs", "res_attrs"],
        false => &[],
    };
    let clauses = def.clauses.iter().map(|c| c.name);
    clauses
        .chain(symbol.iter().copied())
        .chain(signature.iter().copied())
}

fn unknown_clause(def: &OpDef, key: &str, meant: Option<&str>) -> OpError {
    let error = OpError::new(format!("has no clause or attribute `{key}`")).code(&CLAUSE_UNKNOWN);
    match meant {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => {
            let names: Vec<&str> = def.clauses.iter().map(|c| c.name).collect();
            let own = match key {
                "hint" => "a hint to the segmentation is the attribute `fusion.hint`".to_owned(),
                _ => format!("attributes of your own have a dot in their name: `my.{key}`"),
            };
            error.help(match names.is_empty() {
                true => own,
                false => format!("its clauses are {}; {own}", names.join(", ")),
            })
        }
    }
}

fn clause_kind(ir: &Ir, clause: &ClauseDef, attr: AttrId, errors: &mut Vec<OpError>) {
    if let Err(wanted) = clause_fits(ir, clause.kind, attr) {
        let text = format!("clause `{}` takes {wanted}", clause.name);
        let error = OpError::at(At::Clause(clause.name), text).code(&CLAUSE_KIND);
        errors.push(match (clause.kind, ir.attr_kind(attr)) {
            (ClauseKind::I64Array | ClauseKind::Amounts, AttrKind::Array(_)) => error.help(format!(
                "in a dictionary that is `array<i64: 0, 2>`; the custom form has a clause, `{} [0, 2]`",
                clause.name
            )),
            (ClauseKind::DType, AttrKind::Type(ty)) => {
                let unknown = describe::not_computed(&describe::ty(ir, *ty)).map(Into::into);
                let element = ir.ty(*ty).dtype().map(DType::name);
                let alone = || Some(format!("the element type stands alone: `{} {}`", clause.name, element?));
                OpError {
                    help: unknown.or_else(alone),
                    ..error
                }
            }
            _ => error,
        });
    }
}

/// Checks that an attribute can be the value of a clause of this kind; the error says which values the clause takes.
pub fn clause_fits(ir: &Ir, kind: ClauseKind, attr: AttrId) -> Result<(), String> {
    let value = ir.attr_kind(attr);
    let is_string = |a: &AttrId| matches!(ir.attr_kind(*a), AttrKind::String(_));
    let (fits, wanted) = match kind {
        ClauseKind::I64Array => (
            value.as_i64_array().is_some(),
            "a list of integers, `[0, 2]`",
        ),
        ClauseKind::Extents => (value.as_dims().is_some(), "a shape, `[[B], 1024]`"),
        ClauseKind::Amounts => {
            let named = |list: Vec<ExtentExpr>| list.iter().any(|e| e.as_constant().is_none());
            let one_form = value.as_i64_array().is_some() || ir.amounts(value).is_some_and(named);
            (
                one_form,
                "a list of integers, or of integers and named extents, `[0, [M]]`",
            )
        }
        ClauseKind::DType => (
            matches!(value, AttrKind::Type(t) if matches!(ir.ty(*t), TypeKind::Scalar(_))),
            "an element type, `bf16`",
        ),
        ClauseKind::Type => (matches!(value, AttrKind::Type(_)), "a type"),
        ClauseKind::Int => (
            matches!(value, AttrKind::Int { value, .. } if i64::try_from(*value).is_ok()),
            "an integer of 64 bits",
        ),
        ClauseKind::Number => (
            matches!(
                value,
                AttrKind::Int { .. }
                    | AttrKind::Float { .. }
                    | AttrKind::Bool(_)
                    | AttrKind::Dense { .. }
            ),
            "a number, or `dense<...>`",
        ),
        ClauseKind::String => (value.as_string().is_some(), "a string"),
        ClauseKind::Keyword(words) => {
            let fits = value
                .as_string()
                .is_some_and(|s| words.contains(&ir.str(s)));
            return if fits {
                Ok(())
            } else {
                Err(format!("one of {}", words.join(", ")))
            };
        }
        ClauseKind::Unit => (*value == AttrKind::Unit, "no value"),
        ClauseKind::Symbol => (matches!(value, AttrKind::SymbolRef(_)), "a symbol, `@name`"),
        ClauseKind::StringArray => (
            matches!(value, AttrKind::Array(items) if items.iter().all(is_string)),
            "a list of strings, `[\"a\", \"b\"]`",
        ),
        ClauseKind::Any => (true, ""),
    };
    if fits { Ok(()) } else { Err(wanted.into()) }
}

fn regions(def: &OpDef, parts: OpParts<'_>, errors: &mut Vec<OpError>) {
    let least = def.regions.iter().filter(|r| !r.optional).count();
    let (count, most) = (parts.regions.len(), def.regions.len());
    if count < least || count > most {
        let text = match least == most {
            true => format!("has {most} regions in its definition, {count} here"),
            false => format!("has {least} to {most} regions in its definition, {count} here"),
        };
        let error = OpError::new(text).code(&REGION_COUNT);
        errors.push(match (count, def.regions.first()) {
            (0, Some(region)) => error.help(format!(
                "its {} follows in braces: `{{ ... }}`",
                region.name
            )),
            _ => error,
        });
    }
}

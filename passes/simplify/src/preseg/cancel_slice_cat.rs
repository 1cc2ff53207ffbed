//! Cancels a `cat` of all slices of one tensor, including slices to which equal ops were applied.
//!
//! ```text
//! %a = fusion.slice %x starts [0, 0] shape [4, 3]
//! %b = fusion.slice %x starts [0, 3] shape [4, 5]     =>     %x itself, where %x is tensor<4x8xf32>
//! %y = fusion.cat %a, %b dim 1
//!
//! cat(exp(slice(x)), exp(slice(x)))                   =>     exp(x)
//! ```
//!
//! The parts must form the whole tensor: slices of one tensor, in order, without a gap or an overlap along the axis,
//! with step 1, and whole along all other axes. Extents along the axis must be known, and constant if a `reshape` lies
//! between.
//!
//! Unary elementwise ops, casts and `permute` may lie between a slice and the `cat`. They must be equal for each part,
//! with equal clauses, and have no other users. Each processes every element separately, so applying it to the whole
//! tensor gives the same bits.
//!
//! A `reshape` qualifies if the axis of the parts has as many elements outside of it before the op as after it. The
//! parts are then consecutive in row-major order both before and after:
//!
//! ```text
//! cat(reshape(a: 4x6 -> 4x3x2), reshape(b: 4x10 -> 4x5x2)) dim 1     =>     reshape(cat(a, b) dim 1: 4x16 -> 4x8x2)
//! ```
//!
//! Ops with hints stop the search.

use fuser_dialects::fusion::maps;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::OpClass;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent, ExtentExpr};
use fuser_ir::{AttrId, Ir, Op, OpDef, Traits, Value};
use fuser_pass::{PassDef, StatDef};

use super::{is_free, is_single, made_by, made_near, make, run_patterns};

/// `cancel-slice-cat`
pub static CANCEL_SLICE_CAT: PassDef = PassDef {
    name: "cancel-slice-cat",
    summary: "cancels a cat of all slices of one tensor",
    doc: "A `cat` whose operands are slices of one tensor, in order and complete along the axis, is that tensor; where the same \
          elementwise ops and permutations were done to each slice, it is what they make of that tensor.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "cats removed",
    }],
    run: |ctx| run_patterns(ctx, &[&CAT_OF_SLICES]),
    ..PassDef::EMPTY
};

static CAT_OF_SLICES: Pattern = Pattern {
    name: "cat-of-slices",
    summary: "cat(f(slice(x)), f(slice(x))) => f(x)",
    roots: &["fusion.cat"],
    benefit: 1,
    rewrite: cat_of_slices,
};

fn cat_of_slices(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let Some((source, chain)) = whole(ir, op).filter(|_| is_free(ir, op)) else {
        return false;
    };
    let wanted = ir.value_type(ir.result(op, 0));
    let mut value = source;
    for (step, link) in chain.iter().rev().enumerate() {
        let clauses = link.clauses.iter();
        let mut clauses: Vec<(&str, AttrId)> = clauses.map(|(k, a)| (k.as_str(), *a)).collect();
        if let Some(shape) = &link.shape {
            let shape = rw.ir_mut().attr(AttrKind::Extents(shape.clone()));
            clauses = vec![("shape", shape)];
        }
        let wanted = (step + 1 == chain.len()).then_some(wanted);
        match make(rw, op, link.def, &[value], &clauses, wanted) {
            Some(made) => value = made,
            None => return false,
        }
    }
    rw.replace(op, &[value]);
    true
}

/// An op of a chain.
struct Link {
    def: &'static OpDef,
    clauses: Vec<(String, AttrId)>,
    /// The shape of the whole, for a reshape.
    shape: Option<Vec<Dim>>,
}

/// The tensor that the operands of `cat` are all parts of, in order, and the ops that were done to each, the last one first.
fn whole(ir: &Ir, cat: Op) -> Option<(Value, Vec<Link>)> {
    let mut dim = usize::try_from(ir.int_of(cat, "dim")?).ok()?;
    let mut parts: Vec<Value> = ir.operands(cat).collect();
    let mut chain = Vec::new();
    while let Some((mut link, before)) = same_op(ir, &parts, cat) {
        if link.def.has_maps(&maps::PERMUTE) {
            let dims = ir.i64s_of(ir.def_op(parts[0])?, "dims")?;
            dim = usize::try_from(*dims.get(dim)?).ok()?;
        }
        if link.def.has_maps(&maps::RESHAPE) {
            link.shape = Some(joined(ir, &parts, dim)?);
            dim = same_place(ir, &before, outside(ir, parts[0], dim)?)?;
        }
        chain.push(link);
        parts = before;
    }
    let source = slices(ir, cat, &parts, dim)?;
    // The very type: so nothing is missing, along no axis.
    let is_it = !chain.is_empty() || ir.value_type(source) == ir.value_type(ir.result(cat, 0));
    is_it.then_some((source, chain))
}

/// The axes of a dense tensor without layout.
fn plain(ir: &Ir, value: Value) -> Option<&[Dim]> {
    let tensor = ir.value_kind(value).as_tensor()?;
    let plain = tensor.encoding.is_none() && tensor.dims.iter().all(|d| !d.broadcast);
    plain.then_some(&tensor.dims)
}

/// The number of elements of `value` along the axes outside of axis `dim`.
fn outside(ir: &Ir, value: Value, dim: usize) -> Option<ExtentExpr> {
    let outer = plain(ir, value)?.get(..dim)?.iter();
    outer
        .into_iter()
        .try_fold(ExtentExpr::constant(1), |all, d| {
            all.mul(&ir.extent_as_expr(d.extent)?)
        })
}

/// The shape of all parts beside each other along `dim`.
fn joined(ir: &Ir, parts: &[Value], dim: usize) -> Option<Vec<Dim>> {
    let mut shape = plain(ir, *parts.first()?)?.to_vec();
    let mut sum = 0u64;
    for &part in parts {
        let mut dims = plain(ir, part)?.to_vec();
        let Extent::Static(length) = std::mem::replace(dims.get_mut(dim)?, Dim::fixed(0)).extent
        else {
            return None;
        };
        sum = sum.checked_add(length)?;
        shape[dim] = Dim::fixed(0);
        if dims != shape {
            return None;
        }
    }
    shape[dim] = Dim::fixed(sum);
    Some(shape)
}

/// The axis of the parts with `outer` elements outside of it; if several qualify, the one along which the parts differ.
fn same_place(ir: &Ir, parts: &[Value], outer: ExtentExpr) -> Option<usize> {
    let first = *parts.first()?;
    let rank = plain(ir, first)?.len();
    let fits = |dim: &usize| {
        outside(ir, first, *dim).as_ref() == Some(&outer) && joined(ir, parts, *dim).is_some()
    };
    let long = |dim: &usize| {
        let extent = |v: Value| {
            plain(ir, v)
                .and_then(|dims| dims.get(*dim))
                .map(|d| d.extent)
        };
        parts.iter().any(|&v| extent(v) != Some(Extent::Static(1)))
    };
    let mut places = (0..rank).filter(fits);
    places.clone().find(long).or_else(|| places.next())
}

/// The op that computes all of `parts` alike, and its operand for each of them.
fn same_op(ir: &Ir, parts: &[Value], cat: Op) -> Option<(Link, Vec<Value>)> {
    let first = ir.def_op(*parts.first()?)?;
    let def = ir.def(first)?;
    let each = def.class == OpClass::Elementwise && def.traits.contains(Traits::PURE);
    let reshapes = def.has_maps(&maps::RESHAPE);
    if !each && !reshapes && !def.has_maps(&maps::PERMUTE) {
        return None;
    }
    let mut before = Vec::with_capacity(parts.len());
    for &part in parts {
        let op = made_near(ir, part, cat)?;
        let told = reshapes || ir.inherent_attrs(op).eq(ir.inherent_attrs(first));
        let same = told && ir.name_id(op) == ir.name_id(first);
        let alike = same && ir.operand_count(op) == 1;
        if !alike || !is_single(ir, part) || ir.results(op).len() != 1 {
            return None;
        }
        before.push(ir.operand(op, 0));
    }
    let clauses = ir.attrs(first).iter();
    let clauses = clauses.map(|(k, a)| (ir.str(*k).to_owned(), *a));
    let link = Link {
        def,
        clauses: clauses.collect(),
        shape: None,
    };
    Some((link, before))
}

/// The tensor of which `parts` are consecutive slices along axis `dim`, complete and whole along the other axes.
fn slices(ir: &Ir, cat: Op, parts: &[Value], dim: usize) -> Option<Value> {
    let mut source = None;
    let mut at = ExtentExpr::constant(0);
    for &part in parts {
        let slice = made_by(ir, part, &maps::SLICE, cat)?;
        let from = ir.operand(slice, 0);
        let starts = ir.amounts_of(slice, "starts")?;
        let steps = ir.i64s_of(slice, "strides").unwrap_or_default();
        let expected = |(axis, start): (usize, &ExtentExpr)| match axis == dim {
            true => *start == at,
            false => start.as_constant() == Some(0),
        };
        let in_order = starts.iter().enumerate().all(expected) && steps.iter().all(|&s| s == 1);
        if *source.get_or_insert(from) != from || !in_order {
            return None;
        }
        let dims = |v: Value| ir.value_kind(v).as_tensor().map(|t| t.dims.as_slice());
        let (mine, all) = (dims(part)?, dims(from)?);
        let others = mine.iter().zip(all).enumerate();
        let mut others = others.filter(|(axis, _)| *axis != dim);
        if mine.len() != all.len() || others.any(|(_, (m, a))| m != a) {
            return None;
        }
        at = at.add(&ir.extent_as_expr(mine.get(dim)?.extent)?)?;
    }
    let source = source?;
    // A result of another type than inference gives, with a layout or from a `b` axis, is left alone.
    let dense = |v: Value| {
        ir.value_kind(v)
            .as_tensor()
            .filter(|t| t.encoding.is_none())
    };
    let along = dense(source)?.dims.get(dim)?;
    let all = ir.extent_as_expr(along.extent)? == at;
    let plain = !along.broadcast && dense(ir.result(cat, 0)).is_some();
    (all && plain).then_some(source)
}

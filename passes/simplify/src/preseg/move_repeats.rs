//! Moves elementwise ops before the repeats that make their operands.
//!
//! ```text
//! %r = repeat(%x)             // tensor<4x8xf32> three times beside itself along axis 1
//! %e = fusion.exp %r          // 96 exponentials       =>     %a = fusion.exp %x       // 32
//! %y = fusion.mul %e, %w      // %w stored along axis 0 alone  %b = fusion.mul %a, %w'
//!                                                              %y = repeat(%b)
//! ```
//!
//! A repeat is what `repeat-to-expand` makes: a `broadcast` along a new axis, a dense `copy`, a `reshape` that joins the new
//! axis with the one behind it. Every element of the result is an element of x, so what an op of one element each does to
//! the result it may do to x: the same op on the same elements, on fewer of them, bit for bit.
//!
//! Moves an op without regions that works on each element by itself and whose operands are all
//! - repeats of one shape along one axis in the same way, at least one, each read by nothing else;
//! - broadcasts and expanded tensors that are stored once along the repeated axis, and take the short axis instead; or
//! - scalars.
//!
//! Never moves what carries a hint, nor a repeat that is a result of the program or that other ops read: that one is wanted at
//! full length anyway. Never moves an op with a dense operand of full length. Repeats by it every op at most once per repeat,
//! so a chain of n ops takes n steps.

use fuser_dialects::fusion::maps;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::OpClass;
use fuser_ir::maps::Index;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Ir, Op, Traits, TypeKind, Value, layout};
use fuser_pass::{PassDef, StatDef};

use super::{borrowed, clauses, is_free, is_single, made_by, made_near, make, run_patterns};

/// `move-repeats`
pub static MOVE_REPEATS: PassDef = PassDef {
    name: "move-repeats",
    summary: "moves elementwise ops before the repeats of their operands",
    doc: "An elementwise op on repeated tensors becomes a repeat of that op on the tensors: it computes each element once. Other \
          operands are scalars, or broadcasts and expanded tensors that do not vary along the repeated axis.",
    statistics: &[StatDef {
        name: "rewrites",
        doc: "ops moved",
    }],
    run: |ctx| run_patterns(ctx, &[&MAP_OF_REPEAT]),
    ..PassDef::EMPTY
};

static MAP_OF_REPEAT: Pattern = Pattern {
    name: "map-of-repeat",
    summary: "f(repeat(x)) => repeat(f(x))",
    roots: &[],
    benefit: 1,
    rewrite: map_of_repeat,
};

/// The clause that states the shape of a result.
const SHAPE: &str = "shape";

/// A repeat: what is repeated, how often, along which axis.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Repeat {
    source: Value,
    dim: usize,
    count: u64,
}

/// The short form of an operand.
enum Short {
    /// It is there already.
    Value(Value),
    /// The value of an op that states its shape; the op is recreated with the short shape.
    Spread(Op),
}

fn map_of_repeat(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let maps = ir.def(op).filter(|def| {
        let each = def.class == OpClass::Elementwise && def.traits.contains(Traits::PURE);
        each && def.results.len() == 1
    });
    let Some(def) = maps.filter(|_| is_free(ir, op) && ir.op_regions(op).is_empty()) else {
        return false;
    };
    let Some((repeat, operands)) = shortened(ir, op) else {
        return false;
    };
    let wanted = ir.value_type(ir.result(op, 0));
    let (Some(short), Some(long)) = (dims(ir, repeat.source), dims(ir, ir.result(op, 0))) else {
        return false;
    };
    let own = clauses(ir, op);
    let shape = rw.ir_mut().attr(AttrKind::Extents(short.clone()));
    let mut values = Vec::with_capacity(operands.len());
    for operand in operands {
        let value = match operand {
            Short::Value(value) => Some(value),
            Short::Spread(spread) => {
                let ir = rw.ir();
                let (value, mut clauses) = (ir.operand(spread, 0), clauses(ir, spread));
                let def = ir.def(spread);
                let stated = clauses.iter_mut().find(|(name, _)| name == SHAPE);
                if let Some((_, old)) = stated {
                    *old = shape;
                }
                def.and_then(|def| make(rw, op, def, &[value], &borrowed(&clauses), None))
            }
        };
        match value {
            Some(value) => values.push(value),
            None => return false,
        }
    }
    let Some(mapped) = make(rw, op, def, &values, &borrowed(&own), None) else {
        return false;
    };
    match super::repeat_to_expand::repeated(
        rw,
        op,
        mapped,
        (repeat.dim, repeat.count),
        &long,
        wanted,
    ) {
        Some(new) => {
            rw.replace(op, &[new]);
            true
        }
        None => false,
    }
}

/// The repeat that all repeated operands share, and the operands without it.
fn shortened(ir: &Ir, op: Op) -> Option<(Repeat, Vec<Short>)> {
    let repeats: Vec<Option<Repeat>> = ir.operands(op).map(|v| repeat(ir, v, op)).collect();
    let first = repeats.iter().flatten().next()?.clone();
    let short = dims(ir, first.source)?;
    let mut operands = Vec::with_capacity(repeats.len());
    for (value, repeat) in ir.operands(op).zip(repeats) {
        if let Some(own) = repeat {
            let alike = own.dim == first.dim && own.count == first.count;
            if !alike || dims(ir, own.source)? != short {
                return None;
            }
            operands.push(Short::Value(own.source));
            continue;
        }
        let rank = ir.value_kind(value).as_tensor().map_or(0, |t| t.dims.len());
        if rank == 0 {
            operands.push(Short::Value(value));
            continue;
        }
        operands.push(Short::Spread(spread(ir, value, first.dim, op)?));
    }
    Some((first, operands))
}

/// The op that makes `value` for `user` and reads its operand at one index for all indices along `dim`.
fn spread(ir: &Ir, value: Value, dim: usize, user: Op) -> Option<Op> {
    let op = made_near(ir, value, user)?;
    ir.def(op)
        .filter(|d| d.class == OpClass::Shape && d.clause(SHAPE).is_some())?;
    let read = ir.maps(op)?;
    let once = read
        .operands
        .first()?
        .axes()?
        .iter()
        .all(|i| *i != Index::Iter(dim));
    (once && !layout::is_stated(ir, value)).then_some(op)
}

/// The repeat that makes `value` for `user` alone.
fn repeat(ir: &Ir, value: Value, user: Op) -> Option<Repeat> {
    let joined = made_by(ir, value, &maps::RESHAPE, user).filter(|_| is_single(ir, value))?;
    let stored = ir.operand(joined, 0);
    let copy = made_by(ir, stored, &maps::POINTWISE, user).filter(|_| is_single(ir, stored))?;
    ir.get_attr(copy, "dense")?;
    let wide = ir.operand(copy, 0);
    let spread = made_by(ir, wide, &maps::BROADCAST, user).filter(|_| is_single(ir, wide))?;
    let source = ir.operand(spread, 0);
    let (short, wide, long) = (dims(ir, source)?, dims(ir, wide)?, dims(ir, value)?);
    if wide.len() != short.len() + 1 || long.len() != short.len() {
        return None;
    }
    let places = ir.i64s_of(spread, "dims")?;
    let dim = (0..wide.len()).find(|&i| !places.contains(&(i as i64)))?;
    let Extent::Static(count) = wide[dim].extent else {
        return None;
    };
    // The new axis is joined with the one behind it, all others are as they were.
    let product = ir.extent_as_expr(short.get(dim)?.extent)?;
    let product = product.mul(&ir.extent_as_expr(wide[dim].extent)?)?;
    let joined = ir.extent_as_expr(long[dim].extent)? == product;
    let same = |i: usize| i == dim || short[i] == long[i];
    let plain = |d: &Dim| !d.broadcast && d.extent != Extent::Unknown;
    let fits = joined && (0..short.len()).all(same) && short.iter().chain(&long).all(plain);
    fits.then_some(Repeat { source, dim, count })
}

/// The axes of a tensor whose type states no layout.
fn dims(ir: &Ir, value: Value) -> Option<Vec<Dim>> {
    match ir.value_kind(value) {
        TypeKind::Tensor(t) if t.encoding.is_none() => Some(t.dims.clone()),
        _ => None,
    }
}

//! Splits a long scan axis on a GPU into parts: each part is scanned, starting from the total of all earlier parts.
//!
//! ```text
//! %y = fusion.cumsum %x dim 0                                // 16777216
//!   =>
//! %p = fusion.reshape %x shape [512, 32768]
//! %t = fusion.sum %p dims [1]                                // what each part has together
//! %s = fusion.slice %t starts [0] shape [511]
//! %e = fusion.pad %s, -0.0 low [1] high [0]
//! %b = fusion.cumsum %e dim 0                                // and the parts before it
//! %c = fusion.cumsum %p dim 1
//! %a = fusion.add (fusion.broadcast %b dims [0] shape [512, 32768]), %c
//! %y = fusion.reshape %a shape [16777216]
//! ```
//!
//! The axis is read twice and written once, by all multiprocessors instead of one. The split applies if there are too
//! few lines beside the axis to occupy them, and if the length is a multiple of such parts.
//!
//! Threads of a block share the contiguous axis of a named scan, so its parts are long. For any other axis, and for
//! lambdas, one thread walks a line, which is split into about as many parts as a part has elements. A lambda must be
//! `associative` and exact, since it also combines the parts; folds are split likewise. A CPU keeps the order of the
//! elements.
//! round nothing: it puts parts together as it does elements, and folds are taken in parts likewise. A CPU keeps the order of the elements.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder, float_attr, int_attr};
use fuser_dialects::fusion::lambda::init;
use fuser_ir::build::Builder;
use fuser_ir::def::{Computes, OpClass, OpError};
use fuser_ir::{AttrKind, DType, Dim, Extent, Ir, Op, OpDef, Value, layout};
use fuser_target::Target;

use super::Parts;
use super::lambda::{apply, associates, compose};

/// The minimum length of a block's line to be split: a cluster of blocks scans shorter ones in registers.
const LONG: u64 = 1 << 18;
/// The shortest part of it.
const PART: u64 = 1 << 10;
/// The unit of a part's length in elements, so that the parts are aligned for vectors like the whole line.
const VECTOR: u64 = 8;
/// The number of parts for each multiprocessor, the factor by which it may be exceeded, and the minimum number of parts
/// of a line.
const EACH: u64 = 2;
const MORE: u64 = 8;
const FEWEST: u64 = 16;
/// The minimum length of a thread's line to be split, the minimum length of a part, and the minimum number of parts.
const WALK: u64 = 128;
const STEPS: u64 = 16;
const FEWEST_WALKS: u64 = 4;
/// Threads of a multiprocessor that keep its memory busy, each with a line.
const THREADS: u64 = 1024;

/// The function by which a scan puts elements together, where its op tells.
fn function(ir: &Ir, op: Op) -> Option<Computes> {
    let def = ir.def(op).filter(|def| def.class == OpClass::Scan)?;
    let four = [Computes::Add, Computes::Mul, Computes::Max, Computes::Min];
    def.computes.filter(|function| four.contains(function))
}

/// The reduction by that function.
fn reduction(function: Computes) -> &'static OpDef {
    match function {
        Computes::Add => &fusion::SUM,
        Computes::Mul => &fusion::PROD,
        Computes::Max => &fusion::MAX,
        _ => &fusion::MIN,
    }
}

/// The function of two elements.
fn join(function: Computes) -> &'static OpDef {
    match function {
        Computes::Add => &fusion::ADD,
        Computes::Mul => &fusion::MUL,
        Computes::Max => &fusion::MAXIMUM,
        _ => &fusion::MINIMUM,
    }
}

/// The neutral number, as a float and as an integer: combining it with an element preserves every bit of the element.
fn neutral_number(function: Computes, dtype: DType) -> (f64, i128) {
    let (least, most) = dtype.int_range();
    match function {
        Computes::Add => (-0.0, 0),
        Computes::Mul => (1.0, 1),
        Computes::Max => (f64::NEG_INFINITY, least),
        _ => (f64::INFINITY, most),
    }
}

/// A constant of it.
fn neutral(b: &mut Builder<'_>, function: Computes, dtype: DType) -> Built {
    let ty = b.ir.scalar(dtype);
    let (float, int) = neutral_number(function, dtype);
    match dtype.is_float() {
        true => b.constant_float(float, ty),
        false => b.constant_int(int, ty),
    }
}

/// The axis of a scan or a fold that is taken in parts.
pub struct Cut {
    pub axis: usize,
    pub parts: u64,
    pub length: u64,
    /// True where the threads of a block share a part.
    shared: bool,
    /// The axes of the operands.
    dims: Vec<Dim>,
}

impl Cut {
    /// The axes with that axis as these.
    pub fn with(&self, axis: &[u64]) -> Vec<Dim> {
        let axis = axis.iter().map(|&extent| Dim::fixed(extent));
        let mut dims = self.dims.clone();
        dims.splice(self.axis..=self.axis, axis);
        dims
    }
    /// The operands with that axis as two.
    pub fn reshaped(&self, b: &mut Builder<'_>, values: &[Value]) -> Parts {
        let dims = self.with(&[self.parts, self.length / self.parts]);
        let shape = b.shape("shape", &dims);
        let reshaped = values
            .iter()
            .map(|&value| b.value(&fusion::RESHAPE, &[value], &[shape]));
        reshaped.collect()
    }
    /// The axis of the operands of `op` as a cut into no parts yet. The operands must be row-major and equal in shape,
    /// without broadcasts.
    pub fn uncut(ir: &Ir, op: Op) -> Option<Self> {
        let axis = usize::try_from(ir.int_of(op, "dim")?).ok()?;
        let mut all = ir
            .operands(op)
            .map(|value| ir.value_kind(value).as_tensor());
        let first = all.next()??;
        let dims = first.dims.clone();
        let alike = all.all(|t| t.is_some_and(|t| t.dims == dims && layout::is_row_major(ir, t)));
        let known = |dim: &Dim| matches!(dim.extent, Extent::Static(_)) && !dim.broadcast;
        let Extent::Static(length) = dims.get(axis)?.extent else {
            return None;
        };
        let whole = alike && layout::is_row_major(ir, first) && dims.iter().all(known);
        whole.then_some(Self {
            axis,
            parts: 1,
            length,
            shared: false,
            dims,
        })
    }
    /// The elements of some of the axes.
    fn elements(dims: &[Dim]) -> Option<u64> {
        dims.iter().try_fold(1u64, |n, dim| match dim.extent {
            Extent::Static(extent) => n.checked_mul(extent),
            _ => None,
        })
    }
    /// The lines along the axis.
    pub fn lines(&self) -> Option<u64> {
        Self::elements(&self.with(&[]))
    }
}

/// True for a scan of which only the last element is used.
fn is_total(ir: &Ir, op: Op) -> bool {
    let readers = ir.results(op).iter().flat_map(|&result| ir.users(result));
    readers
        .into_iter()
        .all(|reader| ir.computes(reader) == Some(Computes::Last))
}

/// The split of a scan or a fold into parts on a GPU; `None` if it stays whole.
pub fn cut(ir: &Ir, op: Op, target: &Target) -> Option<Cut> {
    let named = target.abilities().block_threads && function(ir, op).is_some();
    let lambda = target.abilities().block_threads && associates(ir, op);
    if !named && !lambda || is_total(ir, op) {
        return None;
    }
    let mut cut = Cut::uncut(ir, op)?;
    let (lines, length) = (cut.lines().filter(|&lines| lines > 0)?, cut.length);
    let real = !ir.value_kind(ir.operand(op, 0)).dtype()?.is_complex();
    cut.shared = named && Cut::elements(&cut.dims[cut.axis + 1..]) == Some(1);
    // Lines that the machine has room for, the shortest that is cut, how many parts are wanted and the fewest, what all of them are multiples of, and the
    // shortest part.
    let (room, long, wanted, fewest, multiple, least) = if cut.shared {
        let room = EACH * target.workers;
        (room, LONG, room.div_ceil(lines), FEWEST, VECTOR, PART)
    } else {
        let room = THREADS * target.workers;
        let wanted = room.div_ceil(lines).min(length.isqrt());
        (room, WALK, wanted, FEWEST_WALKS, 1, STEPS)
    };
    let few = lines.saturating_mul(2) <= room;
    if !few || !real || length < long {
        return None;
    }
    let whole = |parts: &u64| length.is_multiple_of(parts * multiple) && length / parts >= least;
    let mut counts = (wanted.max(fewest)..=MORE * wanted).chain((fewest..wanted).rev());
    cut.parts = counts.find(whole)?;
    Some(cut)
}

/// The results of a scan that is taken in parts.
pub fn in_parts(ir: &mut Ir, op: Op, cut: &Cut) -> Parts {
    let way = Way::of(ir, op).ok_or_else(|| OpError::new("it is no scan of a line"))?;
    let operands: Vec<Value> = ir.operands(op).collect();
    let (axis, rank, count) = (cut.axis as i64, cut.dims.len(), cut.parts);
    let firsts = cut.with(&[count - 1]);
    let whole = cut.with(&[count, cut.length / count]);
    let kept: Vec<i64> = (0..=rank as i64).filter(|&at| at != axis + 1).collect();
    let mut low = vec![0; rank];

    let mut b = Builder::before(ir, op);
    let mut parts = cut.reshaped(&mut b, &operands)?;
    let dtypes: Vec<DType> = parts
        .iter()
        .map(|&part| b.ir.value_kind(part).dtype().unwrap_or(DType::F32))
        .collect();
    let computed: Vec<DType> = match way {
        Way::Named(_) => dtypes.iter().map(|dtype| dtype.compute()).collect(),
        Way::Lambda => dtypes.clone(),
    };
    for (part, &dtype) in parts.iter_mut().zip(&computed) {
        *part = b.cast(*part, dtype)?;
    }
    let mut before = way.totals(&mut b, op, &parts, (axis + 1, cut.shared))?;
    let starts = b.ints("starts", &low);
    let shape = b.shape("shape", &firsts);
    let high = b.ints("high", &low);
    low[cut.axis] = 1;
    let low = b.ints("low", &low);
    for (number, (total, &dtype)) in before.iter_mut().zip(&computed).enumerate() {
        if !cut.shared {
            // All multiprocessors walk parts, and few of them go on from these: one launch of both would have as few for all.
            *total = b.value(&fusion::SEGMENT_SET, &[*total], &[])?;
        }
        *total = b.value(&fusion::SLICE, &[*total], &[starts, shape])?;
        let none = way.neutral(&mut b, op, number, dtype)?;
        *total = b.value(&fusion::PAD, &[*total, none], &[low, high])?;
    }
    before = way.scan(&mut b, op, &before, axis)?;
    for value in &mut before {
        *value = b.broadcast(*value, &kept, &whole)?;
    }
    let own = way.scan(&mut b, op, &parts, axis + 1)?;
    let mut all = way.join(&mut b, op, before, own, &whole)?;
    let shape = b.shape("shape", &cut.dims);
    for (value, dtype) in all.iter_mut().zip(dtypes) {
        *value = b.cast(*value, dtype)?;
        *value = b.value(&fusion::RESHAPE, &[*value], &[shape])?;
    }
    Ok(all)
}

/// The function that puts elements, and parts, together.
#[derive(Clone, Copy)]
enum Way {
    Named(Computes),
    /// The lambda of the op.
    Lambda,
}

impl Way {
    fn of(ir: &Ir, op: Op) -> Option<Self> {
        let lambda = associates(ir, op).then_some(Self::Lambda);
        function(ir, op).map(Self::Named).or(lambda)
    }
    /// The totals along an axis, computed by threads together if `shared`, else by one thread for each line.
    fn totals(
        self,
        b: &mut Builder<'_>,
        op: Op,
        values: &[Value],
        (axis, shared): (i64, bool),
    ) -> Parts {
        match self {
            Self::Named(function) if shared => Ok(vec![totals(b, function, values[0], axis)?]),
            Self::Named(function) => walked(b, function, values[0], axis),
            Self::Lambda => compose(b, op, &fusion::FOLD, values, (axis, true)),
        }
    }
    /// The elements up to each index of an axis together.
    fn scan(self, b: &mut Builder<'_>, op: Op, values: &[Value], axis: i64) -> Parts {
        match (self, b.ir.def(op)) {
            (Self::Named(_), Some(def)) => {
                let dim = b.int("dim", axis);
                Ok(vec![b.value(def, values, &[dim])?])
            }
            _ => compose(b, op, &fusion::SCAN, values, (axis, false)),
        }
    }
    /// The neutral value: combining it with an element preserves every bit of the element.
    fn neutral(self, b: &mut Builder<'_>, op: Op, number: usize, dtype: DType) -> Built {
        match self {
            Self::Named(function) => neutral(b, function, dtype),
            Self::Lambda => {
                let missing = || OpError::new("a number of `init` is no element");
                let init = init(b.ir, op).get(number).copied().ok_or_else(missing)?;
                super::lambda::number(b, init, dtype)
            }
        }
    }
    /// The values before elements and the elements themselves together, of these axes.
    fn join(
        self,
        b: &mut Builder<'_>,
        op: Op,
        before: Vec<Value>,
        own: Vec<Value>,
        dims: &[Dim],
    ) -> Parts {
        match self {
            Self::Named(function) => Ok(vec![b.binary(join(function), before[0], own[0])?]),
            Self::Lambda => {
                let all = apply(b, op, before.into_iter().chain(own).collect())?;
                let all = all.into_iter();
                all.map(|value| match b.ir.value_kind(value).as_tensor() {
                    Some(_) => Ok(value),
                    None => b.broadcast(value, &[], dims),
                })
                .collect()
            }
        }
    }
}

/// The elements of each part together, by a thread that walks them.
fn walked(b: &mut Builder<'_>, function: Computes, parts: Value, axis: i64) -> Parts {
    let missing = || OpError::new("a part is no tensor");
    let dtype = b.ir.value_kind(parts).dtype().ok_or_else(missing)?;
    let ty = b.ir.scalar(dtype);
    let region = b.ir.new_region();
    let body = b.ir.append_block(region);
    let [before, element] = [(); 2].map(|()| b.ir.append_arg(body, ty, None));
    let mut inside = Builder::at_end(b.ir, body);
    let next = inside.binary(join(function), before, element)?;
    inside.build(&fusion::YIELD, &[next], &[], &[], None)?;
    let init = match dtype.is_float() {
        true => float_attr(b.ir, neutral_number(function, dtype).0, ty),
        false => int_attr(b.ir, neutral_number(function, dtype).1, ty),
    };
    let init = b.ir.attr(AttrKind::Array(vec![init]));
    let clauses = [b.int("dim", axis), ("init", init)];
    let fold = b.build(&fusion::FOLD, &[parts], &clauses, &[region], None)?;
    Ok(b.ir.results(fold).to_vec())
}

/// The total of each part, by threads that share it. The last element of a scan over only `-0` is `-0`, unlike a sum.
/// If the sum and the maximum are both zero, the total is therefore the lesser of the two.
fn totals(b: &mut Builder<'_>, function: Computes, parts: Value, axis: i64) -> Built {
    let total = b.reduce(reduction(function), parts, &[axis])?;
    let float = b.ir.value_kind(parts).dtype().is_some_and(DType::is_float);
    if !float || function != Computes::Add {
        return Ok(total);
    }
    let greatest = b.reduce(&fusion::MAX, parts, &[axis])?;
    let ty = b.ir.value_type(total);
    let zero = b.constant_float(0.0, ty)?;
    let [a, z] = [total, greatest].map(|value| b.compare("eq", value, zero));
    let zeros = b.binary(&fusion::AND, a?, z?)?;
    let least = b.minimum(total, greatest)?;
    b.choose(zeros, least, total)
}

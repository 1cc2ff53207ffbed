//! Elementwise ops: shapes joined, operands walked together, one chunk of lanes at a time.

use fuser_ir::DType;

use super::{Kind, with_lane};
use crate::error::{InterpError, Result};
use crate::machine::{CHUNK, Machine, Portion};
use crate::number::math::{Binary, Predicate, Test, Unary};
use crate::number::{Bounded, Int, Number, round, small};
use crate::ops::code::{Code, Step};
use crate::tensor::{Axis, Lane, Tensor};
use crate::view::View;

/// The common shape of operands: rank-0 operands fit any shape, an axis is broadcast if it is in all others.
pub(crate) fn join(operands: &[&Tensor]) -> Result<Vec<Axis>> {
    let mut joined: Option<Vec<Axis>> = None;
    for operand in operands.iter().filter(|t| !t.axes().is_empty()) {
        let axes = operand.axes();
        let common = joined.get_or_insert_with(|| axes.to_vec());
        let same = common.len() == axes.len()
            && common.iter().zip(axes).all(|(a, b)| a.extent == b.extent);
        if !same {
            let shapes: Vec<String> = operands.iter().map(|t| t.describe()).collect();
            let text = format!("operand shapes {} differ", shapes.join(" and "));
            return Err(InterpError::invalid(text));
        }
        for (a, b) in common.iter_mut().zip(axes) {
            a.broadcast &= b.broadcast;
        }
    }
    Ok(joined.unwrap_or_default())
}

/// The view of `operand`, of the same shape or rank 0, in the order of the stored elements of a result with `axes`.
pub(crate) fn view_of(operand: &Tensor, axes: &[Axis]) -> View {
    let extents = axes.iter().map(|a| a.stored());
    match operand.axes().is_empty() {
        true => {
            // Too many elements are refused where the result is made.
            let count = extents.fold(1, usize::saturating_mul);
            View::new(std::iter::once(count), &[0], 0)
        }
        false => View::new(extents, &operand.strides(), 0),
    }
}

/// Fills a part chunk by chunk: `f` computes the lanes of the stored elements from its first argument on.
pub(crate) fn chunks<R: Lane>(mut part: Portion<'_>, mut f: impl FnMut(usize, &mut [R])) {
    let mut lanes = part.scratch::<R>();
    let start = part.range.start;
    for begin in part.range.clone().step_by(CHUNK) {
        let count = CHUNK.min(part.range.end - begin);
        let row = &mut lanes[..count];
        f(begin, row);
        R::store(row, &mut part.data, part.bounds, begin - start);
    }
}

impl Machine<'_> {
    pub(crate) fn kind(&self, dtype: DType) -> Kind {
        Kind::of(dtype, self.is_reference())
    }

    pub(crate) fn unary(&mut self, op: Unary, name: &str, x: &Tensor) -> Result<Tensor> {
        let env = self.env(name, x.dtype());
        let draft = self.draft(x.dtype(), x.axes().to_vec())?;
        let view = view_of(x, x.axes());
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            chunks::<L>(part, |at, row| {
                view.gather(x, at, row);
                L::unary(op, row, &env);
            });
        }))
    }

    /// A function that is defined by others, in the computation type.
    pub(crate) fn formula(&mut self, steps: &[Step], x: &Tensor) -> Result<Tensor> {
        let (dtype, compute) = (x.dtype(), x.dtype().compute());
        let x = match dtype == compute {
            true => x.clone(),
            false => self.cast(x, compute)?,
        };
        let missing = || InterpError::invalid("a formula does not fit its functions");
        let mut values: Vec<Tensor> = Vec::new();
        for step in steps {
            let value = match step {
                Step::Operand => x.clone(),
                Step::Apply(Code::Unary(op), name) => {
                    let x = values.pop().ok_or_else(missing)?;
                    self.unary(*op, name, &x)?
                }
                Step::Apply(Code::Binary(op), name) => {
                    let b = values.pop().ok_or_else(missing)?;
                    let a = values.pop().ok_or_else(missing)?;
                    self.binary(*op, name, &a, &b)?
                }
                Step::Apply(..) => return Err(missing()),
            };
            values.push(value);
        }
        let value = values.pop().ok_or_else(missing)?;
        match dtype == compute {
            true => Ok(value),
            false => self.cast(&value, dtype),
        }
    }

    pub(crate) fn binary(
        &mut self,
        op: Binary,
        name: &str,
        a: &Tensor,
        b: &Tensor,
    ) -> Result<Tensor> {
        let dtype = same_dtype(&[a, b])?;
        let env = self.env(name, dtype);
        let axes = join(&[a, b])?;
        let (view_a, view_b) = (view_of(a, &axes), view_of(b, &axes));
        let draft = self.draft(dtype, axes)?;
        with_lane!(self.kind(dtype), L => self.fill(draft, |part| {
            let mut other = part.scratch::<L>();
            chunks::<L>(part, |at, row| {
                let other = &mut other[..row.len()];
                view_a.gather(a, at, row);
                view_b.gather(b, at, other);
                L::binary(op, row, other, &env);
            });
        }))
    }

    pub(crate) fn test(&mut self, test: Test, x: &Tensor) -> Result<Tensor> {
        let view = view_of(x, x.axes());
        let draft = self.draft(DType::I1, x.axes().to_vec())?;
        with_lane!(self.kind(x.dtype()), L => self.fill(draft, |part| {
            let mut lanes = part.scratch::<L>();
            chunks::<Int>(part, |at, row| {
                let lanes = &mut lanes[..row.len()];
                view.gather(x, at, lanes);
                row.iter_mut().zip(lanes).for_each(|(r, x)| *r = L::test(test, *x));
            });
        }))
    }

    pub(crate) fn compare(
        &mut self,
        predicate: Predicate,
        a: &Tensor,
        b: &Tensor,
    ) -> Result<Tensor> {
        let dtype = same_dtype(&[a, b])?;
        let axes = join(&[a, b])?;
        let (view_a, view_b) = (view_of(a, &axes), view_of(b, &axes));
        let draft = self.draft(DType::I1, axes)?;
        with_lane!(self.kind(dtype), L => self.fill(draft, |part| {
            let mut lanes = [part.scratch::<L>(), part.scratch::<L>()];
            chunks::<Int>(part, |at, row| {
                let [x, y] = &mut lanes;
                let (x, y) = (&mut x[..row.len()], &mut y[..row.len()]);
                view_a.gather(a, at, x);
                view_b.gather(b, at, y);
                let pairs = x.iter().zip(y.iter());
                row.iter_mut().zip(pairs).for_each(|(r, (x, y))| *r = L::compare(predicate, *x, *y));
            });
        }))
    }

    pub(crate) fn select(&mut self, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        let dtype = same_dtype(&[a, b])?;
        let axes = join(&[condition, a, b])?;
        let views = [condition, a, b].map(|t| view_of(t, &axes));
        let draft = self.draft(dtype, axes)?;
        with_lane!(self.kind(dtype), L => self.fill(draft, |part| {
            let mut chosen = part.scratch::<Int>();
            let mut other = part.scratch::<L>();
            chunks::<L>(part, |at, row| {
                let (chosen, other) = (&mut chosen[..row.len()], &mut other[..row.len()]);
                views[0].gather(condition, at, chosen);
                views[1].gather(a, at, row);
                views[2].gather(b, at, other);
                let pairs = chosen.iter().zip(other.iter());
                row.iter_mut().zip(pairs).for_each(|(r, (c, b))| *r = L::select(*c, *r, *b));
            });
        }))
    }

    /// `minimum(maximum(x, low), high)`
    pub(crate) fn clamp(&mut self, x: &Tensor, low: &Tensor, high: &Tensor) -> Result<Tensor> {
        let raised = self.binary(Binary::Maximum, "maximum", x, low)?;
        self.binary(Binary::Minimum, "minimum", &raised, high)
    }

    pub(crate) fn cast(&mut self, x: &Tensor, to: DType) -> Result<Tensor> {
        let from = x.dtype();
        let view = view_of(x, x.axes());
        let draft = self.draft(to, x.axes().to_vec())?;
        let rules = self.rules(to);
        let target = self.kind(to);
        with_lane!(self.kind(from), L => self.fill(draft, |part| {
            let read = |at: usize, lanes: &mut [L]| view.gather(x, at, lanes);
            match target {
                Kind::F32 => convert(part, read, |x: L| x.to_f32(to)),
                Kind::F64 => convert(part, read, |x: L| x.to_f64()),
                Kind::Int => convert(part, read, |x: L| x.to_int(to)),
                Kind::Bounded => convert(part, read, |x: L| x.to_bounded(from, &rules)),
            }
        }))
    }

    pub(crate) fn bitcast(&mut self, x: &Tensor, to: DType) -> Result<Tensor> {
        let from = x.dtype();
        if from.bits() != to.bits() {
            return Err(InterpError::invalid("bitcast changes the width"));
        }
        let view = view_of(x, x.axes());
        let draft = self.draft(to, x.axes().to_vec())?;
        let target = self.kind(to);
        let other = self
            .options
            .sample
            .is_some_and(|sample| sample.number % 2 == 1);
        self.fill(draft, |part| match target {
            // Not by way of f64, which would make a signalling NaN quiet.
            Kind::F32 if to == DType::F32 => {
                reread(part, (x, other), &view, |bits| {
                    f32::from_bits(bits.v as u32)
                });
            }
            Kind::F32 => reread(part, (x, other), &view, |bits| {
                round::f32_from(from_bits(bits.v, to))
            }),
            Kind::F64 => reread(part, (x, other), &view, |bits| {
                f64::from_bits(bits.v as u64)
            }),
            Kind::Int => reread(part, (x, other), &view, |bits| {
                bits.join(bits, round::wrap(bits.v, to))
            }),
            Kind::Bounded => reread(part, (x, other), &view, |bits| match bits.unsure {
                true => Bounded::undecided(from_bits(bits.v, to)),
                false => Bounded::exact(from_bits(bits.v, to)),
            }),
        })
    }
}

fn convert<L: Lane + Number, R: Lane>(
    part: Portion<'_>,
    read: impl Fn(usize, &mut [L]),
    f: impl Fn(L) -> R,
) {
    let mut lanes = part.scratch::<L>();
    chunks::<R>(part, |at, row| {
        let lanes = &mut lanes[..row.len()];
        read(at, lanes);
        row.iter_mut().zip(lanes).for_each(|(r, x)| *r = f(*x));
    });
}

/// Results computed from the bits of stored elements; with `other`, NaNs have other bits.
fn reread<R: Lane>(
    part: Portion<'_>,
    (x, other): (&Tensor, bool),
    view: &View,
    f: impl Fn(Int) -> R,
) {
    chunks::<R>(part, |at, row| {
        view.runs(at, row.len(), |from, step, i, length| {
            for k in 0..length {
                if let Some(r) = row.get_mut(i + k) {
                    let mut found = bits(x, from + k * step);
                    if other && found.unsure && x.data().float(from + k * step).is_nan() {
                        found.v ^= 1;
                    }
                    *r = f(found);
                }
            }
        });
    });
}

/// The bits of stored element `i`, as an integer of the same width. The result is unsure if the compiled value is
/// unknown, or is NaN: the sign and the payload of a computed NaN are unspecified.
fn bits(x: &Tensor, i: usize) -> Int {
    use crate::tensor::Data;
    if let Some(int) = x.int(i) {
        return int;
    }
    let v = match x.data() {
        Data::F32(v) => v.get(i).map(|x| i128::from(x.to_bits() as i32)),
        Data::F16(v) => v.get(i).map(|x| i128::from(x.to_bits() as i16)),
        Data::BF16(v) => v.get(i).map(|x| i128::from(x.to_bits() as i16)),
        Data::F8E4M3FN(v) => v.get(i).map(|x| i128::from(x.0 as i8)),
        Data::F8E5M2(v) => v.get(i).map(|x| i128::from(x.0 as i8)),
        Data::F8E8M0FNU(v) => v.get(i).map(|x| i128::from(x.0 as i8)),
        Data::F4E2M1FN(v) => v.get(i).map(|x| i128::from(x.0 as i8)),
        data => Some(to_bits(data.float(i), x.dtype())),
    };
    Int {
        v: v.unwrap_or(0),
        unsure: x.bounded(i).e != 0.0 || x.data().float(i).is_nan(),
    }
}

fn to_bits(x: f64, dtype: DType) -> i128 {
    match dtype {
        DType::F32 => i128::from(round::f32_from(x).to_bits() as i32),
        DType::F16 => i128::from(round::f16_from(x).to_bits() as i16),
        DType::BF16 => i128::from(round::bf16_from(x).to_bits() as i16),
        _ if dtype.is_storage() => i128::from(small::rounded(dtype, x) as i8),
        _ => x.to_bits().into(),
    }
}

fn from_bits(bits: i128, dtype: DType) -> f64 {
    match dtype {
        DType::F32 => round::widened(dtype, u64::from(bits as u32)),
        DType::F16 | DType::BF16 => round::widened(dtype, u64::from(bits as u16)),
        _ if dtype.is_storage() => small::value(dtype, bits as u8),
        _ => f64::from_bits(bits as u64),
    }
}

fn same_dtype(operands: &[&Tensor]) -> Result<DType> {
    let mut types = operands.iter().map(|t| t.dtype());
    let first = types.next().unwrap_or(DType::F32);
    match types.all(|t| t == first) {
        true => Ok(first),
        false => Err(InterpError::invalid("operand element types differ")),
    }
}

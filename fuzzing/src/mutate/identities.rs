//! Sequences of ops that change nothing. Each function makes an equal value of `x`, or `None` if it does not apply.
//! [`MUTATORS`](super::MUTATORS) lists which are legal; the caller discards a result of another type.

use fuser_dialects::fusion;
use fuser_ir::def::OpDef;
use fuser_ir::types::{Dim, Extent, TensorType};
use fuser_ir::{AttrKind, DType, Value, float};

use super::rewire::Site;

/// Makes an equal value of a tensor.
pub type Make = fn(&mut Site<'_, '_>, Value, &TensorType) -> Option<Value>;

/// Elements that `pad-slice` puts on a side at most.
const MAX_PAD: u64 = 3;
/// Elements that `broadcast-reduction` reduces.
const COPIES: u64 = 3;

fn is_known(x: &TensorType) -> bool {
    x.dims.iter().all(|d| d.extent != Extent::Unknown)
}
/// Nothing stored once.
fn is_plain(x: &TensorType) -> bool {
    x.dims.iter().all(|d| !d.broadcast)
}
/// The axes as plain ones.
fn plain(x: &TensorType) -> Vec<Dim> {
    x.dims.iter().map(|d| Dim::new(d.extent)).collect()
}
fn fixed(dim: &Dim) -> Option<u64> {
    match dim.extent {
        Extent::Static(n) => Some(n),
        _ => None,
    }
}

impl Site<'_, '_> {
    fn unary(&mut self, def: &'static OpDef, x: Value) -> Option<Value> {
        self.builder.value(def, &[x], &[]).ok()
    }
    /// An op with one clause that is a list of integers.
    fn with_dims(&mut self, def: &'static OpDef, x: Value, dims: &[i64]) -> Option<Value> {
        let dims = self.builder.ints("dims", dims);
        self.builder.value(def, &[x], &[dims]).ok()
    }
    fn shaped(&mut self, def: &'static OpDef, x: Value, dims: &[Dim]) -> Option<Value> {
        let shape = self.builder.shape("shape", dims);
        self.builder.value(def, &[x], &[shape]).ok()
    }
    fn cast(&mut self, x: Value, to: DType) -> Option<Value> {
        let to = self.builder.dtype("to", to);
        self.builder.value(&fusion::CAST, &[x], &[to]).ok()
    }
    /// A new outermost axis along which the value repeats.
    fn spread(&mut self, x: Value, of: &TensorType, length: u64) -> Option<Value> {
        let mut dims = plain(of);
        dims.insert(0, Dim::fixed(length));
        let kept: Vec<i64> = (1..dims.len() as i64).collect();
        let clauses = [
            self.builder.ints("dims", &kept),
            self.builder.shape("shape", &dims),
        ];
        self.builder.value(&fusion::BROADCAST, &[x], &clauses).ok()
    }
    /// A scalar constant.
    fn number(&mut self, dtype: DType, number: i64) -> Option<Value> {
        if dtype.is_complex() {
            let parts = [number, 0].map(|number| self.number(dtype.part(), number));
            let [Some(real), Some(imaginary)] = parts else {
                return None;
            };
            return self
                .builder
                .value(&fusion::COMPLEX, &[real, imaginary], &[])
                .ok();
        }
        let ty = self.builder.ir.scalar(dtype);
        let kind = match (dtype, dtype.is_float()) {
            (DType::I1, _) => AttrKind::Bool(number != 0),
            (_, true) => AttrKind::Float {
                bits: float::nearest(dtype, number as f64),
                ty,
            },
            (_, false) => AttrKind::Int {
                value: number.into(),
                ty,
            },
        };
        let value = self.builder.ir.attr(kind);
        let clauses = [("value", value)];
        self.builder
            .typed(&fusion::CONSTANT, &[], &clauses, ty)
            .ok()
    }
    fn with_number(
        &mut self,
        def: &'static OpDef,
        x: Value,
        of: &TensorType,
        number: i64,
    ) -> Option<Value> {
        if of.dtype == DType::I1 {
            return None;
        }
        let number = self.number(of.dtype, number)?;
        self.builder.value(def, &[x, number], &[]).ok()
    }
    /// `length` elements of axis `at` from `start` on.
    fn part(
        &mut self,
        x: Value,
        of: &TensorType,
        at: usize,
        (start, length): (u64, u64),
    ) -> Option<Value> {
        let mut dims = plain(of);
        let mut starts = vec![0; dims.len()];
        dims[at] = Dim::fixed(length);
        starts[at] = start as i64;
        self.window(x, &starts, &dims)
    }
    fn window(&mut self, x: Value, starts: &[i64], dims: &[Dim]) -> Option<Value> {
        let clauses = [
            self.builder.ints("starts", starts),
            self.builder.shape("shape", dims),
        ];
        self.builder.value(&fusion::SLICE, &[x], &clauses).ok()
    }
    fn padded(&mut self, x: Value, of: &TensorType, low: &[i64], high: &[i64]) -> Option<Value> {
        let number = self.number(of.dtype, 1)?;
        let clauses = [
            self.builder.ints("low", low),
            self.builder.ints("high", high),
        ];
        self.builder
            .value(&fusion::PAD, &[x, number], &clauses)
            .ok()
    }
}

/// Flat and back.
pub fn reshape(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    if !is_known(of) || !is_plain(of) {
        return None;
    }
    let ir = &mut site.builder.ir;
    let mut count = ir.extent_as_expr(Extent::Static(1))?;
    for dim in &of.dims {
        count = count.mul(&ir.extent_as_expr(dim.extent)?)?;
    }
    let flat = Dim::new(ir.extent(count)?);
    let flat = site.shaped(&fusion::RESHAPE, x, &[flat])?;
    site.shaped(&fusion::RESHAPE, flat, &of.dims)
}

/// Another order and back.
pub fn permute(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    if of.dims.len() < 2 {
        return None;
    }
    let mut order: Vec<i64> = (0..of.dims.len() as i64).collect();
    site.source.shuffle(&mut order);
    let moved = site.with_dims(&fusion::PERMUTE, x, &order)?;
    site.with_dims(&fusion::PERMUTE, moved, &inverse(&order))
}

/// The order that undoes `order`.
pub fn inverse(order: &[i64]) -> Vec<i64> {
    let mut inverse = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        inverse[from as usize] = to as i64;
    }
    inverse
}

/// A new axis of extent 1, and without it.
pub fn broadcast_squeeze(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let spread = is_known(of).then(|| site.spread(x, of, 1))??;
    site.with_dims(&fusion::SQUEEZE, spread, &[0])
}

/// The greatest of copies.
pub fn broadcast_reduction(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let spread = is_known(of).then(|| site.spread(x, of, COPIES))??;
    site.with_dims(&fusion::MAX, spread, &[0])
}

/// Types that hold every value of another.
fn wider(dtype: DType) -> Vec<DType> {
    let holds = |to: &DType| match dtype {
        DType::F8E4M3FN | DType::F8E5M2 | DType::F4E2M1FN => to.is_float() && !to.is_storage(),
        DType::F8E8M0FNU => matches!(to, DType::BF16 | DType::F32 | DType::F64),
        DType::F16 | DType::BF16 => matches!(to, DType::F32 | DType::F64),
        DType::F32 => *to == DType::F64,
        DType::F64 | DType::C64 | DType::C128 => false,
        _ if to.is_float() => {
            let digits = [DType::F64, DType::F32, DType::F16, DType::BF16]
                .into_iter()
                .zip([53, 24, 11, 8]);
            let digits = digits
                .filter(|(d, _)| d == to)
                .map(|(_, digits)| digits)
                .max();
            dtype.bits() - u32::from(dtype.is_signed()) <= digits.unwrap_or(0)
        }
        _ => {
            let ((low, high), (least, most)) = (to.int_range(), dtype.int_range());
            low <= least && most <= high
        }
    };
    if dtype == DType::C64 {
        return vec![DType::C128];
    }
    DType::REAL
        .into_iter()
        .filter(|to| *to != dtype && holds(to))
        .collect()
}

/// Wider and back.
pub fn cast(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let to = *site.source.pick(&wider(of.dtype))?;
    let wide = site.cast(x, to)?;
    site.cast(wide, of.dtype)
}

/// Other types of the same bits.
pub fn bitcast(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let same = |d: &DType| d.bits() == of.dtype.bits() && *d != of.dtype && *d != DType::I1;
    let all: Vec<DType> = DType::REAL.into_iter().filter(same).collect();
    let to = *site.source.pick(&all)?;
    let to = site.builder.dtype("to", to);
    let bits = site.builder.value(&fusion::BITCAST, &[x], &[to]).ok()?;
    let back = site.builder.dtype("to", of.dtype);
    site.builder.value(&fusion::BITCAST, &[bits], &[back]).ok()
}

/// All of it.
pub fn slice(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let starts = vec![0; of.dims.len()];
    site.window(x, &starts, &plain(of))
}

/// By nothing.
pub fn pad(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let none = vec![0; of.dims.len()];
    site.padded(x, of, &none, &none)
}

/// By something, and cut off again.
pub fn pad_slice(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    if !is_plain(of) || !of.dims.iter().all(|d| fixed(d).is_some()) {
        return None;
    }
    let mut amounts = || -> Vec<i64> {
        let amount = |_: &Dim| site.source.below(MAX_PAD + 1) as i64;
        of.dims.iter().map(amount).collect()
    };
    let (low, high) = (amounts(), amounts());
    let padded = site.padded(x, of, &low, &high)?;
    site.window(padded, &low, &plain(of))
}

/// Concatenates two parts of a value.
pub fn slice_cat(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let known: Vec<usize> = (0..of.dims.len())
        .filter(|i| fixed(&of.dims[*i]).is_some_and(|n| n > 0))
        .collect();
    let at = *site.source.pick(&known)?;
    let length = fixed(&of.dims[at])?;
    let cut = site.source.below(length + 1);
    let first = site.part(x, of, at, (0, cut))?;
    let second = site.part(x, of, at, (cut, length - cut))?;
    let dim = site.builder.int("dim", at as i64);
    site.builder
        .value(&fusion::CAT, &[first, second], &[dim])
        .ok()
}

/// The same tensor.
pub fn copy(site: &mut Site<'_, '_>, x: Value, _: &TensorType) -> Option<Value> {
    site.unary(&fusion::COPY, x)
}

/// The value behind a boundary.
pub fn barrier(site: &mut Site<'_, '_>, x: Value, _: &TensorType) -> Option<Value> {
    site.unary(&fusion::SEGMENT_SET, x)
}

/// `x * 1`; not of complex numbers, whose infinite parts meet a zero.
pub fn mul_one(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    if of.dtype.is_complex() {
        return None;
    }
    site.with_number(&fusion::MUL, x, of, 1)
}

/// `x - 0`
pub fn sub_zero(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    site.with_number(&fusion::SUB, x, of, 0)
}

/// `--x`
pub fn neg_neg(site: &mut Site<'_, '_>, x: Value, _: &TensorType) -> Option<Value> {
    let negative = site.unary(&fusion::NEG, x)?;
    site.unary(&fusion::NEG, negative)
}

/// All bits turned twice.
pub fn not_not(site: &mut Site<'_, '_>, x: Value, _: &TensorType) -> Option<Value> {
    let turned = site.unary(&fusion::NOT, x)?;
    site.unary(&fusion::NOT, turned)
}

/// `true ? x : x`, or `x` where it is not NaN and `x` elsewhere.
pub fn choose(site: &mut Site<'_, '_>, x: Value, of: &TensorType) -> Option<Value> {
    let condition = match of.dtype.is_float() && site.source.chance(1, 2) {
        true => site.unary(&fusion::ISNAN, x)?,
        false => site.number(DType::I1, 1)?,
    };
    site.builder
        .value(&fusion::WHERE, &[condition, x, x], &[])
        .ok()
}

/// The greater of x and x.
pub fn maximum(site: &mut Site<'_, '_>, x: Value, _: &TensorType) -> Option<Value> {
    site.builder.value(&fusion::MAXIMUM, &[x, x], &[]).ok()
}

//! Values: typed elements with axes. An axis may be broadcast: it has an extent, and is stored once.
//!
//! Elements are stored row-major over the axes that are not broadcast. Tensors are cheap to copy: they share elements.

use std::sync::Arc;

use fuser_ir::DType;
use half::{bf16, f16};

use crate::budget::Charge;
use crate::number::{Bounded, F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU, Int, round};

/// The elements of a tensor, by how they are stored.
///
/// In reference mode the elements of every float type are `F64`; else a type has its own variant (`index` is `I64`).
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Data {
    F64(Vec<f64>),
    F32(Vec<f32>),
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    F8E4M3FN(Vec<F8E4M3FN>),
    F8E5M2(Vec<F8E5M2>),
    F8E8M0FNU(Vec<F8E8M0FNU>),
    F4E2M1FN(Vec<F4E2M1FN>),
    I64(Vec<i64>),
    I32(Vec<i32>),
    I16(Vec<i16>),
    I8(Vec<i8>),
    U64(Vec<u64>),
    U32(Vec<u32>),
    U16(Vec<u16>),
    U8(Vec<u8>),
    I1(Vec<bool>),
}

/// Does `$body` with `$v` bound to the vector, whatever its type.
macro_rules! each {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            Data::F64($v) => $body,
            Data::F32($v) => $body,
            Data::F16($v) => $body,
            Data::BF16($v) => $body,
            Data::F8E4M3FN($v) => $body,
            Data::F8E5M2($v) => $body,
            Data::F8E8M0FNU($v) => $body,
            Data::F4E2M1FN($v) => $body,
            Data::I64($v) => $body,
            Data::I32($v) => $body,
            Data::I16($v) => $body,
            Data::I8($v) => $body,
            Data::U64($v) => $body,
            Data::U32($v) => $body,
            Data::U16($v) => $body,
            Data::U8($v) => $body,
            Data::I1($v) => $body,
        }
    };
}

/// `length` times `value`; `None` where there is no memory for them.
pub(crate) fn filled<T: Clone>(value: T, length: usize) -> Option<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(length).ok()?;
    list.resize(length, value);
    Some(list)
}

impl Data {
    /// `length` zeros of `dtype`; `None` where there is no memory for them.
    pub fn zeros(dtype: DType, length: usize) -> Option<Self> {
        Some(match dtype {
            DType::F64 => Self::F64(filled(0.0, length)?),
            DType::F32 => Self::F32(filled(0.0, length)?),
            DType::F16 => Self::F16(filled(f16::ZERO, length)?),
            DType::BF16 => Self::BF16(filled(bf16::ZERO, length)?),
            DType::F8E4M3FN => Self::F8E4M3FN(filled(F8E4M3FN(0), length)?),
            DType::F8E5M2 => Self::F8E5M2(filled(F8E5M2(0), length)?),
            DType::F8E8M0FNU => Self::F8E8M0FNU(filled(F8E8M0FNU(0), length)?),
            DType::F4E2M1FN => Self::F4E2M1FN(filled(F4E2M1FN(0), length)?),
            DType::I64 | DType::Index => Self::I64(filled(0, length)?),
            DType::I32 => Self::I32(filled(0, length)?),
            DType::I16 => Self::I16(filled(0, length)?),
            DType::I8 => Self::I8(filled(0, length)?),
            DType::U64 => Self::U64(filled(0, length)?),
            DType::U32 => Self::U32(filled(0, length)?),
            DType::U16 => Self::U16(filled(0, length)?),
            DType::U8 => Self::U8(filled(0, length)?),
            DType::I1 => Self::I1(filled(false, length)?),
            // A tensor of pairs has two of real parts.
            DType::C64 | DType::C128 => return None,
        })
    }
    /// The elements stored in little-endian `bytes`; `None` if the last element is incomplete, or memory is exhausted.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Self> {
        let size = dtype.bytes() as usize;
        let mut data = Self::zeros(dtype, bytes.len() / size)?;
        data.read(bytes);
        bytes.len().is_multiple_of(size).then_some(data)
    }
    /// Takes the elements that little-endian `bytes` are.
    pub fn read(&mut self, bytes: &[u8]) {
        macro_rules! read {
            ($to:expr, $ty:ty) => {{
                let (words, _) = bytes.as_chunks::<{ size_of::<$ty>() }>();
                let pairs = $to.iter_mut().zip(words);
                pairs.for_each(|(to, word)| *to = <$ty>::from_le_bytes(*word));
            }};
        }
        match self {
            Self::F64(to) => read!(to, f64),
            Self::F32(to) => read!(to, f32),
            Self::F16(to) => read!(to, f16),
            Self::BF16(to) => read!(to, bf16),
            Self::F8E4M3FN(to) => read!(to, F8E4M3FN),
            Self::F8E5M2(to) => read!(to, F8E5M2),
            Self::F8E8M0FNU(to) => read!(to, F8E8M0FNU),
            Self::F4E2M1FN(to) => read!(to, F4E2M1FN),
            Self::I64(to) => read!(to, i64),
            Self::I32(to) => read!(to, i32),
            Self::I16(to) => read!(to, i16),
            Self::I8(to) => read!(to, i8),
            Self::U64(to) => read!(to, u64),
            Self::U32(to) => read!(to, u32),
            Self::U16(to) => read!(to, u16),
            Self::U8(to) => read!(to, u8),
            Self::I1(to) => to.iter_mut().zip(bytes).for_each(|(to, b)| *to = *b != 0),
        }
    }
    /// Writes the elements to `bytes`, little-endian.
    pub fn write(&self, bytes: &mut [u8]) {
        macro_rules! write {
            ($from:expr) => {{
                let size = size_of_val($from.as_slice()) / $from.len().max(1);
                let words = bytes.chunks_exact_mut(size.max(1)).zip($from);
                words.for_each(|(word, x)| word.copy_from_slice(&x.to_le_bytes()));
            }};
        }
        match self {
            Self::F64(v) => write!(v),
            Self::F32(v) => write!(v),
            Self::F16(v) => write!(v),
            Self::BF16(v) => write!(v),
            Self::F8E4M3FN(v) => write!(v),
            Self::F8E5M2(v) => write!(v),
            Self::F8E8M0FNU(v) => write!(v),
            Self::F4E2M1FN(v) => write!(v),
            Self::I64(v) => write!(v),
            Self::I32(v) => write!(v),
            Self::I16(v) => write!(v),
            Self::I8(v) => write!(v),
            Self::U64(v) => write!(v),
            Self::U32(v) => write!(v),
            Self::U16(v) => write!(v),
            Self::U8(v) => write!(v),
            Self::I1(v) => bytes.iter_mut().zip(v).for_each(|(b, x)| *b = u8::from(*x)),
        }
    }
    /// The elements as little-endian bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes() as usize];
        self.write(&mut bytes);
        bytes
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }
    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Bytes that the elements take here.
    pub fn bytes(&self) -> u64 {
        each!(self, v => std::mem::size_of_val(v.as_slice()) as u64)
    }
    /// True if elements of `dtype` may be stored in this representation, outside reference mode.
    pub fn suits(&self, dtype: DType) -> bool {
        matches!(
            (self, dtype),
            (Self::F64(_), DType::F64)
                | (Self::F32(_), DType::F32)
                | (Self::F16(_), DType::F16)
                | (Self::BF16(_), DType::BF16)
                | (Self::F8E4M3FN(_), DType::F8E4M3FN)
                | (Self::F8E5M2(_), DType::F8E5M2)
                | (Self::F8E8M0FNU(_), DType::F8E8M0FNU)
                | (Self::F4E2M1FN(_), DType::F4E2M1FN)
                | (Self::I64(_), DType::I64 | DType::Index)
                | (Self::I32(_), DType::I32)
                | (Self::I16(_), DType::I16)
                | (Self::I8(_), DType::I8)
                | (Self::U64(_), DType::U64)
                | (Self::U32(_), DType::U32)
                | (Self::U16(_), DType::U16)
                | (Self::U8(_), DType::U8)
                | (Self::I1(_), DType::I1)
        )
    }
    /// Element `i` as a float, exact except for integers beyond 2^53. NaN if there is no such element.
    pub fn float(&self, i: usize) -> f64 {
        let value = match self {
            Self::F64(v) => v.get(i).copied(),
            Self::F32(v) => v
                .get(i)
                .map(|x| round::widened(DType::F32, x.to_bits().into())),
            Self::F16(v) => v
                .get(i)
                .map(|x| round::widened(DType::F16, x.to_bits().into())),
            Self::BF16(v) => v
                .get(i)
                .map(|x| round::widened(DType::BF16, x.to_bits().into())),
            Self::F8E4M3FN(v) => v.get(i).map(|x| x.to_f64()),
            Self::F8E5M2(v) => v.get(i).map(|x| x.to_f64()),
            Self::F8E8M0FNU(v) => v.get(i).map(|x| x.to_f64()),
            Self::F4E2M1FN(v) => v.get(i).map(|x| x.to_f64()),
            other => other.int(i).map(|x| x as f64),
        };
        value.unwrap_or(f64::NAN)
    }
    /// Element `i` of an integer type.
    pub fn int(&self, i: usize) -> Option<i128> {
        match self {
            Self::I64(v) => v.get(i).map(|x| i128::from(*x)),
            Self::I32(v) => v.get(i).map(|x| i128::from(*x)),
            Self::I16(v) => v.get(i).map(|x| i128::from(*x)),
            Self::I8(v) => v.get(i).map(|x| i128::from(*x)),
            Self::U64(v) => v.get(i).map(|x| i128::from(*x)),
            Self::U32(v) => v.get(i).map(|x| i128::from(*x)),
            Self::U16(v) => v.get(i).map(|x| i128::from(*x)),
            Self::U8(v) => v.get(i).map(|x| i128::from(*x)),
            Self::I1(v) => v.get(i).map(|x| i128::from(*x)),
            _ => None,
        }
    }
    /// The whole as a place to write to.
    pub fn as_mut(&mut self) -> DataMut<'_> {
        match self {
            Self::F64(v) => DataMut::F64(v),
            Self::F32(v) => DataMut::F32(v),
            Self::F16(v) => DataMut::F16(v),
            Self::BF16(v) => DataMut::BF16(v),
            Self::F8E4M3FN(v) => DataMut::F8E4M3FN(v),
            Self::F8E5M2(v) => DataMut::F8E5M2(v),
            Self::F8E8M0FNU(v) => DataMut::F8E8M0FNU(v),
            Self::F4E2M1FN(v) => DataMut::F4E2M1FN(v),
            Self::I64(v) => DataMut::I64(v),
            Self::I32(v) => DataMut::I32(v),
            Self::I16(v) => DataMut::I16(v),
            Self::I8(v) => DataMut::I8(v),
            Self::U64(v) => DataMut::U64(v),
            Self::U32(v) => DataMut::U32(v),
            Self::U16(v) => DataMut::U16(v),
            Self::U8(v) => DataMut::U8(v),
            Self::I1(v) => DataMut::I1(v),
        }
    }
}

/// A part of a tensor's elements, to be written.
#[allow(missing_docs)]
pub enum DataMut<'a> {
    F64(&'a mut [f64]),
    F32(&'a mut [f32]),
    F16(&'a mut [f16]),
    BF16(&'a mut [bf16]),
    F8E4M3FN(&'a mut [F8E4M3FN]),
    F8E5M2(&'a mut [F8E5M2]),
    F8E8M0FNU(&'a mut [F8E8M0FNU]),
    F4E2M1FN(&'a mut [F4E2M1FN]),
    I64(&'a mut [i64]),
    I32(&'a mut [i32]),
    I16(&'a mut [i16]),
    I8(&'a mut [i8]),
    U64(&'a mut [u64]),
    U32(&'a mut [u32]),
    U16(&'a mut [u16]),
    U8(&'a mut [u8]),
    I1(&'a mut [bool]),
}

/// Splits `$data` at `$at` into two of its variants.
macro_rules! split {
    ($data:expr, $at:expr, $($variant:ident),*) => {
        match $data {
            $(DataMut::$variant(v) => {
                let (a, b) = v.split_at_mut($at.min(v.len()));
                (DataMut::$variant(a), DataMut::$variant(b))
            })*
        }
    };
}

impl<'a> DataMut<'a> {
    /// The first `at` elements, and the others.
    pub fn split_at(self, at: usize) -> (DataMut<'a>, DataMut<'a>) {
        split!(
            self, at, F64, F32, F16, BF16, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, I64, I32, I16,
            I8, U64, U32, U16, U8, I1
        )
    }
}

/// One axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Its length.
    pub extent: usize,
    /// True if one element is stored for the whole axis; never set in tensors for an axis of one element.
    pub broadcast: bool,
}

impl Axis {
    /// An axis that is stored once if `broadcast`; plain where it has one element.
    pub const fn new(extent: usize, broadcast: bool) -> Self {
        Self {
            extent,
            broadcast: broadcast && extent != 1,
        }
    }
    /// An ordinary axis.
    pub const fn plain(extent: usize) -> Self {
        Self {
            extent,
            broadcast: false,
        }
    }
    /// The number of elements stored along the axis.
    pub const fn stored(self) -> usize {
        if self.broadcast { 1 } else { self.extent }
    }
}

/// Elements and what they cost.
#[derive(Debug)]
struct Storage {
    data: Data,
    bounds: Option<Vec<f64>>,
    _charge: Charge,
}

/// A tensor; a scalar is one of rank 0, a vector one of rank 1.
#[derive(Clone, Debug)]
pub struct Tensor {
    dtype: DType,
    axes: Vec<Axis>,
    /// The elements; of complex numbers the real parts.
    storage: Arc<Storage>,
    imaginary: Option<Arc<Storage>>,
}

/// The product of `extents`, if it is at most `usize::MAX`; 0 if any of them is.
pub fn product(extents: impl IntoIterator<Item = usize>) -> Option<usize> {
    let mut product = Some(1usize);
    for extent in extents {
        product = match (product, extent) {
            (_, 0) => return Some(0),
            (product, extent) => product.and_then(|p| p.checked_mul(extent)),
        };
    }
    product
}

impl Tensor {
    /// A tensor of `data`, stored row-major over the axes that are not broadcast; `None` if the number of elements or
    /// the element type does not match.
    pub fn new(dtype: DType, axes: Vec<Axis>, data: Data) -> Option<Self> {
        data.suits(dtype)
            .then(|| Self::with_bounds(dtype, axes, data, None, Charge::default()))?
    }
    /// A tensor without broadcast axes.
    pub fn dense(dtype: DType, shape: &[usize], data: Data) -> Option<Self> {
        let axes = shape.iter().map(|&extent| Axis::plain(extent)).collect();
        Self::new(dtype, axes, data)
    }
    /// A tensor of little-endian bytes; `None` if their number does not match the shape.
    pub fn from_bytes(dtype: DType, axes: Vec<Axis>, bytes: &[u8]) -> Option<Self> {
        if !dtype.is_complex() {
            return Self::new(dtype, axes, Data::from_bytes(dtype, bytes)?);
        }
        let part = dtype.part();
        let size = part.bytes() as usize;
        let half = |skip: usize| -> Vec<u8> {
            let words = bytes.chunks(size).skip(skip).step_by(2);
            words.flatten().copied().collect()
        };
        let [re, im] = [0, 1].map(|skip| Self::from_bytes(part, axes.clone(), &half(skip)));
        Self::of_parts(re?, im?)
    }
    /// The complex tensor of two real ones; `None` if their shapes differ, or their type has no complex counterpart.
    pub fn of_parts(real: Self, imaginary: Self) -> Option<Self> {
        let fits = real.axes == imaginary.axes && real.dtype == imaginary.dtype;
        Some(Self {
            dtype: real.dtype.complex().filter(|_| fits)?,
            imaginary: Some(imaginary.storage),
            ..real
        })
    }
    /// The real and the imaginary parts of a complex tensor; `None` for real ones.
    pub fn parts(&self) -> Option<(Self, Self)> {
        let part = |storage: &Arc<Storage>| Self {
            dtype: self.dtype.part(),
            axes: self.axes.clone(),
            storage: storage.clone(),
            imaginary: None,
        };
        let imaginary = self.imaginary.as_ref()?;
        Some((part(&self.storage), part(imaginary)))
    }
    /// Writes the stored elements to `bytes`, little-endian.
    pub fn write(&self, bytes: &mut [u8]) {
        let Some((re, im)) = self.parts() else {
            return self.data().write(bytes);
        };
        let size = self.dtype.part().bytes() as usize;
        let (re, im) = (re.to_bytes(), im.to_bytes());
        let pairs = re.chunks(size).zip(im.chunks(size));
        let words = bytes.chunks_mut(size).zip(pairs.flat_map(|(a, b)| [a, b]));
        words.for_each(|(to, from)| to.copy_from_slice(from));
    }
    /// The stored elements as little-endian bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = if self.imaginary.is_some() { 2 } else { 1 };
        let mut bytes = vec![0; parts * self.data().bytes() as usize];
        self.write(&mut bytes);
        bytes
    }
    /// An `index` scalar.
    pub fn index(value: i64) -> Self {
        Self {
            dtype: DType::Index,
            axes: Vec::new(),
            storage: Arc::new(Storage {
                data: Data::I64(vec![value]),
                bounds: None,
                _charge: Charge::default(),
            }),
            imaginary: None,
        }
    }
    pub(crate) fn with_bounds(
        dtype: DType,
        axes: Vec<Axis>,
        data: Data,
        bounds: Option<Vec<f64>>,
        charge: Charge,
    ) -> Option<Self> {
        let normal = |a: Axis| Axis::new(a.extent, a.broadcast);
        let axes: Vec<Axis> = axes.into_iter().map(normal).collect();
        let stored = product(axes.iter().map(|a| a.stored()));
        if stored != Some(data.len()) || bounds.as_ref().is_some_and(|b| b.len() != data.len()) {
            return None;
        }
        let storage = Arc::new(Storage {
            data,
            bounds,
            _charge: charge,
        });
        Some(Self {
            dtype,
            axes,
            storage,
            imaginary: None,
        })
    }
    /// The same elements under other axes; `None` where their number differs.
    pub(crate) fn with_axes(&self, axes: Vec<Axis>) -> Option<Self> {
        let stored = product(axes.iter().map(|a| a.stored()))?;
        (stored == self.stored_len()).then(|| Self {
            axes,
            ..self.clone()
        })
    }
    /// This tensor with other axes, to speak of shapes only: its elements must not be read.
    pub(crate) fn with_axes_unchecked(&self, axes: Vec<Axis>) -> Self {
        Self {
            axes,
            ..self.clone()
        }
    }
    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// Axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }
    /// Extents.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(|a| a.extent).collect()
    }
    /// The stored elements; of complex numbers the real parts.
    pub fn data(&self) -> &Data {
        &self.storage.data
    }
    /// Reference mode: the error bound of each stored element, infinite if it is unknown; `None` if all are zero.
    pub fn bounds(&self) -> Option<&[f64]> {
        self.storage.bounds.as_deref()
    }
    /// Bytes that the elements and their bounds take.
    pub fn held_bytes(&self) -> u64 {
        let held =
            |s: &Arc<Storage>| s.data.bytes() + s.bounds.as_ref().map_or(0, |b| 8 * b.len() as u64);
        held(&self.storage) + self.imaginary.as_ref().map_or(0, held)
    }
    /// Number of stored elements.
    pub fn stored_len(&self) -> usize {
        self.storage.data.len()
    }
    /// Number of elements that there are logically, saturated.
    pub fn logical_len(&self) -> usize {
        product(self.axes.iter().map(|a| a.extent)).unwrap_or(usize::MAX)
    }
    /// Stride of each axis in stored elements; 0 for broadcast axes.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![0; self.axes.len()];
        let mut stride = 1usize;
        for (axis, slot) in self.axes.iter().zip(&mut strides).rev() {
            if !axis.broadcast {
                *slot = stride;
                stride = stride.saturating_mul(axis.extent);
            }
        }
        strides
    }
    /// Stored element `i` as a float with its bound.
    pub fn bounded(&self, i: usize) -> Bounded {
        let e = self.bounds().and_then(|b| b.get(i).copied());
        Bounded::new(self.data().float(i), e.unwrap_or(0.0))
    }
    /// Stored element `i` of an integer tensor.
    pub fn int(&self, i: usize) -> Option<Int> {
        let unsure = self
            .bounds()
            .and_then(|b| b.get(i))
            .is_some_and(|e| *e > 0.0);
        let v = self.data().int(i)?;
        Some(Int { v, unsure })
    }
    /// The one element of an integer scalar.
    pub fn as_int(&self) -> Option<i64> {
        let scalar = self.stored_len() == 1;
        let value = scalar.then(|| self.data().int(0)).flatten();
        i64::try_from(value?).ok()
    }
    /// `8x[b]4xf32`, for messages.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for axis in &self.axes {
            let mark = if axis.broadcast { "b" } else { "" };
            text.push_str(&format!("{mark}{}x", axis.extent));
        }
        text + self.dtype.name()
    }
}

/// Loading of lanes from stored elements, and storing.
pub(crate) trait Lane: Copy + Default + Send + Sync {
    /// Reads `out.len()` elements from `start` on, `step` apart.
    fn load(source: &Tensor, start: usize, step: usize, out: &mut [Self]);
    /// Writes `values`, rounded or wrapped to the type; `bounds` is written where a bound is not zero.
    fn store(values: &[Self], to: &mut DataMut<'_>, bounds: &mut [f64], at: usize);
}

fn strided<T: Copy, L>(from: &[T], start: usize, step: usize, out: &mut [L], f: impl Fn(T) -> L) {
    if step == 1 {
        let run = from.get(start..).unwrap_or(&[]);
        out.iter_mut().zip(run).for_each(|(o, x)| *o = f(*x));
        return;
    }
    for (i, o) in out.iter_mut().enumerate() {
        if let Some(x) = from.get(start + i * step) {
            *o = f(*x);
        }
    }
}

fn write<T, L: Copy>(to: &mut [T], at: usize, values: &[L], f: impl Fn(L) -> T) {
    let to = to.get_mut(at..).unwrap_or(&mut []);
    to.iter_mut().zip(values).for_each(|(t, v)| *t = f(*v));
}

fn widened(x: f32) -> f64 {
    round::widened(DType::F32, x.to_bits().into())
}

impl Lane for f32 {
    fn load(source: &Tensor, start: usize, step: usize, out: &mut [Self]) {
        match source.data() {
            Data::F32(v) => strided(v, start, step, out, |x| x),
            Data::F16(v) => strided(v, start, step, out, |x| {
                round::f32_of(DType::F16, x.to_bits())
            }),
            Data::BF16(v) => strided(v, start, step, out, |x| {
                round::f32_of(DType::BF16, x.to_bits())
            }),
            Data::F8E4M3FN(v) => strided(v, start, step, out, |x| round::f32_from(x.to_f64())),
            Data::F8E5M2(v) => strided(v, start, step, out, |x| round::f32_from(x.to_f64())),
            Data::F8E8M0FNU(v) => strided(v, start, step, out, |x| round::f32_from(x.to_f64())),
            Data::F4E2M1FN(v) => strided(v, start, step, out, |x| round::f32_from(x.to_f64())),
            _ => {}
        }
    }
    fn store(values: &[Self], to: &mut DataMut<'_>, _: &mut [f64], at: usize) {
        match to {
            DataMut::F32(t) => write(t, at, values, |x| x),
            DataMut::F16(t) => write(t, at, values, |x| round::f16_from(widened(x))),
            DataMut::BF16(t) => write(t, at, values, |x| round::bf16_from(widened(x))),
            DataMut::F8E4M3FN(t) => write(t, at, values, |x| F8E4M3FN::from_f64(widened(x))),
            DataMut::F8E5M2(t) => write(t, at, values, |x| F8E5M2::from_f64(widened(x))),
            DataMut::F8E8M0FNU(t) => write(t, at, values, |x| F8E8M0FNU::from_f64(widened(x))),
            DataMut::F4E2M1FN(t) => write(t, at, values, |x| F4E2M1FN::from_f64(widened(x))),
            _ => {}
        }
    }
}

impl Lane for f64 {
    fn load(source: &Tensor, start: usize, step: usize, out: &mut [Self]) {
        if let Data::F64(v) = source.data() {
            strided(v, start, step, out, |x| x);
        }
    }
    fn store(values: &[Self], to: &mut DataMut<'_>, _: &mut [f64], at: usize) {
        if let DataMut::F64(t) = to {
            write(t, at, values, |x| x);
        }
    }
}

impl Lane for Int {
    fn load(source: &Tensor, start: usize, step: usize, out: &mut [Self]) {
        match source.data() {
            Data::I64(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::I32(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::I16(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::I8(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::U64(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::U32(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::U16(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::U8(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            Data::I1(v) => strided(v, start, step, out, |x| Int::sure(x.into())),
            _ => {}
        }
        if let Some(bounds) = source.bounds() {
            for (i, o) in out.iter_mut().enumerate() {
                o.unsure = bounds.get(start + i * step).is_some_and(|e| *e > 0.0);
            }
        }
    }
    fn store(values: &[Self], to: &mut DataMut<'_>, bounds: &mut [f64], at: usize) {
        match to {
            DataMut::I64(t) => write(t, at, values, |x| x.v as i64),
            DataMut::I32(t) => write(t, at, values, |x| x.v as i32),
            DataMut::I16(t) => write(t, at, values, |x| x.v as i16),
            DataMut::I8(t) => write(t, at, values, |x| x.v as i8),
            DataMut::U64(t) => write(t, at, values, |x| x.v as u64),
            DataMut::U32(t) => write(t, at, values, |x| x.v as u32),
            DataMut::U16(t) => write(t, at, values, |x| x.v as u16),
            DataMut::U8(t) => write(t, at, values, |x| x.v as u8),
            DataMut::I1(t) => write(t, at, values, |x| round::wrap(x.v, DType::I1) != 0),
            _ => {}
        }
        if values.iter().any(|x| x.unsure) {
            write(bounds, at, values, |x| {
                if x.unsure { f64::INFINITY } else { 0.0 }
            });
        }
    }
}

impl Lane for Bounded {
    fn load(source: &Tensor, start: usize, step: usize, out: &mut [Self]) {
        match source.data() {
            Data::F64(v) => strided(v, start, step, out, Bounded::exact),
            Data::F32(v) => strided(v, start, step, out, |x| Bounded::exact(x.into())),
            Data::F16(v) => strided(v, start, step, out, |x| {
                Bounded::exact(round::widened(DType::F16, x.to_bits().into()))
            }),
            Data::BF16(v) => strided(v, start, step, out, |x| {
                Bounded::exact(round::widened(DType::BF16, x.to_bits().into()))
            }),
            Data::F8E4M3FN(v) => strided(v, start, step, out, |x| Bounded::exact(x.to_f64())),
            Data::F8E5M2(v) => strided(v, start, step, out, |x| Bounded::exact(x.to_f64())),
            Data::F8E8M0FNU(v) => strided(v, start, step, out, |x| Bounded::exact(x.to_f64())),
            Data::F4E2M1FN(v) => strided(v, start, step, out, |x| Bounded::exact(x.to_f64())),
            _ => {}
        }
        let Some(bounds) = source.bounds() else {
            return;
        };
        if step == 1 {
            let run = bounds.get(start..).unwrap_or(&[]);
            out.iter_mut().zip(run).for_each(|(o, e)| o.e = *e);
            return;
        }
        for (i, o) in out.iter_mut().enumerate() {
            o.e = bounds.get(start + i * step).copied().unwrap_or(0.0);
        }
    }
    fn store(values: &[Self], to: &mut DataMut<'_>, bounds: &mut [f64], at: usize) {
        if let DataMut::F64(t) = to {
            write(t, at, values, |x| x.v);
        }
        if values.iter().any(|x| x.e != 0.0) {
            write(bounds, at, values, |x| x.e);
        }
    }
}

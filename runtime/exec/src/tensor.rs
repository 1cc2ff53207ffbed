//! Tensors in host memory.
//!
//! A [`HostTensor`] is dense over its stored axes, row-major unless its order says otherwise; an axis marked `broadcast` is
//! stored once, whatever its extent. Its memory is aligned to 64 bytes and comes from a [`Heap`].
//!
//! Elements that share a byte are stored as callers see them: consecutively, the first in the low bits.
//! [`HostTensor::unpacked`] gives access to single elements.

use std::borrow::Cow;
use std::fmt;

use fuser_artifact::DType;
use fuser_artifact::limits::MAX_RANK;

use crate::element;
use crate::memory::{Heap, Memory, MemoryError};
use crate::small;

/// An axis of a tensor with its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub extent: usize,
    /// Stored once.
    pub broadcast: bool,
}

impl Axis {
    pub fn stored(extent: usize) -> Axis {
        Axis {
            extent,
            broadcast: false,
        }
    }

    pub fn broadcast(extent: usize) -> Axis {
        Axis {
            extent,
            broadcast: true,
        }
    }

    /// The extent in memory.
    pub fn stored_extent(self) -> usize {
        if self.broadcast { 1 } else { self.extent }
    }
}

/// A shape as people write it: `56x1024`, `b1024` for an axis that is stored once, `scalar` for no axes.
pub struct Shape<'a>(pub &'a [Axis]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("scalar");
        }
        for (position, axis) in self.0.iter().enumerate() {
            let cross = if position > 0 { "x" } else { "" };
            let mark = if axis.broadcast { "b" } else { "" };
            write!(f, "{cross}{mark}{}", axis.extent)?;
        }
        Ok(())
    }
}

/// The reason that a tensor cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorError {
    Memory(MemoryError),
    Rank {
        rank: usize,
    },
    /// The data are not as many bytes as the shape says.
    Length {
        expected: usize,
        found: usize,
    },
    /// A tensor of one shape is wanted as one of another.
    Shape {
        expected: String,
        found: String,
    },
    /// An axis is to be stored once, but the elements differ along it.
    NotRepeated {
        axis: usize,
    },
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TensorError::Memory(error) => error.fmt(f),
            TensorError::Rank { rank } => write!(f, "{rank} axes, at most {MAX_RANK} are possible"),
            TensorError::Length { expected, found } => {
                write!(f, "{found} bytes of data, expected {expected}")
            }
            TensorError::Shape { expected, found } => {
                write!(f, "shape {found}, expected {expected}")
            }
            TensorError::NotRepeated { axis } => write!(
                f,
                "axis {axis} is a broadcast axis, but the elements along it differ"
            ),
        }
    }
}

impl std::error::Error for TensorError {}

impl From<MemoryError> for TensorError {
    fn from(error: MemoryError) -> TensorError {
        TensorError::Memory(error)
    }
}

/// A tensor in host memory.
#[derive(Debug)]
pub struct HostTensor {
    dtype: DType,
    axes: Vec<Axis>,
    /// Axes from the outermost to the innermost in memory; empty for row-major.
    order: Vec<usize>,
    data: Memory,
}

impl HostTensor {
    /// A tensor of zeros.
    pub fn zeros(heap: &Heap, dtype: DType, axes: &[Axis]) -> Result<HostTensor, TensorError> {
        let bytes = stored_bytes(dtype, axes)?;
        let data = heap.allocate(bytes)?;
        let (axes, order) = (axes.to_vec(), Vec::new());
        Ok(HostTensor {
            dtype,
            axes,
            order,
            data,
        })
    }

    /// This memory with its axes in the storage order `order`. An invalid order is ignored.
    pub(crate) fn laid_out(mut self, order: &[u32]) -> HostTensor {
        let mut sorted: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
        self.order = sorted.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.axes.len()) {
            self.order.clear();
        }
        self
    }

    /// A tensor with these bytes: its stored elements, row-major, little-endian.
    pub fn from_bytes(
        heap: &Heap,
        dtype: DType,
        axes: &[Axis],
        bytes: &[u8],
    ) -> Result<HostTensor, TensorError> {
        let mut tensor = HostTensor::zeros(heap, dtype, axes)?;
        let (expected, found) = (tensor.data.len(), bytes.len());
        if expected != found {
            return Err(TensorError::Length { expected, found });
        }
        tensor.data.copy_from_slice(bytes);
        Ok(tensor)
    }

    /// A tensor whose stored elements are these numbers, each rounded to the type.
    pub fn from_f64(
        heap: &Heap,
        dtype: DType,
        axes: &[Axis],
        values: &[f64],
    ) -> Result<HostTensor, TensorError> {
        let mut tensor = HostTensor::zeros(heap, dtype, axes)?;
        if dtype.per_byte() > 1 {
            let codes = values.iter().map(|&value| small::from_f64(dtype, value));
            let codes: Vec<u8> = codes.collect();
            return HostTensor::from_elements(heap, dtype, axes, &codes);
        }
        let (expected, found) = (
            tensor.data.len(),
            values.len().saturating_mul(dtype.bytes()),
        );
        if expected != found {
            return Err(TensorError::Length { expected, found });
        }
        let elements = tensor.data.chunks_exact_mut(dtype.bytes()).zip(values);
        elements.for_each(|(to, value)| {
            to.copy_from_slice(element::from_f64(dtype, *value).as_bytes())
        });
        Ok(tensor)
    }

    /// A tensor of these elements, each in separate bytes, row-major, little-endian.
    pub fn from_elements(
        heap: &Heap,
        dtype: DType,
        axes: &[Axis],
        bytes: &[u8],
    ) -> Result<HostTensor, TensorError> {
        match dtype.per_byte() {
            1 => HostTensor::from_bytes(heap, dtype, axes, bytes),
            _ => HostTensor::from_bytes(heap, DType::U8, axes, bytes)?.packed(heap, dtype),
        }
    }

    /// The stored elements in row-major order, little-endian, each in separate bytes.
    pub fn elements(&self) -> Cow<'_, [u8]> {
        if self.dtype.per_byte() == 1 {
            return self.row_major();
        }
        let elements = self.positions(&self.axes, &[]);
        Cow::Owned(elements.filter_map(|at| self.code(at)).collect())
    }

    /// The tensor with each element in a byte of its own. Types whose elements share bytes become `ui8` codes.
    pub fn unpacked(&self, heap: &Heap) -> Result<HostTensor, TensorError> {
        let shared = self.dtype.per_byte();
        if shared == 1 {
            return self.try_clone(heap);
        }
        let mut codes = HostTensor::zeros(heap, DType::U8, &self.axes)?;
        for (at, code) in codes.data.iter_mut().enumerate() {
            *code = self.code(at).unwrap_or_default();
        }
        codes.order.clone_from(&self.order);
        Ok(codes)
    }

    /// Codes as elements that share bytes: the inverse of [`HostTensor::unpacked`].
    pub fn packed(&self, heap: &Heap, dtype: DType) -> Result<HostTensor, TensorError> {
        let mut elements = HostTensor::zeros(heap, dtype, &self.axes)?;
        for (byte, codes) in elements
            .data
            .iter_mut()
            .zip(self.data.chunks(dtype.per_byte()))
        {
            *byte = small::together(dtype, codes);
        }
        elements.order.clone_from(&self.order);
        Ok(elements)
    }

    /// A tensor in memory that is there already.
    pub(crate) fn from_memory(
        dtype: DType,
        axes: Vec<Axis>,
        data: Memory,
    ) -> Result<HostTensor, TensorError> {
        let (expected, found) = (stored_bytes(dtype, &axes)?, data.len());
        if expected != found {
            return Err(TensorError::Length { expected, found });
        }
        let order = Vec::new();
        Ok(HostTensor {
            dtype,
            axes,
            order,
            data,
        })
    }

    /// The memory alone.
    pub(crate) fn into_memory(self) -> Memory {
        self.data
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The extents, broadcast axes with theirs.
    pub fn extents(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.extent).collect()
    }

    /// The number of elements in memory.
    pub fn stored_elements(&self) -> usize {
        self.axes.iter().map(|axis| axis.stored_extent()).product()
    }

    /// The axes from the outermost to the innermost in memory; empty for row-major.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The stored elements in memory order, little-endian. [`HostTensor::row_major`] returns them in row-major order.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    /// The stored elements in row-major order, little-endian.
    pub fn row_major(&self) -> Cow<'_, [u8]> {
        if self.strides() == strides(&self.axes, &[]) {
            return Cow::Borrowed(&self.data);
        }
        let shared = self.dtype.per_byte();
        if shared > 1 {
            let codes = self.elements();
            let bytes = codes.chunks(shared);
            return Cow::Owned(
                bytes
                    .map(|codes| small::together(self.dtype, codes))
                    .collect(),
            );
        }
        let elements = self.positions(&self.axes, &[]);
        let size = self.dtype.bytes();
        let bytes = elements.filter_map(|at| self.data.get(at * size..(at + 1) * size));
        Cow::Owned(bytes.flatten().copied().collect())
    }

    /// The code of the element at a position in memory, for types whose elements share bytes.
    pub(crate) fn code(&self, at: usize) -> Option<u8> {
        let shared = self.dtype.per_byte();
        let byte = self.data.get(at / shared).filter(|_| shared > 1)?;
        Some(small::part(self.dtype, *byte, at % shared))
    }

    /// The element at an index, in the fewest digits that parse back to it; `None` if the index is out of bounds.
    pub fn element_text(&self, index: &[usize]) -> Option<String> {
        let inside = index.iter().zip(&self.axes).all(|(i, a)| *i < a.extent);
        let steps = self.strides();
        let at = index.iter().zip(&steps).map(|(i, step)| i * step).sum();
        let size = self.dtype.bytes();
        match self.dtype.per_byte() {
            _ if !inside || index.len() != self.axes.len() => None,
            1 => element::text(self.dtype, self.data.get(at * size..(at + 1) * size)?),
            _ => element::text(self.dtype, &[self.code(at)?]),
        }
    }

    /// The stored elements as `f64`, row-major.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let size = self.dtype.bytes();
        let elements = self.positions(&self.axes, &[]);
        elements.filter_map(move |at| match self.dtype.per_byte() {
            1 => element::to_f64(self.dtype, self.data.get(at * size..(at + 1) * size)?),
            _ => Some(small::to_f64(self.dtype, self.code(at)?)),
        })
    }

    /// The strides of the axes in elements; 0 along axes with one stored element.
    fn strides(&self) -> Vec<usize> {
        strides(&self.axes, &self.order)
    }

    /// For each stored element of a tensor with these axes in this storage order, the element's position here.
    ///
    /// The shapes have the same rank. An axis that is stored once here does not change the position.
    pub(crate) fn positions(
        &self,
        axes: &[Axis],
        order: &[usize],
    ) -> impl Iterator<Item = usize> + use<> {
        let strides = self.strides();
        let place = |i: usize| order.get(i).copied().unwrap_or(i);
        let walked: Vec<usize> = (0..axes.len()).map(place).collect();
        let extents = walked.iter().filter_map(|&i| axes.get(i));
        let extents: Vec<usize> = extents.map(|axis| axis.stored_extent()).collect();
        let steps = walked.iter().filter_map(|&i| strides.get(i));
        walk_strided(extents, steps.copied().collect())
    }

    /// True if the tensor has these axes and this storage order.
    pub(crate) fn lies_as(&self, axes: &[Axis], order: &[usize]) -> bool {
        self.axes == axes && self.strides() == strides(axes, order)
    }

    /// The address of the data, for handing to a kernel.
    pub(crate) fn address(&self) -> *mut u8 {
        self.data.address()
    }

    pub fn try_clone(&self, heap: &Heap) -> Result<HostTensor, TensorError> {
        let mut copy = HostTensor::from_bytes(heap, self.dtype, &self.axes, &self.data)?;
        copy.order.clone_from(&self.order);
        Ok(copy)
    }

    /// The tensor with the storage that `axes` state, row-major: broadcast axes are written out, or repeated axes are
    /// stored once.
    ///
    /// An axis of extent 1 also fits a broadcast axis of any extent.
    pub fn relayout(&self, heap: &Heap, axes: &[Axis]) -> Result<HostTensor, TensorError> {
        self.relayout_in(heap, axes, &[])
    }

    /// The same with its axes in this order in memory.
    pub(crate) fn relayout_in(
        &self,
        heap: &Heap,
        axes: &[Axis],
        order: &[u32],
    ) -> Result<HostTensor, TensorError> {
        if self.dtype.per_byte() > 1 {
            let codes = self.unpacked(heap)?.relayout_in(heap, axes, order)?;
            return codes.packed(heap, self.dtype);
        }
        self.check_fits(axes)?;
        let mut result = HostTensor::zeros(heap, self.dtype, axes)?.laid_out(order);
        if result.data.is_empty() {
            return Ok(result);
        }
        let size = self.dtype.bytes();
        let source = self.positions(axes, &result.order);
        let elements = result.data.chunks_exact_mut(size).zip(source);
        for (to, from) in elements {
            let start = from * size;
            if let Some(element) = self.data.get(start..start + size) {
                to.copy_from_slice(element);
            }
        }
        match result.differs_from(self) {
            Some(axis) => Err(TensorError::NotRepeated { axis }),
            None => Ok(result),
        }
    }

    fn check_fits(&self, axes: &[Axis]) -> Result<(), TensorError> {
        let fits = |(mine, other): (&Axis, &Axis)| {
            mine.extent == other.extent || (other.broadcast && mine.extent == 1)
        };
        let same = self.axes.len() == axes.len() && self.axes.iter().zip(axes).all(fits);
        same.then_some(()).ok_or_else(|| TensorError::Shape {
            expected: Shape(axes).to_string(),
            found: Shape(&self.axes).to_string(),
        })
    }

    /// The first axis that is stored once here although the elements of `full` differ along it.
    fn differs_from(&self, full: &HostTensor) -> Option<usize> {
        let dropped = |axis: &usize| {
            let pair = (self.axes.get(*axis), full.axes.get(*axis));
            matches!(pair, (Some(mine), Some(other)) if mine.broadcast && other.stored_extent() > 1)
        };
        let mut dropped = (0..self.axes.len()).filter(dropped).peekable();
        let first = *dropped.peek()?;
        let size = self.dtype.bytes();
        let stored: Vec<Axis> = full
            .axes
            .iter()
            .map(|axis| Axis::stored(axis.stored_extent()))
            .collect();
        let mine = self.positions(&stored, &full.order);
        let same = full.data.chunks_exact(size).zip(mine).all(|(bytes, at)| {
            let start = at * size;
            self.data.get(start..start + size) == Some(bytes)
        });
        (!same).then_some(first)
    }
}

/// Bytes in memory of a tensor, checked.
pub fn stored_bytes(dtype: DType, axes: &[Axis]) -> Result<usize, TensorError> {
    let rank = axes.len();
    if rank > MAX_RANK {
        return Err(TensorError::Rank { rank });
    }
    product(axes.iter().map(|axis| axis.stored_extent()))
        .and_then(|elements| dtype.size_of(elements))
        .filter(|bytes| *bytes <= isize::MAX as usize)
        .ok_or_else(|| {
            let what = format!("a tensor of shape {}", Shape(axes));
            TensorError::Memory(MemoryError::TooLarge { what })
        })
}

/// The product, where it fits; 0 if any factor is 0.
fn product(factors: impl Iterator<Item = usize> + Clone) -> Option<usize> {
    if factors.clone().any(|factor| factor == 0) {
        return Some(0);
    }
    factors
        .into_iter()
        .try_fold(1usize, |a, b| a.checked_mul(b))
}

/// The strides of the stored elements, for axes in this storage order (row-major by default); 0 for an axis with one
/// stored element.
pub(crate) fn strides(axes: &[Axis], order: &[usize]) -> Vec<usize> {
    let mut strides = vec![0; axes.len()];
    let mut stride = 1usize;
    for place in (0..axes.len()).rev() {
        let axis = order.get(place).copied().unwrap_or(place);
        let extent = axes.get(axis).map_or(1, |axis| axis.stored_extent());
        if let Some(slot) = strides.get_mut(axis).filter(|_| extent > 1) {
            *slot = stride;
        }
        stride = stride.saturating_mul(extent);
    }
    strides
}

/// Positions in row-major order of `extents`, for these strides: an odometer.
pub(crate) fn walk_strided(
    extents: Vec<usize>,
    strides: Vec<usize>,
) -> impl Iterator<Item = usize> + use<> {
    let mut counters = vec![0usize; extents.len()];
    let mut next = (!extents.contains(&0)).then_some(0usize);
    std::iter::from_fn(move || {
        let current = next?;
        let mut position = current;
        next = None;
        let axes = counters.iter_mut().zip(extents.iter().zip(&strides));
        for (counter, (extent, stride)) in axes.rev() {
            *counter += 1;
            if *counter < *extent {
                next = Some(position + stride);
                break;
            }
            position -= stride * (*counter - 1);
            *counter = 0;
        }
        Some(current)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap() -> Heap {
        Heap::with_limit(1 << 20)
    }

    fn iota(axes: &[Axis]) -> HostTensor {
        let mut tensor = HostTensor::zeros(&heap(), DType::U8, axes).unwrap();
        let bytes = tensor.bytes_mut().iter_mut();
        bytes.enumerate().for_each(|(i, byte)| *byte = i as u8);
        tensor
    }

    #[test]
    fn an_axis_that_is_stored_once_takes_no_memory() {
        let axes = [Axis::stored(3), Axis::broadcast(1024), Axis::stored(5)];
        let tensor = HostTensor::zeros(&heap(), DType::F32, &axes).unwrap();
        assert_eq!((tensor.stored_elements(), tensor.bytes().len()), (15, 60));
        assert_eq!(tensor.extents(), [3, 1024, 5]);
        assert_eq!(Shape(tensor.axes()).to_string(), "3xb1024x5");
        assert_eq!(Shape(&[]).to_string(), "scalar");
    }

    #[test]
    fn absurd_shapes_are_errors() {
        let axes = [Axis::stored(1 << 40), Axis::stored(1 << 40)];
        let error = HostTensor::zeros(&heap(), DType::F64, &axes).unwrap_err();
        let text = "too little memory: the size of a tensor of shape 1099511627776x1099511627776 does not fit 63 bits";
        assert_eq!(error.to_string(), text);
        let empty = [
            Axis::stored(1 << 40),
            Axis::stored(1 << 40),
            Axis::stored(0),
        ];
        assert_eq!(stored_bytes(DType::F64, &empty), Ok(0));
        let error = stored_bytes(DType::F64, &[Axis::stored(1); 33]).unwrap_err();
        assert_eq!(error.to_string(), "33 axes, at most 32 are possible");
        let error =
            HostTensor::from_bytes(&heap(), DType::F32, &[Axis::stored(2)], &[0; 7]).unwrap_err();
        assert_eq!(error.to_string(), "7 bytes of data, expected 8");
    }

    #[test]
    fn relayout_writes_broadcast_axes_out_and_takes_them_back() {
        let compact = [Axis::stored(2), Axis::broadcast(3), Axis::stored(2)];
        let full = compact.map(|axis| Axis::stored(axis.extent));
        let tensor = iota(&compact);
        let wide = tensor.relayout(&heap(), &full).unwrap();
        assert_eq!(wide.bytes(), [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]);
        let back = wide.relayout(&heap(), &compact).unwrap();
        assert_eq!(back.bytes(), tensor.bytes());

        let error = iota(&full).relayout(&heap(), &compact).unwrap_err();
        let text = "axis 1 is a broadcast axis, but the elements along it differ";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn an_order_of_axes_moves_elements_in_memory_and_nowhere_else() {
        let axes = [Axis::stored(2), Axis::stored(3), Axis::broadcast(7)];
        let plain = iota(&axes);
        let turned = plain.relayout_in(&heap(), &axes, &[1, 2, 0]).unwrap();
        assert_eq!(turned.order(), [1, 2, 0]);
        assert_eq!(turned.bytes(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(*turned.row_major(), [0, 1, 2, 3, 4, 5]);
        let values: Vec<f64> = turned.values().collect();
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let copy = turned.try_clone(&heap()).unwrap();
        assert!(copy.lies_as(&axes, &[1, 0, 2]) && !copy.lies_as(&axes, &[]));
        let full = axes.map(|axis| Axis::stored(axis.extent));
        let wide = turned.relayout_in(&heap(), &full, &[2, 0, 1]).unwrap();
        assert_eq!(wide.bytes()[..6], [0, 1, 2, 3, 4, 5]);
        let back = wide.relayout_in(&heap(), &axes, &[1, 0, 2]).unwrap();
        assert_eq!(back.bytes(), turned.bytes());
        // Axes of extent 1 lie anywhere, and what is no order is none.
        let thin = iota(&[Axis::stored(1), Axis::stored(4)]).laid_out(&[1, 0]);
        assert!(thin.lies_as(&[Axis::stored(1), Axis::stored(4)], &[]));
        assert!(iota(&axes).laid_out(&[0, 0, 1]).order().is_empty());
    }

    #[test]
    fn one_element_fits_a_broadcast_axis_of_any_extent() {
        let tensor = iota(&[Axis::stored(3), Axis::stored(1)]);
        let target = [Axis::stored(3), Axis::broadcast(7)];
        assert_eq!(
            tensor.relayout(&heap(), &target).unwrap().bytes(),
            [0, 1, 2]
        );
        let error = tensor.relayout(&heap(), &[Axis::stored(3), Axis::stored(7)]);
        assert_eq!(error.unwrap_err().to_string(), "shape 3x1, expected 3x7");
        let nothing = iota(&[Axis::stored(0)]);
        let once = nothing.relayout(&heap(), &[Axis::broadcast(0)]).unwrap();
        assert_eq!(once.bytes(), [0]);
        let empty = iota(&[Axis::stored(0), Axis::stored(4)]);
        let target = [Axis::stored(0), Axis::broadcast(4)];
        assert!(empty.relayout(&heap(), &target).unwrap().bytes().is_empty());
    }

    #[test]
    fn walking_visits_every_position_once_in_row_major_order() {
        let walk = |axes: &[Axis]| iota(axes).positions(axes, &[]);
        let axes = [Axis::stored(2), Axis::stored(3), Axis::stored(5)];
        let seen: Vec<usize> = walk(&axes).collect();
        assert_eq!(seen, (0..30).collect::<Vec<_>>());
        assert_eq!(walk(&[]).collect::<Vec<_>>(), [0]);
        assert_eq!(walk(&[Axis::stored(0)]).count(), 0);
        // Column-major strides: the transpose.
        let transposed: Vec<usize> = walk_strided(vec![2, 3], vec![1, 2]).collect();
        assert_eq!(transposed, [0, 2, 4, 1, 3, 5]);
    }

    #[test]
    fn two_floats_of_4_bits_share_a_byte() {
        let dtype = DType::F4E2M1FN;
        let axes = [Axis::stored(3), Axis::stored(4)];
        let values = [
            0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -6.0,
        ];
        let tensor = HostTensor::from_f64(&heap(), dtype, &axes, &values).unwrap();
        assert_eq!(tensor.bytes(), [0x10, 0x32, 0x54, 0x76, 0x98, 0xfa]);
        assert_eq!(tensor.stored_elements(), 12);
        assert_eq!(tensor.values().collect::<Vec<_>>(), values);
        assert_eq!(*tensor.elements(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15]);
        // Along another axis than the packed one the positions cross bytes; an odd number of elements leaves half of the last one.
        let turned = tensor.relayout_in(&heap(), &axes, &[1, 0]).unwrap();
        assert_eq!(turned.bytes(), [0x40, 0x18, 0x95, 0x62, 0x3a, 0xf7]);
        assert_eq!(*turned.row_major(), *tensor.bytes());
        assert_eq!(turned.values().collect::<Vec<_>>(), values);
        let odd = HostTensor::from_f64(&heap(), dtype, &[Axis::stored(3)], &values[1..4]).unwrap();
        assert_eq!(odd.bytes(), [0x21, 0x03]);
        let wide = [Axis::broadcast(2), Axis::stored(4)];
        let once = HostTensor::from_f64(&heap(), dtype, &wide, &values[..4]).unwrap();
        let full = once.relayout(&heap(), &[Axis::stored(2), Axis::stored(4)]);
        let full = full.unwrap();
        assert_eq!(full.bytes(), [0x10, 0x32, 0x10, 0x32]);
        assert_eq!(full.relayout(&heap(), &wide).unwrap().bytes(), once.bytes());
        let error = tensor.relayout(&heap(), &[Axis::broadcast(3), Axis::stored(4)]);
        assert_eq!(error.unwrap_err(), TensorError::NotRepeated { axis: 0 });
        let bytes = HostTensor::from_bytes(&heap(), dtype, &axes, &[0; 5]);
        let (expected, found) = (6, 5);
        assert_eq!(bytes.unwrap_err(), TensorError::Length { expected, found });
    }
}

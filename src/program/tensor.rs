//! Tensors in host memory, row-major, as callers of the library make and read them.

use fuser_artifact::DType;
use fuser_ir::{Diagnostic, Place};
use fuser_runtime::memory::Memory;
use fuser_runtime::{Heap, RuntimeError};

use super::{Error, Result};
use crate::session::error::INPUT;

/// Elements in host memory with their type and shape; row-major, aligned to 64 bytes.
#[derive(Debug)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    memory: Memory,
}

/// A Rust type whose values are elements.
pub trait Element: Copy {
    /// The type of the elements.
    const DTYPE: DType;
    /// The value whose little-endian bytes these are.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the little-endian bytes of the value.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! elements {
    ($($ty:ty: $dtype:ident),* $(,)?) => {$(
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn read(bytes: &[u8]) -> Self {
                let (words, _) = bytes.as_chunks::<{ size_of::<$ty>() }>();
                words.first().map_or_else(Default::default, |word| Self::from_le_bytes(*word))
            }
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

elements! {
    f64: F64, f32: F32, half::f16: F16, half::bf16: Bf16,
    i64: I64, i32: I32, i16: I16, i8: I8, u64: U64, u32: U32, u16: U16, u8: U8,
}

impl Element for bool {
    const DTYPE: DType = DType::I1;
    fn read(bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|byte| *byte != 0)
    }
    fn write(self, bytes: &mut [u8]) {
        bytes.fill(u8::from(self));
    }
}

impl Tensor {
    /// A tensor of these elements, row-major.
    ///
    /// # Errors
    /// Another number of elements than the shape has; too little memory.
    pub fn new<T: Element>(shape: &[usize], elements: &[T]) -> Result<Self> {
        let mut tensor = Self::zeros(T::DTYPE, shape)?;
        if tensor.len() != elements.len() {
            let (found, expected) = (elements.len(), tensor.len());
            let shown = shown(shape);
            return Err(wrong(format!(
                "{found} elements given, shape {shown} has {expected}"
            )));
        }
        let size = T::DTYPE.bytes();
        let to = tensor.memory.chunks_exact_mut(size);
        to.zip(elements).for_each(|(to, x)| x.write(to));
        Ok(tensor)
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// Too little memory.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self> {
        let count = shape
            .iter()
            .try_fold(1usize, |n, extent| n.checked_mul(*extent));
        let bytes = count.and_then(|count| dtype.size_of(count));
        let Some(bytes) = bytes else {
            return Err(wrong(format!(
                "shape {} has too many elements",
                shown(shape)
            )));
        };
        Self::allocate(&Heap::with_limit(u64::MAX), dtype, shape, bytes)
    }

    pub(super) fn allocate(
        heap: &Heap,
        dtype: DType,
        shape: &[usize],
        bytes: usize,
    ) -> Result<Self> {
        let memory = heap.allocate(bytes);
        let memory = memory.map_err(|error| Error::from(RuntimeError::Memory(error)))?;
        let shape = shape.to_vec();
        Ok(Self {
            dtype,
            shape,
            memory,
        })
    }

    /// The tensor in row-major order, given the strides of its current layout in elements.
    #[cfg(feature = "codegen")]
    pub(super) fn row_major(self, heap: &Heap, strides: &[usize]) -> Result<Self> {
        let size = self.dtype.bytes();
        let mut expected = 1;
        let mut is_dense = true;
        for (&extent, &stride) in self.shape.iter().zip(strides).rev() {
            is_dense &= extent <= 1 || stride == expected;
            expected *= extent;
        }
        if is_dense || self.dtype.per_byte() > 1 {
            return Ok(self);
        }
        let bytes = self.dtype.size_of(self.len()).unwrap_or(usize::MAX);
        let mut whole = Self::allocate(heap, self.dtype, &self.shape, bytes)?;
        let mut index = vec![0; self.shape.len()];
        for to in whole.memory.chunks_exact_mut(size) {
            let at: usize = index
                .iter()
                .zip(strides)
                .map(|(i, stride)| i * stride)
                .sum();
            if let Some(from) = self.memory.get(at * size..(at + 1) * size) {
                to.copy_from_slice(from);
            }
            for (i, &extent) in index.iter_mut().zip(&self.shape).rev() {
                *i += 1;
                if *i < extent {
                    break;
                }
                *i = 0;
            }
        }
        Ok(whole)
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extent of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements' little-endian bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory
    }

    /// The same, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// The elements, row-major.
    ///
    /// # Errors
    /// Elements of another type than `T`.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.dtype != T::DTYPE {
            let (found, asked) = (self.dtype, T::DTYPE);
            return Err(wrong(format!("the elements are {found}, not {asked}")));
        }
        let elements = self.memory.chunks_exact(self.dtype.bytes());
        Ok(elements.map(T::read).collect())
    }
}

fn shown(shape: &[usize]) -> String {
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", extents.join(", "))
}

fn wrong(message: String) -> Error {
    Error::of(
        vec![Diagnostic::error(&INPUT, Place::Unknown, message)],
        &Default::default(),
    )
}

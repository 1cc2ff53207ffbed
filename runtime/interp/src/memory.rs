//! The buffers of a kernel.

use std::collections::BTreeMap;

use fuser_ir::DType;
use half::{bf16, f16};

use crate::budget::Charge;
use crate::error::{ErrorKind, InterpError, Result};
use crate::machine::Machine;
use crate::number::{F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU};
use crate::tensor::{Axis, Data, Tensor, filled};

/// One buffer.
struct Buffer {
    dtype: DType,
    data: Data,
    /// Reference mode: the bound of each element; else empty.
    bounds: Vec<f64>,
    charge: Charge,
}

/// All buffers, by number. Numbers are never reused, so a stale number of a finished kernel finds no buffer.
#[derive(Default)]
pub(crate) struct Memory {
    buffers: BTreeMap<usize, Buffer>,
    next: usize,
}

/// Applies `$f` to the vectors of two data of one variant.
macro_rules! pair {
    ($a:expr, $b:expr, ($x:ident, $y:ident) => $body:expr, $($variant:ident),*) => {
        match ($a, $b) {
            $((Data::$variant($x), Data::$variant($y)) => $body,)*
            _ => None,
        }
    };
}

fn sub_slice(data: &Data, at: usize, count: usize) -> Option<Data> {
    let end = at.checked_add(count)?;
    macro_rules! cut {
        ($($variant:ident),*) => {
            match data {
                $(Data::$variant(v) => Data::$variant(v.get(at..end)?.to_vec()),)*
            }
        };
    }
    Some(cut!(
        F64, F32, F16, BF16, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, I64, I32, I16, I8, U64, U32,
        U16, U8, I1
    ))
}

fn write(to: &mut Data, at: usize, from: &Data) -> Option<()> {
    let end = at.checked_add(from.len())?;
    pair!(to, from, (x, y) => {
        x.get_mut(at..end)?.copy_from_slice(y);
        Some(())
    }, F64, F32, F16, BF16, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, I64, I32, I16, I8, U64, U32, U16, U8, I1)
}

/// Contents of fresh memory: NaN, or a conspicuous number, so that a kernel that reads it before it stores shows.
fn unspecified(dtype: DType, length: usize) -> Option<Data> {
    Some(match dtype {
        DType::F64 => Data::F64(filled(f64::NAN, length)?),
        DType::F32 => Data::F32(filled(f32::NAN, length)?),
        DType::F16 => Data::F16(filled(f16::NAN, length)?),
        DType::BF16 => Data::BF16(filled(bf16::NAN, length)?),
        DType::F8E4M3FN => Data::F8E4M3FN(filled(F8E4M3FN(0xff), length)?),
        DType::F8E5M2 => Data::F8E5M2(filled(F8E5M2(0xff), length)?),
        DType::F8E8M0FNU => Data::F8E8M0FNU(filled(F8E8M0FNU(0xff), length)?),
        DType::F4E2M1FN => Data::F4E2M1FN(filled(F4E2M1FN(0xf), length)?),
        DType::I64 | DType::Index => Data::I64(filled(0x5555_5555_5555_5555, length)?),
        DType::I32 => Data::I32(filled(0x5555_5555, length)?),
        DType::I16 => Data::I16(filled(0x5555, length)?),
        DType::I8 => Data::I8(filled(0x55, length)?),
        DType::U64 => Data::U64(filled(0x5555_5555_5555_5555, length)?),
        DType::U32 => Data::U32(filled(0x5555_5555, length)?),
        DType::U16 => Data::U16(filled(0x5555, length)?),
        DType::U8 => Data::U8(filled(0x55, length)?),
        DType::I1 => Data::I1(filled(true, length)?),
        DType::C64 | DType::C128 => return None,
    })
}

/// The element type in which `dtype` is stored: f64 for floats in reference mode.
fn stored(machine: &Machine<'_>, dtype: DType) -> DType {
    if machine.is_reference() && dtype.is_float() {
        DType::F64
    } else {
        dtype
    }
}

/// Bounds of zero for a buffer that was paid for with `charge`; none outside reference mode.
fn bounds(machine: &Machine<'_>, length: usize, charge: &Charge) -> Result<Vec<f64>> {
    let count = if machine.is_reference() { length } else { 0 };
    filled(0.0, count).ok_or_else(|| charge.refused())
}

impl Memory {
    fn charge(machine: &mut Machine<'_>, dtype: DType, length: usize) -> Result<Charge> {
        let bytes = stored(machine, dtype).bytes() + if machine.is_reference() { 8 } else { 0 };
        machine.budget.take(bytes.saturating_mul(length as u64))
    }
    /// A buffer with the elements of `tensor`.
    pub fn adopt(
        &mut self,
        machine: &mut Machine<'_>,
        dtype: DType,
        tensor: &Tensor,
        name: &str,
    ) -> Result<usize> {
        if tensor.dtype() != dtype {
            return Err(InterpError::new(ErrorKind::InputType {
                input: name.into(),
                expected: format!("a buffer of {}", dtype.name()),
                given: tensor.describe(),
            }));
        }
        let length = tensor.stored_len();
        let charge = Self::charge(machine, dtype, length)?;
        let data = Data::zeros(stored(machine, dtype), length);
        let mut data = data.ok_or_else(|| charge.refused())?;
        match &mut data {
            Data::F64(wide) => {
                let elements = wide.iter_mut().enumerate();
                elements.for_each(|(i, x)| *x = tensor.data().float(i));
            }
            own => drop(write(own, 0, tensor.data())),
        }
        let mut bounds = bounds(machine, length, &charge)?;
        if let Some(known) = tensor.bounds().filter(|_| !bounds.is_empty()) {
            bounds.copy_from_slice(known);
        }
        Ok(self.push(dtype, data, bounds, charge))
    }
    /// A fresh buffer.
    pub fn allocate(
        &mut self,
        machine: &mut Machine<'_>,
        dtype: DType,
        length: usize,
    ) -> Result<usize> {
        let charge = Self::charge(machine, dtype, length)?;
        let data = unspecified(stored(machine, dtype), length);
        let data = data.ok_or_else(|| charge.refused())?;
        let bounds = bounds(machine, length, &charge)?;
        Ok(self.push(dtype, data, bounds, charge))
    }
    fn push(&mut self, dtype: DType, data: Data, bounds: Vec<f64>, charge: Charge) -> usize {
        let number = self.next;
        self.next += 1;
        let buffer = Buffer {
            dtype,
            data,
            bounds,
            charge,
        };
        self.buffers.insert(number, buffer);
        number
    }
    /// True if there is a buffer of that number and length: a worker's scratch memory, seen again in the next
    /// iteration.
    pub fn has(&self, number: usize, length: usize) -> bool {
        self.buffers
            .get(&number)
            .is_some_and(|b| b.data.len() == length)
    }
    /// The number that the next buffer gets.
    pub fn next(&self) -> usize {
        self.next
    }
    /// Drops all buffers from number `first` on.
    pub fn free_from(&mut self, first: usize) {
        self.buffers.split_off(&first);
    }
    fn buffer(&self, number: usize) -> Result<&Buffer> {
        self.buffers
            .get(&number)
            .ok_or_else(|| InterpError::invalid("no such buffer"))
    }
    /// `count` elements from `index` on; a scalar where `count` is none.
    pub fn load(&self, number: usize, index: i64, count: Option<usize>) -> Result<Tensor> {
        let buffer = self.buffer(number)?;
        let width = count.unwrap_or(1);
        let outside = || out_of_bounds(index, width, buffer.data.len());
        let at = usize::try_from(index).map_err(|_| outside())?;
        let data = sub_slice(&buffer.data, at, width).ok_or_else(outside)?;
        let bounds = buffer.bounds.get(at..at.saturating_add(width));
        let bounds = bounds
            .filter(|b| b.iter().any(|e| *e != 0.0))
            .map(<[f64]>::to_vec);
        let axes = count.map(Axis::plain).into_iter().collect();
        let tensor = Tensor::with_bounds(buffer.dtype, axes, data, bounds, Charge::default());
        tensor.ok_or_else(outside)
    }
    /// Writes the elements of `value` from `index` on.
    pub fn store(&mut self, number: usize, index: i64, value: &Tensor) -> Result<()> {
        let width = value.stored_len();
        let missing = || InterpError::invalid("no such buffer");
        let buffer = self.buffers.get_mut(&number).ok_or_else(missing)?;
        if buffer.dtype != value.dtype() {
            return Err(InterpError::invalid(
                "the value and the buffer differ in element type",
            ));
        }
        let length = buffer.data.len();
        let at = usize::try_from(index).map_err(|_| out_of_bounds(index, width, length))?;
        let written = match (&buffer.data, value.data()) {
            // Reference mode: a value may still be stored in its own type.
            (Data::F64(_), other) if !matches!(other, Data::F64(_)) => {
                let wide = Data::F64((0..width).map(|i| other.float(i)).collect());
                write(&mut buffer.data, at, &wide)
            }
            (_, data) => write(&mut buffer.data, at, data),
        };
        written.ok_or_else(|| out_of_bounds(index, width, length))?;
        if let Some(bounds) = buffer.bounds.get_mut(at..at + width) {
            match value.bounds() {
                Some(new) => bounds.copy_from_slice(new),
                None => bounds.fill(0.0),
            }
        }
        Ok(())
    }
    /// Removes a buffer and returns its contents as a tensor of `axes`.
    pub fn remove(&mut self, number: usize, axes: Option<Vec<Axis>>) -> Result<Tensor> {
        let missing = || InterpError::invalid("no such buffer");
        let buffer = self.buffers.remove(&number).ok_or_else(missing)?;
        let axes = axes.unwrap_or_else(|| vec![Axis::plain(buffer.data.len())]);
        let bounds = Some(buffer.bounds).filter(|b| b.iter().any(|e| *e != 0.0));
        Tensor::with_bounds(buffer.dtype, axes, buffer.data, bounds, buffer.charge)
            .ok_or_else(|| InterpError::invalid("a buffer has another length than its tensor"))
    }
}

fn out_of_bounds(index: i64, count: usize, length: usize) -> InterpError {
    InterpError::new(ErrorKind::OutOfBounds {
        index,
        count,
        length,
    })
}

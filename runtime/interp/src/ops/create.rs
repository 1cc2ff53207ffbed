//! Constants, `full`, `iota`.

use fuser_ir::DType;
use fuser_ir::attr::AttrKind;

use super::Kind;
use super::elementwise::{chunks, view_of};
use crate::budget::Charge;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::{F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU, Int, Number, round};
use crate::tensor::{Axis, Data, Tensor, product};

/// One element of `dtype`, from the number of an attribute, rounded once.
fn number(dtype: DType, value: &AttrKind) -> Option<Data> {
    let float = match value {
        AttrKind::Float { bits, .. } => f64::from_bits(*bits),
        AttrKind::Int { value, .. } if dtype.is_float() => round::int_to_dtype(*value, dtype),
        _ => f64::NAN,
    };
    let int = value.as_int();
    Some(match dtype {
        DType::F64 => Data::F64(vec![float]),
        DType::F32 => Data::F32(vec![round::f32_from(float)]),
        DType::F16 => Data::F16(vec![round::f16_from(float)]),
        DType::BF16 => Data::BF16(vec![round::bf16_from(float)]),
        DType::F8E4M3FN => Data::F8E4M3FN(vec![F8E4M3FN::from_f64(float)]),
        DType::F8E5M2 => Data::F8E5M2(vec![F8E5M2::from_f64(float)]),
        DType::F8E8M0FNU => Data::F8E8M0FNU(vec![F8E8M0FNU::from_f64(float)]),
        DType::F4E2M1FN => Data::F4E2M1FN(vec![F4E2M1FN::from_f64(float)]),
        DType::I64 | DType::Index => Data::I64(vec![int?.try_into().ok()?]),
        DType::I32 => Data::I32(vec![int?.try_into().ok()?]),
        DType::I16 => Data::I16(vec![int?.try_into().ok()?]),
        DType::U64 => Data::U64(vec![int?.try_into().ok()?]),
        DType::U32 => Data::U32(vec![int?.try_into().ok()?]),
        DType::U16 => Data::U16(vec![int?.try_into().ok()?]),
        DType::I8 => Data::I8(vec![int?.try_into().ok()?]),
        DType::U8 => Data::U8(vec![int?.try_into().ok()?]),
        DType::I1 => Data::I1(vec![int? != 0]),
        DType::C64 | DType::C128 => return None,
    })
}

impl Machine<'_> {
    /// A constant of `dtype` and `axes`.
    pub(crate) fn constant(
        &mut self,
        dtype: DType,
        axes: Vec<Axis>,
        value: &AttrKind,
    ) -> Result<Tensor> {
        let invalid =
            || InterpError::invalid(format!("the value is no constant of {}", dtype.name()));
        let mut charge = Charge::default();
        let data = match value {
            AttrKind::Dense { dtype: own, .. } if *own != dtype => None,
            AttrKind::Dense { bytes, .. } => {
                charge = self.budget.take(bytes.len() as u64)?;
                let data = Data::zeros(dtype, bytes.len() / dtype.bytes() as usize);
                let mut data = data.ok_or_else(|| charge.refused())?;
                data.read(bytes);
                Some(data)
            }
            value => number(dtype, value),
        };
        let data = data.ok_or_else(invalid)?;
        let stored = product(axes.iter().map(|a| a.stored()));
        let splat = !matches!(value, AttrKind::Dense { splat: false, .. });
        if splat && data.len() == 1 && stored != Some(1) {
            let one = Tensor::new(dtype, Vec::new(), data).ok_or_else(invalid)?;
            return self.full(&one, axes);
        }
        Tensor::with_bounds(dtype, axes, data, None, charge).ok_or_else(invalid)
    }

    /// `value` everywhere.
    pub(crate) fn full(&mut self, value: &Tensor, axes: Vec<Axis>) -> Result<Tensor> {
        if !value.axes().is_empty() {
            return Err(InterpError::invalid("the value is no scalar"));
        }
        let view = view_of(value, &axes);
        self.gather(value, axes, view)
    }

    /// Each element its index along axis `dim`.
    pub(crate) fn iota(&mut self, dtype: DType, axes: Vec<Axis>, dim: usize) -> Result<Tensor> {
        let Some(extent) = axes.get(dim).map(|a| a.extent.max(1)) else {
            return Err(InterpError::invalid("`dim` is no axis"));
        };
        let inner = product(axes[dim + 1..].iter().map(|a| a.extent));
        let inner = inner.unwrap_or(1).max(1);
        let rules = self.rules(dtype);
        let draft = self.draft(dtype, axes)?;
        let index = |at: usize| Int::sure((at / inner % extent) as i128);
        let kind = self.kind(dtype);
        self.fill(draft, |part| match kind {
            Kind::F32 => chunks(part, |at, row| {
                enumerate(at, row, |i| index(i).to_f32(dtype))
            }),
            Kind::F64 => chunks(part, |at, row| enumerate(at, row, |i| index(i).to_f64())),
            Kind::Int => chunks(part, |at, row| {
                enumerate(at, row, |i| index(i).to_int(dtype))
            }),
            Kind::Bounded => chunks(part, |at, row| {
                enumerate(at, row, |i| index(i).to_bounded(DType::I64, &rules));
            }),
        })
    }
}

fn enumerate<L>(at: usize, row: &mut [L], f: impl Fn(usize) -> L) {
    row.iter_mut().enumerate().for_each(|(i, x)| *x = f(at + i));
}

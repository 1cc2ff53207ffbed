//! Statements that read and write memory. Every index is within its buffer by construction.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_dialects::kernel::build::{KernelBuilder, Loop};
use fuser_dialects::kernel::{self};
use fuser_ir::types::{Dim, Extent, MemSpace, TypeKind};
use fuser_ir::{AttrId, AttrKind, Block, Builder, DType, Value};

use super::scope::{Buffer, Built, Form, Scope, Walk};
use super::statements::LANES;
use crate::generate::fusion::shapes;

/// Lengths of scratch memory.
const SCRATCH: [u64; 5] = [16, 1, 3, 8, 33];

impl Scope<'_, '_> {
    /// A buffer that can be read and has `least` elements.
    fn readable(&mut self, least: u64) -> Option<Buffer> {
        let all = self.buffers.iter().chain(&self.scratch).copied();
        let all: Vec<Buffer> = all.filter(|b| b.length >= least).collect();
        self.source.pick(&all).copied()
    }
    /// Elements from one lane to the next, and how many `lanes` reach over then.
    fn stride(&mut self, lanes: u64) -> (Vec<(&'static str, AttrId)>, u64) {
        match self.source.chance(1, 4) {
            true => {
                let stride = self.source.one(&[1, 2, 3, 4, 7, 16, 17]);
                let clause = ("stride", self.ir.int_attr(stride as i64));
                (vec![clause], (lanes - 1) * stride + 1)
            }
            false => (Vec::new(), lanes),
        }
    }
    /// One element or several.
    pub fn load(&mut self, block: Block) -> Built<()> {
        let lanes = self.source.one(LANES);
        let (form, (mut clauses, least)) = match self.source.chance(1, 2) {
            true => (Form::Vector(lanes), self.stride(lanes)),
            false => (Form::Scalar, (Vec::new(), 1)),
        };
        let Some(buffer) = self.readable(least) else {
            return Ok(());
        };
        let index = self.within(block, buffer.length - least)?;
        let align = self.source.chance(1, 4);
        if align {
            clauses.push(("align", self.ir.int_attr(buffer.dtype.bytes() as i64)));
        }
        let operands = [buffer.value, index];
        let ty = match form {
            Form::Scalar => self.ir.scalar(buffer.dtype),
            Form::Vector(lanes) => self.ir.vector(lanes, buffer.dtype),
        };
        let value = self
            .at(block)
            .typed(&kernel::LOAD, &operands, &clauses, ty)?;
        self.keep(value);
        Ok(())
    }
    /// Loads a vector at a position in or around a buffer, only the lanes that lie in the buffer.
    pub fn load_within(&mut self, block: Block) -> Built<()> {
        let lanes = self.source.one(LANES);
        let form = match self.source.chance(1, 4) {
            true => Form::Scalar,
            false => Form::Vector(lanes),
        };
        let lanes = if form == Form::Scalar { 1 } else { lanes } as i64;
        let Some(buffer) = self.readable(0) else {
            return Ok(());
        };
        let length = buffer.length as i64;
        let start = self.source.range(-lanes - 1, length + 1);
        let index = self.index(block, start)?;
        let fill = self.get(block, form, buffer.dtype)?;
        // Lanes below -start are before the buffer; lanes from length - start on are after it.
        let first = self.source.range((-start).max(-1), lanes.max(-start) + 1);
        let end = self.source.range(-1, lanes + 1).min(length - start);
        let (first, end) = (self.index(block, first)?, self.index(block, end)?);
        let operands = [buffer.value, index, fill, first, end];
        let value = self.at(block).value(&kernel::LOAD_WITHIN, &operands, &[])?;
        self.keep(value);
        Ok(())
    }
    /// Scratch memory, filled.
    pub fn alloc(&mut self, block: Block) -> Built<()> {
        let (length, dtype) = (self.source.one(&SCRATCH), shapes::dtype(self.source));
        let space = self.source.one(&[MemSpace::Tile, MemSpace::Local]);
        let sized = self.source.chance(1, 3);
        let Some(first) = self.entry.and_then(|entry| self.ir.first_op(entry)) else {
            return Ok(());
        };
        // Memory is allocated where the kernel begins, and filled where it is used.
        let mut builder = Builder::before(self.ir, first);
        let value = match sized {
            true => {
                let size = builder.constant_index(length as i64)?;
                let dims = vec![Extent::Unknown];
                let ty = builder.ir.type_id(TypeKind::MemRef { dims, dtype, space });
                builder.typed(&kernel::ALLOC, &[size], &[], ty)?
            }
            false => builder.alloc(length, dtype, space)?,
        };
        let buffer = Buffer {
            value,
            dtype,
            length,
        };
        let upper = self.index(block, length as i64)?;
        let (lower, step) = (self.index(block, 0)?, self.index(block, 1)?);
        let spec = Loop {
            lower,
            upper,
            step,
            init: &[],
            map: "seq",
            combine: &[],
        };
        let first = self.get(block, Form::Scalar, dtype)?;
        self.at(block).for_loop(spec, |b, args| {
            let number = b.cast(args[0], dtype)?;
            let value = match dtype {
                _ if dtype == DType::I1 || dtype.is_storage() => number,
                _ => b.add(number, first)?,
            };
            b.store(value, buffer.value, args[0])?;
            Ok(Vec::new())
        })?;
        if self.source.chance(1, 2) {
            self.at(block).barrier()?;
        }
        self.scratch.push(buffer);
        Ok(())
    }
    /// A constant that is read like a buffer.
    pub fn table(&mut self, block: Block) -> Built<()> {
        let (length, dtype) = (1 + self.source.below(9), shapes::dtype(self.source));
        let size = dtype.bytes() as usize;
        let whole = |scope: &mut Self| scope.source.range(0, 1);
        let elements: Vec<i64> = (0..length).map(|_| whole(self)).collect();
        let bytes = elements.iter().flat_map(|n| match dtype {
            DType::F64 => (*n as f64).to_le_bytes().to_vec(),
            DType::F32 => (*n as f32).to_le_bytes().to_vec(),
            DType::F16 => half::f16::from_f64(*n as f64).to_le_bytes().to_vec(),
            DType::BF16 => half::bf16::from_f64(*n as f64).to_le_bytes().to_vec(),
            _ => n.to_le_bytes()[..size].to_vec(),
        });
        let bytes = bytes.collect();
        let ty = self.ir.tensor(vec![Dim::fixed(length)], dtype);
        let value = self.ir.attr(AttrKind::Dense {
            ty,
            dtype,
            splat: false,
            bytes,
        });
        let clauses = [("value", value)];
        let constant = self.at(block).typed(&fusion::CONSTANT, &[], &clauses, ty)?;
        let (dims, space) = (vec![Extent::Static(length)], MemSpace::Global);
        let ty = self.ir.type_id(TypeKind::MemRef { dims, dtype, space });
        let value = self.at(block).typed(&kernel::TABLE, &[constant], &[], ty)?;
        let lanes = length.min(4);
        let last = self.within(block, length - lanes)?;
        let elements = match self.source.chance(1, 2) {
            true => self.at(block).load_vector(value, last, lanes)?,
            false => self.at(block).load(value, last)?,
        };
        self.keep(elements);
        Ok(())
    }
    /// Prefetches an element of a scratch buffer, or one next to it.
    pub fn prefetch(&mut self, block: Block) -> Built<()> {
        let all = self.scratch.clone();
        if let Some(buffer) = self.source.pick(&all).copied() {
            let past = self.source.one(&[-1, 0, buffer.length as i64]);
            let index = self.index(block, past)?;
            self.at(block).prefetch(buffer.value, index)?;
        }
        Ok(())
    }
    /// The form of a vector stored into a buffer with `room` elements, the stride of its lanes, and its extent in
    /// elements.
    fn stored(&mut self, room: u64) -> (Form, Vec<(&'static str, AttrId)>, u64) {
        let lanes = self.source.one(LANES);
        if self.source.chance(1, 2) && lanes <= room {
            let (clauses, reach) = self.stride(lanes);
            return match reach <= room {
                true => (Form::Vector(lanes), clauses, reach),
                false => (Form::Vector(lanes), Vec::new(), lanes),
            };
        }
        (Form::Scalar, Vec::new(), 1)
    }
    /// Into scratch memory, where one worker walks.
    pub fn store_scratch(&mut self, block: Block) -> Built<()> {
        let all = self.scratch.clone();
        let Some(buffer) = self.source.pick(&all).copied() else {
            return Ok(());
        };
        let (form, clauses, reach) = self.stored(buffer.length);
        let index = self.within(block, buffer.length - reach)?;
        let value = self.get(block, form, buffer.dtype)?;
        let operands = [value, buffer.value, index];
        self.store_lanes(block, &operands, form, &clauses)
    }
    /// Into the row of an output: anywhere in it, or in a thread loop the element of number `own`.
    pub fn store_row(&mut self, block: Block, walk: Walk, own: Option<Value>) -> Built<()> {
        let number = self.source.index(self.targets.len());
        let Some(&(memory, dtype, columns)) = self.targets.get(number) else {
            return Ok(());
        };
        let base = self.rows[number];
        if walk == Walk::Threads {
            let fits = |v: &Value| {
                let bounds = self.bounds.get(v);
                bounds.is_some_and(|b| b.0 >= 0 && b.1 < columns as i64)
            };
            let Some(own) = own.filter(fits) else {
                return Ok(());
            };
            let value = self.get(block, Form::Scalar, dtype)?;
            let index = self.at(block).add(base, own)?;
            self.at(block).store(value, memory, index)?;
            return Ok(());
        }
        let (form, clauses, reach) = self.stored(columns);
        let column = self.within(block, columns - reach)?;
        let value = self.get(block, form, dtype)?;
        let index = self.at(block).add(base, column)?;
        let operands = [value, memory, index];
        self.store_lanes(block, &operands, form, &clauses)
    }
    /// Makes some vectors without a stride store only some of their lanes.
    fn store_lanes(
        &mut self,
        block: Block,
        operands: &[Value],
        form: Form,
        clauses: &[(&'static str, AttrId)],
    ) -> Built<()> {
        let mut operands = operands.to_vec();
        if let Form::Vector(lanes) = form
            && clauses.is_empty()
            && self.source.chance(1, 3)
        {
            let lanes = lanes as i64;
            let some = self.source.one(&[lanes - 1, 1, 0, -1, lanes, lanes + 3]);
            operands.push(self.index(block, some)?);
        }
        self.at(block).op(&kernel::STORE, &operands, clauses)?;
        Ok(())
    }
}

//! The values that can be used at a position in a kernel, and facts about them.
//!
//! Entering a region remembers the number of values; leaving it forgets the newer ones. Constants are made at their
//! uses.

use std::collections::BTreeMap;

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_dialects::kernel::build::KernelBuilder;
use fuser_ir::def::OpError;
use fuser_ir::{AttrKind, Block, Builder, DType, Ir, TypeKind, Value, float};

use crate::Source;

/// The result of a builder; an error ends a statement early.
pub type Built<T> = Result<T, OpError>;

/// A buffer and how many elements it has.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The memref.
    pub value: Value,
    /// Element type.
    pub dtype: DType,
    /// Elements.
    pub length: u64,
}

/// A scalar, or a vector of so many lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One element.
    Scalar,
    /// Lanes.
    Vector(u64),
}

/// The loops around a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Walk {
    /// One worker walks its row.
    Row,
    /// The threads of a block share a loop; each may write only its own elements.
    Threads,
    /// A branch or loop of the row: its contents must not need all threads.
    Inner,
}

/// The place where statements go.
pub struct Scope<'a, 's> {
    /// The tables.
    pub ir: &'a mut Ir,
    /// Choices.
    pub source: &'s mut Source,
    /// All values that can be used.
    pub values: Vec<Value>,
    /// Buffers that can be read.
    pub buffers: Vec<Buffer>,
    /// Scratch memory, which can be written too.
    pub scratch: Vec<Buffer>,
    /// Outputs: memory, element type, columns.
    pub targets: Vec<(Value, DType, u64)>,
    /// The first element of the row in each output.
    pub rows: Vec<Value>,
    /// Least and greatest value of indices.
    pub bounds: BTreeMap<Value, (i64, i64)>,
    /// The block for constants that `alloc` needs.
    pub entry: Option<Block>,
}

impl<'a, 's> Scope<'a, 's> {
    /// A scope of parameters.
    pub fn new(
        ir: &'a mut Ir,
        source: &'s mut Source,
        buffers: Vec<Buffer>,
        targets: Vec<(Value, DType, u64)>,
    ) -> Self {
        Self {
            ir,
            source,
            values: Vec::new(),
            buffers,
            scratch: Vec::new(),
            targets,
            rows: Vec::new(),
            bounds: BTreeMap::new(),
            entry: None,
        }
    }
    /// The builder at the end of a block.
    pub fn at(&mut self, block: Block) -> Builder<'_> {
        Builder::at_end(self.ir, block)
    }
    /// A new value.
    pub fn keep(&mut self, value: Value) -> Value {
        self.values.push(value);
        value
    }
    /// Adds an index with its bounds.
    pub fn know(&mut self, value: Value, bounds: (i64, i64)) {
        self.values.push(value);
        self.bounds.insert(value, bounds);
    }
    /// Form and element type of a value.
    pub fn form(&self, value: Value) -> Option<(Form, DType)> {
        match self.ir.value_kind(value) {
            TypeKind::Scalar(dtype) => Some((Form::Scalar, *dtype)),
            TypeKind::Vector { dtype, .. } => {
                let lanes = fuser_dialects::kernel::ops::lanes(self.ir, self.ir.value_type(value));
                Some((Form::Vector(lanes), *dtype))
            }
            _ => None,
        }
    }
    /// An index constant.
    pub fn index(&mut self, block: Block, number: i64) -> Built<Value> {
        let value = self.at(block).constant_index(number)?;
        self.bounds.insert(value, (number, number));
        Ok(value)
    }
    /// An index from 0 to `most`.
    pub fn within(&mut self, block: Block, most: u64) -> Built<Value> {
        let most = most as i64;
        let fits = |bounds: &(i64, i64)| bounds.0 >= 0 && bounds.1 <= most;
        let known: Vec<Value> = self
            .values
            .iter()
            .copied()
            .filter(|v| self.bounds.get(v).is_some_and(fits))
            .collect();
        match self.source.below(4) {
            0 => {
                let number = self.source.range(0, most);
                self.index(block, number)
            }
            1 => {
                let any = self.get(block, Form::Scalar, DType::Index)?;
                let (low, high) = (self.index(block, 0)?, self.index(block, most)?);
                let above = self.at(block).maximum(any, low)?;
                let value = self.at(block).minimum(above, high)?;
                self.know(value, (0, most));
                Ok(value)
            }
            _ => match self.source.pick(&known).copied() {
                Some(value) => Ok(value),
                None => self.index(block, most.min(1)),
            },
        }
    }
    /// A value of this form and type: one that is there, a cast of another, or a constant.
    pub fn get(&mut self, block: Block, form: Form, dtype: DType) -> Built<Value> {
        let matching = |scope: &Self, same: bool| -> Vec<Value> {
            let values = scope.values.iter().copied();
            let fits = |v: &Value| {
                scope
                    .form(*v)
                    .is_some_and(|(f, d)| f == form && (!same || d == dtype))
            };
            values.filter(fits).collect()
        };
        let same = matching(self, true);
        if self.source.chance(3, 4)
            && let Some(value) = self.source.pick(&same)
        {
            return Ok(*value);
        }
        let others = matching(self, false);
        if self.source.chance(3, 4)
            && let Some(value) = self.source.pick(&others).copied()
        {
            let value = self.at(block).cast(value, dtype)?;
            return Ok(self.keep(value));
        }
        self.constant(block, form, dtype)
    }
    fn constant(&mut self, block: Block, form: Form, dtype: DType) -> Built<Value> {
        let number = self.source.range(if dtype.is_signed() { -3 } else { 0 }, 3);
        let ty = self.ir.scalar(dtype);
        let kind = match (dtype, dtype.is_float()) {
            (DType::I1, _) => AttrKind::Bool(number > 1),
            (_, true) => AttrKind::Float {
                bits: float::nearest(dtype, number as f64),
                ty,
            },
            (_, false) => AttrKind::Int {
                value: number.into(),
                ty,
            },
        };
        let value = self.ir.attr(kind);
        let scalar = |scope: &mut Self| {
            let clauses = [("value", value)];
            scope.at(block).typed(&fusion::CONSTANT, &[], &clauses, ty)
        };
        let value = match form {
            Form::Scalar => scalar(self)?,
            Form::Vector(lanes) => match self.source.chance(1, 2) {
                true => {
                    let ty = self.ir.vector(lanes, dtype);
                    let clauses = [("value", value)];
                    self.at(block).typed(&fusion::CONSTANT, &[], &clauses, ty)?
                }
                false => {
                    let scalar = scalar(self)?;
                    self.at(block).splat(scalar, lanes)?
                }
            },
        };
        Ok(self.keep(value))
    }
    /// Runs `body`, and forgets the values and the scratch memory that it made.
    pub fn inner<T>(&mut self, body: impl FnOnce(&mut Self) -> Built<T>) -> Built<T> {
        let (values, scratch) = (self.values.len(), self.scratch.len());
        let result = body(self);
        self.values.truncate(values);
        self.scratch.truncate(scratch);
        result
    }
}

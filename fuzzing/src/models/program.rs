//! A program as it is written: values with names and types, ops in order, before it is text.

use fuser_ir::DType;

use super::types::{Dim, Type};

/// A value, by its number in the program.
pub type V = usize;

/// A clause of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Clause {
    /// `dims [0, 1]`
    Ints(&'static str, Vec<u64>),
    /// `shape [[B], 4]`
    Shape(Vec<Dim>),
    /// `dim 1`
    Int(&'static str, u64),
    /// `predicate lt`
    Word(&'static str, &'static str),
    /// `to f32`
    Element(&'static str, DType),
    /// `value 0.5`
    Number(String),
    /// `init [0.0, 1]`
    Numbers(&'static str, Vec<String>),
    /// `keepdim`
    Flag(&'static str),
}

/// An op of the dialect `fusion`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Op {
    /// Without the dialect.
    pub name: &'static str,
    /// Operands.
    pub operands: Vec<V>,
    /// In order.
    pub clauses: Vec<Clause>,
    /// Results.
    pub results: Vec<V>,
    /// The text of its lambda; none of most ops.
    pub lambda: Option<String>,
}

/// Name, type and range of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Info {
    /// Without `%`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// No element is expected below.
    pub low: f64,
    /// No element is expected above.
    pub high: f64,
}

/// The contents of an input.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Data {
    /// Reals, uniform.
    Reals(f64, f64),
    /// Whole numbers, both ends included.
    Whole(i64, i64),
    /// Every bit pattern of an integer type.
    Full,
    /// Whole numbers with NaN, infinities, negative zeros and subnormals among them.
    Edges,
}

/// A program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// All values.
    pub values: Vec<Info>,
    /// The parameters and their data.
    pub parameters: Vec<(V, Data)>,
    /// The ops, in a valid order.
    pub ops: Vec<Op>,
    /// The returned values, each with the parameter that it overwrites.
    pub results: Vec<(V, Option<V>)>,
    /// Named extents and their lengths.
    pub extents: Vec<(&'static str, u64)>,
    /// Words for statistics: the sentences.
    pub sentences: Vec<&'static str>,
}

impl Program {
    /// The program with other lengths for its names.
    pub fn bound(&self, extents: Vec<(&'static str, u64)>) -> Self {
        let mut copy = self.clone();
        let dims = copy.values.iter_mut().flat_map(|info| &mut info.ty.dims);
        for dim in dims {
            dim.length = dim.extent.length(&extents).unwrap_or(dim.length);
        }
        copy.extents = extents;
        copy
    }
    /// The type of a value.
    pub fn ty(&self, value: V) -> &Type {
        &self.values[value].ty
    }
}

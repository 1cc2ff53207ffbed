//! Formulas in mathematical notation: program values with operators that create ops.
//!
//! ```text
//! let (a, b) = ...;   a * a + b * b    =>    %0 = fusion.mul %a, %a ... %2 = fusion.add %0, %1
//! ```
//!
//! The first op that inference refuses becomes the error of the whole formula; values after it are meaningless.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{DType, OpDef, Value};

/// A program that is being written.
pub struct Tape<'a> {
    builder: RefCell<Builder<'a>>,
    error: RefCell<Option<OpError>>,
}

/// A value of the program.
#[derive(Clone, Copy)]
pub struct Num<'t> {
    tape: &'t Tape<'t>,
    /// The value.
    pub value: Value,
}

impl<'a> Tape<'a> {
    pub fn new(builder: Builder<'a>) -> Self {
        Self {
            builder: RefCell::new(builder),
            error: RefCell::default(),
        }
    }
    /// The error of the first op that could not be made.
    pub fn finish(&self) -> Result<(), OpError> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl<'t> Tape<'t> {
    pub fn num(&'t self, value: Value) -> Num<'t> {
        Num { tape: self, value }
    }
    /// The value that `make` makes, or `else_` where it fails.
    fn make(&'t self, else_: Value, make: impl FnOnce(&mut Builder<'t>) -> Built) -> Num<'t> {
        let made = make(&mut self.builder.borrow_mut());
        let value = made.unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            else_
        });
        self.num(value)
    }
}

impl<'t> Num<'t> {
    /// An op with this operand and no clauses.
    pub fn map(self, def: &'static OpDef) -> Self {
        self.tape.make(self.value, |b| b.unary(def, self.value))
    }
    /// An op with two operands and no clauses.
    pub fn with(self, def: &'static OpDef, other: Self) -> Self {
        self.tape
            .make(self.value, |b| b.binary(def, self.value, other.value))
    }
    /// A number of this element type, as a scalar.
    pub fn number(self, number: f64) -> Self {
        self.tape.make(self.value, |b| {
            let dtype = b.ir.value_kind(self.value).dtype();
            let ty = b.ir.scalar(dtype.unwrap_or(DType::F32));
            b.constant_float(number, ty)
        })
    }
    /// The truth value true.
    pub fn yes(self) -> Self {
        self.tape.make(self.value, |b| {
            let ty = b.ir.scalar(DType::I1);
            b.constant_int(1, ty)
        })
    }
    pub fn compare(self, predicate: &str, other: Self) -> Self {
        self.tape.make(self.value, |b| {
            b.compare(predicate, self.value, other.value)
        })
    }
    /// A comparison with a number.
    pub fn is(self, predicate: &str, number: f64) -> Self {
        self.compare(predicate, self.number(number))
    }
    /// `then` where this holds, else `otherwise`.
    pub fn choose(self, then: Self, otherwise: Self) -> Self {
        self.tape.make(then.value, |b| {
            b.choose(self.value, then.value, otherwise.value)
        })
    }
    pub fn cast(self, to: DType) -> Self {
        self.tape.make(self.value, |b| b.cast(self.value, to))
    }
    pub fn and(self, other: Self) -> Self {
        self.with(&fusion::AND, other)
    }
    pub fn or(self, other: Self) -> Self {
        self.with(&fusion::OR, other)
    }
    pub fn abs(self) -> Self {
        self.map(&fusion::ABS)
    }
}

/// An operator and the op that it makes.
macro_rules! operator {
    ($($trait:ident $name:ident $def:ident)*) => {
        $(impl $trait for Num<'_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.with(&fusion::$def, other)
            }
        })*
    };
}

operator! {
    Add add ADD
    Sub sub SUB
    Mul mul MUL
    Div div DIV
}

impl Neg for Num<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.map(&fusion::NEG)
    }
}

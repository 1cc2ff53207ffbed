//! Sizes as arithmetic on the named extents of a program.
//!
//! A [`SizeExpr`] is a flat postfix program, so that nothing recurses on its depth. Its text is that program, `$0`
//! being the first named extent: `$0 1024 * 2 ceildiv`. Arithmetic is on `i64` and checked: an overflow, a divisor that
//! is not positive or a malformed program is a [`SizeError`] that names the expression; nothing here panics.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::MAX_SIZE_OPS;

/// One token of a postfix program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeOp {
    Const(i64),
    /// The value of the artifact's extent of that number.
    Extent(u32),
    Add,
    Sub,
    Mul,
    /// Quotient rounded towards plus infinity; the divisor must be positive.
    CeilDiv,
    /// Quotient rounded towards minus infinity; the divisor must be positive.
    FloorDiv,
    Min,
    Max,
}

/// A size: a postfix program over constants and named extents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeExpr {
    ops: Vec<SizeOp>,
}

impl SizeExpr {
    pub fn constant(value: i64) -> SizeExpr {
        SizeExpr::from_ops(vec![SizeOp::Const(value)])
    }

    pub fn extent(index: u32) -> SizeExpr {
        SizeExpr::from_ops(vec![SizeOp::Extent(index)])
    }

    /// Wraps a program without checks; [`SizeExpr::check`] tells if it is well formed.
    pub fn from_ops(ops: Vec<SizeOp>) -> SizeExpr {
        SizeExpr { ops }
    }

    /// The product of all, 1 for none.
    pub fn product(factors: impl IntoIterator<Item = SizeExpr>) -> SizeExpr {
        factors
            .into_iter()
            .fold(SizeExpr::constant(1), |a, b| a * b)
    }

    /// The sum of all, 0 for none.
    pub fn sum(terms: impl IntoIterator<Item = SizeExpr>) -> SizeExpr {
        terms.into_iter().fold(SizeExpr::constant(0), |a, b| a + b)
    }

    pub fn ceil_div(self, divisor: SizeExpr) -> SizeExpr {
        self.binary(divisor, SizeOp::CeilDiv)
    }

    pub fn floor_div(self, divisor: SizeExpr) -> SizeExpr {
        self.binary(divisor, SizeOp::FloorDiv)
    }

    pub fn minimum(self, other: SizeExpr) -> SizeExpr {
        self.binary(other, SizeOp::Min)
    }

    pub fn maximum(self, other: SizeExpr) -> SizeExpr {
        self.binary(other, SizeOp::Max)
    }

    pub fn ops(&self) -> &[SizeOp] {
        &self.ops
    }

    /// The value, where the expression is one constant.
    pub fn as_constant(&self) -> Option<i64> {
        match self.ops[..] {
            [SizeOp::Const(value)] => Some(value),
            _ => None,
        }
    }

    /// The number of the extent, if the expression is a single extent.
    pub fn as_extent(&self) -> Option<u32> {
        match self.ops[..] {
            [SizeOp::Extent(index)] => Some(index),
            _ => None,
        }
    }

    /// Refuses a program that does not leave one value, is too long, or names an extent that is not there.
    pub fn check(&self, extents: usize) -> Result<(), SizeError> {
        let fault = |fault| SizeError::new(self, fault);
        if self.ops.len() > MAX_SIZE_OPS {
            return Err(fault(SizeFault::TooLong));
        }
        let mut depth = 0usize;
        for op in &self.ops {
            match *op {
                SizeOp::Const(_) => depth += 1,
                SizeOp::Extent(index) if (index as usize) < extents => depth += 1,
                SizeOp::Extent(index) => {
                    return Err(fault(SizeFault::UnknownExtent { index, extents }));
                }
                _ if depth < 2 => return Err(fault(SizeFault::Malformed)),
                _ => depth -= 1,
            }
        }
        let well_formed = depth == 1;
        well_formed.then_some(()).ok_or(fault(SizeFault::Malformed))
    }

    /// The value for these extents.
    pub fn evaluate(&self, extents: &[i64]) -> Result<i64, SizeError> {
        self.check(extents.len())?;
        let fault = |fault| SizeError::new(self, fault);
        let mut stack: Vec<i64> = Vec::new();
        for op in &self.ops {
            let value = match *op {
                SizeOp::Const(value) => value,
                SizeOp::Extent(index) => *extents
                    .get(index as usize)
                    .ok_or(fault(SizeFault::Malformed))?,
                op => match (stack.pop(), stack.pop()) {
                    (Some(b), Some(a)) => apply(op, a, b).map_err(fault)?,
                    _ => return Err(fault(SizeFault::Malformed)),
                },
            };
            stack.push(value);
        }
        stack.pop().ok_or(fault(SizeFault::Malformed))
    }

    /// The value for these extents as a number of elements or bytes: a negative one is an error.
    pub fn evaluate_size(&self, extents: &[i64]) -> Result<usize, SizeError> {
        let value = self.evaluate(extents)?;
        usize::try_from(value).map_err(|_| SizeError::new(self, SizeFault::Negative { value }))
    }

    /// The expression in the usual notation with the extents' names, for messages: `(B + 1) * 1024`.
    pub fn pretty(&self, names: &[String]) -> String {
        if self.check(names.len()).is_err() {
            return self.to_string();
        }
        let mut stack: Vec<Infix> = Vec::new();
        for op in &self.ops {
            let next = match *op {
                SizeOp::Const(value) => Infix::atom(value.to_string()),
                SizeOp::Extent(index) => match names.get(index as usize) {
                    Some(name) => Infix::atom(name.clone()),
                    None => return self.to_string(),
                },
                op => match (stack.pop(), stack.pop()) {
                    (Some(b), Some(a)) => Infix::join(op, a, b),
                    _ => return self.to_string(),
                },
            };
            stack.push(next);
        }
        stack.pop().map_or_else(String::new, |infix| infix.text)
    }

    /// Combines two expressions. Folds the operation if both are constant or one is neutral.
    fn binary(mut self, other: SizeExpr, op: SizeOp) -> SizeExpr {
        match (op, self.as_constant(), other.as_constant()) {
            (_, Some(a), Some(b)) if apply(op, a, b).is_ok() => {
                return apply(op, a, b).map_or(self, SizeExpr::constant);
            }
            (SizeOp::Add, Some(0), _) | (SizeOp::Mul, Some(1), _) => return other,
            (SizeOp::Add | SizeOp::Sub, _, Some(0)) => return self,
            (SizeOp::Mul | SizeOp::CeilDiv | SizeOp::FloorDiv, _, Some(1)) => return self,
            _ => {}
        }
        self.ops.extend(other.ops);
        self.ops.push(op);
        self
    }
}

impl std::ops::Add for SizeExpr {
    type Output = SizeExpr;
    fn add(self, other: SizeExpr) -> SizeExpr {
        self.binary(other, SizeOp::Add)
    }
}

impl std::ops::Sub for SizeExpr {
    type Output = SizeExpr;
    fn sub(self, other: SizeExpr) -> SizeExpr {
        self.binary(other, SizeOp::Sub)
    }
}

impl std::ops::Mul for SizeExpr {
    type Output = SizeExpr;
    fn mul(self, other: SizeExpr) -> SizeExpr {
        self.binary(other, SizeOp::Mul)
    }
}

impl From<i64> for SizeExpr {
    fn from(value: i64) -> SizeExpr {
        SizeExpr::constant(value)
    }
}

fn apply(op: SizeOp, a: i64, b: i64) -> Result<i64, SizeFault> {
    let divides = matches!(op, SizeOp::CeilDiv | SizeOp::FloorDiv);
    if divides && b <= 0 {
        return Err(SizeFault::Divisor { value: b });
    }
    let result = match op {
        SizeOp::Add => a.checked_add(b),
        SizeOp::Sub => a.checked_sub(b),
        SizeOp::Mul => a.checked_mul(b),
        SizeOp::FloorDiv => Some(a.div_euclid(b)),
        SizeOp::CeilDiv => Some(a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
        SizeOp::Min => Some(a.min(b)),
        SizeOp::Max => Some(a.max(b)),
        SizeOp::Const(_) | SizeOp::Extent(_) => return Err(SizeFault::Malformed),
    };
    result.ok_or(SizeFault::Overflow)
}

/// Text in the usual notation, with how tightly its outermost operator binds.
struct Infix {
    text: String,
    strength: u8,
}

impl Infix {
    const SUM: u8 = 1;
    const PRODUCT: u8 = 2;
    const ATOM: u8 = 3;

    fn atom(text: String) -> Infix {
        Infix {
            text,
            strength: Infix::ATOM,
        }
    }

    fn join(op: SizeOp, a: Infix, b: Infix) -> Infix {
        let strength = match op {
            SizeOp::Add | SizeOp::Sub => Infix::SUM,
            SizeOp::Mul | SizeOp::CeilDiv | SizeOp::FloorDiv => Infix::PRODUCT,
            _ => return Infix::atom(format!("{}({}, {})", op.token(), a.text, b.text)),
        };
        // Only sums and products associate on the right.
        let right = match op {
            SizeOp::Add | SizeOp::Mul => strength,
            _ => strength + 1,
        };
        let text = format!("{} {} {}", a.within(strength), op.token(), b.within(right));
        Infix { text, strength }
    }

    fn within(self, strength: u8) -> String {
        if self.strength < strength {
            format!("({})", self.text)
        } else {
            self.text
        }
    }
}

impl SizeOp {
    fn token(self) -> &'static str {
        match self {
            SizeOp::Add => "+",
            SizeOp::Sub => "-",
            SizeOp::Mul => "*",
            SizeOp::CeilDiv => "ceildiv",
            SizeOp::FloorDiv => "floordiv",
            SizeOp::Min => "min",
            SizeOp::Max => "max",
            SizeOp::Const(_) | SizeOp::Extent(_) => "",
        }
    }

    fn parse(token: &str) -> Option<SizeOp> {
        if let Some(index) = token.strip_prefix('$') {
            return index.parse().ok().map(SizeOp::Extent);
        }
        let operators = [
            SizeOp::Add,
            SizeOp::Sub,
            SizeOp::Mul,
            SizeOp::CeilDiv,
            SizeOp::FloorDiv,
            SizeOp::Min,
            SizeOp::Max,
        ];
        let operator = operators.into_iter().find(|op| op.token() == token);
        operator.or_else(|| token.parse().ok().map(SizeOp::Const))
    }
}

impl fmt::Display for SizeOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeOp::Const(value) => write!(f, "{value}"),
            SizeOp::Extent(index) => write!(f, "${index}"),
            op => f.write_str(op.token()),
        }
    }
}

impl fmt::Display for SizeExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, op) in self.ops.iter().enumerate() {
            let space = if position > 0 { " " } else { "" };
            write!(f, "{space}{op}")?;
        }
        Ok(())
    }
}

/// Text that is no postfix program of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseSizeError {
    Token { token: String },
    TooLong { limit: usize },
}

impl fmt::Display for ParseSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseSizeError::Token { token } => write!(f, "`{token}` is no token of a size"),
            ParseSizeError::TooLong { limit } => {
                write!(f, "a size of more than {limit} tokens")
            }
        }
    }
}

impl std::error::Error for ParseSizeError {}

impl FromStr for SizeExpr {
    type Err = ParseSizeError;

    fn from_str(text: &str) -> Result<SizeExpr, ParseSizeError> {
        let mut ops = Vec::new();
        for token in text.split_ascii_whitespace() {
            if ops.len() == MAX_SIZE_OPS {
                let limit = MAX_SIZE_OPS;
                return Err(ParseSizeError::TooLong { limit });
            }
            let op = SizeOp::parse(token).ok_or_else(|| ParseSizeError::Token {
                token: token.to_string(),
            })?;
            ops.push(op);
        }
        Ok(SizeExpr { ops })
    }
}

impl Serialize for SizeExpr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SizeExpr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SizeExpr, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// The reason that a size has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeFault {
    Malformed,
    TooLong,
    UnknownExtent { index: u32, extents: usize },
    Overflow,
    Divisor { value: i64 },
    Negative { value: i64 },
}

/// A size that cannot be had, with its expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeError {
    pub expr: SizeExpr,
    pub fault: SizeFault,
}

impl SizeError {
    fn new(expr: &SizeExpr, fault: SizeFault) -> SizeError {
        // A program that is too long would only flood the message.
        let shown = expr.ops.len().min(MAX_SIZE_OPS);
        let expr = SizeExpr::from_ops(expr.ops.iter().take(shown).copied().collect());
        SizeError { expr, fault }
    }
}

impl SizeError {
    /// The message with the expression in the usual notation and the extents' names, for users.
    pub fn describe(&self, names: &[String]) -> String {
        self.message(&self.expr.pretty(names))
    }

    fn message(&self, expr: &str) -> String {
        match &self.fault {
            SizeFault::Malformed => format!("size `{expr}` does not leave one value"),
            SizeFault::TooLong => format!("a size of more than {MAX_SIZE_OPS} tokens"),
            SizeFault::UnknownExtent { index, extents } => {
                format!("size `{expr}` names extent {index} of {extents}")
            }
            SizeFault::Overflow => format!("size `{expr}` does not fit 64 bits"),
            SizeFault::Divisor { value } => format!("size `{expr}` divides by {value}"),
            SizeFault::Negative { value } => format!("size `{expr}` is {value}"),
        }
    }
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(&self.expr.to_string()))
    }
}

impl std::error::Error for SizeError {}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;

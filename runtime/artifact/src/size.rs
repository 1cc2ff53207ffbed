//! Sizes as arithmetic on the named extents of a program.
//!
//! A [`SizeExpr`] is a flat postfix program, so that nothing recurses on its depth. Its text is that program, `$0` being
//! the first named extent: `$0 1024 * 2 ceildiv`. Arithmetic is on `i64` and checked: an overflow, a divisor that is not
//! positive or a malformed program is a [`SizeError`] that names the expression; nothing here panics.

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

    /// Takes a program as it is; [`SizeExpr::check`] says whether it is well formed.
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

    /// The number of the extent, where the expression is one extent and nothing else.
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

    /// Puts two expressions together, at once where both are constants and where one is neutral.
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

/// What is wrong with a size.
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
mod tests {
    use super::*;

    fn expr(text: &str) -> SizeExpr {
        text.parse().unwrap()
    }

    fn message(text: &str, extents: &[i64]) -> String {
        expr(text).evaluate(extents).unwrap_err().to_string()
    }

    #[test]
    fn values_are_exact() {
        let extents = [7, 3];
        for (text, value) in [
            ("5", 5),
            ("$0", 7),
            ("$0 $1 +", 10),
            ("$0 $1 -", 4),
            ("$1 $0 -", -4),
            ("$0 $1 *", 21),
            ("$0 $1 ceildiv", 3),
            ("$0 $1 floordiv", 2),
            ("-7 3 ceildiv", -2),
            ("-7 3 floordiv", -3),
            ("6 3 ceildiv", 2),
            ("$0 $1 min", 3),
            ("$0 $1 max", 7),
            ("$0 1 - $1 ceildiv 4 *", 8),
        ] {
            assert_eq!(expr(text).evaluate(&extents), Ok(value), "{text}");
            assert_eq!(expr(text).to_string(), text);
        }
    }

    #[test]
    fn faults_name_the_expression() {
        let huge = format!("{} 2 *", i64::MAX);
        let overflow = format!("size `{huge}` does not fit 64 bits");
        assert_eq!(message(&huge, &[]), overflow);
        assert_eq!(
            message("1 $0 floordiv", &[0]),
            "size `1 $0 floordiv` divides by 0"
        );
        assert_eq!(message("$2", &[1, 1]), "size `$2` names extent 2 of 2");
        for malformed in ["", "+", "1 +", "1 2"] {
            let expected = format!("size `{malformed}` does not leave one value");
            assert_eq!(message(malformed, &[]), expected);
        }
        let negative = expr("$0 2 -").evaluate_size(&[1]).unwrap_err();
        assert_eq!(negative.to_string(), "size `$0 2 -` is -1");
        assert_eq!(negative.describe(&["B".to_string()]), "size `B - 2` is -1");
        let text = "1 ".repeat(MAX_SIZE_OPS + 1);
        let error = text.parse::<SizeExpr>().unwrap_err();
        assert_eq!(error.to_string(), "a size of more than 4096 tokens");
        assert_eq!(
            "1 ?".parse::<SizeExpr>().unwrap_err().to_string(),
            "`?` is no token of a size"
        );
        let long = SizeExpr::from_ops(vec![SizeOp::Const(1); MAX_SIZE_OPS + 1]);
        assert_eq!(long.check(0).unwrap_err().fault, SizeFault::TooLong);
    }

    #[test]
    fn extreme_operands_do_not_panic() {
        let values = [i64::MIN, i64::MIN + 1, -1, 0, 1, 2, i64::MAX - 1, i64::MAX];
        for op in ["+", "-", "*", "ceildiv", "floordiv", "min", "max"] {
            for a in values {
                for b in values {
                    let _ = expr(&format!("{a} {b} {op}")).evaluate(&[]);
                }
            }
        }
        assert_eq!(
            expr(&format!("{} 2 ceildiv", i64::MAX)).evaluate(&[]),
            Ok(1 << 62)
        );
    }

    #[test]
    fn building_folds_constants_and_neutral_elements() {
        let b = || SizeExpr::extent(0);
        let c = SizeExpr::constant;
        assert_eq!((c(2) * c(3) + c(1)).as_constant(), Some(7));
        assert_eq!(b() * c(1) + c(0), b());
        assert_eq!(c(0) + c(1) * b() - c(0), b());
        assert_eq!(b().ceil_div(c(1)).floor_div(c(1)).as_extent(), Some(0));
        assert_eq!(
            SizeExpr::product([b(), c(4), c(2)]).to_string(),
            "$0 4 * 2 *"
        );
        assert_eq!(SizeExpr::sum([]).as_constant(), Some(0));
        // What does not fit stays an expression, whose evaluation is then an error.
        assert!((c(i64::MAX) * c(2)).evaluate(&[]).is_err());
    }

    #[test]
    fn the_usual_notation_has_the_brackets_that_it_needs() {
        let names = ["B".to_string(), "S".to_string()];
        for (text, pretty) in [
            ("$0 1 + 1024 *", "(B + 1) * 1024"),
            ("$0 $1 1024 * *", "B * S * 1024"),
            ("$0 $1 1 - -", "B - (S - 1)"),
            ("$0 $1 2 * ceildiv", "B ceildiv (S * 2)"),
            ("$0 $1 1 + max", "max(B, S + 1)"),
            ("$7", "$7"),
        ] {
            assert_eq!(expr(text).pretty(&names), pretty);
        }
    }
}

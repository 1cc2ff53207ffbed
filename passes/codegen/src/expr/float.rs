//! Floating-point functions of [`Val`] that are one LLVM intrinsic, and polynomials.

use super::{Operand, Val};

impl<'e, 'ctx> Val<'e, 'ctx> {
    fn unary_intrinsic(self, name: &str, others: &[Val<'e, 'ctx>]) -> Self {
        let args: Vec<Val<'e, 'ctx>> = std::iter::once(self)
            .chain(others.iter().copied())
            .collect();
        let result = self.emit.intrinsic(name, &[self.raw.get_type()], &args);
        Val {
            emit: self.emit,
            raw: result.unwrap_or(self.raw),
        }
    }

    /// `self * a + b`, rounded once.
    pub fn fma(self, a: impl Operand<'e, 'ctx>, b: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.fma", &[a.like(self), b.like(self)])
    }

    pub fn abs(self) -> Self {
        self.unary_intrinsic("llvm.fabs", &[])
    }

    pub fn sqrt(self) -> Self {
        self.unary_intrinsic("llvm.sqrt", &[])
    }

    pub fn floor(self) -> Self {
        self.unary_intrinsic("llvm.floor", &[])
    }

    pub fn ceil(self) -> Self {
        self.unary_intrinsic("llvm.ceil", &[])
    }

    pub fn trunc(self) -> Self {
        self.unary_intrinsic("llvm.trunc", &[])
    }

    /// Rounds to an integral value, ties to even.
    pub fn round_even(self) -> Self {
        self.unary_intrinsic("llvm.roundeven", &[])
    }

    /// This magnitude with the sign of `sign`.
    pub fn copysign(self, sign: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.copysign", &[sign.like(self)])
    }

    /// The number of zero bits above the highest one; the width, for zero.
    pub fn leading_zeros(self) -> Self {
        self.unary_intrinsic("llvm.ctlz", &[self.emit.constant_int(1, None, 0)])
    }

    /// The greater of two signed integers.
    pub fn smax(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.smax", &[other.like(self)])
    }

    /// The lesser of two signed integers.
    pub fn smin(self, other: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic("llvm.smin", &[other.like(self)])
    }

    /// An intrinsic of two operands of one type, such as `llvm.maximum`.
    pub fn intrinsic2(self, name: &str, other: impl Operand<'e, 'ctx>) -> Self {
        self.unary_intrinsic(name, &[other.like(self)])
    }

    /// No more than `high` and no less than `low`; NaN stays NaN.
    pub fn clamp(self, low: f64, high: f64) -> Self {
        // One instruction each: AArch64 and some GPUs have minimum and maximum that keep NaN, x86 those that are these choices.
        let below = match self.emit.has_extremes() && !self.is_f64() {
            true => self.intrinsic2("llvm.minimum", high),
            false => self.except(self.gt(high), high),
        };
        below.at_least(low)
    }

    /// No less than `low`; NaN stays NaN.
    pub fn at_least(self, low: f64) -> Self {
        match self.emit.has_extremes() && !self.is_f64() {
            true => self.intrinsic2("llvm.maximum", low),
            false => self.except(self.lt(low), low),
        }
    }

    /// Horner's rule with fused steps; `coefficients` start at the constant term.
    pub fn poly(self, coefficients: &[f64]) -> Self {
        let mut rest = coefficients.iter().rev();
        let mut sum = self.float(rest.next().copied().unwrap_or(0.0));
        for &c in rest {
            sum = sum.fma(self, c);
        }
        sum
    }

    /// Estrin's scheme but for the last step, which is Horner's: terms in pairs, and pairs of these. The longest chain of
    /// dependent steps is a logarithm of the degree, for a multiplication more at each level. It rounds at other places
    /// than [`poly`](Self::poly).
    pub fn poly_by_pairs(self, coefficients: &[f64]) -> Self {
        let Some((&first, coefficients)) = coefficients.split_first() else {
            return self.float(0.0);
        };
        let mut terms: Vec<Self> = coefficients
            .chunks(2)
            .map(|pair| match *pair {
                [low, high] => self.float(high).fma(self, low),
                _ => self.float(pair[0]),
            })
            .collect();
        let mut power = self;
        while terms.len() > 1 {
            power = power * power;
            terms = terms
                .chunks(2)
                .map(|pair| match *pair {
                    [low, high] => high.fma(power, low),
                    _ => pair[0],
                })
                .collect();
        }
        match terms.pop() {
            Some(rest) => rest.fma(self, first),
            None => self.float(first),
        }
    }
}

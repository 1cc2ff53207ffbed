//! Indices as sums: `i * 999 + j + 3` of the indices `i` and `j`.

use fuser_dialects::kernel::rounds::literal;
use fuser_ir::def::Computes;
use fuser_ir::{Ir, Value};

/// The most ops between an index and the indices that it is made of.
const REACH: usize = 8;

/// A sum of multiples of indices, and a constant.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Linear {
    /// Sorted.
    pub(super) terms: Vec<(Value, i64)>,
    pub(super) constant: i64,
}

impl Linear {
    /// An index as a sum.
    pub(super) fn of(ir: &Ir, value: Value) -> Option<Linear> {
        Linear::within(ir, value, REACH)
    }
    fn within(ir: &Ir, value: Value, reach: usize) -> Option<Linear> {
        if let Some(constant) = literal(ir, value) {
            return Some(Linear {
                terms: Vec::new(),
                constant,
            });
        }
        let alone = || {
            Some(Linear {
                terms: vec![(value, 1)],
                constant: 0,
            })
        };
        let made = ir.def_op(value).filter(|&op| ir.operand_count(op) == 2);
        let Some((op, reach)) = made.zip(reach.checked_sub(1)) else {
            return alone();
        };
        let operand = |n| Linear::within(ir, ir.operand(op, n), reach);
        match ir.computes(op) {
            Some(Computes::Add) => operand(0)?.plus(&operand(1)?, 1),
            Some(Computes::Sub) => operand(0)?.plus(&operand(1)?, -1),
            Some(Computes::Mul) => {
                let (a, b) = (operand(0)?, operand(1)?);
                match (a.terms.is_empty(), b.terms.is_empty()) {
                    (true, _) => Linear::default().plus(&b, a.constant),
                    (_, true) => Linear::default().plus(&a, b.constant),
                    _ => alone(),
                }
            }
            _ => alone(),
        }
    }
    /// The sum of it and a multiple of another.
    pub(super) fn plus(mut self, other: &Linear, by: i64) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(by)?)?;
        for &(value, factor) in &other.terms {
            let factor = factor.checked_mul(by)?;
            match self.terms.iter_mut().find(|term| term.0 == value) {
                Some(term) => term.1 = term.1.checked_add(factor)?,
                None => self.terms.push((value, factor)),
            }
        }
        self.terms.sort_unstable();
        self.terms.retain(|term| term.1 != 0);
        Some(self)
    }
    /// The factor of an index.
    pub(super) fn factor(&self, of: Value) -> i64 {
        let term = self.terms.iter().find(|term| term.0 == of);
        term.map_or(0, |term| term.1)
    }
    /// The sum modulo a power of two, with factors below it.
    pub(super) fn modulo(mut self, lanes: i64) -> Linear {
        for term in &mut self.terms {
            term.1 = term.1.rem_euclid(lanes);
        }
        self.terms.retain(|term| term.1 != 0);
        self.constant = self.constant.rem_euclid(lanes);
        self
    }
    /// True if it is a multiple of a number, whatever its indices.
    pub(super) fn is_multiple(&self, of: i64) -> bool {
        let mut factors = self.terms.iter().map(|term| term.1);
        self.constant % of == 0 && factors.all(|factor| factor % of == 0)
    }
}

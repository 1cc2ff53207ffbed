//! A number of bytes that may depend on named extents.

use std::iter::Sum;

use fuser_analysis::axes::expr_text;
use fuser_analysis::cost::{Bindings, stored_bytes_expr};
use fuser_ir::types::{ExtentExpr, Names};
use fuser_ir::{Ir, Value};
use serde::{Serialize, Serializer};

/// A polynomial over unbound names, by the text of each term; `None` if an extent is `?`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quantity(Option<std::collections::BTreeMap<String, i128>>);

impl Quantity {
    /// No bytes.
    pub fn zero() -> Self {
        std::iter::empty().sum()
    }
    /// Stored bytes of `value`, with the names of `bindings` replaced by their lengths.
    pub fn bytes(ir: &Ir, value: Value, bindings: &Bindings) -> Self {
        match stored_bytes_expr(ir, value) {
            Some(expr) => Self::of(ir, &expr, bindings),
            None => Self(None),
        }
    }
    /// A polynomial, with the names of `bindings` replaced by their lengths.
    pub fn of(ir: &Ir, expr: &ExtentExpr, bindings: &Bindings) -> Self {
        let mut terms = std::collections::BTreeMap::new();
        for (names, coefficient) in &expr.terms {
            let mut factor = i128::from(*coefficient);
            let mut free = Names::new();
            for name in names {
                match bindings.named.get(name) {
                    Some(&length) => factor = factor.saturating_mul(i128::from(length)),
                    None => free.push(*name),
                }
            }
            let monomial = ExtentExpr {
                terms: [(free, 1)].into_iter().collect(),
            };
            let term: &mut i128 = terms.entry(expr_text(ir, &monomial)).or_default();
            *term = term.saturating_add(factor);
        }
        Self(Some(terms))
    }
    /// The number, if the polynomial has no unbound names.
    pub fn number(&self) -> Option<u64> {
        let terms = self.0.as_ref()?;
        let free = terms.iter().any(|(names, &c)| names != "1" && c != 0);
        let constant = terms.get("1").copied().unwrap_or(0);
        u64::try_from(constant).ok().filter(|_| !free)
    }
    /// True if every term of the quantity is at most that of `other`: then it is at most `other` for all lengths.
    pub fn is_at_most(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (&self.0, &other.0) else {
            return false;
        };
        let below = |(names, c): (&String, &i128)| *c <= others.get(names).copied().unwrap_or(0);
        own.iter().all(below) && others.values().all(|&c| c >= 0)
    }
    /// The polynomial as text.
    pub fn text(&self) -> String {
        let Some(terms) = &self.0 else {
            return "?".into();
        };
        let term = |(names, c): (&String, &i128)| match names.as_str() {
            "1" => c.to_string(),
            names if *c == 1 => names.to_owned(),
            names => format!("{c}*{names}"),
        };
        let texts: Vec<String> = terms
            .iter()
            .filter(|(_, c)| **c != 0)
            .rev()
            .map(term)
            .collect();
        match texts.is_empty() {
            true => "0".into(),
            false => texts.join("+"),
        }
    }
}

impl Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        let mut total = std::collections::BTreeMap::new();
        for quantity in iter {
            let Some(terms) = quantity.0 else {
                return Self(None);
            };
            for (names, c) in terms {
                let term: &mut i128 = total.entry(names).or_default();
                *term = term.saturating_add(c);
            }
        }
        Self(Some(total))
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.number() {
            Some(number) => serializer.serialize_u64(number),
            None => serializer.serialize_str(&self.text()),
        }
    }
}

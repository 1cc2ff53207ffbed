//! Sums of products of unknown integers, to represent indices and to compare two of them.

use std::collections::BTreeMap;

use fuser_ir::def::Computes;
use fuser_ir::{Ir, Value};

/// The most terms of a sum.
const MAX_TERMS: usize = 32;

/// The most ops that a sum is read from.
const MAX_OPS: usize = 64;

/// An unknown integer: a value, of the first access compared or of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unknown {
    /// One of the values that are computed alike.
    pub value: Value,
    /// True if it belongs to the other access, where it may be another integer.
    pub other: bool,
}

/// A product, sorted; 1 where it is empty.
pub type Product = Vec<Unknown>;

/// Products with their factors, none of them 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum(pub BTreeMap<Product, i64>);

impl Sum {
    /// `value` as a sum of products. `stands_for` gives one representative for all values that are computed alike.
    /// `None` if the sum is too long.
    pub fn of(ir: &Ir, value: Value, stands_for: &mut impl FnMut(Value) -> Value) -> Option<Sum> {
        Sum::read(ir, value, stands_for, &mut 0)
    }
    fn read(
        ir: &Ir,
        value: Value,
        stands_for: &mut impl FnMut(Value) -> Value,
        ops: &mut usize,
    ) -> Option<Sum> {
        *ops += 1;
        if *ops > MAX_OPS {
            return None;
        }
        let made = |what| ir.made_as(value, what);
        let made = [
            Computes::Constant,
            Computes::Add,
            Computes::Sub,
            Computes::Mul,
        ]
        .map(made);
        if let Some(constant) = made[0].and_then(|op| ir.int_of(op, "value")) {
            return Some(Sum::term(Product::new(), constant));
        }
        let Some(op) = made[1..].iter().flatten().next() else {
            let unknown = Unknown {
                value: stands_for(value),
                other: false,
            };
            return Some(Sum::term(vec![unknown], 1));
        };
        let [left, right] = [0, 1].map(|n| Sum::read(ir, ir.operand(*op, n), stands_for, ops));
        let (left, right) = (left?, right?);
        match made {
            [_, Some(_), ..] => left.plus(&right, 1),
            [_, _, Some(_), _] => left.plus(&right, -1),
            _ => left.times(&right),
        }
    }
    fn term(product: Product, factor: i64) -> Sum {
        Sum(BTreeMap::from([(product, factor)])).without_zeros()
    }
    fn without_zeros(mut self) -> Sum {
        self.0.retain(|_, factor| *factor != 0);
        self
    }
    /// `self + sign * other`.
    pub fn plus(&self, other: &Sum, sign: i64) -> Option<Sum> {
        let mut sum = self.clone();
        for (product, factor) in &other.0 {
            let own = sum.0.entry(product.clone()).or_default();
            *own = own.checked_add(factor.checked_mul(sign)?)?;
        }
        let sum = sum.without_zeros();
        (sum.0.len() <= MAX_TERMS).then_some(sum)
    }
    fn times(&self, other: &Sum) -> Option<Sum> {
        let mut sum = Sum::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut product = [&a[..], b].concat();
                product.sort_unstable();
                sum = sum.plus(&Sum::term(product, x.checked_mul(*y)?), 1)?;
            }
        }
        Some(sum)
    }
    /// The sum with the unknowns for which `differs` holds replaced by those of the other access.
    pub fn elsewhere(&self, differs: &impl Fn(Value) -> bool) -> Sum {
        let renamed = |product: &Product| {
            let unknowns = product.iter().map(|unknown| Unknown {
                value: unknown.value,
                other: differs(unknown.value),
            });
            let mut product: Product = unknowns.collect();
            product.sort_unstable();
            product
        };
        Sum(self.0.iter().map(|(p, &f)| (renamed(p), f)).collect())
    }
    /// The product that it is, with its factor.
    pub fn product(&self) -> Option<(Product, i64)> {
        match self.0.len() {
            0 => Some((Product::new(), 0)),
            1 => self.0.iter().next().map(|(p, &f)| (p.clone(), f)),
            _ => None,
        }
    }
    /// Takes the terms out that are a factor alone.
    pub fn take_constant(&mut self) -> i64 {
        self.0.remove(&Product::new()).unwrap_or(0)
    }
}

/// The greatest product that divides all of some: a factor, and the unknowns that all of them have.
pub fn common(products: &[(&Product, i64)]) -> Option<(Product, i64)> {
    let (first, rest) = products.split_first()?;
    let mut shared = first.0.clone();
    let mut factor = first.1.checked_abs()?;
    for (product, other) in rest {
        shared = both(&shared, product);
        factor = gcd(factor, other.checked_abs()?);
    }
    Some((shared, factor))
}

/// The unknowns that two sorted products share.
fn both(a: &Product, b: &Product) -> Product {
    let mut left = b.clone();
    let mut shared = Product::new();
    for unknown in a {
        if let Some(at) = left.iter().position(|other| other == unknown) {
            shared.push(left.remove(at));
        }
    }
    shared
}

/// True if `whole` has all unknowns of `part`.
pub fn divides(part: &Product, whole: &Product) -> bool {
    both(part, whole).len() == part.len()
}

fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::{Product, Sum, common};

    fn constant(n: i64) -> Sum {
        Sum::term(Product::new(), n)
    }

    #[test]
    fn what_overflows_is_no_sum() {
        let most = constant(i64::MAX);
        assert_eq!(most.plus(&constant(1), 1), None);
        assert_eq!(most.times(&constant(2)), None);
        assert_eq!(constant(i64::MIN).plus(&constant(1), i64::MIN), None);
        assert_eq!(common(&[(&Product::new(), i64::MIN)]), None);
        assert_eq!(constant(3).plus(&constant(3), -1), Some(Sum::default()));
    }
}

//! The order in which blocks and warps run: forward, reverse, or shuffled by a seed. A device may use any order; a
//! kernel whose result depends on it is wrong.

use fuser_random::SplitMix;

/// The orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// By number.
    #[default]
    Forward,
    /// By number, the last one first.
    Reverse,
    /// By chance.
    Random,
}

impl Order {
    /// All orders.
    pub const ALL: [Order; 3] = [Order::Forward, Order::Reverse, Order::Random];
    /// The word in options.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Forward => "forward",
            Order::Reverse => "reverse",
            Order::Random => "random",
        }
    }
}

/// A permutation of the numbers below a count, by a start and a step that is coprime to the count.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    count: u64,
    first: u64,
    step: u64,
}

impl Sequence {
    /// The order of `count` numbers; `random` is used up by a random one.
    pub fn new(order: Order, count: u64, random: &mut SplitMix) -> Sequence {
        let (first, step) = match order {
            Order::Forward => (0, 1),
            Order::Reverse => (count.saturating_sub(1), count.saturating_sub(1)),
            Order::Random => (random.word() % count.max(1), coprime(count, random.word())),
        };
        Sequence { count, first, step }
    }
    /// The number at a position.
    pub fn at(&self, position: u64) -> u64 {
        let count = u128::from(self.count.max(1));
        let number = u128::from(self.first) + u128::from(position) * u128::from(self.step);
        (number % count) as u64
    }
}

/// A number below `count` that has no common divisor with it.
fn coprime(count: u64, random: u64) -> u64 {
    let divisor = |a: u64, b: u64| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let start = random % count.max(1);
    let mut found = (start..count).chain(1..start);
    found.find(|n| divisor(*n, count) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_has_every_number_once() {
        let mut random = SplitMix(3);
        for order in Order::ALL {
            for count in [1, 2, 3, 4, 31, 32, 33, 64, 257] {
                let sequence = Sequence::new(order, count, &mut random);
                let mut all: Vec<u64> = (0..count).map(|p| sequence.at(p)).collect();
                match order {
                    Order::Forward => assert!(all.is_sorted()),
                    Order::Reverse => assert!(all.iter().rev().is_sorted()),
                    Order::Random => {}
                }
                all.sort_unstable();
                assert!(all.into_iter().eq(0..count), "{order:?} {count}");
            }
        }
    }
}

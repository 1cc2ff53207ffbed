//! The source of choices: a seed, or the bytes that a fuzzing engine mutates.
//!
//! Every choice of a generator is one call here. With a seed the choices are a splitmix64 sequence. With bytes each
//! choice takes as few of them as its range needs, so that changing one byte changes one choice; after the last byte
//! every choice is the first alternative, which generators make the one that ends.

use fuser_random::SplitMix;

/// A sequence of choices.
#[derive(Clone, Debug)]
pub struct Source {
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    Seed(SplitMix),
    Bytes { bytes: Vec<u8>, at: usize },
}

impl Source {
    /// The choices of a seed.
    pub fn seed(seed: u64) -> Self {
        Self {
            origin: Origin::Seed(SplitMix(seed)),
        }
    }
    /// The choices that `bytes` spell.
    pub fn bytes(bytes: &[u8]) -> Self {
        Self {
            origin: Origin::Bytes {
                bytes: bytes.to_vec(),
                at: 0,
            },
        }
    }
    /// A separate sequence, whose length does not shift the choices after it.
    pub fn fork(&mut self) -> Self {
        match &self.origin {
            Origin::Seed(_) => Self::seed(self.word()),
            Origin::Bytes { .. } => {
                let length = self.below(64) as usize;
                let bytes: Vec<u8> = (0..length).map(|_| self.byte()).collect();
                Self::bytes(&bytes)
            }
        }
    }
    /// True if the bytes are used up; a seed never ends.
    pub fn is_spent(&self) -> bool {
        match &self.origin {
            Origin::Seed(_) => false,
            Origin::Bytes { bytes, at } => *at >= bytes.len(),
        }
    }
    /// 64 bits.
    pub fn word(&mut self) -> u64 {
        match &mut self.origin {
            Origin::Seed(numbers) => numbers.word(),
            Origin::Bytes { .. } => (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte())),
        }
    }
    fn byte(&mut self) -> u8 {
        match &mut self.origin {
            Origin::Seed(numbers) => numbers.word() as u8,
            Origin::Bytes { bytes, at } => {
                let byte = bytes.get(*at).copied().unwrap_or(0);
                *at += 1;
                byte
            }
        }
    }
    /// A number below `limit`; 0 for a limit of 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        if limit <= 1 {
            return 0;
        }
        let word = match self.origin {
            Origin::Bytes { .. } if limit <= 1 << 8 => u64::from(self.byte()),
            Origin::Bytes { .. } if limit <= 1 << 16 => {
                u64::from(self.byte()) << 8 | u64::from(self.byte())
            }
            _ => self.word(),
        };
        word % limit
    }
    /// An index into a list of `length` entries.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        let width = high.wrapping_sub(low) as u64;
        match width.checked_add(1) {
            Some(count) => low.wrapping_add(self.below(count) as i64),
            None => self.word() as i64,
        }
    }
    /// True in `times` of `out_of` cases; false at the end of the bytes.
    pub fn chance(&mut self, times: u64, out_of: u64) -> bool {
        self.below(out_of) >= out_of.saturating_sub(times)
    }
    /// One of the entries, the first after the end of the bytes; `None` for an empty list.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let index = self.index(list.len());
        list.get(index)
    }
    /// One of the entries of a list that is not empty.
    ///
    /// # Panics
    /// Of an empty list.
    pub fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }
    /// Puts the entries into another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.index(i + 1));
        }
    }
    /// A number in `[-1, 1)` with 24 random bits.
    pub fn unit(&mut self) -> f64 {
        let bits = self.below(1 << 24) as f64;
        bits / f64::from(1 << 23) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_spell_choices_and_end_in_the_first() {
        let mut source = Source::bytes(&[7, 1, 2, 255]);
        assert_eq!(source.below(10), 7);
        assert_eq!(source.below(1000), 258);
        assert!(source.chance(1, 3) == (255 % 3 >= 2));
        assert!(source.is_spent());
        assert_eq!((source.below(10), source.chance(9, 10)), (0, false));
        assert_eq!(source.word(), 0);
    }

    #[test]
    fn ranges_hold() {
        let mut source = Source::seed(1);
        for _ in 0..1000 {
            assert!((-3..=5).contains(&source.range(-3, 5)));
            assert!((-1.0..1.0).contains(&source.unit()));
        }
        assert_eq!(source.below(0), 0);
        source.range(i64::MIN, i64::MAX);
    }
}

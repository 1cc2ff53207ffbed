//! Random numbers that are the same on every machine: of inputs made up for runs, of the simulated GPU's orders, of tests and of generators.
//!
//! Nothing of a program is computed with them: `fusion.philox` is the op for that.
#![forbid(unsafe_code)]

/// The step of the state, which has no common divisor with its number of values: 2^64 over the golden ratio, made odd.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of random numbers by its state: SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Copy, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The sequence that begins at `stream`, from its number `index` on.
    #[inline]
    pub fn at(stream: u64, index: u64) -> Self {
        Self(stream.wrapping_add(index.wrapping_mul(GAMMA)))
    }
    /// The next 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound.max(1) as u64) as usize
    }
    /// One of `list`, which is not empty.
    pub fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// A number of at least 0 and below 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix;

    #[test]
    fn splitmix_is_splitmix() {
        // The reference implementation's first values for state 1234567.
        let mut numbers = SplitMix(1234567);
        assert_eq!(numbers.word(), 6457827717110365317);
        assert_eq!(numbers.word(), 3203168211198807973);
        assert_eq!(SplitMix::at(1234567, 1).word(), 3203168211198807973);
    }
}

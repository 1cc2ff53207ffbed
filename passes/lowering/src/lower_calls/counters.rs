//! Counters of digits in shared memory: one column for each thread, which counts the digits of its own elements.
//!
//! Exclusive sums of the counters, digit by digit and in each digit thread by thread, are the places of elements in the
//! order of their digits: elements with equal digits keep their order, since a thread's elements follow those of the
//! thread before.

use fuser_dialects::fusion;
use fuser_ir::{DType, Value};

use super::sort::DIGITS;
use super::{scanned, walk};
use crate::lower::build::{Idx, KernelBuilder, Map};

/// Counters between which one word is left out, so that the runs that neighbouring threads add up begin at different
/// banks.
const BANKS: i64 = 32;

/// The counters of a block.
pub(super) struct Counters {
    /// Their buffer.
    pub(super) memory: Value,
    threads: i64,
}

impl Counters {
    /// Counters for so many threads, a multiple of a warp.
    pub(super) fn new(k: &mut KernelBuilder<'_>, threads: i64) -> Self {
        let all = DIGITS * threads;
        Self {
            memory: k.alloc(&[Idx::Const(all + all / BANKS)], DType::I32),
            threads,
        }
    }
    /// The counter of a digit and a thread.
    pub(super) fn at(&self, k: &mut KernelBuilder<'_>, digit: Idx, thread: Idx) -> Idx {
        let row = k.mul(digit, Idx::Const(self.threads + self.threads / BANKS));
        let gap = k.div(thread, Idx::Const(BANKS));
        let column = k.add(thread, gap);
        k.add(row, column)
    }
    /// Sets the counters of a thread to zero.
    pub(super) fn clear(&self, k: &mut KernelBuilder<'_>, thread: Idx) {
        let zero = k.int_constant(0, DType::I32);
        for digit in 0..DIGITS {
            let at = self.at(k, Idx::Const(digit), thread);
            k.store(zero, self.memory, at);
        }
    }
    /// Adds one to a counter; its value before.
    pub(super) fn add(&self, k: &mut KernelBuilder<'_>, digit: Idx, thread: Idx) -> Value {
        let at = self.at(k, digit, thread);
        let count = k.load(self.memory, at, None);
        let one = k.int_constant(1, DType::I32);
        let next = k.binary(&fusion::ADD, count, one);
        k.store(next, self.memory, at);
        count
    }
    /// Walks `n` elements, `each` of which a thread has beside each other.
    fn blocked(
        &self,
        k: &mut KernelBuilder<'_>,
        n: Idx,
        each: i64,
        clear: bool,
        body: impl FnOnce(&mut KernelBuilder<'_>, Idx, Idx),
    ) -> Option<()> {
        walk(
            k,
            [Idx::ZERO, Idx::Const(self.threads)],
            Map::Thread,
            |k, thread| {
                if clear {
                    self.clear(k, thread);
                }
                let first = k.mul(thread, Idx::Const(each));
                let end = k.add(first, Idx::Const(each));
                let end = k.min(end, n);
                walk(k, [first, end], Map::Seq, |k, i| {
                    body(k, thread, i);
                    Some(())
                })
            },
        )
    }
    /// Counts the digits of `n` elements.
    pub(super) fn count(
        &self,
        k: &mut KernelBuilder<'_>,
        n: Idx,
        each: i64,
        digit: impl FnOnce(&mut KernelBuilder<'_>, Idx) -> Idx,
    ) -> Option<()> {
        self.blocked(k, n, each, true, |k, thread, i| {
            let digit = digit(k, i);
            self.add(k, digit, thread);
        })
    }
    /// Replaces the counters by their exclusive sums. Each thread adds up a run of as many counters as there are
    /// digits.
    pub(super) fn scan(&self, k: &mut KernelBuilder<'_>) {
        let zero = k.int_constant(0, DType::I32);
        let bounds = [Idx::ZERO, Idx::Const(self.threads), Idx::Const(1)];
        let all = k.open_loop(bounds, &[zero]);
        let run = Idx::Value(all.iv);
        let first = k.mul(run, Idx::Const(DIGITS));
        let gap = k.div(first, Idx::Const(BANKS));
        let first = k.add(first, gap);
        let places: Vec<Idx> = (0..DIGITS).map(|i| k.add(first, Idx::Const(i))).collect();
        let counts = places.iter().map(|&at| k.load(self.memory, at, None));
        let counts: Vec<Value> = counts.collect();
        let own = counts.iter().copied();
        let own = own.reduce(|sum, count| k.binary(&fusion::ADD, sum, count));
        let own = own.unwrap_or(zero);
        let sum = scanned(k, own, all.args[0]);
        let mut before = k.binary(&fusion::SUB, sum, own);
        for (at, count) in places.into_iter().zip(counts) {
            k.store(before, self.memory, at);
            before = k.binary(&fusion::ADD, before, count);
        }
        k.close_loop(all, &[sum], Map::Thread, &["scan"]);
    }
    /// Walks `n` elements; the last argument of `body` gives the next place of a digit, which is taken then.
    pub(super) fn rank(
        &self,
        k: &mut KernelBuilder<'_>,
        n: Idx,
        each: i64,
        body: impl FnOnce(&mut KernelBuilder<'_>, Idx, &dyn Fn(&mut KernelBuilder<'_>, Idx) -> Idx),
    ) -> Option<()> {
        self.blocked(k, n, each, false, |k, thread, i| {
            body(k, i, &|k: &mut KernelBuilder<'_>, digit| {
                let place = self.add(k, digit, thread);
                Idx::Value(k.cast(place, DType::Index))
            });
        })
    }
    /// The elements with smaller digits, before elements are ranked.
    pub(super) fn before(&self, k: &mut KernelBuilder<'_>, digit: Idx) -> Value {
        self.read(k, digit, 0)
    }
    /// The elements with smaller or equal digits, after elements were ranked.
    pub(super) fn up_to(&self, k: &mut KernelBuilder<'_>, digit: Idx) -> Value {
        self.read(k, digit, self.threads - 1)
    }
    fn read(&self, k: &mut KernelBuilder<'_>, digit: Idx, thread: i64) -> Value {
        let at = self.at(k, digit, Idx::Const(thread));
        let count = k.load(self.memory, at, None);
        k.cast(count, DType::I64)
    }
}

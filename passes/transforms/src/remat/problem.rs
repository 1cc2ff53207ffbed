//! The choice as plain data: values with bytes, ops with prices and homes, kernels in run order.

use std::rc::Rc;

use smallvec::SmallVec;

/// A value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValueInfo {
    /// Stored bytes: the price of one read, and of one write.
    pub bytes: u64,
    /// The op that makes it; `None` for a program input.
    pub maker: Option<u32>,
    /// Whether the program returns it: it is written in any case.
    pub is_output: bool,
    /// The kernel that writes it, if it is written.
    pub writer: u32,
    /// The ops that read it; filled by [`Problem::link`].
    pub readers: SmallVec<[u32; 2]>,
}

/// An op; equal ops of several kernels are one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpInfo {
    /// The kernels that have it, ascending.
    pub homes: SmallVec<[u32; 1]>,
    /// What it reads.
    pub reads: SmallVec<[u32; 3]>,
    /// What it makes.
    pub writes: SmallVec<[u32; 1]>,
    /// Price of computing it in another kernel, in bytes.
    pub price: u64,
    /// Whether it may be computed in its homes only.
    pub pinned: bool,
}

/// Kernels and what they share.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problem {
    /// Values.
    pub values: Vec<ValueInfo>,
    /// Ops in program order.
    pub ops: Vec<OpInfo>,
    /// Number of kernels.
    pub kernels: u32,
    /// Price of a kernel, in bytes.
    pub launch: u64,
    /// Kernels that may not compute foreign ops.
    pub closed: Vec<bool>,
    /// Values by the kernel that would write them; filled by [`Problem::link`].
    pub by_writer: Vec<Vec<u32>>,
}

/// What one kernel does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// Values that it loads, ascending.
    pub loads: Vec<u32>,
    /// Ops that it computes, ascending.
    pub computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u64,
}

/// A choice with its price.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solution {
    /// Whether each value is written; inputs are not.
    pub written: Vec<bool>,
    /// What each kernel does; `None` for one that vanished.
    pub kernels: Vec<Option<Rc<Kernel>>>,
    /// The whole price.
    pub cost: u64,
}

impl Problem {
    /// Fills what follows from the rest.
    pub fn link(&mut self) {
        for (op, number) in self.ops.iter().zip(0..) {
            for &read in &op.reads {
                self.values[read as usize].readers.push(number);
            }
        }
        self.by_writer = vec![Vec::new(); self.kernels as usize];
        for (value, number) in self.values.iter().zip(0..) {
            if value.maker.is_some() {
                self.by_writer[value.writer as usize].push(number);
            }
        }
    }
    /// Whether op `op` stands in `kernel`.
    pub fn is_native(&self, op: u32, kernel: u32) -> bool {
        self.ops[op as usize].homes.contains(&kernel)
    }
    /// Whether `kernel` may compute `op`: it has it, or an earlier kernel does and it may be computed again.
    pub fn may_compute(&self, op: u32, kernel: u32) -> bool {
        let info = &self.ops[op as usize];
        let earlier = info.homes.first().is_some_and(|&h| h <= kernel);
        let closed = self.closed.get(kernel as usize).copied().unwrap_or(false);
        self.is_native(op, kernel) || (earlier && !info.pinned && !closed)
    }
    /// Whether `kernel` may load `value` when the values `written` are in memory.
    pub fn may_load(&self, value: u32, kernel: u32, written: &[bool]) -> bool {
        let info = &self.values[value as usize];
        info.maker.is_none() || (written[value as usize] && info.writer < kernel)
    }
    /// What `kernel` has to write.
    pub fn wanted(&self, kernel: u32, written: &[bool]) -> Vec<u32> {
        let mine = self.by_writer[kernel as usize].iter().copied();
        mine.filter(|&v| written[v as usize]).collect()
    }
    /// Bytes of all writes.
    pub fn write_bytes(&self, written: &[bool]) -> u64 {
        let all = self.values.iter().zip(written);
        let bytes = all.filter(|(_, w)| **w).map(|(v, _)| v.bytes);
        bytes.fold(0, u64::saturating_add)
    }
}

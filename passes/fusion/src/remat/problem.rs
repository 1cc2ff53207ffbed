//! The problem as plain data: values with bytes, ops with prices and homes, kernels in run order.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValueInfo {
    /// Stored bytes: the price of one write, and of one read of the whole value.
    pub bytes: u64,
    /// Ops that read only a part of it, with the bytes of that part.
    pub parts: SmallVec<[(u32, u64); 1]>,
    /// The op that computes it; `None` for a program input.
    pub producer: Option<u32>,
    /// True if the program returns it: then it is always written.
    pub is_output: bool,
    /// The kernel that writes it, if it is written.
    pub writer: u32,
    /// The ops that read it; set by [`Problem::link`].
    pub users: SmallVec<[u32; 2]>,
}

/// An op; equal ops of several kernels are one op.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpInfo {
    /// The kernels that contain it, ascending.
    pub homes: SmallVec<[u32; 1]>,
    /// Values that it reads.
    pub reads: SmallVec<[u32; 3]>,
    /// Values that it computes.
    pub writes: SmallVec<[u32; 1]>,
    /// Price of computing it in another kernel, in bytes.
    pub price: u64,
    /// True if it may be computed in its homes only.
    pub pinned: bool,
}

/// Kernels and the values between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problem {
    /// Values.
    pub values: Vec<ValueInfo>,
    /// Ops in program order.
    pub ops: Vec<OpInfo>,
    /// Number of kernels.
    pub kernels: u32,
    /// Price of a launch, in bytes.
    pub launch: u64,
    /// Current launches of each kernel; 1 for a kernel without an entry.
    pub launches: Vec<u64>,
    /// Kernels that may not compute foreign ops.
    pub closed: Vec<bool>,
    /// Foreign ops barred from a kernel that is otherwise open, as pairs of op and kernel.
    pub barred: FxHashSet<(u32, u32)>,
    /// Kernels that are views: their loads and writes are free. They are also closed.
    pub views: Vec<bool>,
    /// Values by the kernel that would write them; set by [`Problem::link`].
    pub by_writer: Vec<Vec<u32>>,
    /// Bytes that a kernel's own ops touch of a value that some op reads in part, by value and kernel; set by
    /// [`Problem::link`].
    pub touched: FxHashMap<(u32, u32), u64>,
    /// The most bytes of such a value that a recomputed op touches; set by [`Problem::link`].
    pub touched_abroad: FxHashMap<u32, u64>,
}

/// The work of one kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// Values that it loads, ascending.
    pub loads: Vec<u32>,
    /// Ops that it computes, ascending.
    pub computes: Vec<u32>,
    /// Bytes of the loads and the price of foreign ops.
    pub cost: u64,
}

/// A solution with its price.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solution {
    /// True for each value that is written; inputs are not.
    pub written: Vec<bool>,
    /// The work of each kernel; `None` for a removed kernel.
    pub kernels: Vec<Option<Rc<Kernel>>>,
    /// The total price.
    pub cost: u64,
}

impl Problem {
    /// Computes the derived fields.
    pub fn link(&mut self) {
        for value in &mut self.values {
            value.users.clear();
        }
        for (op, number) in self.ops.iter().zip(0..) {
            for &read in &op.reads {
                self.values[read as usize].users.push(number);
            }
        }
        self.touched.clear();
        self.link_parts();
        self.by_writer = vec![Vec::new(); self.kernels as usize];
        for (value, number) in self.values.iter().zip(0..) {
            if value.producer.is_some() {
                self.by_writer[value.writer as usize].push(number);
            }
        }
    }
    /// True if `kernel` contains op `op`.
    pub fn is_native(&self, op: u32, kernel: u32) -> bool {
        self.ops[op as usize].homes.binary_search(&kernel).is_ok()
    }
    /// True if `kernel` may compute `op`: it contains it, or an earlier kernel does and recomputing is allowed.
    pub fn may_compute(&self, op: u32, kernel: u32) -> bool {
        if self.is_native(op, kernel) {
            return true;
        }
        let info = &self.ops[op as usize];
        let earlier = info.homes.first().is_some_and(|&h| h <= kernel);
        let closed = self.closed.get(kernel as usize).copied().unwrap_or(false);
        earlier && !info.pinned && !closed && !self.barred.contains(&(op, kernel))
    }
    /// True if `kernel` is a view, which moves nothing.
    pub fn is_view(&self, kernel: u32) -> bool {
        self.views.get(kernel as usize).copied().unwrap_or(false)
    }
    /// The price of the launches of a kernel. A view costs the host a fraction of a launch, so that it is removed if no
    /// more bytes move without it.
    pub fn launch_of(&self, kernel: u32) -> u64 {
        let launches = self.launches.get(kernel as usize).copied().unwrap_or(1);
        match self.is_view(kernel) {
            true => self.launch / 32 + 1,
            false => self.launch.saturating_mul(launches),
        }
    }
    /// The price of loading `value` in `kernel`: the whole value, or at most the parts that its own ops read.
    pub fn load_bytes(&self, value: u32, kernel: u32) -> u64 {
        let info = &self.values[value as usize];
        if self.is_view(kernel) {
            return 0;
        }
        if info.parts.is_empty() {
            return info.bytes;
        }
        let own = self.touched.get(&(value, kernel));
        // If no own op reads it, a recomputed op does, and reads the same part as at home.
        let touched = own.or_else(|| self.touched_abroad.get(&value));
        touched.map_or(info.bytes, |&bytes| bytes.min(info.bytes))
    }
    fn link_parts(&mut self) {
        for (info, value) in self
            .values
            .iter()
            .zip(0u32..)
            .filter(|(v, _)| !v.parts.is_empty())
        {
            let parts: FxHashMap<u32, u64> = info.parts.iter().copied().collect();
            let whole = info.bytes;
            let mut abroad = 0u64;
            for &user in &info.users {
                let bytes = parts.get(&user).copied().unwrap_or(whole);
                abroad = abroad.max(bytes);
                for &home in &self.ops[user as usize].homes {
                    let own = self.touched.entry((value, home)).or_default();
                    *own = own.saturating_add(bytes);
                }
            }
            self.touched_abroad.insert(value, abroad);
        }
    }
    /// The price of writing `value`.
    pub fn write_price(&self, value: u32) -> u64 {
        let info = &self.values[value as usize];
        match info.producer.is_some() && self.is_view(info.writer) {
            true => 0,
            false => info.bytes,
        }
    }
    /// True if `kernel` may load `value` when the values in `written` are in memory.
    pub fn may_load(&self, value: u32, kernel: u32, written: &[bool]) -> bool {
        let info = &self.values[value as usize];
        info.producer.is_none() || (written[value as usize] && info.writer < kernel)
    }
    /// The solution in which each kernel computes the given ops, ascending, and loads their other operands; `None`
    /// stands for a removed kernel. Exactly the values that are loaded or returned are written. Returns `None` if a
    /// kernel would do something not allowed, or would write nothing.
    pub fn solution(&self, computes: Vec<Option<Vec<u32>>>) -> Option<Solution> {
        if computes.len() != self.kernels as usize {
            return None;
        }
        let mut written: Vec<bool> = self.values.iter().map(|v| v.is_output).collect();
        let mut kernels = Vec::with_capacity(computes.len());
        for (computes, number) in computes.into_iter().zip(0..) {
            let kernel = computes.map(|computes| self.kernel(number, computes));
            for &load in kernel.iter().flat_map(|kernel| &kernel.loads) {
                written[load as usize] |= self.values[load as usize].producer.is_some();
            }
            kernels.push(kernel.map(Rc::new));
        }
        let mut cost = self.write_bytes(&written);
        for (kernel, number) in kernels.iter().zip(0..) {
            let wanted = self.wanted(number, &written);
            let Some(kernel) = kernel else {
                wanted.is_empty().then_some(())?;
                continue;
            };
            let may_compute = kernel
                .computes
                .iter()
                .all(|&op| self.may_compute(op, number));
            let mut loads = kernel.loads.iter();
            let may_load = loads.all(|&value| self.may_load(value, number, &written));
            let makes = wanted
                .iter()
                .all(|&value| self.makes(&kernel.computes, value));
            (may_compute && may_load && makes && !wanted.is_empty()).then_some(())?;
            cost = cost.saturating_add(kernel.cost);
            cost = cost.saturating_add(self.launch_of(number));
        }
        Some(Solution {
            written,
            kernels,
            cost,
        })
    }
    /// The work of `number` if it computes these ops.
    fn kernel(&self, number: u32, computes: Vec<u32>) -> Kernel {
        let reads = computes.iter().flat_map(|&op| &self.ops[op as usize].reads);
        let mut loads: Vec<u32> = reads.copied().collect();
        loads.retain(|&value| !self.makes(&computes, value));
        loads.sort_unstable();
        loads.dedup();
        let foreign = computes.iter().filter(|&&op| !self.is_native(op, number));
        let prices = foreign.map(|&op| self.ops[op as usize].price);
        let prices = prices.chain(loads.iter().map(|&v| self.load_bytes(v, number)));
        Kernel {
            cost: prices.fold(0, u64::saturating_add),
            loads,
            computes,
        }
    }
    /// True if an op of `computes`, ascending, computes `value`.
    fn makes(&self, computes: &[u32], value: u32) -> bool {
        let producer = self.values[value as usize].producer;
        producer.is_some_and(|op| computes.binary_search(&op).is_ok())
    }
    /// The values that `kernel` has to write.
    pub fn wanted(&self, kernel: u32, written: &[bool]) -> Vec<u32> {
        let mine = self.by_writer[kernel as usize].iter().copied();
        mine.filter(|&v| written[v as usize]).collect()
    }
    /// Bytes of all writes.
    pub fn write_bytes(&self, written: &[bool]) -> u64 {
        let all = written.iter().zip(0u32..).filter(|(w, _)| **w);
        let bytes = all.map(|(_, v)| self.write_price(v));
        bytes.fold(0, u64::saturating_add)
    }
}

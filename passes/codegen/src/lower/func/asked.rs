//! Software prefetching: a loop that streams, or that only loads, prefetches its operands that exceed the caches.
//! Accesses must be whole lines that move with the loop's counter. Rows found by a lookup are not prefetched, since the
//! data after such a row may be unused.

use fuser_dialects::kernel;
use fuser_dialects::kernel::rounds::around;
use fuser_ir::{Ir, Op, Value};
use inkwell::values::PointerValue;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowering;
use super::whole_lines::LINE;
use crate::expr::{Elem, Val};
use crate::memory;

/// A loop that asks.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// It stores past the caches.
    Streams,
    /// The loop only loads, and prefetches elements of at most 16 bits. Wider ones gained nothing
    /// (docs/performance.md).
    Loads,
}

/// The loops that ask, and for what.
#[derive(Default)]
pub(super) struct Asked {
    /// Bytes from a load to what is asked for beside it.
    distance: u64,
    /// The innermost loops with a store to a buffer that is streamed to, and those that only load.
    loops: FxHashMap<Op, Kind>,
    /// The buffers.
    buffers: FxHashSet<Value>,
}

impl Asked {
    /// Finds the loops that prefetch the buffers `far`. A kernel only loads, or only stores to, each of these.
    pub(super) fn new(ir: &Ir, func: Op, far: &FxHashSet<Value>, distance: u64) -> Self {
        if distance == 0 {
            return Self::default();
        }
        let is_store = |op: &Op| ir.is(*op, &kernel::STORE);
        // A kernel that asks for the next row in a walk of its own has that row at hand when it loads it.
        let ahead = ir.walk(func).iter().any(|&op| ir.is(op, &kernel::PREFETCH));
        let users = far.iter().flat_map(|&buffer| ir.users(buffer));
        let users = users.filter_map(|op| Some((is_store(&op), around(ir, op)?)));
        let users: Vec<(bool, Op)> = users.collect();
        let only_loads = |of: Op| !ahead && !ir.walk(of).iter().any(is_store);
        let streams = users.iter().filter(|user| user.0).map(|user| user.1);
        let loads = users.iter().map(|user| user.1).filter(|&of| only_loads(of));
        let mut loops: FxHashMap<Op, Kind> = loads.map(|of| (of, Kind::Loads)).collect();
        loops.extend(streams.map(|of| (of, Kind::Streams)));
        let loaded = |buffer: &&Value| !ir.users(**buffer).any(|user| is_store(&user));
        Self {
            distance,
            loops,
            buffers: far.iter().filter(loaded).copied().collect(),
        }
    }
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Prefetches the data `distance` bytes after the load `op` from `address`, if its loop does so.
    pub(super) fn ask_ahead(&self, op: Op, address: PointerValue<'ctx>, loaded: Val<'_, 'ctx>) {
        let asked = &self.asked;
        let bytes = loaded.lanes().unwrap_or(1) * memory::element_bytes(loaded.elem());
        if asked.loops.is_empty() || !bytes.is_multiple_of(LINE) {
            return;
        }
        let [buffer, index] = [0, 1].map(|operand| self.ir.operand(op, operand));
        let narrow = memory::element_bytes(loaded.elem()) <= 2;
        let asks = |of: &Op| match asked.loops.get(of) {
            Some(Kind::Streams) => true,
            Some(Kind::Loads) => narrow,
            None => false,
        };
        let of = around(self.ir, op).filter(asks);
        let moves = |of: Op| self.moves_with(index, of);
        if !asked.buffers.contains(&buffer) || !of.is_some_and(moves) {
            return;
        }
        for line in 0..bytes / LINE {
            let ahead = asked.distance.saturating_add(u64::from(line * LINE));
            let ahead = i64::try_from(ahead).unwrap_or(i64::MAX);
            let ahead = self.emit.constant_int(64, None, ahead);
            memory::prefetch(
                self.emit,
                memory::element(self.emit, address, Elem::Int(8), ahead),
            );
        }
    }

    /// True if an index is made of the counter of the loop `of` in it, and of nothing that is loaded.
    fn moves_with(&self, index: Value, of: Op) -> bool {
        let ir = self.ir;
        let counter = ir.body(of, 0).and_then(|body| ir.args(body).first());
        let (mut pending, mut seen, mut moves) = (vec![index], FxHashSet::default(), false);
        while let Some(value) = pending.pop() {
            let made = ir.def_op(value).filter(|_| seen.insert(value));
            match made {
                _ if Some(&value) == counter => moves = true,
                Some(op) if ir.is(op, &kernel::LOAD) => return false,
                Some(op) => pending.extend(ir.operands(op)),
                None => {}
            }
        }
        moves
    }
}

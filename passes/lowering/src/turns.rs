//! Loops as kernels of a CPU: all turns of a loop in one kernel, where a turn runs nothing but small steps.
//!
//! ```text
//! turn 2000                                      kernel.func @loop_0(%rows, %i, %state, %results)
//!   launch @add_tanh  %rows, %i, %state            kernel.for 0, 1, 1 map "grid"
//!   put %state in %results at %i            =>       kernel.for 0, 2000, 1 map "seq"
//!   launch @add_one   %i                               the bodies of @add_tanh and @add_one, the put as a loop
//! ```
//!
//! Beginning a step takes longer than the arithmetic of a small state. The state stays in memory, where the first cache
//! has it. Each step computes the same values in the same order, so no bit changes.
//!
//! Never decides which loops become kernels: `fuser-compile` does, which knows the memory of each step.

use fuser_dialects::kernel;
use fuser_dialects::kernel::build::function;
use fuser_dialects::kernel::rounds::literal;
use fuser_ir::clone::Mapping;
use fuser_ir::types::{Extent, MemSpace};
use fuser_ir::{Block, DType, Ir, Op, TypeId, TypeKind, Value};
use rustc_hash::FxHashMap;

use crate::lower::build::{Idx, KernelBuilder, Map};

/// The bytes of a vector in loops that copy.
const VECTOR: u64 = 32;

/// A step of a turn. Buffers and extents are numbers of the loop's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A kernel, all of its grid.
    Kernel {
        func: Op,
        buffers: Vec<usize>,
        extents: Vec<usize>,
    },
    /// Copies the first elements of a buffer to another one.
    Copy {
        from: usize,
        to: usize,
        elements: i64,
    },
    /// Overwrites slices of a tensor in place, at indices along an axis; none outside of it.
    Put(Put),
}

/// Slices that are written at indices, one after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Put {
    /// The buffers of the indices, the slices and the tensor.
    pub indices: usize,
    pub slices: usize,
    pub tensor: usize,
    /// The number of indices, the distance between them, and the distance between their slices, in elements.
    pub count: i64,
    pub step: i64,
    pub apart: i64,
    /// The length of the axis, and the distance between its indices.
    pub length: i64,
    pub stride: i64,
    /// The axes of a slice, outermost first: length, distance in the slice, distance in the tensor.
    pub axes: Vec<[i64; 3]>,
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turns {
    pub turns: i64,
    /// The element type of each buffer.
    pub buffers: Vec<DType>,
    /// The number of extents.
    pub extents: usize,
    pub steps: Vec<Step>,
}

/// True if the turns of a loop can run the body of `func`: it has one grid loop, without counts, and allocates memory
/// of known size.
pub fn is_small(ir: &Ir, func: Op) -> bool {
    let Some(body) = ir.body(func, 0) else {
        return false;
    };
    let grids = ir.block_ops(body).filter(|&op| is_grid(ir, op)).count();
    let mut allocations = ir.block_ops(body).filter(|&op| ir.is(op, &kernel::ALLOC));
    let known = allocations.all(|op| ir.operand_count(op) == 0);
    grids == 1 && known && kernel::counting(ir, func).is_empty()
}

/// The ops that a call of `func` runs, a vector's once, if its loops have known bounds; two sides of a branch both count.
pub fn work(ir: &Ir, func: Op) -> Option<u64> {
    let ops = ir.walk(func);
    let mut times: FxHashMap<Op, u64> = FxHashMap::default();
    let mut sum = 0u64;
    // An op stands behind those around it.
    for op in ops {
        let around = ir.parent_op(op).and_then(|parent| times.get(&parent));
        let around = around.copied().unwrap_or(1);
        sum = sum.saturating_add(around);
        let turns = match ir.is(op, &kernel::FOR) {
            true => {
                let bound = |index| literal(ir, ir.operand(op, index));
                let [from, to, by] = [bound(0)?, bound(1)?, bound(2)?];
                u64::try_from(to.checked_sub(from)?)
                    .ok()?
                    .div_ceil(u64::try_from(by).ok()?.max(1))
            }
            false => 1,
        };
        times.insert(op, around.saturating_mul(turns));
    }
    Some(sum)
}

/// The element types of the buffers of `func`, and the number of its extents.
pub fn parameters(ir: &Ir, func: Op) -> (Vec<DType>, usize) {
    let args = ir.body(func, 0).map_or(&[][..], |body| ir.args(body));
    let dtype = |&arg: &Value| match ir.value_kind(arg) {
        TypeKind::MemRef { dtype, .. } => Some(*dtype),
        _ => None,
    };
    let buffers: Vec<DType> = args.iter().filter_map(dtype).collect();
    let extents = args.len() - buffers.len();
    (buffers, extents)
}

fn is_grid(ir: &Ir, op: Op) -> bool {
    ir.is(op, &kernel::FOR) && ir.str_of(op, "map") == Some("grid")
}

/// Makes the kernel of a loop, at the end of `module`.
pub fn kernel(ir: &mut Ir, module: Block, name: &str, turns: &Turns) -> Op {
    let buffer = |dtype: &DType| TypeKind::MemRef {
        dims: vec![Extent::Unknown],
        dtype: *dtype,
        space: MemSpace::Global,
    };
    let buffers: Vec<TypeKind> = turns.buffers.iter().map(buffer).collect();
    let mut params: Vec<TypeId> = buffers.into_iter().map(|kind| ir.type_id(kind)).collect();
    let index = ir.scalar(DType::Index);
    params.extend(std::iter::repeat_n(index, turns.extents));
    let (func, entry) = function(ir, module, name, &params);
    let loc = ir.op_loc(func);
    let args = ir.args(entry).to_vec();
    let (memory, extents) = args.split_at(turns.buffers.len());
    let mut body = Body {
        k: KernelBuilder {
            ir,
            block: entry,
            entry,
            loc,
            extents: FxHashMap::default(),
            multiples: FxHashMap::default(),
        },
        memory,
        extents,
    };
    let grid = body
        .k
        .open_loop([Idx::ZERO, Idx::Const(1), Idx::Const(1)], &[]);
    let turn = [Idx::ZERO, Idx::Const(turns.turns), Idx::Const(1)];
    let turn = body.k.open_loop(turn, &[]);
    turns.steps.iter().for_each(|step| body.step(step));
    body.k.close_loop(turn, &[], Map::Seq, &[]);
    body.k.close_loop(grid, &[], Map::Grid, &[]);
    body.k.op(&kernel::RETURN, &[], &[], &[]);
    func
}

/// The body of a turn.
struct Body<'a> {
    k: KernelBuilder<'a>,
    memory: &'a [Value],
    extents: &'a [Value],
}

impl Body<'_> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Kernel {
                func,
                buffers,
                extents,
            } => self.copy_body(*func, buffers, extents),
            Step::Copy { from, to, elements } => {
                let (from, to) = (self.memory[*from], self.memory[*to]);
                self.copy([from, to], [Idx::ZERO; 2], *elements);
            }
            Step::Put(put) => self.put(put),
        }
    }
    /// The ops of a kernel. Its allocations are at the entry.
    fn copy_body(&mut self, func: Op, buffers: &[usize], extents: &[usize]) {
        let Some(body) = self.k.ir.body(func, 0) else {
            return;
        };
        let buffers = buffers.iter().map(|&buffer| self.memory[buffer]);
        let extents = extents.iter().map(|&extent| self.extents[extent]);
        let given: Vec<Value> = buffers.chain(extents).collect();
        let args = self.k.ir.args(body).to_vec();
        let mut copies = Mapping::default();
        args.into_iter()
            .zip(given)
            .for_each(|(arg, value)| copies.insert(arg, value));
        let ops: Vec<Op> = self.k.ir.block_ops(body).collect();
        for op in ops {
            if self.k.ir.is(op, &kernel::RETURN) {
                continue;
            }
            let copy = self.k.ir.clone_op(op, &mut copies);
            if self.k.ir.is(copy, &kernel::ALLOC) {
                self.k.ir.prepend_op(self.k.entry, copy);
                continue;
            }
            if is_grid(self.k.ir, copy) {
                let seq = self.k.ir.string_attr("seq");
                self.k.ir.set_attr(copy, "map", seq);
            }
            self.k.ir.append_op(self.k.block, copy);
        }
    }
    /// Copies consecutive elements.
    fn copy(&mut self, [from, to]: [Value; 2], [read, write]: [Idx; 2], elements: i64) {
        let bytes = self.k.ir.value_kind(from).dtype().map_or(1, DType::bytes);
        let lanes = Some(VECTOR / bytes.max(1)).filter(|&lanes| lanes > 1);
        let all = (Idx::ZERO, Idx::Const(elements));
        for interval in self.k.intervals(all.0, all.1, lanes, Map::Seq) {
            let open = self.k.open_loop(interval.bounds(), &[]);
            let at = Idx::Value(open.iv);
            let [read, write] = [read, write].map(|start| self.k.add(start, at));
            let value = self.k.load(from, read, interval.lanes);
            self.k.store(value, to, write);
            self.k.close_loop(open, &[], Map::Seq, &[]);
        }
    }
    fn put(&mut self, put: &Put) {
        let each = [Idx::ZERO, Idx::Const(put.count), Idx::Const(1)];
        let open = self.k.open_loop(each, &[]);
        let number = Idx::Value(open.iv);
        let place = self.k.mul(number, Idx::Const(put.step));
        let index = self.k.load(self.memory[put.indices], place, None);
        let index = self.k.cast(index, DType::Index);
        let [none, length] = [0, put.length].map(|bound| self.k.index(Idx::Const(bound)));
        let behind = self.k.compare("ge", index, none);
        let ahead = self.k.compare("lt", index, length);
        let outer = self.k.open_if();
        let inner = self.k.open_if();
        let read = self.k.mul(number, Idx::Const(put.apart));
        let write = self.k.mul(Idx::Value(index), Idx::Const(put.stride));
        let memory = [self.memory[put.slices], self.memory[put.tensor]];
        self.slice(memory, [read, write], &put.axes);
        self.k.close_if(inner, ahead);
        self.k.close_if(outer, behind);
        self.k.close_loop(open, &[], Map::Seq, &[]);
    }
    /// Copies a slice: its last axis at once where it is contiguous on both sides.
    fn slice(&mut self, memory: [Value; 2], [read, write]: [Idx; 2], axes: &[[i64; 3]]) {
        let Some((&[length, from, to], rest)) = axes.split_first() else {
            return self.copy(memory, [read, write], 1);
        };
        if rest.is_empty() && (from, to) == (1, 1) {
            return self.copy(memory, [read, write], length);
        }
        let open = self
            .k
            .open_loop([Idx::ZERO, Idx::Const(length), Idx::Const(1)], &[]);
        let at = Idx::Value(open.iv);
        let next = [(read, from), (write, to)].map(|(start, distance)| {
            let moved = self.k.mul(at, Idx::Const(distance));
            self.k.add(start, moved)
        });
        self.slice(memory, next, rest);
        self.k.close_loop(open, &[], Map::Seq, &[]);
    }
}

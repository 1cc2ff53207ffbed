//! The legality of kernels: the conditions under which code can be generated, checked before LLVM is involved.
//!
//! LLVM ends the process if it cannot select an operation, so no such operation may reach it. A kernel without findings
//! can be lowered; each finding names the op and an alternative. All findings are collected, in program order.
//!
//! Checked: the signature; that every op is one of the `kernel` dialect or of [`super::arith::RULES`]; that every value
//! fits a register; one block a region; the nesting of grid and thread loops; where memory is allocated and stored to;
//! that all threads reach a barrier. Not checked: types against the op tables, which is the verifier's part.

use fuser_dialects::kernel;
use fuser_dialects::kernel::rounds;
use fuser_dialects::kernel::scan::SCANNED;
use fuser_ir::check;
use fuser_ir::def::{At, Computes, OpError};
use fuser_ir::diag::{CodeDef, Diagnostic};
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{Ir, Op, Value};

use super::arith::{self, Combiner};
use super::codes;
use super::types::shape;
use crate::target::Target;

/// The mapping of a loop's iterations to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    Seq,
    Grid,
    Group,
    Thread,
}

/// The mapping of a loop; `seq` where nothing is said.
pub fn map_of(ir: &Ir, op: Op) -> Option<Map> {
    match ir.str_of(op, "map") {
        None | Some("seq") => Some(Map::Seq),
        Some("grid") => Some(Map::Grid),
        Some("group") => Some(Map::Group),
        Some("thread") => Some(Map::Thread),
        Some(_) => None,
    }
}

/// The combiners of a loop's iteration arguments, without those from which scans continue. Empty if the clause is
/// missing or contains an unknown word.
pub fn combiners(ir: &Ir, op: Op) -> Vec<Option<Combiner>> {
    let Some(fuser_ir::AttrKind::Array(words)) = ir.attr_of(op, "combine") else {
        return Vec::new();
    };
    let word = |attr: &fuser_ir::AttrId| ir.attr_kind(*attr).as_string().map(|sym| ir.str(sym));
    words
        .iter()
        .map(|attr| match word(attr)? {
            SCANNED => Some(None),
            word => Some(Some(Combiner::from_name(word)?)),
        })
        .collect::<Option<_>>()
        .unwrap_or_default()
}

/// Everything that stands in the way of code for `func`.
pub fn check(ir: &Ir, func: Op, target: &Target) -> Vec<Diagnostic> {
    let gpu = target.gpu().is_some();
    let mut checker = Checker {
        ir,
        func,
        gpu,
        clustered: gpu && super::func::cluster_of(ir, func) > 1,
        grid: kernel::grid_loop(ir, func),
        found: Vec::new(),
    };
    checker.signature();
    if checker.clustered && !target.has_clusters() {
        let help = "take a target from cuda:sm_90 on, or let one block have the threads";
        let text = "asks for blocks that wait for each other, which this GPU does not have";
        checker.report(func, &codes::BAD_NEST, At::Clause("cluster"), text, help);
    }
    for op in ir.walk(func).into_iter().skip(1) {
        checker.op(op);
    }
    checker.found
}

/// A finding at an op.
pub fn finding(
    ir: &Ir,
    op: Op,
    code: &'static CodeDef,
    at: At,
    message: String,
    help: &str,
) -> Diagnostic {
    let error = OpError::at(at, message).code(code).help(help);
    let spans = ir.spans.get(op);
    check::diagnostic(
        ir,
        ir.name(op),
        spans.as_ref().map(|s| s.view()),
        ir.op_loc(op),
        error,
    )
}

struct Checker<'a> {
    ir: &'a Ir,
    func: Op,
    gpu: bool,
    /// The threads are those of several blocks, which share no memory.
    clustered: bool,
    grid: Option<Op>,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn report(
        &mut self,
        op: Op,
        code: &'static CodeDef,
        at: At,
        message: impl Into<String>,
        help: &str,
    ) {
        self.found
            .push(finding(self.ir, op, code, at, message.into(), help));
    }

    fn signature(&mut self) {
        let Some(body) = self.ir.body(self.func, 0) else {
            return self.report(
                self.func,
                &codes::BAD_SIGNATURE,
                At::Op,
                "has no body",
                "give it one block",
            );
        };
        let mut extents = false;
        for (index, &arg) in self.ir.args(body).iter().enumerate() {
            let buffer = is_buffer(self.ir, arg);
            let extent = matches!(
                self.ir.value_kind(arg),
                TypeKind::Scalar(fuser_ir::DType::Index)
            );
            if (buffer && extents) || !(buffer || extent) {
                let help =
                    "take one-dimensional global memrefs first and `index` values after them";
                let text = format!(
                    "parameter {index} is neither a buffer before the extents nor an extent"
                );
                self.report(self.func, &codes::BAD_SIGNATURE, At::Op, text, help);
            }
            extents |= extent;
        }
    }

    fn op(&mut self, op: Op) {
        self.regions(op);
        self.values(op);
        let ir = self.ir;
        if ir.is(op, &kernel::FOR) {
            self.nest(op);
        } else if ir.is(op, &kernel::ALLOC) {
            self.allocation(op);
        } else if ir.is(op, &kernel::STORE) {
            self.store(op);
        } else if ir.is(op, &kernel::BARRIER) {
            self.barrier(op);
        } else if ir.is(op, &kernel::LAST) {
            self.last(op);
        } else if !is_kernel_op(ir, op) && arith::rule(ir, op).is_none() {
            let help = "lower whole-tensor ops to loops over elements before code generation";
            self.report(
                op,
                &codes::UNSUPPORTED_OP,
                At::Op,
                "cannot stand in a kernel",
                help,
            );
        }
    }

    fn regions(&mut self, op: Op) {
        for (index, &region) in self.ir.op_regions(op).iter().enumerate() {
            if self.ir.region_blocks(region).count() != 1 {
                let help = "use `kernel.for` and `kernel.if` for control flow";
                self.report(
                    op,
                    &codes::BAD_SIGNATURE,
                    At::Region(index),
                    "needs exactly one block",
                    help,
                );
            }
        }
    }

    fn values(&mut self, op: Op) {
        for (index, &value) in self.ir.results(op).iter().enumerate() {
            let makes_memory = self.ir.is(op, &kernel::ALLOC) || self.ir.is(op, &kernel::TABLE);
            let memory = makes_memory && is_flat(self.ir, value);
            if shape(self.ir, value).is_none() && !memory && !is_table_data(self.ir, op, value) {
                let ty = fuser_ir::describe::ty(self.ir, self.ir.value_type(value));
                let help = "use scalars, or vectors with one axis of 1 to 1024 lanes";
                self.report(
                    op,
                    &codes::UNSUPPORTED_TYPE,
                    At::Result(index),
                    format!("makes a `{ty}`"),
                    help,
                );
            }
        }
    }

    /// The loops around an op that have this mapping.
    fn inside(&self, op: Op, map: Map) -> bool {
        let around = std::iter::successors(self.ir.parent_op(op), |&o| self.ir.parent_op(o));
        around
            .take_while(|&o| o != self.func)
            .any(|o| self.ir.is(o, &kernel::FOR) && map_of(self.ir, o) == Some(map))
    }

    fn nest(&mut self, op: Op) {
        let arguments = self.ir.operand_count(op).saturating_sub(3);
        match map_of(self.ir, op) {
            Some(Map::Seq) => {}
            Some(Map::Grid) => self.grid_nest(op, arguments),
            Some(Map::Group) => self.group_nest(op),
            Some(Map::Thread) => self.thread_nest(op, arguments),
            None => {
                let help = "use seq, grid, group or thread";
                self.report(
                    op,
                    &codes::BAD_NEST,
                    At::Clause("map"),
                    "has an unknown mapping",
                    help,
                );
            }
        }
    }

    fn grid_nest(&mut self, op: Op, arguments: usize) {
        if self.grid != Some(op) {
            let help = "keep one grid loop, directly in the function";
            self.report(
                op,
                &codes::BAD_NEST,
                At::Clause("map"),
                "is a second or an inner grid loop",
                help,
            );
        }
        if arguments > 0 {
            let help = "store partial results by grid index and combine them in a second launch";
            self.report(
                op,
                &codes::BAD_NEST,
                At::Op,
                "carries values from one grid iteration to the next",
                help,
            );
        }
    }

    fn group_nest(&mut self, op: Op) {
        let threads = i64::from(super::func::threads_of(self.ir, self.func));
        let groups = self.ir.int_of(op, "groups").unwrap_or(1).max(1);
        let size = threads / groups;
        let even = threads % groups == 0 && size.unsigned_abs().is_power_of_two();
        self.in_one_block(op, "is a group loop");
        if self.gpu && (!even || size > i64::from(crate::gpu::WARP)) {
            let text = format!("cuts {threads} threads into {groups} groups");
            let help = "let each group have 1, 2, 4, 8, 16 or 32 threads";
            self.report(op, &codes::BAD_NEST, At::Clause("groups"), text, help);
        }
        if self.gpu && !self.has_at_most(op, groups) {
            let help = "let it end at the least of its beginning plus the number of groups and another end";
            let text = "may have more iterations than groups";
            self.report(op, &codes::BAD_NEST, At::Clause("groups"), text, help);
        }
        if self.inside(op, Map::Thread) || self.inside(op, Map::Group) {
            let help = "make the inner loop `seq`";
            let text = "is a group loop inside a thread loop or another group loop";
            self.report(op, &codes::BAD_NEST, At::Clause("map"), text, help);
        }
    }

    /// Refuses what the blocks of a cluster cannot do together.
    fn in_one_block(&mut self, op: Op, text: &str) {
        if self.clustered {
            let help = "let one block have the threads: leave out `cluster`";
            let text = format!("{text} of threads in several blocks");
            self.report(op, &codes::BAD_NEST, At::Op, text, help);
        }
    }

    /// True if a loop is seen to have no more than `most` iterations.
    fn has_at_most(&self, op: Op, most: i64) -> bool {
        let ir = self.ir;
        let [lower, upper] = [0, 1].map(|n| ir.operand(op, n));
        let constant = |value: Value| ir.int_of(ir.made_as(value, Computes::Constant)?, "value");
        if let (Some(lower), Some(upper)) = (constant(lower), constant(upper)) {
            return upper.saturating_sub(lower) <= most;
        }
        let near = |end: Value| {
            let terms = ir.made_as(end, Computes::Add);
            let terms: Vec<Value> = terms.into_iter().flat_map(|sum| ir.operands(sum)).collect();
            let other = match terms[..] {
                [a, b] if a == lower => constant(b),
                [a, b] if b == lower => constant(a),
                _ => None,
            };
            let known = constant(end).zip(constant(lower));
            let length = other.or(known.map(|(end, lower)| end.saturating_sub(lower)));
            length.is_some_and(|length| length <= most)
        };
        let least = ir.made_as(upper, Computes::Min);
        near(upper) || least.is_some_and(|min| ir.operands(min).any(near))
    }

    fn thread_nest(&mut self, op: Op, arguments: usize) {
        if self.inside(op, Map::Thread) {
            let help = "make the inner loop `seq`";
            self.report(
                op,
                &codes::BAD_NEST,
                At::Clause("map"),
                "is a thread loop inside a thread loop",
                help,
            );
        }
        let threads = super::func::threads_of(self.ir, self.func);
        let apart = self.inside(op, Map::Group);
        let whole = apart || threads.is_multiple_of(crate::gpu::WARP);
        if arguments > 0 && self.gpu && threads > 1 && !whole {
            let text = format!("is reduced over {threads} threads");
            let help = "let the function have 1 thread or a multiple of 32";
            self.report(op, &codes::BAD_NEST, At::Op, text, help);
        }
        if arguments > 0 && combiners(self.ir, op).len() != arguments {
            let text = format!("does not say how its {arguments} iteration arguments are combined");
            let help = "name add, mul, max or min for each in `combine`, or scan";
            self.report(op, &codes::BAD_NEST, At::Clause("combine"), text, help);
        }
    }

    fn allocation(&mut self, op: Op) {
        let ir = self.ir;
        if ir.parent_op(op) != Some(self.func) {
            let help = "allocate directly in the function, before the loops";
            self.report(
                op,
                &codes::BAD_MEMORY,
                At::Op,
                "allocates inside a loop or a branch",
                help,
            );
        }
        let Some(TypeKind::MemRef { dims, space, .. }) =
            ir.results(op).first().map(|&v| ir.value_kind(v))
        else {
            return;
        };
        let dynamic = !matches!(dims.first(), Some(Extent::Static(_)));
        if *space == MemSpace::Tile {
            self.in_one_block(op, "is memory");
        }
        if *space == MemSpace::Global {
            let help = "take global buffers as parameters";
            self.report(
                op,
                &codes::BAD_MEMORY,
                At::Op,
                "allocates global memory",
                help,
            );
        } else if self.gpu && dynamic && *space == MemSpace::Local {
            let help = "give it a static size, or use tile memory";
            self.report(
                op,
                &codes::BAD_MEMORY,
                At::Op,
                "allocates local memory of a dynamic size",
                help,
            );
        } else if *space == MemSpace::Register && !self.has_owners(op) {
            let help = "touch each element at the induction variable of thread loops that are spread alike, or use tile memory";
            self.report(
                op,
                &codes::BAD_MEMORY,
                At::Op,
                "allocates registers, and not each element belongs to one of several threads",
                help,
            );
        } else if dynamic && ir.operand_count(op) != 1 {
            self.report(
                op,
                &codes::BAD_MEMORY,
                At::Op,
                "has no size",
                "give the number of elements as operand",
            );
        }
    }

    /// True if each element of an allocation in registers belongs to one thread.
    fn has_owners(&self, op: Op) -> bool {
        let threads = i64::from(super::func::threads_of(self.ir, self.func));
        self.gpu && rounds::owners(self.ir, self.ir.result(op, 0), threads).is_some()
    }

    fn store(&mut self, op: Op) {
        let local = |v: Value| matches!(self.ir.value_kind(v), TypeKind::MemRef { space, .. } if *space != MemSpace::Global);
        let to_scratch = self.ir.operands(op).nth(1).is_some_and(local);
        if self.grid.is_some() && !to_scratch && !self.inside(op, Map::Grid) {
            let help = "store inside the grid loop, or in a launch of its own";
            self.report(
                op,
                &codes::BAD_MEMORY,
                At::Op,
                "stores outside the grid loop, where every worker runs",
                help,
            );
        }
    }

    /// A count of blocks, which is a barrier too.
    fn last(&mut self, op: Op) {
        if !self.gpu {
            let help = "store partial results by grid index and combine them in a second launch";
            let text = "counts iterations that a CPU runs in any order";
            return self.report(op, &codes::UNSUPPORTED_OP, At::Op, text, help);
        }
        self.in_one_block(op, "counts iterations");
        let places = self.ir.operand(op, 1);
        let inner = |by| self.ir.parent_op(by) != Some(self.func);
        let constant = self.ir.made_as(places, Computes::Constant).is_some();
        if !constant && self.ir.def_op(places).is_some_and(inner) {
            let help = "compute it before the grid loop";
            let text = "has a number of places that is not known where the function begins";
            self.report(op, &codes::BAD_NEST, At::Operand(1), text, help);
        }
        if !self.inside(op, Map::Grid) || self.inside(op, Map::Seq) {
            let help = "let it stand in the grid loop alone, whose iterations it counts";
            let text = "counts no iterations, or a place several times in one";
            self.report(op, &codes::BAD_NEST, At::Op, text, help);
        }
        self.barrier(op);
    }

    fn barrier(&mut self, op: Op) {
        if self.inside(op, Map::Thread) {
            let help = "end the thread loop, put the barrier after it, and begin another";
            let text = "stands in a thread loop";
            self.report(op, &codes::BAD_BARRIER, At::Op, text, help);
        } else if self.inside(op, Map::Group) {
            let help = "let the block's threads be one group";
            let text = "stands in a group loop";
            self.report(op, &codes::BAD_BARRIER, At::Op, text, help);
        }
    }
}

fn is_kernel_op(ir: &Ir, op: Op) -> bool {
    let inside = |def: &&&fuser_ir::OpDef| !matches!(def.name, "kernel.func" | "kernel.launch");
    kernel::DIALECT
        .ops
        .iter()
        .filter(inside)
        .any(|def| ir.is(op, def))
}

/// True if all users of a constant tensor are tables, so that it needs no register.
fn is_table_data(ir: &Ir, op: Op, value: Value) -> bool {
    let tensor = matches!(ir.value_kind(value), TypeKind::Tensor(_));
    let mut users = ir.users(value);
    tensor
        && ir.computes(op) == Some(Computes::Constant)
        && users.all(|user| ir.is(user, &kernel::TABLE))
}

fn is_flat(ir: &Ir, value: Value) -> bool {
    matches!(ir.value_kind(value), TypeKind::MemRef { dims, .. } if dims.len() == 1)
}

fn is_buffer(ir: &Ir, value: Value) -> bool {
    matches!(ir.value_kind(value), TypeKind::MemRef { dims, space: MemSpace::Global, .. } if dims.len() == 1)
}

//! The users of each argument of a program, views included.
//!
//! A view segment reads nothing: its results are other names for the memory of its source, its *root*.

use std::collections::BTreeSet;

use fuser_analysis::cost::keeps_memory;
use fuser_dialects::task;
use fuser_ir::def::OpClass;
use fuser_ir::{Ir, Op, Value};
use rustc_hash::FxHashMap;

/// The owner of a value's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// An argument's.
    Argument(usize),
    /// That of this value, which an op of the program makes.
    Made(Value),
}

/// The ops of a program, one after the other, and what they read.
#[derive(Debug)]
pub struct Program {
    /// Segments, and ops outside of segments, without the last op.
    pub tops: Vec<Op>,
    /// The numbers of the ops whose results each of them uses.
    pub needs: Vec<BTreeSet<usize>>,
    /// The values that the program returns.
    pub returned: Vec<Value>,
    /// The op that returns.
    pub end: Option<Op>,
    roots: FxHashMap<Value, Root>,
    numbers: FxHashMap<Op, usize>,
    users: Vec<Vec<usize>>,
    /// The arguments that the program returns, themselves or as views.
    kept: BTreeSet<usize>,
}

impl Program {
    /// Reads `program`; `None` where it has no body.
    pub fn read(ir: &Ir, program: Op) -> Option<Program> {
        let body = ir.body(program, 0)?;
        let end = ir.terminator(body)?;
        let tops: Vec<Op> = ir.block_ops(body).filter(|&op| op != end).collect();
        let arguments = ir.args(body).iter().enumerate();
        let mut read = Program {
            needs: Vec::with_capacity(tops.len()),
            returned: ir.operands(end).collect(),
            end: Some(end),
            roots: arguments.map(|(i, &v)| (v, Root::Argument(i))).collect(),
            numbers: tops.iter().copied().zip(0..).collect(),
            users: vec![Vec::new(); ir.args(body).len()],
            kept: BTreeSet::new(),
            tops,
        };
        for number in 0..read.tops.len() {
            read.add(ir, number);
        }
        let roots = read.returned.iter().filter_map(|&v| read.root(v));
        let arguments = roots.filter_map(|root| match root {
            Root::Argument(a) => Some(a),
            Root::Made(_) => None,
        });
        read.kept = arguments.collect();
        Some(read)
    }

    fn add(&mut self, ir: &Ir, number: usize) {
        let top = self.tops[number];
        let view = ir.str_of(top, "kind") == Some("view");
        let mut needs = BTreeSet::new();
        let mut read = BTreeSet::new();
        for op in ir.walk(top) {
            let gives = ir.is(op, &task::YIELD);
            for value in ir.operands(op) {
                let producer = ir.def_op(value).and_then(|d| self.numbers.get(&d));
                needs.extend(producer.filter(|&&n| n != number));
                if let Some(Root::Argument(a)) = self.root(value).filter(|_| !view && !gives) {
                    read.insert(a);
                }
            }
        }
        for argument in read {
            self.users[argument].push(number);
        }
        self.needs.push(needs);
        let results = ir.results(top).to_vec();
        for (index, result) in results.into_iter().enumerate() {
            let through = yielded(ir, top, index).and_then(|v| self.outside(ir, top, v));
            self.roots
                .insert(result, through.unwrap_or(Root::Made(result)));
        }
    }

    /// The root of a value that a segment yields, if the segment only changes its shape.
    fn outside(&self, ir: &Ir, top: Op, mut value: Value) -> Option<Root> {
        let view = ir.str_of(top, "kind") == Some("view");
        while let Some(op) = ir.def_op(value).filter(|&op| ir.is_inside(op, top)) {
            if !view || !keeps_memory(ir, op) {
                return None;
            }
            value = ir.operand(op, 0);
        }
        self.root(value)
    }

    /// The owner of a value's memory; `None` for values inside of segments.
    pub fn root(&self, value: Value) -> Option<Root> {
        self.roots.get(&value).copied()
    }

    /// The number of the op of the program that makes `value`.
    pub fn number_of(&self, ir: &Ir, value: Value) -> Option<usize> {
        self.numbers.get(&ir.def_op(value)?).copied()
    }

    /// True if the program returns the contents that an argument had.
    pub fn is_returned(&self, argument: usize) -> bool {
        self.kept.contains(&argument)
    }

    /// The numbers of the ops that read an argument.
    pub fn users(&self, argument: usize) -> impl Iterator<Item = usize> + '_ {
        self.users.get(argument).into_iter().flatten().copied()
    }
}

/// The value that a task yields for its result number `index`.
fn yielded(ir: &Ir, task: Op, index: usize) -> Option<Value> {
    let end = ir.terminator(ir.body(task, 0)?)?;
    (index < ir.operand_count(end)).then(|| ir.operand(end, index))
}

/// The sweep or call inside `segment` that computes its result `value`, and the index of the result there.
pub fn producer(ir: &Ir, segment: Op, value: Value) -> Option<(Op, usize)> {
    let index = ir.results(segment).iter().position(|&r| r == value)?;
    let inner = yielded(ir, segment, index)?;
    let op = ir.def_op(inner).filter(|&op| ir.is_inside(op, segment))?;
    let index = ir.results(op).iter().position(|&r| r == inner)?;
    Some((op, index))
}

/// The operand that a call reads only at the elements of its result: the destination of a scatter, and what a product
/// is added to.
pub fn updated(ir: &Ir, call: Op) -> Option<usize> {
    match ir.def(call)?.class {
        OpClass::Scatter => Some(0),
        OpClass::Contraction => (ir.operand_count(call) > 2).then_some(2),
        _ => None,
    }
}

/// True if a call may write over the memory whose names satisfy `old`. It reads that memory only as operand `updated`.
pub fn writes_over(ir: &Ir, call: Op, updated: usize, old: impl Fn(Value) -> bool) -> bool {
    let same = |index: usize, value: Value| {
        !old(value)
            || (index == updated && ir.value_type(value) == ir.value_type(ir.result(call, 0)))
    };
    ir.operands(call)
        .enumerate()
        .all(|(index, value)| same(index, value))
}

/// True if an op inside `task` uses a value for which `old` holds.
pub fn reads(ir: &Ir, task: Op, old: impl Fn(Value) -> bool) -> bool {
    let ops = ir.walk(task);
    ops.into_iter().any(|op| ir.operands(op).any(&old))
}

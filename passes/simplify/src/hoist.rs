//! Moves what every turn of a loop computes alike in front of the loop.
//!
//! ```text
//! // %k, %w and %rows are invariants of the loop, %i is its counter
//! body:  %t = fusion.tanh %k                                    =>   before the loop, and a value that the loop carries
//!        %r = fusion.dynamic_slice %rows, %i dims [0] ...            %all = fusion.matmul %rows, %w    // before the loop
//!        %x = fusion.reshape %r ...                             =>   body:  %r = fusion.dynamic_slice %all, %i dims [0] ...
//!        %p = fusion.matmul %x, %w                                          %p = fusion.reshape %r ...
//! ```
//!
//! *Invariants.* An op is invariant if all its operands are. Its result is hoisted by its price. A result of a call, a
//! reduction or a scan moves unless it is much larger than the operands. An elementwise result moves if it has no more
//! bytes than the values that it is computed from.
//!
//! *Products of rows.* A turn may multiply one row of a tensor. The products of all turns become one product of all
//! rows, if there are at least as many turns as rows. It packs its factors once, and its tiles are full. Sums of
//! products have no specified order, so this may change last bits.
//!
//! Loops inside others come first, so that a value moves out of as many loops as it can. A loop without a turn computes
//! a hoisted value for nothing. Never moves an op out of a side of a branch.

use fuser_analysis::cost::Bindings;
use fuser_dialects::fusion::{DYNAMIC_SLICE, LINEAR, MATMUL, RESHAPE};
use fuser_dialects::task::{self, calls, marks};
use fuser_ir::attr::AttrId;
use fuser_ir::build::Builder;
use fuser_ir::clone::Mapping;
use fuser_ir::def::{DTypes, OpClass, OpDef, OpError, Traits};
use fuser_ir::ir::NewOp;
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Block, Diagnostics, Ir, Op, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most times that the result of a call is as large as what it reads. A greater one may not fit where that does.
const MOST_GROWTH: u64 = 8;

/// The least bytes of an elementwise invariant that is hoisted. A kernel computes a smaller one within a turn faster than
/// it starts.
const LEAST: u64 = 1024;

/// `hoist`
pub static HOIST: PassDef = PassDef {
    name: "hoist",
    summary: "moves invariants of loops in front of them, and products of one row a turn",
    doc: "An op of a loop's body whose operands are the same in every turn is computed once, before the loop: a call, a reduction or a scan, and elementwise ops \
          where reading the result moves no more bytes than reading what it is computed from. A product of one row of a tensor in each turn becomes one product of all rows \
          before the loop, if there are at least as many turns as rows.",
    anchor: &["builtin.module"],
    statistics: &[
        StatDef {
            name: "invariants",
            doc: "values that are computed before a loop",
        },
        StatDef {
            name: "products",
            doc: "products of rows that are one product before a loop",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let module = ctx.op;
    let programs = ctx.ir.children(module).into_iter();
    let programs: Vec<Op> = programs
        .filter(|&op| ctx.ir.is(op, &task::PROGRAM))
        .collect();
    let mut uses: FxHashMap<Op, usize> = FxHashMap::default();
    for &program in &programs {
        for op in ctx.ir.walk(program) {
            for callee in callees(ctx.ir, op) {
                *uses.entry(callee).or_default() += 1;
            }
        }
    }
    let mut done = FxHashSet::default();
    for program in programs {
        visit(ctx, program, &uses, &mut done);
    }
    Ok(())
}

/// The programs that an op runs.
fn callees(ir: &Ir, op: Op) -> Vec<Op> {
    match calls::runs_programs(ir, op) || ir.is(op, &task::DEVICES) {
        true => {
            let named = calls::CALLEES.iter();
            named
                .filter_map(|clause| calls::callee(ir, op, clause))
                .collect()
        }
        false => Vec::new(),
    }
}

/// Hoists from the loops of `program`, after those of the programs that it runs.
fn visit(
    ctx: &mut PassContext<'_>,
    program: Op,
    uses: &FxHashMap<Op, usize>,
    done: &mut FxHashSet<Op>,
) {
    if !done.insert(program) {
        return;
    }
    for op in ctx.ir.walk(program) {
        for callee in callees(ctx.ir, op) {
            visit(ctx, callee, uses, done);
        }
        if let Some(found) = Loop::of(ctx.ir, op, uses) {
            found.hoist(ctx);
        }
    }
}

/// A loop whose programs nothing else runs.
struct Loop {
    op: Op,
    programs: Vec<Op>,
    body: Block,
    /// The number of turns, if it is known.
    turns: Option<i64>,
}

impl Loop {
    fn of(ir: &Ir, op: Op, uses: &FxHashMap<Op, usize>) -> Option<Self> {
        if !ir.is(op, &task::LOOP) {
            return None;
        }
        let programs = callees(ir, op);
        let body = ir.body(calls::callee(ir, op, "body")?, 0)?;
        let turns = ir.int_of(op, "turns");
        let own = programs.iter().all(|program| uses.get(program) == Some(&1));
        let often = turns.is_none_or(|turns| turns > 1);
        // A segment around it has room for no other op.
        let free = ir
            .parent_op(op)
            .is_some_and(|around| ir.is(around, &task::PROGRAM));
        (own && often && free).then_some(Self {
            op,
            programs,
            body,
            turns,
        })
    }
    fn hoist(mut self, ctx: &mut PassContext<'_>) {
        let invariant = self.invariants(ctx.ir);
        let moved = self.worth_moving(ctx.ir, &invariant);
        ctx.count("invariants", moved.len() as u64);
        let mut outside = self.outside(ctx.ir);
        for value in moved {
            let out = self.copy_out(ctx.ir, value, &mut outside);
            let inside = self.carry(ctx.ir, out);
            outside.insert(inside, out);
            ctx.ir.replace_all_uses(value, inside);
        }
        let invariant = self.invariants(ctx.ir);
        let ops: Vec<Op> = ctx.ir.block_ops(self.body).collect();
        for op in ops {
            let rows = Rows::of(ctx.ir, &self, op, &invariant);
            if rows.is_some_and(|rows| rows.hoist(ctx.ir, &mut self) == Ok(true)) {
                ctx.count("products", 1);
            }
        }
    }
    /// The values of the body that are the same in every turn.
    fn invariants(&self, ir: &Ir) -> FxHashSet<Value> {
        let args = ir.args(self.body).iter().copied().enumerate();
        let program = ir.block_parent_op(self.body);
        let kept = |index| program.is_some_and(|body| calls::is_invariant(ir, body, index));
        let kept = args.filter(|(index, _)| kept(*index)).map(|(_, arg)| arg);
        let mut known: FxHashSet<Value> = kept.collect();
        for op in ir.block_ops(self.body) {
            if is_pure(ir, op) && ir.operands(op).all(|value| known.contains(&value)) {
                known.extend(ir.results(op));
            }
        }
        known
    }
    /// The values outside that the invariants among the arguments are.
    fn outside(&self, ir: &Ir) -> Mapping {
        let mut map = Mapping::default();
        let args = ir.args(self.body).iter().zip(ir.operands(self.op));
        args.for_each(|(&arg, operand)| map.insert(arg, operand));
        map
    }
    /// The invariants that are hoisted, in order: of a value that is not worth it, those that it is computed from.
    fn worth_moving(&self, ir: &Ir, invariant: &FxHashSet<Value>) -> Vec<Value> {
        let bindings = Bindings::default();
        let (mut found, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let mut stack = Vec::new();
        for op in ir.block_ops(self.body) {
            let results = ir.results(op);
            if results.is_empty() || results.iter().any(|result| !invariant.contains(result)) {
                stack.extend(ir.operands(op).filter(|value| invariant.contains(value)));
            }
        }
        while let Some(value) = stack.pop() {
            let Some(op) = ir.def_op(value).filter(|_| seen.insert(value)) else {
                continue;
            };
            match is_carried(ir, value) && self.is_cheaper(ir, value, &bindings) {
                true => drop(found.insert(value)),
                false => stack.extend(ir.operands(op)),
            }
        }
        let results = ir
            .block_ops(self.body)
            .flat_map(|op| ir.results(op).to_vec());
        results.filter(|value| found.contains(value)).collect()
    }
    /// True if a turn that reads an invariant takes less than one that computes it.
    fn is_cheaper(&self, ir: &Ir, value: Value, bindings: &Bindings) -> bool {
        let (mut read, mut works) = (0u64, false);
        let (mut seen, mut stack) = (FxHashSet::default(), vec![value]);
        while let Some(next) = stack.pop() {
            if !seen.insert(next) {
                continue;
            }
            let Some(op) = ir.def_op(next) else {
                read = read.saturating_add(bindings.bytes(ir, next));
                continue;
            };
            let Some(def) = ir.def(op) else { return false };
            works |= def.flops > 0;
            stack.extend(ir.operands(op));
        }
        // What stands behind a reduction or a call may be computed where it is read.
        let class = ir.def_op(value).and_then(|op| Some(ir.def(op)?.class));
        let heavy = matches!(
            class,
            Some(
                OpClass::Reduction
                    | OpClass::Scan
                    | OpClass::Contraction
                    | OpClass::Convolution
                    | OpClass::Attention
                    | OpClass::Scatter
                    | OpClass::Sort
                    | OpClass::Routine
            )
        );
        let own = bindings.bytes(ir, value);
        let most = read.saturating_mul(if heavy { MOST_GROWTH } else { 1 });
        read > 0 && own <= most && (heavy || works && own >= LEAST)
    }
    /// Copies the ops of an invariant in front of the loop.
    fn copy_out(&self, ir: &mut Ir, value: Value, outside: &mut Mapping) -> Value {
        let mut wanted = FxHashSet::from_iter([value]);
        let mut ops: Vec<Op> = ir.block_ops(self.body).collect();
        ops.reverse();
        ops.retain(|&op| {
            let new = ir
                .results(op)
                .iter()
                .any(|&r| wanted.contains(&r) && outside.get(r) == r);
            if new {
                wanted.extend(ir.operands(op));
            }
            new
        });
        for &op in ops.iter().rev() {
            let copy = ir.clone_op(op, outside);
            ir.insert_before(self.op, copy);
        }
        outside.get(value)
    }
    /// Lets the loop carry a value of outside as one more invariant; returns the argument of the body.
    fn carry(&mut self, ir: &mut Ir, value: Value) -> Value {
        let ty = ir.value_type(value);
        let name = ir.value_name_sym(value);
        let mut inside = value;
        for &program in &self.programs {
            let Some(block) = ir.body(program, 0) else {
                continue;
            };
            let arg = ir.append_arg(block, ty, name);
            if block == self.body {
                inside = arg;
                if let Some(end) = ir.terminator(block) {
                    let returned = ir.operands(end).chain([arg]);
                    let returned: Vec<Value> = returned.collect();
                    ir.set_operands(end, &returned);
                }
            }
            marks::sign(ir, program);
        }
        let operands: Vec<Value> = ir.operands(self.op).chain([value]).collect();
        let results: Vec<Value> = ir.results(self.op).to_vec();
        let names = results
            .iter()
            .map(|&r| (ir.value_type(r), ir.value_name_sym(r)));
        let new = NewOp {
            operands: operands.into_iter().collect(),
            results: names.chain([(ty, None)]).collect(),
            attrs: ir.attrs(self.op).iter().copied().collect(),
            loc: Some(ir.op_loc(self.op)),
            ..NewOp::default()
        };
        let op = ir.create_op(&task::LOOP, new);
        ir.insert_before(self.op, op);
        for (at, old) in results.into_iter().enumerate() {
            let new = ir.result(op, at);
            ir.replace_all_uses(old, new);
        }
        ir.erase(self.op);
        self.op = op;
        inside
    }
}

/// True for an op that computes its results from its operands alone, without a region that runs elsewhere.
fn is_pure(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map(|def| def.class);
    let known = !matches!(
        class,
        None | Some(OpClass::Control | OpClass::Structure | OpClass::Collective | OpClass::Memory)
    );
    known && !ir.has(op, Traits::BARRIER) && ir.name(op).starts_with("fusion.")
}

/// True if a loop can carry a value of this type: a tensor of reals, no axis of which is stored once.
fn is_carried(ir: &Ir, value: Value) -> bool {
    let kind = ir.value_kind(value);
    let whole = kind.as_tensor().is_some_and(|t| {
        t.dims
            .iter()
            .all(|dim| !dim.broadcast && dim.extent != Extent::Unknown)
    });
    whole
        && kind
            .dtype()
            .is_some_and(|dtype| DTypes::KERNEL.contains(dtype))
}

/// A product of one row for each turn.
struct Rows {
    op: Op,
    /// The number of the operand that is the row.
    at: usize,
    /// The elementwise ops behind the slice, in order, and the tensor that it is of.
    behind: Vec<Op>,
    tensor: Value,
    /// The number of rows, and the start along their axis.
    count: u64,
    start: Value,
}

impl Rows {
    fn of(ir: &Ir, around: &Loop, op: Op, invariant: &FxHashSet<Value>) -> Option<Self> {
        let linear = ir.is(op, &LINEAR);
        if !linear && !ir.is(op, &MATMUL) {
            return None;
        }
        let varying = |&at: &usize| !invariant.contains(&ir.operand(op, at));
        let mut varying = (0..ir.operand_count(op)).filter(varying);
        let (Some(at @ 0..=1), None) = (varying.next(), varying.next()) else {
            return None;
        };
        if linear && at == 1 {
            return None;
        }
        let mut behind = Vec::new();
        let mut value = ir.operand(op, at);
        let reshape = loop {
            let by = ir.def_op(value)?;
            if ir.is(by, &RESHAPE) {
                break by;
            }
            let one = ir.operand_count(by) == 1 && ir.op_regions(by).is_empty();
            let pointwise = ir.def(by)?.class == OpClass::Elementwise;
            if !one || !pointwise {
                return None;
            }
            behind.push(by);
            value = ir.operand(by, 0);
        };
        behind.reverse();
        let slice = ir.def_op(ir.operand(reshape, 0))?;
        if !ir.is(slice, &DYNAMIC_SLICE) {
            return None;
        }
        let tensor = ir.operand(slice, 0);
        let (whole, part) = (dims(ir, tensor)?, dims(ir, ir.result(slice, 0))?);
        let row = dims(ir, ir.result(reshape, 0))?;
        let count = match whole.first()?.extent {
            Extent::Static(count) => count,
            _ => return None,
        };
        let one_row =
            part[0].extent == Extent::Static(1) && part[1..] == whole[1..] && row == part[1..];
        let axes = ir.i64s_of(slice, "dims")?;
        let first = axes.iter().position(|&axis| axis == 0)?;
        let all_turns = u64::try_from(around.turns?).is_ok_and(|turns| turns >= count);
        let is_argument = ir.def_op(tensor).is_none() && invariant.contains(&tensor);
        let plain = [&whole, &row]
            .into_iter()
            .all(|d| d.iter().all(|dim| !dim.broadcast));
        let known = one_row && all_turns && is_argument && plain && count > 1;
        let other = dims(ir, ir.operand(op, 1 - at))?;
        (known && other.len() == 2).then_some(Self {
            op,
            at,
            behind,
            tensor,
            count,
            start: ir.operand(slice, 1 + first),
        })
    }
    /// Replaces the product of a row by a row of the product of all rows. False where that is much larger than the rows.
    fn hoist(&self, ir: &mut Ir, around: &mut Loop) -> Result<bool, OpError> {
        let bindings = Bindings::default();
        let old = ir.result(self.op, 0);
        let most = bindings.bytes(ir, self.tensor).saturating_mul(MOST_GROWTH);
        if bindings.bytes(ir, old).saturating_mul(self.count) > most || !is_carried(ir, old) {
            return Ok(false);
        }
        let mut outside = around.outside(ir);
        let mut rows = outside.get(self.tensor);
        for &op in &self.behind {
            rows = again(ir, around.op, op, None, &[rows])?;
        }
        let mut operands: Vec<Value> = ir.operands(self.op).collect();
        for at in (0..operands.len()).filter(|&at| at != self.at) {
            operands[at] = around.copy_out(ir, operands[at], &mut outside);
        }
        operands[self.at] = rows;
        // A column for each turn is a row of the transposed product.
        let column = self.at == 1 && dims(ir, rows).is_some_and(|dims| dims.len() == 2);
        let def = column.then_some(&LINEAR);
        if column {
            operands.reverse();
        }
        let all = again(ir, around.op, self.op, def, &operands)?;
        let ty = ir.value_type(old);
        let row = dims(ir, old).unwrap_or_default();
        let made = dims(ir, all).unwrap_or_default();
        if made.get(1..) != Some(&row[..]) {
            return Ok(false);
        }
        let all = around.carry(ir, all);
        let mut b = Builder::before(ir, self.op);
        let part: Vec<Dim> = [Dim::new(Extent::Static(1))]
            .into_iter()
            .chain(row)
            .collect();
        let clauses = [b.ints("dims", &[0]), b.shape("shape", &part)];
        let part = b.value(&DYNAMIC_SLICE, &[all, self.start], &clauses)?;
        let shape = [b.shape("shape", &made[1..])];
        let new = b.typed(&RESHAPE, &[part], &shape, ty)?;
        ir.replace_all_uses(old, new);
        Ok(true)
    }
}

/// An op like `op`, or of another kind, on other operands, in front of the loop.
fn again(
    ir: &mut Ir,
    before: Op,
    op: Op,
    def: Option<&'static OpDef>,
    operands: &[Value],
) -> Result<Value, OpError> {
    let Some(def) = def.or(ir.def(op)) else {
        return Err(OpError::new("is unknown"));
    };
    let attrs = ir.attrs(op).to_vec();
    let names: Vec<(String, AttrId)> = attrs
        .into_iter()
        .map(|(name, attr)| (ir.str(name).to_owned(), attr))
        .collect();
    let clauses: Vec<(&str, AttrId)> = names.iter().map(|(name, attr)| (&**name, *attr)).collect();
    let mut b = Builder::before(ir, before);
    b.value(def, operands, &clauses)
}

fn dims(ir: &Ir, value: Value) -> Option<Vec<Dim>> {
    ir.value_kind(value).as_tensor().map(|t| t.dims.clone())
}

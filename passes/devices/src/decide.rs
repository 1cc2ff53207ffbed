//! The decision about the cut of each op of a program over the devices, at the least time by the target's figures.
//!
//! One axis of the mesh after the other, twice where there are several. Along one axis a value is whole on each device, cut along an axis of its own, or a summand; each op needs its
//! operands in one of these ways and makes its results in one, as its [`Rule`] says. What lies otherwise is moved, once for all that read it. The ops
//! are walked in order; of the ways in which the values that are still read may lie, the best few are kept, each with its price. Arguments and results that
//! the user has not said anything about are whole on each device, and whatever costs least.
//!
//! The price of an op is what it moves in memory or computes, whichever takes longer, divided by the devices that share it; that of a move is what a ring of
//! devices sends, and a start.

use std::collections::HashMap;

use fuser_dialects::task::mesh::{self, Mesh, Sharding};
use fuser_dialects::task::{self, marks, updates};
use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::def::OpClass;
use fuser_ir::{Block, DType, Ir, Op, Value};
use fuser_target::Target;
use rustc_hash::FxHashMap;

use crate::layout::{Layout, Move, held, moves, sent};
use crate::rule::{Combine, Kind, MOST_AXES, Rule, elements, is_pending};

/// The attribute of an op: for each factor of its rule the mesh axes that cut it.
pub const CUT: &str = "task.cut";
/// The attribute of an op: for each set of operands in which it is linear the mesh axes along which these are summands.
pub const SUMMANDS: &str = "task.summands";

/// Ways to lie that are kept at each op.
const KEPT: usize = 64;

/// Values of all ways that are kept, so that a program with many values that are still read is decided about in the same time for each op.
const WORK: usize = 1 << 14;

/// Times that each axis of a mesh of several is decided about.
const ROUNDS: usize = 2;

/// The memory of devices beside their links, in speed, of a CPU and a GPU. Open MPI 4.1.4 moves 1 MiB between two processes of one machine in 162 µs, 6 GB/s
/// beside the 40 GB/s of the generic target; NVLink 4 moves 450 GB/s in each direction beside 3,350 GB/s of an H100 SXM (NVIDIA H100 datasheet).
const SLOWER: [u64; 2] = [6, 8];

/// The start of a move, in nanoseconds, of a CPU and a GPU: of the order that Open MPI and NCCL take for few bytes.
const START_NS: [u64; 2] = [500, 5_000];

/// The decision about one op.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// Its rule.
    pub rule: Rule,
    /// For each factor the mesh axes that cut it.
    pub cut: Vec<Vec<usize>>,
    /// For each set of the rule the mesh axes along which its operands are summands.
    pub summands: Vec<Vec<usize>>,
    /// The layouts that operands must have.
    pub needs: Vec<Layout>,
    /// The layouts of results.
    pub makes: Vec<Layout>,
}

/// A value's layout along one mesh axis: whole, cut along axis `d` as `d + 1`, or a summand.
type Way = u32;
const WHOLE: Way = 0;
const SUMMAND: Way = 63;
/// A summand of a value of which the result is made.
const PENDING: Way = 62;

/// A way to do an op along one mesh axis.
#[derive(Clone, Debug)]
struct Choice {
    /// `None`: in any way but as a summand.
    needs: Vec<Option<Way>>,
    makes: Vec<Way>,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Together,
    Factor(usize),
    Summands(usize),
}

/// The decisions about the ops of a program's body, in order.
pub struct Plan {
    /// One for each op of the block.
    pub ops: Vec<(Op, Decision)>,
    /// The layouts of arguments.
    pub args: Vec<Layout>,
}

/// The sharding that the mark of an argument or a result says.
pub fn marked(ir: &Ir, mesh: &Mesh, program: Op, list: &str, index: usize) -> Option<Sharding> {
    let attr = marks::value(ir, program, list, index, mesh::MARK)?;
    Sharding::read(ir, mesh, attr).ok()
}

/// Decides about the program with this body.
pub fn decide(ir: &Ir, mesh: &Mesh, target: &Target, program: Op, body: Block) -> Plan {
    let mut plan = Plan {
        ops: Vec::new(),
        args: Vec::new(),
    };
    let mut lies: FxHashMap<Value, Layout> = FxHashMap::default();
    for (index, &arg) in ir.args(body).iter().enumerate() {
        let own = marked(ir, mesh, program, marks::LISTS[0], index);
        let own = own.map_or_else(|| Layout::whole(ir.rank(arg)), |own| Layout::of(&own));
        lies.insert(arg, own.clone());
        plan.args.push(own);
    }
    for op in ir.block_ops(body) {
        let rule = Rule::of(ir, op);
        let whole = |value: Value| Layout::whole(ir.rank(value));
        let decision = Decision {
            cut: vec![Vec::new(); rule.factors.len()],
            summands: vec![Vec::new(); rule.linear.len()],
            needs: ir.operands(op).map(whole).collect(),
            makes: ir.results(op).iter().map(|&value| whole(value)).collect(),
            rule,
        };
        plan.ops.push((op, decision));
    }
    let axes: Vec<usize> = (0..mesh.axes.len())
        .filter(|&axis| mesh.axes[axis].1 > 1)
        .collect();
    // The first time an axis knows those before it, then all others.
    let rounds = if axes.len() > 1 { ROUNDS } else { 1 };
    for round in 0..rounds {
        for &axis in &axes {
            let walk = Walk::new(ir, mesh, target, program, axis);
            if round > 0 {
                walk.forget(&mut plan, &mut lies);
            }
            walk.run(&mut plan, &mut lies);
        }
    }
    // What the user says is said with an order of mesh axes.
    for (op, decision) in &mut plan.ops {
        if let Some((needs, makes)) = said(ir, mesh, program, *op) {
            for (own, said) in decision.needs.iter_mut().zip(needs) {
                *own = said.unwrap_or_else(|| own.clone());
            }
            for (own, said) in decision.makes.iter_mut().zip(makes) {
                *own = said;
            }
        }
    }
    plan
}

/// The layouts of operands and results of an op that the user says something about.
fn said(ir: &Ir, mesh: &Mesh, program: Op, op: Op) -> Option<(Vec<Option<Layout>>, Vec<Layout>)> {
    if ir.is(op, &task::SHARD) {
        let own = Sharding::read(ir, mesh, ir.attr_of(op, "to")?).ok()?;
        return Some((vec![Some(Layout::of(&own))], vec![Layout::of(&own)]));
    }
    if ir.is(op, &task::DEVICES) {
        let all = |clause| Some(mesh::shardings(ir, mesh, op, clause).ok()?.into_iter());
        let needs = all("in")?.map(|own| Some(Layout::of(&own))).collect();
        return Some((needs, all("out")?.map(|own| Layout::of(&own)).collect()));
    }
    if ir.is(op, &task::RETURN) {
        let needs = (0..ir.operand_count(op)).map(|index| {
            let own = marked(ir, mesh, program, marks::LISTS[1], index);
            // What overwrites an argument lies as this does.
            let argument = updates::argument(ir, program, index);
            let overwritten = argument.map(|at| {
                let own = marked(ir, mesh, program, marks::LISTS[0], at);
                own.unwrap_or_else(|| Sharding::replicated(ir.rank(ir.operand(op, index))))
            });
            Some(Layout::of(&own.or(overwritten)?))
        });
        return Some((needs.collect(), Vec::new()));
    }
    None
}

/// The mesh axes that an attribute lists, list by list.
fn listed(ir: &Ir, mesh: &Mesh, op: Op, name: &str) -> Option<Vec<Vec<usize>>> {
    let AttrKind::Array(lists) = ir.attr_of(op, name)? else {
        return None;
    };
    let one = |list: &AttrId| {
        let AttrKind::Array(names) = ir.attr_kind(*list) else {
            return None;
        };
        let axis = |name: &AttrId| mesh.axis(ir.str(ir.attr_kind(*name).as_string()?));
        names.iter().map(axis).collect()
    };
    lists.iter().map(one).collect()
}

/// Adds an axis to a list in ascending order: the first ones of the mesh are major.
fn insert(axes: &mut Vec<usize>, axis: usize) {
    axes.push(axis);
    axes.sort_unstable();
}

/// A way in which the values that are still read lie.
#[derive(Clone)]
struct Kept {
    /// For each place the ways in which its value is there, a bit each.
    ways: Vec<u64>,
    price: u64,
    trail: usize,
}

/// The walk over a program for one axis of the mesh.
struct Walk<'a> {
    ir: &'a Ir,
    mesh: &'a Mesh,
    program: Op,
    axis: usize,
    /// A mesh of this axis alone.
    own: Mesh,
    parts: i64,
    /// Picoseconds for a byte of memory, a byte of a link, an operation; and for a start.
    memory: u64,
    link: u64,
    work: u64,
    start: u64,
}

impl<'a> Walk<'a> {
    fn new(ir: &'a Ir, mesh: &'a Mesh, target: &Target, program: Op, axis: usize) -> Self {
        let picoseconds = |per_us: u64| (1_000_000 / per_us.max(1)).max(1);
        let memory = picoseconds(target.bytes_per_us);
        Self {
            ir,
            mesh,
            program,
            axis,
            own: Mesh {
                axes: vec![mesh.axes[axis].clone()],
            },
            parts: mesh.axes[axis].1,
            memory,
            link: memory.saturating_mul(SLOWER[usize::from(target.is_gpu())]),
            work: picoseconds(target.flops_per_us),
            start: START_NS[usize::from(target.is_gpu())] * 1000,
        }
    }
    fn run(&self, plan: &mut Plan, lies: &mut FxHashMap<Value, Layout>) {
        let ir = self.ir;
        let mut last: FxHashMap<Value, usize> = FxHashMap::default();
        for (at, (op, _)) in plan.ops.iter().enumerate() {
            for value in ir.operands(*op) {
                last.insert(value, at);
            }
        }
        // Places of values that are still read.
        let mut places: FxHashMap<Value, usize> = FxHashMap::default();
        let mut free: Vec<usize> = Vec::new();
        let mut count = 0;
        let mut kept = vec![Kept {
            ways: Vec::new(),
            price: 0,
            trail: usize::MAX,
        }];
        let mut trails: Vec<(usize, usize)> = Vec::new();
        let mut choices_of: Vec<Vec<Choice>> = Vec::new();
        for (&arg, layout) in ir
            .body(self.program, 0)
            .map_or(&[][..], |b| ir.args(b))
            .iter()
            .zip(&plan.args)
        {
            if last.contains_key(&arg) {
                places.insert(arg, count);
                count += 1;
                kept[0].ways.push(1 << self.way(layout));
            }
        }
        for (at, (op, decision)) in plan.ops.iter().enumerate() {
            let choices = self.choices(*op, decision);
            let operands: Vec<Value> = ir.operands(*op).collect();
            let slots: Vec<usize> = operands.iter().map(|value| places[value]).collect();
            let bytes: Vec<u64> = operands
                .iter()
                .map(|&value| self.bytes(value, lies))
                .collect();
            let own = self.price(*op, decision, lies);
            let ended: Vec<usize> = operands
                .iter()
                .filter(|value| last[*value] == at)
                .map(|value| places[value])
                .collect();
            for value in &operands {
                if last[value] == at
                    && let Some(place) = places.remove(value)
                {
                    free.push(place);
                }
            }
            let made: Vec<Option<usize>> = ir
                .results(*op)
                .iter()
                .map(|&value| {
                    last.contains_key(&value).then(|| {
                        let place = free.pop().unwrap_or_else(|| {
                            count += 1;
                            count - 1
                        });
                        places.insert(value, place);
                        place
                    })
                })
                .collect();
            let mut next: Vec<Kept> = Vec::new();
            let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
            for before in &kept {
                for (number, choice) in choices.iter().enumerate() {
                    let mut after = before.clone();
                    after.ways.resize(count, 0);
                    let parts = if choice.what == What::Together {
                        1
                    } else {
                        self.parts as u64
                    };
                    after.price = after.price.saturating_add(own / parts);
                    for ((&slot, need), &bytes) in slots.iter().zip(&choice.needs).zip(&bytes) {
                        let have = after.ways[slot];
                        let (way, price) = self.cheapest(have, *need, bytes);
                        after.price = after.price.saturating_add(price);
                        after.ways[slot] |= 1 << way;
                    }
                    for &slot in &ended {
                        after.ways[slot] = 0;
                    }
                    for (slot, way) in made.iter().zip(&choice.makes) {
                        if let Some(slot) = slot {
                            after.ways[*slot] = 1 << way;
                        }
                    }
                    let place = known.get(&after.ways).copied();
                    if place.is_some_and(|place| next[place].price <= after.price) {
                        continue;
                    }
                    after.trail = trails.len();
                    trails.push((before.trail, number));
                    match place {
                        Some(place) => next[place] = after,
                        None => {
                            known.insert(after.ways.clone(), next.len());
                            next.push(after);
                        }
                    }
                }
            }
            next.sort_by_key(|own| own.price);
            next.truncate((WORK / count.max(1)).clamp(KEPT / 16, KEPT));
            kept = next;
            choices_of.push(choices);
        }
        // The best one, from its end.
        let mut trail = kept.first().map_or(usize::MAX, |best| best.trail);
        let mut taken = vec![0; plan.ops.len()];
        for at in (0..plan.ops.len()).rev() {
            let Some(&(before, number)) = trails.get(trail) else {
                break;
            };
            taken[at] = number;
            trail = before;
        }
        // What it is, with the ways that were there.
        let mut there: FxHashMap<Value, u64> = FxHashMap::default();
        for (&arg, layout) in ir
            .body(self.program, 0)
            .map_or(&[][..], |b| ir.args(b))
            .iter()
            .zip(&plan.args)
        {
            there.insert(arg, 1 << self.way(layout));
        }
        for (at, (op, decision)) in plan.ops.iter_mut().enumerate() {
            let choice = &choices_of[at][taken[at]];
            for ((value, need), layout) in
                ir.operands(*op).zip(&choice.needs).zip(&mut decision.needs)
            {
                let bytes = self.bytes(value, lies);
                let have = there.entry(value).or_insert(1);
                let (way, _) = self.cheapest(*have, *need, bytes);
                *have |= 1 << way;
                self.put(layout, way, Combine::Sum);
            }
            let combine = match choice.what {
                What::Factor(factor) => match decision.rule.factors[factor].kind {
                    Kind::Partial(combine) => combine,
                    _ => Combine::Sum,
                },
                _ => Combine::Sum,
            };
            for ((&value, way), layout) in ir
                .results(*op)
                .iter()
                .zip(&choice.makes)
                .zip(&mut decision.makes)
            {
                there.insert(value, 1 << way);
                self.put(layout, *way, combine);
                lies.insert(value, layout.clone());
            }
            match choice.what {
                What::Factor(factor) => insert(&mut decision.cut[factor], self.axis),
                What::Summands(set) => insert(&mut decision.summands[set], self.axis),
                What::Together => {}
            }
        }
    }
    /// Takes away what was decided about this axis, but what the user says of arguments.
    fn forget(&self, plan: &mut Plan, lies: &mut FxHashMap<Value, Layout>) {
        for (op, decision) in &mut plan.ops {
            let lists = decision.cut.iter_mut().chain(&mut decision.summands);
            lists.for_each(|axes| axes.retain(|&axis| axis != self.axis));
            let layouts = decision.needs.iter_mut().chain(&mut decision.makes);
            layouts.for_each(|layout| self.lift(layout));
            for (&value, layout) in self.ir.results(*op).iter().zip(&decision.makes) {
                lies.insert(value, layout.clone());
            }
        }
    }
    /// Takes this axis out of a layout.
    fn lift(&self, layout: &mut Layout) {
        let dims = layout.dims.iter_mut();
        dims.for_each(|axes| axes.retain(|&axis| axis != self.axis));
        if let Some((axes, _)) = &mut layout.partial {
            axes.retain(|&axis| axis != self.axis);
        }
        if layout
            .partial
            .as_ref()
            .is_some_and(|(axes, _)| axes.is_empty())
        {
            layout.partial = None;
        }
    }
    fn put(&self, layout: &mut Layout, way: Way, combine: Combine) {
        match way {
            WHOLE => {}
            SUMMAND | PENDING => match &mut layout.partial {
                Some((axes, _)) => insert(axes, self.axis),
                None => layout.partial = Some((vec![self.axis], combine)),
            },
            cut => insert(&mut layout.dims[cut as usize - 1], self.axis),
        }
    }
    /// The part of a layout that concerns this axis.
    fn way(&self, layout: &Layout) -> Way {
        if layout
            .partial
            .as_ref()
            .is_some_and(|(axes, _)| axes.contains(&self.axis))
        {
            return SUMMAND;
        }
        // Axes beyond those that have a bit of their own count as whole in prices.
        let dims = layout.dims.iter().take(MOST_AXES);
        let mut cut = dims.map(|own| own.contains(&self.axis));
        let cut = cut.position(|own| own);
        cut.map_or(WHOLE, |dim| dim as Way + 1)
    }
    /// The ways to do an op.
    fn choices(&self, op: Op, decision: &Decision) -> Vec<Choice> {
        let ir = self.ir;
        if let Some((needs, makes)) = said(ir, self.mesh, self.program, op) {
            let way = |layout: Layout| self.way(&layout);
            return vec![Choice {
                needs: needs.into_iter().map(|own| own.map(way)).collect(),
                makes: makes.into_iter().map(way).collect(),
                what: What::Together,
            }];
        }
        let rule = &decision.rule;
        let together = Choice {
            needs: vec![Some(WHOLE); rule.operands.len()],
            makes: vec![WHOLE; rule.results.len()],
            what: What::Together,
        };
        let mut choices = vec![together];
        let partial = decision
            .makes
            .iter()
            .find_map(|own| own.partial.as_ref())
            .map(|(_, combine)| *combine);
        let cut = |axes: &[Option<usize>], factor| {
            axes.iter()
                .position(|own| *own == Some(factor))
                .map_or(WHOLE, |dim| dim as Way + 1)
        };
        for (factor, own) in rule.factors.iter().enumerate() {
            let combine = match own.kind {
                Kind::Parallel | Kind::Placed => None,
                Kind::Partial(combine) => Some(combine),
                Kind::Lookup => Some(Combine::Sum),
            };
            let fits = combine.is_none() || partial.is_none() || partial == combine;
            if !fits || !rule.divides(factor, self.mesh.parts(&decision.cut[factor]) * self.parts) {
                continue;
            }
            let made = |axes: &Vec<Option<usize>>| match combine {
                Some(combine) if combine != Combine::Sum => PENDING,
                Some(_) if own.kind != Kind::Lookup && is_pending(ir, op) => PENDING,
                Some(_) => SUMMAND,
                None => cut(axes, factor),
            };
            choices.push(Choice {
                needs: rule
                    .operands
                    .iter()
                    .map(|axes| Some(cut(axes, factor)))
                    .collect(),
                makes: rule.results.iter().map(made).collect(),
                what: What::Factor(factor),
            });
        }
        if partial.is_none_or(|own| own == Combine::Sum) {
            for (set, operands) in rule.linear.iter().enumerate() {
                let need = |index| match operands.contains(&index) {
                    true => SUMMAND,
                    false => WHOLE,
                };
                choices.push(Choice {
                    needs: (0..rule.operands.len())
                        .map(|index| Some(need(index)))
                        .collect(),
                    makes: vec![SUMMAND; rule.results.len()],
                    what: What::Summands(set),
                });
            }
        }
        self.keep_written(op, decision, choices)
    }
    /// The way to do an op that its attributes say, of those that there are.
    fn keep_written(&self, op: Op, decision: &Decision, choices: Vec<Choice>) -> Vec<Choice> {
        let lists = [CUT, SUMMANDS].map(|name| listed(self.ir, self.mesh, op, name));
        if lists.iter().all(Option::is_none) {
            return choices;
        }
        let at = |list: &Option<Vec<Vec<usize>>>, count: usize| {
            let list = list.as_ref().filter(|list| list.len() == count)?;
            list.iter().position(|axes| axes.contains(&self.axis))
        };
        let what = match (
            at(&lists[0], decision.cut.len()),
            at(&lists[1], decision.summands.len()),
        ) {
            (Some(factor), _) => What::Factor(factor),
            (None, Some(set)) => What::Summands(set),
            (None, None) => What::Together,
        };
        let written: Vec<Choice> = choices
            .iter()
            .filter(|own| own.what == what)
            .cloned()
            .collect();
        match written.is_empty() {
            true => choices,
            false => written,
        }
    }
    /// The way of a value in which it is needed, and the price of making it lie so.
    fn cheapest(&self, have: u64, need: Option<Way>, bytes: u64) -> (Way, u64) {
        let ways = || (0..64).filter(move |way| have >> way & 1 == 1);
        let from_all = |to: Way| {
            ways()
                .map(|from| self.conversion(from, to, bytes))
                .min()
                .unwrap_or(0)
        };
        match need {
            Some(way) => (way, from_all(way)),
            None => {
                let there = ways().find(|way| *way < PENDING);
                there.map_or_else(|| (WHOLE, from_all(WHOLE)), |way| (way, 0))
            }
        }
    }
    /// The price of making a value of so many bytes lie otherwise.
    fn conversion(&self, from: Way, to: Way, bytes: u64) -> u64 {
        if from == to {
            return 0;
        }
        if to >= PENDING {
            // No value becomes a sum.
            return 1 << 50;
        }
        let rank = PENDING as usize;
        let layout = |way: Way| {
            let mut layout = Layout::whole(rank);
            match way {
                WHOLE => {}
                SUMMAND | PENDING => layout.partial = Some((vec![0], Combine::Sum)),
                cut => layout.dims[cut as usize - 1].push(0),
            }
            layout
        };
        let mut bytes = match from {
            WHOLE | SUMMAND | PENDING => bytes,
            _ => bytes / self.parts as u64,
        };
        let mut price = 0u64;
        for step in moves(&layout(from), &layout(to)) {
            let sent = sent(&self.own, &step, bytes);
            if !matches!(step, Move::Slice(..)) {
                price =
                    price.saturating_add(sent.saturating_mul(self.link).saturating_add(self.start));
            }
            bytes = held(&self.own, &step, bytes);
        }
        price
    }
    /// The bytes that a device has of a value, as other mesh axes cut it.
    fn bytes(&self, value: Value, lies: &FxHashMap<Value, Layout>) -> u64 {
        let size = self
            .ir
            .value_kind(value)
            .dtype()
            .map_or(8, |dtype| match dtype {
                // Summands are of f32.
                DType::BF16 | DType::F16 => 2,
                dtype => dtype.bytes(),
            });
        let before = lies.get(&value).map_or(1, |layout| {
            let cut: Vec<usize> = layout
                .dims
                .iter()
                .flatten()
                .copied()
                .filter(|&axis| axis != self.axis)
                .collect();
            self.mesh.parts(&cut).max(1) as u64
        });
        elements(self.ir, value).saturating_mul(size) / before
    }
    /// The time of an op that is not cut along this axis.
    fn price(&self, op: Op, decision: &Decision, lies: &FxHashMap<Value, Layout>) -> u64 {
        let ir = self.ir;
        let Some(def) = ir
            .def(op)
            .filter(|def| !matches!(def.class, OpClass::Control | OpClass::Structure))
        else {
            return 0;
        };
        let values = ir.operands(op).chain(ir.results(op).iter().copied());
        let bytes = values
            .map(|value| self.bytes(value, lies))
            .fold(0, u64::saturating_add);
        let cut: Vec<usize> = decision.cut.iter().flatten().copied().collect();
        let points = decision.rule.points / self.mesh.parts(&cut).max(1) as u64;
        let work = points
            .saturating_mul(u64::from(def.flops))
            .saturating_mul(self.work);
        bytes.saturating_mul(self.memory).max(work)
    }
}

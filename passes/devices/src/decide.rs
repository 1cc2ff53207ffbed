//! The choice of how each op of a program is split over the devices, by minimal time according to the target's figures.
//!
//! Each op requires its operands in some layouts and produces its results in others. Its [`Rule`] gives these for each
//! way to split the op along the mesh axes. A value with another layout is converted, once for all its users. The ops
//! are processed in order, keeping the best sets of layouts of the live values, each with its price. Mesh axes are
//! decided together, [`TOGETHER`] at a time. Arguments and results without a user annotation are whole on each device,
//! or in any other layout if that costs less.
//!
//! The price of an op is the time of its memory traffic or of its arithmetic, whichever is longer, divided by the
//! devices that share it. Values passed between ops of one kernel cause no traffic. The price of a conversion is the
//! traffic of a ring of devices, and the latency of its dependent messages.

use fuser_dialects::task::mesh::{self, Mesh, Sharding};
use fuser_dialects::task::{self, marks, updates};
use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::def::OpClass;
use fuser_ir::{Block, DType, Ir, Op, Value};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::layout::{Layout, held, messages, moves, sent};
use crate::rule::{Combine, Kind, Rule, elements, is_pending};

/// The attribute of an op that lists, for each factor of its rule, the mesh axes that split it.
pub const CUT: &str = "task.cut";
/// The attribute of an op that lists, for each set of operands in which it is linear, the mesh axes along which these
/// are summands.
pub const SUMMANDS: &str = "task.summands";

/// The most sets of layouts that are kept at each op.
const KEPT: usize = 256;

/// The bound on layouts and transitions of all sets that the search keeps. It limits the time for an op in a program
/// with many live values.
const WORK: usize = 1 << 14;

/// Axes of the mesh that are decided about at once.
const TOGETHER: usize = 3;

/// Times that axes are decided about where there are more.
const ROUNDS: usize = 2;

/// The decision about one op.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// Its rule.
    pub rule: Rule,
    /// For each factor the mesh axes that cut it.
    pub cut: Vec<Vec<usize>>,
    /// For each set of the rule, the mesh axes along which its operands are summands.
    pub summands: Vec<Vec<usize>>,
    /// The layouts that operands must have.
    pub needs: Vec<Layout>,
    /// The layouts of results.
    pub makes: Vec<Layout>,
}

/// The thing that an axis of the mesh does at an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// All devices along it do the same.
    Same,
    /// It cuts this factor.
    Factor(usize),
    /// The operands of this set are summands along it.
    Summands(usize),
}

/// The number of a layout among all layouts met during the search.
type Lies = u32;

/// A way to do an op.
#[derive(Clone, Debug)]
struct Choice {
    /// `None`: in any layout without summands.
    needs: SmallVec<[Option<Lies>; 3]>,
    makes: SmallVec<[Lies; 1]>,
    /// The part of each axis of the mesh.
    what: SmallVec<[What; 2]>,
    /// The devices that share it.
    parts: u64,
    /// The time in which neighbours send what it needs of them.
    halos: u64,
}

/// The decisions about the ops of a program's body, in order.
pub struct Plan {
    /// One for each op of the block.
    pub ops: Vec<(Op, Decision)>,
    /// The layouts of arguments.
    pub args: Vec<Layout>,
    /// The time that it takes.
    pub price: Price,
}

/// A time, in femtoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Price {
    /// Time of memory and arithmetic.
    pub ops: u64,
    /// Time of links.
    pub links: u64,
}

impl Price {
    /// Both, one after the other.
    pub fn all(self) -> u64 {
        self.ops.saturating_add(self.links)
    }
    fn plus(self, other: Self) -> Self {
        Self {
            ops: self.ops.saturating_add(other.ops),
            links: self.links.saturating_add(other.links),
        }
    }
}

/// The sharding that the mark of an argument or a result says.
pub fn marked(ir: &Ir, mesh: &Mesh, program: Op, list: &str, index: usize) -> Option<Sharding> {
    let attr = marks::value(ir, program, list, index, mesh::MARK)?;
    Sharding::read(ir, mesh, attr).ok()
}

/// Decides about the program with this body.
pub fn decide(ir: &Ir, mesh: &Mesh, target: &Target, program: Op, body: Block) -> Plan {
    let marked = |(index, &arg): (usize, &Value)| {
        let own = marked(ir, mesh, program, marks::LISTS[0], index);
        own.map_or_else(|| Layout::whole(ir.rank(arg)), |own| Layout::of(&own))
    };
    let args = ir.args(body).iter().enumerate().map(marked).collect();
    let ops: Vec<(Op, Rule)> = ir
        .block_ops(body)
        .map(|op| (op, Rule::of(ir, op)))
        .collect();
    let mut walk = Walk::new(ir, mesh, target, program, args);
    let mut whats: Vec<SmallVec<[What; 2]>> =
        vec![SmallVec::from_elem(What::Same, mesh.axes.len()); ops.len()];
    let axes: Vec<usize> = (0..mesh.axes.len())
        .filter(|&axis| mesh.axes[axis].1 > 1)
        .collect();
    // The first time axes know those before them, then all others.
    let rounds = if axes.len() > TOGETHER { ROUNDS } else { 1 };
    let (mut needs, mut price) = (Vec::new(), Price::default());
    for _ in 0..rounds {
        for open in axes.chunks(TOGETHER) {
            open.iter().for_each(|&axis| walk.known[axis] = true);
            (needs, price) = walk.run(&ops, &mut whats, open);
        }
    }
    if axes.is_empty() {
        (needs, price) = walk.run(&ops, &mut whats, &[]);
    }
    let decided = ops.into_iter().zip(whats).zip(needs);
    let decided = decided.map(|(((op, rule), what), needs)| {
        let decision = walk.decision(op, rule, &what, needs);
        (op, decision)
    });
    Plan {
        ops: decided.collect(),
        price,
        args: walk.args,
    }
}

/// The layouts of operands and results of an op that the user has annotated.
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

/// A set of layouts of the values that are still read.
#[derive(Clone)]
struct Kept {
    /// For each place the layouts in which its value is there.
    lies: Vec<SmallVec<[Lies; 2]>>,
    price: Price,
    trail: usize,
}

/// The walk over a program.
struct Walk<'a> {
    ir: &'a Ir,
    mesh: &'a Mesh,
    program: Op,
    /// The layouts of arguments.
    args: Vec<Layout>,
    /// The axes of the mesh that are decided about, by now.
    known: Vec<bool>,
    /// All layouts met. The flag is true for parts that are not yet summands of the value.
    layouts: Vec<(Layout, bool)>,
    numbers: FxHashMap<(Layout, bool), Lies>,
    /// Conversions between layouts: the fraction of a value's bytes that is sent, in units of 2^-32, and the number of
    /// dependent messages.
    moves: FxHashMap<(Lies, Lies), Option<(u64, u64)>>,
    /// The costs in femtoseconds of a byte of memory, a byte of a link, an operation, and a message.
    memory: u64,
    link: u64,
    work: u64,
    message: u64,
}

/// The operands and results of an op that a walk looks at.
struct Step {
    slots: SmallVec<[usize; 3]>,
    bytes: SmallVec<[u64; 3]>,
    /// Places whose values nothing else reads.
    ended: SmallVec<[usize; 3]>,
    made: SmallVec<[Option<usize>; 1]>,
    time: u64,
}

impl<'a> Walk<'a> {
    fn new(ir: &'a Ir, mesh: &'a Mesh, target: &Target, program: Op, args: Vec<Layout>) -> Self {
        let femtoseconds = |per_us: u64| (1_000_000_000 / per_us.max(1)).max(1);
        let memory = femtoseconds(target.bytes_per_us);
        Self {
            ir,
            mesh,
            program,
            args,
            known: vec![false; mesh.axes.len()],
            layouts: Vec::new(),
            numbers: FxHashMap::default(),
            moves: FxHashMap::default(),
            memory,
            link: femtoseconds(target.link_bytes_per_us),
            work: femtoseconds(target.flops_per_us),
            message: target.message_ns.saturating_mul(1_000_000),
        }
    }
    /// The number of a layout, as far as its axes are known.
    fn number(&mut self, mut layout: Layout, pending: bool) -> Lies {
        let known = &self.known;
        let keep = |axes: &mut Vec<usize>| axes.retain(|&axis| known[axis]);
        layout.dims.iter_mut().for_each(keep);
        if let Some((axes, _)) = &mut layout.partial {
            keep(axes);
        }
        layout.partial = layout.partial.filter(|(axes, _)| !axes.is_empty());
        let next = self.layouts.len() as Lies;
        let pending = pending && layout.partial.is_some();
        let number = *self
            .numbers
            .entry((layout.clone(), pending))
            .or_insert(next);
        if number == next {
            self.layouts.push((layout, pending));
        }
        number
    }
    /// Decides the role of the mesh axes `open` at each op, given the roles of the other axes. Returns the layouts in
    /// which operands are required, and the price.
    fn run(
        &mut self,
        ops: &[(Op, Rule)],
        whats: &mut [SmallVec<[What; 2]>],
        open: &[usize],
    ) -> (Vec<Vec<Layout>>, Price) {
        let ir = self.ir;
        let mut last: FxHashMap<Value, usize> = FxHashMap::default();
        for (at, (op, _)) in ops.iter().enumerate() {
            last.extend(ir.operands(*op).map(|value| (value, at)));
        }
        let body = ir.body(self.program, 0);
        let args = body.map_or(&[][..], |body| ir.args(body));
        let mut places = Places::default();
        let mut first = Vec::new();
        for (&arg, layout) in args.iter().zip(self.args.clone()) {
            let lies = self.number(layout, false);
            if last.contains_key(&arg) {
                places.take(arg);
                first.push(SmallVec::from_elem(lies, 1));
            }
        }
        let mut kept = vec![Kept {
            lies: first,
            price: Price::default(),
            trail: usize::MAX,
        }];
        let mut trails: Vec<(usize, usize)> = Vec::new();
        let mut all: Vec<(Vec<Choice>, Step)> = Vec::with_capacity(ops.len());
        for (at, (op, rule)) in ops.iter().enumerate() {
            let choices = self.choices(*op, rule, &whats[at], open);
            let step = self.step(
                *op,
                rule,
                &mut places,
                |value| last.get(&value) == Some(&at),
                |value| last.contains_key(&value),
            );
            let count = places.count;
            let mut next = Vec::with_capacity(kept.len() * choices.len());
            for (before, state) in kept.iter().enumerate() {
                for (number, choice) in choices.iter().enumerate() {
                    let price = state.price.plus(self.price(state, choice, &step));
                    next.push((price.all(), before, number, price));
                }
            }
            next.sort_unstable();
            let most = (WORK / count.max(choices.len()).max(1)).clamp(KEPT / 16, KEPT);
            let mut known = FxHashSet::default();
            let mut after = Vec::new();
            for (_, before, number, price) in next {
                let lies = self.after(&kept[before], &choices[number], &step, count);
                if known.insert(lies.clone()) {
                    after.push(Kept {
                        lies,
                        price,
                        trail: trails.len(),
                    });
                    trails.push((kept[before].trail, number));
                }
                if after.len() == most {
                    break;
                }
            }
            kept = after;
            all.push((choices, step));
        }
        // The best one, from its end.
        let best = kept.first();
        let price = best.map_or(Price::default(), |best| best.price);
        let mut trail = best.map_or(usize::MAX, |best| best.trail);
        let mut taken = vec![0; ops.len()];
        for at in (0..ops.len()).rev() {
            let Some(&(before, number)) = trails.get(trail) else {
                break;
            };
            (taken[at], trail) = (number, before);
        }
        // The same again, with the layouts that were there.
        let mut there: FxHashMap<Value, SmallVec<[Lies; 2]>> = FxHashMap::default();
        for (&arg, layout) in args.iter().zip(self.args.clone()) {
            let lies = self.number(layout, false);
            there.insert(arg, SmallVec::from_elem(lies, 1));
        }
        let mut needs = Vec::with_capacity(ops.len());
        for (at, (op, _)) in ops.iter().enumerate() {
            let (choices, step) = &all[at];
            let choice = &choices[taken[at]];
            whats[at].clone_from(&choice.what);
            let mut own = Vec::with_capacity(choice.needs.len());
            for ((value, need), bytes) in ir.operands(*op).zip(&choice.needs).zip(&step.bytes) {
                let have = there.entry(value).or_default();
                let (lies, _) = self.cheapest(have, *need, *bytes);
                if !have.contains(&lies) {
                    have.push(lies);
                }
                own.push(self.layouts[lies as usize].0.clone());
            }
            needs.push(own);
            for (&value, &lies) in ir.results(*op).iter().zip(&choice.makes) {
                there.insert(value, SmallVec::from_elem(lies, 1));
            }
        }
        (needs, price)
    }
    /// The values of an op and their slots; operands with their last use free their slots for results.
    fn step(
        &self,
        op: Op,
        rule: &Rule,
        places: &mut Places,
        is_last: impl Fn(Value) -> bool,
        is_read: impl Fn(Value) -> bool,
    ) -> Step {
        let ir = self.ir;
        let operands = || ir.operands(op);
        let slots = operands().map(|value| places.of[&value]).collect();
        let ended: SmallVec<[Value; 3]> = operands().filter(|&value| is_last(value)).collect();
        let ended = ended.into_iter().filter_map(|value| places.give(value));
        let ended = ended.collect();
        let results = ir.results(op).iter();
        Step {
            slots,
            bytes: operands().map(|value| bytes(ir, value)).collect(),
            ended,
            made: results
                .map(|&value| is_read(value).then(|| places.take(value)))
                .collect(),
            time: self.time(op, rule),
        }
    }
    /// The price of an op done so, with the moves of its operands.
    fn price(&mut self, state: &Kept, choice: &Choice, step: &Step) -> Price {
        let mut price = Price {
            ops: step.time / choice.parts,
            links: choice.halos,
        };
        for (index, (&slot, need)) in step.slots.iter().zip(&choice.needs).enumerate() {
            let again = (0..index).any(|own| step.slots[own] == slot && choice.needs[own] == *need);
            if !again {
                let (_, moved) = self.cheapest(&state.lies[slot], *need, step.bytes[index]);
                price.links = price.links.saturating_add(moved);
            }
        }
        price
    }
    /// The layouts that are there after an op.
    fn after(
        &mut self,
        state: &Kept,
        choice: &Choice,
        step: &Step,
        count: usize,
    ) -> Vec<SmallVec<[Lies; 2]>> {
        let mut lies = state.lies.clone();
        lies.resize(count, SmallVec::new());
        for ((&slot, need), &bytes) in step.slots.iter().zip(&choice.needs).zip(&step.bytes) {
            let (own, _) = self.cheapest(&lies[slot], *need, bytes);
            if let Err(at) = lies[slot].binary_search(&own) {
                lies[slot].insert(at, own);
            }
        }
        step.ended.iter().for_each(|&slot| lies[slot].clear());
        for (slot, &own) in step.made.iter().zip(&choice.makes) {
            if let Some(slot) = *slot {
                lies[slot] = SmallVec::from_elem(own, 1);
            }
        }
        lies
    }
    /// The possible choices for an op, where axes other than `open` keep their roles.
    fn choices(&mut self, op: Op, rule: &Rule, what: &[What], open: &[usize]) -> Vec<Choice> {
        if let Some((needs, makes)) = said(self.ir, self.mesh, self.program, op) {
            let needs = needs.into_iter();
            return vec![Choice {
                needs: needs
                    .map(|own| own.map(|own| self.number(own, false)))
                    .collect(),
                makes: makes
                    .into_iter()
                    .map(|own| self.number(own, false))
                    .collect(),
                what: SmallVec::from_slice(what),
                parts: 1,
                halos: 0,
            }];
        }
        let mut all = vec![SmallVec::from_slice(what)];
        for axis in open {
            all.iter_mut().for_each(|own| own[*axis] = What::Same);
        }
        for &axis in open {
            let written = self.written(op, rule, axis);
            let more: Vec<SmallVec<[What; 2]>> = all
                .iter()
                .flat_map(|own| {
                    let factors = (0..rule.factors.len()).map(What::Factor);
                    let sets = (0..rule.linear.len()).map(What::Summands);
                    let whats = [What::Same].into_iter().chain(factors).chain(sets);
                    whats.map(move |what| {
                        let mut own: SmallVec<[What; 2]> = own.clone();
                        own[axis] = what;
                        own
                    })
                })
                .filter(|own| self.fits(rule, own))
                .collect();
            let is_written =
                |own: &&SmallVec<[What; 2]>| written.is_none_or(|what| own[axis] == what);
            let kept: Vec<SmallVec<[What; 2]>> = more.iter().filter(is_written).cloned().collect();
            all = if kept.is_empty() { more } else { kept };
        }
        all.into_iter()
            .map(|what| {
                let (needs, makes) = self.layouts_of(rule, &what);
                let pending = is_pending(self.ir, op) && !looks_up(rule, &what);
                let pending = pending || combine_of(rule, &what) != Some(Combine::Sum);
                let shares = |own: &(usize, &What)| *own.1 != What::Same;
                let axes = what.iter().enumerate().filter(shares).map(|(axis, _)| axis);
                let axes: SmallVec<[usize; 2]> = axes.collect();
                let halos = self.halos(op, rule, &what, &needs);
                Choice {
                    needs: needs
                        .into_iter()
                        .map(|own| Some(self.number(own, false)))
                        .collect(),
                    makes: makes
                        .into_iter()
                        .map(|own| self.number(own, pending))
                        .collect(),
                    what,
                    parts: self.mesh.parts(&axes).max(1) as u64,
                    halos,
                }
            })
            .collect()
    }
    /// The time in which neighbours send what lies at both ends of parts.
    fn halos(&self, op: Op, rule: &Rule, what: &[What], needs: &[Layout]) -> u64 {
        let mut time = 0u64;
        for (factor, own) in rule.factors.iter().enumerate() {
            let Kind::Halo(halo) = own.kind else { continue };
            if !what.contains(&What::Factor(factor)) {
                continue;
            }
            let whole = bytes(self.ir, self.ir.operand(op, 0));
            let line = whole / own.extents[0].max(1);
            // What other axes of the mesh cut is sent in parts as well.
            let dims = needs[0].dims.iter().zip(&rule.operands[0]);
            let others = dims.filter(|(_, own)| **own != Some(factor));
            let others: Vec<usize> = others.flat_map(|(axes, _)| axes).copied().collect();
            let sent =
                line.saturating_mul(halo.elements()) / self.mesh.parts(&others).max(1) as u64;
            let count = [halo.before, halo.behind]
                .iter()
                .filter(|own| **own > 0)
                .count() as u64;
            let own = sent
                .saturating_mul(self.link)
                .saturating_add(count * self.message);
            time = time.saturating_add(own);
        }
        time
    }
    /// True if parts divide what is cut, and are combined in one way.
    fn fits(&self, rule: &Rule, what: &[What]) -> bool {
        let combines = what.iter().filter_map(|own| combine(rule, *own));
        let mut combines = combines.collect::<SmallVec<[Combine; 2]>>();
        combines.dedup();
        let cut = |factor: usize| {
            let axes = what.iter().enumerate();
            let axes = axes.filter(|(_, own)| **own == What::Factor(factor));
            let axes: SmallVec<[usize; 2]> = axes.map(|(axis, _)| axis).collect();
            axes.is_empty() || rule.divides(factor, self.mesh.parts(&axes))
        };
        combines.len() < 2 && (0..rule.factors.len()).all(cut)
    }
    /// The layouts of an op's operands and results, given the role of each mesh axis.
    fn layouts_of(&self, rule: &Rule, what: &[What]) -> (Vec<Layout>, Vec<Layout>) {
        let cut = |axes: &[Option<usize>]| {
            let mut layout = Layout::whole(axes.len());
            for (axis, own) in what.iter().enumerate() {
                let dim = match *own {
                    What::Factor(factor) => axes.iter().position(|own| *own == Some(factor)),
                    _ => None,
                };
                if let Some(dim) = dim {
                    layout.dims[dim].push(axis);
                }
            }
            layout
        };
        let along = |wanted: &dyn Fn(What) -> bool| -> Vec<usize> {
            let axes = what.iter().enumerate().filter(|(_, own)| wanted(**own));
            axes.map(|(axis, _)| axis).collect()
        };
        let operands = rule.operands.iter().enumerate().map(|(index, axes)| {
            let mut layout = cut(axes);
            let summed = along(&|own| match own {
                What::Summands(set) => rule.linear[set].contains(&index),
                _ => false,
            });
            if !summed.is_empty() {
                layout.partial = Some((summed, Combine::Sum));
            }
            layout
        });
        let results = rule.results.iter().map(|axes| {
            let mut layout = cut(axes);
            let open = along(&|own| combine(rule, own).is_some());
            if let Some(combine) = combine_of(rule, what)
                && !open.is_empty()
            {
                layout.partial = Some((open, combine));
            }
            layout
        });
        (operands.collect(), results.collect())
    }
    /// The decision about an op whose operands are needed so.
    fn decision(&self, op: Op, rule: Rule, what: &[What], needs: Vec<Layout>) -> Decision {
        let axes = |wanted: What| -> Vec<usize> {
            let axes = what.iter().enumerate().filter(|(_, own)| **own == wanted);
            axes.map(|(axis, _)| axis).collect()
        };
        let factors = (0..rule.factors.len()).map(|own| axes(What::Factor(own)));
        let sets = (0..rule.linear.len()).map(|own| axes(What::Summands(own)));
        let (cut, summands) = (factors.collect(), sets.collect());
        let (needs, makes) = match said(self.ir, self.mesh, self.program, op) {
            Some((said, makes)) => {
                let needs = said.into_iter().zip(needs);
                let needs = needs.map(|(said, own)| said.unwrap_or(own));
                (needs.collect(), makes)
            }
            None => self.layouts_of(&rule, what),
        };
        Decision {
            rule,
            cut,
            summands,
            needs,
            makes,
        }
    }
    /// The role of a mesh axis according to the attributes of an op, if they exist.
    fn written(&self, op: Op, rule: &Rule, axis: usize) -> Option<What> {
        let lists = [CUT, SUMMANDS].map(|name| listed(self.ir, self.mesh, op, name));
        if lists.iter().all(Option::is_none) {
            return None;
        }
        let at = |list: &Option<Vec<Vec<usize>>>, count: usize| {
            let list = list.as_ref().filter(|list| list.len() == count)?;
            list.iter().position(|axes| axes.contains(&axis))
        };
        let factor = at(&lists[0], rule.factors.len()).map(What::Factor);
        let set = at(&lists[1], rule.linear.len()).map(What::Summands);
        Some(factor.or(set).unwrap_or(What::Same))
    }
    /// The required layout of a value, and the price of converting to it.
    fn cheapest(&mut self, have: &[Lies], need: Option<Lies>, bytes: u64) -> (Lies, u64) {
        let need = need.or_else(|| {
            let is_partial = |own: &Lies| self.layouts[*own as usize].0.partial.is_some();
            have.iter().copied().find(|own| !is_partial(own))
        });
        let need = need.unwrap_or_else(|| {
            let first = have
                .first()
                .map(|&own| self.layouts[own as usize].0.clone());
            let dims = first.map_or(Vec::new(), |own| own.dims);
            self.number(Layout::cut(dims), false)
        });
        let prices = have.iter().map(|&from| self.conversion(from, need, bytes));
        (need, prices.min().unwrap_or(0))
    }
    /// The price of making a value of so many bytes lie otherwise.
    fn conversion(&mut self, from: Lies, to: Lies, bytes: u64) -> u64 {
        if from == to {
            return 0;
        }
        let known = self.moves.get(&(from, to)).copied();
        let known = known.unwrap_or_else(|| {
            let found = self.moved(from, to);
            self.moves.insert((from, to), found);
            found
        });
        // No value becomes a sum.
        known.map_or(1 << 60, |(share, count)| {
            let sent = ((u128::from(bytes) * u128::from(share)) >> 32) as u64;
            let sent = sent.saturating_mul(self.link);
            sent.saturating_add(count.saturating_mul(self.message))
        })
    }
    fn moved(&self, from: Lies, to: Lies) -> Option<(u64, u64)> {
        let ((from, pending), (to, _)) = (&self.layouts[from as usize], &self.layouts[to as usize]);
        let open = to.partial.iter().flat_map(|(axes, _)| axes);
        let is_open = |axis: &usize| from.partial.iter().any(|(axes, _)| axes.contains(axis));
        if to.partial.is_some() && *pending || !open.copied().all(|axis| is_open(&axis)) {
            return None;
        }
        let cut: Vec<usize> = from.dims.iter().flatten().copied().collect();
        let mut held_bytes = (1u64 << 32) / self.mesh.parts(&cut).max(1) as u64;
        let (mut share, mut count) = (0u64, 0);
        for step in moves(from, to) {
            share = share.saturating_add(sent(self.mesh, &step, held_bytes));
            count += messages(self.mesh, &step);
            held_bytes = held(self.mesh, &step, held_bytes);
        }
        Some((share, count))
    }
    /// The time of an op that one device does alone.
    fn time(&self, op: Op, rule: &Rule) -> u64 {
        let ir = self.ir;
        let def = ir.def(op);
        let Some(def) =
            def.filter(|def| !matches!(def.class, OpClass::Control | OpClass::Structure))
        else {
            return 0;
        };
        // What one kernel computes and reads does not go through memory.
        let joins = |other: Op| shares_kernels(ir, op) && shares_kernels(ir, other);
        let loaded = ir
            .operands(op)
            .filter(|&value| !ir.def_op(value).is_some_and(joins));
        let stored = ir.results(op).iter().copied();
        let stored = stored.filter(|&value| !ir.users(value).all(joins));
        let bytes = loaded.chain(stored).map(|value| bytes(ir, value));
        let bytes = bytes.fold(0, u64::saturating_add);
        let work = rule.points.saturating_mul(u64::from(def.flops));
        let work = work.saturating_mul(self.work);
        bytes.saturating_mul(self.memory).max(work)
    }
}

/// The places of values that are still read, in sets of layouts.
#[derive(Default)]
struct Places {
    of: FxHashMap<Value, usize>,
    free: Vec<usize>,
    count: usize,
}

impl Places {
    fn take(&mut self, value: Value) -> usize {
        let place = self.free.pop().unwrap_or(self.count);
        self.count = self.count.max(place + 1);
        self.of.insert(value, place);
        place
    }
    fn give(&mut self, value: Value) -> Option<usize> {
        let place = self.of.remove(&value)?;
        self.free.push(place);
        Some(place)
    }
}

/// The combining function for parts of a result, if a mesh axis has the role `what`.
fn combine(rule: &Rule, what: What) -> Option<Combine> {
    match what {
        What::Same => None,
        What::Factor(factor) => match rule.factors[factor].kind {
            Kind::Parallel | Kind::Placed | Kind::Halo(_) => None,
            Kind::Partial(combine) => Some(combine),
            Kind::Lookup => Some(Combine::Sum),
        },
        What::Summands(_) => Some(Combine::Sum),
    }
}

/// The combining function for parts of a result, if the mesh axes have these roles.
fn combine_of(rule: &Rule, what: &[What]) -> Option<Combine> {
    what.iter().find_map(|&own| combine(rule, own))
}

/// True if a mesh axis splits a table in which elements are looked up.
fn looks_up(rule: &Rule, what: &[What]) -> bool {
    what.iter().any(|own| match *own {
        What::Factor(factor) => rule.factors[factor].kind == Kind::Lookup,
        _ => false,
    })
}

/// True if an op shares kernels with its neighbours.
fn shares_kernels(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map(|def| def.class);
    matches!(
        class,
        Some(OpClass::Elementwise | OpClass::Reduction | OpClass::Shape | OpClass::Creation)
    )
}

/// The bytes of a whole value.
fn bytes(ir: &Ir, value: Value) -> u64 {
    let dtype = ir.value_kind(value).dtype();
    let size = dtype.map_or(8, DType::bytes);
    elements(ir, value).saturating_mul(size)
}

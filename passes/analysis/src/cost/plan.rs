//! The choice of a plan: for each candidate set of resident axes, the resulting sweeps and their cost.

use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Traits, Value};
use fuser_target::Target;

use super::body::{Body, Mask, Node, Source};
use super::call::{Call, is_call};
use super::epilogues::{self, Walks};
use super::loops::LoopNest;
use super::memory_view::keeps_memory;
use super::refusal::Refusal;
use super::roles::{self, Role};
use super::sizes::Bindings;
use super::tiles::Tiles;
use super::units::{self, Draft};
use crate::axes::window::Region;
use crate::axes::{Axes, AxisId, Copies};
use rustc_hash::{FxHashMap, FxHashSet};

/// The way in which a group of ops runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One kernel.
    Kernel,
    /// No kernel: every output is a view of an input's memory.
    View,
    /// One op, run as a whole by a call.
    Library,
    /// An op that runs programs: a loop, a branch, devices.
    Control,
}

impl Kind {
    /// True if one op runs as a whole, without sweeps.
    pub const fn is_call(self) -> bool {
        matches!(self, Kind::Library | Kind::Control)
    }
    /// The word in `kind "..."`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::View => "view",
            Kind::Library => "library",
            Kind::Control => "control",
        }
    }
}

/// The quantity to minimize.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Objective {
    /// Bytes through slow memory, then launches and kernels.
    #[default]
    Bytes,
    /// Estimated time from the target's figures.
    Time,
    /// Kernels, then bytes.
    Kernels,
}

/// The limits on the size of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Ops per kernel: bounds code size and compile time.
    pub ops: usize,
    /// Sweeps per kernel.
    pub sweeps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ops: 1024,
            sweeps: usize::MAX,
        }
    }
}

/// The cost model and the limits of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    /// The target.
    pub target: Target,
    /// Lengths of named extents.
    pub bindings: Bindings,
    /// Bounds.
    pub limits: Limits,
    /// The quantity to minimize.
    pub objective: Objective,
}

/// The cost of one or several kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Bytes that sweeps load: inputs, and outputs of earlier sweeps.
    pub read_bytes: u64,
    /// Bytes of outputs.
    pub write_bytes: u64,
    /// Bytes exchanged between the launches of one kernel, written and read.
    pub workspace_bytes: u64,
    /// Arithmetic, recomputation included.
    pub flops: u64,
    /// Recomputation in windows, as bytes that could be moved in its time, beyond the bytes moved meanwhile and the
    /// time of a launch.
    pub again_bytes: u64,
    /// Waits of a CPU for rows, where it holds strips of columns narrower than `narrow-tile`: no prefetch hides them.
    /// They count as bytes that could be moved in that time, beyond the bytes moved and the time of a launch.
    pub wait_bytes: u64,
    /// Kernels: segments that are not views.
    pub kernels: u64,
    /// Launches of these kernels: one for each sweep, for each reduction with partial results of workers, and for each
    /// epilogue walk.
    pub launches: u64,
    /// Estimated nanoseconds.
    pub time_ns: u64,
}

impl Cost {
    /// The bytes moved.
    pub fn bytes(&self) -> u64 {
        let outer = self.read_bytes.saturating_add(self.write_bytes);
        outer.saturating_add(self.workspace_bytes)
    }
    /// The bytes moved, plus the recomputation in windows and the waits for strips as bytes.
    pub fn price(&self) -> u64 {
        let more = self.again_bytes.saturating_add(self.wait_bytes);
        self.bytes().saturating_add(more)
    }
    /// The cost of both, one after the other.
    pub fn plus(&self, other: &Cost) -> Cost {
        Cost {
            read_bytes: self.read_bytes.saturating_add(other.read_bytes),
            write_bytes: self.write_bytes.saturating_add(other.write_bytes),
            workspace_bytes: self.workspace_bytes.saturating_add(other.workspace_bytes),
            flops: self.flops.saturating_add(other.flops),
            again_bytes: self.again_bytes.saturating_add(other.again_bytes),
            wait_bytes: self.wait_bytes.saturating_add(other.wait_bytes),
            kernels: self.kernels.saturating_add(other.kernels),
            launches: self.launches.saturating_add(other.launches),
            time_ns: self.time_ns.saturating_add(other.time_ns),
        }
    }
    /// A key that orders costs under `objective`; smaller is better.
    pub fn key(&self, objective: Objective) -> (u64, u64, u64, u64) {
        let (bytes, time) = (self.bytes(), self.time_ns);
        match objective {
            Objective::Bytes => (self.price(), self.launches, self.kernels, time),
            Objective::Time => (time, bytes, self.launches, self.kernels),
            Objective::Kernels => (self.kernels, bytes, self.launches, time),
        }
    }
}

/// One loop nest over slow memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sweep {
    /// All sweeps of a smaller level must be complete before it starts. Sweeps of one level are independent.
    pub level: u32,
    /// The axes that it iterates, outermost first: grid, then stream, then tile.
    pub axes: Vec<(AxisId, Role)>,
    /// Ops of each phase, in program order. An op that a later phase or sweep recomputes is listed in both.
    pub phases: Vec<Vec<Op>>,
    /// Reductions whose results are complete only after the sweep.
    pub accumulators: Vec<Op>,
    /// Its loops.
    pub nest: LoopNest,
    /// The loop nests over accumulated results. They run after the results of all workers are combined.
    pub epilogues: Vec<Epilogue>,
    /// The number of epilogues, from the first, that a GPU's last block computes after it has combined the partial
    /// results.
    pub in_last_block: usize,
    /// Inputs of the segment that it loads.
    pub loads: Vec<Value>,
    /// Results of earlier sweeps that it loads.
    pub fetches: Vec<Value>,
    /// Values that its epilogues load: inputs of the segment, results of earlier sweeps, and its own accumulators.
    pub epilogue_loads: Vec<Value>,
    /// Results that it writes for later sweeps and that are not outputs of the segment.
    pub keeps: Vec<Value>,
    /// Outputs of the segment that it writes.
    pub stores: Vec<Value>,
    /// Bytes resident in fast memory during a step.
    pub tile_bytes: u64,
    /// The bytes of `tile_bytes` that its kernel allocates. Inputs that later phases read again stay in caches.
    pub allocated: u64,
}

/// A loop nest over accumulated results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Epilogue {
    /// Its ops, in program order.
    pub ops: Vec<Op>,
    /// The ops whose results it writes; the others are computed for each element.
    pub writes: Vec<Op>,
    /// Its loops, all of them mapped to workers.
    pub nest: LoopNest,
}

/// The plan of a group of ops as one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Kernel, view or call.
    pub kind: Kind,
    /// Values that it reads from outside, in order of first use.
    pub inputs: Vec<Value>,
    /// Values that are used outside, in program order.
    pub outputs: Vec<Value>,
    /// Resident axes.
    pub tile: Vec<AxisId>,
    /// The sweeps, in run order; empty for a view or a call.
    pub sweeps: Vec<Sweep>,
    /// Its cost.
    pub cost: Cost,
    /// Refusals of tiles that would have saved sweeps but do not fit.
    pub rejected: Vec<Refusal>,
}

/// The most distinct sets of reduced axes whose unions are all tried. With more sets, only single sets and the union of
/// all are tried.
const MAX_ENUMERATED: usize = 4;

/// Nanoseconds that a view costs the host: enough that it joins a kernel if that moves no more bytes.
const VIEW_NS: u64 = 100;

/// Plans `ops`, given in program order, as one kernel, as a view (which needs no common iteration space), or as a call.
/// `copies` describes duplicated ops that the IR does not show.
pub fn plan_ops(ir: &Ir, ops: &[Op], model: &Model, copies: &Copies) -> Result<Plan, Refusal> {
    if is_view(ir, ops) {
        return Ok(view(ir, ops, copies));
    }
    if let &[op] = ops
        && let Some(call) = Call::of(ir, op, &model.bindings)
    {
        return Ok(call_alone(ir, op, &call, model, copies));
    }
    let axes = Axes::build_with(ir, ops, copies).map_err(Refusal::Axes)?;
    plan_with(ir, ops, &axes, model, copies)
}

/// True if each output is a view of an input's memory, and no boundary lies inside.
fn is_view(ir: &Ir, ops: &[Op]) -> bool {
    let boundaries = ops.iter().filter(|&&op| ir.has(op, Traits::BARRIER));
    let mut made = boundaries.flat_map(|&op| ir.results(op));
    let crossed = |v: &Value| ir.users(*v).any(|user| ops.contains(&user));
    ops.iter().all(|&op| keeps_memory(ir, op)) && !made.any(crossed)
}

/// Plans `ops`, given in program order, as one kernel; `axes` is their axis analysis.
pub fn plan(ir: &Ir, ops: &[Op], axes: &Axes, model: &Model) -> Result<Plan, Refusal> {
    plan_with(ir, ops, axes, model, &Copies::default())
}

/// Like [`plan`], where `copies` are duplicated.
pub fn plan_with(
    ir: &Ir,
    ops: &[Op],
    axes: &Axes,
    model: &Model,
    copies: &Copies,
) -> Result<Plan, Refusal> {
    if let Some(&op) = ops.iter().find(|&&op| is_call(ir, op)) {
        return Err(Refusal::CallAlone { op });
    }
    let (target, limits) = (&model.target, &model.limits);
    let mut body = Body::build(ir, ops, axes, &model.bindings, limits, copies)?;
    if is_view(ir, ops) {
        return Ok(view(ir, ops, copies));
    }
    let (mut choice, mut rejected) = choose(&body, model)?;
    let products = |choice: &Choice| {
        let mut drafts = choice.drafts.iter();
        drafts.any(|draft| iterates_product(ir, &body, draft, &model.bindings))
    };
    if products(&choice) {
        body.windows_apart = true;
        (choice, rejected) = choose(&body, model)?;
    }
    let Choice {
        cost, tile, drafts, ..
    } = choice;
    if drafts.len() > limits.sweeps {
        let (sweeps, limit) = (drafts.len(), limits.sweeps);
        return Err(Refusal::TooManySweeps { sweeps, limit });
    }
    let sweeps = drafts.iter().map(|d| sweep(ir, &body, d, target)).collect();
    Ok(Plan {
        kind: Kind::Kernel,
        inputs: body.inputs.iter().map(|i| i.value).collect(),
        outputs: body.outputs.clone(),
        tile: super::body::bits(tile).map(AxisId::from_index).collect(),
        sweeps,
        cost,
        rejected,
    })
}

/// The best choice of resident axes, and the refusals of better ones that do not fit.
fn choose(body: &Body, model: &Model) -> Result<(Choice, Vec<Refusal>), Refusal> {
    let target = &model.target;
    let mut tiles = tiles(body);
    let all = tiles.pop().map(|all| evaluate(body, all, target));
    // If the union of all sets moves each byte once, sets with results that cross between sweeps move more and are
    // dropped.
    let once = all
        .as_ref()
        .is_some_and(|all| all.refusal.is_none() && all.billed() <= least(body));
    if once && model.objective != Objective::Time {
        tiles.retain(|&tile| !crosses(body, tile));
    }
    let choices = tiles.iter().map(|&tile| evaluate(body, tile, target));
    let mut choices: Vec<Choice> = choices.chain(all).collect();
    // The sort is stable: among equal plans the smaller tile comes first.
    choices.sort_by_key(|c| c.key(model.objective));
    if model.objective == Objective::Bytes && !target.abilities().block_threads {
        prefer_faster(&mut choices, target);
    }
    let fits = choices.iter().position(|c| c.refusal.is_none());
    let mut better = choices.into_iter();
    let rejected = better.by_ref().take(fits.unwrap_or(usize::MAX));
    let mut rejected: Vec<Refusal> = rejected.filter_map(|c| c.refusal).collect();
    match better.next() {
        Some(choice) => Ok((choice, rejected)),
        None => {
            // The empty tile is always a candidate; if even it does not fit, its refusal is the reason.
            let smallest = rejected
                .iter()
                .position(|r| matches!(r, Refusal::TileTooLarge { axes, .. } if axes.is_empty()));
            Err(rejected.swap_remove(smallest.unwrap_or(0)))
        }
    }
}

/// True if the loop nest of a sweep would iterate a product of spaces that the axes of the whole group do not have. A
/// sweep is lowered by itself: what the group connects elsewhere has axes of its own there.
fn iterates_product(ir: &Ir, body: &Body, draft: &Draft, bindings: &Bindings) -> bool {
    let roots = || draft.stores.iter().chain(&draft.keeps);
    let computes = |&index: &u32| body.computes_in_window(index);
    if roots().count() < 2 || !draft.body.iter().any(computes) {
        return false;
    }
    let op = |index: &u32| body.nodes[*index as usize].op;
    let results = |op: Op| ir.results(op).iter().copied();
    let written: FxHashSet<Value> = roots().flat_map(|index| results(op(index))).collect();
    let mut ops: Vec<Op> = draft.body.iter().map(op).collect();
    let mut seen = FxHashSet::default();
    ops.retain(|&op| seen.insert(op));
    let inner = ops.iter().flat_map(|&op| results(op));
    let copies = Copies {
        hidden: inner.filter(|value| !written.contains(value)).collect(),
        shown: written,
    };
    let Ok(axes) = Axes::build_with(ir, &ops, &copies) else {
        return false;
    };
    let mut walked: FxHashSet<AxisId> = FxHashSet::default();
    for &op in &ops {
        let here = results(op).filter(|&value| !axes.is_unwalked(value));
        walked.extend(here.flat_map(|value| axes.stored(value)));
        walked.extend(axes.reduced(op));
    }
    let length = |axis: AxisId| {
        let extent = axes.extent(axis);
        extent.map_or(bindings.nominal, |extent| bindings.eval(extent))
    };
    let volume = walked
        .into_iter()
        .map(length)
        .fold(1u64, u64::saturating_mul);
    volume > body.elements(draft.space)
}

/// Moves the fastest choice for a CPU to the front among choices whose bytes are nearly the least. Bytes that a launch
/// could move, and less than a [`NEARLY`]th of all, do not decide: some workers could be idle for them.
fn prefer_faster(choices: &mut [Choice], target: &Target) {
    let Some(first) = choices.iter().position(|c| c.refusal.is_none()) else {
        return;
    };
    let least = choices[first].billed();
    let launch = target.launch_ns.saturating_mul(target.bytes_per_us) / 1000;
    let most = least.saturating_add(launch.min(least / NEARLY));
    let near = choices[first..].partition_point(|c| c.billed() <= most);
    choices[first..first + near].sort_by_key(|c| (c.refusal.is_some(), c.cost.time_ns));
}

/// Candidate sets of resident axes, the smallest first: unions of the axes that needed reductions reduce, and of these
/// with the axes along which a value is read at another index.
fn tiles(body: &Body) -> Vec<Mask> {
    let reduced = |p: u32| body.nodes[p as usize].reduced;
    let mut needed: Vec<Mask> = Vec::new();
    for node in &body.nodes {
        let results = node.sources.iter().filter_map(|source| match *source {
            Source::Node(p) => Some(reduced(p)),
            Source::Input(_) => None,
        });
        let kept = node.elsewhere.iter().map(|&(p, at)| reduced(p) | at);
        for axes in results.chain(kept) {
            if axes != 0 && !needed.contains(&axes) {
                needed.push(axes);
            }
        }
    }
    let mut tiles = vec![0];
    match needed.len() {
        0..=MAX_ENUMERATED => tiles.extend((1u32..1 << needed.len()).map(|choice| {
            let chosen = needed
                .iter()
                .enumerate()
                .filter(|(i, _)| choice >> i & 1 == 1);
            chosen.fold(0, |all, (_, m)| all | m)
        })),
        _ => {
            tiles.push(needed.iter().fold(0, |all, m| all | m));
            tiles.extend(needed);
        }
    }
    tiles.sort_by_key(|t: &Mask| (t.count_ones(), *t));
    tiles.dedup();
    tiles
}

/// The bytes of all inputs and outputs, each counted once.
fn least(body: &Body) -> u64 {
    let all = |count: usize| (0..count as u32).collect::<Vec<u32>>();
    let read = loaded_bytes(body, &all(body.nodes.len()), &all(body.inputs.len()));
    let written = body.nodes.iter().map(|node| node.output_bytes);
    written.fold(read, u64::saturating_add)
}

/// True if a later sweep fetches a reduction of an earlier one when the axes `tile` are resident: an op outside the
/// epilogues of the earlier sweep reads it.
fn crosses(body: &Body, tile: Mask) -> bool {
    let mut late = vec![false; body.nodes.len()];
    for (index, node) in body.nodes.iter().enumerate() {
        let producers = node.sources.iter().filter_map(Source::node);
        let mut behind = producers.filter(|&p| late[p as usize]).peekable();
        let elsewhere = |&(p, at): &(u32, Mask)| late[p as usize] || at & !tile != 0;
        if node.elsewhere.iter().any(elsewhere) {
            return true;
        }
        let is_late = behind.peek().is_some();
        let mut suits = behind.map(|p| node.space & !body.nodes[p as usize].stored == 0);
        let alone = node.reduced | node.scanned == 0 && node.touches.is_none();
        if is_late && !(alone && suits.any(|suits| suits)) {
            return true;
        }
        late[index] = is_late || node.reduced & !tile != 0;
    }
    false
}

/// The share of all bytes that a faster plan may move in addition: 1/64, which is within the error of the model's times.
const NEARLY: u64 = 64;

/// The sweeps under one choice of tile.
#[derive(Default)]
struct Choice {
    tile: Mask,
    drafts: Vec<Draft>,
    cost: Cost,
    /// Bytes that count for the time but not for the choice of the tile: partial results of workers, until they are
    /// combined. Without them, workers would be idle.
    unbilled: u64,
    refusal: Option<Refusal>,
}

impl Choice {
    /// The bytes by which choices are compared.
    fn billed(&self) -> u64 {
        let price = self.cost.bytes().saturating_add(self.cost.wait_bytes);
        price.saturating_sub(self.unbilled)
    }
    /// A key that orders choices under `objective`; smaller is better.
    fn key(&self, objective: Objective) -> (u64, u64) {
        let bytes = self.billed();
        match objective {
            Objective::Bytes | Objective::Kernels => (bytes, self.cost.time_ns),
            Objective::Time => (self.cost.time_ns, bytes),
        }
    }
}

fn evaluate(body: &Body, tile: Mask, target: &Target) -> Choice {
    let drafts = units::layout(body, tile, target);
    let bytes = drafts.iter().map(roles::resident_bytes);
    let bytes = bytes.max().unwrap_or(0);
    let limit = roles::limit(tile, target);
    let refusal = (bytes > limit).then(|| {
        let axes = body.lengths(tile);
        Refusal::TileTooLarge { bytes, limit, axes }
    });
    let serial = |d| {
        let scan = roles::refuse_scan(body, d, target);
        let held = scan.or_else(|| roles::refuse_held(body, d, target));
        let empty = held.or_else(|| roles::refuse_empty(body, d));
        let rows = empty.or_else(|| roles::refuse_rows(body, d, target).filter(|_| tile != 0));
        rows.or_else(|| roles::refuse_parts(body, d, target))
    };
    let refusal = refusal.or_else(|| drafts.iter().find_map(serial));
    let mut cost = Cost {
        kernels: 1,
        ..Cost::default()
    };
    let mut unbilled = 0u64;
    let mut fetched: FxHashMap<u32, usize> = FxHashMap::default();
    for node in drafts.iter().flat_map(fetches) {
        *fetched.entry(node).or_default() += 1;
    }
    for draft in &drafts {
        let (sweep, own) = sweep_cost(body, draft, &fetched, target);
        cost = cost.plus(&sweep);
        unbilled = unbilled.saturating_add(own);
    }
    Choice {
        tile,
        drafts,
        cost,
        unbilled,
        refusal,
    }
}

/// The results of earlier sweeps, and of its own accumulators, that a sweep and its epilogues load.
fn fetches(draft: &Draft) -> impl Iterator<Item = u32> + '_ {
    let all = draft.fetches.iter().chain(&draft.epilogue_fetches);
    all.copied()
}

/// The cost of a sweep, and the bytes in it that do not count for the choice of a tile. `fetched` counts the sweeps
/// that fetch each result.
fn sweep_cost(
    body: &Body,
    draft: &Draft,
    fetched: &FxHashMap<u32, usize>,
    target: &Target,
) -> (Cost, u64) {
    let node = |&i: &u32| &body.nodes[i as usize];
    let sum = |amounts: &mut dyn Iterator<Item = u64>| amounts.fold(0, u64::saturating_add);
    // Bytes of the results that ops of the group read, outputs or others.
    let bytes = |list: &[u32], outputs: bool| {
        let results = list.iter().map(node).flat_map(|n| &n.results);
        let read = results.filter(|r| r.inside && r.is_output == outputs);
        sum(&mut read.map(|r| r.bytes))
    };
    let (_, grid) = roles::assign(body, draft, target);
    let tiles = Tiles::of(body, draft, target).with_narrow(draft.narrow);
    let partials = roles::partial_bytes(body, draft, grid, &tiles, target);
    let shared = roles::shared(body, draft, grid).count() as u64;
    let walks = Walks::of(body, draft, grid, target);
    let folded = walks.folded;
    let behind = (walks.all.len() - folded) as u64;
    let (own, own_fetches) = reads(body, draft);
    let (late_loads, late_fetches) = late(body, draft, &walks);
    let late = loaded_bytes(body, &draft.epilogue, &late_loads);
    let both: FxHashSet<u32> = draft.loads.iter().copied().collect();
    let twice = late_loads.iter().copied();
    let twice: Vec<u32> = twice.filter(|load| both.contains(load)).collect();
    let twice = loaded_bytes(body, &draft.epilogue, &twice);
    let loaded = loaded_bytes(body, &draft.body, &own).saturating_add(late);
    let read = |outputs| bytes(&own_fetches, outputs).saturating_add(bytes(&late_fetches, outputs));
    // A reduction read only by the last block is not written to memory.
    let at_hand = |i: &u32| {
        let own = fetches(draft).filter(|f| f == i).count();
        folded > 0
            && draft.accumulators.contains(i)
            && !late_fetches.contains(i)
            && fetched.get(i).is_none_or(|&all| all == own)
    };
    let keeps = draft.keeps.iter().copied();
    let keeps: Vec<u32> = keeps.filter(|i| !at_hand(i)).collect();
    // An op may have outputs, and other results that only later sweeps read.
    let given = draft.stores.iter().copied();
    let given: Vec<u32> = given.filter(|i| fetched.contains_key(i)).collect();
    let kept = bytes(&keeps, false).saturating_add(bytes(&given, false));
    let between = read(false).saturating_add(kept);
    let between = between.saturating_add(handed(body, draft, &late_fetches));
    let again = draft.residents.again.iter().map(|(_, op)| op);
    let ops = draft.body.iter().chain(&draft.epilogue).chain(again);
    let ops = ops.map(node);
    let repeated = sum(&mut ops.clone().map(|n| body.again(n)));
    let mut cost = Cost {
        read_bytes: loaded.saturating_add(read(true)),
        write_bytes: sum(&mut draft.stores.iter().map(|i| node(i).output_bytes)),
        workspace_bytes: between.saturating_add(partials),
        flops: sum(&mut ops.map(|n| body.flops(n))),
        launches: 1
            + behind
            + if target.abilities().last_block {
                0
            } else {
                shared
            },
        ..Cost::default()
    };
    // Arithmetic that overlaps with moving the bytes is free, and less of it than the time of another launch is
    // ignored.
    let beyond = target.repeated_as_bytes(cost.flops);
    let beyond = beyond.saturating_sub(cost.bytes());
    let launch = target.launch_ns.saturating_mul(target.bytes_per_us) / 1000;
    cost.again_bytes = target.repeated_as_bytes(repeated).min(beyond);
    cost.again_bytes = cost.again_bytes.saturating_sub(launch);
    // With fewer grid steps than workers, some workers are idle.
    let steps = tiles.steps(body, grid);
    let busy = steps.clamp(1, target.workers.max(1));
    let time = target.time_ns(cost.bytes(), cost.flops);
    let time = time.saturating_mul(target.workers.max(1));
    let jumps = tiles.jumps(body, draft).saturating_mul(target.jump_ns);
    let strips = draft.narrow < target.narrow_tile && tiles.side().is_none();
    if strips {
        let waits = (jumps / busy).saturating_mul(target.bytes_per_us) / 1000;
        let beyond = waits.saturating_sub(cost.bytes());
        cost.wait_bytes = beyond.saturating_sub(launch);
    }
    let time = time.saturating_add(jumps) / busy;
    cost.time_ns = time.saturating_add(cost.launches.saturating_mul(target.launch_ns));
    let unbilled = partials
        .saturating_add(draft.finished)
        .saturating_add(twice);
    (cost, unbilled)
}

/// The inputs and results that epilogue walks load, each walk without the values that it computes. A last block already
/// has the reductions, and the inputs that its sweep loads.
fn late(body: &Body, draft: &Draft, walks: &Walks) -> (Vec<u32>, Vec<u32>) {
    let (first, walks) = walks.all.split_at(walks.folded);
    let first: FxHashSet<u32> = first.iter().flatten().copied().collect();
    let (mut loads, mut fetches) = (Vec::new(), Vec::new());
    for (own, at_hand) in walks
        .iter()
        .map(|walk| (walk.clone(), false))
        .chain([(first.iter().copied().collect(), true)])
    {
        let members: FxHashSet<u32> = own.iter().copied().collect();
        let sources = own.iter().flat_map(|&i| &body.nodes[i as usize].sources);
        let read: FxHashSet<Source> = sources.copied().collect();
        for source in read {
            match source {
                Source::Input(l) if !(at_hand && draft.loads.contains(&l)) => loads.push(l),
                Source::Node(n) if members.contains(&n) => {}
                Source::Node(n) if at_hand && draft.accumulators.contains(&n) => {}
                Source::Node(n) if at_hand && draft.fetches.contains(&n) => {}
                Source::Node(n) => fetches.push(n),
                Source::Input(_) => {}
            }
        }
    }
    // Sets iterate in no fixed order.
    loads.sort_unstable();
    fetches.sort_unstable();
    (loads, fetches)
}

/// Bytes of results of epilogue walks that other epilogue walks load, and that are written for no other reason.
fn handed(body: &Body, draft: &Draft, late_fetches: &[u32]) -> u64 {
    let mut late = late_fetches.to_vec();
    late.dedup();
    let between = |n: &&u32| {
        let node = &body.nodes[**n as usize];
        let named = epilogues::is_name(body, draft, **n);
        draft.epilogue.contains(n) && !named && !node.is_output && !draft.keeps.contains(n)
    };
    let bytes = late.iter().filter(between);
    let bytes = bytes.map(|&n| body.nodes[n as usize].bytes);
    bytes.fold(0, u64::saturating_add)
}

/// The inputs and the results of earlier sweeps that the body of a sweep loads. There are none if it has no step, or if
/// everything that it writes is known to be empty; otherwise the operands of the ops that execute.
fn reads(body: &Body, draft: &Draft) -> (Vec<u32>, Vec<u32>) {
    if body.elements(draft.outer) == 0 || writes_nothing(body, draft) {
        return (Vec::new(), Vec::new());
    }
    if body.elements(draft.space) > 0 {
        return (draft.loads.clone(), draft.fetches.clone());
    }
    let running = running(body, draft, Mask::MAX).into_iter();
    let read = running.flat_map(|n| &body.nodes[n as usize].sources);
    let read: FxHashSet<Source> = read.copied().collect();
    let loads = draft.loads.iter().copied();
    let fetches = draft.fetches.iter().copied();
    (
        loads
            .filter(|&i| read.contains(&Source::Input(i)))
            .collect(),
        fetches
            .filter(|&n| read.contains(&Source::Node(n)))
            .collect(),
    )
}

/// The ops of the sweep body that execute. Ops over an empty axis in `axes`, and ops that only such ops use, do not.
pub(super) fn running(body: &Body, draft: &Draft, axes: Mask) -> FxHashSet<u32> {
    let written: FxHashSet<u32> = written(draft).collect();
    let (mut read, mut running) = (FxHashSet::default(), FxHashSet::default());
    for &n in draft.body.iter().rev() {
        let node = &body.nodes[n as usize];
        let wanted = written.contains(&n) || node.reduced != 0 || read.contains(&Source::Node(n));
        if wanted && body.elements(node.space & axes) > 0 {
            read.extend(node.sources.iter().copied());
            running.insert(n);
        }
    }
    running
}

/// The results that a sweep writes to memory or accumulates.
fn written(draft: &Draft) -> impl Iterator<Item = u32> + '_ {
    let lists = [&draft.stores, &draft.keeps, &draft.accumulators];
    lists.into_iter().flatten().copied()
}

/// True if everything that a sweep writes is known to be empty.
fn writes_nothing(body: &Body, draft: &Draft) -> bool {
    let known = |n: &Node| body.elements(n.stored & !body.named);
    written(draft).all(|n| known(&body.nodes[n as usize]) == 0)
}

/// Bytes of the inputs `loads` that a loop nest of `ops` loads: all of each input, or at most the touched bytes if only
/// windows read it.
fn loaded_bytes(body: &Body, ops: &[u32], loads: &[u32]) -> u64 {
    let nodes = ops.iter().map(|&i| &body.nodes[i as usize]);
    let mut touched: FxHashMap<Value, Option<Vec<Region>>> = FxHashMap::default();
    for node in nodes {
        for input in node.sources.iter().filter_map(Source::input) {
            let regions = touched.entry(body.inputs[input].value);
            let regions = regions.or_insert_with(|| Some(Vec::new()));
            *regions = regions.take().filter(|_| node.touches.is_some());
        }
        for region in node.touches.iter().flatten() {
            if let Some(Some(regions)) = touched.get_mut(&region.value) {
                regions.push(region.clone());
            }
        }
    }
    let loads = loads.iter().map(|&l| &body.inputs[l as usize]);
    let bytes = loads.map(|input| match touched.remove(&input.value).flatten() {
        Some(regions) => body.touched(regions, input).min(input.bytes),
        None => input.bytes,
    });
    bytes.fold(0, u64::saturating_add)
}

fn sweep(ir: &Ir, body: &Body, draft: &Draft, target: &Target) -> Sweep {
    // An op that is also recomputed for a window is listed once.
    let ops = |list: &[u32]| -> Vec<Op> {
        let mut seen = FxHashSet::default();
        let ops = list.iter().map(|&i| body.nodes[i as usize].op);
        ops.filter(|&op| seen.insert(op)).collect()
    };
    let values = |list: &[u32]| -> Vec<Value> {
        let ops = ops(list).into_iter();
        ops.flat_map(|op| ir.results(op).iter().copied()).collect()
    };
    let (axes, grid) = roles::assign(body, draft, target);
    let tiles = Tiles::of(body, draft, target).with_narrow(draft.narrow);
    let own = match writes_nothing(body, draft) {
        true => 0,
        false => draft.residents.allocated.saturating_add(draft.accumulating),
    };
    let count = draft.phases.iter().max().map_or(0, |m| m + 1);
    let mut first: FxHashMap<Op, u32> = FxHashMap::default();
    for (&i, &phase) in draft.body.iter().zip(&draft.phases) {
        let known = first.entry(body.nodes[i as usize].op).or_insert(phase);
        *known = phase.min(*known);
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
    for &i in &draft.body {
        members[first[&body.nodes[i as usize].op] as usize].push(i);
    }
    for &(phase, i) in &draft.residents.again {
        members[phase as usize].push(i);
    }
    let names = draft.epilogue.iter().copied();
    let names = names.filter(|&i| epilogues::is_name(body, draft, i));
    for name in names {
        // An alias of a reduction is written in the phase that computes the reduction.
        let sum = body.nodes[name as usize].sources.first();
        let sum = sum
            .and_then(Source::node)
            .map(|p| body.nodes[p as usize].op);
        let phase = sum.and_then(|sum| first.get(&sum)).copied().unwrap_or(0);
        members[phase as usize].push(name);
    }
    let phases = members.into_iter().map(|mut members| {
        members.sort_unstable();
        ops(&members)
    });
    let phases = phases.collect();
    let walks = Walks::of(body, draft, grid, target);
    let folded = walks.all[..walks.folded].concat();
    let nest = LoopNest::of(body, draft, (&axes, &folded), &tiles, target);
    let epilogues = walks.all.iter().map(|walk| {
        let written = epilogues::written(body, walk);
        Epilogue {
            ops: ops(walk),
            writes: ops(&written),
            nest: epilogue_nest(body, walk, written, target),
        }
    });
    let outputs: FxHashSet<Value> = body.outputs.iter().copied().collect();
    let stores = values(&draft.stores).into_iter();
    let inputs = |list: &[u32]| -> Vec<Value> {
        let inputs = list.iter().map(|&l| body.inputs[l as usize].value);
        inputs.collect()
    };
    let (late_loads, late_fetches) = late(body, draft, &walks);
    let (own_loads, fetches) = reads(body, draft);
    let mut epilogue_loads = inputs(&late_loads);
    epilogue_loads.extend(values(&late_fetches));
    Sweep {
        level: draft.level,
        axes: axes
            .into_iter()
            .map(|(axis, role)| (AxisId::from_index(axis), role))
            .collect(),
        phases,
        accumulators: ops(&draft.accumulators),
        epilogues: epilogues.collect(),
        in_last_block: walks.folded,
        loads: inputs(&own_loads),
        epilogue_loads,
        fetches: values(&fetches),
        keeps: values(&draft.keeps),
        stores: stores.filter(|v| outputs.contains(v)).collect(),
        tile_bytes: roles::resident_bytes(draft),
        allocated: own,
        nest,
    }
}

/// The plan of one op as a call: it reads each operand and writes its result once.
fn call_alone(ir: &Ir, op: Op, call: &Call, model: &Model, copies: &Copies) -> Plan {
    if let Call::Placed { copied: 0, .. } = call {
        return view(ir, &[op], copies);
    }
    let (inputs, outputs) = super::body::boundary_with(ir, &[op], copies);
    let bytes = |values: &[Value]| {
        let bytes = values.iter().map(|&v| model.bindings.bytes(ir, v));
        bytes.fold(0, u64::saturating_add)
    };
    let (read_bytes, write_bytes) = match call {
        Call::Placed { copied, .. } => (*copied, *copied),
        _ => (bytes(&inputs), bytes(&outputs)),
    };
    let mut cost = Cost {
        read_bytes,
        write_bytes,
        flops: call.flops(),
        launches: match model.target.abilities().routines {
            true => 1,
            false => call.launches(),
        },
        ..Cost::default()
    };
    let time = model.target.time_ns(cost.bytes(), cost.flops);
    let launching = cost.launches.saturating_mul(model.target.launch_ns);
    cost.time_ns = launching.saturating_add(time);
    Plan {
        kind: match call {
            Call::Loop(_) | Call::Branch | Call::Devices => Kind::Control,
            _ => Kind::Library,
        },
        inputs,
        outputs,
        cost,
        ..nothing()
    }
}

fn view(ir: &Ir, ops: &[Op], copies: &Copies) -> Plan {
    let (inputs, outputs) = super::body::boundary_with(ir, ops, copies);
    Plan {
        inputs,
        outputs,
        cost: Cost {
            time_ns: VIEW_NS,
            ..Cost::default()
        },
        ..nothing()
    }
}

/// A plan without values.
fn nothing() -> Plan {
    Plan {
        kind: Kind::View,
        inputs: Vec::new(),
        outputs: Vec::new(),
        tile: Vec::new(),
        sweeps: Vec::new(),
        cost: Cost::default(),
        rejected: Vec::new(),
    }
}

/// The loops of an epilogue walk of `ops` that writes `own`: all axes of its results are mapped to the grid.
fn epilogue_nest(body: &Body, ops: &[u32], own: Vec<u32>, target: &Target) -> LoopNest {
    let space = own
        .iter()
        .fold(0, |m, &n| m | body.nodes[n as usize].stored);
    let read: FxHashSet<Source> = (ops.iter())
        .flat_map(|&n| body.nodes[n as usize].sources.iter().copied())
        .collect();
    let mut loads: Vec<u32> = read
        .iter()
        .filter_map(|s| s.input())
        .map(|i| i as u32)
        .collect();
    let mut fetches: Vec<u32> = read
        .iter()
        .filter_map(Source::node)
        .filter(|n| !ops.contains(n))
        .collect();
    loads.sort_unstable();
    fetches.sort_unstable();
    let draft = Draft {
        space,
        outer: space,
        phases: vec![0; ops.len()],
        body: ops.to_vec(),
        stores: own,
        loads,
        fetches,
        narrow: target.narrow_tile,
        ..Draft::default()
    };
    let roles: Vec<(usize, Role)> = super::body::bits(space)
        .map(|axis| (axis, Role::Grid))
        .collect();
    let tiles = Tiles::of(body, &draft, target);
    let tiles = tiles.with_narrow(tiles.narrow.min(target.narrow_tile));
    LoopNest::of(body, &draft, (&roles, &[]), &tiles, target)
}

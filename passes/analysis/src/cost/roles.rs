//! Roles of axes in a sweep: mapped to the grid, streamed by a worker, or resident.

use fuser_target::Target;

use super::blocks;
use super::body::{Body, Mask, Node, bits};
use super::nest::{self, Nest};
use super::refusal::Refusal;
use super::tiles::{self, Tiles};
use super::units::Draft;

/// Latency hiding: with at least 1 of 8 resident threads of a GPU and a few loads in flight, threads wait no longer
/// than memory takes for two more passes over the rows.
const WAITING: u64 = 8;
/// The most columns of a thread.
const LANES: u64 = 4;

/// The role of an axis in a sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Mapped to workers: thread blocks or CPU threads.
    Grid,
    /// Iterated by one worker, one step at a time.
    Stream,
    /// Resident in fast memory for the step.
    Tile,
}

impl Role {
    /// The word in `roles [...]`.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Grid => "grid",
            Role::Stream => "stream",
            Role::Tile => "tile",
        }
    }
    /// The role with the name `text`; `None` if there is none.
    pub fn parse(text: &str) -> Option<Role> {
        [Role::Grid, Role::Stream, Role::Tile]
            .into_iter()
            .find(|role| role.name() == text)
    }
}

/// The axes of a sweep in loop order, outermost first, with their roles; and the axes in the grid.
///
/// Tile axes (resident, or iterated once inside each step) come last. Of the other axes, those that no accumulator
/// reduces go to the grid. If these have too few indices for the workers, the outermost reduced axes follow, at the
/// cost of partial results. A scanned axis is never in the grid.
pub(super) fn assign(body: &Body, draft: &Draft, target: &Target) -> (Vec<(usize, Role)>, Mask) {
    let order = walking_order(body, draft);
    let reduced = draft
        .accumulators
        .iter()
        .fold(0, |m, &a| m | body.nodes[a as usize].reduced);
    let free = draft.outer & !ordered(body, draft);
    let mut grid = free & !reduced;
    let more = order.iter().filter(|&&a| reduced & free & (1 << a) != 0);
    for &axis in more {
        if body.elements(grid) < target.workers {
            grid |= 1 << axis;
        }
    }
    let role = |axis: usize| match (draft.outer & (1 << axis) != 0, grid & (1 << axis) != 0) {
        (false, _) => Role::Tile,
        (_, true) => Role::Grid,
        _ => Role::Stream,
    };
    let mut axes: Vec<(usize, Role)> = order.into_iter().map(|a| (a, role(a))).collect();
    axes.sort_by_key(|(_, role)| *role);
    (axes, grid)
}

/// The axes that the scans of a sweep iterate in order.
pub(super) fn ordered(body: &Body, draft: &Draft) -> Mask {
    let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    nodes.fold(0, |m, n| m | n.scanned)
}

/// Refuses a sweep that recomputes a scan or leaves fewer workers busy than the scan alone. `None` if the sweep has no
/// such scan.
pub(super) fn refuse_scan(body: &Body, draft: &Draft, target: &Target) -> Option<Refusal> {
    let nodes = || {
        let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
        nodes.zip(&draft.phases)
    };
    let mut scans = nodes().filter(|(n, _)| n.scanned != 0).peekable();
    scans.peek()?;
    let (_, grid) = assign(body, draft, target);
    let grid = body.elements(grid);
    scans.find_map(|(scan, phase)| {
        let op = scan.op;
        // Later phases read the kept result.
        let beside = nodes().filter(|(_, own)| *own == phase);
        let around = beside.fold(draft.outer, |m, (n, _)| m | n.space);
        if around & !scan.space != 0 {
            return Some(Refusal::ScanAgain { op });
        }
        let alone = body.elements(scan.space & !scan.scanned);
        let least = alone.min(target.workers);
        (grid < least).then_some(Refusal::ScanSerial { op, grid, least })
    })
}

/// Refuses a sweep that holds axes along which a value is read at another index, if it shares fewer indices among
/// workers than the value has.
pub(super) fn refuse_held(body: &Body, draft: &Draft, target: &Target) -> Option<Refusal> {
    let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let elsewhere = nodes.flat_map(|n| &n.elsewhere).map(|&(p, _)| p);
    let mut held = elsewhere
        .filter(|p| draft.body.binary_search(p).is_ok())
        .peekable();
    held.peek()?;
    let (_, grid) = assign(body, draft, target);
    let grid = body.elements(grid);
    held.find_map(|p| {
        let value = &body.nodes[p as usize];
        let alone = body.elements(value.stored & !value.scanned);
        let (op, least) = (value.op, alone.min(target.workers));
        (grid < least).then_some(Refusal::HeldSerial { op, grid, least })
    })
}

/// Refuses a sweep on a GPU that reduces columns of more rows than a thread loads at once, if there are too few threads
/// to hide latency. A thread iterates the rows of its group (`share-rows`) serially. There are few threads if there are
/// few columns, or if shared memory holds few of them.
pub(super) fn refuse_rows(body: &Body, draft: &Draft, target: &Target) -> Option<Refusal> {
    let tiles = Tiles::of(body, draft, target).with_narrow(draft.narrow);
    let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let mut sums = nodes.filter(|n| {
        let inside = n.reduced != 0 && n.reduced & draft.outer == 0 && n.scanned == 0;
        inside && target.abilities().block_threads && !tiles.runs_within(n.reduced)
    });
    let least = target.workers * target.resident_threads / WAITING;
    let along = tiles::contiguous_axis(body, draft, target);
    let lanes = lanes(body, along);
    let blocks = target.shared_per_sm.checked_div(resident_bytes(draft));
    sums.find_map(|sum| {
        let columns = draft.space & !sum.reduced;
        let width = tiles.elements(body, columns).div_ceil(lanes).max(1);
        let rows = body.elements(sum.reduced);
        let groups = match shares_rows(body, draft, &tiles, (sum, along)) {
            true => blocks::row_threads(width, rows, 1, target).div_ceil(width),
            false => 1,
        };
        let standing = (width * groups).saturating_mul(target.workers);
        let held = blocks.map(|blocks| blocks.saturating_mul(standing));
        let all = (body.elements(columns) / lanes).saturating_mul(groups);
        let (op, grid) = (sum.op, held.map_or(all, |held| held.min(all)));
        let serial = rows.div_ceil(groups) > blocks::ROWS_AT_ONCE && grid < least;
        serial.then_some(Refusal::RowsSerial { op, grid, least })
    })
}

/// True if groups of threads share the rows of a step that `sum` reduces. The number of rows is known, and `sum` has
/// one other axis in the step. All reductions of the step keep the contiguous axis. An input has all axes of the sweep,
/// which no operand of a product has.
fn shares_rows(
    body: &Body,
    draft: &Draft,
    tiles: &Tiles,
    (sum, along): (&Node, Option<usize>),
) -> bool {
    let columns = tiles.inner(body, sum.space & !sum.reduced);
    let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let mut others = nodes.filter(|n| n.reduced | n.scanned != 0);
    let kept = |n: &Node| along.is_some_and(|axis| n.space & !n.reduced & 1 << axis != 0);
    let alike = others.all(|n| n.scanned == 0 && kept(n));
    let mut loads = draft.loads.iter().map(|&l| &body.inputs[l as usize]);
    let whole = loads.any(|input| input.stored & draft.space == draft.space);
    sum.reduced & body.named == 0 && columns.count_ones() <= 1 && whole && alike
}

/// Columns of a thread: [`LANES`], or fewer so that they divide the length of the axis along which they lie.
fn lanes(body: &Body, along: Option<usize>) -> u64 {
    let known = along.filter(|axis| body.named >> axis & 1 == 0);
    let extent = known.map_or(LANES, |axis| body.extents[axis]);
    LANES.min(1 << extent.trailing_zeros().min(LANES.ilog2()))
}

/// Refuses a sweep that writes or accumulates a value inside loops that may be empty and along which the value does not
/// vary.
pub(super) fn refuse_empty(body: &Body, draft: &Draft) -> Option<Refusal> {
    let empty = draft.outer & body.may_be_empty;
    let written = [&draft.stores, &draft.keeps, &draft.accumulators];
    let mut written = written.into_iter().flatten();
    written.find_map(|n| {
        let node = &body.nodes[*n as usize];
        let own = draft.body.binary_search(n).is_ok();
        let op = node.op;
        (own && empty & !node.space != 0).then_some(Refusal::MayBeEmpty { op })
    })
}

/// Refuses a sweep on a GPU whose number of partial results is no polynomial of the extents.
pub(super) fn refuse_parts(body: &Body, draft: &Draft, target: &Target) -> Option<Refusal> {
    if draft.accumulators.len() < 2 || draft.outer & body.named == 0 {
        return None;
    }
    let tiles = Tiles::of(body, draft, target).with_narrow(draft.narrow);
    let op = Nest::of(body, draft, &tiles, target)?.uncounted(body, draft)?;
    Some(Refusal::PartsUncounted { op })
}

/// Bytes of fast memory for the running value that scan `index` of a sweep carries from step to step: an element for
/// each index of its other axes that is visited before the next index of the scanned axis.
pub(super) fn carry_bytes(
    body: &Body,
    draft: &Draft,
    tiles: &Tiles,
    target: &Target,
    index: u32,
) -> u64 {
    let node = &body.nodes[index as usize];
    // A scan that ends with its axis is accumulated like a reduction.
    if node.scanned & !node.reduced == 0 {
        return 0;
    }
    let tiles = tiles.spread(body, draft, target);
    let (mut axes, _) = assign(body, draft, target);
    for (_, role) in axes.iter_mut().filter(|(axis, _)| tiles.holds(*axis)) {
        *role = Role::Tile;
    }
    axes.sort_by_key(|(axis, _)| tiles.runs_along(*axis));
    let own = axes.iter().position(|(a, _)| node.scanned >> a & 1 == 1);
    let own = own.unwrap_or(0);
    let role = axes[own].1;
    let set = |axes: &[(usize, Role)], role: Option<Role>| {
        let axes = axes
            .iter()
            .filter(|(_, r)| role.is_none_or(|role| role == *r));
        axes.fold(0, |m, (axis, _)| m | 1 << axis) & node.space
    };
    let after = &axes[own + 1..];
    let side = tiles.side().is_some() && node.one_by_one;
    if role == Role::Tile && !side && tiles.inner(body, set(after, None)) == 0 {
        return 0;
    }
    let whole = match role {
        Role::Stream => set(after, Some(Role::Stream)),
        Role::Grid | Role::Tile => 0,
    };
    let cut = node.space & !node.scanned & !whole;
    let elements = body.elements(whole);
    let elements = elements.saturating_mul(tiles.elements(body, cut));
    let rows = match tiles.runs_within(node.scanned) {
        true => nest::rows_of_scan(body, draft, &axes, node.scanned, target),
        false => None,
    };
    let several = |rows: Mask| rows & cut != 0 && tiles.inner(body, rows) == 0;
    let rows = rows.map_or(1, |rows| if several(rows) { target.shared_rows } else { 1 });
    let elements = elements.saturating_mul(rows);
    let one = match target.abilities().block_threads {
        true => node.accumulating,
        false => node.carrying,
    };
    one.saturating_mul(elements)
}

/// The axes of a sweep in the order of its largest operand or result, then the others in order of appearance. Among
/// operands of equal size with different orders, the lexicographically least order counts, whichever is read first.
fn walking_order(body: &Body, draft: &Draft) -> Vec<usize> {
    let loads = draft.loads.iter().map(|&l| &body.inputs[l as usize]);
    // Memory read only by windows has no axes of the loop nest.
    let loads = loads.filter(|i| i.stored != 0);
    let loads = loads.map(|i| (i.bytes, i.stored, &i.order[..]));
    let load = loads.reduce(|a, b| if (a.0, b.2) < (b.0, a.2) { b } else { a });
    let ops = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let ops = ops.map(|n| (n.bytes, n.stored, n.order()));
    let largest = load
        .into_iter()
        .chain(ops)
        .reduce(|a, b| if b.0 > a.0 { b } else { a });
    let mut order: Vec<usize> = largest.map_or_else(Vec::new, |(_, _, order)| order.to_vec());
    order.retain(|&a| draft.space & (1 << a) != 0);
    let rest = bits(draft.space).filter(|a| !order.contains(a));
    let rest: Vec<usize> = rest.collect();
    order.extend(rest);
    order
}

/// Bytes of fast memory that a sweep may use if the axes `tile` are resident. Without a tile there are only
/// accumulators: a CPU has memory for them, and a GPU block has its scratch limit.
pub(super) fn limit(tile: Mask, target: &Target) -> u64 {
    match tile {
        0 => target.scratch_limit().unwrap_or(u64::MAX),
        _ => target.tile_bytes,
    }
}

/// Bytes of fast memory that a step of a sweep uses.
pub(super) fn resident_bytes(draft: &Draft) -> u64 {
    draft.residents.bytes().saturating_add(draft.accumulating)
}

/// The axis along which most loads and stores of a sweep are contiguous, if accumulators keep that axis and it is
/// short.
pub(super) fn short_contiguous_axis(body: &Body, draft: &Draft, target: &Target) -> Option<usize> {
    let nodes = draft.body.iter().map(|&n| &body.nodes[n as usize]);
    let reduced = nodes.fold(0, |m, n| m | n.reduced) & !ordered(body, draft);
    let axis = tiles::contiguous_axis(body, draft, target)?;
    let at = 1 << axis;
    let steps = draft.outer & !reduced & at != 0 && draft.outer & reduced != 0;
    let short = body.named & at == 0 && body.extents[axis] <= target.whole_axis;
    (steps && short).then_some(axis)
}

/// Bytes of fast memory for the accumulators of a worker. A reduction over an axis of the grid is held whole. A
/// reduction over a streamed axis holds its loops inside that axis whole, and a tile of the loops around it.
pub(super) fn accumulator_bytes(body: &Body, draft: &Draft, tiles: &Tiles, target: &Target) -> u64 {
    if let Some(nest) = Nest::of(body, draft, tiles, target) {
        return nest.bytes(body, draft);
    }
    let (axes, grid) = assign(body, draft, target);
    let outer: Vec<usize> = axes
        .iter()
        .map(|(a, _)| *a)
        .filter(|a| draft.outer >> a & 1 == 1)
        .collect();
    draft.accumulators.iter().fold(0u64, |sum, &a| {
        let node = &body.nodes[a as usize];
        // A result of a single element that a step completes is in a register.
        if node.reduced & draft.outer == 0 && tiles.inner(body, node.stored) == 0 {
            return sum;
        }
        let start = outer.iter().position(|axis| node.reduced >> axis & 1 == 1);
        let around = outer[..start.unwrap_or(0)]
            .iter()
            .fold(0, |m, axis| m | 1 << axis);
        let (whole, cut) = match node.reduced & grid {
            0 => (node.stored & !around, node.stored & around),
            _ => (node.stored, 0),
        };
        let elements = body.elements(whole);
        let elements = elements.saturating_mul(tiles.elements(body, cut));
        sum.saturating_add(node.accumulating.saturating_mul(elements))
    })
}

/// The accumulators with partial results in several workers, if the axes `grid` are mapped to workers.
pub(super) fn shared<'a>(
    body: &'a Body,
    draft: &'a Draft,
    grid: Mask,
) -> impl Iterator<Item = &'a Node> {
    let all = draft.accumulators.iter().map(|&a| &body.nodes[a as usize]);
    all.filter(move |n| n.reduced & grid != 0)
}

/// Bytes of partial results that workers exchange to combine accumulators, each written and read.
pub(super) fn partial_bytes(
    body: &Body,
    draft: &Draft,
    grid: Mask,
    tiles: &Tiles,
    target: &Target,
) -> u64 {
    if let Some(nest) = Nest::of(body, draft, tiles, target) {
        return nest.partial_bytes(body, draft);
    }
    let copies = partials(body, grid, target).saturating_mul(2);
    shared(body, draft, grid).fold(0u64, |sum, n| {
        let one = n.accumulating.saturating_mul(body.elements(n.stored));
        sum.saturating_add(one.saturating_mul(copies))
    })
}

/// The number of partial results if accumulators reduce axes of `grid`. It depends neither on the number of workers
/// that run, nor on extents known only at run time.
fn partials(body: &Body, grid: Mask, target: &Target) -> u64 {
    match (body.named & grid, body.elements(grid & !body.named)) {
        (_, 0) => 1,
        (0, steps) => steps.min(target.partials.max(1)),
        _ => target.partials,
    }
}

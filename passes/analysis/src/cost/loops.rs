//! The loop nest of a sweep: order, roles and tiles of its loops, lanes, threads, and shares of reductions.
//!
//! `schedule` writes this value as the clauses of `task.sweep`. It is made of the roles (`roles.rs`), the tiles
//! (`tiles.rs`) and the blocks of a GPU (`blocks.rs`) that the model prices. Choices that cost no bytes are made here:
//! rows that share a step on a CPU, the lanes of a vector, and the number of partial results.

use fuser_ir::entity::Entity;
use fuser_target::Target;

use super::blocks::Loop;
use super::body::{Body, Mask, Node};
use super::nest::{self, Nest};
use super::roles::Role;
use super::tiles::{self, LIGHT, Tiles};
use super::units::Draft;
use crate::axes::AxisId;

/// The number of short rows in a step, and the maximum number of elements of such a row.
const SHORT_ROWS: u64 = 16;
const SHORT: u64 = 32;

/// The least bytes of a type whose vectors fill a register: a bit has a byte.
const NARROW: u64 = 2;

/// A loop of a loop nest: one axis, or neighbouring axes that are iterated as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NestLoop {
    /// Its axes, outermost first.
    pub axes: Vec<AxisId>,
    /// The role of the loop around the steps.
    pub role: Role,
    /// Indices of a step; meaningless for [`Role::Tile`].
    pub tile: u64,
}

/// The loop nest of a sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopNest {
    /// Grid, stream and tile loops; the loop of the lanes is last.
    pub loops: Vec<NestLoop>,
    /// Lanes of a vector.
    pub vector: u64,
    /// Workers with partial results of their own; 0 if nothing accumulates over the grid.
    pub partials: u64,
    /// Threads of a worker.
    pub threads: u64,
    /// Groups of these threads.
    pub groups: u64,
}

impl LoopNest {
    /// The loop nest of `draft`, whose axes have these roles, outermost first, and whose last block computes `folded`.
    pub(super) fn of(
        body: &Body,
        draft: &Draft,
        axes: (&[(usize, Role)], &[u32]),
        tiles: &Tiles,
        target: &Target,
    ) -> Self {
        if let Some(nest) = Nest::with_roles(body, draft, axes, tiles, target) {
            return nest.loop_nest();
        }
        let (order, axes, mut loops) = nest::loops(body, draft, axes, tiles);
        share_rows(body, draft, (&axes, &mut loops), tiles, target);
        alternate_rows(body, draft, (&axes, &mut loops), tiles, target);
        let reduced = nodes(body, draft).fold(0, |m, n| m | n.reduced);
        let accumulates = axes
            .iter()
            .zip(&loops)
            .any(|(axes, l)| l.role == Role::Grid && axes & reduced != 0);
        Self {
            vector: vector(body, draft, tiles, target),
            partials: if accumulates {
                partials(&loops, target)
            } else {
                0
            },
            threads: target.threads,
            groups: 1,
            loops: named(&order, &loops),
        }
    }
}

/// The loops with the axes as the axis analysis names them.
pub(super) fn named(axes: &[Vec<usize>], loops: &[Loop]) -> Vec<NestLoop> {
    let loops = axes.iter().zip(loops);
    let named = loops.map(|(axes, l)| NestLoop {
        axes: axes.iter().map(|&axis| AxisId::from_index(axis)).collect(),
        role: l.role,
        tile: l.tile,
    });
    named.collect()
}

fn nodes<'a>(body: &'a Body, draft: &'a Draft) -> impl Iterator<Item = &'a Node> {
    draft.body.iter().map(|&n| &body.nodes[n as usize])
}

/// Gives the loop directly around the lanes several indices in each step. It applies to a light sweep that reads, or
/// adds to, the same elements with each index: a CPU then keeps these in registers for all rows of the step. It also
/// applies to scans along the lanes, where the scans of several rows overlap. Rows must lie far apart and suffice for a
/// step.
fn share_rows(
    body: &Body,
    draft: &Draft,
    (axes, loops): (&[Mask], &mut [Loop]),
    tiles: &Tiles,
    target: &Target,
) {
    let Some(row) = axes.iter().position(|&axes| tiles.runs_within(axes)) else {
        return;
    };
    let lanes = axes[row];
    let in_lanes = |n: &Node| n.scanned & lanes != 0 && !n.one_by_one;
    let apart =
        |n: &Node| (n.scanned == 0 || in_lanes(n)) && n.reduced & lanes == 0 && n.touches.is_none();
    let light = nodes(body, draft).map(|n| n.flops).sum::<u64>() <= LIGHT;
    let whole = (loops.iter().enumerate()).any(|(n, l)| l.role == Role::Tile && n != row);
    if !light || whole || !nodes(body, draft).all(apart) {
        return;
    }
    let Some(rows) = around(loops, row) else {
        return;
    };
    let memory = || tiles::memory(body, draft);
    let of_row = memory().filter(|m| m.stored & axes[rows] != 0);
    let length = loops[row].length;
    let far = of_row.map(|m| m.element).min();
    let far = far.is_some_and(|b| length.saturating_mul(b) >= target.row_distance);
    let summed = nodes(body, draft).any(|n| n.reduced & axes[rows] != 0);
    let least = if summed {
        target.shared_rows * target.partials
    } else {
        target.shared_rows
    };
    let many = loops[rows].length >= least;
    let shares = || memory().any(|m| m.stored & lanes != 0 && m.stored & axes[rows] == 0);
    let scans = nodes(body, draft).any(in_lanes);
    if loops[rows].tile == 1 && many && far && (scans || shares()) {
        loops[rows].tile = target.shared_rows;
    }
}

/// The innermost loop around the steps, other than `except`.
fn around(loops: &[Loop], except: usize) -> Option<usize> {
    let around = loops.iter().enumerate();
    let around = around.filter(|(n, l)| l.role != Role::Tile && *n != except);
    around.max_by_key(|(_, l)| l.role).map(|(n, _)| n)
}

/// Gives a step several short rows if a reduction ends along the lanes. A row's epilogue waits for its own sums, and
/// the next row lies beyond the processor's window of about a hundred instructions. With several rows in a step, the
/// same phase of the next row overlaps with that wait.
fn alternate_rows(
    body: &Body,
    draft: &Draft,
    (axes, loops): (&[Mask], &mut [Loop]),
    tiles: &Tiles,
    target: &Target,
) {
    let plain = |n: &Node| n.scanned == 0 && n.touches.is_none() && !n.one_by_one;
    let mut whole = (loops.iter().enumerate()).filter(|(_, l)| l.role == Role::Tile);
    let row = match (whole.next(), whole.next()) {
        (Some((n, _)), None) if tiles.runs_within(axes[n]) => n,
        _ => return,
    };
    let short = loops[row].constant.is_some_and(|length| length <= SHORT);
    let Some(rows) = around(loops, row).filter(|_| short) else {
        return;
    };
    let reduced = nodes(body, draft).fold(0, |m, n| m | n.reduced);
    let many = loops[rows].length >= SHORT_ROWS * target.partials;
    let ends = tiles.runs_within(reduced) && reduced & axes[rows] == 0;
    if ends && many && loops[rows].tile == 1 && nodes(body, draft).all(plain) {
        loops[rows].tile = SHORT_ROWS;
    }
}

/// Lanes of a CPU's vector: as many elements of the widest type that computes as the vector holds. If lanes are counted
/// on memory, they fill a vector of the narrowest contiguous type, which then moves in whole lines; wider types use at
/// most two vectors.
fn vector(body: &Body, draft: &Draft, tiles: &Tiles, target: &Target) -> u64 {
    if target.lanes_by_memory == 0 {
        return nest::vector(body, draft, target);
    }
    let room = |bytes: Option<u64>| target.vector_bytes / bytes.unwrap_or(4).max(1);
    let moved = || {
        let along = tiles::memory(body, draft).filter(|m| tiles.runs_within(m.stored));
        along.map(|m| m.element)
    };
    let narrowest = moved().filter(|bytes| *bytes >= NARROW).min();
    room(narrowest).min(2 * room(moved().max())).clamp(1, 32)
}

/// Workers with partial results of a CPU: as many as the target says, or as the grid has indices.
fn partials(loops: &[Loop], target: &Target) -> u64 {
    let grid = || loops.iter().filter(|l| l.role == Role::Grid);
    if grid().any(|l| l.constant == Some(0)) {
        return 1;
    }
    let total = grid().try_fold(1u64, |all, l| Some(all.saturating_mul(l.constant?)));
    total.map_or(target.partials, |n| target.partials.min(n).max(1))
}

//! The loops of a sweep over the axes of its own ops.
//!
//! The plan decides the loop nest ([`LoopNest`]): order, roles, tiles, lanes, threads. It names the axes of the whole
//! segment. A sweep alone may have fewer factors than the segment: one of its axes may be several of those, and some
//! axes are not iterated. This file only translates; nothing is chosen here.

use fuser_analysis::axes::{Axes, AxisId};
use fuser_analysis::cost::LoopNest;

use crate::spec::{LoopAxis, Role, product};

/// The loops of a sweep.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Loop axes: grid, stream, tile; lanes run along the last one.
    pub loops: Vec<LoopAxis>,
    /// Lanes.
    pub vector: u64,
    /// The number of workers with a partial result of their own; 0 if nothing accumulates over the grid.
    pub partials: i64,
    /// Threads per worker.
    pub threads: i64,
    /// Groups of them.
    pub groups: i64,
}

impl Loops {
    /// The loops of `nest` over `axes`; `counterparts` gives the axes of the segment that make up one of them. An axis
    /// of several loops joins the one nearest to the step. `None` where an extent is unknown.
    pub fn of(
        nest: &LoopNest,
        axes: &Axes,
        counterparts: impl Fn(AxisId) -> Vec<AxisId>,
    ) -> Option<Loops> {
        // The axes of each loop, each with its place in the loop.
        let mut own: Vec<Vec<(usize, AxisId)>> = vec![Vec::new(); nest.loops.len()];
        let mut alone = Vec::new();
        for axis in axes.ids().filter(|&axis| axes.is_walked(axis)) {
            let parts = counterparts(axis);
            let place = |number: usize| {
                let mut loop_axes = nest.loops[number].axes.iter();
                loop_axes.position(|a| parts.contains(a))
            };
            let loops = (0..nest.loops.len()).filter_map(|n| Some((n, place(n)?)));
            // The first of the greatest.
            let nearest = loops.rev().max_by_key(|&(n, _)| nest.loops[n].role);
            match nearest {
                Some((number, place)) => own[number].push((place, axis)),
                None => alone.push(axis),
            }
        }
        let mut loops = Vec::new();
        for axis in alone {
            loops.push(loop_axis(axes, vec![axis], Role::Grid, 1)?);
        }
        for (planned, mut own) in nest.loops.iter().zip(own) {
            own.sort_unstable();
            let own: Vec<AxisId> = own.into_iter().map(|(_, axis)| axis).collect();
            if !own.is_empty() {
                loops.push(loop_axis(axes, own, planned.role, planned.tile)?);
            }
        }
        Some(Loops {
            loops,
            vector: nest.vector,
            partials: count(nest.partials),
            threads: count(nest.threads),
            groups: count(nest.groups),
        })
    }
}

fn loop_axis(axes: &Axes, own: Vec<AxisId>, role: Role, tile: u64) -> Option<LoopAxis> {
    Some(LoopAxis {
        extent: product(axes, &own)?,
        axes: own,
        role,
        tile: count(tile),
    })
}

/// A figure as a length.
fn count(figure: u64) -> i64 {
    i64::try_from(figure).unwrap_or(i64::MAX)
}

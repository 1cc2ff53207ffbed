//! The loops of a sweep over the axes of its own ops.
//!
//! The plan decides the loop nest ([`LoopNest`]): order, roles, tiles, lanes, threads. It names the axes of the whole
//! segment. A sweep alone may have other factors than the segment: one of its axes may be several of those, and some
//! axes are not iterated. This file only translates.

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

/// An axis of a sweep in a loop of the plan.
struct Own {
    /// The first of its factors in the loop.
    place: usize,
    axis: AxisId,
    /// The axes of the segment that make it up.
    factors: Vec<AxisId>,
}

impl Loops {
    /// The loops of `nest` over `axes`; `factors` gives the axes of the segment that make up one of them. An axis with
    /// factors in several loops joins the one nearest to the step. Axes that share a factor have loops of their own.
    /// `reduced` are the axes that ops of the sweep reduce. `None` where an extent is unknown.
    pub fn of(
        nest: &LoopNest,
        axes: &Axes,
        factors: impl Fn(AxisId) -> Vec<AxisId>,
        reduced: impl Fn(AxisId) -> bool,
    ) -> Option<Loops> {
        let mut own: Vec<Vec<Own>> = nest.loops.iter().map(|_| Vec::new()).collect();
        let mut loops = Vec::new();
        for axis in axes.ids().filter(|&axis| axes.is_walked(axis)) {
            let factors = factors(axis);
            let place = |number: usize| {
                let mut planned = nest.loops[number].axes.iter();
                planned.position(|factor| factors.contains(factor))
            };
            let within = (0..nest.loops.len()).filter_map(|n| Some((n, place(n)?)));
            match within.max_by_key(|&(n, _)| nest.loops[n].role) {
                Some((number, place)) => own[number].push(Own {
                    place,
                    axis,
                    factors,
                }),
                // The plan has no loop of it.
                None => {
                    let role = if reduced(axis) {
                        Role::Stream
                    } else {
                        Role::Grid
                    };
                    loops.push(loop_axis(axes, vec![axis], role, 1)?);
                }
            }
        }
        for (planned, mut own) in nest.loops.iter().zip(own) {
            own.sort_by_key(|own| (own.place, own.axis));
            let several = |factor: &AxisId| {
                let with = own.iter().filter(|own| own.factors.contains(factor));
                with.count() > 1
            };
            let shared = own.iter().flat_map(|own| &own.factors).any(several);
            let own: Vec<AxisId> = own.iter().map(|own| own.axis).collect();
            let Some((&last, outer)) = own.split_last() else {
                continue;
            };
            if shared {
                for &axis in outer {
                    loops.push(loop_axis(axes, vec![axis], planned.role, 1)?);
                }
                loops.push(loop_axis(axes, vec![last], planned.role, planned.tile)?);
            } else {
                loops.push(loop_axis(axes, own, planned.role, planned.tile)?);
            }
        }
        let mut grid = loops.iter().filter(|l| l.role == Role::Grid);
        let accumulates = grid.any(|l| l.axes.iter().any(|&axis| reduced(axis)));
        Some(Loops {
            loops,
            vector: nest.vector,
            partials: if accumulates { count(nest.partials) } else { 0 },
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

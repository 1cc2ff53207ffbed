//! Scatters: elements are put into a tensor at indices along an axis.

use std::collections::BTreeSet;

use super::code::Reduce;
use super::elementwise::chunks;
use super::reduce::limits;
use super::window::unravel;
use super::with_lane;
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::Number;
use crate::number::reduce::Reducible;
use crate::tensor::{Axis, Lane, Tensor, product};

/// The updates by position: for each line of indices and each index, the numbers of the updates written there,
/// ascending.
struct Places {
    /// The beginning of the line among the stored indices, the index, the number.
    sorted: Vec<(usize, usize, usize)>,
    /// The lines that hold an index that may be another.
    unsure: BTreeSet<usize>,
}

impl Places {
    /// The numbers of the updates that are put at `index` of a line.
    fn at(&self, line: usize, index: usize) -> impl Iterator<Item = usize> {
        let from = self.sorted.partition_point(|p| (p.0, p.1) < (line, index));
        let own = self.sorted[from..].iter();
        own.take_while(move |p| (p.0, p.1) == (line, index))
            .map(|p| p.2)
    }
}

fn dot(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(i, s)| i * s).sum()
}

impl Machine<'_> {
    /// `dest` with `updates` written at `indices` along axis `dim`, each the index of a whole slice or of an element.
    /// `combine` reduces the element of `dest` and the updates at a position; without it the last update wins.
    pub(crate) fn scatter(
        &mut self,
        combine: Option<Reduce>,
        dim: usize,
        whole: bool,
        [dest, indices, updates]: [&Tensor; 3],
    ) -> Result<Tensor> {
        let (into, from, own) = (dest.axes(), updates.axes(), indices.axes());
        let along = if whole { 0 } else { dim };
        let ranks = from.len() == into.len() && own.len() == if whole { 1 } else { into.len() };
        let others = |axes: &[Axis]| {
            let mut pairs = axes.iter().zip(into).enumerate();
            pairs.all(|(k, (a, b))| k == dim || a.extent == b.extent)
        };
        let fits = dim < into.len() && ranks && others(from) && (whole || others(own));
        if !fits || from[dim].extent != own[along].extent {
            return Err(InterpError::invalid("the operands do not agree"));
        }
        let axis = |k: usize| Axis {
            broadcast: k != dim
                && into[k].broadcast
                && from[k].broadcast
                && (whole || own[k].broadcast),
            ..into[k]
        };
        let axes: Vec<Axis> = (0..into.len()).map(axis).collect();
        let places = self.places(indices, along)?;
        let draft = self.draft(dest.dtype(), axes.clone())?;
        let rules = self.rules(dest.dtype());
        let strides = [dest.strides(), indices.strides(), updates.strides()];
        with_lane!(self.kind(dest.dtype()), L => self.fill(draft, |part| {
            let mut index = vec![0; axes.len()];
            let read = |tensor: &Tensor, at: usize| {
                let mut lane = [L::default()];
                L::load(tensor, at, 1, &mut lane);
                lane[0]
            };
            let (low, high) = limits::<L>(dest.dtype());
            chunks::<L>(part, |begin, row| {
                for (i, lane) in row.iter_mut().enumerate() {
                    unravel(&axes, begin + i, &mut index);
                    let first = read(dest, dot(&index, &strides[0]));
                    let place = std::mem::take(&mut index[dim]);
                    let line = if whole { 0 } else { dot(&index, &strides[1]) };
                    let from = dot(&index, &strides[2]);
                    let mut put = places
                        .at(line, place)
                        .map(|k| read(updates, from + k * strides[2][dim]))
                        .peekable();
                    *lane = match combine {
                        _ if put.peek().is_none() => first,
                        None => put.last().unwrap_or(first),
                        Some(op) => {
                            let mut state = L::start(op, low, high);
                            L::push(op, &mut state, first, &rules);
                            put.for_each(|update| L::push(op, &mut state, update, &rules));
                            let all = L::end(op, state, &rules);
                            match op {
                                Reduce::Sum | Reduce::Prod => all.stored(&rules),
                                Reduce::Max | Reduce::Min | Reduce::MaxNum | Reduce::MinNum => all,
                            }
                        }
                    };
                    if places.unsure.contains(&line) {
                        *lane = <L as Number>::undecided(*lane);
                    }
                }
            });
        }))
    }

    /// The places at which indices stand, by their lines along axis `along`.
    fn places(&mut self, indices: &Tensor, along: usize) -> Result<Places> {
        let strides = indices.strides();
        let count = indices.axes()[along].extent;
        let mut lines = indices.axes().to_vec();
        lines[along] = Axis::plain(1);
        let stored = product(lines.iter().map(|axis| axis.stored())).unwrap_or(0);
        let length = stored.saturating_mul(count);
        self.budget.burn(length)?;
        let _charge = self.budget.take((length as u64).saturating_mul(24))?;
        let mut places = Places {
            sorted: Vec::new(),
            unsure: BTreeSet::new(),
        };
        let mut index = vec![0; lines.len()];
        for line in 0..stored {
            unravel(&lines, line, &mut index);
            let line = dot(&index, &strides);
            for k in 0..count {
                let Some(held) = indices.int(line + k * strides[along]) else {
                    continue;
                };
                if held.unsure {
                    places.unsure.insert(line);
                }
                if let Ok(at) = usize::try_from(held.v) {
                    places.sorted.push((line, at, k));
                }
            }
        }
        places.sorted.sort_unstable();
        Ok(places)
    }
}

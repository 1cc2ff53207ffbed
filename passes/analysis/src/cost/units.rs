//! Assignment of ops to sweeps and their phases, for given resident axes.
//!
//! A *unit* is the body of a sweep (even number) or its epilogue (odd number). An op's home unit follows from its
//! operands. The result of an accumulation exists only after its sweep, and so does a value read at another index along
//! a non-resident axis. A unit fetches such a value of an earlier unit, and also small reduced values, and recomputes
//! all other values. Outputs of one unit that cannot share a loop nest (`units/groups.rs`) have sweeps of their own at
//! the same level.

mod groups;

use fuser_ir::def::OpClass;
use fuser_target::Target;
use smallvec::SmallVec;

use super::body::{Body, Mask, Source, bits};
use super::resident::{Form, Residents, Step};
use super::roles;
use super::tiles::Tiles;

/// One loop nest over slow memory; ops and inputs are indices into the body.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// The level of the sweep: all sweeps with a smaller level must be complete before it.
    pub level: u32,
    /// Axes that it iterates.
    pub space: Mask,
    /// The axes of `space` that step: grid and stream. The other axes are iterated inside each step.
    pub outer: Mask,
    /// Ops of the body in program order.
    pub body: Vec<u32>,
    /// Phase of each op of `body`.
    pub phases: Vec<u32>,
    /// Ops computed in an own phase before the phase that would repeat them along a resident axis.
    pub ahead: Vec<u32>,
    /// Reductions that accumulate over the whole sweep.
    pub accumulators: Vec<u32>,
    /// Ops on accumulated results, each on its own small space.
    pub epilogue: Vec<u32>,
    /// Inputs that it loads.
    pub loads: Vec<u32>,
    /// Results of earlier sweeps that it loads.
    pub fetches: Vec<u32>,
    /// Inputs that its epilogue loads.
    pub epilogue_loads: Vec<u32>,
    /// Results of earlier sweeps, and of its own accumulators, that its epilogue loads.
    pub epilogue_fetches: Vec<u32>,
    /// The values of `epilogue_fetches` that sweeps of a smaller level compute.
    pub epilogue_ready: Vec<u32>,
    /// Results that it writes because a later sweep fetches them.
    pub keeps: Vec<u32>,
    /// Ops with outputs of the group that it writes.
    pub stores: Vec<u32>,
    /// Values that stay in fast memory from one phase of a step to a later one; accumulators are not included.
    pub residents: Residents,
    /// Bytes of its accumulators in fast memory.
    pub accumulating: u64,
    /// Elements of a tile along axes that step, if other axes are resident or crossed.
    pub narrow: u64,
    /// Bytes of its accumulators that its epilogue reads, and bytes of accumulators written only for the epilogue.
    pub finished: u64,
}

/// The sweeps of `body` when the axes `tile` are resident.
pub(super) fn layout(body: &Body, tile: Mask, target: &Target) -> Vec<Draft> {
    let mut units = Units::assign(body, tile, target);
    units.collect();
    units.sweeps()
}

struct Units<'a> {
    body: &'a Body,
    tile: Mask,
    target: &'a Target,
    home: Vec<u32>,
    /// True for values read at another index along a non-resident axis: they are written to memory first.
    far: Vec<bool>,
    /// The roots of each unit: outputs, and values that later units fetch.
    roots: Vec<Vec<u32>>,
    is_root: Vec<bool>,
    kept: Vec<bool>,
    /// The ops that each unit computes, in program order.
    contents: Vec<Vec<u32>>,
}

impl<'a> Units<'a> {
    fn assign(body: &'a Body, tile: Mask, target: &'a Target) -> Self {
        let mut units = Self {
            body,
            tile,
            target,
            home: Vec::with_capacity(body.nodes.len()),
            far: vec![false; body.nodes.len()],
            roots: Vec::new(),
            is_root: vec![false; body.nodes.len()],
            kept: vec![false; body.nodes.len()],
            contents: Vec::new(),
        };
        for &(producer, at) in body.nodes.iter().flat_map(|n| &n.elsewhere) {
            units.far[producer as usize] |= at & !tile != 0;
        }
        let mut closures: Vec<Mask> = Vec::with_capacity(body.nodes.len());
        for index in 0..body.nodes.len() as u32 {
            let home = units.home_of(index, &closures);
            closures.push(units.closure(index, &closures));
            units.home.push(home);
        }
        let count = units.home.iter().max().map_or(0, |m| *m as usize + 1);
        units.roots = vec![Vec::new(); count];
        units.contents = vec![Vec::new(); count];
        units
    }

    fn producers(&self, index: u32) -> impl Iterator<Item = u32> + use<'a> {
        let sources = self.body.nodes[index as usize].sources.iter();
        sources.filter_map(Source::node)
    }
    fn accumulates(&self, index: u32) -> bool {
        self.body.nodes[index as usize].reduced & !self.tile != 0
    }

    /// The first unit in which all operands exist and whose loop nest suits the op.
    fn home_of(&self, index: u32, closures: &[Mask]) -> u32 {
        let ready = |p: u32| self.home[p as usize] + u32::from(self.accumulates(p));
        let far = |&&(p, _): &&(u32, Mask)| self.far[p as usize] && !self.accumulates(p);
        let elsewhere = self.body.nodes[index as usize].elsewhere.iter();
        // A value read at a far index is available from the next sweep on.
        let behind = elsewhere.filter(far).map(|&(p, _)| (ready(p) | 1) + 1);
        let base = self.producers(index).map(ready).chain(behind);
        let base = base.max().unwrap_or(0);
        match base % 2 == 1 && !self.suits_epilogue(index, base, closures) {
            true => base + 1,
            false => base,
        }
    }

    /// True if an op that is ready in epilogue `unit` is no reduction, scan or window, and its iteration space is
    /// within that of an accumulated result.
    fn suits_epilogue(&self, index: u32, unit: u32, closures: &[Mask]) -> bool {
        let node = &self.body.nodes[index as usize];
        if node.reduced | node.scanned != 0 || node.touches.is_some() {
            return false;
        }
        let late = |p: u32| {
            self.home[p as usize] == unit
                || (self.home[p as usize] + 1 == unit && self.accumulates(p))
        };
        let small = |p: u32, space: Mask| {
            late(p) || self.is_fetched(p) || closures[p as usize] & !space == 0
        };
        self.producers(index).filter(|&p| late(p)).any(|witness| {
            let space = self.body.nodes[witness as usize].stored;
            node.space & !space == 0 && self.producers(index).all(|p| small(p, space))
        })
    }

    /// The axes needed to recompute an op from inputs and fetched results. A recomputed scan makes this all axes, more
    /// than any epilogue has.
    fn closure(&self, index: u32, closures: &[Mask]) -> Mask {
        if self.body.nodes[index as usize].scanned != 0 {
            return Mask::MAX;
        }
        let recomputed = self.producers(index).filter(|&p| !self.is_fetched(p));
        let inner = recomputed.fold(0, |m, p| m | closures[p as usize]);
        self.body.nodes[index as usize].space | inner
    }

    /// True if later units load the result: a reduction or an epilogue computed it, so it is small and costly, or it is
    /// read at another index. All other values are recomputed. A value recomputed inside windows is not in memory.
    fn is_fetched(&self, index: u32) -> bool {
        let node = &self.body.nodes[index as usize];
        let in_epilogue = self.home.get(index as usize).is_some_and(|h| h % 2 == 1);
        let made = in_epilogue && node.class != OpClass::Shape && !node.is_unwalked();
        node.reduced != 0 || self.far[index as usize] || made
    }

    /// Fills the contents of all units, from the last: values that a unit fetches become roots of earlier units.
    fn collect(&mut self) {
        for index in 0..self.body.nodes.len() as u32 {
            if self.body.nodes[index as usize].is_output {
                self.add_root(index);
            }
        }
        for unit in (0..self.roots.len()).rev() {
            let mut content = self.reach(unit as u32, &self.roots[unit].clone());
            content.sort_unstable();
            for index in &content {
                for producer in self.producers(*index).collect::<Vec<_>>() {
                    if self.crosses(producer, unit as u32) {
                        self.kept[producer as usize] |= !self.finishes_in(producer, unit as u32);
                        self.add_root(producer);
                    }
                }
            }
            self.contents[unit] = content;
        }
    }
    fn add_root(&mut self, index: u32) {
        if !std::mem::replace(&mut self.is_root[index as usize], true) {
            self.roots[self.home[index as usize] as usize].push(index);
        }
    }
    /// True if `unit` fetches `producer` from an earlier unit.
    fn crosses(&self, producer: u32, unit: u32) -> bool {
        self.home[producer as usize] != unit && self.is_fetched(producer)
    }
    /// True if `unit` is the epilogue of the sweep that accumulates `producer`.
    fn finishes_in(&self, producer: u32, unit: u32) -> bool {
        self.accumulates(producer) && self.home[producer as usize] + 1 == unit
    }
    /// True if an op of an epilogue is an alias of an accumulator of its sweep.
    fn renames(&self, index: u32) -> bool {
        let accumulates = |p| self.accumulates(p);
        self.body.nodes[index as usize].renames && self.producers(index).all(accumulates)
    }
    /// The accumulators of the sweep before epilogue `unit` that op `index` loads: their complete value is in memory
    /// only.
    fn finished(&self, index: u32, unit: u32) -> impl Iterator<Item = u32> + '_ {
        let own = !self.renames(index);
        self.producers(index)
            .filter(move |&p| own && (self.finishes_in(p, unit) || self.renames(p)))
    }
    /// All ops that `unit` executes to compute `roots`.
    fn reach(&self, unit: u32, roots: &[u32]) -> Vec<u32> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut content = Vec::new();
        let mut stack = roots.to_vec();
        while let Some(index) = stack.pop() {
            if seen.insert(index) {
                content.push(index);
                stack.extend(self.producers(index).filter(|&p| !self.crosses(p, unit)));
            }
        }
        content
    }

    // --- from units to sweeps ----------------------------------------------------------------------------------------

    fn sweeps(&self) -> Vec<Draft> {
        let mut sweeps = Vec::new();
        for unit in (0..self.contents.len()).step_by(2) {
            let groups = self.groups(unit as u32).into_iter();
            let groups: Vec<Vec<u32>> = groups.flat_map(|g| self.walks(unit as u32, g)).collect();
            let last = groups.len().saturating_sub(1);
            for (number, roots) in groups.into_iter().enumerate() {
                let behind = self.contents.get(unit + 1).into_iter().flatten();
                let own = |index: u32| self.producers(index).all(|p| roots.contains(&p));
                // An alias is written with its reduction; all other epilogue ops follow the last sweep of the unit.
                let behind = behind.filter(|&&index| match self.renames(index) {
                    true => own(index),
                    false => number == last,
                });
                let behind: Vec<u32> = behind.copied().collect();
                sweeps.push(self.draft(unit as u32, &roots, &behind));
            }
        }
        sweeps
    }

    /// The roots of each loop nest for `parts`: one nest for all parts if the values kept in a step fit, otherwise one
    /// for each part.
    fn walks(&self, unit: u32, parts: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let fits = |roots: &[u32]| {
            let resident = roles::resident_bytes(&self.draft(unit, roots, &[]));
            resident <= roles::limit(self.tile, self.target)
        };
        let all = parts.concat();
        match parts.len() < 2 || fits(&all) {
            true => vec![all],
            false => parts,
        }
    }

    /// The sweep for `roots`. It writes none of the intermediate values: other sweeps do that.
    fn draft(&self, unit: u32, roots: &[u32], epilogue: &[u32]) -> Draft {
        let mut content = self.reach(unit, roots);
        content.sort_unstable();
        let roots: rustc_hash::FxHashSet<u32> = roots.iter().copied().collect();
        let mut draft = Draft {
            level: unit / 2,
            epilogue: epilogue.to_vec(),
            ..Draft::default()
        };
        for (&index, home) in content
            .iter()
            .zip(std::iter::repeat(unit))
            .chain(epilogue.iter().zip(std::iter::repeat(unit + 1)))
        {
            let wanted = home != unit || roots.contains(&index);
            self.add_traffic(&mut draft, index, home, wanted);
        }
        for list in [
            &mut draft.loads,
            &mut draft.fetches,
            &mut draft.epilogue_loads,
            &mut draft.epilogue_fetches,
            &mut draft.keeps,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        let nodes = content.iter().map(|&i| &self.body.nodes[i as usize]);
        draft.space = nodes.fold(0, |m, n| m | n.space);
        draft.outer = self.outer(&content, draft.space);
        let accumulators = content.iter().copied().filter(|&i| self.accumulates(i));
        draft.accumulators = accumulators.collect();
        draft.phases = self.phases(&content);
        draft.body = content;
        let of = |n: &u32| &self.body.nodes[*n as usize];
        let own = draft.epilogue_fetches.iter();
        let own = own.filter(|n| draft.body.binary_search(n).is_ok() || of(n).renames);
        draft.finished = own.fold(0u64, |sum, n| {
            let alone = !of(n).is_output && !self.kept[*n as usize];
            let times = 1 + u64::from(alone);
            sum.saturating_add(of(n).bytes.saturating_mul(times))
        });
        self.settle(&mut draft);
        self.hold_whole(draft)
    }

    /// Chooses the values kept in fast memory: the widest form that fits, with the widest tile.
    fn settle(&self, draft: &mut Draft) {
        let widest = Tiles::of(self.body, draft, self.target);
        draft.narrow = widest.narrow;
        self.set_apart(draft, &widest);
        let carried = |tiles: &Tiles, scans: &mut dyn Iterator<Item = u32>| {
            let bytes = scans.map(|s| roles::carry_bytes(self.body, draft, tiles, self.target, s));
            bytes.fold(0, u64::saturating_add)
        };
        let bytes = |tiles: &Tiles| {
            let own = roles::accumulator_bytes(self.body, draft, tiles, self.target);
            own.saturating_add(carried(tiles, &mut draft.body.iter().copied()))
        };
        // A result of several elements that a step completes is in memory.
        let completes = |&index: &u32| {
            let node = &self.body.nodes[index as usize];
            let inner = widest.inner(self.body, node.stored);
            node.reduced != 0 && node.reduced & !self.tile == 0 && inner != 0
        };
        let one_phase = draft.phases.iter().all(|&phase| phase == 0);
        if one_phase && !widest.crosses() && !draft.body.iter().any(completes) {
            draft.accumulating = bytes(&widest);
            draft.residents = Residents::default();
            return;
        }
        let limit = roles::limit(self.tile, self.target);
        let mut best: Option<(u64, u64, u64, Residents)> = None;
        'forms: for form in [Form::Wide, Form::Narrow] {
            let mut next = Some(widest);
            while let Some(tiles) = next {
                let residents = Step::new(self.body, draft, tiles, self.target).residents(form);
                let again = carried(&tiles, &mut residents.again.iter().map(|a| a.1));
                let accumulating = bytes(&tiles).saturating_add(again);
                let all = residents.bytes().saturating_add(accumulating);
                if best.as_ref().is_none_or(|b| all < b.0) {
                    best = Some((all, tiles.narrow, accumulating, residents));
                }
                if all <= tiles.limit(limit, self.target) {
                    break 'forms;
                }
                next = tiles.shorter();
            }
            if Step::new(self.body, draft, widest, self.target).least() > limit {
                break;
            }
        }
        if let Some((_, narrow, accumulating, residents)) = best {
            (draft.narrow, draft.accumulating, draft.residents) = (narrow, accumulating, residents);
        }
    }

    /// The sweep with its contiguous axis held whole, if accumulators keep that axis and fast memory has room. Rows are
    /// then read in storage order, and workers share the reduced axes.
    fn hold_whole(&self, draft: Draft) -> Draft {
        let Some(axis) = roles::short_contiguous_axis(self.body, &draft, self.target) else {
            return draft;
        };
        let mut whole = draft.clone();
        whole.outer &= !(1 << axis);
        self.settle(&mut whole);
        match roles::resident_bytes(&whole) <= roles::limit(self.tile, self.target) {
            true => whole,
            false => draft,
        }
    }

    fn add_traffic(&self, draft: &mut Draft, index: u32, unit: u32, wanted: bool) {
        let node = &self.body.nodes[index as usize];
        let (loads, fetches) = match unit % 2 {
            0 => (&mut draft.loads, &mut draft.fetches),
            _ => (&mut draft.epilogue_loads, &mut draft.epilogue_fetches),
        };
        for source in &node.sources {
            match *source {
                Source::Input(input) => loads.push(input),
                Source::Node(p) if self.crosses(p, unit) && !self.finishes_in(p, unit) => {
                    fetches.push(p);
                    if unit % 2 == 1 && self.home[p as usize] / 2 < draft.level {
                        draft.epilogue_ready.push(p);
                    }
                }
                Source::Node(_) => {}
            }
        }
        if unit % 2 == 1 {
            for finished in self.finished(index, unit) {
                fetches.push(finished);
                if !self.body.nodes[finished as usize].is_output {
                    draft.keeps.push(finished);
                }
            }
        }
        if self.home[index as usize] != unit || !wanted {
            return;
        }
        if node.is_output {
            draft.stores.push(index);
        } else if self.kept[index as usize] {
            draft.keeps.push(index);
        }
    }

    /// The axes that step: all axes outside the tile, and tile axes that are resident only for values which other
    /// sweeps read at another index. An op that does not vary along a stepping axis runs in each of its steps. So axes
    /// are excluded that would make an op run more often than the largest op of the sweep. The shortest such axis is
    /// excluded first, to keep as little as possible resident.
    fn outer(&self, content: &[u32], space: Mask) -> Mask {
        let nodes = || content.iter().map(|&i| &self.body.nodes[i as usize]);
        let spaces = || nodes().map(|n| n.space);
        let volume = spaces().map(|s| self.body.elements(s)).max().unwrap_or(1);
        let all = self.body.nodes.iter().map(|n| n.reduced);
        let own = nodes().map(|n| n.reduced | n.scanned);
        let reduced = match self.target.abilities().block_threads {
            true => own.fold(0, |m, axes| m | axes),
            false => all.fold(0, |m, axes| m | axes),
        };
        let elsewhere = nodes().flat_map(|n| &n.elsewhere).map(|e| e.1);
        let held = elsewhere.fold(reduced, |m, axes| m | axes);
        let mut outer = space & !(self.tile & held);
        for space in spaces() {
            while self.body.elements(space | outer) > volume {
                let length = |axis: &usize| (self.body.extents[*axis], std::cmp::Reverse(*axis));
                let Some(inner) = bits(outer & !space).min_by_key(length) else {
                    break;
                };
                outer &= !(1 << inner);
            }
        }
        outer
    }

    /// The phase of each op. It comes after the tile reductions that the op needs, and after the values that the op
    /// reads at another index. It is as late as the op's users allow, so that fewer values are resident.
    fn phases(&self, content: &[u32]) -> Vec<u32> {
        let place: rustc_hash::FxHashMap<u32, usize> = content.iter().copied().zip(0..).collect();
        let mut phases = vec![0u32; content.len()];
        let mut latest = vec![u32::MAX; content.len()];
        for (at, &index) in content.iter().enumerate() {
            let producers = self.producers(index).filter_map(|p| place.get(&p));
            let ready = producers.map(|&p| phases[p] + self.apart(index, content[p]));
            phases[at] = ready.max().unwrap_or(0);
        }
        for (at, &index) in content.iter().enumerate().rev() {
            let node = &self.body.nodes[index as usize];
            let free = node.reduced == 0 && !self.is_root[index as usize];
            if free && latest[at] != u32::MAX {
                phases[at] = latest[at];
            }
            for &p in self.producers(index).filter_map(|p| place.get(&p)) {
                latest[p] = latest[p].min(phases[at] - self.apart(index, content[p]));
            }
        }
        phases
    }
    /// Gives phases of their own to elementwise results that the phases which read them would repeat along a resident
    /// axis, if they and their operands take more operations than the target repeats. A mean of columns is computed
    /// after their sums, not at each row.
    fn set_apart(&self, draft: &mut Draft, tiles: &Tiles) {
        let tile = self.tile & draft.space & !draft.outer;
        if tile == 0 {
            return;
        }
        let count = draft.phases.iter().max().map_or(0, |m| *m as usize + 1);
        let mut walked: Vec<Mask> = vec![0; count];
        for (&index, &phase) in draft.body.iter().zip(&draft.phases) {
            walked[phase as usize] |= self.body.nodes[index as usize].space & tile;
        }
        // Operations needed for an element, if its phase repeats it.
        let mut work: Vec<Option<u64>> = vec![None; draft.body.len()];
        for (at, &index) in draft.body.iter().enumerate() {
            let node = &self.body.nodes[index as usize];
            let pure = matches!(
                node.class,
                OpClass::Elementwise | OpClass::Shape | OpClass::Creation
            );
            let repeated = walked[draft.phases[at] as usize] & !node.stored != 0;
            if !pure || !repeated || node.touches.is_some() || node.reduced | node.scanned != 0 {
                continue;
            }
            let own = match node.class {
                OpClass::Elementwise if tiles.inner(self.body, node.stored) != 0 => node.flops,
                _ => 0,
            };
            let mut sources = self.of_phase(draft, at);
            work[at] = sources.try_fold(own, |sum, p| Some(sum.saturating_add(work[p]?)));
        }
        let mut read = vec![false; draft.body.len()];
        let mut apart = vec![false; draft.body.len()];
        let mut split = vec![false; count];
        for at in (0..draft.body.len()).rev() {
            let shape = self.body.nodes[draft.body[at] as usize].class == OpClass::Shape;
            let dear = work[at].is_some_and(|work| work > self.target.hoist_above);
            if dear && read[at] && !shape {
                apart[at] = true;
                split[draft.phases[at] as usize] = true;
                draft.ahead.push(draft.body[at]);
            }
            let passes = work[at].is_none() || shape && read[at];
            for p in self.of_phase(draft, at) {
                apart[p] |= apart[at];
                read[p] |= passes;
            }
        }
        draft.ahead.sort_unstable();
        let earlier = split.iter().scan(0u32, |sum, &split| {
            let before = *sum;
            *sum += u32::from(split);
            Some(before)
        });
        let earlier: Vec<u32> = earlier.collect();
        for (phase, apart) in draft.phases.iter_mut().zip(apart) {
            let own = *phase as usize;
            *phase += earlier[own] + u32::from(split[own] && !apart);
        }
    }
    /// Positions in the body of the operands of an op that are in its phase.
    fn of_phase(&self, draft: &Draft, at: usize) -> impl Iterator<Item = usize> {
        let producers = self.producers(draft.body[at]);
        let places = producers.filter_map(|p| draft.body.binary_search(&p).ok());
        let places = places.filter(|&p| draft.phases[p] == draft.phases[at]);
        places.collect::<SmallVec<[usize; 3]>>().into_iter()
    }
    /// The phases between an op and its user: 1 if the op is a reduction that finishes inside the step, or if the user
    /// reads it at another index; else 0.
    fn apart(&self, user: u32, producer: u32) -> u32 {
        let reduced = self.body.nodes[producer as usize].reduced;
        let resolves = reduced != 0 && reduced & !self.tile == 0;
        let mut elsewhere = self.body.nodes[user as usize].elsewhere.iter();
        u32::from(resolves || elsewhere.any(|&(p, _)| p == producer))
    }
}

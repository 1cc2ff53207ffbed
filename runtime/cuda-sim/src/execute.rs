//! Runs a launch: blocks one after the other, the warps of a block up to their next barrier, the lanes of a warp
//! together. The blocks of a cluster alternate at each barrier of the cluster; their accesses between two such barriers
//! are unordered.
//!
//! Diverged lanes of a warp run in the order of the text, so that they reconverge. A lane at a shuffle or a barrier
//! waits for the lanes of its warp that have not arrived yet. If these can no longer arrive, that is a finding. A
//! finding ends the launch.

use std::collections::BTreeMap;

use fuser_random::SplitMix;

use crate::count::Counts;
use crate::decode::{
    Action, Class, Given, Kernel, PARAMETER_BITS, Register, SHARED_BITS, Shuffle, Space, Step,
};
use crate::finding::{Finding, FindingKind};
use crate::matrix;
use crate::memory::{Clash, Epoch, Global, Readers, Released, Uses};
use crate::order::{Order, Sequence};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// Most steps of all warps in a launch.
const MOST_STEPS: u64 = 1 << 34;

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The module's constants.
    pub constants: &'a [u8],
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Threads of a block along each axis.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond the kernel's own.
    pub shared_bytes: u64,
    /// The bytes of each parameter.
    pub parameters: &'a [Vec<u8>],
    /// The order of blocks and warps.
    pub order: Order,
    /// The seed of a random order.
    pub seed: u64,
    /// True if races and shared memory that nobody wrote are no findings.
    pub unchecked: bool,
}

impl<'a> Launch<'a> {
    /// Bytes of memory that no thread writes, if they are there.
    fn fixed(&self, space: Space, address: u64, size: usize) -> Option<&'a [u8]> {
        let bytes: &[u8] = match space {
            Space::Parameter => {
                let number = (address >> PARAMETER_BITS).checked_sub(1)?;
                self.parameters.get(usize::try_from(number).ok()?)?
            }
            _ => self.constants,
        };
        let within = match space {
            Space::Parameter => address & ((1 << PARAMETER_BITS) - 1),
            _ => address,
        };
        let start = usize::try_from(within).ok()?;
        bytes.get(start..start.checked_add(size)?)
    }
}

/// A register's values in all lanes.
pub type Values = [u64; LANES];

/// Lanes that are at the same step.
#[derive(Clone, Copy, Debug)]
struct Group {
    at: u32,
    lanes: u32,
    /// True if they wait for the others of their warp.
    waits: bool,
}

struct Warp {
    /// The number of its first thread.
    first: u32,
    registers: Vec<Values>,
    groups: Vec<Group>,
    /// Lanes that have not ended.
    live: u32,
    /// The barrier at which all of them are.
    barrier: Option<u32>,
    /// Registers that loads of the present batch fill, the batch's bytes, and true if one of them was used.
    loading: Vec<bool>,
    loaded: Vec<Register>,
    flying: u64,
    used: bool,
    /// True if it waited for loads.
    waited: bool,
}

struct Machine<'a> {
    launch: &'a Launch<'a>,
    memory: &'a mut Global,
    counts: &'a mut Counts,
    /// The shared memory of each block of the cluster, with its uses.
    shared: Vec<(Vec<u8>, Uses)>,
    /// The number in its cluster of the block that runs.
    rank: usize,
    /// The first stamp of the cluster, and the first since its last barrier.
    cluster: u64,
    phase: u64,
    /// The first use since then of what another block of the cluster has: line and thread.
    remote: Option<(u32, u32)>,
    /// Stamps for global memory.
    epoch: Epoch,
    readers: Readers,
    /// The uses that blocks released by counting, by the address of the count.
    released: BTreeMap<u64, Released>,
    /// The addresses whose releases precede the block's further accesses, and those that will do so after its next
    /// barrier.
    acquired: Vec<u64>,
    acquiring: Vec<u64>,
    block: [u32; 3],
    steps: u64,
}

/// Runs a launch, whose limits are the caller's to check. `stamp` moves on with each block and each barrier of the device.
pub fn run(
    launch: &Launch<'_>,
    memory: &mut Global,
    counts: &mut Counts,
    stamp: &mut u64,
) -> Result<(), Finding> {
    *stamp += 1;
    let shared_bytes = launch.kernel.shared_bytes + launch.shared_bytes;
    let blocks: u64 = launch.grid.iter().map(|n| u64::from(*n)).product();
    let threads: u32 = launch.block.iter().product();
    let cluster = launch.kernel.cluster as usize;
    counts.launches += 1;
    counts.blocks += blocks;
    counts.threads += blocks * u64::from(threads);
    counts.shared_bytes = counts.shared_bytes.max(shared_bytes);
    let mut random = SplitMix(launch.seed);
    let block = || -> Vec<Warp> {
        let firsts = (0..threads).step_by(LANES);
        firsts.map(|first| Warp::new(launch, first)).collect()
    };
    let mut warps: Vec<Vec<Warp>> = (0..cluster).map(|_| block()).collect();
    let shared = || (vec![0xFF; shared_bytes as usize], Uses::default());
    let mut machine = Machine {
        launch,
        memory,
        counts,
        shared: (0..cluster).map(|_| shared()).collect(),
        rank: 0,
        cluster: 0,
        phase: 0,
        remote: None,
        epoch: Epoch {
            launch: *stamp,
            block: *stamp,
            now: *stamp,
        },
        readers: Readers::default(),
        released: BTreeMap::new(),
        acquired: Vec::new(),
        acquiring: Vec::new(),
        block: [0; 3],
        steps: 0,
    };
    let clusters = blocks / cluster as u64;
    let sequence = Sequence::new(launch.order, clusters, &mut random);
    let mut done = Ok(());
    for position in 0..clusters {
        let first = sequence.at(position) * cluster as u64;
        done = machine.cluster(first, &mut warps, &mut random);
        if done.is_err() {
            break;
        }
    }
    *stamp = machine.epoch.now;
    done
}

impl Warp {
    fn new(launch: &Launch<'_>, first: u32) -> Warp {
        let kernel = launch.kernel;
        let mut warp = Warp {
            first,
            registers: vec![[0; LANES]; kernel.registers],
            groups: Vec::new(),
            live: 0,
            barrier: None,
            loading: vec![false; kernel.registers],
            loaded: Vec::new(),
            flying: 0,
            used: false,
            waited: false,
        };
        for (register, given) in &kernel.given {
            let value = |lane: usize| warp.given(launch, *given, lane as u32);
            warp.registers[*register as usize] = std::array::from_fn(value);
        }
        warp
    }

    fn given(&self, launch: &Launch<'_>, given: Given, lane: u32) -> u64 {
        let thread = self.first + lane;
        let [x, y, _] = launch.block;
        match given {
            Given::Constant(bits) => bits,
            Given::Thread(0) => (thread % x).into(),
            Given::Thread(1) => (thread / x % y).into(),
            Given::Thread(_) => (thread / x / y).into(),
            Given::Threads(axis) => launch.block[axis].into(),
            Given::Blocks(axis) => launch.grid[axis].into(),
            // Set for each block.
            Given::Block(_) => 0,
            Given::Lane => lane.into(),
        }
    }

    /// The first step of a block.
    fn start(&mut self, launch: &Launch<'_>, block: [u32; 3]) {
        let threads: u32 = launch.block.iter().product();
        let lanes = (threads - self.first).min(LANES as u32);
        self.live = u32::MAX >> (LANES as u32 - lanes);
        self.groups.clear();
        self.groups.push(Group {
            at: 0,
            lanes: self.live,
            waits: false,
        });
        self.barrier = None;
        self.waited = false;
        for (register, given) in &launch.kernel.given {
            if let Given::Block(axis) = given {
                self.registers[*register as usize] = [block[*axis].into(); LANES];
            }
        }
    }

    /// Goes on behind the barrier at which it is.
    fn pass(&mut self) {
        self.barrier = None;
        for group in &mut self.groups {
            group.at += 1;
            group.waits = false;
        }
    }

    /// The index of the group to run next: the group with the earliest step among those that do not wait.
    fn next(&mut self) -> Option<usize> {
        if self.groups.len() > 1 {
            self.merge();
        }
        let ready = self
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| !group.waits);
        ready
            .min_by_key(|(_, group)| group.at)
            .map(|(index, _)| index)
    }

    /// Groups at the same step become one, which waits for nobody.
    fn merge(&mut self) {
        self.groups.sort_unstable_by_key(|group| group.at);
        self.groups.dedup_by(|group, before| {
            let same = group.at == before.at;
            if same {
                before.lanes |= group.lanes;
                before.waits = false;
            }
            same
        });
    }

    /// Lanes of `lanes` in which a step's predicate holds.
    fn active(&self, step: &Step, lanes: u32) -> u32 {
        let Some((predicate, negated)) = step.guard else {
            return lanes;
        };
        let values = &self.registers[predicate as usize];
        let holds = values.iter().enumerate().fold(0, |mask, (lane, value)| {
            mask | u32::from((*value & 1 != 0) != negated) << lane
        });
        lanes & holds
    }

    /// Records that registers are read: a batch of loads into one of them must have completed.
    fn uses(&mut self, registers: &[Register]) {
        if self.flying > 0 {
            self.used |= registers
                .iter()
                .any(|register| self.loading[*register as usize]);
        }
    }

    /// Ends the batch of loads if one of them was used.
    fn settle(&mut self, counts: &mut Counts, always: bool) {
        if self.flying > 0 && (self.used || always) {
            counts.batches += 1;
            counts.waiting_warps += u64::from(!std::mem::replace(&mut self.waited, true));
            counts.bytes_in_flight += self.flying;
            for register in self.loaded.drain(..) {
                self.loading[register as usize] = false;
            }
            (self.flying, self.used) = (0, false);
        }
    }
}

/// The number of some bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// The lanes of a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

impl Machine<'_> {
    fn finding(&self, line: u32, thread: u32, kind: FindingKind) -> Finding {
        Finding {
            kernel: self.launch.kernel.name.clone(),
            line,
            block: self.block,
            thread,
            kind,
        }
    }

    /// Runs the blocks of a cluster to completion; `first` is the grid number of its first block.
    fn cluster(
        &mut self,
        first: u64,
        blocks: &mut [Vec<Warp>],
        random: &mut SplitMix,
    ) -> Result<(), Finding> {
        let launch = self.launch;
        let [columns, rows, _] = launch.grid.map(u64::from);
        let place = |rank: usize| {
            let number = first + rank as u64;
            let (x, y) = (number % columns, number / columns % rows);
            [x, y, number / columns / rows].map(|n| n as u32)
        };
        for (rank, (shared, warps)) in self.shared.iter_mut().zip(blocks.iter_mut()).enumerate() {
            shared.0.fill(0xFF);
            for warp in warps {
                warp.start(launch, place(rank));
            }
        }
        (self.cluster, self.phase) = (self.epoch.now + 1, self.epoch.now + 1);
        loop {
            let sequence = Sequence::new(launch.order, blocks.len() as u64, random);
            // The barrier at which the blocks are that ran, or their end.
            let mut reached: Option<Option<u32>> = None;
            for position in 0..blocks.len() as u64 {
                self.rank = sequence.at(position) as usize;
                self.block = place(self.rank);
                let warps = &mut blocks[self.rank];
                let at = self.block(warps, random)?;
                if let Some(other) = reached.replace(at).filter(|other| *other != at) {
                    let line = at
                        .or(other)
                        .map_or(0, |at| launch.kernel.steps[at as usize].line);
                    let kind = FindingKind::DivergentBarrier;
                    return Err(self.finding(line, 0, kind));
                }
            }
            let remote = self.remote.take();
            if reached.flatten().is_none() {
                return match remote {
                    Some((line, thread)) => {
                        Err(self.finding(line, thread, FindingKind::EndedBlock))
                    }
                    None => Ok(()),
                };
            }
            let count = blocks.len() as u64;
            blocks.iter_mut().flatten().for_each(Warp::pass);
            self.counts.barriers += count;
            self.counts.cluster_barriers += count;
            self.phase = self.epoch.now + 1;
        }
    }

    /// Runs a block to its end, or to the barrier of its cluster that it comes to.
    fn block(&mut self, warps: &mut [Warp], random: &mut SplitMix) -> Result<Option<u32>, Finding> {
        self.epoch.now += 1;
        self.epoch.block = self.epoch.now;
        self.acquired.clear();
        self.acquiring.clear();
        loop {
            let sequence = Sequence::new(self.launch.order, warps.len() as u64, random);
            for position in 0..warps.len() as u64 {
                let number = sequence.at(position) as usize;
                self.warp(&mut warps[number])?;
            }
            let Some(at) = warps.iter().find_map(|warp| warp.barrier) else {
                warps
                    .iter_mut()
                    .for_each(|warp| warp.settle(self.counts, true));
                return Ok(None);
            };
            let step = &self.launch.kernel.steps[at as usize];
            // Whoever is elsewhere, at another barrier or at the end, is missed here.
            if let Some(absent) = warps.iter().find(|warp| warp.barrier != Some(at)) {
                let kind = FindingKind::DivergentBarrier;
                return Err(self.finding(step.line, absent.first, kind));
            }
            if matches!(step.action, Action::Barrier { cluster: true }) {
                return Ok(Some(at));
            }
            warps.iter_mut().for_each(Warp::pass);
            self.counts.barriers += 1;
            self.epoch.now += 1;
            self.acquired.append(&mut self.acquiring);
        }
    }

    /// Runs a warp to its next barrier or its end.
    fn warp(&mut self, warp: &mut Warp) -> Result<(), Finding> {
        let launch = self.launch;
        let all = warp.live;
        while let Some(index) = warp.next() {
            let group = warp.groups[index];
            let step = &launch.kernel.steps[group.at as usize];
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(self.finding(step.line, warp.first, FindingKind::Endless));
            }
            let active = warp.active(step, group.lanes);
            self.step(warp, index, step, active)?;
        }
        let Some(group) = warp.groups.first().copied() else {
            return Ok(());
        };
        // All groups wait: together at a barrier, or each for the others.
        let step = &launch.kernel.steps[group.at as usize];
        let is_barrier = matches!(step.action, Action::Barrier { .. });
        if is_barrier && group.lanes == all {
            warp.barrier = Some(group.at);
            return Ok(());
        }
        let kind = match step.action {
            Action::Barrier { .. } => FindingKind::DivergentBarrier,
            Action::LoadMatrix { .. } | Action::Multiply { .. } => FindingKind::DivergentMatrix,
            _ => FindingKind::DivergentShuffle,
        };
        let absent = match !group.lanes & all {
            0 => group.lanes.count_ones(),
            missing => missing.trailing_zeros(),
        };
        Err(self.finding(step.line, warp.first + absent, kind))
    }

    fn count(&mut self, warp: &mut Warp, step: &Step, active: u32) {
        if step.leads || matches!(step.class, Some(Class::Branch | Class::Barrier)) {
            warp.settle(self.counts, false);
        }
        if let Some(class) = step.class {
            self.counts.warp_instructions += 1;
            self.counts.thread_instructions += u64::from(active.count_ones());
            *self.counts.classes.entry(class).or_default() += 1;
        }
    }

    /// A step of the lanes `active` of a group.
    fn step(
        &mut self,
        warp: &mut Warp,
        index: usize,
        step: &Step,
        active: u32,
    ) -> Result<(), Finding> {
        let group = warp.groups[index];
        let mut next = group.at + 1;
        match &step.action {
            Action::Compute { row, to, from } => {
                warp.uses(from);
                let [a, b, c] = from.map(|register| &warp.registers[register as usize]);
                let mut values: Values = [0; LANES];
                for (lane, value) in values.iter_mut().enumerate() {
                    *value = (row.compute)(a[lane], b[lane], c[lane]);
                }
                set(&mut warp.registers[*to as usize], &values, active);
            }
            Action::Load { .. } => self.load(warp, step, active)?,
            Action::Store { .. } => self.store(warp, step, active)?,
            Action::Count { .. } => self.count_up(warp, step, active)?,
            Action::Shuffle { members, .. } | Action::Reduce { members, .. } => {
                let first = group.lanes.trailing_zeros() as usize;
                let members = warp.registers[*members as usize][first] as u32;
                if active != group.lanes || members & warp.live & !active != 0 {
                    warp.groups[index].waits = true;
                    return Ok(());
                }
                match &step.action {
                    Action::Reduce {
                        combine, to, from, ..
                    } => {
                        warp.uses(&[*from]);
                        let source = &warp.registers[*from as usize];
                        let taken = lanes(active & members).map(|lane| source[lane]);
                        let combined = taken.reduce(|a, b| combine(a, b, 0)).unwrap_or(0);
                        set(
                            &mut warp.registers[*to as usize],
                            &[combined; LANES],
                            active,
                        );
                    }
                    _ => self.shuffle(warp, step, active)?,
                }
            }
            Action::LoadMatrix { .. } | Action::Multiply { .. } if active == 0 => {}
            Action::LoadMatrix { .. } | Action::Multiply { .. } if active != group.lanes => {
                let absent = (group.lanes & !active).trailing_zeros();
                let kind = FindingKind::DivergentMatrix;
                return Err(self.finding(step.line, warp.first + absent, kind));
            }
            Action::LoadMatrix { .. } | Action::Multiply { .. } if active != u32::MAX => {
                warp.groups[index].waits = true;
                return Ok(());
            }
            Action::LoadMatrix { .. } => self.load_matrix(warp, step)?,
            Action::Multiply {
                half,
                to,
                left,
                right,
                addend,
            } => {
                let read = [&left[..], right, addend].concat();
                warp.uses(&read);
                let of = |register: &Register| &warp.registers[*register as usize];
                let sums = matrix::multiply(
                    *half,
                    left.each_ref().map(of),
                    right.each_ref().map(of),
                    addend.each_ref().map(of),
                );
                for (register, values) in to.iter().zip(sums) {
                    warp.registers[*register as usize] = values;
                }
            }
            Action::Branch(target) if active == group.lanes => next = *target,
            Action::Branch(target) => {
                if active != 0 {
                    warp.groups.push(Group {
                        at: *target,
                        lanes: active,
                        waits: false,
                    });
                    warp.groups[index].lanes &= !active;
                }
            }
            Action::Barrier { .. } if active == 0 => {}
            Action::Barrier { .. } => {
                let waits = &mut warp.groups[index];
                waits.waits = true;
                // Lanes whose predicate does not hold go on.
                let others = group.lanes & !active;
                waits.lanes = active;
                if others != 0 {
                    warp.groups.push(Group {
                        at: next,
                        lanes: others,
                        waits: false,
                    });
                }
                // Counts when the last lane comes.
                if active == warp.live {
                    self.count(warp, step, active);
                }
                return Ok(());
            }
            Action::Exit => {
                warp.live &= !active;
                warp.groups[index].lanes &= !active;
                if active == group.lanes {
                    warp.groups.swap_remove(index);
                    self.count(warp, step, active);
                    return Ok(());
                }
            }
        }
        self.count(warp, step, active);
        warp.groups[index].at = next;
        Ok(())
    }

    /// The addresses of an access, lane by lane, checked for alignment.
    fn addresses(
        &self,
        warp: &Warp,
        step: &Step,
        (space, base, offset, size): (Space, Register, i64, u64),
        active: u32,
    ) -> Result<Values, Finding> {
        let bases = &warp.registers[base as usize];
        let addresses = bases.map(|base| base.wrapping_add_signed(offset));
        let bad = lanes(active).find(|lane| addresses[*lane] % size != 0);
        match bad {
            None => Ok(addresses),
            Some(lane) => {
                let address = addresses[lane];
                let kind = FindingKind::Misaligned {
                    space,
                    address,
                    size,
                };
                Err(self.finding(step.line, warp.first + lane as u32, kind))
            }
        }
    }

    /// The block of the cluster that has these bytes of shared memory, and where; none where no block does.
    fn rank_of(&self, space: Space, address: u64, size: usize) -> Option<(usize, usize)> {
        let rank = match (space, address >> SHARED_BITS) {
            (_, 0) => self.rank,
            (Space::Cluster, above) => usize::try_from(above - 1).ok()?,
            _ => return None,
        };
        let start = (address & u64::from(u32::MAX)) as usize;
        let has = |shared: &(Vec<u8>, Uses)| start.saturating_add(size) <= shared.0.len();
        self.shared.get(rank).filter(|shared| has(shared))?;
        Some((rank, start))
    }

    /// The bytes of an access by a thread, once it is known to be allowed; those whose bits `used` has are used.
    fn bytes(
        &mut self,
        line: u32,
        thread: u32,
        (space, address, size, writes): (Space, u64, usize, bool),
        used: u32,
    ) -> Result<&mut [u8], Finding> {
        let outside = FindingKind::OutOfBounds {
            space,
            address,
            size: size as u64,
        };
        let used = if self.launch.unchecked { 0 } else { used };
        let epoch = self.epoch;
        let (acquired, released) = (&self.acquired, &self.released);
        let passed = self.cluster..self.phase;
        let ordered = |stamp: u64| {
            if passed.contains(&stamp) {
                return true;
            }
            let all = acquired.iter().filter_map(|address| released.get(address));
            all.into_iter().any(|released| released.holds(stamp))
        };
        let place = self.rank_of(space, address, size);
        let readers = &mut self.readers;
        let clash = match space {
            Space::Constant | Space::Parameter => None,
            Space::Shared | Space::Cluster => {
                let Some((rank, start)) = place else {
                    return Err(self.finding(line, thread, outside));
                };
                if rank != self.rank {
                    self.remote.get_or_insert((line, thread));
                }
                let own = Epoch {
                    launch: self.cluster,
                    ..epoch
                };
                let uses = &mut self.shared[rank].1;
                let before = |stamp| passed.contains(&stamp);
                let clash = runs(used, size).find_map(|(at, size)| {
                    let at = start + at;
                    uses.note(at, size, writes, true, thread, &own, readers, &before)
                });
                clash.map(|(at, clash)| (at as u64, clash))
            }
            Space::Global => {
                let Some((allocation, offset)) = self.memory.find(address, size, !writes) else {
                    return Err(self.finding(line, thread, outside));
                };
                let uses = &mut allocation.uses;
                let clash = runs(used, size).find_map(|(at, size)| {
                    let at = offset + at;
                    uses.note(at, size, writes, false, thread, &epoch, readers, &ordered)
                });
                clash.map(|(at, clash)| (allocation.start + at as u64, clash))
            }
        };
        if let Some((address, clash)) = clash {
            let kind = match clash {
                Clash::Unwritten => FindingKind::Uninitialized { address },
                Clash::Race(other) => FindingKind::Race {
                    space,
                    address,
                    writes,
                    other,
                },
            };
            return Err(self.finding(line, thread, kind));
        }
        let found = match space {
            Space::Shared | Space::Cluster => {
                let (rank, start) = place.unwrap_or_default();
                self.shared[rank].0.get_mut(start..start + size)
            }
            Space::Global | Space::Constant | Space::Parameter => {
                let found = self.memory.find(address, size, !writes);
                found.and_then(|(allocation, at)| allocation.bytes.get_mut(at..at + size))
            }
        };
        Ok(found.unwrap_or_default())
    }

    fn load(&mut self, warp: &mut Warp, step: &Step, active: u32) -> Result<(), Finding> {
        let Action::Load {
            space,
            to,
            base,
            offset,
            size,
            signed,
            demanded,
        } = &step.action
        else {
            return Ok(());
        };
        let whole = size * to.len();
        warp.uses(&[*base]);
        let access = (*space, *base, *offset, whole as u64);
        let addresses = self.addresses(warp, step, access, active)?;
        let mut touched = Vec::with_capacity(LANES);
        for lane in lanes(active) {
            let (thread, address) = (warp.first + lane as u32, addresses[lane]);
            touched.push(address);
            let bytes: &[u8] = match space {
                Space::Constant | Space::Parameter => {
                    let found = self.launch.fixed(*space, address, whole);
                    let kind = FindingKind::OutOfBounds {
                        space: *space,
                        address,
                        size: whole as u64,
                    };
                    found.ok_or_else(|| self.finding(step.line, thread, kind))?
                }
                Space::Global | Space::Shared | Space::Cluster => self.bytes(
                    step.line,
                    thread,
                    (*space, address, whole, false),
                    *demanded,
                )?,
            };
            for ((register, mask), element) in to.iter().zip(bytes.chunks_exact(*size)) {
                let bits = little_endian(element);
                let unused = 64 - 8 * *size as u32;
                let bits = match signed {
                    true => ((bits << unused) as i64 >> unused) as u64,
                    false => bits,
                };
                warp.registers[*register as usize][lane] = bits & mask;
            }
        }
        if *space == Space::Global && active != 0 {
            for (register, _) in to {
                warp.loading[*register as usize] = true;
                warp.loaded.push(*register);
            }
            warp.flying += (touched.len() * whole) as u64;
        }
        if active != 0 {
            self.counts.access(*space, false, &touched, whole as u64);
        }
        Ok(())
    }

    fn store(&mut self, warp: &mut Warp, step: &Step, active: u32) -> Result<(), Finding> {
        let Action::Store {
            space,
            from,
            base,
            offset,
            size,
        } = &step.action
        else {
            return Ok(());
        };
        let whole = size * from.len();
        warp.uses(&[*base]);
        warp.uses(from);
        let access = (*space, *base, *offset, whole as u64);
        let addresses = self.addresses(warp, step, access, active)?;
        let mut touched = Vec::with_capacity(LANES);
        for lane in lanes(active) {
            let (thread, address) = (warp.first + lane as u32, addresses[lane]);
            touched.push(address);
            let bytes = self.bytes(step.line, thread, (*space, address, whole, true), u32::MAX)?;
            for (register, element) in from.iter().zip(bytes.chunks_exact_mut(*size)) {
                let bits = warp.registers[*register as usize][lane];
                element.copy_from_slice(&bits.to_le_bytes()[..*size]);
            }
        }
        if active != 0 {
            self.counts.access(*space, true, &touched, whole as u64);
        }
        Ok(())
    }

    /// Increments a counter, lane by lane. Accesses that the block acquired elsewhere are released with its own.
    fn count_up(&mut self, warp: &mut Warp, step: &Step, active: u32) -> Result<(), Finding> {
        let Action::Count {
            to,
            base,
            offset,
            limit,
        } = &step.action
        else {
            return Ok(());
        };
        warp.uses(&[*base, *limit]);
        let addresses = self.addresses(warp, step, (Space::Global, *base, *offset, 4), active)?;
        for lane in lanes(active) {
            let address = addresses[lane];
            let kind = FindingKind::OutOfBounds {
                space: Space::Global,
                address,
                size: 4,
            };
            let outside = self.finding(step.line, warp.first + lane as u32, kind);
            let count = self.memory.slice(address, 4).ok_or(outside)?;
            let before = little_endian(count) as u32;
            let most = warp.registers[*limit as usize][lane] as u32;
            let next = if before >= most { 0 } else { before + 1 };
            count.copy_from_slice(&next.to_le_bytes());
            warp.registers[*to as usize][lane] = before.into();
            let mut released = self.released.remove(&address).unwrap_or_default();
            let others = self.acquired.iter().filter_map(|a| self.released.get(a));
            others.for_each(|other| released.extend(other));
            released.release(&self.epoch);
            self.released.insert(address, released);
            self.acquiring.push(address);
        }
        Ok(())
    }

    /// A load of matrices, as the PTX ISA defines `ldmatrix`: lane `8 i + r` has the address of row `r` of matrix `i`, and lane `4 r + c` gets
    /// elements `2 c` and `2 c + 1` of that row, or of that column. It is that lane that reads them.
    fn load_matrix(&mut self, warp: &mut Warp, step: &Step) -> Result<(), Finding> {
        let Action::LoadMatrix {
            to,
            transposed,
            base,
            offset,
        } = &step.action
        else {
            return Ok(());
        };
        let (rows, row_bytes) = (8 * to.len(), 16);
        warp.uses(&[*base]);
        let named = u32::MAX >> (LANES - rows);
        let access = (Space::Shared, *base, *offset, row_bytes as u64);
        let addresses = self.addresses(warp, step, access, named)?;
        for (matrix, register) in to.iter().enumerate() {
            let mut values: Values = [0; LANES];
            for (lane, half) in (0..LANES).flat_map(|lane| [(lane, 0), (lane, 1)]) {
                let (row, column) = match transposed {
                    false => (lane / 4, lane % 4 * 2 + half),
                    true => (lane % 4 * 2 + half, lane / 4),
                };
                let address = addresses[8 * matrix + row] + 2 * column as u64;
                let thread = warp.first + lane as u32;
                let access = (Space::Shared, address, 2, false);
                let bytes = self.bytes(step.line, thread, access, u32::MAX)?;
                values[lane] |= little_endian(bytes) << (16 * half);
            }
            warp.registers[*register as usize] = values;
        }
        let touched = &addresses[..rows];
        self.counts
            .access(Space::Shared, false, touched, row_bytes as u64);
        Ok(())
    }

    /// A shuffle, as the PTX ISA defines it (9.7.9.6).
    fn shuffle(&mut self, warp: &mut Warp, step: &Step, active: u32) -> Result<(), Finding> {
        let Action::Shuffle {
            mode,
            to,
            valid,
            from,
            by,
            clamp,
            ..
        } = &step.action
        else {
            return Ok(());
        };
        warp.uses(&[*from]);
        let [source, by, clamp] = [from, by, clamp].map(|r| warp.registers[*r as usize]);
        let (mut values, mut in_range): (Values, Values) = ([0; LANES], [0; LANES]);
        for lane in lanes(active) {
            let own = lane as i64;
            let by = (by[lane] & 31) as i64;
            let (last, segment) = ((clamp[lane] & 31) as i64, (clamp[lane] >> 8 & 31) as i64);
            let highest = own & segment | last & !segment;
            let other = match mode {
                Shuffle::Up => own - by,
                Shuffle::Down => own + by,
                Shuffle::Butterfly => own ^ by,
                Shuffle::Index => own & segment | by & !segment,
            };
            let fits = match mode {
                Shuffle::Up => other >= highest,
                Shuffle::Down | Shuffle::Butterfly | Shuffle::Index => other <= highest,
            };
            let other = if fits { other as usize } else { lane };
            if active >> other & 1 == 0 {
                let kind = FindingKind::AbsentLane { lane: other as u32 };
                return Err(self.finding(step.line, warp.first + lane as u32, kind));
            }
            (values[lane], in_range[lane]) = (source[other], fits.into());
        }
        set(&mut warp.registers[*to as usize], &values, active);
        set(&mut warp.registers[*valid as usize], &in_range, active);
        Ok(())
    }
}

/// The runs of ones in the first `size` bits of a mask, each its first bit with its length.
fn runs(mask: u32, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut rest = mask & u32::MAX.checked_shr(32 - size.min(32) as u32).unwrap_or(0);
    std::iter::from_fn(move || {
        let start = rest.trailing_zeros();
        let length = rest.checked_shr(start)?.trailing_ones();
        let run = u32::MAX.checked_shr(32 - length).unwrap_or(0) << start;
        rest &= !run;
        Some((start as usize, length as usize))
    })
}

/// Sets a register in some lanes.
fn set(register: &mut Values, values: &Values, active: u32) {
    if active == u32::MAX {
        *register = *values;
        return;
    }
    for lane in lanes(active) {
        register[lane] = values[lane];
    }
}

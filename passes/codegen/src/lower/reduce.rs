//! Reductions and scans: across the lanes of a vector, and across the threads of a block.
//!
//! The order of combination is fixed. Lanes are combined as a balanced tree (`kernel.reduce`), or one after the other
//! (`kernel.scan`). Threads first combine within a warp, by a butterfly exchange that leaves equal bits in every lane,
//! or by one instruction if available. Each warp then reads the values of all warps from shared memory and combines
//! these. Scans have the same two steps: within a warp, and over the totals of the warps, which each warp reads and
//! scans.

use fuser_artifact::limits::BUFFER_ALIGN;
use fuser_dialects::kernel::scan;
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::targets::TargetMachine;
use inkwell::values::PointerValue;

use super::arith::Combiner;
use super::types::{Shape, register, stored};
use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::gpu::{Gpu, SHARED_SPACE, Source, WARP};
use crate::memory;
use fuser_ir::DType;

/// Alignment of partial results.
const ALIGN: u64 = 16;

/// Reduces lanes by halves until one is left; with an odd count, the middle lane joins the lower half unchanged.
/// Extremes of f32 use order-preserving integers if x86 has the instructions.
pub fn lanes<'e, 'ctx>(vector: Val<'e, 'ctx>, combiner: Combiner, dtype: DType) -> Val<'e, 'ctx> {
    let has_integers = vector.emit().x86.is_some_and(|x86| x86.sse41);
    type Best = for<'e, 'ctx> fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>;
    let best: Option<Best> = match combiner {
        Combiner::Max | Combiner::MaxNum => Some(|a, b| a.smax(b)),
        Combiner::Min | Combiner::MinNum => Some(|a, b| a.smin(b)),
        Combiner::Add | Combiner::Mul => None,
    };
    match best.filter(|_| has_integers && dtype == DType::F32) {
        Some(best) => {
            // A NaN is the best of all where it is the result, else the worst.
            let nan = match combiner {
                Combiner::Max | Combiner::MinNum => i32::MAX,
                _ => i32::MIN,
            };
            let keys = ordered(vector.to_bits());
            let keys = keys.except(vector.is_nan(), i64::from(nan));
            ordered(as_tree(keys, best)).bits_as(Elem::F32)
        }
        None => as_tree(vector, |a, b| combiner.apply(a, b, dtype)),
    }
}

/// The lanes of a vector, combined as a balanced tree.
fn as_tree<'e, 'ctx>(
    vector: Val<'e, 'ctx>,
    combine: impl Fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>,
) -> Val<'e, 'ctx> {
    let mut left = vector;
    while let Some(count @ 2..) = left.lanes() {
        let kept = count.div_ceil(2);
        let (low, high) = (left.slice(0, count - kept), left.slice(kept, count - kept));
        let reduced = combine(low, high);
        left = if count % 2 == 0 {
            reduced
        } else {
            reduced.append(left.lane(kept - 1))
        };
    }
    left.lane(0)
}

/// Scans the lanes of a vector in order, starting from `before` if given. Each lane holds the result up to itself.
pub fn steps<'e, 'ctx>(
    vector: Val<'e, 'ctx>,
    before: Option<Val<'e, 'ctx>>,
    combiner: Combiner,
    dtype: DType,
) -> Val<'e, 'ctx> {
    let (mut steps, mut last) = (vector, before);
    for lane in 0..vector.lanes().unwrap_or(1) {
        let own = vector.lane(lane);
        let step = last.map_or(own, |last| combiner.apply(last, own, dtype));
        steps = steps.with_lane(lane, step);
        last = Some(step);
    }
    steps
}

/// A value that each thread has its part of.
pub struct Part<'e, 'ctx> {
    /// This thread's.
    pub value: Val<'e, 'ctx>,
    /// The way in which the parts are put together.
    pub combiner: Combiner,
    /// The element type.
    pub dtype: DType,
    /// True if all threads compute on with the result.
    pub for_all: bool,
    /// True if no thread's is a NaN.
    pub is_number: bool,
}

/// Combines the parts of values across the block; every thread gets the results. All threads of all warps must arrive.
pub fn threads<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    mut parts: Vec<Part<'e, 'ctx>>,
    block: &Block<'e, 'ctx>,
) -> Result<Vec<Val<'e, 'ctx>>, CodegenError> {
    let mut all: Vec<_> = parts
        .iter()
        .map(|part| Exchanged::of_warp(part, block))
        .collect();
    if block.threads > WARP || block.cluster > 1 {
        across_warps(emit, &mut all, block)?;
    }
    for (part, mut exchanged) in parts.iter_mut().zip(all) {
        exchanged.end_redux();
        for (lane, &value) in (0..).zip(&exchanged.lanes) {
            part.value = part.value.with_lane(lane, value);
        }
    }
    Ok(parts.into_iter().map(|part| part.value).collect())
}

/// A part while threads exchange it, lane by lane of its vector.
struct Exchanged<'e, 'ctx> {
    lanes: Vec<Val<'e, 'ctx>>,
    combiner: Combiner,
    dtype: DType,
    /// The warp-wide reduction instruction, if there is one. It takes an f32 in the form of [`ordered`].
    redux: Option<(&'static dyn Gpu, bool)>,
    for_all: bool,
}

impl<'e, 'ctx> Exchanged<'e, 'ctx> {
    /// True if a value is one bit, which has a byte in memory.
    fn is_bit(&self) -> bool {
        self.dtype == DType::I1
    }
    /// Combines the values of this thread's warp, or of its group if that is smaller.
    fn of_warp(part: &Part<'e, 'ctx>, block: &Block<'e, 'ctx>) -> Self {
        let gpu = part.value.emit().gpu;
        let gpu = gpu.filter(|gpu| gpu.has_warp_extremes());
        let redux = match part.combiner {
            Combiner::MaxNum => gpu.map(|gpu| (gpu, true)),
            Combiner::MinNum => gpu.map(|gpu| (gpu, false)),
            _ => None,
        };
        let mut new = Exchanged {
            lanes: Vec::new(),
            combiner: part.combiner,
            dtype: part.dtype,
            redux: redux.filter(|_| block.threads >= WARP && part.value.elem() == Elem::F32),
            for_all: part.for_all,
        };
        let shape = Shape {
            dtype: part.dtype,
            lanes: None,
        };
        for lane in 0..part.value.lanes().unwrap_or(1) {
            let mut own = part.value.lane(lane);
            if new.redux.is_some() {
                if !part.is_number {
                    // A NaN becomes the neutral element.
                    let neutral = part.combiner.identity(own.emit(), shape);
                    own = part.combiner.apply(own, neutral, part.dtype);
                }
                own = ordered(own.to_bits());
            }
            let whole = new.exchange(own, block.threads.min(WARP), 1);
            new.lanes.push(whole);
        }
        new
    }

    /// Goes on with floats, and without the instruction.
    fn end_redux(&mut self) {
        if self.redux.take().is_some() {
            for value in &mut self.lanes {
                *value = ordered(*value).bits_as(Elem::F32);
            }
        }
    }

    /// The number of partial results that a thread reads, given `warps` warps in each of `cluster` blocks: all of them,
    /// or a power of two. `vector` are loaded at once.
    fn reads(&self, warps: u32, cluster: u32, vector: u32) -> u32 {
        let all = warps * cluster;
        match self.redux {
            // What one thread computes with need not be exchanged.
            _ if !self.for_all || !warps.is_power_of_two() || all <= vector => all,
            Some(_) => (all / WARP).max(1),
            None => (all / WARP).max(vector),
        }
    }

    /// Two values as one.
    fn apply(&self, a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        match (self.redux, self.combiner) {
            (Some(_), Combiner::MaxNum) => a.smax(b),
            (Some(_), _) => a.smin(b),
            (None, combiner) => combiner.apply(a, b, self.dtype),
        }
    }

    /// Butterfly reduction over `width` lanes (a power of two) spaced `apart` lanes. If a warp-wide instruction is
    /// used, every group of a warp must hold the same values.
    fn exchange(&self, value: Val<'e, 'ctx>, width: u32, apart: u32) -> Val<'e, 'ctx> {
        let emit = value.emit();
        if let Some((gpu, greatest)) = self.redux.filter(|_| width > 1) {
            return gpu.warp_extreme(value, greatest);
        }
        let distances = [16, 8, 4, 2, 1].into_iter();
        distances
            .filter(|&distance| distance < i64::from(width))
            .fold(value, |value, distance| {
                let distance = distance * i64::from(apart);
                self.apply(value, exchange(emit, value, distance))
            })
    }
}

/// Maps the bits of an f32 other than NaN to a signed integer of the same order, with `-0` before `+0`; its own
/// inverse. For negative numbers, all bits except the sign are flipped. NaN maps to the least and the greatest
/// integers.
fn ordered<'e, 'ctx>(bits: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    bits.xor(bits.ashr(31).and(i64::from(i32::MAX)))
}

/// The block as a reduction over warps sees it.
#[derive(Clone, Copy, Debug)]
pub struct Block<'e, 'ctx> {
    /// The threads of a block, a multiple of [`WARP`], or those of a group, a power of two.
    pub threads: u32,
    /// This thread's number, `i64`.
    pub thread: Val<'e, 'ctx>,
    /// Blocks of a cluster, each of so many threads.
    pub cluster: u32,
    /// This block's number among them, `i64`.
    pub rank: Val<'e, 'ctx>,
}

/// The value of the thread whose number differs in one bit.
pub fn exchange<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    value: Val<'e, 'ctx>,
    distance: i64,
) -> Val<'e, 'ctx> {
    shuffle(emit, value, Source::Across(distance))
}

/// The value that another thread of the warp passes for `value`.
fn shuffle<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    value: Val<'e, 'ctx>,
    from: Source<'e, 'ctx>,
) -> Val<'e, 'ctx> {
    let shuffle = |word: Val<'e, 'ctx>| emit.gpu.map_or(word, |gpu| gpu.shuffle(word, from));
    let (elem, bits) = (value.elem(), value.to_bits());
    if elem.bits() <= 32 {
        return shuffle(bits.zext_or_trunc(32))
            .zext_or_trunc(elem.bits())
            .bits_as(elem);
    }
    let (low, high) = (bits.zext_or_trunc(32), bits.lshr(32).zext_or_trunc(32));
    let (low, high) = (
        shuffle(low).zext_or_trunc(64),
        shuffle(high).zext_or_trunc(64),
    );
    high.shift_left(32).or(low).bits_as(elem)
}

/// The value of thread `lane` among `width` adjacent threads, a power of two.
fn of_lane<'e, 'ctx>(value: Val<'e, 'ctx>, lane: Val<'e, 'ctx>, width: u32) -> Val<'e, 'ctx> {
    shuffle(value.emit(), value, Source::Lane { lane, width })
}

/// The value of the thread `distance` positions earlier within groups of `width` adjacent threads. The first `distance`
/// threads keep their own value.
fn of_earlier<'e, 'ctx>(value: Val<'e, 'ctx>, distance: i64, width: u32) -> Val<'e, 'ctx> {
    shuffle(value.emit(), value, Source::Earlier { distance, width })
}

/// Shared memory for the totals exchanged in a scan: those of a block's warps and those of a cluster's blocks.
#[derive(Clone, Copy)]
pub struct Totals<'ctx> {
    warps: Option<PointerValue<'ctx>>,
    blocks: Option<PointerValue<'ctx>>,
}

impl<'ctx> Totals<'ctx> {
    /// [`scan::PLACES`] for each warp, and for the block, where there are several.
    pub fn new(emit: &Emit<'ctx>, dtype: DType, block: &Block<'_, 'ctx>) -> Self {
        let room = |count: u32| partials(emit, register(dtype), scan::PLACES * count);
        let warps = block.threads / WARP;
        Totals {
            warps: (warps > 1).then(|| room(warps)),
            blocks: (block.cluster > 1).then(|| room(1)),
        }
    }
}

/// The scan results of adjacent turns: for each turn, the prefix before or up to this thread, and the total of all
/// threads in all turns.
type Turns<'e, 'ctx> = (Vec<Val<'e, 'ctx>>, Val<'e, 'ctx>);

/// Threads that scan together, and the way in which they do.
pub struct Scan<'e, 'ctx> {
    pub combiner: Combiner,
    pub dtype: DType,
    pub block: Block<'e, 'ctx>,
    pub totals: Totals<'ctx>,
}

impl<'e, 'ctx> Scan<'e, 'ctx> {
    fn together(&self, a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        self.combiner.apply(a, b, self.dtype)
    }

    /// The inclusive prefix among `width` adjacent threads (a power of two), of which this one is number `lane`.
    fn up_to(&self, value: Val<'e, 'ctx>, (lane, width): (Val<'e, 'ctx>, u32)) -> Val<'e, 'ctx> {
        let distances = std::iter::successors(Some(1), |distance| Some(2 * distance));
        let mut steps = value;
        for distance in distances.take_while(|&distance| distance < i64::from(width)) {
            let before = of_earlier(steps, distance, width);
            let together = self.together(before, steps);
            steps = together.except(lane.lt(distance), steps);
        }
        steps
    }

    /// The scan prefix of this thread in each of some turns, exclusive or `inclusive`, continued from turn to turn, and
    /// the total of all threads in all turns. The exclusive prefix of the first thread in the first turn is the neutral
    /// element. All threads of all warps must arrive.
    ///
    /// Several warps exchange their totals in shared memory, from slot `place` on, and so do the blocks of a cluster.
    /// Threads that scan again may write the next slots while others still read these. They reuse these slots only
    /// after the following barrier.
    pub fn prefixes(
        &self,
        parts: &[Val<'e, 'ctx>],
        place: Val<'e, 'ctx>,
        inclusive: bool,
    ) -> Result<Turns<'e, 'ctx>, CodegenError> {
        let Some(emit) = parts.first().map(|part| part.emit()) else {
            return Err(CodegenError::Internal("a scan without a turn".into()));
        };
        let shape = Shape {
            dtype: self.dtype,
            lanes: None,
        };
        let neutral = self.combiner.identity(emit, shape);
        let width = self.block.threads.min(WARP);
        let lane = self
            .block
            .thread
            .zext_or_trunc(32)
            .and(i64::from(width - 1));
        let steps: Vec<_> = parts
            .iter()
            .map(|&part| self.up_to(part, (lane, width)))
            .collect();
        let before = steps.iter().map(|&step| match inclusive {
            true => step,
            false => of_earlier(step, 1, width).except(lane.eq(0), neutral),
        });
        let before: Vec<_> = before.collect();
        let mut turns = match self.totals.warps {
            Some(room) => self.across_warps((&steps, &before), (room, place), neutral)?,
            None => {
                let last = emit.constant_int(32, None, i64::from(width - 1));
                let all = steps.iter().map(|&step| of_lane(step, last, width));
                let before = before.into_iter().map(|before| vec![before]);
                before.zip(all).collect()
            }
        };
        if let Some(room) = self.totals.blocks {
            self.across_blocks(&mut turns, (room, place), neutral)?;
        }
        let mut turns = turns.into_iter();
        let (mut before, mut all) = turns.next().unwrap_or((Vec::new(), neutral));
        for (next, total) in turns {
            before.extend(next.into_iter().map(|next| self.together(all, next)));
            all = self.together(all, total);
        }
        Ok((before, all))
    }

    /// The totals of all warps, scanned as one sequence, for as many turns as a warp has threads for. With a cluster,
    /// whose blocks' turns are not adjacent, for one turn.
    fn across_warps(
        &self,
        (steps, before): (&[Val<'e, 'ctx>], &[Val<'e, 'ctx>]),
        (room, place): (PointerValue<'ctx>, Val<'e, 'ctx>),
        neutral: Val<'e, 'ctx>,
    ) -> Result<Vec<Turns<'e, 'ctx>>, CodegenError> {
        let (emit, elem) = (neutral.emit(), register(self.dtype));
        let bytes = memory::element_bytes(elem);
        let warps = self.block.threads / WARP;
        let thread = self.block.thread.zext_or_trunc(32);
        let (warp, lane) = (thread.lshr(5), thread.and(i64::from(WARP - 1)));
        let slot = |turn: Val<'e, 'ctx>, warp: Val<'e, 'ctx>| {
            let at = (place + turn.zext_or_trunc(64)) * i64::from(warps) + warp.zext_or_trunc(64);
            memory::element(emit, room, elem, at)
        };
        let number = |n: u32| emit.constant_int(32, None, i64::from(n));
        when(emit, lane.eq(i64::from(WARP - 1)), || {
            for (turn, &step) in (0..).zip(steps) {
                memory::store(emit, step, slot(number(turn), warp), bytes);
            }
        })?;
        barrier(emit);
        let each = warps.next_power_of_two();
        let most = if self.block.cluster > 1 {
            1
        } else {
            WARP / each
        };
        let mut all = Vec::new();
        for (first, before) in (0..)
            .step_by(most as usize)
            .zip(before.chunks(most as usize))
        {
            let count = before.len() as u32;
            let width = each * count.next_power_of_two();
            let lane = lane.and(i64::from(width - 1));
            let turn = lane
                .lshr(i64::from(each.ilog2()))
                .smin(i64::from(count - 1));
            let of = lane.and(i64::from(each - 1));
            let own = slot(turn + i64::from(first), of.smin(i64::from(warps - 1)));
            let mut total = memory::load(emit, own, elem, None, bytes);
            if warps < each {
                total = total.except(of.ge(i64::from(warps)), neutral);
            }
            let totals = self.up_to(total, (lane, width));
            let mut behind = Vec::new();
            for (turn, &before) in (0..).zip(before) {
                let earlier = of_lane(totals, warp + (i64::from(turn * each) - 1), WARP);
                let earlier = match turn {
                    0 => earlier.except(warp.eq(0), neutral),
                    _ => earlier,
                };
                behind.push(self.together(earlier, before));
            }
            all.push((behind, of_lane(totals, number(count * each - 1), WARP)));
        }
        Ok(all)
    }

    /// Scans the totals of a cluster's blocks in each turn, in the order of the blocks.
    fn across_blocks(
        &self,
        turns: &mut [Turns<'e, 'ctx>],
        (room, place): (PointerValue<'ctx>, Val<'e, 'ctx>),
        neutral: Val<'e, 'ctx>,
    ) -> Result<(), CodegenError> {
        let (emit, elem) = (neutral.emit(), register(self.dtype));
        let bytes = memory::element_bytes(elem);
        let slot = |room, turn: i64| memory::element(emit, room, elem, place + turn);
        when(emit, self.block.thread.eq(0), || {
            for (turn, (_, all)) in (0..).zip(turns.iter()) {
                memory::store(emit, *all, slot(room, turn), bytes);
            }
        })?;
        cluster_barrier(emit);
        let own = self.block.rank.zext_or_trunc(32);
        let rank = |rank: u32| emit.constant_int(32, None, i64::from(rank));
        let rooms = (0..self.block.cluster).map(|of| in_block(emit, room, rank(of)));
        let rooms: Vec<_> = rooms.collect();
        for (turn, (before, all)) in (0..).zip(turns.iter_mut()) {
            let (mut earlier, mut sum) = (neutral, neutral);
            for (rank, &room) in (0..).zip(&rooms) {
                let value = memory::load(emit, slot(room, turn), elem, None, bytes);
                sum = self.together(sum, value);
                earlier = earlier.except(own.gt(rank), sum);
            }
            for before in before {
                *before = self.together(earlier, *before);
            }
            *all = sum;
        }
        Ok(())
    }
}

/// Combines values across warps. Each warp's first thread writes the warp's value; after a barrier, every warp combines
/// the values of all warps in all blocks of the cluster. The memory is rewritten only after all have read it, because
/// the kernel has a barrier before its loop runs again.
///
/// If there are more values than a vector holds, each thread reads one vector and the threads exchange their results.
/// Four threads read `[0 1 2 3]`, the next four `[4 5 6 7]`, and so on cyclically, so the start index is the thread's
/// number without its low bits. If one instruction performs the whole exchange, it costs less than further loads, and a
/// thread reads a single value.
fn across_warps<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    parts: &mut [Exchanged<'e, 'ctx>],
    block: &Block<'e, 'ctx>,
) -> Result<(), CodegenError> {
    let warps = block.threads / WARP;
    // As many as a load takes, and as every warp's are at a multiple of.
    let vector = |bytes: u32| (1 << warps.trailing_zeros()).min(ALIGN as u32 / bytes);
    let mut rooms = Vec::new();
    for part in parts.iter_mut() {
        let bytes = memory::element_bytes(register(part.dtype));
        let each = part.reads(warps, block.cluster, vector(bytes));
        if each == warps * block.cluster {
            part.end_redux();
        }
        // Several bits would be loaded from one byte.
        let elem = match part.redux {
            Some(_) => Elem::Int(32),
            None => stored(part.dtype),
        };
        let room = partials(emit, elem, warps * part.lanes.len() as u32);
        rooms.push((room, elem, bytes, each));
    }
    when(emit, block.thread.and(31).eq(0), || {
        for (part, &(room, _, bytes, _)) in parts.iter().zip(&rooms) {
            // Of the first thread of a warp.
            let at = (block.thread * i64::from(bytes)).lshr(5);
            for (lane, &value) in (0..).zip(&part.lanes) {
                let slot = at + i64::from(lane * warps * bytes);
                let slot = memory::element(emit, room, Elem::Int(8), slot);
                let value = match part.is_bit() {
                    true => value.zext_or_trunc(8),
                    false => value,
                };
                memory::store(emit, value, slot, bytes);
            }
        }
    })?;
    match block.cluster {
        1 => barrier(emit),
        _ => cluster_barrier(emit),
    }
    for (part, (room, elem, bytes, each)) in parts.iter_mut().zip(rooms) {
        let all = warps * block.cluster;
        let width = all / each;
        let apart = if all <= WARP { each } else { 1 };
        // In bytes, as what follows.
        let own = block.thread * i64::from(each / apart * bytes);
        let first = own.and(i64::from((width - 1) * each * bytes));
        let number = |n: u32| emit.constant_int(64, None, i64::from(n));
        // Where a thread's begin: in one block, or in each of them.
        let begins: Vec<_> = match block.cluster {
            1 => vec![(room, first)],
            _ if each <= warps => {
                let rank = first.lshr(i64::from((warps * bytes).ilog2()));
                let within = first.and(i64::from(warps * bytes - 1));
                vec![(in_block(emit, room, rank), within)]
            }
            cluster => (0..cluster)
                .map(|rank| (in_block(emit, room, number(rank)), number(0)))
                .collect(),
        };
        let (count, vector) = (each.min(warps), vector(bytes).min(each));
        for lane in 0..part.lanes.len() {
            let mut read = Vec::new();
            for &(room, from) in &begins {
                for at in (0..count).step_by(vector as usize) {
                    let slot = from + i64::from((lane as u32 * warps + at) * bytes);
                    let slot = memory::element(emit, room, Elem::Int(8), slot);
                    let lanes = (vector > 1).then_some(vector);
                    let loaded = memory::load(emit, slot, elem, lanes, vector * bytes);
                    let own = (0..vector).map(|lane| loaded.lane(lane));
                    match part.is_bit() {
                        true => read.extend(own.map(|value| value.zext_or_trunc(1))),
                        false => read.extend(own),
                    }
                }
            }
            let own = read.into_iter().reduce(|sum, next| part.apply(sum, next));
            if let Some(own) = own {
                part.lanes[lane] = part.exchange(own, width, apart);
            }
        }
    }
    Ok(())
}

/// Shared memory for one reduction's partial results. Its size is a multiple of its alignment: LLVM loads three of four
/// elements as four.
fn partials<'ctx>(emit: &Emit<'ctx>, elem: Elem, count: u32) -> PointerValue<'ctx> {
    let name = format!("fuser.partials.{}", emit.module.get_globals().count());
    let count = count.next_multiple_of(ALIGN as u32 * 8 / elem.bits());
    let ty = memory::array_type(emit, elem, count);
    let global = emit
        .module
        .add_global(ty, Some(AddressSpace::from(SHARED_SPACE)), &name);
    global.set_linkage(Linkage::Internal);
    global.set_initializer(&ty.get_poison());
    global.set_alignment(ALIGN as u32);
    global.as_pointer_value()
}

/// The static shared memory of a block in this module, up to the start of the launch's dynamic shared memory. It holds
/// partial results, each array aligned.
pub fn shared_bytes(emit: &Emit<'_>, machine: &TargetMachine) -> u64 {
    let data = machine.get_target_data();
    let globals = std::iter::successors(emit.module.get_first_global(), |g| g.get_next_global());
    // The shared memory of the launch has no initializer.
    let own = globals.filter(|g| {
        let space = g.as_pointer_value().get_type().get_address_space();
        space == AddressSpace::from(SHARED_SPACE) && g.get_initializer().is_some()
    });
    let bytes = own.map(|g| {
        data.get_abi_size(&g.get_value_type())
            .next_multiple_of(ALIGN)
    });
    // The shared memory of the launch begins behind it, at a multiple of this.
    bytes.sum::<u64>().next_multiple_of(BUFFER_ALIGN as u64)
}

/// Waits for all threads of all blocks of the cluster.
pub fn cluster_barrier(emit: &Emit<'_>) {
    if let Some(gpu) = emit.gpu {
        gpu.cluster_barrier(emit);
    }
}

/// The shared memory of this block, mapped to block number `rank` of its cluster.
fn in_block<'ctx>(
    emit: &Emit<'ctx>,
    room: PointerValue<'ctx>,
    rank: Val<'_, 'ctx>,
) -> PointerValue<'ctx> {
    emit.gpu.map_or(room, |gpu| gpu.in_block(emit, room, rank))
}

/// Waits for all threads of the block.
pub fn barrier(emit: &Emit<'_>) {
    if let Some(gpu) = emit.gpu {
        gpu.barrier(emit);
    }
}

/// Runs `body` where an `i1` holds.
pub fn when<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    condition: Val<'e, 'ctx>,
    body: impl FnOnce(),
) -> Result<(), CodegenError> {
    let missing = || CodegenError::Internal("no function to branch in".into());
    let (yes, after) = (
        emit.block("when").ok_or_else(missing)?,
        emit.block("after").ok_or_else(missing)?,
    );
    emit.builder
        .build_conditional_branch(condition.raw().into_int_value(), yes, after)?;
    emit.begin(yes);
    body();
    emit.builder.build_unconditional_branch(after)?;
    emit.begin(after);
    Ok(())
}

//! A communication with numbers for sizes, and the exchanges that implement it.
//!
//! ```text
//! all_reduce       each rank gets part i of all operands, combines it, and sends it to all: 2 (n - 1) / n of the bytes
//! reduce_scatter   each rank gets its part of all operands, and combines it
//! all others       blocks go from operand to result
//! ```
//!
//! A dense block is sent directly from the operand or received directly in the result. Other blocks pass through memory
//! that is planned with the run (`areas`).
//!
//! Sound by the plan, which has compared every extent and every size with its buffer.

use fuser_artifact::{Collective as Op, Combine, DType, TensorSpec};

use super::Fault;
use super::link::Link;
use super::reduce::reduce;
use super::walk::Blocks;
use crate::execute::Address;
use crate::plan::padded;
use crate::tensor::{Axis, strides};
use crate::workers::bound;

/// The function of a communication.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Index,
    Reduce(Combine),
    Scatter(Combine),
    /// From each device a block to each one.
    All,
    /// From each device a block to at most one, whose index stands here.
    Pairs(Vec<Option<usize>>),
    /// From one device to all.
    From(usize),
}

/// A communication with numbers for sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The name of the op.
    pub name: &'static str,
    kind: Kind,
    /// The number of the group in the plan, and its devices.
    group: usize,
    devices: usize,
    dtype: DType,
    /// The buffers of the operand and of the result.
    pub buffers: [Option<usize>; 2],
    from: Blocks,
    to: Blocks,
    /// Bytes of the result in its buffer.
    bytes: usize,
    /// The offsets in the run's memory of three areas: blocks to send, received blocks, and a result.
    areas: [usize; 3],
    /// Bytes that it needs of that memory.
    pub room: usize,
}

/// Work on the elements from one number to another one.
pub(crate) type Body<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Shares so many elements, of so many bytes in all, among workers.
pub(crate) type Spread<'a> = dyn Fn(usize, usize, Body<'_>) + 'a;

/// A tensor of a communication with its axes.
pub type Tensor<'a> = (&'a TensorSpec, &'a [Axis]);

impl Collective {
    /// A communication in a group of `devices` devices; `None` if the shapes do not match.
    pub fn new(
        op: &Op,
        (group, devices): (usize, usize),
        from: Option<Tensor<'_>>,
        to: Tensor<'_>,
        bytes: usize,
    ) -> Option<Collective> {
        // An index has no operand, and none of its fields is looked at.
        let (from, from_axes) = from.unwrap_or(to);
        let (to, to_axes) = to;
        let (kind, cut, joined) = match op {
            Op::AxisIndex => (Kind::Index, None, None),
            Op::AllReduce(combine) => (Kind::Reduce(*combine), None, None),
            Op::ReduceScatter { combine, dim } => (Kind::Scatter(*combine), Some(*dim), None),
            Op::AllGather { dim } => (Kind::All, None, Some(*dim)),
            Op::AllToAll { split, concat } => (Kind::All, Some(*split), Some(*concat)),
            Op::Permute { pairs } => {
                let mut targets = vec![None; devices];
                for &[source, target] in pairs {
                    *targets.get_mut(source as usize)? = Some(target as usize);
                }
                (Kind::Pairs(targets), None, None)
            }
            Op::Broadcast { root } => (Kind::From(*root as usize), None, None),
        };
        let own = |tensor: &TensorSpec, axes: &[Axis]| {
            let order: Vec<usize> = tensor.order.iter().map(|&axis| axis as usize).collect();
            strides(axes, &order)
        };
        let (reads, writes) = (own(from, from_axes), own(to, to_axes));
        // Blocks are walked as the operand lies in memory.
        let place = |at: usize| from.order.get(at).map_or(at, |&axis| axis as usize);
        let (mut steps, mut loops) = ([0; 2], Vec::new());
        for axis in (0..from_axes.len()).map(place) {
            let (source, target) = (*from_axes.get(axis)?, *to_axes.get(axis)?);
            let is = |dim: Option<u32>| dim.is_some_and(|dim| dim as usize == axis);
            // Along an axis that is cut or joined each element is another one; along others, elements that the result has once are read once.
            let times = |extent: usize| extent.checked_mul(devices);
            let extent = match (is(cut), is(joined)) {
                (true, true) if source.extent == target.extent => {
                    let extent = source.extent / devices;
                    (times(extent) == Some(source.extent)).then_some(extent)?
                }
                (true, false) => {
                    (times(target.extent) == Some(source.extent)).then_some(target.extent)?
                }
                (false, true) => {
                    (times(source.extent) == Some(target.extent)).then_some(source.extent)?
                }
                (false, false) if source.extent == target.extent => match target.broadcast {
                    true => source.extent.min(1),
                    false => source.extent,
                },
                _ => return None,
            };
            if is(cut) {
                steps[0] = extent.checked_mul(reads[axis])?;
            }
            if is(joined) {
                steps[1] = extent.checked_mul(writes[axis])?;
            }
            loops.push([extent, reads[axis], writes[axis]]);
        }
        let blocks = |side: usize| {
            let loops = loops.iter().map(|own| [own[0], own[1 + side]]);
            Blocks::new(loops, steps[side])
        };
        let mut collective = Collective {
            name: op.name(),
            kind,
            group,
            devices,
            dtype: to.dtype,
            buffers: [
                (*op != Op::AxisIndex).then_some(from.buffer as usize),
                Some(to.buffer as usize),
            ],
            from: blocks(0)?,
            to: blocks(1)?,
            bytes,
            areas: [0; 3],
            room: 0,
        };
        collective.place()?;
        Some(collective)
    }

    /// True if ranks tell each other something.
    pub fn exchanges(&self) -> bool {
        self.kind != Kind::Index
    }

    fn block_bytes(&self) -> usize {
        self.from.elements * self.dtype.bytes()
    }

    /// The part of all elements that a device reduces, of [`Kind::Reduce`].
    fn part(&self, device: usize) -> [usize; 2] {
        let at = |device: usize| {
            let at = bound(
                self.from.elements as i64,
                device as i64,
                self.devices as i64,
            );
            at as usize
        };
        [at(device), at(device + 1)]
    }

    /// Lays out the areas; `None` where they do not fit.
    fn place(&mut self) -> Option<()> {
        if self.kind == Kind::Index {
            return Some(());
        }
        let block = self.from.elements.checked_mul(self.dtype.bytes())?;
        let all = block.checked_mul(self.devices)?;
        isize::try_from(all).ok()?;
        let sent = match (self.from.is_dense(), self.from.step) {
            (true, _) => 0,
            (false, 0) => block,
            (false, _) => all,
        };
        let result = if self.to.is_dense() { 0 } else { block };
        let (received, result) = match self.kind {
            Kind::Reduce(_) => {
                let most = self.from.elements.div_ceil(self.devices);
                let most = most.checked_mul(self.dtype.bytes())?;
                (most.checked_mul(self.devices)?, result)
            }
            Kind::Scatter(_) => (all, result),
            _ if self.arrives_in_place() => (0, 0),
            _ => (all, 0),
        };
        let mut end = 0usize;
        for (area, bytes) in self.areas.iter_mut().zip([sent, received, result]) {
            *area = end;
            end = end.checked_add(padded(bytes)?)?;
        }
        self.room = end;
        Some(())
    }

    /// True if blocks are received directly in the result: they are dense, and no two have the same place.
    fn arrives_in_place(&self) -> bool {
        self.to.is_dense() && (self.to.step > 0 || self.kind != Kind::All)
    }

    /// True if the device `from` sends to `to`.
    fn goes(&self, from: usize, to: usize) -> bool {
        match &self.kind {
            Kind::Pairs(targets) => targets.get(from).copied().flatten() == Some(to),
            Kind::From(root) => *root == from,
            _ => true,
        }
    }

    /// Runs the communication.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked; `memory` has
    /// [`room`](Self::room) bytes. During the call nobody else uses the result or `memory`, and nobody writes to the
    /// operand.
    pub(crate) unsafe fn run(
        &self,
        step: usize,
        link: &mut Link<'_>,
        [from, to]: [Address; 2],
        memory: Address,
        spread: &Spread<'_>,
    ) -> Result<(), Fault> {
        let run = Run {
            of: self,
            step,
            own: link.index(self.group),
            from,
            to,
            areas: self.areas.map(|area| Address::of(memory.at(area))),
            spread,
        };
        if self.exchanges() {
            link.communications += 1;
        }
        if self.from.elements == 0 && self.kind != Kind::Index {
            return Ok(());
        }
        // SAFETY: the caller's word.
        unsafe {
            match &self.kind {
                Kind::Index => {
                    to.at(0).cast::<i32>().write(run.own as i32);
                    Ok(())
                }
                Kind::Reduce(combine) => run.reduce(link, *combine),
                Kind::Scatter(combine) => run.scatter(link, *combine),
                Kind::All | Kind::Pairs(_) | Kind::From(_) => run.move_blocks(link),
            }
        }
    }
}

/// A communication in progress. All its functions rely on the safety contract of [`Collective::run`].
struct Run<'a> {
    of: &'a Collective,
    step: usize,
    /// The device's index in the group.
    own: usize,
    from: Address,
    to: Address,
    areas: [Address; 3],
    spread: &'a Spread<'a>,
}

/// # Safety
/// The pointer is good for `count` bytes, and nobody writes to them while the slice is in use.
unsafe fn bytes<'a>(at: *const u8, count: usize) -> &'a [u8] {
    // SAFETY: the caller's word.
    unsafe { std::slice::from_raw_parts(at, count) }
}

/// # Safety
/// The pointer is good for `count` bytes, and nobody else uses them while the slice is in use.
unsafe fn bytes_mut<'a>(at: *mut u8, count: usize) -> &'a mut [u8] {
    // SAFETY: the caller's word.
    unsafe { std::slice::from_raw_parts_mut(at, count) }
}

impl Run<'_> {
    fn size(&self) -> usize {
        self.of.dtype.bytes()
    }

    /// The operand's block for a device: its own place if the block is dense, else its packed copy.
    fn sent(&self, device: usize) -> *mut u8 {
        let of = self.of;
        match (of.from.is_dense(), of.from.step) {
            (true, step) => self.from.at(device * step * self.size()),
            (false, 0) => self.areas[0].at(0),
            (false, _) => self.areas[0].at(device * of.block_bytes()),
        }
    }

    /// Packs the blocks of the operand for some devices.
    ///
    /// # Safety
    /// As for [`Collective::run`].
    unsafe fn pack(&self, wanted: impl Fn(usize) -> bool) {
        let of = self.of;
        if of.from.is_dense() {
            return;
        }
        for device in (0..of.devices).filter(|&device| wanted(device)) {
            let block = self.from.at(device * of.from.step * self.size());
            // SAFETY: the caller's word; the area has room for the block.
            unsafe { of.from.pack(self.size(), block, self.sent(device)) }
            if of.from.step == 0 {
                return;
            }
        }
    }

    /// The place in the result of the block of a device.
    fn place(&self, device: usize) -> *mut u8 {
        self.to.at(device * self.of.to.step * self.size())
    }

    /// # Safety
    /// As for [`Collective::run`].
    unsafe fn move_blocks(&self, link: &mut Link<'_>) -> Result<(), Fault> {
        let (of, own, count) = (self.of, self.own, self.of.block_bytes());
        let devices = || 0..of.devices;
        let dense = of.arrives_in_place();
        let arrives = |device: usize| match dense {
            true => self.place(device),
            false => self.areas[1].at(device * count),
        };
        // SAFETY: the caller's word: blocks lie in their tensors or areas; those that are received are disjoint, and others than those that are sent.
        unsafe {
            self.pack(|device| of.goes(own, device));
            if devices().all(|device| !of.goes(device, own)) {
                self.to.at(0).write_bytes(0, of.bytes);
            }
            let others = devices().filter(|device| *device != own);
            let blocks = others.map(|device| {
                let sent = if of.goes(own, device) { count } else { 0 };
                let received = if of.goes(device, own) { count } else { 0 };
                (
                    device,
                    bytes(self.sent(device), sent),
                    bytes_mut(arrives(device), received),
                )
            });
            link.exchange(self.step, of.group, blocks)?;
            for device in devices().filter(|&device| of.goes(device, own)) {
                match device == own {
                    true => of.to.unpack(self.size(), self.sent(own), self.place(own)),
                    false if dense => {}
                    false => of
                        .to
                        .unpack(self.size(), arrives(device), self.place(device)),
                }
            }
        }
        Ok(())
    }

    /// Combines corresponding elements of all operands.
    ///
    /// # Safety
    /// The operands and the result have `elements` elements each.
    unsafe fn combine(
        &self,
        link: &mut Link<'_>,
        combine: Combine,
        operands: impl Fn(usize) -> *mut u8,
        result: *mut u8,
        elements: usize,
    ) {
        let mut pointers = link.take_pointers();
        let devices = 0..self.of.devices;
        pointers.extend(devices.map(|device| Address::of(operands(device))));
        let (own, result, dtype) = (&pointers[..], Address::of(result), self.of.dtype);
        let total = elements.saturating_mul(self.size() * self.of.devices);
        // SAFETY: the caller's word; ranges are disjoint.
        (self.spread)(elements, total, &move |begin, end| unsafe {
            reduce(dtype, combine, own, result, begin, end)
        });
        link.give_pointers(pointers);
    }

    /// The address at which a reduced result is computed: its final place if that is dense, else a temporary.
    fn result(&self) -> *mut u8 {
        match self.of.to.is_dense() {
            true => self.to.at(0),
            false => self.areas[2].at(0),
        }
    }

    /// Puts the result where it belongs.
    ///
    /// # Safety
    /// As for [`Collective::run`].
    unsafe fn unpack_result(&self) {
        if !self.of.to.is_dense() {
            // SAFETY: the caller's word.
            unsafe {
                self.of.to.unpack(self.size(), self.result(), self.to.at(0));
            }
        }
    }

    /// # Safety
    /// As for [`Collective::run`].
    unsafe fn scatter(&self, link: &mut Link<'_>, combine: Combine) -> Result<(), Fault> {
        let (of, own, count) = (self.of, self.own, self.of.block_bytes());
        let arrives = |device: usize| self.areas[1].at(device * count);
        // SAFETY: the caller's word: blocks lie in their tensor or areas; those that are received are disjoint, and others than those that are sent.
        unsafe {
            self.pack(|_| true);
            let others = (0..of.devices).filter(|device| *device != own);
            let blocks = others.map(|device| {
                (
                    device,
                    bytes(self.sent(device), count),
                    bytes_mut(arrives(device), count),
                )
            });
            link.exchange(self.step, of.group, blocks)?;
            let operand = |device: usize| match device == own {
                true => self.sent(own),
                false => arrives(device),
            };
            self.combine(link, combine, operand, self.result(), of.from.elements);
            self.unpack_result();
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Collective::run`].
    unsafe fn reduce(&self, link: &mut Link<'_>, combine: Combine) -> Result<(), Fault> {
        let (of, own, size) = (self.of, self.own, self.size());
        let [begin, end] = of.part(own);
        let count = (end - begin) * size;
        let arrives = |device: usize| self.areas[1].at(device * count);
        // A device's part of tensors that begin here, and its bytes.
        let part = |at: *mut u8, device: usize| {
            let [begin, end] = of.part(device);
            (at.wrapping_add(begin * size), (end - begin) * size)
        };
        let others = || (0..of.devices).filter(|device| *device != own);
        let (whole, result) = (self.sent(0), self.result());
        // SAFETY: the caller's word: parts lie in their tensors or areas; those that are received are disjoint, and others than those that are sent.
        unsafe {
            self.pack(|_| true);
            let blocks = others().map(|device| {
                let (at, bytes_sent) = part(whole, device);
                let received = bytes_mut(arrives(device), count);
                (device, bytes(at, bytes_sent), received)
            });
            link.exchange(self.step, of.group, blocks)?;
            let (mine, _) = part(whole, own);
            let operand = |device: usize| match device == own {
                true => mine,
                false => arrives(device),
            };
            let (place, _) = part(result, own);
            self.combine(link, combine, operand, place, end - begin);
            let blocks = others().map(|device| {
                let (at, received) = part(result, device);
                (device, bytes(place, count), bytes_mut(at, received))
            });
            link.exchange(self.step, of.group, blocks)?;
            self.unpack_result();
        }
        Ok(())
    }
}

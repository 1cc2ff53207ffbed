//! Loops of small steps as kernels of a CPU: which they are, and their place in the plan.
//!
//! A loop becomes one launch if it makes a known number of turns, and each step of a turn is small: a launch of one grid
//! iteration or of at most [`MOST_WORK`] ops, or a copy or an `index_put` in place of at most [`MOST_ELEMENTS`] elements.
//! One thread runs such steps in any case. Loops inside go first: a loop of such loops is one launch.
//!
//! `fuser_passes::turns` makes the kernels.

use fuser_artifact::{Artifact, BufferKind, Combine, Factor, SegmentKind, SizeExpr, Step};
use fuser_ir::symbols::SymbolTable;
use fuser_ir::{DType, Ir, Op};
use fuser_passes::turns::{self, Put, Turns};
use fuser_target::Target;
use rustc_hash::FxHashMap;

use super::plan::convert;
use super::size::kernel_sizes;

/// The most elements that a copy or a put moves: so few that no other thread is worth waking.
const MOST_ELEMENTS: i64 = 4096;

/// The most ops that a kernel of several grid iterations runs, a vector's once: as few.
const MOST_WORK: u64 = 1 << 13;

/// The most ops of a kernel, each with a quarter of its operations besides: LLVM's time for a function grows faster than
/// its length.
const MOST_OPS: usize = 1024;

/// Replaces the steps of such loops by launches of new kernels at the end of `module`. `kernels` are those of the plan,
/// which keeps the ones that it still launches.
pub(super) fn combine(
    ir: &mut Ir,
    module: Op,
    artifact: &mut Artifact,
    kernels: &mut Vec<Op>,
    target: &Target,
) {
    let loops = artifact.steps.iter();
    let has_loops = loops.clone().any(|step| matches!(step, Step::Turn { .. }));
    if target.abilities().block_threads || !has_loops {
        return;
    }
    let mut steps: Vec<Option<Step>> = loops.cloned().map(Some).collect();
    let mut made = Made {
        names: SymbolTable::of(ir, module),
        known: FxHashMap::default(),
    };
    let old = kernels.len();
    // Loops inside begin behind those around them.
    for at in (0..steps.len()).rev() {
        let Some(turn) = one_loop(ir, artifact, kernels, &steps, at) else {
            continue;
        };
        let (segment, end) = (turn.segment, turn.end);
        if let Some(launch) = turn.launch(ir, module, artifact, kernels, &mut made) {
            for step in steps[at..end].iter().flatten() {
                let part = &mut artifact.segments[step.segment() as usize];
                if step.segment() != segment && part.kind != SegmentKind::View {
                    part.kind = SegmentKind::Turn;
                }
            }
            steps[at..end].fill(None);
            steps[at] = Some(launch);
        }
    }
    if kernels.len() > old {
        renumber(artifact, steps);
        drop_kernels(ir, artifact, kernels, old);
    }
}

/// The kernels of loops that were made.
struct Made {
    /// The names in the module.
    names: SymbolTable,
    /// The number of the kernel of equal loops.
    known: FxHashMap<Turns, usize>,
}

/// A loop that becomes a kernel.
struct Loop {
    segment: u32,
    /// The step behind it.
    end: usize,
    turns: i64,
    steps: Vec<turns::Step>,
    /// The buffers and the extents of its launch.
    buffers: Vec<u32>,
    extents: Vec<SizeExpr>,
    /// The name of a kernel of a turn.
    name: String,
}

/// The loop that begins with the step `at`, if it becomes a kernel.
fn one_loop(
    ir: &Ir,
    artifact: &Artifact,
    kernels: &[Op],
    steps: &[Option<Step>],
    at: usize,
) -> Option<Loop> {
    let Some(Step::Turn {
        segment,
        turns: Some(turns),
        condition: None,
        end,
    }) = steps[at].as_ref()
    else {
        return None;
    };
    let end = *end as usize;
    let last = steps.get(end.checked_sub(1)?)?.as_ref();
    let again = matches!(last, Some(Step::Jump { to, .. }) if *to as usize == at);
    let mut made = Loop {
        segment: *segment,
        end,
        turns: turns.as_constant().filter(|_| again)?,
        steps: Vec::new(),
        buffers: Vec::new(),
        extents: Vec::new(),
        name: "loop".to_owned(),
    };
    let mut ops = 0;
    for step in steps.get(at + 1..end - 1)?.iter().flatten() {
        ops += made.add(ir, artifact, kernels, step)?;
    }
    (ops <= MOST_OPS).then_some(made)
}

impl Loop {
    /// Adds a step of a turn; returns the number of its ops.
    fn add(&mut self, ir: &Ir, artifact: &Artifact, kernels: &[Op], step: &Step) -> Option<usize> {
        let mut ops = 8;
        let step = match step {
            Step::Launch {
                kernel,
                buffers,
                extents,
                grid,
                ..
            } => {
                let func = *kernels.get(*kernel as usize)?;
                let few = || turns::work(ir, func).is_some_and(|work| work <= MOST_WORK);
                if grid.as_constant() != Some(1) && !few() {
                    return None;
                }
                let (dtypes, count) = turns::parameters(ir, func);
                let stored = buffers.iter().map(|&b| artifact.buffers[b as usize].dtype);
                let alike = stored.eq(dtypes.into_iter().map(convert)) && count == extents.len();
                if !alike || !turns::is_small(ir, func) {
                    return None;
                }
                if self.steps.is_empty() {
                    self.name = ir.symbol_name(func)?.to_owned();
                }
                let weight = |op: Op| 1 + ir.def(op).map_or(0, |def| def.flops as usize / 4);
                ops = ir.walk(func).into_iter().map(weight).sum();
                let buffers = buffers.iter().map(|&b| self.buffer(artifact, b));
                let buffers = buffers.collect::<Option<_>>()?;
                let extents = extents.iter().map(|extent| self.extent(extent)).collect();
                turns::Step::Kernel {
                    func,
                    buffers,
                    extents,
                }
            }
            Step::Copy {
                from, to, elements, ..
            } => turns::Step::Copy {
                from: self.buffer(artifact, *from)?,
                to: self.buffer(artifact, *to)?,
                elements: elements.as_constant().filter(|&n| n <= MOST_ELEMENTS)?,
            },
            Step::Scatter {
                combine: Combine::Set,
                tensors,
                ..
            } => turns::Step::Put(self.put(artifact, tensors)?),
            _ => return None,
        };
        self.steps.push(step);
        Some(ops)
    }
    /// The number of a buffer among those of the launch; `None` for a part of another one, which may be used as a whole
    /// beside it.
    fn buffer(&mut self, artifact: &Artifact, buffer: u32) -> Option<usize> {
        if artifact.buffers[buffer as usize].part().is_some() {
            return None;
        }
        Some(number(&mut self.buffers, &buffer))
    }
    fn extent(&mut self, extent: &SizeExpr) -> usize {
        number(&mut self.extents, extent)
    }
    fn put(&mut self, artifact: &Artifact, tensors: &[Factor; 4]) -> Option<Put> {
        let [old, indices, slices, new] = tensors;
        if old.tensor.buffer != new.tensor.buffer || old.loops != new.loops {
            return None;
        }
        let rank = new.loops.len() as u32;
        let axis = new
            .loops
            .iter()
            .position(|axis| !slices.loops.contains(axis))?;
        let place = slices.loops.iter().position(|&axis| axis == rank)?;
        let [of_slices, of_tensor] = [strides(slices)?, strides(new)?];
        let &[(count, step)] = &strides(indices)?[..] else {
            return None;
        };
        let mut axes = Vec::new();
        for (at, along) in slices
            .loops
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != place)
        {
            let to = new.loops.iter().position(|axis| axis == along)?;
            let ((length, read), (whole, write)) = (of_slices[at], of_tensor[to]);
            if length != whole {
                return None;
            }
            axes.push([length, read, write]);
        }
        // The axis whose elements follow each other in the tensor comes last.
        axes.sort_by_key(|&[_, _, write]| std::cmp::Reverse(write));
        let lengths = axes.iter().map(|axis| axis[0]);
        let elements = lengths.into_iter().try_fold(count, i64::checked_mul)?;
        (elements <= MOST_ELEMENTS).then_some(())?;
        Some(Put {
            indices: self.buffer(artifact, indices.tensor.buffer)?,
            slices: self.buffer(artifact, slices.tensor.buffer)?,
            tensor: self.buffer(artifact, new.tensor.buffer)?,
            count,
            step,
            apart: of_slices[place].1,
            length: of_tensor[axis].0,
            stride: of_tensor[axis].1,
            axes,
        })
    }
    /// Makes the kernel, and its launch.
    fn launch(
        self,
        ir: &mut Ir,
        module: Op,
        artifact: &Artifact,
        kernels: &mut Vec<Op>,
        made: &mut Made,
    ) -> Option<Step> {
        let dtypes = self.buffers.iter().map(|&buffer| {
            let stored = artifact.buffers[buffer as usize].dtype;
            let alike = |dtype: &&DType| convert(**dtype) == stored;
            DType::ALL.iter().find(alike).copied()
        });
        let turns = Turns {
            turns: self.turns,
            buffers: dtypes.collect::<Option<_>>()?,
            extents: self.extents.len(),
            steps: self.steps,
        };
        let number = match made.known.get(&turns) {
            Some(&number) => number,
            None => {
                let name = format!("{}_turns", self.name);
                let func = turns::kernel(ir, ir.body(module, 0)?, &name, &turns);
                made.names.insert(ir, func, &name);
                made.known.insert(turns, kernels.len());
                kernels.push(func);
                kernels.len() - 1
            }
        };
        let sizes = kernel_sizes(ir, kernels[number], &self.extents, false)?;
        Some(Step::Launch {
            kernel: number as u32,
            segment: self.segment,
            buffers: self.buffers,
            extents: self.extents,
            grid: sizes.grid,
            scratch_bytes: sizes.scratch,
            block: 1,
            product: None,
        })
    }
}

/// The position of `item` in `list`, where it is put last if it is not there.
fn number<T: PartialEq + Clone>(list: &mut Vec<T>, item: &T) -> usize {
    let known = list.iter().position(|known| known == item);
    known.unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    })
}

/// The length of each axis and the distance of its elements in memory, if they are known.
fn strides(factor: &Factor) -> Option<Vec<(i64, i64)>> {
    let tensor = &factor.tensor;
    let rank = tensor.dims.len();
    let order = match tensor.order.is_empty() {
        true => (0..rank).collect(),
        false => tensor
            .order
            .iter()
            .map(|&axis| axis as usize)
            .collect::<Vec<_>>(),
    };
    let mut list = vec![(0, 0); rank];
    let mut distance = 1i64;
    for axis in order.into_iter().rev() {
        let dim = tensor.dims.get(axis)?;
        let length = dim.extent.as_constant()?;
        list[axis] = (length, if dim.broadcast { 0 } else { distance });
        if !dim.broadcast {
            distance = distance.checked_mul(length)?;
        }
    }
    Some(list)
}

/// Removes the steps that are gone, and corrects the numbers of all others.
fn renumber(artifact: &mut Artifact, steps: Vec<Option<Step>>) {
    let mut numbers = Vec::with_capacity(steps.len() + 1);
    let mut count = 0u32;
    for step in &steps {
        count += u32::from(step.is_some());
        // A step of a loop that became a launch is that launch.
        numbers.push(count.saturating_sub(1));
    }
    numbers.push(count);
    let new = |old: &mut u32| *old = numbers[*old as usize];
    artifact.steps = steps.into_iter().flatten().collect();
    for step in &mut artifact.steps {
        match step {
            Step::Turn { end, .. } => new(end),
            Step::Jump { to, .. } => new(to),
            _ => {}
        }
    }
    for buffer in &mut artifact.buffers {
        if let BufferKind::Temp { first, last } = &mut buffer.kind {
            new(first);
            new(last);
        }
    }
}

/// Removes the kernels that nothing launches any more. Those from `old` on, which no op of the module launches either,
/// go from the module too.
fn drop_kernels(ir: &mut Ir, artifact: &mut Artifact, kernels: &mut Vec<Op>, old: usize) {
    let mut launched = vec![false; kernels.len()];
    for step in &artifact.steps {
        if let Step::Launch { kernel, .. } = step {
            launched[*kernel as usize] = true;
        }
    }
    let mut numbers = Vec::with_capacity(kernels.len());
    let mut count = 0u32;
    for &launched in &launched {
        numbers.push(count);
        count += u32::from(launched);
    }
    for step in &mut artifact.steps {
        if let Step::Launch { kernel, .. } = step {
            *kernel = numbers[*kernel as usize];
        }
    }
    for (&kernel, launched) in kernels.iter().zip(&launched).skip(old) {
        if !launched {
            ir.erase(kernel);
        }
    }
    let mut launched = launched.into_iter();
    kernels.retain(|_| launched.next().unwrap_or(false));
}

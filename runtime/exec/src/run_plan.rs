//! An artifact for given extents: every size is a number, every buffer has a place, every step is checked against its
//! buffers.
//!
//! Both kinds of device execute such a plan. It is computed before any allocation, so the needs of a run are known in
//! advance. It contains the checks that [`Artifact::validate`] cannot make without extents: sizes are neither negative
//! nor too large, a tensor fits its buffer, and copies and fills stay inside.

use std::fmt;

use fuser_artifact::{
    Artifact, BufferKind, BufferSpec, Factor, GpuProduct, SegmentInfo, SizeError, SizeExpr, Step,
    TensorSpec, Window,
};

use crate::attention::Attention;
use crate::bind;
use crate::devices::{Collective, Communication, Fault, MeshError};
use crate::memory::{Heap, Memory, MemoryError};
use crate::plan::{self, Lifetime};
use crate::product::Product;
use crate::report::{SegmentReport, ValueReport};
use crate::routine::Routine;
use crate::scatter::Scatter;
use crate::sort::{Sort, Stage};
use crate::tensor::{Axis, TensorError, stored_bytes};

/// A run that cannot be planned for these extents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    Size {
        error: SizeError,
        extents: Vec<String>,
    },
    Bind(bind::BindError),
    Tensor(TensorError),
    /// The sum of the buffers does not fit the address space.
    TooLarge,
    /// A tensor, copy or fill that is larger than its buffer.
    Overrun {
        user: User,
        buffer: String,
        needed: usize,
        bytes: usize,
    },
    /// The tensors of a call disagree about the length of a loop.
    Call {
        step: usize,
    },
    /// A communication of several devices on a device that has none.
    NoCollectives {
        kind: &'static str,
    },
    /// An input that is smaller than the buffer that kernels take it for.
    ShortInput {
        input: String,
        needed: usize,
        bytes: usize,
    },
}

/// The part of an artifact that overruns a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    Output(String),
    /// A buffer that is a part of another.
    Part(String),
    Step(usize),
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            User::Output(name) => write!(f, "output `{name}`"),
            User::Part(name) => write!(f, "part `{name}`"),
            User::Step(index) => write!(f, "step {index}"),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Size { error, extents } => f.write_str(&error.describe(extents)),
            PlanError::Bind(error) => error.fmt(f),
            PlanError::Tensor(error) => error.fmt(f),
            PlanError::TooLarge => {
                f.write_str("too little memory: the sum of the buffers does not fit 63 bits")
            }
            PlanError::Overrun {
                user,
                buffer,
                needed,
                bytes,
            } => write!(
                f,
                "{user} takes {needed} bytes of buffer `{buffer}`, which has {bytes}"
            ),
            PlanError::Call { step } => {
                write!(f, "step {step} calls with tensors that do not fit together")
            }
            PlanError::NoCollectives { kind } => write!(
                f,
                "`{kind}` needs a CPU: programs of several devices do not run on GPUs yet"
            ),
            PlanError::ShortInput {
                input,
                needed,
                bytes,
            } => write!(
                f,
                "input `{input}` has {bytes} bytes, its buffer is declared with {needed}"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

impl From<bind::BindError> for PlanError {
    fn from(error: bind::BindError) -> PlanError {
        PlanError::Bind(error)
    }
}

impl From<TensorError> for PlanError {
    fn from(error: TensorError) -> PlanError {
        PlanError::Tensor(error)
    }
}

/// The place of a buffer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The input's own memory, which is only read.
    Input(usize),
    /// Memory of its own. A buffer that updates an input starts as a copy of that input, or is the input itself if the
    /// caller gave it away.
    Own { update_of: Option<usize> },
    /// At this offset of the arena that temporaries share.
    Arena(usize),
    /// In the buffer `of`, at this offset in bytes.
    Part { of: usize, at: usize },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedBuffer {
    pub name: String,
    pub bytes: usize,
    pub home: Home,
}

/// A step with numbers for sizes; buffers, kernels and segments are positions in the artifact's lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedStep {
    Launch {
        kernel: usize,
        buffers: Vec<usize>,
        extents: Vec<i64>,
        grid: i64,
        scratch_bytes: usize,
        block: u32,
        /// Bytes of the buffers.
        bytes: usize,
        /// The product that it computes, where a library of the GPU may.
        product: Option<LaunchedProduct>,
    },
    Copy {
        from: usize,
        to: usize,
        bytes: usize,
    },
    /// `count` elements of `size` bytes, each the low bytes of `bits`.
    Fill {
        buffer: usize,
        count: usize,
        size: usize,
        bits: u64,
    },
    /// So many calls of a library.
    Product { product: Product, calls: i64 },
    /// So many calls of our own, which call a library.
    Attention { attention: Attention, calls: i64 },
    /// So many calls of our own.
    Scatter { scatter: Scatter, calls: i64 },
    Sort {
        sort: Sort,
        /// The stages in which all workers sort a line together; empty if each worker sorts lines of its own.
        stages: Vec<Stage>,
        calls: i64,
    },
    /// So many calls of a crate.
    Routine { routine: Routine, calls: i64 },
    /// A communication with other devices.
    Collective(Box<Collective>),
    /// Begins a turn of a loop or the first side of a branch, or goes on with the step `end`.
    Turn { goes_on: GoesOn, end: usize },
    /// Goes on with the step `to`.
    Jump { to: usize },
}

/// The answer to whether there is another turn of a loop, or to which side of a branch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesOn {
    /// A fixed number of turns; counter number `count` holds the turns that are left.
    Turns { turns: i64, count: usize },
    /// True where the first byte of the buffer is not 0.
    Condition(usize),
}

impl GoesOn {
    /// True if another turn follows, given the counts of turns left, which are 0 before the first turn.
    pub(crate) fn answer(self, left: &mut [i64], byte: impl FnOnce(usize) -> u8) -> bool {
        match self {
            GoesOn::Turns { turns, count } => {
                let Some(left) = left.get_mut(count) else {
                    return false;
                };
                *left = match *left {
                    0 => turns.max(0),
                    some => some - 1,
                };
                *left > 0
            }
            GoesOn::Condition(buffer) => byte(buffer) != 0,
        }
    }
}

/// A product that is a kernel of a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedProduct {
    pub product: Product,
    /// The buffer of the bias, and true if it has an element for each column, false if one element serves all.
    pub bias: Option<(usize, bool)>,
}

/// Everything about a run that its extents decide.
#[derive(Clone, Debug)]
pub struct RunPlan {
    pub extents: Vec<i64>,
    /// The workers that it is for.
    workers: usize,
    pub buffers: Vec<PlannedBuffer>,
    /// With the segment of each.
    pub steps: Vec<(usize, PlannedStep)>,
    /// The axes of each output.
    pub outputs: Vec<Vec<Axis>>,
    pub arena_bytes: usize,
    /// Bytes of the inputs.
    pub input_bytes: u64,
    /// Bytes of the buffers that have memory of their own.
    pub own_bytes: u64,
    /// The most scratch that any launch needs, rounded up to the alignment.
    pub scratch_bytes: usize,
    /// The most memory that any communication needs.
    pub exchange_bytes: usize,
    /// Memory for factors of products that stay packed from turn to turn of a loop.
    pub kept_bytes: usize,
    /// The groups of devices that communicate, as lists of mesh axes.
    pub groups: Vec<Vec<u32>>,
    /// The reports of the segments, with no times yet.
    pub segments: Vec<SegmentReport>,
}

impl RunPlan {
    /// Plans a run of a valid artifact on so many workers.
    pub fn new(artifact: &Artifact, extents: &[i64], workers: usize) -> Result<RunPlan, PlanError> {
        let planner = Planner {
            artifact,
            extents,
            workers,
        };
        let buffers = planner.buffers()?;
        let (buffers, arena_bytes) = planner.place(buffers)?;
        let outputs = planner.outputs(&buffers)?;
        planner.check_inputs(&buffers)?;
        let mut steps = planner.steps(&buffers)?;
        let kept_bytes = keep(&mut steps, &buffers);
        let scratch = steps.iter().map(|(_, step)| step.scratch_bytes()).max();
        let rooms = steps.iter().map(|(_, step)| match step {
            PlannedStep::Collective(collective) => collective.room,
            _ => 0,
        });
        let exchange_bytes = rooms.max().unwrap_or(0);
        let scratch_bytes = plan::padded(scratch.unwrap_or(0)).ok_or(PlanError::TooLarge)?;
        let total = |wanted: fn(&Home) -> bool| {
            let buffers = buffers.iter().filter(|buffer| wanted(&buffer.home));
            let sum = buffers
                .map(|buffer| buffer.bytes as u64)
                .try_fold(0u64, u64::checked_add);
            sum.ok_or(PlanError::TooLarge)
        };
        Ok(RunPlan {
            extents: extents.to_vec(),
            workers,
            input_bytes: total(|home| matches!(home, Home::Input(_)))?,
            own_bytes: total(|home| matches!(home, Home::Own { .. }))?,
            segments: planner.segments()?,
            buffers,
            steps,
            outputs,
            arena_bytes,
            scratch_bytes,
            exchange_bytes,
            kept_bytes,
            groups: groups(artifact),
        })
    }

    /// True if a run communicates with other devices, or reads its device index.
    pub fn communicates(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The memory of communications, where there are any that need some.
    pub(crate) fn exchange_memory(&self, heap: &Heap) -> Result<Option<Memory>, MemoryError> {
        let bytes = self.exchange_bytes;
        (bytes > 0).then(|| heap.allocate(bytes)).transpose()
    }

    /// The memory of packed factors, where there are any.
    pub(crate) fn kept_memory(&self, heap: &Heap) -> Result<Option<Memory>, MemoryError> {
        let bytes = self.kept_bytes;
        (bytes > 0).then(|| heap.allocate(bytes)).transpose()
    }

    /// The error of a communication that did not take place.
    pub(crate) fn broken(&self, step: usize, number: u64, fault: Fault) -> MeshError {
        let (segment, kind) = match self.steps.get(step) {
            Some((segment, PlannedStep::Collective(own))) => (*segment, own.name),
            Some((segment, _)) => (*segment, "step"),
            None => (0, "step"),
        };
        let name = self.segments.get(segment).map(|own| own.name.clone());
        let at = Box::new(Communication {
            kind,
            segment: name.unwrap_or_default(),
            number,
        });
        MeshError::Broken { at, fault }
    }

    /// Bytes that a run allocates: everything but the inputs that are there already.
    pub fn allocated_bytes(&self) -> Result<u64, PlanError> {
        let scratch = (self.scratch_bytes as u64).checked_mul(self.workers as u64);
        let shared = (self.arena_bytes as u64)
            .checked_add(self.exchange_bytes as u64)
            .and_then(|sum| sum.checked_add(self.kept_bytes as u64));
        let sum = scratch
            .zip(shared)
            .and_then(|(scratch, shared)| scratch.checked_add(shared)?.checked_add(self.own_bytes));
        sum.ok_or(PlanError::TooLarge)
    }
}

impl RunPlan {
    /// The most buffers of a launch.
    pub(crate) fn most_buffers(&self) -> usize {
        let buffers = self.steps.iter().map(|(_, step)| match step {
            PlannedStep::Launch { buffers, .. } => buffers.len(),
            PlannedStep::Copy { .. }
            | PlannedStep::Fill { .. }
            | PlannedStep::Product { .. }
            | PlannedStep::Attention { .. }
            | PlannedStep::Scatter { .. }
            | PlannedStep::Sort { .. }
            | PlannedStep::Routine { .. }
            | PlannedStep::Collective(_)
            | PlannedStep::Turn { .. }
            | PlannedStep::Jump { .. } => 0,
        });
        buffers.max().unwrap_or(0)
    }

    /// Each buffer that is a part, with its buffer and its offset in bytes.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let buffers = self.buffers.iter().enumerate();
        buffers.filter_map(|(index, buffer)| match buffer.home {
            Home::Part { of, at } => Some((index, of, at)),
            _ => None,
        })
    }

    /// The loops that have a count of turns.
    pub(crate) fn counts(&self) -> usize {
        let steps = self.steps.iter();
        let counted = steps.filter(|(_, step)| {
            let turns = |goes_on: &GoesOn| matches!(goes_on, GoesOn::Turns { .. });
            matches!(step, PlannedStep::Turn { goes_on, .. } if turns(goes_on))
        });
        counted.count()
    }

    /// The bytes that a run need not allocate if it may overwrite the inputs that it updates.
    pub fn updated_bytes(&self) -> u64 {
        let updated = self
            .buffers
            .iter()
            .filter(|buffer| matches!(buffer.home, Home::Own { update_of: Some(_) }));
        let bytes = updated.map(|buffer| buffer.bytes as u64);
        bytes.fold(0, u64::saturating_add)
    }
}

/// Lets products in loops keep the factors that are inputs, which no step writes; returns the bytes of all.
fn keep(steps: &mut [(usize, PlannedStep)], buffers: &[PlannedBuffer]) -> usize {
    // The loops that begin and end with each step.
    let mut ends = vec![0i64; steps.len() + 1];
    for (at, (_, step)) in steps.iter().enumerate() {
        if let PlannedStep::Jump { to } = step
            && *to < at
        {
            ends[*to] += 1;
            ends[at] -= 1;
        }
    }
    let is_input = |&buffer: &usize| {
        let home = buffers.get(buffer).map(|buffer| buffer.home);
        matches!(home, Some(Home::Input(_)))
    };
    let (mut bytes, mut around) = (0usize, 0);
    for ((_, step), ends) in steps.iter_mut().zip(ends) {
        around += ends;
        if let PlannedStep::Product { product, .. } = step
            && around > 0
        {
            let [left, right, _] = product.buffers;
            bytes += product.keep([left, right].map(|buffer| is_input(&buffer)), bytes);
        }
    }
    bytes
}

impl PlannedStep {
    fn scratch_bytes(&self) -> usize {
        match self {
            PlannedStep::Launch { scratch_bytes, .. } => *scratch_bytes,
            PlannedStep::Product { product, .. } => product.scratch_bytes(),
            PlannedStep::Attention { attention, .. } => attention.scratch_bytes(),
            PlannedStep::Sort { sort, .. } => sort.scratch_bytes(),
            PlannedStep::Copy { .. }
            | PlannedStep::Fill { .. }
            | PlannedStep::Scatter { .. }
            | PlannedStep::Routine { .. }
            | PlannedStep::Collective(_)
            | PlannedStep::Turn { .. }
            | PlannedStep::Jump { .. } => 0,
        }
    }
}

/// The lists of mesh axes over which a program communicates, each once.
fn groups(artifact: &Artifact) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for step in &artifact.steps {
        if let Step::Collective { over, .. } = step
            && !groups.contains(over)
        {
            groups.push(over.clone());
        }
    }
    groups
}

struct Planner<'a> {
    artifact: &'a Artifact,
    extents: &'a [i64],
    workers: usize,
}

impl Planner<'_> {
    fn value(&self, size: &SizeExpr) -> Result<i64, PlanError> {
        size.evaluate(self.extents)
            .map_err(|error| self.size_error(error))
    }

    fn size(&self, size: &SizeExpr) -> Result<usize, PlanError> {
        size.evaluate_size(self.extents)
            .map_err(|error| self.size_error(error))
    }

    fn size_error(&self, error: SizeError) -> PlanError {
        PlanError::Size {
            error,
            extents: self.artifact.extents.clone(),
        }
    }

    /// The offset of a part within its buffer, in which it ends too.
    fn offset(&self, part: &BufferSpec) -> Result<usize, PlanError> {
        let Some((of, at)) = part.part() else {
            return Ok(0);
        };
        let whole = self.artifact.buffers.get(of as usize);
        let bytes = whole.map_or(Ok(0), |whole| self.size(&whole.bytes()))?;
        let at = usize::try_from(at).map_err(|_| PlanError::TooLarge)?;
        let needed = at.saturating_add(self.size(&part.bytes())?);
        match needed <= bytes {
            true => Ok(at),
            false => Err(PlanError::Overrun {
                user: User::Part(part.name.clone()),
                buffer: whole.map_or_else(String::new, |whole| whole.name.clone()),
                needed,
                bytes,
            }),
        }
    }

    fn buffers(&self) -> Result<Vec<PlannedBuffer>, PlanError> {
        let buffer = |(index, spec): (usize, &BufferSpec)| {
            let home = match spec.kind {
                BufferKind::Input(input) if self.artifact.updates_buffer(index as u32) => {
                    Home::Own {
                        update_of: Some(input as usize),
                    }
                }
                BufferKind::Input(input) => Home::Input(input as usize),
                BufferKind::Output(_) | BufferKind::Counts => Home::Own { update_of: None },
                BufferKind::Temp { .. } => Home::Arena(0),
                BufferKind::Part { of, .. } => Home::Part {
                    of: of as usize,
                    at: self.offset(spec)?,
                },
            };
            Ok(PlannedBuffer {
                name: spec.name.clone(),
                bytes: self.size(&spec.bytes())?,
                home,
            })
        };
        self.artifact
            .buffers
            .iter()
            .enumerate()
            .map(buffer)
            .collect()
    }

    /// Gives every temporary its place; also returns the arena's size.
    fn place(
        &self,
        mut buffers: Vec<PlannedBuffer>,
    ) -> Result<(Vec<PlannedBuffer>, usize), PlanError> {
        let lifetime = |(spec, buffer): (&BufferSpec, &PlannedBuffer)| match spec.kind {
            BufferKind::Temp { first, last } => Some(Lifetime {
                bytes: buffer.bytes,
                first,
                last,
            }),
            BufferKind::Input(_)
            | BufferKind::Output(_)
            | BufferKind::Part { .. }
            | BufferKind::Counts => None,
        };
        let pairs = self.artifact.buffers.iter().zip(&buffers);
        let lifetimes: Vec<Lifetime> = pairs.filter_map(lifetime).collect();
        let arena = plan::place(&lifetimes).ok_or(PlanError::TooLarge)?;
        let temporaries = buffers
            .iter_mut()
            .filter_map(|buffer| match &mut buffer.home {
                Home::Arena(offset) => Some(offset),
                Home::Input(_) | Home::Own { .. } | Home::Part { .. } => None,
            });
        temporaries
            .zip(arena.offsets)
            .for_each(|(slot, offset)| *slot = offset);
        Ok((buffers, arena.bytes))
    }

    fn axes(&self, tensor: &TensorSpec) -> Result<Vec<Axis>, PlanError> {
        Ok(bind::axes(tensor, &self.artifact.extents, self.extents)?)
    }

    fn outputs(&self, buffers: &[PlannedBuffer]) -> Result<Vec<Vec<Axis>>, PlanError> {
        let output = |tensor: &TensorSpec| {
            let axes = self.axes(tensor)?;
            let needed = stored_bytes(tensor.dtype, &axes)?;
            let user = || User::Output(tensor.name.clone());
            check_fits(buffers, tensor.buffer, needed, user)?;
            Ok(axes)
        };
        self.artifact.outputs.iter().map(output).collect()
    }

    fn check_inputs(&self, buffers: &[PlannedBuffer]) -> Result<(), PlanError> {
        for tensor in &self.artifact.inputs {
            let bytes = stored_bytes(tensor.dtype, &self.axes(tensor)?)?;
            let needed = buffers
                .get(tensor.buffer as usize)
                .map_or(0, |buffer| buffer.bytes);
            if bytes < needed {
                let input = tensor.name.clone();
                return Err(PlanError::ShortInput {
                    input,
                    needed,
                    bytes,
                });
            }
        }
        Ok(())
    }

    fn steps(&self, buffers: &[PlannedBuffer]) -> Result<Vec<(usize, PlannedStep)>, PlanError> {
        let step = |(index, step): (usize, &Step)| {
            Ok((step.segment() as usize, self.step(index, step, buffers)?))
        };
        self.artifact.steps.iter().enumerate().map(step).collect()
    }

    fn step(
        &self,
        index: usize,
        step: &Step,
        buffers: &[PlannedBuffer],
    ) -> Result<PlannedStep, PlanError> {
        let user = || User::Step(index);
        match step {
            Step::Launch {
                kernel,
                buffers: used,
                extents,
                grid,
                scratch_bytes,
                block,
                product,
                ..
            } => Ok(PlannedStep::Launch {
                bytes: (used
                    .iter()
                    .filter_map(|&buffer| buffers.get(buffer as usize)))
                .fold(0, |sum, buffer| sum.saturating_add(buffer.bytes)),
                kernel: *kernel as usize,
                buffers: used.iter().map(|buffer| *buffer as usize).collect(),
                extents: extents
                    .iter()
                    .map(|size| self.value(size))
                    .collect::<Result<_, _>>()?,
                grid: self.size(grid)? as i64,
                scratch_bytes: self.size(scratch_bytes)?,
                block: *block,
                product: (product.as_deref())
                    .map(|product| self.launched(index, product, buffers))
                    .transpose()?,
            }),
            Step::Copy {
                from, to, elements, ..
            } => {
                let bytes = self.bytes(*from, elements)?;
                check_fits(buffers, *from, bytes, user)?;
                check_fits(buffers, *to, bytes, user)?;
                let (from, to) = (*from as usize, *to as usize);
                Ok(PlannedStep::Copy { from, to, bytes })
            }
            Step::Fill {
                buffer,
                elements,
                bits,
                ..
            } => {
                check_fits(buffers, *buffer, self.bytes(*buffer, elements)?, user)?;
                Ok(PlannedStep::Fill {
                    buffer: *buffer as usize,
                    count: self.size(elements)?,
                    size: self.element_bytes(*buffer),
                    bits: *bits,
                })
            }
            Step::Product {
                tensors,
                added,
                windows,
                ..
            } => {
                let product = self.product(index, tensors, added.as_deref(), windows, buffers)?;
                let calls = product.calls().ok_or(PlanError::TooLarge)?;
                Ok(PlannedStep::Product { product, calls })
            }
            Step::Attention {
                scale,
                causal,
                tensors,
                sums,
                ..
            } => {
                let mut axes = self.factors(index, tensors, buffers)?;
                if let Some(sums) = sums {
                    axes.extend(self.factors(index, std::slice::from_ref(&**sums), buffers)?);
                }
                let sums = sums.as_deref();
                let attention = Attention::new(*scale, *causal, tensors, sums, &axes);
                let attention = attention.ok_or(PlanError::Call { step: index })?;
                let calls = attention.calls().ok_or(PlanError::TooLarge)?;
                Ok(PlannedStep::Attention { attention, calls })
            }
            Step::Scatter {
                combine, tensors, ..
            } => {
                let axes = self.factors(index, &**tensors, buffers)?;
                let scatter = Scatter::new(*combine, &**tensors, &axes);
                let scatter = scatter.ok_or(PlanError::Call { step: index })?;
                let calls = scatter.calls().ok_or(PlanError::TooLarge)?;
                Ok(PlannedStep::Scatter { scatter, calls })
            }
            Step::Routine {
                routine, tensors, ..
            } => {
                let axes = self.factors(index, tensors, buffers)?;
                let routine = Routine::new(*routine, tensors, &axes);
                let routine = routine.ok_or(PlanError::Call { step: index })?;
                let calls = routine.calls().ok_or(PlanError::TooLarge)?;
                Ok(PlannedStep::Routine { routine, calls })
            }
            Step::Turn {
                turns,
                condition,
                end,
                ..
            } => {
                let before = self.artifact.steps[..index].iter();
                let counted = |step: &&Step| matches!(step, Step::Turn { turns: Some(_), .. });
                let goes_on = match (turns, condition) {
                    (None, Some(buffer)) => GoesOn::Condition(*buffer as usize),
                    (turns, _) => GoesOn::Turns {
                        turns: turns.as_ref().map_or(Ok(0), |turns| self.value(turns))?,
                        count: before.filter(counted).count(),
                    },
                };
                if let Some(buffer) = condition {
                    check_fits(buffers, *buffer, 1, user)?;
                }
                Ok(PlannedStep::Turn {
                    goes_on,
                    end: *end as usize,
                })
            }
            Step::Jump { to, .. } => Ok(PlannedStep::Jump { to: *to as usize }),
            Step::Collective {
                op, over, from, to, ..
            } => {
                if !self.artifact.target.is_cpu() {
                    return Err(PlanError::NoCollectives { kind: op.name() });
                }
                let axes = |tensor: &TensorSpec| {
                    let axes = self.axes(tensor)?;
                    let needed = stored_bytes(tensor.dtype, &axes)?;
                    check_fits(buffers, tensor.buffer, needed, user)?;
                    Ok::<_, PlanError>((axes, needed))
                };
                let read = from.as_deref().map(axes).transpose()?;
                let (written, bytes) = axes(to)?;
                let groups = groups(self.artifact);
                let group = groups.iter().position(|own| own == over);
                let mesh = self.artifact.mesh.as_ref();
                let devices = mesh.map_or(1, |mesh| mesh.group_size(over));
                let read = read.as_ref().map(|(axes, _)| &axes[..]);
                let collective = Collective::new(
                    op,
                    (group.unwrap_or(0), devices),
                    from.as_deref().zip(read),
                    (to, &written),
                    bytes,
                );
                let collective = collective.ok_or(PlanError::Call { step: index })?;
                Ok(PlannedStep::Collective(Box::new(collective)))
            }
            Step::Sort {
                descending,
                values,
                tensors,
                ..
            } => {
                let axes = self.factors(index, &**tensors, buffers)?;
                let sort = Sort::new(*descending, *values, tensors, &axes);
                let sort = sort.ok_or(PlanError::Call { step: index })?;
                let calls = sort.calls().ok_or(PlanError::TooLarge)?;
                let stages = sort.stages(self.workers);
                Ok(PlannedStep::Sort {
                    sort,
                    stages,
                    calls,
                })
            }
        }
    }

    /// The product that a launch computes.
    fn launched(
        &self,
        step: usize,
        launched: &GpuProduct,
        buffers: &[PlannedBuffer],
    ) -> Result<LaunchedProduct, PlanError> {
        let product = self.product(step, &launched.factors, None, &[], buffers)?;
        let bias = launched.bias.as_slice();
        let columns = self.axes(&launched.factors[2].tensor)?;
        let columns = columns.last().map(|axis| axis.extent);
        let axes = self.factors(step, bias, buffers)?;
        let mut bias = bias.iter().zip(axes).map(|(bias, axes)| match axes[..] {
            [axis] if Some(axis.extent) == columns => {
                Ok((bias.tensor.buffer as usize, !axis.broadcast))
            }
            _ => Err(PlanError::Call { step }),
        });
        Ok(LaunchedProduct {
            product,
            bias: bias.next().transpose()?,
        })
    }

    /// The product of these tensors.
    fn product(
        &self,
        step: usize,
        tensors: &[Factor; 3],
        added: Option<&Factor>,
        windows: &[Window],
        buffers: &[PlannedBuffer],
    ) -> Result<Product, PlanError> {
        let axes = self.factors(step, tensors, buffers)?;
        let pairs = [0, 1, 2].map(|which| (&tensors[which], axes[which].as_slice()));
        let own = match added {
            Some(added) => self.factors(step, std::slice::from_ref(added), buffers)?,
            None => Vec::new(),
        };
        let added = added.zip(own.first().map(Vec::as_slice));
        Product::new(pairs, added, windows, self.workers).ok_or(PlanError::Call { step })
    }

    /// The axes of the tensors of a call, after a check that each tensor fits its buffer.
    fn factors(
        &self,
        step: usize,
        tensors: &[Factor],
        buffers: &[PlannedBuffer],
    ) -> Result<Vec<Vec<Axis>>, PlanError> {
        let axes = |factor: &Factor| {
            let axes = self.axes(&factor.tensor)?;
            let needed = stored_bytes(factor.tensor.dtype, &axes)?;
            check_fits(buffers, factor.tensor.buffer, needed, || User::Step(step))?;
            Ok(axes)
        };
        tensors.iter().map(axes).collect()
    }

    fn element_bytes(&self, buffer: u32) -> usize {
        let spec = self.artifact.buffers.get(buffer as usize);
        spec.map_or(1, |spec| spec.dtype.bytes())
    }

    fn bytes(&self, buffer: u32, elements: &SizeExpr) -> Result<usize, PlanError> {
        let bytes = self.size(elements)?.checked_mul(self.element_bytes(buffer));
        bytes.ok_or(PlanError::TooLarge)
    }

    fn segments(&self) -> Result<Vec<SegmentReport>, PlanError> {
        self.artifact
            .segments
            .iter()
            .map(|segment| self.segment(segment))
            .collect()
    }

    fn segment(&self, segment: &SegmentInfo) -> Result<SegmentReport, PlanError> {
        let values = segment.values.iter().map(|value| {
            Ok(ValueReport {
                name: value.name.clone(),
                direction: value.direction,
                bytes: self.value(&value.bytes)?,
            })
        });
        Ok(SegmentReport {
            name: segment.name.clone(),
            label: segment.label.clone(),
            kind: segment.kind,
            ops: segment.ops,
            sweeps: segment.sweeps,
            read_bytes: self.value(&segment.read_bytes)?,
            write_bytes: self.value(&segment.write_bytes)?,
            values: values.collect::<Result<_, PlanError>>()?,
            time_ms: 0.0,
            samples_ms: Vec::new(),
        })
    }
}

fn check_fits(
    buffers: &[PlannedBuffer],
    index: u32,
    needed: usize,
    user: impl Fn() -> User,
) -> Result<(), PlanError> {
    match buffers.get(index as usize) {
        Some(buffer) if needed > buffer.bytes => Err(PlanError::Overrun {
            user: user(),
            buffer: buffer.name.clone(),
            needed,
            bytes: buffer.bytes,
        }),
        _ => Ok(()),
    }
}

//! The data of an artifact. Numbers such as `buffer: u32` are positions in the artifact's own lists.

use serde::{Deserialize, Serialize};

use crate::dtype::DType;
use crate::hex;
use crate::mesh::Mesh;
use crate::size::SizeExpr;

/// The newest version of the format, which is the version written. A reader accepts every version up to its own.
///
/// Changes by version. 2: tensors have an order of axes in memory. 3: the text has a checksum. 4: a program may have
/// versions. 5: products. 6: scatters and sorts, counts of blocks. 7: multiples of extents, attention. 8: ranges of
/// these. 9: products of launches. 10: bounds of grids. 11: code for tensors at any address. 12: kernels of a CPU that
/// store whole cache lines. 13: scatters in the memory of their `dest`. 14: loops. 15: logarithms of the sums of
/// attention. 16: routines. 18: meshes, collectives. 19: buffers
/// that are parts of others. 20: branches; a step that jumps was called `again`, and a segment of kind `control` `loop`.
/// 21: AMD GPUs.
pub const VERSION: u32 = 21;

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub version: u32,
    pub target: Target,
    /// The program's symbol.
    pub program: String,
    /// The names of the extents in sizes. Their values come with the inputs of a run.
    pub extents: Vec<String>,
    pub inputs: Vec<TensorSpec>,
    pub outputs: Vec<TensorSpec>,
    pub buffers: Vec<BufferSpec>,
    pub kernels: Vec<KernelCode>,
    /// The steps of a run, in order.
    pub steps: Vec<Step>,
    pub segments: Vec<SegmentInfo>,
    /// The inputs that a run overwrites, ascending. An output lives in the buffer of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<u32>,
    /// Conditions on the extents under which this version runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Bound>,
    /// Further conditions: extents that are multiples of a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub multiples: Vec<Multiple>,
    /// The devices that each run the program once; `None` for a single device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<Mesh>,
    /// The version that runs if a requirement does not hold: the same program with its own kernels, buffers and steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<Artifact>>,
}

/// The amount of a resource that a kernel needs, and its limit. On a GPU: bytes of shared memory, or blocks; beyond the
/// limit the kernel cannot run. On a CPU: bytes of the caches; beyond the limit it is slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    pub kernel: u32,
    /// Called `bytes` up to version 9.
    #[serde(alias = "bytes")]
    pub amount: SizeExpr,
    pub at_most: u64,
}

impl Bound {
    /// True if these extents satisfy the requirement of the kernel.
    pub fn holds(&self, extents: &[i64]) -> bool {
        let amount = self.amount.evaluate_size(extents);
        amount.is_ok_and(|amount| amount as u64 <= self.at_most)
    }
}

/// An extent, by its number, with the requirement that it is a multiple of a positive number, and perhaps in a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Multiple {
    pub extent: u32,
    pub of: u32,
    /// Its least and its greatest length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<[u32; 2]>,
}

impl Multiple {
    /// True if it is one, given the extents.
    pub fn holds(&self, extents: &[i64]) -> bool {
        let value = extents.get(self.extent as usize);
        let within = |value: i64| {
            let inside =
                |[least, most]: [u32; 2]| i64::from(least) <= value && value <= most.into();
            self.within.is_none_or(inside)
        };
        value.is_some_and(|&value| value.checked_rem(self.of.into()) == Some(0) && within(value))
    }
}

impl Artifact {
    /// An artifact of the current version with nothing in it.
    pub fn new(program: impl Into<String>, target: Target) -> Artifact {
        Artifact {
            version: VERSION,
            target,
            program: program.into(),
            extents: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            buffers: Vec::new(),
            kernels: Vec::new(),
            steps: Vec::new(),
            segments: Vec::new(),
            updates: Vec::new(),
            requires: Vec::new(),
            multiples: Vec::new(),
            mesh: None,
            otherwise: None,
        }
    }

    /// The versions of the program, in the order in which their requirements are tested.
    pub fn versions(&self) -> impl Iterator<Item = &Artifact> {
        std::iter::successors(Some(self), |version| version.otherwise.as_deref())
    }

    /// The number of the version that runs with these extents: the first whose requirements all hold, or the last.
    pub fn version(&self, extents: &[i64]) -> usize {
        let mut last = 0;
        for (number, version) in self.versions().enumerate() {
            last = number;
            if version.runs_under(extents) {
                break;
            }
        }
        last
    }

    /// True if all holds that this version requires of the extents.
    pub fn runs_under(&self, extents: &[i64]) -> bool {
        self.requires.iter().all(|bound| bound.holds(extents))
            && self
                .multiples
                .iter()
                .all(|multiple| multiple.holds(extents))
    }

    /// The number of that version, counted from 1, and how many there are.
    pub fn version_of(&self, extents: &[i64]) -> (usize, usize) {
        (self.version(extents) + 1, self.versions().count())
    }

    /// True if a run writes to the memory of an input (an in-place update). An output in the buffer of any other input
    /// is a view of that input.
    pub fn updates_buffer(&self, buffer: u32) -> bool {
        let inputs = self
            .updates
            .iter()
            .filter_map(|&i| self.inputs.get(i as usize));
        inputs.into_iter().any(|input| input.buffer == buffer)
    }
}

/// The machine that the kernels are for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Cpu {
        triple: String,
        cpu: String,
        features: String,
    },
    /// `sm` is the compute capability: 80 for 8.0.
    Cuda { sm: u32 },
    /// An AMD GPU, by LLVM's name: `gfx942`. No device of the runtime is one.
    Hip { processor: String },
}

impl Target {
    /// The family of machines, with its article.
    pub fn family(&self) -> &'static str {
        match self {
            Target::Cpu { .. } => "a CPU",
            Target::Cuda { .. } => "an NVIDIA GPU",
            Target::Hip { .. } => "an AMD GPU",
        }
    }
    /// True for a CPU: steps call routines of the runtime. Kernels of a GPU are launched in blocks, and may count them.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Target::Cpu { .. })
    }
}

/// An input or output of the program.
///
/// The layout is dense over the stored axes, which are those without `broadcast`, row-major unless `order` says
/// otherwise. A scalar has no axes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorSpec {
    pub name: String,
    pub dtype: DType,
    pub dims: Vec<DimSpec>,
    /// The axes from the outermost to the innermost in memory; empty for row-major.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
    /// The buffer that holds the tensor. An input has a buffer of its own; outputs may share one, even an input's.
    pub buffer: u32,
}

impl TensorSpec {
    /// The number of elements in memory: broadcast axes count once.
    pub fn stored_elements(&self) -> SizeExpr {
        let stored = self.dims.iter().filter(|dim| !dim.broadcast);
        SizeExpr::product(stored.map(|dim| dim.extent.clone()))
    }
}

/// An axis of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimSpec {
    pub extent: SizeExpr,
    /// True if the axis is stored once for any extent (stride 0).
    #[serde(default)]
    pub broadcast: bool,
}

impl DimSpec {
    pub fn stored(extent: impl Into<SizeExpr>) -> DimSpec {
        DimSpec {
            extent: extent.into(),
            broadcast: false,
        }
    }

    pub fn broadcast(extent: impl Into<SizeExpr>) -> DimSpec {
        DimSpec {
            extent: extent.into(),
            broadcast: true,
        }
    }
}

/// A piece of memory that steps read and write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferSpec {
    pub name: String,
    pub dtype: DType,
    pub elements: SizeExpr,
    pub kind: BufferKind,
}

impl BufferSpec {
    /// The buffer's offset in bytes within the buffer that it is a part of, with that buffer.
    pub fn part(&self) -> Option<(u32, u64)> {
        match self.kind {
            BufferKind::Part { of, at } => Some((of, at.saturating_mul(self.dtype.bytes() as u64))),
            _ => None,
        }
    }
    /// The buffer's size in bytes.
    pub fn bytes(&self) -> SizeExpr {
        self.elements.clone() * SizeExpr::constant(self.dtype.bytes() as i64)
    }
}

/// The owner of a buffer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BufferKind {
    /// The program's input of that number. Steps write to it only if the artifact lists it in `updates`.
    Input(u32),
    /// The program's output of that number.
    Output(u32),
    /// Memory that is live from step `first` to step `last`, both included. Its contents before and after are
    /// undefined, and other temporaries may share the memory then.
    Temp { first: u32, last: u32 },
    /// Part of the buffer `of`, a temporary or an output, from its element `at` on. It lives as long as that buffer, and
    /// no step uses both with one of them written.
    Part { of: u32, at: u64 },
    /// Counters of GPU launches: 0 before the first run, and reset to 0 by each launch. No two launches use them at the
    /// same time.
    Counts,
}

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCode {
    /// The kernel's name for people.
    pub name: String,
    /// Its entry in the code.
    pub symbol: String,
    pub code: Code,
    /// Static shared memory of a block, in addition to the memory given by launches.
    #[serde(default)]
    pub shared_bytes: u64,
    /// The GPU kernel for tensors that begin at multiples of their elements' size, if requested. `code` is for
    /// multiples of [`BUFFER_ALIGN`](crate::limits::BUFFER_ALIGN).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any_address: Option<Code>,
    /// True if a CPU kernel stores whole cache lines past the cache: its outputs must begin at a multiple of
    /// [`BUFFER_ALIGN`](crate::limits::BUFFER_ALIGN). False if its outputs may have any address aligned to their
    /// elements.
    #[serde(default = "stores_lines", skip_serializing_if = "Clone::clone")]
    pub lines: bool,
}

/// The kernels of earlier versions say nothing.
fn stores_lines() -> bool {
    true
}

impl KernelCode {
    /// True if the kernel multiplies on tensor cores, which truncate sums that other arithmetic rounds to nearest.
    pub fn uses_tensor_cores(&self) -> bool {
        match &self.code {
            Code::Object(_) => false,
            Code::Ptx(text) => text.contains("mma.sync."),
        }
    }
}

/// Machine code in the form that its loader takes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// A relocatable object file for the target's triple.
    Object(#[serde(with = "hex")] Vec<u8>),
    Ptx(String),
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Code::Object(bytes) => write!(f, "Object({} bytes)", bytes.len()),
            Code::Ptx(text) => write!(f, "Ptx({} bytes)", text.len()),
        }
    }
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Runs a kernel; [`abi`](crate::abi) says how it is called.
    Launch {
        kernel: u32,
        segment: u32,
        buffers: Vec<u32>,
        extents: Vec<SizeExpr>,
        /// The number of grid iterations; the kernel is not called for 0.
        grid: SizeExpr,
        /// Scratch memory per worker on the CPU, dynamic shared memory per block on a GPU.
        scratch_bytes: SizeExpr,
        /// Threads of a block; 1 on the CPU.
        block: u32,
        /// The matrix product that the kernel computes, if it computes nothing else and a GPU library found at run time
        /// may compute it instead. On a GPU only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        product: Option<Box<GpuProduct>>,
    },
    /// Copies the first `elements` elements of `from` to the start of `to`. The two buffers differ.
    Copy {
        segment: u32,
        from: u32,
        to: u32,
        elements: SizeExpr,
    },
    /// Sets the first `elements` elements of `buffer` to the value whose bits are the low bits of `bits`.
    Fill {
        segment: u32,
        buffer: u32,
        elements: SizeExpr,
        bits: u64,
    },
    /// A product: for each index of the result, the sum of the products of the factors along the axes that the result
    /// does not have, accumulated in the accumulator type of the factors. On the CPU only.
    Product {
        segment: u32,
        /// The two factors, and the result.
        tensors: Box<[Factor; 3]>,
        /// A tensor of the result's loops and type, f32 or f64, that is added to the sums. It may have the result's
        /// memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        added: Option<Box<Factor>>,
        /// The axes of the first factor that are read through windows, each with a loop that ends: a convolution has
        /// them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        windows: Vec<Window>,
    },
    /// Attention: for each index of the result, the sum along the keys of the values times the softmax of the scores,
    /// in f32. On the CPU only.
    Attention {
        segment: u32,
        /// The scale of the scores, as the bits of an f32. `None` for the default, one over the root of the number of
        /// terms.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<u32>,
        /// True if no query sees a later key.
        causal: bool,
        /// Queries, keys, values, an optional bias, and the result. Loops `0..rank` are the result's axes, loop `rank`
        /// is the axis of the keys, loop `rank + 1` the axis of the terms of a score.
        tensors: Vec<Factor>,
        /// A second result, f32: the logarithm of the sum of the exponentials of each query's scores. It has all loops
        /// of the first result except the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sums: Option<Box<Factor>>,
    },
    /// A scatter: copies a tensor and writes elements into the copy at indices along an axis, in the order of the
    /// indices. Indices out of range are ignored. On the CPU only.
    Scatter {
        segment: u32,
        combine: Combine,
        /// The copied tensor, the indices, the elements (with loop `rank` instead of that of the axis), and the result.
        tensors: Box<[Factor; 4]>,
    },
    /// Sorts lines, stably, a NaN as the greatest. On the CPU only.
    Sort {
        segment: u32,
        descending: bool,
        /// True where the result has the elements, not their indices.
        values: bool,
        /// The operand (with loop `rank` instead of that of the axis), and the result.
        tensors: Box<[Factor; 2]>,
    },
    /// A routine: computes the results' matrices or lines from those of the operands. On the CPU only.
    Routine {
        segment: u32,
        routine: Routine,
        /// Operands, then results. Batch loops come first. The other loops are the axes of a matrix (rows first) or of
        /// a line.
        tensors: Vec<Factor>,
    },
    /// A communication among the devices of a group, which differ only along the axes of `over`. On the CPU only.
    Collective {
        segment: u32,
        op: Collective,
        /// Axes of the mesh, each once. The index of a device in its group is row-major over them.
        over: Vec<u32>,
        /// The operand; none of [`Collective::AxisIndex`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Box<TensorSpec>>,
        to: Box<TensorSpec>,
    },
    /// Begins a turn of a loop, whose steps follow, or continues with the step `end` after the last turn. With `turns`,
    /// the loop makes that many turns each time it is entered. With `condition`, a turn begins if the first element of
    /// that buffer, a truth value, is not 0. Begins the first side of a branch likewise; the second side begins with the
    /// step `end`.
    Turn {
        segment: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turns: Option<SizeExpr>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        condition: Option<u32>,
        end: u32,
    },
    /// Continues with the step `to`. At the end of a turn it is an earlier one, which begins the next turn or computes
    /// its condition; at the end of the first side of a branch it is the step after the second side.
    #[serde(alias = "again")]
    Jump { segment: u32, to: u32 },
}

/// A function of whole matrices or lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Routine {
    Cholesky {
        upper: bool,
    },
    Solve {
        right: bool,
        upper: bool,
        transpose: bool,
        unit: bool,
    },
    Lu,
    Qr,
    Reflections,
    Eigh {
        upper: bool,
    },
    Svd,
    Fourier {
        inverse: bool,
    },
}

impl Routine {
    /// For each operand and each result: 2 for a matrix, 1 for a vector or a line. These axes come after the batch
    /// axes.
    pub fn axes(self) -> (&'static [usize], &'static [usize]) {
        match self {
            Routine::Cholesky { .. } => (&[2], &[2]),
            Routine::Solve { .. } => (&[2, 2], &[2]),
            Routine::Lu | Routine::Qr | Routine::Eigh { .. } => (&[2], &[2, 1]),
            Routine::Reflections => (&[2, 1], &[2]),
            Routine::Svd => (&[2], &[2, 1, 2]),
            Routine::Fourier { .. } => (&[1, 1], &[1, 1]),
        }
    }

    /// True if result `index` has indices, not numbers of the operands' type.
    pub fn indexes(self, index: usize) -> bool {
        self == Routine::Lu && index == 1
    }
}

/// A communication. Indices are those of devices in the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collective {
    /// The device's own index, an i32 without axes.
    AxisIndex,
    /// Combines the operands of all devices element by element, from the first device on.
    AllReduce(Combine),
    /// Concatenates the operands of all devices along an axis.
    AllGather { dim: u32 },
    /// Splits the result of [`AllReduce`](Self::AllReduce) along an axis, and gives each device the part with its
    /// index.
    ReduceScatter { combine: Combine, dim: u32 },
    /// Splits the operand along `split`, and sends part `j` to device `j`. Received parts are concatenated along
    /// `concat`, in the order of their senders.
    AllToAll { split: u32, concat: u32 },
    /// Sends the operand of the first device of each pair to the second one; a device that receives none has zeros.
    Permute { pairs: Vec<[u32; 2]> },
    /// The operand of one device.
    Broadcast { root: u32 },
}

impl Collective {
    /// The name for messages and reports: the op's name.
    pub fn name(&self) -> &'static str {
        match self {
            Collective::AxisIndex => "axis_index",
            Collective::AllReduce(_) => "all_reduce",
            Collective::AllGather { .. } => "all_gather",
            Collective::ReduceScatter { .. } => "reduce_scatter",
            Collective::AllToAll { .. } => "all_to_all",
            Collective::Permute { .. } => "collective_permute",
            Collective::Broadcast { .. } => "collective_broadcast",
        }
    }
}

/// The function that combines an element with the value written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Combine {
    Set,
    Add,
    Mul,
    Max,
    Min,
}

/// A tensor of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    pub tensor: TensorSpec,
    /// For each axis, the loop that gives its index: loops `0..rank` are the result's axes, loop `rank` is reduced.
    pub loops: Vec<u32>,
}

/// An axis of a factor that is read through windows. At index `r` of the axis' loop and `k` of the loop `place`, it
/// reads element `(r * stride + k * dilation - low) / base_dilation`, or 0 if that is not a whole number or outside of
/// the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub axis: u32,
    pub place: u32,
    pub stride: i64,
    pub low: i64,
    pub dilation: i64,
    pub base_dilation: i64,
}

/// A product that is a kernel of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuProduct {
    /// The two factors, and the result.
    pub factors: [Factor; 3],
    /// The bias, added to the sums in the type that accumulates: one axis, the last one of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<Factor>,
}

impl GpuProduct {
    /// All tensors.
    pub fn tensors(&self) -> impl Iterator<Item = &Factor> {
        self.factors.iter().chain(&self.bias)
    }
}

impl Step {
    /// The segment that the step belongs to.
    pub fn segment(&self) -> u32 {
        match self {
            Step::Launch { segment, .. }
            | Step::Copy { segment, .. }
            | Step::Fill { segment, .. }
            | Step::Product { segment, .. }
            | Step::Attention { segment, .. }
            | Step::Scatter { segment, .. }
            | Step::Sort { segment, .. }
            | Step::Routine { segment, .. }
            | Step::Collective { segment, .. }
            | Step::Turn { segment, .. }
            | Step::Jump { segment, .. } => *segment,
        }
    }

    /// Every buffer that the step reads or writes.
    pub fn buffers(&self) -> Vec<u32> {
        match self {
            Step::Launch { buffers, .. } => buffers.clone(),
            Step::Copy { from, to, .. } => vec![*from, *to],
            Step::Fill { buffer, .. } => vec![*buffer],
            Step::Product { tensors, added, .. } => {
                let all = tensors.iter().chain(added.as_deref());
                all.map(|factor| factor.tensor.buffer).collect()
            }
            Step::Attention { tensors, sums, .. } => {
                let all = tensors.iter().chain(sums.as_deref());
                all.map(|factor| factor.tensor.buffer).collect()
            }
            Step::Scatter { tensors, .. } => {
                tensors.iter().map(|factor| factor.tensor.buffer).collect()
            }
            Step::Sort { tensors, .. } => {
                tensors.iter().map(|factor| factor.tensor.buffer).collect()
            }
            Step::Routine { tensors, .. } => {
                tensors.iter().map(|factor| factor.tensor.buffer).collect()
            }
            Step::Collective { from, to, .. } => {
                let tensors = from.iter().chain([to]);
                tensors.map(|tensor| tensor.buffer).collect()
            }
            Step::Turn { condition, .. } => condition.iter().copied().collect(),
            Step::Jump { .. } => Vec::new(),
        }
    }
}

/// A segment of the program as compiled, for reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentInfo {
    pub name: String,
    /// The most characteristic ops of the kernel, and the number of its name; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    pub kind: SegmentKind,
    /// The number of ops of the program that it computes.
    pub ops: u32,
    /// The number of walks over its iteration space.
    pub sweeps: u32,
    /// Bytes that it reads from and writes to global memory, by the model that made the plan.
    pub read_bytes: SizeExpr,
    pub write_bytes: SizeExpr,
    /// The values that cross its boundary.
    pub values: Vec<SegmentValue>,
}

/// The way in which a segment runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SegmentKind {
    Kernel,
    /// Nothing runs: its outputs are other tensors, seen differently.
    View,
    Copy,
    /// A call of a library.
    Library,
    /// A loop, a branch or a program of devices: programs that have segments of their own.
    #[serde(alias = "loop")]
    Control,
    /// A part of a turn of a loop: the kernel of the loop computes it.
    Turn,
    /// A communication of several devices.
    Collective,
}

impl SegmentKind {
    pub fn name(self) -> &'static str {
        match self {
            SegmentKind::Kernel => "kernel",
            SegmentKind::View => "view",
            SegmentKind::Copy => "copy",
            SegmentKind::Library => "library",
            SegmentKind::Control => "control",
            SegmentKind::Turn => "turn",
            SegmentKind::Collective => "collective",
        }
    }
}

/// A value that crosses a segment's boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentValue {
    pub name: String,
    pub direction: Direction,
    pub bytes: SizeExpr,
}

/// The direction in which a value crosses the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Read,
    Write,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broadcast_axis_is_stored_once() {
        let tensor = TensorSpec {
            name: "x".to_string(),
            dtype: DType::Bf16,
            dims: vec![
                DimSpec::stored(SizeExpr::extent(0)),
                DimSpec::broadcast(1024),
                DimSpec::stored(8),
            ],
            order: Vec::new(),
            buffer: 0,
        };
        assert_eq!(tensor.stored_elements().evaluate(&[5]), Ok(40));
        let scalar = TensorSpec {
            dims: Vec::new(),
            ..tensor
        };
        assert_eq!(scalar.stored_elements().evaluate(&[]), Ok(1));
    }
}

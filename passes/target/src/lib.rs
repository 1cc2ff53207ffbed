//! A target is a description of the machine that a program is compiled for: what its memory holds and moves, what its
//! arithmetic and its launches cost, what a kernel may ask for at most, and which code it runs. One [`Target`] goes
//! through the whole compiler; no pass has figures of its own.
//!
//! ```
//! use fuser_target::{Target, text};
//!
//! let h100 = Target::by_name("h100").unwrap();
//! assert_eq!((h100.capability, h100.shared_per_block_optin), (90, 227 << 10));
//! // What is printed reads back.
//! assert_eq!(text::read(&text::print(&h100)).unwrap(), h100);
//! // A newer GPU runs the newest code that is known for an older one.
//! assert_eq!(Target::by_name("cuda:sm_103").unwrap().capability, 100);
//! ```
//!
//! Reading order: this file (the description), `table` (the targets known by name), `processors` (levels of x86-64),
//! `text` (targets as text and back).
//!
//! Plain data: knows neither IR nor LLVM nor devices nor files. The figures are public (data sheets, programming
//! guides). They rank plans and bound kernels; they do not predict times to the per cent.

#![forbid(unsafe_code)]

mod name;
pub mod processors;
pub mod table;
pub mod text;

pub use name::Name;
pub use table::{A100, GENERIC, H100, MI300X, TINY, TINY_GPU, UnknownTarget};

/// The kind of a target machine: a family of processors with the same abilities and the same code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A CPU: a worker is a thread, and a worker's fast memory its share of the caches.
    Cpu,
    /// An NVIDIA GPU: a worker is a thread block, and its fast memory the shared memory that it asks for.
    Cuda,
    /// An AMD GPU: a worker is a workgroup, and its fast memory the local data share that it asks for.
    Hip,
}

/// The abilities of a kind of machine. A pass asks for the ability that its code needs, and names no kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// A worker is a block of threads: they share the innermost loops, exchange values, and wait for each other at
    /// barriers. Without it, a worker is one thread.
    pub block_threads: bool,
    /// Values are vectors in registers, whose lanes a kernel shuffles and masks.
    pub vectors: bool,
    /// The last block of a launch combines the partial results of all blocks. Without it, another launch does.
    pub last_block: bool,
    /// Steps of a program call routines of the runtime: products, sorts, scatters, attention, factors. Without it, they
    /// are kernels, or refused.
    pub routines: bool,
    /// A matrix product is a kernel of its own: `mma` on tensor cores, or fused multiply-adds of tiles.
    pub product_kernels: bool,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Cpu, Kind::Cuda, Kind::Hip];
    /// The word in text.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Cpu => "cpu",
            Kind::Cuda => "cuda",
            Kind::Hip => "hip",
        }
    }
    /// The abilities of this kind.
    pub const fn abilities(self) -> Abilities {
        match self {
            Kind::Cpu => Abilities {
                block_threads: false,
                vectors: true,
                last_block: false,
                routines: true,
                product_kernels: false,
            },
            Kind::Cuda => Abilities {
                block_threads: true,
                vectors: false,
                last_block: true,
                routines: false,
                product_kernels: true,
            },
            Kind::Hip => Abilities {
                product_kernels: false,
                ..Kind::Cuda.abilities()
            },
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A plain number.
    Count,
    /// Bytes.
    Bytes,
    /// Bytes per microsecond, which are megabytes per second.
    Bandwidth,
    /// Operations per microsecond, which are millions per second.
    Rate,
    /// Nanoseconds.
    Time,
    /// 0 or 1, `false` or `true` in text.
    Flag,
}

/// A figure of a target, as it appears in text.
pub struct Figure {
    /// The key.
    pub key: &'static str,
    /// A sentence on its meaning.
    pub doc: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The kinds of target that have it.
    pub of: &'static [Kind],
    /// Least and greatest value.
    pub range: (u64, u64),
    /// Reads it.
    pub get: fn(&Target) -> u64,
    /// Writes it.
    pub set: fn(&mut Target, u64),
}

impl Figure {
    /// True if targets of this kind have it.
    pub fn is_of(&self, kind: Kind) -> bool {
        self.of.contains(&kind)
    }
}

/// Declares the figures once: as fields, and as rows for reading and printing text.
macro_rules! figures {
    ($($key:literal $field:ident $unit:ident $of:expr, $low:literal $(..= $high:expr)?, $doc:literal;)*) => {
        /// A machine.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Target {
            /// The name in messages.
            pub name: Name,
            /// The family of processors.
            pub kind: Kind,
            /// The processor for which code is made, of a kind that names them: one of [`processors::of`].
            pub processor: &'static str,
            $(#[doc = $doc] pub $field: u64,)*
        }

        /// The figures of a target, in the order in which they are printed.
        pub static FIGURES: &[Figure] = &[$(Figure {
            key: $key,
            doc: $doc,
            unit: Unit::$unit,
            of: $of,
            range: ($low, figures!(@high $($high)?)),
            get: |target| target.$field,
            set: |target, value| target.$field = value,
        },)*];
    };
    (@high $high:expr) => { $high };
    (@high) => { MOST };
}

/// An upper bound of all figures: sums and products of a few stay within 64 bits.
const MOST: u64 = 1 << 50;

/// The longest tile and the most partial results. These counts become lengths of axes in the IR.
const COUNTS: u64 = 1 << 30;

/// The most threads of a block on any GPU.
const THREADS: u64 = 1024;

/// The most blocks of a cluster on every GPU that has clusters (CUDA C++ Programming Guide, "Thread Block Clusters").
const CLUSTER: u64 = 8;

const ANY: &[Kind] = &Kind::ALL;
const CPU: &[Kind] = &[Kind::Cpu];
const CUDA: &[Kind] = &[Kind::Cuda];
/// The kinds whose workers are blocks of threads.
const BLOCKS: &[Kind] = &[Kind::Cuda, Kind::Hip];

figures! {
    "workers" workers Count ANY, 1 ..= 1 << 20, "workers that run at once: cores, or multiprocessors";
    "memory" memory_bytes Bytes ANY, 1, "slow memory: what tensors live in";
    "l2-cache" l2_bytes Bytes ANY, 0, "second-level cache: of a core, or of the whole GPU";
    "l1-cache" l1_bytes Bytes ANY, 0, "first-level cache of a worker";
    "last-cache" last_cache_bytes Bytes CPU, 0, "the cache that all cores share; results that exceed it are stored past the caches";
    "ask-ahead" ask_ahead_bytes Bytes CPU, 0, "how far ahead a loop that stores past the caches, or stores nothing, asks for what it loads; 0 where a processor needs no asking";
    "bandwidth" bytes_per_us Bandwidth ANY, 1, "what slow memory moves";
    "arithmetic" flops_per_us Rate ANY, 1, "simple operations";
    "link" link_bytes_per_us Bandwidth ANY, 1, "what a device sends to others of a mesh at a time, in each direction";
    "message" message_ns Time ANY, 0, "what a message to another device takes, besides its bytes";
    "launch" launch_ns Time ANY, 0, "what starting a kernel takes";
    "jump" jump_ns Time ANY, 0, "what one worker waits where a walk goes on in memory elsewhere than where it ended";
    "tile-memory" tile_bytes Bytes ANY, 0, "fast memory that one worker may fill with a resident tile";
    "capability" capability Count CUDA, 80 ..= 199, "compute capability times ten";
    "ptx" ptx Count CUDA, 70 ..= 199, "version of PTX times ten that code for this capability has";
    "shared-memory" shared_per_block Bytes BLOCKS, 0, "shared memory that any block may have";
    "shared-memory-opt-in" shared_per_block_optin Bytes BLOCKS, 0, "shared memory that a block may have that asks for it";
    "shared-memory-per-sm" shared_per_sm Bytes BLOCKS, 0, "shared memory of all blocks on a multiprocessor";
    "registers" registers Count BLOCKS, 1, "32-bit registers of a multiprocessor";
    "resident-threads" resident_threads Count BLOCKS, 32, "threads of all blocks that stand on a multiprocessor, as plans count on";
    "exchange" exchange Count BLOCKS, 0, "simple operations in the time in which a thread takes a value from another thread of its warp";
    "block-threads" block_threads Count BLOCKS, 32 ..= THREADS, "most threads of a block";
    "cluster-blocks" cluster_blocks Count BLOCKS, 1 ..= CLUSTER, "most blocks of a cluster; 1 where there are none";
    "grid-blocks" grid_blocks Count BLOCKS, 1 ..= (1 << 31) - 1, "most blocks of a grid";
    "vector" vector_bytes Bytes ANY, 1 ..= 256, "a vector as kernels have it: registers of a core, or the widest load of a thread";
    "lanes-by-memory" lanes_by_memory Flag ANY, 0 ..= 1, "lanes are counted on the type in memory, not on the one that computes";
    "masks" masks Flag CPU, 0 ..= 1, "some lanes of a vector are loaded and stored like all: what vectors leave over of a row is one more";
    "threads" threads Count ANY, 1 ..= THREADS, "threads of a worker";
    "tile" tile Count ANY, 1 ..= COUNTS, "elements of a tile along a contiguous axis that is not resident as a whole";
    "narrow-tile" narrow_tile Count ANY, 1 ..= COUNTS, "elements of a tile when other axes are resident beside it";
    "shared-rows" shared_rows Count CPU, 1 ..= 8, "rows of one step where they read, or add to, the same elements";
    "row-distance" row_distance Bytes CPU, 0, "rows from this distance on are streams of their own to prefetchers: such share a step";
    "whole-axis" whole_axis Count ANY, 0 ..= COUNTS, "longest contiguous axis that is kept whole beside accumulators";
    "partial-results" partials Count ANY, 1 ..= COUNTS, "workers that keep partial results of their own";
    "narrowing" narrowing Count ANY, 0 ..= 1000, "operations beyond the first that rounding to a 16-bit float takes";
    "approximate" approximate Flag CUDA, 0 ..= 1, "elementary functions and quotients of f32 are the hardware's approximations";
    "contract" contract Flag ANY, 0 ..= 1, "a product and a sum or difference with it are rounded once, where the processor has fused multiply-adds";
    "hoist-above" hoist_above Count ANY, 0 ..= 1_000_000, "a value that no step changes is kept where computing it takes more operations";
}

impl Default for Target {
    fn default() -> Self {
        GENERIC
    }
}

/// Operations that a core executes in a microsecond on elements at shifted indices, with vectors of 64 bytes: from
/// 20,000 (a stencil of seven points) to 54,000 (exponentials of differences) on an Ice Lake core.
const CORE_FLOPS_PER_US: u64 = 50_000;
/// Bytes that a core moves in a microsecond: from 8,000 to 20,000 on the Ice Lake core.
const CORE_BYTES_PER_US: u64 = 20_000;

impl Target {
    /// The abilities of its kind.
    pub const fn abilities(&self) -> Abilities {
        self.kind.abilities()
    }
    /// This target with code for `processor`; `None` if its kind has no processor of that name.
    pub fn for_processor(mut self, processor: &str) -> Option<Target> {
        self.processor = processors::known(self.kind, processor)?;
        Some(self)
    }
    /// Total fast memory that a kernel may use, its resident tile included; `None` for a CPU, where it only affects
    /// speed.
    pub fn scratch_limit(&self) -> Option<u64> {
        (self.abilities().block_threads).then_some(self.shared_per_block_optin)
    }
    /// Nanoseconds to move `bytes` and compute `flops`, if the two overlap.
    pub fn time_ns(&self, bytes: u64, flops: u64) -> u64 {
        let per_us = |amount: u64, rate: u64| {
            u64::try_from(u128::from(amount) * 1000 / u128::from(rate.max(1))).unwrap_or(u64::MAX)
        };
        per_us(bytes, self.bytes_per_us).max(per_us(flops, self.flops_per_us))
    }
    /// The cost of recomputation in bytes: the bytes that memory moves while `flops` are computed.
    pub fn flops_as_bytes(&self, flops: u64) -> u64 {
        let bytes = u128::from(flops) * u128::from(self.bytes_per_us);
        u64::try_from(bytes / u128::from(self.flops_per_us.max(1))).unwrap_or(u64::MAX)
    }
    /// The bytes that could be moved while windows recompute `flops` operations.
    pub fn repeated_as_bytes(&self, flops: u64) -> u64 {
        self.of_cores().flops_as_bytes(flops)
    }
    /// The target with the rates that its cores reach: a core of a CPU executes at most [`CORE_FLOPS_PER_US`] operations,
    /// and moves at most [`CORE_BYTES_PER_US`] bytes.
    pub fn of_cores(self) -> Target {
        let limited = |all: u64, one: u64| match self.kind {
            Kind::Cpu => all.min(one.saturating_mul(self.workers)),
            Kind::Cuda | Kind::Hip => all,
        };
        Target {
            bytes_per_us: limited(self.bytes_per_us, CORE_BYTES_PER_US),
            flops_per_us: limited(self.flops_per_us, CORE_FLOPS_PER_US),
            ..self
        }
    }
    /// The contradiction between figures that makes code for this target impossible, if there is one.
    pub fn contradiction(&self) -> Option<String> {
        let out_of_range = FIGURES.iter().filter(|f| f.is_of(self.kind)).find(|f| {
            let value = (f.get)(self);
            value < f.range.0 || value > f.range.1
        });
        if let Some(figure) = out_of_range {
            let (low, high) = figure.range;
            let value = text::value(figure, (figure.get)(self));
            let [low, high] = [low, high].map(|bound| text::value(figure, bound));
            return Some(format!(
                "'{}' is {value}, not from {low} to {high}",
                figure.key
            ));
        }
        if !self.abilities().block_threads {
            return (self.threads != 1)
                .then(|| "a CPU's worker has one thread: 'threads' is 1".into());
        }
        let ordered = [
            ("tile-memory", "shared-memory-opt-in"),
            ("shared-memory", "shared-memory-opt-in"),
            ("shared-memory-opt-in", "shared-memory-per-sm"),
            ("threads", "block-threads"),
        ];
        let of = |key: &str| FIGURES.iter().find(|f| f.key == key);
        ordered.into_iter().find_map(|(small, large)| {
            let (small, large) = (of(small)?, of(large)?);
            let [a, b] = [small, large].map(|f| (f.get)(self));
            let [a_text, b_text] = [(small, a), (large, b)].map(|(f, v)| text::value(f, v));
            let (small, large) = (small.key, large.key);
            (a > b)
                .then(|| format!("'{small}' is {a_text}, more than '{large}', which is {b_text}"))
        })
    }
}

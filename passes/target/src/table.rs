//! The targets known by name.
//!
//! Sources. Per compute capability (shared memory, registers, threads, blocks): the table of technical specifications
//! in NVIDIA's CUDA C++ Programming Guide; PTX: the version that LLVM 22 gives each architecture. Multiprocessors,
//! memory, caches, bandwidth, f32 rate and links: NVIDIA's data sheets of the product that a row names. The cost of a launch
//! is an estimate of ours, and tuning figures are choices, each with its reason.

use std::fmt;

use crate::processors::{AMD, NATIVE};
use crate::{Kind, Name, Target};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A row of the table.
pub struct Row {
    /// Its names; messages use the first.
    pub names: &'static [&'static str],
    /// A few words on the machine.
    pub doc: &'static str,
    /// Its figures.
    pub target: Target,
}

/// A CPU of no particular make, used for decisions that must not depend on the machine. Its memory moves 40 GB/s into
/// eight cores with 2 MiB of second-level cache each and 32 MiB shared by all.
pub const GENERIC: Target = Target {
    name: named("generic"),
    kind: Kind::Cpu,
    processor: NATIVE,
    workers: 8,
    memory_bytes: 16 * GIB,
    l2_bytes: 2 * MIB,
    l1_bytes: 32 * KIB,
    last_cache_bytes: 32 * MIB,
    ask_ahead_bytes: 0,
    bytes_per_us: 40_000,
    flops_per_us: 400_000,
    // Between two processes of one machine: Open MPI 4.1.4 moves 1 MiB in 162 us.
    link_bytes_per_us: 6_500,
    message_ns: 300,
    launch_ns: 5_000,
    jump_ns: 30,
    // Half of the second-level cache; the other half is for streamed data.
    tile_bytes: MIB,
    capability: 0,
    ptx: 0,
    shared_per_block: 0,
    shared_per_block_optin: 0,
    shared_per_sm: 0,
    registers: 0,
    resident_threads: 0,
    exchange: 0,
    block_threads: 0,
    cluster_blocks: 0,
    grid_blocks: 0,
    // Sixteen f32 lanes are one AVX-512 register, or two of AVX2. A tile of 4096 f32 is 16 KiB, half of a first-level
    // cache. Rounding to bf16 takes six integer operations and a select. A load takes as long as two operations, and a
    // store in each of many steps may be saved: hoisting pays from four operations on.
    vector_bytes: 64,
    lanes_by_memory: 0,
    masks: 0,
    threads: 1,
    tile: 4096,
    narrow_tile: 64,
    // Two operands, two results and the shared elements fit the ways of a cache set; prefetchers follow one stream in a
    // page.
    shared_rows: 4,
    row_distance: 4 * KIB,
    whole_axis: 1 << 16,
    partials: 64,
    narrowing: 6,
    approximate: 0,
    contract: 0,
    hoist_above: 3,
};

/// The A100 (SXM, 80 GB), base of the other rows: it also has the figures common to all NVIDIA GPUs.
pub const A100: Target = Target {
    name: named("a100"),
    kind: Kind::Cuda,
    processor: NATIVE,
    workers: 108,
    memory_bytes: 80 * GIB,
    l2_bytes: 40 * MIB,
    l1_bytes: 192 * KIB,
    last_cache_bytes: 0,
    ask_ahead_bytes: 0,
    bytes_per_us: 2_039_000,
    flops_per_us: 19_500_000,
    // NVLink 3; about the time that NCCL takes for a few bytes.
    link_bytes_per_us: 300_000,
    message_ns: 1_000,
    launch_ns: 4_000,
    jump_ns: 0,
    // Three KiB below the limit of a block: reductions across threads use some.
    tile_bytes: 160 * KIB,
    capability: 80,
    ptx: 70,
    shared_per_block: 48 * KIB,
    shared_per_block_optin: 163 * KIB,
    shared_per_sm: 164 * KIB,
    registers: 65_536,
    // At least as many stand on one of every capability from 8.0 on.
    resident_threads: 1536,
    // An exchange takes 24 cycles; four operations, dependent within two or three chains, take nine.
    exchange: 11,
    block_threads: 1024,
    cluster_blocks: 1,
    grid_blocks: (1 << 31) - 1,
    // Sixteen bytes per thread is the widest load; 128 threads hide its latency and fit any block limit. Rounding is
    // one instruction. A read of shared memory takes as long as some eight operations, and blocks compete for it.
    vector_bytes: 16,
    lanes_by_memory: 1,
    masks: 0,
    threads: 128,
    tile: 1024,
    narrow_tile: 32,
    shared_rows: 0,
    row_distance: 0,
    whole_axis: 1 << 13,
    partials: 256,
    narrowing: 0,
    approximate: 0,
    contract: 0,
    hoist_above: 8,
};

/// H100, SXM.
pub const H100: Target = Target {
    name: named("h100"),
    workers: 132,
    l2_bytes: 50 * MIB,
    l1_bytes: 256 * KIB,
    bytes_per_us: 3_350_000,
    flops_per_us: 67_000_000,
    link_bytes_per_us: 450_000,
    tile_bytes: 224 * KIB,
    capability: 90,
    ptx: 78,
    cluster_blocks: 8,
    shared_per_block_optin: 227 * KIB,
    shared_per_sm: 228 * KIB,
    ..A100
};

/// The A10, base of the rows of capabilities 8.6, 8.9 and 12.0: it also has their common figures.
const A10: Target = Target {
    name: named("a10"),
    workers: 72,
    memory_bytes: 24 * GIB,
    l2_bytes: 6 * MIB,
    l1_bytes: 128 * KIB,
    bytes_per_us: 600_000,
    flops_per_us: 31_200_000,
    // PCI Express 4.0 with 16 lanes.
    link_bytes_per_us: 32_000,
    tile_bytes: 96 * KIB,
    capability: 86,
    ptx: 71,
    shared_per_block_optin: 99 * KIB,
    shared_per_sm: 100 * KIB,
    ..A100
};

/// The MI300X. Figures per compute unit (local data share, registers, threads): AMD's CDNA 3 white paper and the
/// tables of the HIP documentation; compute units, memory, caches, bandwidth, f32 rate and Infinity Fabric: AMD's data
/// sheet of the MI300X. Tuning figures are those of the A100, since none was measured.
pub const MI300X: Target = Target {
    name: named("mi300x"),
    kind: Kind::Hip,
    processor: AMD[0],
    workers: 304,
    memory_bytes: 192 * GIB,
    // Of eight dies.
    l2_bytes: 32 * MIB,
    l1_bytes: 32 * KIB,
    bytes_per_us: 5_300_000,
    flops_per_us: 163_400_000,
    link_bytes_per_us: 448_000,
    tile_bytes: 61 * KIB,
    capability: 0,
    ptx: 0,
    shared_per_block: 64 * KIB,
    shared_per_block_optin: 64 * KIB,
    shared_per_sm: 64 * KIB,
    registers: 131_072,
    resident_threads: 2048,
    ..A100
};

/// For tests: with so little fast memory, small tensors are treated like huge ones on a real machine.
pub const TINY: Target = Target {
    name: named("tiny"),
    workers: 3,
    tile_bytes: 512,
    last_cache_bytes: KIB,
    ask_ahead_bytes: 8 * KIB,
    bytes_per_us: 1_000,
    flops_per_us: 1_000,
    link_bytes_per_us: 166,
    launch_ns: 1_000,
    jump_ns: 30,
    lanes_by_memory: 1,
    shared_rows: 2,
    row_distance: 0,
    partials: 4,
    ..GENERIC
};

/// For tests: a GPU with equally little fast memory.
pub const TINY_GPU: Target = Target {
    name: named("tiny-gpu"),
    workers: 3,
    tile_bytes: 512,
    bytes_per_us: 1_000,
    flops_per_us: 1_000,
    link_bytes_per_us: 125,
    launch_ns: 1_000,
    jump_ns: 0,
    ..A100
};

/// The targets: CPUs first, then NVIDIA's GPUs in the order of their capabilities, then AMD's.
pub static TARGETS: &[Row] = &[
    Row {
        names: &["generic"],
        doc: "a CPU with figures that depend on no machine",
        target: GENERIC,
    },
    Row {
        names: &["tiny"],
        doc: "for tests: so little fast memory that small tensors are walked as huge ones are on a real machine",
        target: TINY,
    },
    Row {
        names: &["tiny-gpu"],
        doc: "for tests: a GPU with as little",
        target: TINY_GPU,
    },
    Row {
        names: &["a100", "cuda:sm_80", "cuda"],
        doc: "NVIDIA A100 (SXM, 80 GB)",
        target: A100,
    },
    Row {
        names: &["a10", "cuda:sm_86"],
        doc: "NVIDIA A10",
        target: A10,
    },
    Row {
        names: &["orin", "cuda:sm_87"],
        doc: "NVIDIA Jetson AGX Orin, 64 GB",
        target: Target {
            name: named("orin"),
            workers: 16,
            memory_bytes: 64 * GIB,
            l2_bytes: 4 * MIB,
            bytes_per_us: 204_800,
            flops_per_us: 5_300_000,
            link_bytes_per_us: 16_000,
            capability: 87,
            ptx: 74,
            ..A100
        },
    },
    Row {
        names: &["l40s", "cuda:sm_89"],
        doc: "NVIDIA L40S",
        target: Target {
            name: named("l40s"),
            workers: 142,
            memory_bytes: 48 * GIB,
            l2_bytes: 96 * MIB,
            bytes_per_us: 864_000,
            flops_per_us: 91_600_000,
            capability: 89,
            ptx: 78,
            ..A10
        },
    },
    Row {
        names: &["h100", "cuda:sm_90"],
        doc: "NVIDIA H100 (SXM)",
        target: H100,
    },
    Row {
        names: &["h200"],
        doc: "NVIDIA H200 (SXM)",
        target: Target {
            name: named("h200"),
            memory_bytes: 141 * GIB,
            bytes_per_us: 4_800_000,
            ..H100
        },
    },
    Row {
        names: &["b200", "cuda:sm_100"],
        doc: "NVIDIA B200",
        target: Target {
            name: named("b200"),
            workers: 148,
            memory_bytes: 180 * GIB,
            l2_bytes: 126 * MIB,
            bytes_per_us: 8_000_000,
            flops_per_us: 75_000_000,
            link_bytes_per_us: 900_000,
            capability: 100,
            ptx: 86,
            ..H100
        },
    },
    Row {
        names: &["rtx5090", "cuda:sm_120"],
        doc: "NVIDIA GeForce RTX 5090",
        target: Target {
            name: named("rtx5090"),
            workers: 170,
            memory_bytes: 32 * GIB,
            l2_bytes: 96 * MIB,
            bytes_per_us: 1_792_000,
            flops_per_us: 104_800_000,
            link_bytes_per_us: 64_000,
            capability: 120,
            cluster_blocks: 8,
            ptx: 87,
            ..A10
        },
    },
    Row {
        names: &["mi300x", "hip:gfx942", "hip"],
        doc: "AMD Instinct MI300X: code for it is generated, and run by no part of Fuser",
        target: MI300X,
    },
];

/// Invariant: names in this file are valid; otherwise it does not compile.
const fn named(text: &str) -> Name {
    match Name::new(text) {
        Some(name) => name,
        None => panic!("not a name"),
    }
}

/// A name that no target has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownTarget {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown target '{}'", self.name)
    }
}

/// Every name of every target.
pub fn names() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().flat_map(|row| row.names).copied()
}

impl Target {
    /// The target called `name`. `cuda:sm_N` also names GPUs that are not in the table: they run the newest code of the
    /// table that is not newer than they are. Letters after the number name features that such code does not need.
    pub fn by_name(name: &str) -> Result<Target, UnknownTarget> {
        let named = TARGETS.iter().find(|row| row.names.contains(&name));
        let found = named
            .map(|row| row.target)
            .or_else(|| Target::of_capability(capability(name)?));
        found.ok_or_else(|| UnknownTarget { name: name.into() })
    }
    /// The GPU of the table with the newest code that runs on a device of this compute capability (times ten); `None`
    /// from 20.0 on, which in a name is a typing error.
    pub fn of_capability(capability: u64) -> Option<Target> {
        Target::for_device(capability).filter(|_| capability < 200)
    }
    /// Like [`Target::of_capability`], for an existing device of any capability: the driver compiles PTX of older GPUs
    /// for it.
    pub fn for_device(capability: u64) -> Option<Target> {
        let gpus = TARGETS
            .iter()
            .filter(|row| row.names.iter().any(|n| n.contains(":sm_")));
        let older = gpus.filter(|row| row.target.capability <= capability);
        let newest = older.max_by_key(|row| row.target.capability);
        newest.map(|row| row.target)
    }
}

/// The number in `cuda:sm_90a`.
fn capability(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("cuda:sm_")?;
    let digits = rest.strip_suffix(['a', 'f']).unwrap_or(rest);
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_sound_and_called_by_its_names_alone() {
        let mut seen = std::collections::BTreeSet::new();
        for row in TARGETS {
            assert_eq!(row.target.contradiction(), None, "{}", row.names[0]);
            assert_eq!(row.target.name.as_str(), row.names[0]);
            for name in row.names {
                assert!(seen.insert(*name), "{name} twice");
                assert_eq!(Target::by_name(name).unwrap(), row.target);
            }
        }
        assert_eq!(TARGETS[0].target, Target::default());
    }

    #[test]
    fn gpus_stand_in_the_order_of_their_capabilities() {
        let gpus = TARGETS.iter().filter(|row| row.target.kind == Kind::Cuda);
        let gpus = gpus.skip(1);
        assert!(gpus.is_sorted_by_key(|row| row.target.capability));
    }

    #[test]
    fn a_gpu_that_is_not_listed_runs_the_newest_code_that_it_can() {
        let of = |name: &str| Target::by_name(name).map(|t| t.capability);
        for (name, capability) in [
            ("cuda:sm_90a", 90),
            ("cuda:sm_100f", 100),
            ("cuda:sm_103", 100),
            ("cuda:sm_110", 100),
            ("cuda:sm_121", 120),
            ("cuda:sm_150", 120),
            ("cuda:sm_88", 87),
        ] {
            assert_eq!(of(name), Ok(capability), "{name}");
        }
        let device = |capability| Target::for_device(capability).map(|t| t.capability);
        let devices = [75, 80, 100, 103, 121, 200, 310].map(device);
        let expected = [
            None,
            Some(80),
            Some(100),
            Some(100),
            Some(120),
            Some(120),
            Some(120),
        ];
        assert_eq!(devices, expected);
        for name in [
            "cuda:sm_75",
            "cuda:sm_9",
            "cuda:sm_900",
            "cuda:sm_",
            "cuda:sm_90aa",
            "cuda:sm_-90",
            "sm_90",
            "",
        ] {
            assert!(of(name).is_err(), "{name}");
        }
    }
}

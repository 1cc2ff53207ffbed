//! Machine descriptions: data, not code.
//!
//! The figures are round and public (data sheets); they rank plans, they do not predict times to the per cent.

/// What memory, arithmetic and launches cost on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The name that options use.
    pub name: &'static str,
    /// Bytes of fast memory that one worker may fill with a resident tile.
    pub tile_bytes: u64,
    /// How many workers run at once.
    pub workers: u64,
    /// Bytes that slow memory moves in a microsecond.
    pub bytes_per_us: u64,
    /// Simple operations per microsecond.
    pub flops_per_us: u64,
    /// Nanoseconds to start a kernel.
    pub launch_ns: u64,
    /// Nanoseconds for all workers of a kernel to wait for each other between two sweeps.
    pub wait_ns: u64,
}

/// Their names, as options take them.
pub const MACHINE_NAMES: &[&str] = &["cpu", "a100", "h100", "tiny"];

/// The machines known by name; the first is the default.
pub static MACHINES: &[Machine] = &[
    Machine {
        name: "cpu",
        // Half of a second-level cache of 2 MiB: the other half holds what streams past.
        tile_bytes: 1 << 20,
        workers: 8,
        bytes_per_us: 40_000,
        flops_per_us: 400_000,
        launch_ns: 5_000,
        wait_ns: 4_000,
    },
    Machine {
        name: "a100",
        tile_bytes: 160 << 10,
        workers: 108,
        bytes_per_us: 2_039_000,
        flops_per_us: 19_500_000,
        launch_ns: 4_000,
        wait_ns: 2_500,
    },
    Machine {
        name: "h100",
        tile_bytes: 224 << 10,
        workers: 132,
        bytes_per_us: 3_350_000,
        flops_per_us: 67_000_000,
        launch_ns: 4_000,
        wait_ns: 2_000,
    },
    Machine {
        name: "tiny",
        // For tests: so little fast memory that small tensors are walked as huge ones are on a real machine.
        tile_bytes: 512,
        workers: 3,
        bytes_per_us: 1_000,
        flops_per_us: 1_000,
        launch_ns: 1_000,
        wait_ns: 1_000,
    },
];

impl Machine {
    /// The machine called `name`.
    pub fn by_name(name: &str) -> Option<&'static Machine> {
        MACHINES.iter().find(|m| m.name == name)
    }
    /// Nanoseconds that moving `bytes` and computing `flops` take when they overlap.
    pub fn time_ns(&self, bytes: u64, flops: u64) -> u64 {
        let per_us = |amount: u64, rate: u64| {
            u64::try_from(u128::from(amount) * 1000 / u128::from(rate.max(1))).unwrap_or(u64::MAX)
        };
        per_us(bytes, self.bytes_per_us).max(per_us(flops, self.flops_per_us))
    }
    /// What recomputing costs in bytes: the bytes that memory moves while `flops` are computed.
    pub fn flops_as_bytes(&self, flops: u64) -> u64 {
        let bytes = u128::from(flops) * u128::from(self.bytes_per_us);
        u64::try_from(bytes / u128::from(self.flops_per_us.max(1))).unwrap_or(u64::MAX)
    }
}

impl Default for Machine {
    fn default() -> Self {
        MACHINES[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_machine() {
        let names: Vec<&str> = MACHINES.iter().map(|m| m.name).collect();
        assert_eq!(names, MACHINE_NAMES);
    }
}

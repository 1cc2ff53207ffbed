//! Counts of what kernels do: instructions, requests and sectors, wavefronts of shared memory, barriers, bytes in flight.
//!
//! An instruction counts once for each warp that issues it. A request is one instruction's access to global memory; its sectors are the
//! aligned groups of 32 bytes that it touches. A wavefront is one pass over the 32 banks of a block's shared memory, of four bytes each; an access without
//! conflicts takes the ideal number. A batch is the loads of a warp from global memory up to the end of the basic block that uses
//! them, where it must wait; bytes in flight are those of the batches.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::decode::{Class, SHARED_BITS, Space};

/// Accesses to global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Requests {
    /// Instructions of warps.
    pub requests: u64,
    /// Sectors of 32 bytes.
    pub sectors: u64,
    /// Bytes of all lanes.
    pub bytes: u64,
}

/// The counts of a kernel over all its launches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Launches.
    pub launches: u64,
    /// Blocks.
    pub blocks: u64,
    /// Threads.
    pub threads: u64,
    /// Instructions of threads.
    pub thread_instructions: u64,
    /// Instructions of warps.
    pub warp_instructions: u64,
    /// Those by class.
    pub classes: BTreeMap<Class, u64>,
    /// Loads from global memory.
    pub loads: Requests,
    /// Stores to global memory.
    pub stores: Requests,
    /// Wavefronts of shared memory.
    pub wavefronts: u64,
    /// Wavefronts that the same accesses take without conflicts of banks.
    pub ideal_wavefronts: u64,
    /// Barriers, each counted once for a block.
    pub barriers: u64,
    /// Those of clusters among them.
    pub cluster_barriers: u64,
    /// Waits of warps for loads.
    pub batches: u64,
    /// Warps that waited.
    pub waiting_warps: u64,
    /// Bytes that were waited for.
    pub bytes_in_flight: u64,
    /// Most shared memory of a block in bytes.
    pub shared_bytes: u64,
}

impl Counts {
    /// Counts an access of a warp: the addresses of its lanes, each of `size` bytes.
    pub fn access(&mut self, space: Space, writes: bool, addresses: &[u64], size: u64) {
        match space {
            Space::Global => {
                let to = if writes {
                    &mut self.stores
                } else {
                    &mut self.loads
                };
                to.requests += 1;
                to.sectors += sectors(addresses, size);
                to.bytes += addresses.len() as u64 * size;
            }
            Space::Shared | Space::Cluster => {
                // A wavefront moves 128 bytes: lanes that want more than four each take turns.
                let together = (128 / size.max(4)) as usize;
                for turn in addresses.chunks(together) {
                    self.wavefronts += conflicts(turn, size);
                    self.ideal_wavefronts += 1;
                }
            }
            Space::Constant | Space::Parameter => {}
        }
    }
}

/// Bytes of a sector.
const SECTOR: u64 = 32;
/// Banks of shared memory, and bytes of a word of one.
const BANKS: u64 = 32;
const WORD: u64 = 4;

fn sectors(addresses: &[u64], size: u64) -> u64 {
    let ends = addresses
        .iter()
        .flat_map(|address| [address / SECTOR, (address + size - 1) / SECTOR]);
    distinct(ends.collect()).len() as u64
}

/// The maximum number of different words requested from one bank. Each block of a cluster has its own banks.
fn conflicts(addresses: &[u64], size: u64) -> u64 {
    let words = addresses
        .iter()
        .flat_map(|address| address / WORD..=(address + size - 1) / WORD);
    let mut per_bank = BTreeMap::new();
    for word in distinct(words.collect()) {
        *per_bank
            .entry(((word * WORD) >> SHARED_BITS, word % BANKS))
            .or_insert(0) += 1;
    }
    per_bank.into_values().max().unwrap_or(0)
}

fn distinct(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(stride: u64) -> Vec<u64> {
        (0..32).map(|lane| 256 + lane * stride).collect()
    }

    #[test]
    fn sectors_and_conflicts_are_those_of_the_addresses() {
        for (stride, size, expected) in [
            (4, 4, 4),
            (16, 16, 16),
            (2, 2, 2),
            (0, 4, 1),
            (64, 4, 32),
            (12, 4, 12),
        ] {
            assert_eq!(sectors(&lanes(stride), size), expected, "stride {stride}");
        }
        let wavefronts = |stride, size| {
            let mut counts = Counts::default();
            counts.access(Space::Shared, false, &lanes(stride), size);
            (counts.wavefronts, counts.ideal_wavefronts)
        };
        assert_eq!(wavefronts(4, 4), (1, 1));
        assert_eq!(wavefronts(0, 4), (1, 1));
        assert_eq!(wavefronts(8, 4), (2, 1));
        assert_eq!(wavefronts(128, 4), (32, 1));
        assert_eq!(wavefronts(132, 4), (1, 1));
        assert_eq!(wavefronts(2, 2), (1, 1));
        assert_eq!(wavefronts(16, 16), (4, 4));
        assert_eq!(wavefronts(8, 8), (2, 2));
        // The same word of 32 blocks.
        assert_eq!(wavefronts(1 << SHARED_BITS, 4), (1, 1));
    }
}

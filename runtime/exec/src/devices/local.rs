//! The engine whose ranks are threads of this process.
//!
//! A rank posts the address of its block for a peer; the peer copies it once and acknowledges that. No rank leaves an
//! exchange before all of its blocks are copied or withdrawn, so nobody reads memory that its owner reuses.
//!
//! ```text
//! slot (sender, receiver)    empty -> posted -> copying -> done -> empty
//!                                       |
//!                                       +-> empty, where the sender gives up
//! ```
//!
//! A waiting rank records the rank that it waits for, so that a delay can be traced to its root cause.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Block, Engine, Fault, MeshError, Tag};
use crate::execute::Address;

/// The maximum number of ranks in a process: each needs a thread, and each pair a slot.
pub const MAX_LOCAL: usize = 256;

/// A block on its way.
#[derive(Clone, Copy)]
enum Slot {
    Empty,
    Posted { at: Address, bytes: usize, tag: Tag },
    Copying,
    Done,
}

struct State {
    /// By sender, then by receiver.
    slots: Vec<Slot>,
    /// The rank that each rank waits for, if any.
    waits: Vec<Option<usize>>,
    /// True for a rank that will not come again.
    gone: Vec<bool>,
    /// The first rank that failed, and its reason.
    failure: Option<(usize, String)>,
}

struct World {
    ranks: usize,
    limit: Duration,
    state: Mutex<State>,
    /// One for each rank.
    wakes: Vec<Condvar>,
}

impl World {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, rank: usize) {
        if let Some(wake) = self.wakes.get(rank) {
            wake.notify_one();
        }
    }

    fn wake_all(&self) {
        self.wakes.iter().for_each(Condvar::notify_one);
    }
}

/// A rank that is a thread of this process.
pub struct Local {
    world: Arc<World>,
    rank: usize,
}

/// As many ranks, which wait for each other no longer than `limit`.
pub fn local_ranks(ranks: usize, limit: Duration) -> Result<Vec<Local>, MeshError> {
    if ranks > MAX_LOCAL {
        return Err(MeshError::TooMany {
            devices: ranks,
            limit: MAX_LOCAL,
        });
    }
    let world = Arc::new(World {
        ranks,
        limit,
        state: Mutex::new(State {
            slots: vec![Slot::Empty; ranks * ranks],
            waits: vec![None; ranks],
            gone: vec![false; ranks],
            failure: None,
        }),
        wakes: (0..ranks).map(|_| Condvar::new()).collect(),
    });
    let rank = |rank| Local {
        world: Arc::clone(&world),
        rank,
    };
    Ok((0..ranks).map(rank).collect())
}

impl Local {
    /// The first rank that failed, if any.
    pub fn failed(&self) -> Option<usize> {
        self.world.lock().failure.as_ref().map(|(rank, _)| *rank)
    }

    fn outgoing(&self, peer: usize) -> usize {
        self.rank * self.world.ranks + peer
    }

    fn incoming(&self, peer: usize) -> usize {
        peer * self.world.ranks + self.rank
    }

    /// Withdraws all blocks that no peer has begun to copy, and waits for copies in progress.
    fn withdraw(&self, mut state: MutexGuard<'_, State>, blocks: &[Block<'_>]) {
        state.waits[self.rank] = None;
        for block in blocks.iter().filter(|block| !block.send.is_empty()) {
            let slot = self.outgoing(block.peer);
            while let Slot::Copying = state.slots[slot] {
                let wake = &self.world.wakes[self.rank];
                state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.slots[slot] = Slot::Empty;
        }
    }

    /// The reason to give up, for a rank that waits for `peer` without other work.
    fn obstacle(&self, state: &State, peer: usize, since: Instant) -> Option<Fault> {
        if let Some((rank, reason)) = &state.failure {
            return Some(Fault::Ended {
                rank: *rank,
                reason: reason.clone(),
            });
        }
        if state.gone[peer] {
            let reason = "it takes part in no further communication".to_string();
            return Some(Fault::Ended { rank: peer, reason });
        }
        if since.elapsed() < self.world.limit {
            return None;
        }
        // The one that all wait for does not wait itself; where they wait in a circle, the peer is named.
        let (mut late, mut seen) = (peer, 0);
        while let Some(next) = state.waits[late] {
            (late, seen) = (next, seen + 1);
            if seen > self.world.ranks {
                late = peer;
                break;
            }
        }
        let limit = self.world.limit;
        Some(Fault::Late { rank: late, limit })
    }
}

impl Engine for Local {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.world.ranks
    }

    fn exchange(&mut self, tag: Tag, blocks: &mut [Block<'_>]) -> Result<(), Fault> {
        let world = Arc::clone(&self.world);
        let stranger = |block: &Block<'_>| block.peer >= world.ranks || block.peer == self.rank;
        if blocks.iter().any(stranger) {
            let message = "a block for a rank that there is not".to_string();
            return Err(Fault::Engine { message });
        }
        let mut state = world.lock();
        for block in blocks.iter().filter(|block| !block.send.is_empty()) {
            let slot = self.outgoing(block.peer);
            state.slots[slot] = Slot::Posted {
                at: Address::of(block.send.as_ptr().cast_mut()),
                bytes: block.send.len(),
                tag,
            };
            world.wake(block.peer);
        }
        let mut since = Instant::now();
        loop {
            let (mut moved, mut missing) = (false, None);
            for block in blocks.iter_mut() {
                let (peer, slot) = (block.peer, self.outgoing(block.peer));
                if let Slot::Done = state.slots[slot] {
                    state.slots[slot] = Slot::Empty;
                    moved = true;
                }
                if !matches!(state.slots[slot], Slot::Empty) {
                    missing = missing.or(Some(peer));
                }
                if block.receive.is_empty() {
                    continue;
                }
                let slot = self.incoming(peer);
                let Slot::Posted {
                    at,
                    bytes,
                    tag: found,
                } = state.slots[slot]
                else {
                    missing = missing.or(Some(peer));
                    continue;
                };
                let (rank, expected) = (peer, block.receive.len());
                let mismatch = match () {
                    () if found != tag => Some(Fault::Elsewhere {
                        rank,
                        expected: tag,
                        found: Some(found),
                    }),
                    () if bytes != expected => Some(Fault::Bytes {
                        rank,
                        expected,
                        found: bytes,
                    }),
                    () => None,
                };
                if let Some(fault) = mismatch {
                    self.withdraw(state, blocks);
                    return Err(fault);
                }
                state.slots[slot] = Slot::Copying;
                drop(state);
                // SAFETY: the sender stays in its exchange until the slot is done, and its block is only read there.
                let block_sent = unsafe { std::slice::from_raw_parts(at.at(0), bytes) };
                // What is received is awaited no longer.
                std::mem::take(&mut block.receive).copy_from_slice(block_sent);
                state = world.lock();
                state.slots[slot] = Slot::Done;
                world.wake(peer);
                moved = true;
            }
            let Some(peer) = missing else {
                state.waits[self.rank] = None;
                return Ok(());
            };
            if moved {
                since = Instant::now();
                continue;
            }
            if let Some(fault) = self.obstacle(&state, peer, since) {
                self.withdraw(state, blocks);
                return Err(fault);
            }
            state.waits[self.rank] = Some(peer);
            let left = world.limit.saturating_sub(since.elapsed());
            let waited = world.wakes[self.rank].wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn fail(&mut self, reason: &str) {
        let mut state = self.world.lock();
        state
            .failure
            .get_or_insert_with(|| (self.rank, reason.to_string()));
        drop(state);
        self.world.wake_all();
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.fail("it panicked");
        }
        self.world.lock().gone[self.rank] = true;
        self.world.wake_all();
    }
}

//! Limits on element operations (fuel) and memory. Every tensor holds its charge and returns it when dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{ErrorKind, InterpError, Result};

/// Memory that one tensor holds.
#[derive(Debug, Default)]
pub struct Charge {
    held: Option<Arc<AtomicU64>>,
    bytes: u64,
}

impl Charge {
    /// That there was no such memory.
    pub fn refused(&self) -> InterpError {
        InterpError::new(ErrorKind::NoMemory(self.bytes))
    }
    /// Gives `bytes` back early.
    pub fn release(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        if let Some(held) = &self.held {
            held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            held.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// The element operations and bytes that may still be used.
#[derive(Debug)]
pub struct Budget {
    fuel: u64,
    used: u64,
    limit: u64,
    held: Arc<AtomicU64>,
    peak: u64,
}

impl Budget {
    /// A budget of `fuel` element operations and `memory` bytes.
    pub fn new(fuel: u64, memory: u64) -> Self {
        Self {
            fuel,
            used: 0,
            limit: memory,
            held: Arc::default(),
            peak: 0,
        }
    }
    /// Uses up fuel for `operations`.
    pub fn burn(&mut self, operations: usize) -> Result<()> {
        self.used = self.used.saturating_add(operations as u64);
        if self.used > self.fuel {
            return Err(InterpError::new(ErrorKind::OutOfFuel(self.fuel)));
        }
        Ok(())
    }
    /// Takes memory, before it is allocated.
    pub fn take(&mut self, bytes: u64) -> Result<Charge> {
        let held = self.held.load(Ordering::Relaxed);
        let total = held.saturating_add(bytes);
        if total > self.limit {
            return Err(InterpError::new(ErrorKind::OutOfMemory {
                wanted: bytes,
                held,
                limit: self.limit,
            }));
        }
        self.held.store(total, Ordering::Relaxed);
        self.peak = self.peak.max(total);
        Ok(Charge {
            held: Some(self.held.clone()),
            bytes,
        })
    }
    /// Element operations done.
    pub fn used(&self) -> u64 {
        self.used
    }
    /// The most memory held at once, in bytes; inputs not counted.
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

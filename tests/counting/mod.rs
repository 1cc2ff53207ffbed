//! The system's allocator, which counts how often it was asked.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting(AtomicU64);

impl Counting {
    const fn none() -> Self {
        Counting(AtomicU64::new(0))
    }
}

// SAFETY: everything is the system's allocator.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: as the trait says.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's word.
        unsafe { System.alloc(layout) }
    }
    // SAFETY: as the trait says.
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's word.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static MEMORY: Counting = Counting::none();

/// Allocations of this process so far; those of a library that it loads are its own.
pub fn allocations() -> u64 {
    MEMORY.0.load(Ordering::Relaxed)
}

//! Aligned memory under a limit.
//!
//! A [`Heap`] allocates zeroed [`Memory`], aligned to 64 bytes or to a page. It counts the bytes in use and refuses
//! requests beyond its limit. A refusal is a [`MemoryError`] with its numbers: no allocation aborts the process. The
//! bytes come from a [`MemorySource`], so that tests can let the n-th request fail. A [`Pool`] keeps freed memory of
//! results for later results.

use std::alloc::Layout;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fuser_artifact::limits::BUFFER_ALIGN;

/// Gives blocks of zeroed memory, or `None` where there is none.
pub trait MemorySource: Send + Sync {
    fn allocate(&self, bytes: usize) -> Option<Block>;
    /// A block that is written before it is read.
    fn allocate_unwritten(&self, bytes: usize) -> Option<Unwritten> {
        self.allocate(bytes).map(Unwritten)
    }
}

/// A block with unknown contents, of which only the address is given away.
pub struct Unwritten(Block);

/// The operating system's memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemMemory;

impl MemorySource for SystemMemory {
    fn allocate(&self, bytes: usize) -> Option<Block> {
        Block::zeroed(bytes)
    }
    fn allocate_unwritten(&self, bytes: usize) -> Option<Unwritten> {
        Block::new(bytes).map(Unwritten)
    }
}

/// An aligned block that frees itself, or returns to its pool.
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
    pool: Option<Pool>,
}

// SAFETY: a block owns its bytes and hands them out by the usual rules of references.
unsafe impl Send for Block {}
// SAFETY: as above; a shared block is only read.
unsafe impl Sync for Block {}

impl Block {
    fn zeroed(bytes: usize) -> Option<Block> {
        let block = Block::new(bytes)?;
        // SAFETY: the block has so many bytes, and nobody else knows it yet.
        unsafe { block.start.write_bytes(0, bytes) };
        Some(block)
    }

    /// A block whose bytes nobody has written.
    fn new(bytes: usize) -> Option<Block> {
        let layout = layout(bytes)?;
        let start = match bytes {
            0 => std::ptr::without_provenance_mut(BUFFER_ALIGN),
            // SAFETY: the layout's size is not 0.
            _ => unsafe { std::alloc::alloc(layout) },
        };
        let start = NonNull::new(start)?;
        advise_huge_pages(start, bytes);
        let pool = None;
        Some(Block { start, bytes, pool })
    }
}

/// The layout of a block. A block of at least a page starts at a page, so that its performance is independent of the
/// heap's other contents: a scaling of rows once took 24 ms instead of 13 because a longer command line had moved its
/// factors. The likely cause, not confirmed by a counter: a load waits for a pending store whose address has the same
/// lower twelve bits.
fn layout(bytes: usize) -> Option<Layout> {
    const PAGE: usize = 4096;
    let align = if bytes < PAGE { BUFFER_ALIGN } else { PAGE };
    Layout::from_size_align(bytes, align).ok()
}

/// Requests huge pages for an untouched block that spans at least one: with small pages, a kernel that moves much
/// memory loses a tenth of its time. On systems without huge pages the request has no effect.
#[cfg(target_os = "linux")]
fn advise_huge_pages(start: NonNull<u8>, bytes: usize) {
    const HUGE_PAGE: usize = 2 << 20;
    /// Linux's `MADV_HUGEPAGE`.
    const HUGE: i32 = 14;
    // SAFETY: the declaration is Linux's; the advice changes nothing that a program can see.
    unsafe extern "C" {
        fn madvise(start: *mut u8, bytes: usize, advice: i32) -> i32;
    }
    let skipped = start.align_offset(HUGE_PAGE);
    let whole = bytes.saturating_sub(skipped) / HUGE_PAGE * HUGE_PAGE;
    if whole > 0 {
        // SAFETY: whole pages inside of the block.
        unsafe { madvise(start.as_ptr().wrapping_add(skipped), whole, HUGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: NonNull<u8>, _: usize) {}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            let bytes = std::mem::take(&mut self.bytes);
            let start = self.start;
            pool.keep(Block {
                start,
                bytes,
                pool: None,
            });
        } else if self.bytes > 0
            && let Some(layout) = layout(self.bytes)
        {
            // SAFETY: allocated by `new` with this very layout, and freed once.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), layout) }
        }
    }
}

/// Freed blocks that later requests of about their size take. The system takes the pages of a freed large block away,
/// and gives new ones at the first touch. That takes longer than many kernels: a GELU of 6 MB takes 0.6 ms on two cores
/// in a block that was written before, and 2.2 ms in a new one.
///
/// Clones share the blocks. A request and a freed block pass a pool by that another thread uses; they never wait.
#[derive(Clone)]
pub struct Pool(Arc<Kept>);

struct Kept {
    /// The oldest first.
    blocks: Mutex<VecDeque<Block>>,
    /// The most bytes that are kept.
    most: usize,
}

/// The least bytes of a block that is kept: the system's own allocator keeps smaller ones.
const LEAST_KEPT: usize = 128 << 10;
/// The most blocks that are kept.
const MOST_BLOCKS: usize = 256;

impl Pool {
    /// A pool that keeps at most `most` bytes.
    pub fn new(most: u64) -> Pool {
        Pool(Arc::new(Kept {
            blocks: Mutex::default(),
            most: usize::try_from(most).unwrap_or(usize::MAX),
        }))
    }
    /// The bytes that are kept now.
    pub fn bytes(&self) -> usize {
        let blocks = self.0.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.iter().map(|block| block.bytes).sum()
    }
    /// Gives all kept blocks back to the system, and returns their bytes.
    pub fn clear(&self) -> usize {
        let lock = || self.0.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = std::mem::take(&mut *lock());
        blocks.iter().map(|block| block.bytes).sum()
    }
    /// The smallest kept block of at least `bytes`, and at most an eighth more.
    fn take(&self, bytes: usize) -> Option<Block> {
        let mut blocks = self.0.blocks.try_lock().ok()?;
        let fits = |size: usize| size >= bytes && size - bytes <= bytes / 8;
        let sizes = blocks.iter().map(|block| block.bytes).enumerate();
        let (at, _) = sizes
            .filter(|(_, size)| fits(*size))
            .min_by_key(|(_, size)| *size)?;
        blocks.remove(at)
    }
    /// Keeps a block, and frees the oldest ones that are too many.
    fn keep(&self, block: Block) {
        let mut surplus = Vec::new();
        if block.bytes < LEAST_KEPT || block.bytes > self.0.most {
            return;
        }
        if let Ok(mut blocks) = self.0.blocks.try_lock() {
            blocks.push_back(block);
            let mut bytes: usize = blocks.iter().map(|block| block.bytes).sum();
            while bytes > self.0.most || blocks.len() > MOST_BLOCKS {
                let Some(oldest) = blocks.pop_front() else {
                    break;
                };
                bytes -= oldest.bytes;
                surplus.push(oldest);
            }
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} bytes of {})", self.bytes(), self.0.most)
    }
}

/// Memory that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// It would go over the limit.
    Limit {
        needed: u64,
        in_use: u64,
        limit: u64,
    },
    /// The system gave none, though the limit would allow it.
    Refused { needed: u64 },
    /// The number of bytes does not fit the address space.
    TooLarge { what: String },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Limit {
                needed,
                in_use: 0,
                limit,
            } => {
                write!(f, "too little memory: needs {needed} bytes, limit {limit}")
            }
            MemoryError::Limit {
                needed,
                in_use,
                limit,
            } => write!(
                f,
                "too little memory: needs {needed} bytes beside {in_use} in use, limit {limit}"
            ),
            MemoryError::Refused { needed } => {
                write!(
                    f,
                    "too little memory: needs {needed} bytes, the system has none"
                )
            }
            MemoryError::TooLarge { what } => {
                write!(
                    f,
                    "too little memory: the size of {what} does not fit 63 bits"
                )
            }
        }
    }
}

impl std::error::Error for MemoryError {}

#[derive(Default)]
struct Usage {
    in_use: AtomicU64,
    peak: AtomicU64,
}

impl Usage {
    fn take(&self, bytes: u64) {
        let in_use = self.in_use.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(in_use, Ordering::Relaxed);
    }
}

/// Bytes that a heap counts and others hold.
pub struct Reservation {
    bytes: u64,
    usage: Arc<Usage>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.usage.in_use.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A source of memory with a limit. Clones share the limit and the count.
#[derive(Clone)]
pub struct Heap {
    source: Arc<dyn MemorySource>,
    usage: Arc<Usage>,
    limit: u64,
}

impl Heap {
    /// The system's memory, limited to what is free now.
    pub fn system() -> Heap {
        Heap::new(Arc::new(SystemMemory), available().unwrap_or(u64::MAX))
    }

    /// The system's memory up to `limit` bytes.
    pub fn with_limit(limit: u64) -> Heap {
        Heap::new(Arc::new(SystemMemory), limit)
    }

    pub fn new(source: Arc<dyn MemorySource>, limit: u64) -> Heap {
        Heap {
            source,
            usage: Arc::default(),
            limit,
        }
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes that are out now.
    pub fn in_use(&self) -> u64 {
        self.usage.in_use.load(Ordering::Relaxed)
    }

    /// The maximum number of bytes in use at once, since the last [`Heap::reset_peak`].
    pub fn peak(&self) -> u64 {
        self.usage.peak.load(Ordering::Relaxed)
    }

    /// Starts to measure the peak anew, from what is out now.
    pub fn reset_peak(&self) {
        self.usage.peak.store(self.in_use(), Ordering::Relaxed);
    }

    /// Checks that `needed` more bytes stay within the limit.
    pub fn check(&self, needed: u64) -> Result<(), MemoryError> {
        let (in_use, limit) = (self.in_use(), self.limit);
        let fits = in_use.checked_add(needed).is_some_and(|sum| sum <= limit);
        fits.then_some(()).ok_or(MemoryError::Limit {
            needed,
            in_use,
            limit,
        })
    }

    /// Zeroed bytes.
    pub fn allocate(&self, bytes: usize) -> Result<Memory, MemoryError> {
        let needed = bytes as u64;
        self.check(needed)?;
        let block = self.source.allocate(bytes);
        let block = block.ok_or(MemoryError::Refused { needed })?;
        self.usage.take(needed);
        Ok(Memory {
            block,
            usage: self.usage.clone(),
        })
    }

    /// Bytes that are written before they are read: no time goes into zeros.
    pub fn allocate_unwritten(&self, bytes: usize) -> Result<Raw, MemoryError> {
        let needed = bytes as u64;
        self.check(needed)?;
        let block = self.source.allocate_unwritten(bytes);
        let block = block.ok_or(MemoryError::Refused { needed })?;
        self.usage.take(needed);
        Ok(Raw(Memory {
            block: block.0,
            usage: self.usage.clone(),
        }))
    }

    /// As [`Heap::allocate_unwritten`], in a kept block of `pool` where one fits; the memory returns to the pool.
    pub fn allocate_from(&self, pool: &Pool, bytes: usize) -> Result<Raw, MemoryError> {
        if bytes < LEAST_KEPT {
            return self.allocate_unwritten(bytes);
        }
        let kept = pool.take(bytes);
        let kept = kept.filter(|block| self.check(block.bytes as u64).is_ok());
        let mut memory = match kept {
            None => self.allocate_unwritten(bytes)?,
            Some(block) => {
                self.usage.take(block.bytes as u64);
                let usage = self.usage.clone();
                Raw(Memory { block, usage })
            }
        };
        memory.0.block.pool = Some(pool.clone());
        Ok(memory)
    }

    /// Counts `bytes` that others allocate, until what is given is dropped.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation, MemoryError> {
        self.check(bytes)?;
        self.usage.take(bytes);
        let usage = self.usage.clone();
        Ok(Reservation { bytes, usage })
    }

    /// `count` elements of `size` bytes; `what` names them where their number is absurd.
    pub fn allocate_elements(
        &self,
        count: usize,
        size: usize,
        what: &str,
    ) -> Result<Memory, MemoryError> {
        let bytes = count
            .checked_mul(size)
            .filter(|bytes| *bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| MemoryError::TooLarge {
            what: what.to_string(),
        })?;
        self.allocate(bytes)
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Heap {{ in_use: {}, limit: {} }}",
            self.in_use(),
            self.limit
        )
    }
}

/// Bytes from a heap, given back when dropped.
pub struct Memory {
    block: Block,
    usage: Arc<Usage>,
}

impl Memory {
    /// The address, for passing to a kernel. The caller must know which accesses are valid.
    pub fn address(&self) -> *mut u8 {
        self.block.start.as_ptr()
    }
}

/// Uninitialized bytes from a heap, of which only the address may be used.
#[derive(Debug)]
pub struct Raw(Memory);

impl Raw {
    /// The address, for handing to a kernel.
    pub fn address(&self) -> *mut u8 {
        self.0.address()
    }
}

impl Deref for Memory {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the block holds that many initialised bytes for as long as it lives.
        unsafe { std::slice::from_raw_parts(self.block.start.as_ptr(), self.block.bytes) }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.block.start.as_ptr(), self.block.bytes) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let bytes = self.block.bytes as u64;
        self.usage.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes)", self.block.bytes)
    }
}

/// The memory that the system has available; `None` if it does not say (Linux: `MemAvailable`).
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    parse_available(&text)
}

fn parse_available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// System memory whose request number `n`, counted from 0, gets nothing.
    pub(crate) struct FailAt {
        pub n: usize,
        pub seen: AtomicUsize,
    }

    impl MemorySource for FailAt {
        fn allocate(&self, bytes: usize) -> Option<Block> {
            let now = self.seen.fetch_add(1, Ordering::Relaxed);
            (now != self.n).then(|| Block::zeroed(bytes)).flatten()
        }
    }

    pub(crate) fn failing(n: usize) -> Heap {
        let seen = AtomicUsize::new(0);
        Heap::new(Arc::new(FailAt { n, seen }), u64::MAX)
    }

    #[test]
    fn a_block_of_a_page_or_more_begins_at_one() {
        for bytes in [4096, 8192, 12_345, 5 << 20] {
            let block = Block::zeroed(bytes).unwrap();
            assert!(block.start.addr().get().is_multiple_of(4096), "{bytes}");
        }
    }

    #[test]
    fn a_pool_gives_freed_blocks_of_about_the_size_and_keeps_no_more_than_it_may() {
        let (heap, pool) = (Heap::with_limit(1 << 30), Pool::new(4 << 20));
        let get = |bytes: usize| heap.allocate_from(&pool, bytes).unwrap();
        let first = get(1 << 20);
        let address = first.address();
        assert_eq!((pool.bytes(), heap.in_use()), (0, 1 << 20));
        drop(first);
        assert_eq!((pool.bytes(), heap.in_use()), (1 << 20, 0));
        // A sixteenth less fits, and counts as the whole block.
        let second = get((1 << 20) - (1 << 16));
        assert_eq!((second.address(), pool.bytes()), (address, 0));
        assert_eq!(heap.in_use(), 1 << 20);
        drop(second);
        // Half and twice the size do not fit; small blocks are not kept.
        let others = [get(1 << 19), get(1 << 21), get(4096)];
        assert_eq!(pool.bytes(), 1 << 20);
        assert!(others.iter().all(|other| other.address() != address));
        drop(others);
        assert_eq!(pool.bytes(), (1 << 20) + (1 << 19) + (1 << 21));
        // The oldest go first, and a block larger than all goes at once.
        drop(get(3 << 20));
        assert_eq!(pool.bytes(), 3 << 20);
        drop(get(5 << 20));
        assert_eq!(pool.bytes(), 3 << 20);
        assert_eq!((pool.clear(), pool.bytes(), heap.in_use()), (3 << 20, 0, 0));
        let small = Heap::with_limit(1 << 19);
        assert!(small.allocate_from(&pool, 1 << 20).is_err());
    }

    #[test]
    fn memory_is_aligned_and_zeroed_at_every_size() {
        let heap = Heap::with_limit(1 << 20);
        for bytes in [0, 1, 63, 64, 65, 4096, 4099] {
            let mut memory = heap.allocate(bytes).unwrap();
            assert_eq!(memory.address() as usize % BUFFER_ALIGN, 0);
            assert_eq!(memory.len(), bytes);
            assert!(memory.iter().all(|byte| *byte == 0));
            memory.fill(7);
        }
    }

    #[test]
    fn the_limit_counts_what_is_out() {
        let heap = Heap::with_limit(100);
        let error = heap.allocate(101).unwrap_err();
        assert_eq!(
            error.to_string(),
            "too little memory: needs 101 bytes, limit 100"
        );
        let held = heap.allocate(60).unwrap();
        let error = heap.allocate(41).unwrap_err();
        let expected = "too little memory: needs 41 bytes beside 60 in use, limit 100";
        assert_eq!(error.to_string(), expected);
        drop(held);
        assert_eq!((heap.in_use(), heap.peak()), (0, 60));
        assert!(heap.allocate(100).is_ok());
        heap.reset_peak();
        assert_eq!(heap.peak(), 0);
    }

    #[test]
    fn absurd_sizes_are_errors() {
        let heap = Heap::with_limit(u64::MAX);
        let error = heap.allocate(usize::MAX).unwrap_err();
        assert_eq!(error, MemoryError::Refused { needed: u64::MAX });
        let error = heap.allocate(isize::MAX as usize - 64).unwrap_err();
        let expected = "too little memory: needs 9223372036854775743 bytes, the system has none";
        assert_eq!(error.to_string(), expected);
        let error = heap
            .allocate_elements(usize::MAX / 4, 8, "input `x`")
            .unwrap_err();
        let expected = "too little memory: the size of input `x` does not fit 63 bits";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_refused_request_leaves_nothing_behind() {
        let heap = failing(1);
        let first = heap.allocate(10).unwrap();
        assert_eq!(
            heap.allocate(20).unwrap_err(),
            MemoryError::Refused { needed: 20 }
        );
        assert_eq!(heap.in_use(), 10);
        drop(first);
        assert_eq!(heap.in_use(), 0);
    }

    #[test]
    fn available_memory_is_read_in_kib() {
        let text = "MemTotal: 9 kB\nMemAvailable:   23 kB\n";
        assert_eq!(parse_available(text), Some(23 * 1024));
        assert_eq!(parse_available("MemFree: 1 kB\n"), None);
        assert_eq!(
            parse_available("MemAvailable: 99999999999999999999 kB"),
            None
        );
    }
}

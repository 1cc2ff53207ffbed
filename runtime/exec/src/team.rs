//! A team of threads that help the calling thread with one loop at a time.
//!
//! A loop is handed out as pieces that are counted off: the caller takes them one after the other from the moment it begins, and helpers
//! join while there are any left. The caller never waits for a helper that has not joined. So a loop that is over before a helper has woken
//! up costs no more than on one thread.
//!
//! A helper that has nothing to do watches the team's state for [`WATCH`], then it sleeps. Sleepers are woken only where the work is worth it
//! ([`Effort`]). A call takes no lock and allocates nothing.
//!
//! ```text
//! state    number of the loop | open | helpers inside
//! caller   write the loop; open; take pieces; close; wait until nobody is inside
//! helper   inside + 1; if open: take pieces; inside - 1
//! ```
//!
//! A helper reads a loop only between the addition that found it open and the subtraction behind it, and the caller leaves, or writes another loop,
//! only when nobody is inside: that is why the loop may be on the caller's stack.
//!
//! Never runs two loops at a time: a second caller works alone. A piece runs no loop of its own team.

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time for which a helper polls for the next loop before it sleeps: several times the cost of waking one.
const WATCH: Duration = Duration::from_micros(50);
/// Looks at the state between two looks at the clock.
const LOOKS: u32 = 32;
/// The work left for the caller alone, as a time, from which on sleeping helpers are woken. Waking costs the caller
/// some microseconds.
const WORTH_WAKING: Duration = Duration::from_micros(20);

/// Helpers inside, in the state's low bits.
const INSIDE: u64 = OPEN - 1;
/// A loop is there that helpers may join.
const OPEN: u64 = 1 << 16;
/// One more loop, in the bits above.
const NEXT: u64 = OPEN << 1;

/// A loop over pieces.
struct Loop {
    /// The work on one piece, given a member of the team, 0 for the caller.
    piece: *const (dyn Fn(usize, i64) + Sync),
    count: i64,
}

/// The state that members share.
struct Shared {
    state: AtomicU64,
    next: AtomicI64,
    /// Written by the caller while the team is closed and nobody is inside.
    current: UnsafeCell<Loop>,
    /// Held by a caller.
    taken: AtomicBool,
    asleep: AtomicUsize,
    ending: AtomicBool,
    /// True once a helper has panicked; the payload, which the caller carries on.
    panicked: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `current` is written and read as the module's head says; the loop that it points to may be called by any thread.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

/// The effort of a loop, as far as its caller knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// So little that to tell others takes longer.
    Tiny,
    /// Help is welcome; the time of the first piece decides whether sleepers are woken.
    Unknown,
    /// Enough that sleepers are woken at once.
    Heavy,
}

/// The helper threads of a caller. Dropping a team ends its threads.
pub struct Team {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
}

impl Team {
    /// Starts `helpers` threads. `watches` is false if there are too few processors for threads that poll.
    pub fn start(helpers: usize, watches: bool) -> std::io::Result<Team> {
        let nothing: &'static (dyn Fn(usize, i64) + Sync) = &|_, _| {};
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            next: AtomicI64::new(0),
            current: UnsafeCell::new(Loop {
                piece: nothing,
                count: 0,
            }),
            taken: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        let mut team = Team {
            shared,
            helpers: Vec::with_capacity(helpers),
        };
        let watch = if watches { WATCH } else { Duration::ZERO };
        for member in 1..=helpers {
            let shared = team.shared.clone();
            let thread = std::thread::Builder::new().name(format!("fuser-{member}"));
            team.helpers
                .push(thread.spawn(move || shared.help(member, watch))?);
        }
        Ok(team)
    }

    /// Calls `piece(member, index)` once for each index of `0..count`, never two at a time for one member. Member 0 is the caller.
    pub fn run(&self, count: i64, effort: Effort, piece: &(dyn Fn(usize, i64) + Sync)) {
        let shared = &*self.shared;
        if effort == Effort::Tiny || count < 2 || shared.taken.swap(true, Acquire) {
            return (0..count).for_each(|index| piece(0, index));
        }
        // Closes, waits and gives the team back also where a piece of the caller panics.
        let _opened = self.open(count, piece);
        if effort == Effort::Heavy {
            self.wake();
        }
        let start = Instant::now();
        let mut done = 0;
        while let Some(index) = shared.take(count) {
            piece(0, index);
            done += 1;
            if done == 1 && effort == Effort::Unknown && self.is_worth_waking(start, count) {
                self.wake();
            }
        }
    }

    fn open(&self, count: i64, piece: &(dyn Fn(usize, i64) + Sync)) -> Opened<'_> {
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes; nobody calls the loop once the guard that is returned has been dropped, which `run` does before
        // `piece` ends.
        let piece = unsafe {
            std::mem::transmute::<
                *const (dyn Fn(usize, i64) + Sync + '_),
                *const (dyn Fn(usize, i64) + Sync + 'static),
            >(piece)
        };
        // SAFETY: the team is closed, the caller before this one has waited until nobody was inside, and `taken` keeps others away.
        unsafe { *shared.current.get() = Loop { piece, count } };
        shared.next.store(0, Relaxed);
        // Sequentially consistent with the sleeper's announcement: the caller sees the sleeper, or the sleeper the loop.
        shared.state.fetch_add(NEXT | OPEN, SeqCst);
        Opened { shared }
    }

    fn is_worth_waking(&self, start: Instant, count: i64) -> bool {
        let left = u32::try_from(count - self.shared.next.load(Relaxed)).unwrap_or(u32::MAX);
        start.elapsed().saturating_mul(left) >= WORTH_WAKING
    }

    fn wake(&self) {
        if self.shared.asleep.load(SeqCst) > 0 {
            self.helpers
                .iter()
                .for_each(|helper| helper.thread().unpark());
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.ending.store(true, SeqCst);
        for helper in self.helpers.drain(..) {
            helper.thread().unpark();
            // Panics of pieces were caught; there is nothing else to hear of.
            let _ = helper.join();
        }
    }
}

/// A loop that helpers may join, until it is dropped.
struct Opened<'a> {
    shared: &'a Shared,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        let shared = self.shared;
        // What is left where the caller panics, nobody takes.
        shared.next.store(i64::MAX / 2, Relaxed);
        shared.state.fetch_and(!OPEN, SeqCst);
        let mut looks = 0;
        while shared.state.load(Acquire) & INSIDE != 0 {
            pause(&mut looks);
        }
        let payload = shared.panicked.swap(false, Acquire).then(|| {
            let mut payload = shared.panic.lock().ok()?;
            payload.take()
        });
        shared.taken.store(false, Release);
        if let Some(Some(payload)) = payload
            && !std::thread::panicking()
        {
            resume_unwind(payload);
        }
    }
}

impl Shared {
    /// The next piece of the loop that is open.
    fn take(&self, count: i64) -> Option<i64> {
        let index = self.next.fetch_add(1, Relaxed);
        (index < count).then_some(index)
    }

    /// The life of a helper: loop after loop until the team ends.
    fn help(&self, member: usize, watch: Duration) {
        let mut seen = 0;
        while let Some(number) = self.wait(seen, watch) {
            seen = number;
            self.join(member);
        }
    }

    /// Helps with the loop that is open, if one is.
    fn join(&self, member: usize) {
        let inside = Inside::enter(self);
        if !inside.is_open {
            return;
        }
        // SAFETY: the team was open when this helper came in, so the loop was written before and stays until it leaves.
        let Loop { piece, count } = unsafe { &*self.current.get() };
        // SAFETY: as above.
        let piece = unsafe { &**piece };
        let work = || {
            while let Some(index) = self.take(*count) {
                piece(member, index);
            }
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work))
            && let Ok(mut panic) = self.panic.lock()
        {
            panic.get_or_insert(payload);
            self.panicked.store(true, Release);
        }
    }

    /// Waits for a loop with another number than `seen`; `None` where the team ends.
    fn wait(&self, seen: u64, watch: Duration) -> Option<u64> {
        let (start, mut looks) = (Instant::now(), 0);
        loop {
            if self.ending.load(Relaxed) {
                return None;
            }
            if let Some(number) = self.opened(seen) {
                return Some(number);
            }
            if looks % LOOKS == 0 && start.elapsed() >= watch {
                self.sleep(seen);
            }
            pause(&mut looks);
        }
    }

    /// Sleeps until it is woken, unless there is something to do already.
    fn sleep(&self, seen: u64) {
        self.asleep.fetch_add(1, SeqCst);
        while self.opened(seen).is_none() && !self.ending.load(SeqCst) {
            std::thread::park();
        }
        self.asleep.fetch_sub(1, SeqCst);
    }

    /// The number of the loop that is open, if it is not `seen`.
    fn opened(&self, seen: u64) -> Option<u64> {
        let state = self.state.load(SeqCst);
        let number = state / NEXT;
        (state & OPEN != 0 && number != seen).then_some(number)
    }
}

/// A helper that counts among those inside.
struct Inside<'a> {
    shared: &'a Shared,
    is_open: bool,
}

impl<'a> Inside<'a> {
    fn enter(shared: &'a Shared) -> Inside<'a> {
        let before = shared.state.fetch_add(1, SeqCst);
        Inside {
            shared,
            is_open: before & OPEN != 0,
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.shared.state.fetch_sub(1, SeqCst);
    }
}

/// A short wait; after many of them the processor is offered to others.
fn pause(looks: &mut u32) {
    const PATIENCE: u32 = 1 << 8;
    *looks = looks.wrapping_add(1);
    match *looks % PATIENCE {
        0 => std::thread::yield_now(),
        _ => std::hint::spin_loop(),
    }
}

#[cfg(test)]
#[path = "team_tests.rs"]
mod tests;

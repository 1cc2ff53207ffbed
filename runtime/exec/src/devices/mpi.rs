//! The engine whose ranks are processes that `mpirun` starts.
//!
//! MPI has no timeouts, does not tie a message to a call, and lets implementations reduce in different orders. This
//! engine therefore uses only messages of bytes. It sends them without blocking, probes before it receives, and polls
//! for completion, yielding the processor between polls. It checks every return code.
//!
//! A rank that fails tells all others on a separate communicator. A waiting rank receives the failure and returns it as
//! its error. All ranks then end by `MPI_Abort`, since a rank that left in another way would wait in `MPI_Finalize` for
//! ever. `mpirun` notices a process that dies silently and ends the others.
//! All calls come from the thread that made the engine.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use mpi_sys as ffi;

use super::{Block, Engine, Fault, Tag};

/// Bytes of one message: counts are C's `int`.
const PIECE: usize = 1 << 30;

/// Tags of messages: MPI promises these, whatever the library.
const TAGS: u64 = 1 << 15;

/// The tag of a failure, on a communicator of its own.
const FAILURE: c_int = 1;

/// The maximum number of bytes of a failure's reason: small enough for a library to send without a rendezvous.
const REASON: usize = 1024;

/// The time for which a failed rank delivers its failure to the others before all are ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// The number of polls after which a waiting rank sleeps instead of only yielding the processor.
const PATIENCE: u32 = 2000;
const NAP: Duration = Duration::from_micros(200);

/// The exit code passed to `MPI_Abort` and returned by `mpirun`: the code of a program with errors.
const ENDED: c_int = 1;

/// A rank that is a process of an MPI job.
pub struct Mpi {
    rank: usize,
    ranks: usize,
    limit: Duration,
    /// Communicators of our own: one for blocks, one for failures.
    data: ffi::MPI_Comm,
    control: ffi::MPI_Comm,
    /// True once this rank has ended with an error, and others have heard of it.
    failed: bool,
    /// Messages of one thread.
    _one_thread: PhantomData<*mut ()>,
}

/// The message of a code that is not that of success.
fn checked(call: &str, code: c_int) -> Result<(), Fault> {
    if code == 0 {
        return Ok(());
    }
    const LONGEST: usize = 4096;
    let (mut text, mut length) = ([0u8; LONGEST], 0);
    // SAFETY: the library writes no more than it allows for such a text, which is less.
    let known = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) } == 0;
    let text = text.get(..usize::try_from(length).unwrap_or(0));
    let text = String::from_utf8_lossy(text.filter(|_| known).unwrap_or(b"unknown error"));
    let message = format!("{call} failed: {text}");
    Err(Fault::Engine { message })
}

/// A message that waits to be received.
struct Waiting {
    source: usize,
    tag: c_int,
    bytes: usize,
}

/// The words of a rank that failed.
#[derive(Clone)]
struct Told {
    rank: usize,
    /// The rank that it waited for too long.
    late: Option<usize>,
    reason: String,
}

/// The bytes of a failure message that stand in for a rank if no rank is late.
const NOBODY: [u8; 4] = [0xff; 4];

impl Mpi {
    /// Joins the job; `limit` bounds the time that ranks wait for each other. At most once in a process.
    pub fn start(limit: Duration) -> Result<Mpi, Fault> {
        let (mut rank, mut ranks, mut begun, mut given) = (0, 0, 0, 0);
        let mut comms = [const { MaybeUninit::uninit() }; 2];
        // SAFETY: MPI is initialized before all else is called; the pointers are those of variables that outlive the calls.
        unsafe {
            checked("MPI_Initialized", ffi::MPI_Initialized(&mut begun))?;
            if begun != 0 {
                let message = "MPI is in use in this process already".to_string();
                return Err(Fault::Engine { message });
            }
            let none = std::ptr::null_mut();
            let asked = ffi::RSMPI_THREAD_FUNNELED;
            let code = ffi::MPI_Init_thread(none, none.cast(), asked, &mut given);
            checked("MPI_Init_thread", code)?;
            let world = ffi::RSMPI_COMM_WORLD;
            for comm in &mut comms {
                checked("MPI_Comm_dup", ffi::MPI_Comm_dup(world, comm.as_mut_ptr()))?;
                let returns = ffi::RSMPI_ERRORS_RETURN;
                let code = ffi::MPI_Comm_set_errhandler(comm.assume_init(), returns);
                checked("MPI_Comm_set_errhandler", code)?;
            }
            checked("MPI_Comm_rank", ffi::MPI_Comm_rank(world, &mut rank))?;
            checked("MPI_Comm_size", ffi::MPI_Comm_size(world, &mut ranks))?;
        }
        // SAFETY: both were written.
        let [data, control] = comms.map(|comm| unsafe { comm.assume_init() });
        Ok(Mpi {
            rank: usize::try_from(rank).unwrap_or(0),
            ranks: usize::try_from(ranks).unwrap_or(1),
            limit,
            data,
            control,
            failed: false,
            _one_thread: PhantomData,
        })
    }

    /// The message that comes next from a rank, or from any.
    fn waiting(&self, comm: ffi::MPI_Comm, source: c_int) -> Result<Option<Waiting>, Fault> {
        let (mut there, mut count) = (0, 0);
        let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
        // SAFETY: the communicator is ours; the pointers are those of variables that outlive the calls, and the status is written where there is a message.
        let status = unsafe {
            let any = ffi::RSMPI_ANY_TAG;
            let code = ffi::MPI_Iprobe(source, any, comm, &mut there, status.as_mut_ptr());
            checked("MPI_Iprobe", code)?;
            if there == 0 {
                return Ok(None);
            }
            let bytes = ffi::RSMPI_UINT8_T;
            let code = ffi::MPI_Get_count(status.as_ptr(), bytes, &mut count);
            checked("MPI_Get_count", code)?;
            status.assume_init()
        };
        Ok(Some(Waiting {
            source: usize::try_from(status.MPI_SOURCE).unwrap_or(0),
            tag: status.MPI_TAG,
            bytes: usize::try_from(count).unwrap_or(0),
        }))
    }

    /// Starts to send.
    ///
    /// # Safety
    /// The bytes stay unchanged until the request is done.
    unsafe fn send(
        &self,
        comm: ffi::MPI_Comm,
        peer: usize,
        tag: c_int,
        bytes: &[u8],
    ) -> Result<ffi::MPI_Request, Fault> {
        let mut request = MaybeUninit::uninit();
        // SAFETY: the caller's word; a piece's length is a C `int`.
        unsafe {
            let code = ffi::MPI_Isend(
                bytes.as_ptr().cast::<c_void>(),
                bytes.len() as c_int,
                ffi::RSMPI_UINT8_T,
                peer as c_int,
                tag,
                comm,
                request.as_mut_ptr(),
            );
            checked("MPI_Isend", code)?;
            Ok(request.assume_init())
        }
    }

    /// Starts to receive.
    ///
    /// # Safety
    /// Nobody else uses the memory until the request is done.
    unsafe fn receive(
        &self,
        comm: ffi::MPI_Comm,
        peer: usize,
        tag: c_int,
        bytes: &mut [u8],
    ) -> Result<ffi::MPI_Request, Fault> {
        let mut request = MaybeUninit::uninit();
        // SAFETY: the caller's word; a piece's length is a C `int`.
        unsafe {
            let code = ffi::MPI_Irecv(
                bytes.as_mut_ptr().cast::<c_void>(),
                bytes.len() as c_int,
                ffi::RSMPI_UINT8_T,
                peer as c_int,
                tag,
                comm,
                request.as_mut_ptr(),
            );
            checked("MPI_Irecv", code)?;
            Ok(request.assume_init())
        }
    }

    /// True if a request is done.
    fn is_done(&self, request: &mut ffi::MPI_Request) -> Result<bool, Fault> {
        let mut done = 0;
        // SAFETY: the request is one of ours that was not done before.
        let code = unsafe { ffi::MPI_Test(request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        checked("MPI_Test", code)?;
        Ok(done != 0)
    }

    /// The failure of another rank, if one has told of it.
    fn heard(&self) -> Result<Option<Told>, Fault> {
        let Some(waiting) = self.waiting(self.control, any_source())? else {
            return Ok(None);
        };
        let mut bytes = vec![0; waiting.bytes];
        // SAFETY: the bytes outlive the request, which is waited for.
        let mut request =
            unsafe { self.receive(self.control, waiting.source, waiting.tag, &mut bytes)? };
        while !self.is_done(&mut request)? {
            std::thread::yield_now();
        }
        let (late, text) = bytes.split_first_chunk().unwrap_or((&NOBODY, &[]));
        let late = (*late != NOBODY).then(|| u32::from_le_bytes(*late) as usize);
        Ok(Some(Told {
            rank: waiting.source,
            late,
            reason: String::from_utf8_lossy(text).into_owned(),
        }))
    }

    /// Tells all others of a failure, once: its reason, and the late rank if one caused it.
    fn tell(&mut self, late: Option<usize>, reason: &str) {
        if std::mem::replace(&mut self.failed, true) {
            return;
        }
        let mut end = reason.len().min(REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let late = late.map_or(NOBODY, |rank| (rank as u32).to_le_bytes());
        // The process ends soon: the library may read the text until then.
        let text: &'static [u8] = [&late[..], &reason.as_bytes()[..end]].concat().leak();
        let peers = (0..self.ranks).filter(|peer| *peer != self.rank);
        // SAFETY: the text lives as long as the process.
        let sent = peers.map(|peer| unsafe { self.send(self.control, peer, FAILURE, text) });
        let mut sent: Vec<_> = sent.flatten().collect();
        let since = Instant::now();
        while !sent.is_empty() && since.elapsed() < LAST_WORDS {
            sent.retain_mut(|request| matches!(self.is_done(request), Ok(false)));
            std::thread::sleep(NAP);
        }
    }

    /// The root cause of a rank's delay. If the late rank reports that it waits for another rank, the search continues
    /// there, and so on.
    fn behind(&self, late: usize) -> Fault {
        let mut told: Vec<Option<Told>> = (0..self.ranks).map(|_| None).collect();
        let since = Instant::now();
        while since.elapsed() < LAST_WORDS {
            match self.heard() {
                Ok(Some(one)) => {
                    let place = told.get_mut(one.rank);
                    place
                        .into_iter()
                        .for_each(|place| *place = Some(one.clone()));
                }
                _ => std::thread::sleep(NAP),
            }
        }
        let mut last = late;
        for _ in 0..self.ranks {
            match told.get(last).and_then(Option::as_ref) {
                Some(Told {
                    late: Some(next), ..
                }) => last = *next,
                Some(Told { rank, reason, .. }) => {
                    return Fault::Ended {
                        rank: *rank,
                        reason: reason.clone(),
                    };
                }
                None => break,
            }
        }
        let limit = self.limit;
        Fault::Late { rank: last, limit }
    }

    fn exchanged(&self, tag: Tag, blocks: &mut [Block<'_>]) -> Result<(), Fault> {
        let own = message_tag(tag);
        let mut sent = Vec::with_capacity(blocks.len());
        for block in blocks.iter() {
            for piece in block.send.chunks(PIECE) {
                // SAFETY: the blocks are borrowed until this exchange is done; where it fails nothing but `MPI_Abort` follows.
                sent.push(unsafe { self.send(self.data, block.peer, own, piece)? });
            }
        }
        let mut received: Vec<(usize, ffi::MPI_Request)> = Vec::new();
        let mut done = vec![0; blocks.len()];
        let (mut since, mut tests) = (Instant::now(), 0u32);
        loop {
            let before = (sent.len(), received.len(), done.iter().sum::<usize>());
            let mut wrong = None;
            sent.retain_mut(|request| match self.is_done(request) {
                Ok(done) => !done,
                Err(fault) => {
                    wrong = Some(fault);
                    false
                }
            });
            for (at, block) in blocks.iter_mut().enumerate() {
                if let Some(place) = received.iter().position(|(own, _)| *own == at) {
                    if self.is_done(&mut received[place].1)? {
                        received.swap_remove(place);
                        done[at] += PIECE.min(block.receive.len() - done[at]);
                    }
                    continue;
                }
                let Some(left) = block
                    .receive
                    .get_mut(done[at]..)
                    .filter(|left| !left.is_empty())
                else {
                    continue;
                };
                let piece = PIECE.min(left.len());
                let Some(waiting) = self.waiting(self.data, block.peer as c_int)? else {
                    continue;
                };
                let rank = block.peer;
                if waiting.tag != own {
                    return Err(Fault::Elsewhere {
                        rank,
                        expected: tag,
                        found: None,
                    });
                }
                if waiting.bytes != piece {
                    return Err(Fault::Bytes {
                        rank,
                        expected: piece,
                        found: waiting.bytes,
                    });
                }
                // SAFETY: as above.
                let request = unsafe { self.receive(self.data, rank, own, &mut left[..piece])? };
                received.push((at, request));
            }
            if let Some(fault) = wrong {
                return Err(fault);
            }
            let late = (0..blocks.len()).find(|&at| done[at] < blocks[at].receive.len());
            if sent.is_empty() && received.is_empty() && late.is_none() {
                return Ok(());
            }
            if before != (sent.len(), received.len(), done.iter().sum()) {
                (since, tests) = (Instant::now(), 0);
                continue;
            }
            tests = tests.saturating_add(1);
            if tests.is_multiple_of(64)
                && let Some(Told { rank, reason, .. }) = self.heard()?
            {
                return Err(Fault::Ended { rank, reason });
            }
            if since.elapsed() >= self.limit {
                let at = late.or_else(|| blocks.iter().position(|own| !own.send.is_empty()));
                let rank = at.map_or(self.rank, |at| blocks[at].peer);
                let limit = self.limit;
                return Err(Fault::Late { rank, limit });
            }
            match tests < PATIENCE {
                true => std::thread::yield_now(),
                false => std::thread::sleep(NAP),
            }
        }
    }
}

fn any_source() -> c_int {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_ANY_SOURCE }
}

/// The tag of the messages of an exchange.
fn message_tag(tag: Tag) -> c_int {
    let mixed = u64::from(tag.step).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((mixed + u64::from(tag.number)) % TAGS) as c_int
}

impl Engine for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn exchange(&mut self, tag: Tag, blocks: &mut [Block<'_>]) -> Result<(), Fault> {
        if self.failed {
            let message = "a communication after one that failed".to_string();
            return Err(Fault::Engine { message });
        }
        let done = self.exchanged(tag, blocks);
        match &done {
            Ok(()) => {}
            // All others hear of it from that one.
            Err(Fault::Ended { .. }) => self.failed = true,
            // Here, as long as the blocks are there.
            Err(fault @ Fault::Late { rank, .. }) => {
                self.tell(Some(*rank), &fault.to_string());
                return Err(self.behind(*rank));
            }
            Err(fault) => self.tell(None, &fault.to_string()),
        }
        done
    }

    fn fail(&mut self, reason: &str) {
        self.tell(None, reason);
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell(None, "it panicked");
        }
        // SAFETY: the last calls of MPI; all requests are done, or the job is ended.
        unsafe {
            match self.failed {
                true => {
                    std::thread::sleep(LAST_WORDS);
                    ffi::MPI_Abort(self.data, ENDED);
                }
                false => {
                    ffi::MPI_Finalize();
                }
            }
        }
    }
}

//! A progress line on stderr with a tool's current step and its duration, for work longer than people wait in silence.
//!
//! ```text
//! fuser-run: checking with the interpreter, 12 s, 3 of 8, about 20 s left
//! ```
//!
//! The time left is told where the amount of work is known: by its parts that are done, from 2 % of them on, or by the time
//! that it takes.
//!
//! It appears after [`PATIENCE`], is written over while the work goes on, and is gone when the [`Progress`] is dropped, before
//! anything else is written. Nothing is written where stderr is no terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fuser_pass::ProgressSink;

/// The time before the first line.
const PATIENCE: Duration = Duration::from_secs(2);
/// From one line to the next.
const BEAT: Duration = Duration::from_secs(1);
/// The share of all parts that must be done for an estimate of the rest, as its inverse.
const FIRST_ESTIMATE: u64 = 50;
/// Goes to the beginning of the line and empties it.
const EMPTY_LINE: &str = "\r\x1b[2K";

/// Work with a progress display on stderr. Nobody else may write to stderr while it exists.
pub struct Progress {
    line: Option<(Arc<Line>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Line {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    step: String,
    /// The part of the step at which the work is.
    inner: Option<&'static str>,
    done: bool,
    began: Option<Instant>,
    /// The parts that are done, and all.
    parts: Option<(u64, u64)>,
    /// The time that all of it takes.
    takes: Option<Duration>,
}

impl State {
    fn begin(&mut self, step: &str) {
        *self = Self {
            step: step.to_owned(),
            began: Some(Instant::now()),
            ..Self::default()
        };
    }
    /// Names `inner` in the place of the step.
    fn begin_inner(&mut self, inner: &'static str) {
        let step = std::mem::take(&mut self.step);
        self.begin(&step);
        self.inner = Some(inner);
    }
    /// Names the step again.
    fn end_inner(&mut self) {
        let step = std::mem::take(&mut self.step);
        self.begin(&step);
    }
    /// The text about the remaining work after some time: `, 3 of 8, about 20 s left`.
    fn rest(&self, since: Duration) -> String {
        let parts = self.parts.filter(|(done, all)| done <= all);
        let takes = match parts {
            Some((done, all)) if done > 0 && done * FIRST_ESTIMATE >= all => {
                Some(since.mul_f64(all as f64 / done as f64))
            }
            _ => self.takes,
        };
        let parts = parts.map_or(String::new(), |(done, all)| format!(", {done} of {all}"));
        let left = takes.map_or(String::new(), |takes| {
            let left = takes.saturating_sub(since).as_secs_f64().ceil();
            format!(", about {left} s left")
        });
        parts + &left
    }
}

impl Progress {
    /// Begins to tell what `tool` is at, where people look at stderr.
    pub fn start(tool: &'static str, step: &str) -> Self {
        match io::stderr().is_terminal() {
            true => Self::to(io::stderr(), [PATIENCE, BEAT], tool, step),
            false => Self { line: None },
        }
    }
    /// Says nothing.
    pub fn silent() -> Self {
        Self { line: None }
    }
    fn to(
        out: impl Write + Send + 'static,
        times: [Duration; 2],
        tool: &'static str,
        step: &str,
    ) -> Self {
        let line = Arc::new(Line::default());
        line.state().begin(step);
        let shared = line.clone();
        let thread = std::thread::Builder::new();
        let thread = thread.spawn(move || shared.tell(out, times, tool));
        // Without a thread nothing is told.
        Self {
            line: thread.ok().map(|thread| (line, thread)),
        }
    }
    /// Sets the step that the line names from now on.
    pub fn step(&self, step: &str) {
        if let Some((line, _)) = &self.line {
            line.state().begin(step);
        }
    }
    /// Reports the number of completed equal parts of the step, and the total.
    pub fn of(&self, done: u64, all: u64) {
        if let Some((line, _)) = &self.line {
            let mut state = line.state();
            if state.parts.is_none() {
                state.began = Some(Instant::now());
            }
            state.parts = Some((done, all));
        }
    }
    /// A sink for steps of the work at hand. While a step has parts left, the line names it in the place of the work.
    pub fn sink(&self) -> ProgressSink {
        let Some((line, _)) = &self.line else {
            return ProgressSink::default();
        };
        let line = line.clone();
        ProgressSink::new(move |step, done, all| {
            let mut state = line.state();
            if done == 0 {
                state.begin_inner(step);
            }
            // The thread that is done first may tell it last.
            if state.inner != Some(step) {
                return;
            }
            match done < all {
                true => state.parts = Some((done as u64, all as u64)),
                false => state.end_inner(),
            }
        })
    }
    /// Tells how long the step takes, from now on.
    pub fn takes(&self, time: Duration) {
        if let Some((line, _)) = &self.line {
            let mut state = line.state();
            (state.began, state.takes) = (Some(Instant::now()), Some(time));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((line, thread)) = self.line.take() {
            line.state().done = true;
            line.changed.notify_one();
            let _ = thread.join();
        }
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }
    /// Writes lines until the work is done.
    fn tell(&self, mut out: impl Write, [patience, beat]: [Duration; 2], tool: &str) {
        let start = Instant::now();
        let mut wait = patience;
        loop {
            let waited = self
                .changed
                .wait_timeout_while(self.state(), wait, |s| !s.done);
            let (state, _) = waited.unwrap_or_else(|broken| broken.into_inner());
            let text = match state.done {
                false => format!(
                    "{EMPTY_LINE}{tool}: {}, {} s{}",
                    state.inner.unwrap_or(&state.step),
                    start.elapsed().as_secs(),
                    state.rest(state.began.map_or(Duration::ZERO, |began| began.elapsed()))
                ),
                true if wait == patience => return,
                true => EMPTY_LINE.to_owned(),
            };
            // A stderr that takes nothing is nobody's mistake.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            if state.done {
                return;
            }
            wait = beat;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct Out(Sender<String>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn progress(patience: Duration) -> (Progress, Receiver<String>) {
        let (sender, lines) = channel();
        let times = [patience, Duration::from_millis(1)];
        (Progress::to(Out(sender), times, "tool", "one"), lines)
    }

    #[test]
    fn short_work_says_nothing() {
        let (progress, lines) = progress(Duration::from_secs(3600));
        progress.step("two");
        drop(progress);
        assert_eq!(lines.iter().collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn long_work_says_what_it_is_at_and_leaves_nothing_behind() {
        let (progress, lines) = progress(Duration::ZERO);
        assert_eq!(lines.recv().unwrap(), "\r\x1b[2Ktool: one, 0 s");
        progress.step("two");
        assert!(lines.iter().any(|line| line.contains("tool: two, ")));
        drop(progress);
        assert_eq!(lines.iter().last().unwrap(), EMPTY_LINE);
    }

    #[test]
    fn the_rest_is_told_where_the_amount_of_work_is_known() {
        let rest = |since: u64, parts, takes| {
            let state = State {
                parts,
                takes,
                ..State::default()
            };
            state.rest(Duration::from_secs(since))
        };
        assert_eq!(rest(10, None, None), "");
        assert_eq!(rest(10, Some((0, 8)), None), ", 0 of 8");
        assert_eq!(rest(10, Some((2, 8)), None), ", 2 of 8, about 30 s left");
        assert_eq!(rest(10, Some((1, 99)), None), ", 1 of 99");
        assert_eq!(
            rest(4, None, Some(Duration::from_secs(9))),
            ", about 5 s left"
        );
        assert_eq!(
            rest(9, None, Some(Duration::from_secs(4))),
            ", about 0 s left"
        );
        let (progress, lines) = progress(Duration::ZERO);
        progress.of(1, 4);
        assert!(
            lines
                .iter()
                .any(|line| line.contains("tool: one, 0 s, 1 of 4, about "))
        );
        drop(progress);
    }

    #[test]
    fn steps_of_the_work_are_named_while_they_have_parts_left() {
        let (progress, lines) = progress(Duration::from_secs(3600));
        let sink = progress.sink();
        let state = || {
            let (line, _) = progress.line.as_ref().unwrap();
            let state = line.state();
            (state.step.clone(), state.inner, state.parts)
        };
        sink.tell("parts", 0, 3);
        assert_eq!(state(), ("one".to_owned(), Some("parts"), Some((0, 3))));
        sink.tell("parts", 1, 5);
        assert_eq!(state(), ("one".to_owned(), Some("parts"), Some((1, 5))));
        sink.tell("others", 1, 2);
        assert_eq!(state(), ("one".to_owned(), Some("parts"), Some((1, 5))));
        sink.tell("others", 0, 2);
        assert_eq!(state(), ("one".to_owned(), Some("others"), Some((0, 2))));
        sink.tell("others", 2, 2);
        assert_eq!(state(), ("one".to_owned(), None, None));
        sink.tell("others", 1, 2);
        assert_eq!(state(), ("one".to_owned(), None, None));
        sink.tell("none", 0, 0);
        assert_eq!(state(), ("one".to_owned(), None, None));
        drop(progress);
        sink.tell("parts", 0, 3);
        assert_eq!(lines.iter().count(), 0);
    }

    #[test]
    fn work_that_panics_leaves_nothing_behind() {
        let (progress, lines) = progress(Duration::ZERO);
        assert!(lines.recv().is_ok());
        let work = std::thread::spawn(move || {
            let _progress = progress;
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(work.join().is_err());
        assert_eq!(lines.iter().last().unwrap(), EMPTY_LINE);
    }
}

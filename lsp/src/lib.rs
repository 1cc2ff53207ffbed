//! `fuser-lsp`: a language server for `.fir`, and the grammars of editors.
//!
//! ```text
//! wire      bytes    <-> messages              lsp-server's types
//! server    messages -> answers                documents, versions, one table of requests
//! analysis  text     -> ops, diagnostics       the parser and the verifier, as fuser-opt has them
//! commands  text     -> diagnostics            `RUN:` lines, as the tools read their arguments
//! index     text     -> names, scopes          from the parser's tokens, whatever is broken
//! costs     text     -> segments, bytes        the passes and the report, on a thread of its own
//! session   the same for hosts without threads
//! ```
//!
//! `hover`, `navigate`, `outline`, `format`, `semantic`, `complete`, `actions` and `hints` answer requests, each from
//! these alone; `grammar` writes the grammars of editors from the op tables. A version of a document is analyzed
//! whole. Needs no LLVM. Answers always concern the current version, never panics on a message or a text, reads no
//! files.
#![forbid(unsafe_code)]

mod actions;
pub mod analysis;
mod commands;
mod complete;
pub mod costs;
pub mod diagnose;
pub mod format;
pub mod grammar;
mod hints;
mod hover;
pub mod index;
mod navigate;
mod outline;
mod semantic;
pub mod server;
mod session;
pub mod text;
pub mod wire;

use std::io::{self, BufReader, BufWriter, Write};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

pub use session::Session;

use costs::Found;
use server::Server;
use wire::Incoming;

/// Messages that wait to be handled. A client that sends more waits itself.
const QUEUE: usize = 256;

/// Anything that the session waits for.
enum Event {
    Incoming(Incoming),
    Costs(Found),
    End,
}

/// Serves a session on standard input and output. `true` if it ended in order: `shutdown`, then `exit`.
pub fn serve() -> bool {
    let (events, received) = mpsc::sync_channel(QUEUE);
    let (jobs, wanted) = mpsc::channel();
    let mut server = Server::default();
    let (registry, found) = (server.registry().clone(), events.clone());
    thread::spawn(move || {
        costs::serve(&registry, &wanted, &|costs| {
            // The receiver is gone: the session is over.
            let _ = found.send(Event::Costs(costs));
        });
    });
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        while let Ok(Some(incoming)) = wire::read(&mut input) {
            if events.send(Event::Incoming(incoming)).is_err() {
                return;
            }
        }
        let _ = events.send(Event::End);
    });
    let mut output = BufWriter::new(io::stdout());
    while let Some(event) = next(&received, server.is_dirty()) {
        let done = match event {
            Next::Event(Event::End) => break,
            Next::Event(Event::Incoming(Incoming::Message(message))) => {
                server.handle(message);
                Ok(())
            }
            Next::Event(Event::Incoming(Incoming::Malformed(reason))) => {
                wire::write_malformed(&mut output, &reason)
            }
            Next::Event(Event::Costs(found)) => {
                server.costs(found);
                Ok(())
            }
            Next::Idle => {
                server.idle();
                Ok(())
            }
        };
        for job in server.take_jobs() {
            // The thread ends with the channel.
            let _ = jobs.send(job);
        }
        let messages = server.take();
        let mut sent = messages.iter().map(|m| wire::write(&mut output, m));
        let sent = done.and_then(|()| sent.try_for_each(|sent| sent));
        if sent.and_then(|()| output.flush()).is_err() {
            break;
        }
        if let Some(in_order) = server.exit() {
            return in_order;
        }
    }
    false
}

enum Next {
    Event(Event),
    /// Nothing waits.
    Idle,
}

fn next(received: &Receiver<Event>, dirty: bool) -> Option<Next> {
    if !dirty {
        return received.recv().ok().map(Next::Event);
    }
    match received.try_recv() {
        Ok(event) => Some(Next::Event(event)),
        Err(TryRecvError::Empty) => Some(Next::Idle),
        Err(TryRecvError::Disconnected) => None,
    }
}

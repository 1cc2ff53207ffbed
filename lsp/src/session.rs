//! A session for a host without threads: the host passes messages, and calls again when there is time for costs.

use std::io::{self, BufRead, Write};

use crate::costs::{self, Job};
use crate::server::Server;
use crate::wire::{self, Incoming};

/// A session.
#[derive(Default)]
pub struct Session {
    server: Server,
    /// The current version of each document whose costs are wanted.
    jobs: Vec<Job>,
}

impl Session {
    /// Answers the messages of `input` up to its end; diagnostics of changed documents are sent in between.
    pub fn answer(&mut self, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
        while let Some(incoming) = wire::read(input)? {
            match incoming {
                Incoming::Message(message) => self.server.handle(message),
                Incoming::Malformed(reason) => wire::write_malformed(output, &reason)?,
            }
        }
        while self.server.is_dirty() {
            self.server.idle();
        }
        for job in self.server.take_jobs() {
            self.jobs.retain(|other| other.uri != job.uri);
            self.jobs.push(job);
        }
        self.send(output)
    }

    /// Finds all costs that are wanted.
    pub fn find_costs(&mut self, output: &mut impl Write) -> io::Result<()> {
        for job in std::mem::take(&mut self.jobs) {
            self.server.costs(costs::find(self.server.registry(), &job));
        }
        self.send(output)
    }

    fn send(&mut self, output: &mut impl Write) -> io::Result<()> {
        for message in self.server.take() {
            wire::write(output, &message)?;
        }
        output.flush()
    }
}
